//! Faults by name: those of the drive, and two of the path to it.

use crate::error::CrashError;
use ssdlab_ssd::Command;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::{FAULTS, Fault, FaultKind};
use ssdlab_ssd::rng::Rng;

/// A fault of a crash disk.
///
/// | in the literature | name |
/// |---|---|
/// | lying flush | `ignores-flush` |
/// | dropped FUA | `ignores-fua` |
/// | torn (shorn) write | `shorn-writes` |
/// | lost (phantom) write | `lost-writes` |
/// | misdirected write | `misdirected-writes`, and `flying-writes` at a cut |
/// | silent corruption | `bit-corruption` |
///
/// [`FAULTS`] has the others of a drive.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig};
///
/// let mut disk = CrashDisk::with_faults(DriveConfig::tiny(), 1, &["ignores-flush"])?;
/// disk.write(0, &[7; 4096])?;
/// disk.flush()?;
/// disk.cut()?;
/// let report = disk.power_on()?;
/// assert!(report.to_string().contains("sector 0: FLUSH #2 promised write #1, it is lost"));
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// A fault of the drive.
    Drive(Fault),
    /// A write is acknowledged and never reaches the drive.
    LostWrites {
        /// Probability of each write, per mille.
        per_mille: u32,
        /// Seed.
        seed: u64,
    },
    /// A write goes to the place beside its own.
    MisdirectedWrites {
        /// Probability of each write, per mille.
        per_mille: u32,
        /// Seed.
        seed: u64,
    },
}

/// The names of the faults of the path.
const PATH: [&str; 2] = ["lost-writes", "misdirected-writes"];

/// `NAME[:PER_MILLE[:SEED]]`, split.
struct FaultSpec<'a> {
    name: &'a str,
    numbers: Vec<&'a str>,
}

fn refused(what: String, hint: String) -> CrashError {
    CrashError::Fault { what, hint }
}

impl FaultSpec<'_> {
    fn per_mille_and_seed(&self, seed: u64) -> Result<(u32, u64), CrashError> {
        let name = self.name;
        let hint = format!("{name}, {name}:500 (half of its occasions) or {name}:500:7 (seed 7)");
        let bad = |what: String| refused(what, hint.clone());
        let per_mille = match self.numbers.first() {
            None => 1000,
            Some(text) => match text.parse() {
                Ok(per_mille @ 0..=1000) => per_mille,
                _ => return Err(bad(format!("`{text}` per mille: 0 to 1000 are allowed"))),
            },
        };
        let seed = match self.numbers.get(1) {
            None => seed,
            Some(text) => {
                let seed = text.parse();
                seed.map_err(|_| bad(format!("`{text}` is no seed: a whole number is")))?
            }
        };
        match self.numbers.get(2) {
            Some(more) => Err(bad(format!("`{more}` after the seed of a fault"))),
            None => Ok((per_mille, seed)),
        }
    }

    /// The one fault whose number is no chance.
    fn cuts(&self, cuts_default: u64) -> Result<u64, CrashError> {
        let cuts = match self.numbers.as_slice() {
            [] => Some(cuts_default),
            [cuts] => cuts.parse().ok(),
            _ => None,
        };
        let words = std::iter::once(self.name).chain(self.numbers.iter().copied());
        let fault = words.collect::<Vec<_>>().join(":");
        cuts.ok_or_else(|| {
            refused(
                format!("`{fault}`: the number after the colon is one of cuts"),
                "dies-after-cuts:5: dead after the fifth cut".into(),
            )
        })
    }
}

impl DiskFault {
    /// `NAME[:PER_MILLE[:SEED]]`, or `dies-after-cuts[:CUTS]`: always by default, and with
    /// the seed given here.
    ///
    /// # Errors
    /// When there is no such fault, or a number is not valid.
    ///
    /// ```
    /// use ssdlab_crash::DiskFault;
    ///
    /// let fault = DiskFault::parse("lost-writes:20", 3).unwrap();
    /// assert_eq!(fault, DiskFault::LostWrites { per_mille: 20, seed: 3 });
    /// let error = DiskFault::parse("lost-write", 3).unwrap_err();
    /// assert!(error.hint().contains("lost-writes"));
    /// ```
    pub fn parse(text: &str, seed: u64) -> Result<DiskFault, CrashError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let parts = FaultSpec {
            name,
            numbers: parts.collect(),
        };
        if PATH.contains(&name) {
            let (per_mille, seed) = parts.per_mille_and_seed(seed)?;
            return Ok(match name {
                "lost-writes" => DiskFault::LostWrites { per_mille, seed },
                _ => DiskFault::MisdirectedWrites { per_mille, seed },
            });
        }
        let Some(kind) = FaultKind::named(name) else {
            let of_drive = FAULTS.iter().map(|fault| fault.name);
            let names: Vec<&str> = of_drive.chain(PATH).collect();
            return Err(refused(
                format!("no fault is named `{name}`"),
                format!("one of {}", names.join(", ")),
            ));
        };
        let (kind, (per_mille, seed)) = match kind {
            FaultKind::DiesAfterCuts(most) => {
                (FaultKind::DiesAfterCuts(parts.cuts(most)?), (1000, seed))
            }
            kind => (kind, parts.per_mille_and_seed(seed)?),
        };
        Ok(DiskFault::Drive(Fault {
            kind,
            per_mille,
            seed,
        }))
    }
}

/// Faults of the path, with their random streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathFaults {
    lost: Option<(u32, Rng)>,
    misdirected: Option<(u32, Rng)>,
}

impl PathFaults {
    /// Adds a fault; one of the drive changes nothing.
    pub fn add(&mut self, fault: DiskFault) {
        match fault {
            DiskFault::Drive(_) => {}
            DiskFault::LostWrites { per_mille, seed } => {
                self.lost = Some((per_mille, Rng::named(seed, PATH[0])));
            }
            DiskFault::MisdirectedWrites { per_mille, seed } => {
                self.misdirected = Some((per_mille, Rng::named(seed, PATH[1])));
            }
        }
    }

    /// The command that reaches the drive; `None`: none.
    pub fn as_sent(&mut self, command: &Command, capacity: u64) -> Option<Command> {
        if command.op != Op::Write {
            return Some(*command);
        }
        let strikes = |fault: &mut Option<(u32, Rng)>| {
            let fault = fault.as_mut();
            fault.is_some_and(|(per_mille, rng)| rng.below(1000) < u64::from(*per_mille))
        };
        if strikes(&mut self.lost) {
            return None;
        }
        let mut sent = *command;
        if strikes(&mut self.misdirected) {
            let len = u64::from(command.len);
            let behind = command.offset + len;
            sent.offset = if behind + len <= capacity {
                behind
            } else {
                command.offset.saturating_sub(len)
            };
        }
        Some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_can_be_named_and_nonsense_is_refused() {
        for known in FAULTS {
            let fault = DiskFault::parse(known.name, 3).expect(known.name);
            let (kind, seed) = (known.kind, 3);
            let per_mille = 1000;
            let expected = Fault {
                kind,
                per_mille,
                seed,
            };
            assert_eq!(fault, DiskFault::Drive(expected));
        }
        for bad in [
            "",
            "shorn",
            "shorn-writes:1001",
            "lost-writes:x",
            "misdirected-writes:1:2:3",
            "dies-after-cuts:x",
            "dies-after-cuts:5:1",
        ] {
            let error = DiskFault::parse(bad, 1).expect_err(bad);
            assert!(!error.hint().is_empty(), "{bad}");
        }
    }
}
