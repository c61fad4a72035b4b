//! Faults as they are named on the command line.

use crate::LabError;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind};

/// `NAME[:PERMILLE[:SEED]]`: always, with seed 1, unless told otherwise.
///
/// # Errors
/// When there is no such fault, or a number is none.
pub fn parse_fault(text: &str) -> Result<Fault, LabError> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let kind = FaultKind::named(name).ok_or_else(|| {
        let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
        let known = names.join(", ");
        LabError::refused(
            format!("no fault is named `{name}`"),
            format!("one of {known}"),
        )
    })?;
    let hint = format!("{name}, {name}:500 (half of its occasions) or {name}:500:7 (seed 7)");
    let bad = |what: String| LabError::refused(what, hint.clone());
    let per_mille = match parts.next() {
        None => 1000,
        Some(text) => match text.parse() {
            Ok(per_mille @ 0..=1000) => per_mille,
            _ => return Err(bad(format!("`{text}` per mille: 0 to 1000 are allowed"))),
        },
    };
    let seed = match parts.next() {
        None => 1,
        Some(text) => {
            let seed = text.parse();
            seed.map_err(|_| bad(format!("`{text}` is no seed: a whole number is")))?
        }
    };
    if let Some(more) = parts.next() {
        return Err(bad(format!("`{more}` after the seed of a fault")));
    }
    Ok(Fault {
        kind,
        per_mille,
        seed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_named_and_nonsense_is_refused() {
        for known in FAULTS {
            let fault = parse_fault(known.name).expect(known.name);
            assert_eq!(
                (fault.kind, fault.per_mille, fault.seed),
                (known.kind, 1000, 1)
            );
        }
        let fault = parse_fault("shorn-writes:250:9").expect("good");
        assert_eq!((fault.per_mille, fault.seed), (250, 9));
        for bad in [
            "",
            "shorn",
            "shorn-writes:1001",
            "shorn-writes:x",
            "shorn-writes:1:2:3",
        ] {
            assert!(!parse_fault(bad).expect_err(bad).hint().is_empty(), "{bad}");
        }
    }
}
