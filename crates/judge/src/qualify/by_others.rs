//! A verdict on a drive that is only in the ledger. It never passes: nobody else's timing shows
//! what survives a power cut, and what was not measured stays unknown.

use super::roles::{QualifyMeasure, Requirement, Role};
use super::{QualifyOutcome, compare};
use crate::others::{OthersFigures, OthersRange};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_ledger::Metric;
use ssdlab_view::text::rows;

/// Requirements that are named where they are not known.
const NAMED_MAX: usize = 4;
/// Kinds of figures that a screen has room for: the most, and the least where the rest is long.
const RANGES_MAX: usize = 7;
const RANGES_MIN: usize = 3;
/// Lines of a screen.
const SCREEN_LINES: usize = 24;

/// What the ledger decides for a role.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OthersVerdict {
    /// The family.
    pub family: String,
    /// The role.
    pub role: String,
    /// Fail when what others measured misses a limit; else unknown.
    pub outcome: QualifyOutcome,
    /// The answer, in a sentence.
    pub answer: String,
    /// What decided it, if anything did.
    pub decided_by: Option<String>,
    /// Whether its buffer is protected, and who says so.
    pub protection: String,
    /// What others measured.
    pub measured: Vec<String>,
    /// What misleads about the durable writes that others measured.
    pub beware: Vec<String>,
    /// Requirements that others' figures meet.
    pub met: Vec<String>,
    /// Requirements that others' figures miss, other than the one that decided.
    pub misses: Vec<String>,
    /// Requirements that nobody's figures decide.
    pub unknown: Vec<String>,
}

/// What others' figures say of one requirement.
enum OthersReading {
    Met(String),
    Missed(String),
    Open(String),
}

/// A drive as others know it: found once, judged for every role.
pub struct KnownByOthers {
    figures: OthersFigures,
    durable: Option<OthersRange>,
    is_protected: Option<bool>,
    protection: String,
}

impl KnownByOthers {
    /// The drive that a name means; `None`: the ledger has no such drive.
    pub fn of(name: &str) -> Option<KnownByOthers> {
        let figures = OthersFigures::of(name)?;
        let (is_protected, protection) = protection(&figures);
        Some(KnownByOthers {
            durable: figures.durable(),
            figures,
            is_protected,
            protection,
        })
    }
}

/// The verdict on the drive that a name means; `None`: the ledger has no such drive.
pub fn verdict(name: &str, role: &Role) -> Option<OthersVerdict> {
    KnownByOthers::of(name).map(|known| known.verdict(role))
}

impl KnownByOthers {
    /// The verdict for a role.
    pub fn verdict(&self, role: &Role) -> OthersVerdict {
        let (mut met, mut missed) = (Vec::new(), Vec::new());
        let (mut unknown, mut less, mut soft) = (Vec::new(), Vec::new(), Vec::new());
        for requirement in &role.requirements {
            match self.reading(requirement) {
                OthersReading::Met(text) => met.push(text),
                OthersReading::Missed(text) if requirement.hard => missed.push(text),
                OthersReading::Open(text) if requirement.hard => unknown.push(text),
                OthersReading::Missed(text) => soft.push(text),
                OthersReading::Open(text) => less.push(text),
            }
        }
        unknown.append(&mut less);
        let decided_by = missed.first().cloned();
        let misses = missed.into_iter().skip(1).chain(soft).collect();
        let (outcome, answer) = match &decided_by {
            Some(_) => (
                QualifyOutcome::Fail,
                format!(
                    "No: not a good choice as {}, by what others measured of it.",
                    role.as_a
                ),
            ),
            None => (
                QualifyOutcome::Unknown,
                format!(
                    "Others' figures do not decide whether it is good as {}.",
                    role.as_a
                ),
            ),
        };
        OthersVerdict {
            family: self.figures.family.clone(),
            role: role.name.clone(),
            outcome,
            answer,
            decided_by,
            protection: self.protection.clone(),
            measured: self
                .figures
                .ranges()
                .iter()
                .map(OthersRange::sentence)
                .collect(),
            beware: self.beware(),
            met,
            misses,
            unknown,
        }
    }

    /// What misleads about the durable writes.
    fn beware(&self) -> Vec<String> {
        let traps = self.durable.iter().flat_map(|range| &range.traps);
        traps.cloned().collect()
    }
}

/// Whether acknowledged writes survive: of `drives known` with its source, else of the ledger.
fn protection(figures: &OthersFigures) -> (Option<bool>, String) {
    let drive = figures.rows.first().map(|row| &row.drive);
    let name = drive.map_or(String::new(), |drive| {
        format!("{} {}", drive.maker, drive.model)
    });
    if let Lookup::Matches(families) = look_up(&name)
        && let [family] = families[..]
        && let Some(plp) = family.plp
    {
        let word = if plp { "yes" } else { "no" };
        return (Some(plp), format!("{word} ({})", family.plp_source));
    }
    match drive.and_then(|drive| drive.plp) {
        Some(plp) => {
            let word = if plp { "yes" } else { "no" };
            (
                Some(plp),
                format!("{word} (general knowledge of the family)"),
            )
        }
        None => (None, "not known, which is not the same as no".to_owned()),
    }
}

