//! What a record of pulls says: it outranks what the drive, its data sheet and timing say.

use super::reading::MeasureReading;
use super::{Evidence, EvidenceGrade};
use crate::pull::{PullRecord, PullVerdict};

fn fact(holds: bool, why: String) -> Option<MeasureReading> {
    Some(MeasureReading::Fact {
        holds,
        grade: EvidenceGrade::ProvedByCuts,
        why,
    })
}

/// Whether flushed writes survive, if pulls decide it.
pub(super) fn durability(e: &Evidence) -> Option<MeasureReading> {
    let pulls = e.pulls.as_ref()?;
    match pulls.standing {
        PullVerdict::Kept => fact(true, pulls.why.clone()),
        PullVerdict::Broken => fact(false, pulls.why.clone()),
        PullVerdict::Undecided => None,
    }
}

/// Whether the write buffer is protected, if pulls decide it: a volatile one loses what was not
/// flushed. That nothing unflushed was lost counts only when the drive itself says that its power
/// went.
pub(super) fn protection(e: &Evidence) -> Option<MeasureReading> {
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
        PullVerdict::Broken => fact(false, pulls.why.clone()),
        PullVerdict::Kept if pulls.counts_cycles && pulls.unpromised > 0 => fact(
            true,
            format!(
                "In {} pulls, none of {} sectors was lost that were acknowledged and not flushed; \
                 the drive counted a power-up for each.",
                pulls.counted, pulls.unpromised
            ),
        ),
        PullVerdict::Kept | PullVerdict::Undecided => None,
    }
}

/// The same in a table.
pub(super) fn protection_word(e: &Evidence) -> Option<String> {
    match protection(e)? {
        MeasureReading::Fact { holds: true, .. } => Some("yes, by cuts".into()),
        MeasureReading::Fact { holds: false, .. } => Some("no, by cuts".into()),
        _ => None,
    }
}

/// What pulls that do not decide have to say, as a sentence with a space behind it.
pub(super) fn undecided(e: &Evidence) -> String {
    let undecided = |pulls: &&PullRecord| pulls.standing == PullVerdict::Undecided;
    let pulls = e.pulls.as_ref().filter(undecided);
    pulls.map_or_else(String::new, |pulls| format!("{} ", pulls.why))
}

/// For the answer: that it was tested, if it was.
pub(super) fn passed(e: &Evidence) -> String {
    let is_kept = |pulls: &&PullRecord| pulls.standing == PullVerdict::Kept;
    let pulls = e.pulls.as_ref().filter(is_kept);
    pulls.map_or_else(String::new, |pulls| {
        format!(", and flushed writes survived {} pulls", pulls.counted)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{protected, virtio_file};
    use super::super::{QualifyOutcome, RoleFinding, judge, role};
    use super::*;

    fn pulls(standing: PullVerdict) -> PullRecord {
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

    fn found(
        mut e: Evidence,
        pulls: PullRecord,
        which: &str,
    ) -> (QualifyOutcome, EvidenceGrade, String) {
        e.pulls = Some(pulls);
        let name = match which {
            "durability" => "slog",
            _ => "s2d-cache",
        };
        let verdict = judge(role(name).unwrap(), &e);
        let is = |f: &&RoleFinding| f.id == which;
        let finding = verdict.findings.iter().find(is).unwrap();
        (finding.outcome, finding.grade, finding.why.clone())
    }

    #[test]
    fn kept_promises_decide_where_timing_cannot() {
        let kept = found(virtio_file(), pulls(PullVerdict::Kept), "durability");
        assert_eq!(
            (kept.0, kept.1),
            (QualifyOutcome::Pass, EvidenceGrade::ProvedByCuts)
        );
        let undecided = found(virtio_file(), pulls(PullVerdict::Undecided), "durability");
        assert_eq!(undecided.0, QualifyOutcome::Unknown);
        assert!(
            undecided.2.contains("As the pulls show."),
            "{}",
            undecided.2
        );
    }

    #[test]
    fn a_broken_promise_outranks_a_data_sheet() {
        for which in ["durability", "power_loss_protection"] {
            let broken = found(protected(), pulls(PullVerdict::Broken), which);
            assert_eq!(
                (broken.0, broken.1),
                (QualifyOutcome::Fail, EvidenceGrade::ProvedByCuts)
            );
        }
    }

    #[test]
    fn protection_is_what_unflushed_writes_show() {
        let which = "power_loss_protection";
        let mut record = pulls(PullVerdict::Kept);
        assert_eq!(
            found(virtio_file(), record.clone(), which).0,
            QualifyOutcome::Pass
        );
        record.counts_cycles = false;
        let unknown = found(virtio_file(), record.clone(), which);
        assert_eq!(
            unknown.0,
            QualifyOutcome::Unknown,
            "the power may not have gone"
        );
        record.losing_unpromised = 3;
        let volatile = found(protected(), record, which);
        assert_eq!(
            (volatile.0, volatile.1),
            (QualifyOutcome::Fail, EvidenceGrade::ProvedByCuts)
        );
    }
}
