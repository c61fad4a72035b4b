//! A verdict on a drive that is only in the ledger. It never passes: nobody else's timing shows
//! what survives a power cut, and what was not measured stays unknown.

use super::roles::{QualifyMeasure, Requirement, Role};
use super::{QualifyOutcome, compare, readings};
use crate::others::{OthersFigures, OthersRange};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_drives::known::ModelFamily;
use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_ledger::Metric;
use ssdlab_ledger::names::FamilyNames;
use ssdlab_view::text::rows;
use std::collections::BTreeSet;

/// Requirements that are named of a kind: the most, and the least where the rest is long.
const NAMED_MAX: usize = 4;
const NAMED_MIN: usize = 2;
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
    /// Missed: in a few words, and with what was measured.
    Missed {
        short: String,
        whole: String,
    },
    Open(String),
}

/// Where the requirement that would decide is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OthersGap {
    /// Nobody measured its durable writes.
    Unmeasured,
    /// Others' durable writes lie on both sides of the limit.
    BothSides,
    /// Their durable writes are enough.
    Enough,
}

/// A requirement with the state of the drive that it is about, where one is meant: titles of one
/// role differ by it.
fn titled(requirement: &Requirement) -> String {
    let state = match requirement.measure {
        QualifyMeasure::SustainedDurableIops => Some(readings::WORST_CASE),
        measure => measure.load().map(|_| readings::USED),
    };
    match state {
        Some(state) => format!("{}, {state}", requirement.title),
        None => requirement.title.clone(),
    }
}

/// A drive as others know it: found once, judged for every role.
pub struct KnownByOthers {
    figures: OthersFigures,
    durable: Option<OthersRange>,
    protection: OthersProtection,
}

impl KnownByOthers {
    /// The drive that a name means; `None`: the ledger has no such drive.
    pub fn of(name: &str) -> Option<KnownByOthers> {
        let figures = OthersFigures::of(name)?;
        let family = known(&figures);
        Some(KnownByOthers {
            durable: figures.durable(),
            protection: protection(&figures, family),
            figures,
        })
    }
}

/// The verdict on the drive that a name means; `None`: the ledger has no such drive.
pub fn verdict(name: &str, role: &Role) -> Option<OthersVerdict> {
    KnownByOthers::of(name).map(|known| known.verdict(role))
}

/// The refusal of a name that is no drive of the ledger, with the nearest.
pub fn none_called(name: &str) -> LabError {
    let near = FamilyNames::open().near(name);
    let hint = if let Lookup::Matches(_) = look_up(name) {
        format!("what its maker says of it: `ssdlab drives known \"{name}\"`")
    } else if near.is_empty() {
        "its drives: `ssdlab ledger page --out SITE`; models: `ssdlab list drives`".into()
    } else {
        format!("did you mean ledger:{}?", near.join(", ledger:"))
    };
    LabError::refused(format!("the ledger has no drive `{name}`"), hint)
}

