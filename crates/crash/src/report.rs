//! What a recovery brought back.

use ssdlab_ssd::drive::power::{BrokenPromise, Cut, LostPart, Recovery, SectorClass};
use std::fmt;

/// What a recovery brought back, held against the ledger of promises.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig, SectorClass};
///
/// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// disk.fua(0, &[1; 512])?;
/// disk.write(4096, &[2; 512])?; // not promised
/// disk.cut()?;
/// let report = disk.power_on()?;
/// report.assert_kept();
/// assert_eq!(report.count(SectorClass::Current), 1);
/// assert_eq!(report.lost[0].number, 2);
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// The cut before this recovery; of several, the last.
    pub cut: Cut,
    /// The recovery.
    pub recovery: Recovery,
    /// Every sector ever touched, with the class of its value.
    pub sectors: Vec<(u64, SectorClass)>,
    /// Promises that were not kept.
    pub broken: Vec<BrokenPromise>,
    /// Commands whose effect is incomplete: an honest drive may lose what it has not promised.
    pub lost: Vec<LostPart>,
}

impl RecoveryReport {
    /// Whether every promise was kept.
    pub fn is_kept(&self) -> bool {
        self.broken.is_empty()
    }

    /// Number of sectors of a class.
    pub fn count(&self, class: SectorClass) -> usize {
        let of_class = self.sectors.iter().filter(|sector| sector.1 == class);
        of_class.count()
    }

    /// Fails a test when a promise was broken.
    ///
    /// # Panics
    /// When a promise was broken; the message lists all of them.
    #[track_caller]
    pub fn assert_kept(&self) {
        assert!(self.is_kept(), "the drive broke its promises\n{self}");
    }
}

/// Broken promises shown in full.
const SHOWN: usize = 16;

impl fmt::Display for RecoveryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.recovery.dead {
            writeln!(f, "the drive is dead")?;
        }
        if self.is_kept() {
            return writeln!(f, "every promise kept, {} sectors", self.sectors.len());
        }
        for broken in self.broken.iter().take(SHOWN) {
            writeln!(f, "{}", in_words(broken))?;
        }
        match self.broken.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "and {more} more"),
        }
    }
}

fn in_words(broken: &BrokenPromise) -> String {
    let promised = match broken.promised {
        0 => "zeroes".to_string(),
        number => format!("write #{number}"),
    };
    let finding = match broken.class {
        SectorClass::Lost | SectorClass::NeverWritten => "it is lost".to_string(),
        SectorClass::Older => format!("older write #{} is there", broken.found),
        SectorClass::Torn => "a value never written there is there".to_string(),
        SectorClass::Current => format!("write #{} is there", broken.found),
    };
    let (sector, by) = (broken.sector, broken.by);
    format!("sector {sector}: {by} promised {promised}, {finding}")
}
