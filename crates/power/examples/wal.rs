//! Tests a small write-ahead log on a modelled drive, right and with a flush forgotten.
//!
//! `cargo run -p ssdlab-power --example wal`; `docs/test-your-program.md` goes through it.

use ssdlab_power::crashtest::{Campaign, CampaignReport, Cuts, SectorDevice};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::DataError;

/// Keys of the store; key k's home is sector 8 + k.
const KEYS: u64 = 8;
/// First sector of the log.
const LOG: u64 = 64;

/// A store of a few numbers: each change goes to a log first, now and then all go home.
struct Wal<'a, D> {
    disk: &'a mut D,
    values: [u64; KEYS as usize],
    /// Records of another epoch than the header's are old.
    epoch: u64,
    /// Records in the log.
    length: u64,
    /// Whether the homes are flushed before the log is given up.
    flushes_homes: bool,
}

fn sector(disk: &mut impl SectorDevice, number: u64) -> Result<[u64; 4], DataError> {
    let mut bytes = [0; 512];
    disk.read(number * 512, &mut bytes)?;
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
    Ok([word(0), word(8), word(16), word(24)])
}

fn put(d: &mut impl SectorDevice, at: u64, words: [u64; 4], fua: bool) -> Result<(), DataError> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(512, 0);
    d.write(at * 512, &bytes, fua)
}

impl<'a, D: SectorDevice> Wal<'a, D> {
    /// Homes first, then the records of this epoch; a sector is written whole or not at all.
    fn open(disk: &'a mut D, flushes_homes: bool) -> Result<Self, DataError> {
        let epoch = sector(disk, 0)?[0];
        let mut values = [0; KEYS as usize];
        for key in 0..KEYS {
            values[key as usize] = sector(disk, 8 + key)?[0];
        }
        let mut length = 0;
        loop {
            let [of_epoch, key, value, is_record] = sector(disk, LOG + length)?;
            if of_epoch != epoch || is_record != 1 {
                break;
            }
            values[key as usize] = value;
            length += 1;
        }
        Ok(Wal {
            disk,
            values,
            epoch,
            length,
            flushes_homes,
        })
    }

    /// On return the change is acknowledged.
    fn set(&mut self, key: u64, value: u64) -> Result<(), DataError> {
        put(
            self.disk,
            LOG + self.length,
            [self.epoch, key, value, 1],
            false,
        )?;
        self.disk.flush()?;
        self.values[key as usize] = value;
        self.length += 1;
        if self.length == 10 {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// All changes go home, then a new epoch makes the log empty.
    fn checkpoint(&mut self) -> Result<(), DataError> {
        for key in 0..KEYS {
            put(
                self.disk,
                8 + key,
                [self.values[key as usize], 0, 0, 0],
                false,
            )?;
        }
        if self.flushes_homes {
            self.disk.flush()?;
        }
        self.epoch += 1;
        self.length = 0;
        put(self.disk, 0, [self.epoch, 0, 0, 0], true)
    }
}

/// Sixty changes, cut everywhere; what was acknowledged must be there, or something newer.
fn campaign(flushes_homes: bool) -> Result<CampaignReport, Box<dyn std::error::Error>> {
    let campaign = Campaign::new(DriveConfig::tiny()).cuts(Cuts::Exhaustive);
    let stream = campaign.record(|disk| {
        for n in 1..=60 {
            Wal::open(disk, flushes_homes)?.set(n % KEYS, n)?;
            disk.mark(n.to_string());
        }
        Ok::<(), DataError>(())
    })?;
    Ok(campaign.run(&stream, |drive| {
        let acknowledged: u64 = drive
            .last_mark()
            .map_or(0, |mark| mark.parse().unwrap_or(0));
        let wal = Wal::open(drive, true).map_err(|error| error.to_string())?;
        let newest = wal.values.iter().max().copied().unwrap_or(0);
        for n in acknowledged.saturating_sub(KEYS - 1).max(1)..=acknowledged {
            let found = wal.values[(n % KEYS) as usize];
            if found < n || newest > acknowledged + 1 {
                return Err(format!(
                    "key {} was acknowledged as {n}, is {found}",
                    n % KEYS
                ));
            }
        }
        Ok(())
    })?)
}

#[allow(dead_code)] // The tests take this file in as a module.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for flushes_homes in [true, false] {
        println!("flushes before it gives up its log: {flushes_homes}");
        println!("{}", campaign(flushes_homes)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::campaign;
    use ssdlab_power::crashtest::CutVerdict;

    #[test]
    fn the_log_survives_every_cut() {
        campaign(true).unwrap().assert_passed();
    }

    #[test]
    fn the_forgotten_flush_is_found_and_named() {
        let report = campaign(false).unwrap();
        assert!(report.count(CutVerdict::Application) > 0, "{report}");
        assert_eq!(report.count(CutVerdict::Drive), 0, "{report}");
        let minimal = report.minimal.unwrap();
        let [lost] = minimal.lost.as_slice() else {
            panic!("{minimal}");
        };
        // One home, written since the last commit and flushed by nobody.
        assert!((8 * 512..16 * 512).contains(&lost.offset), "{minimal}");
        assert!(lost.before_flush.is_none(), "{minimal}");
    }
}