impl KnownByOthers {
    /// The verdict for a role.
    pub fn verdict(&self, role: &Role) -> OthersVerdict {
        let (mut met, mut missed) = (Vec::new(), Vec::new());
        let (mut unknown, mut less, mut soft) = (Vec::new(), Vec::new(), Vec::new());
        for requirement in &role.requirements {
            match self.reading(requirement) {
                OthersReading::Met(text) => met.push(text),
                OthersReading::Missed { whole, .. } if requirement.hard => missed.push(whole),
                OthersReading::Open(text) if requirement.hard => unknown.push(text),
                OthersReading::Missed { short, .. } => soft.push(short),
                OthersReading::Open(text) => less.push(text),
            }
        }
        unknown.append(&mut less);
        // Two limits of one figure are one question.
        let mut asked = BTreeSet::new();
        unknown.retain(|title| asked.insert(title.clone()));
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
                    "Others' figures do not decide whether it is good as {}: {}.",
                    role.as_a,
                    self.undecided(role)
                ),
            ),
        };
        OthersVerdict {
            family: self.figures.family.clone(),
            role: role.name.clone(),
            outcome,
            answer,
            decided_by,
            protection: self.protection.text.clone(),
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

    /// What misleads about the durable writes, and of how many of them.
    fn beware(&self) -> Vec<String> {
        let Some(range) = &self.durable else {
            return Vec::new();
        };
        let sentence = |(trap, count): (&String, &usize)| match *count {
            count if count == range.figures => trap.clone(),
            count => format!("{trap} ({count} of {} figures)", range.figures),
        };
        range.traps.iter().map(sentence).collect()
    }

    /// Why nothing is decided.
    fn undecided(&self, role: &Role) -> String {
        let limits = role
            .requirements
            .iter()
            .filter(|requirement| requirement.measure == QualifyMeasure::DurableWritesPerSecond);
        let gaps = limits.filter_map(|requirement| {
            let limit = requirement.at_least?;
            Some((self.gap(limit), limit))
        });
        // The limit that is not met comes first.
        let gap = gaps.min_by_key(|(gap, _)| *gap as u8);
        let protection = match self.protection.is_protected {
            Some(true) => "",
            Some(false) => ", and no buffer that survives a power cut is known of it",
            None => ", and whether its buffer survives a power cut is not known",
        };
        match gap {
            None | Some((OthersGap::Unmeasured, _)) if self.figures.rates().is_empty() => {
                "the ledger has nobody's measurement of its speed".into()
            }
            None => "what they measured is not what the role asks for".into(),
            Some((OthersGap::Unmeasured, _)) => {
                format!("nobody measured its durable writes{protection}")
            }
            Some((OthersGap::BothSides, limit)) => format!(
                "their durable writes lie on both sides of the {limit:.0}/s that are \
                 required{protection}"
            ),
            Some((OthersGap::Enough, _)) => format!(
                "they show enough durable writes, but neither what a power cut leaves nor how \
                 the rate lasts{protection}"
            ),
        }
    }

    fn gap(&self, limit: f64) -> OthersGap {
        match &self.durable {
            None => OthersGap::Unmeasured,
            Some(range) if range.least >= limit => OthersGap::Enough,
            Some(_) => OthersGap::BothSides,
        }
    }
}

/// Whether acknowledged writes survive, and who says so.
struct OthersProtection {
    is_protected: Option<bool>,
    text: String,
    /// Whether nobody who would know says so.
    is_assumed: bool,
}

/// What `drives known` has of it.
fn known(figures: &OthersFigures) -> Option<&'static ModelFamily> {
    let drive = &figures.rows.first()?.drive;
    match look_up(&format!("{} {}", drive.maker, drive.model)) {
        Lookup::Matches(families) if families.len() == 1 => families.first().copied(),
        Lookup::Matches(_) | Lookup::Near(_) => None,
    }
}

/// Whether acknowledged writes survive: of `drives known` with its source, else of the ledger. What
/// no source says is called assumed.
fn protection(figures: &OthersFigures, family: Option<&ModelFamily>) -> OthersProtection {
    let drive = figures.rows.first().map(|row| &row.drive);
    let word = |plp: bool| if plp { "yes" } else { "no" };
    if let Some(family) = family
        && let Some(plp) = family.plp
    {
        let is_assumed = family.plp_class.is_none();
        let text = if is_assumed {
            format!("assumed {}: no source was read", word(plp))
        } else {
            format!("{} ({})", word(plp), family.plp_source)
        };
        return OthersProtection {
            is_protected: Some(plp),
            text,
            is_assumed,
        };
    }
    let plp = drive.and_then(|drive| drive.plp);
    OthersProtection {
        is_protected: plp,
        text: plp.map_or_else(
            || "not known, which is not the same as no".to_owned(),
            |plp| format!("assumed {}: general knowledge of the family", word(plp)),
        ),
        is_assumed: true,
    }
}

impl KnownByOthers {
    fn reading(&self, requirement: &Requirement) -> OthersReading {
        let title = titled(requirement);
        match requirement.measure {
            QualifyMeasure::DurableWritesPerSecond => {
                let (Some(range), Some(limit)) = (&self.durable, requirement.at_least) else {
                    return OthersReading::Open(title);
                };
                let short = format!("{title} (required >= {limit:.0}/s)");
                if range.least >= limit {
                    OthersReading::Met(short)
                } else if range.most < limit {
                    OthersReading::Missed {
                        whole: format!("{title}: {} (required >= {limit:.0}/s)", range.figures()),
                        short,
                    }
                } else {
                    OthersReading::Open(format!("{title}, on both sides of {limit:.0}/s"))
                }
            }
            QualifyMeasure::PowerLossProtection => {
                let assumed = if self.protection.is_assumed {
                    "assumed "
                } else {
                    ""
                };
                match self.protection.is_protected {
                    Some(true) => OthersReading::Met(format!("{title}: {assumed}yes")),
                    Some(false) => OthersReading::missed(format!("{title}: {assumed}no")),
                    None => OthersReading::Open(title),
                }
            }
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
                    (Some(dwpd), Some(limit)) => OthersReading::missed(format!(
                        "{title}: {dwpd:.1} by its sheet (required >= {limit:.1})"
                    )),
                    _ => OthersReading::Open(title),
                }
            }
            _ => OthersReading::Open(title),
        }
    }
}

