//! Faults as they are named on the command line.

use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind};

/// `NAME[:PER_MILLE[:SEED]]`, or `dies-after-cuts[:CUTS]`: always by default, and with
/// the seed given here.
///
/// # Errors
/// When there is no such fault, or a number is none.
pub fn parse_fault(text: &str, seed: u64) -> Result<Fault, LabError> {
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
    if let FaultKind::DiesAfterCuts(most) = kind {
        return dies_after_cuts(text, parts.next(), parts.next(), most, seed);
    }
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
        None => seed,
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

/// The one fault whose number is no chance.
fn dies_after_cuts(
    text: &str,
    cuts: Option<&str>,
    more: Option<&str>,
    cuts_default: u64,
    seed: u64,
) -> Result<Fault, LabError> {
    let cuts = cuts.map_or(Some(cuts_default), |cuts| cuts.parse().ok());
    let Some(cuts) = cuts.filter(|_| more.is_none()) else {
        return Err(LabError::refused(
            format!("`{text}`: the number after the colon is one of cuts"),
            "dies-after-cuts:5: dead after the fifth cut",
        ));
    };
    Ok(Fault {
        kind: FaultKind::DiesAfterCuts(cuts),
        per_mille: 1000,
        seed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
