//! Faults as they are named on the command line.

use ssdlab_base::LabError;
use ssdlab_crash::DiskFault;
use ssdlab_ssd::drive::power::{FAULTS, Fault};

/// `NAME[:PER_MILLE[:SEED]]`, or `dies-after-cuts[:CUTS]`: always by default, and with
/// the seed given here.
///
/// # Errors
/// When the drive has no such fault, or a number is not valid.
pub fn parse_fault(text: &str, seed: u64) -> Result<Fault, LabError> {
    let name = text.split(':').next().unwrap_or_default();
    let of_drive = FAULTS.iter().map(|fault| fault.name);
    let names: Vec<&str> = of_drive.collect();
    let unknown = || {
        LabError::refused(
            format!("no fault is named `{name}`"),
            format!("one of {}", names.join(", ")),
        )
    };
    if !names.contains(&name) {
        return Err(unknown());
    }
    match DiskFault::parse(text, seed) {
        Ok(DiskFault::Drive(fault)) => Ok(fault),
        Ok(_) => Err(unknown()),
        Err(error) => Err(LabError::refused(error.what(), error.hint())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::drive::power::FaultKind;

    #[test]
    fn every_fault_can_be_named_and_nonsense_is_refused() {
        for known in FAULTS {
            let fault = parse_fault(known.name, 3).expect(known.name);
            assert_eq!(
                (fault.kind, fault.per_mille, fault.seed),
                (known.kind, 1000, 3)
            );
        }
        let fault = parse_fault("shorn-writes:250:9", 3).expect("good");
        assert_eq!((fault.per_mille, fault.seed), (250, 9));
        let fault = parse_fault("dies-after-cuts:5", 3).expect("good");
        assert_eq!(
            (fault.kind, fault.per_mille),
            (FaultKind::DiesAfterCuts(5), 1000)
        );
        for bad in [
            "",
            "shorn",
            "shorn-writes:1001",
            "shorn-writes:x",
            "shorn-writes:1:2:3",
            "dies-after-cuts:x",
            "dies-after-cuts:5:1",
        ] {
            assert!(
                !parse_fault(bad, 1).expect_err(bad).hint().is_empty(),
                "{bad}"
            );
        }
    }
}