impl OthersReading {
    /// Missed, said in one way.
    fn missed(text: String) -> OthersReading {
        OthersReading::Missed {
            short: text.clone(),
            whole: text,
        }
    }
}

impl OthersVerdict {
    /// One screen; `model` leads to a model of the drive, for the end of a sentence.
    pub fn text(&self, width: usize, model: &str) -> String {
        let sizes = (RANGES_MIN..=RANGES_MAX).rev();
        let sizes = sizes.map(|ranges| (ranges, NAMED_MAX));
        let texts = sizes
            .chain([(RANGES_MIN, NAMED_MIN), (1, NAMED_MIN)])
            .map(|(ranges, named)| rows(&self.lines(ranges, named, model), width));
        let mut shortest = String::new();
        for text in texts {
            if text.lines().count() <= SCREEN_LINES {
                return text;
            }
            shortest = text;
        }
        shortest
    }

    /// Heads and texts, with at most `ranges` kinds of figures and `named` requirements of a kind.
    fn lines(&self, ranges: usize, named: usize, model: &str) -> Vec<(String, String)> {
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
        lines.extend(listed("Beware", &self.beware, named));
        lines.extend(listed("Met", &self.met, named));
        lines.extend(listed("Missed", &self.misses, named));
        lines.extend(listed("Not known", &self.unknown, named));
        let next = format!(
            "such a drive: `ssdlab qualify --role {}` in a folder on it, and cuts of its power, \
             `ssdlab pull run /dev/DEVICE --serial SERIAL --ledger FILE`; without one, {model}",
            self.role
        );
        lines.push(("Find out by".into(), next));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::{role, roles};
    use ssdlab_ledger::Ledger;

    /// A step as long as the longest.
    const MODEL: &str = "a model of such media: `ssdlab qualify drive:intel-optane-p1600x-118gb \
                         --role s2d-cache`";

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
            let text = verdict.text(80, MODEL);
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
        let text = |family: &str| {
            let screen = verdict(family, slog).expect("a verdict").text(80, MODEL);
            screen.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let compressing = text("intel-520");
        assert!(compressing.contains("Beware"), "{compressing}");
        assert!(
            compressing.contains("compresses what fio writes"),
            "{compressing}"
        );
        assert!(
            compressing.contains("Missed Power-loss protection: "),
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

    /// A requirement of several states stood there by one title three times; an assumption read as
    /// a fact; "do not decide" did not say why; the next step measured the disk at hand.
    #[test]
    fn a_screen_says_why_nothing_is_decided_and_no_requirement_twice() {
        for family in Ledger::open().families() {
            let known = KnownByOthers::of(family).expect("a family");
            for role in roles() {
                let verdict = known.verdict(role);
                let mut titles = [&verdict.met[..], &verdict.misses, &verdict.unknown].concat();
                let count = titles.len();
                titles.sort();
                titles.dedup();
                assert_eq!(titles.len(), count, "{family}, {}: {titles:?}", role.name);
                let text = verdict.text(80, MODEL);
                assert!(text.lines().count() <= 24, "{family}:\n{text}");
                assert!(text.contains("in a folder on it"), "{text}");
                let is_fact = verdict
                    .met
                    .iter()
                    .any(|met| met == "Power-loss protection: yes");
                assert!(
                    !(is_fact && verdict.protection.contains("assumed")),
                    "{text}"
                );
            }
        }
        let answer = |family: &str, name: &str| {
            verdict(family, role(name).expect("a role"))
                .expect("a verdict")
                .answer
        };
        let both = answer("crucial-t500", "slog");
        assert!(both.contains("both sides of the 700/s"), "{both}");
        let none = answer("samsung-970-evo-plus", "ceph-wal");
        assert!(none.contains("nobody's measurement of its speed"), "{none}");
        let enough = answer("hgst-ssd1600mm", "slog");
        assert!(enough.contains("enough durable writes"), "{enough}");
    }
}
