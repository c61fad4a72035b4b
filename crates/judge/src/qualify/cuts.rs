//! What a record of pulls says: it outranks what the drive, its data sheet and timing say.

use super::reading::Reading;
use super::{Evidence, Grade};
use crate::pull::{PullRecord, Standing};

fn fact(holds: bool, why: String) -> Option<Reading> {
    Some(Reading::Fact {
        holds,
        grade: Grade::ProvedByCuts,
        why,
    })
}

/// Whether flushed writes survive, if pulls decide it.
pub(super) fn durability(e: &Evidence) -> Option<Reading> {
    let pulls = e.pulls.as_ref()?;
    match pulls.standing {
        Standing::Kept => fact(true, pulls.why.clone()),
        Standing::Broken => fact(false, pulls.why.clone()),
        Standing::Undecided => None,
    }
}

/// Whether the write buffer is protected, if pulls decide it: a volatile one loses what was not
/// flushed. That nothing unflushed was lost counts only when the drive itself says that its power
/// went.
pub(super) fn protection(e: &Evidence) -> Option<Reading> {
    let pulls = e.pulls.as_ref()?;
    if pulls.losing_unpromised > 0 {
        return fact(
            false,
            format!(
                "Writes that were acknowledged and not flushed were lost in {} of {} pulls.",
                pulls.losing_unpromised, pulls.counted
            ),
        );
    }
    match pulls.standing {
        Standing::Broken => fact(false, pulls.why.clone()),
        Standing::Kept if pulls.counts_cycles && pulls.unpromised > 0 => fact(
            true,
            format!(
                "In {} pulls, none of {} sectors was lost that were acknowledged and not flushed; \
                 the drive counted a power-up for each.",
                pulls.counted, pulls.unpromised
            ),
        ),
        Standing::Kept | Standing::Undecided => None,
    }
}

/// The same in a table.
pub(super) fn protection_word(e: &Evidence) -> Option<String> {
    match protection(e)? {
        Reading::Fact { holds: true, .. } => Some("yes, by cuts".into()),
        Reading::Fact { holds: false, .. } => Some("no, by cuts".into()),
        _ => None,
    }
}

/// What pulls that do not decide have to say, as a sentence with a space behind it.
pub(super) fn undecided(e: &Evidence) -> String {
    let undecided = |pulls: &&PullRecord| pulls.standing == Standing::Undecided;
    let pulls = e.pulls.as_ref().filter(undecided);
    pulls.map_or_else(String::new, |pulls| format!("{} ", pulls.why))
}

/// For the answer: that it was tested, if it was.
pub(super) fn passed(e: &Evidence) -> String {
    let kept = |pulls: &&PullRecord| pulls.standing == Standing::Kept;
    let pulls = e.pulls.as_ref().filter(kept);
    pulls.map_or_else(String::new, |pulls| {
        format!(", and flushed writes survived {} pulls", pulls.counted)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{protected, virtio_file};
    use super::super::{Finding, Outcome, judge, role};
    use super::*;

    fn pulls(standing: Standing) -> PullRecord {
        PullRecord {
            path: "/dev/sdx".into(),
            serial: None,
            model: None,
            is_file: false,
            bytes: 1 << 28,
            pulls: 26,
            counted: 25,
            unnoticed: 1,
            breaking: 0,
            lost: 0,
            first: None,
            unpromised: 900,
            unpromised_lost: 0,
            losing_unpromised: 0,
            counts_cycles: true,
            protected: None,
            standing,
            why: "As the pulls show.".into(),
        }
    }

    fn found(mut e: Evidence, pulls: PullRecord, which: &str) -> (Outcome, Grade, String) {
        e.pulls = Some(pulls);
        let name = match which {
            "durability" => "slog",
            _ => "s2d-cache",
        };
        let verdict = judge(role(name).unwrap(), &e);
        let is = |f: &&Finding| f.id == which;
        let finding = verdict.findings.iter().find(is).unwrap();
        (finding.outcome, finding.grade, finding.why.clone())
    }

    #[test]
    fn kept_promises_decide_where_timing_cannot() {
        let kept = found(virtio_file(), pulls(Standing::Kept), "durability");
        assert_eq!((kept.0, kept.1), (Outcome::Pass, Grade::ProvedByCuts));
        let undecided = found(virtio_file(), pulls(Standing::Undecided), "durability");
        assert_eq!(undecided.0, Outcome::Unknown);
        assert!(
            undecided.2.contains("As the pulls show."),
            "{}",
            undecided.2
        );
    }

    #[test]
    fn a_broken_promise_outranks_a_data_sheet() {
        for which in ["durability", "power_loss_protection"] {
            let broken = found(protected(), pulls(Standing::Broken), which);
            assert_eq!((broken.0, broken.1), (Outcome::Fail, Grade::ProvedByCuts));
        }
    }

    #[test]
    fn protection_is_what_unflushed_writes_show() {
        let which = "power_loss_protection";
        let mut record = pulls(Standing::Kept);
        assert_eq!(found(virtio_file(), record.clone(), which).0, Outcome::Pass);
        record.counts_cycles = false;
        let unknown = found(virtio_file(), record.clone(), which);
        assert_eq!(unknown.0, Outcome::Unknown, "the power may not have gone");
        record.losing_unpromised = 3;
        let volatile = found(protected(), record, which);
        assert_eq!(
            (volatile.0, volatile.1),
            (Outcome::Fail, Grade::ProvedByCuts)
        );
    }
}