impl KnownByOthers {
    fn reading(&self, requirement: &Requirement) -> OthersReading {
        let title = requirement.title.clone();
        match requirement.measure {
            QualifyMeasure::DurableWritesPerSecond => {
                let (Some(range), Some(limit)) = (&self.durable, requirement.at_least) else {
                    return OthersReading::Open(title);
                };
                let text = format!("{title}: {} (required >= {limit:.0} /s)", range.figures());
                if range.least >= limit {
                    OthersReading::Met(text)
                } else if range.most < limit {
                    OthersReading::Missed(text)
                } else {
                    OthersReading::Open(format!("{title}, on both sides of {limit:.0} /s"))
                }
            }
            QualifyMeasure::PowerLossProtection => match self.is_protected {
                Some(true) => OthersReading::Met(title),
                Some(false) => OthersReading::Missed(format!("{title}: no")),
                None => OthersReading::Open(title),
            },
            QualifyMeasure::EnduranceDwpd => {
                let is_rated =
                    |row: &&&ssdlab_ledger::LedgerRow| row.figure.metric == Metric::EnduranceDwpd;
                let rated = self
                    .figures
                    .rows
                    .iter()
                    .find(is_rated)
                    .map(|row| row.figure.value);
                match (rated, requirement.at_least) {
                    (Some(dwpd), Some(limit)) if dwpd >= limit => {
                        OthersReading::Met(format!("{title}: {dwpd:.1} by its sheet"))
                    }
                    (Some(dwpd), Some(limit)) => OthersReading::Missed(format!(
                        "{title}: {dwpd:.1} by its sheet (required >= {limit:.1})"
                    )),
                    _ => OthersReading::Open(title),
                }
            }
            _ => OthersReading::Open(title),
        }
    }
}

impl OthersVerdict {
    /// One screen.
    pub fn text(&self, width: usize) -> String {
        let texts = (RANGES_MIN..=RANGES_MAX)
            .rev()
            .map(|ranges| rows(&self.lines(ranges), width));
        let mut shortest = String::new();
        for text in texts {
            if text.lines().count() <= SCREEN_LINES {
                return text;
            }
            shortest = text;
        }
        shortest
    }

    /// Heads and texts, with at most `ranges` kinds of figures.
    fn lines(&self, ranges: usize) -> Vec<(String, String)> {
        let (symbol, word) = compare::outcome(self.outcome);
        let mut lines = vec![
            (format!("{symbol} {word}"), self.answer.clone()),
            (
                "Evidence".into(),
                "Measured by others: below a measurement of your own, above a model.".into(),
            ),
        ];
        lines.extend(
            self.decided_by
                .iter()
                .map(|why| ("Decided by".into(), format!("{why}."))),
        );
        lines.push(("Protected".into(), format!("{}.", self.protection)));
        let listed = |head: &str, texts: &[String], most: usize| {
            let more = texts.len().saturating_sub(most);
            let mut named: Vec<String> = texts.iter().take(most).cloned().collect();
            named.extend((more > 0).then(|| format!("{more} more")));
            (!named.is_empty()).then(|| (head.to_owned(), named.join("; ")))
        };
        for (number, text) in self.measured.iter().take(ranges).enumerate() {
            let head = if number == 0 { "Others have" } else { "" };
            lines.push((head.into(), text.clone()));
        }
        lines.extend(listed("Beware", &self.beware, NAMED_MAX));
        lines.extend(listed("Met", &self.met, NAMED_MAX));
        lines.extend(listed("Missed", &self.misses, NAMED_MAX));
        lines.extend(listed("Not known", &self.unknown, NAMED_MAX));
        let next = format!(
            "the drive itself: `ssdlab qualify --role {}` on it",
            self.role
        );
        lines.push(("Find out by".into(), next));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::role;
    use ssdlab_ledger::Ledger;

    #[test]
    fn others_figures_can_condemn_and_never_pass() {
        let slog = role("slog").expect("a role");
        for family in Ledger::open().families() {
            let verdict = verdict(family, slog).expect("every family has a verdict");
            assert_ne!(verdict.outcome, QualifyOutcome::Pass, "{family}");
            let is_decided = verdict.decided_by.is_some();
            assert_eq!(
                verdict.outcome == QualifyOutcome::Fail,
                is_decided,
                "{family}"
            );
            let text = verdict.text(80);
            assert!(text.lines().count() <= 24, "{family}:\n{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
        }
        assert!(verdict("no such drive", slog).is_none());
    }

    #[test]
    fn what_misleads_and_what_is_missed_stand_on_the_screen() {
        let slog = role("slog").expect("a role");
        let text = |family: &str| verdict(family, slog).expect("a verdict").text(80);
        let compressing = text("intel-520");
        assert!(compressing.contains("Beware"), "{compressing}");
        assert!(
            compressing.contains("compresses what fio writes"),
            "{compressing}"
        );
        assert!(
            compressing.contains("Missed       Power-loss protection: no"),
            "{compressing}"
        );
        assert!(
            !compressing.contains("one writer: durable writes"),
            "{compressing}"
        );
        // Slow at the end of its fill: the rate right after the cache is not its last.
        let slow = text("hp-fx700");
        assert!(slow.contains("past the cache: 130 to 3,500 MB/s"), "{slow}");
        assert!(slow.contains("filled whole, mean: 168 MB/s"), "{slow}");
    }
}
