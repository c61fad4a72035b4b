//! Promises to the host, sector by sector: data that a cut would take now, and data that the last
//! one did.
//!
//! Kept small: a bit a sector for what is acknowledged and not durable, and the last writes by
//! number. The full account of a campaign is [`ssdlab_ssd::drive::power::Oracle`].

use ssdlab_serve::{SectorDiffNote, SectorDurability};
use ssdlab_ssd::drive::power::PowerDrive;
use ssdlab_ssd::nand::media::{Content, SECTOR_BYTES, SlotContent};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Writes whose place is remembered.
const RECENT_MAX: usize = 1 << 16;
/// Words of marks that may be listed before the list is made short.
const LISTED_MAX: usize = 1 << 20;
/// Most broken promises that are named.
const NAMED_MAX: usize = 8;

/// Some writes of consecutive numbers, and where they went.
#[derive(Clone, Debug)]
struct WriteRun {
    numbers: Range<u64>,
    sectors: Range<u64>,
}

/// See the module's text. All ranges are of sectors of 512 bytes.
#[derive(Clone, Debug)]
pub(super) struct SectorLedger {
    per_slot: u64,
    /// Completion is a promise.
    is_protected: bool,
    /// A bit for each sector: it was changed since it was last durable.
    cached: Vec<u64>,
    /// Words of these that are not zero, some of them twice.
    listed: Vec<u32>,
    /// Changes that are not acknowledged, by commands from this number on.
    in_flight: Range<u64>,
    first: u64,
    recent: VecDeque<WriteRun>,
    /// Contents of the drive before the cut.
    before: Option<Vec<(u32, Content)>>,
    /// Sectors that a cut changed, until they are written again.
    after: BTreeMap<u64, SectorDurability>,
}

impl SectorLedger {
    /// Of a drive.
    pub fn new(drive: &PowerDrive) -> SectorLedger {
        let config = drive.config();
        let sectors = config.user_bytes / SECTOR_BYTES as u64;
        SectorLedger {
            per_slot: u64::from(config.shape.slot_bytes) / SECTOR_BYTES as u64,
            is_protected: config.buffer.protected,
            cached: vec![0; sectors.div_ceil(64) as usize],
            listed: Vec::new(),
            in_flight: 0..0,
            first: 0,
            recent: VecDeque::new(),
            before: None,
            after: BTreeMap::new(),
        }
    }

    /// Sectors are about to be changed, by commands from number `first` on.
    pub fn begin(&mut self, first: u64, sectors: Range<u64>) {
        (self.first, self.in_flight) = (first, sectors);
    }

    /// They were changed, the last of them by command `last`; `durable`: by FUA.
    pub fn done(&mut self, last: u64, durable: bool) {
        self.remember(last);
        let sectors = std::mem::take(&mut self.in_flight);
        if sectors.is_empty() {
            return;
        }
        self.mark(&sectors, !durable && !self.is_protected);
        if !self.after.is_empty() {
            let gone: Vec<u64> = self.after.range(sectors.clone()).map(|s| *s.0).collect();
            for sector in gone {
                self.after.remove(&sector);
            }
        }
    }

    fn remember(&mut self, last: u64) {
        if self.in_flight.is_empty() {
            return;
        }
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(WriteRun {
            numbers: self.first..last + 1,
            sectors: self.in_flight.clone(),
        });
    }

    fn mark(&mut self, sectors: &Range<u64>, is_cached: bool) {
        let mut position = sectors.start;
        while position < sectors.end {
            let end = (position / 64 + 1) * 64;
            let end = end.min(sectors.end);
            let mask = (u64::MAX >> (64 - (end - position))) << (position % 64);
            let word = &mut self.cached[(position / 64) as usize];
            if !is_cached {
                *word &= !mask;
            } else {
                if *word == 0 {
                    self.listed.push((position / 64) as u32);
                }
                *word |= mask;
            }
            position = end;
        }
        if self.listed.len() > LISTED_MAX {
            self.listed.retain(|&word| self.cached[word as usize] != 0);
            self.listed.sort_unstable();
            self.listed.dedup();
        }
    }

    /// All that was acknowledged is durable.
    pub fn flushed(&mut self) {
        for word in self.listed.drain(..) {
            self.cached[word as usize] = 0;
        }
    }

    fn is_cached(&self, sector: u64) -> bool {
        self.cached[(sector / 64) as usize] >> (sector % 64) & 1 == 1
    }

    /// The state of a sector that carries the write of this number; zero: nothing.
    pub fn state(&self, sector: u64, number: u64) -> SectorDurability {
        if self.is_cached(sector) {
            return SectorDurability::Cached;
        }
        match self.after.get(&sector) {
            Some(state) => *state,
            None if number == 0 => SectorDurability::NeverWritten,
            None => SectorDurability::Durable,
        }
    }

    /// Whether the same is known of all these sectors, beside what they hold.
    pub fn is_even(&self, sectors: &Range<u64>) -> bool {
        let first = self.is_cached(sectors.start);
        let even = sectors.clone().all(|s| self.is_cached(s) == first);
        even && (self.after.is_empty() || self.after.range(sectors.clone()).next().is_none())
    }

    /// Power was cut, after command `last`: what the drive held until then. Of several cuts
    /// before the data was seen again the first counts.
    pub fn cut(&mut self, last: u64, before: Option<Vec<(u32, Content)>>) {
        self.remember(last);
        if self.before.is_none() {
            self.before = before;
        }
    }

    /// The drive has recovered: what has become of its data. What is found is durable.
    pub fn recovered(&mut self, drive: &PowerDrive) -> SectorDiffNote {
        let mut diff = SectorDiffNote::default();
        let Some(before) = self.before.take() else {
            return diff;
        };
        let slots = drive.config().user_bytes / u64::from(drive.config().shape.slot_bytes);
        let mut before = before.into_iter().peekable();
        for lpn in 0..slots as u32 {
            let held = before.next_if(|held| held.0 == lpn).and_then(|held| held.1);
            let holds = drive.content(lpn);
            let same = match (&held, holds) {
                (Some(held), Some(holds)) => held.is_copy_of(holds),
                (None, None) => true,
                _ => false,
            };
            if !same {
                self.compare(lpn, held.as_ref(), holds, &mut diff);
            }
        }
        self.flushed();
        self.in_flight = 0..0;
        diff
    }

    fn compare(
        &mut self,
        lpn: u32,
        held: Option<&SlotContent>,
        holds: Option<&SlotContent>,
        found: &mut SectorDiffNote,
    ) {
        let number = |content: Option<&SlotContent>, n: u64| {
            content.map_or(0, |content| content.numbers[n as usize])
        };
        for n in 0..self.per_slot {
            let (was, is) = (number(held, n), number(holds, n));
            if was == is {
                continue;
            }
            let sector = u64::from(lpn) * self.per_slot + n;
            let promised = !self.is_cached(sector) && !self.in_flight.contains(&sector);
            let state = self.judge(sector, was, is, promised);
            match state {
                SectorDurability::Lost => found.lost += 1,
                SectorDurability::Torn => found.torn += 1,
                _ => found.older += 1,
            }
            if promised {
                found.broken += 1;
                if found.broken_sectors.len() < NAMED_MAX {
                    found.broken_sectors.push(sector);
                }
            }
            self.after.insert(sector, state);
        }
    }

    /// A sector that held `was` holds `is`. Writes older than those remembered are taken to have
    /// gone there.
    fn judge(&self, sector: u64, was: u64, is: u64, promised: bool) -> SectorDurability {
        if is == 0 {
            return if promised {
                SectorDurability::Lost
            } else {
                SectorDurability::Older
            };
        }
        let index = self.recent.partition_point(|w| w.numbers.end <= is);
        let is_older = match self.recent.get(index) {
            Some(write) if write.numbers.contains(&is) => write.sectors.contains(&sector),
            // Of a number that no write has.
            Some(_) if index > 0 => false,
            Some(_) => true,
            None => self.recent.is_empty() && (is < was || was == 0),
        };
        if is_older {
            SectorDurability::Older
        } else {
            SectorDurability::Torn
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::DriveConfig;
    use ssdlab_ssd::drive::power::Power;

    #[test]
    fn marks_come_and_go_by_sector() {
        let drive = PowerDrive::new(DriveConfig::tiny(), Power::default()).expect("valid");
        let mut ledger = SectorLedger::new(&drive);
        ledger.begin(1, 60..70);
        ledger.done(1, false);
        let cached = |ledger: &SectorLedger| (0..128).filter(|&s| ledger.is_cached(s)).collect();
        let all: Vec<u64> = cached(&ledger);
        assert_eq!(all, (60..70).collect::<Vec<_>>());
        ledger.begin(2, 62..65);
        ledger.done(2, true);
        let all: Vec<u64> = cached(&ledger);
        assert_eq!(all, [60, 61, 65, 66, 67, 68, 69]);
        assert!(!ledger.is_even(&(56..64)) && ledger.is_even(&(65..70)));
        ledger.flushed();
        assert!(ledger.is_even(&(0..192)));
    }

    #[test]
    fn what_a_cut_left_is_judged_by_where_writes_went() {
        let drive = PowerDrive::new(DriveConfig::tiny(), Power::default()).expect("valid");
        let mut ledger = SectorLedger::new(&drive);
        for (number, sectors) in [(5, 0..8), (7, 8..16)] {
            ledger.begin(number, sectors);
            ledger.done(number, true);
        }
        let state = |sector, was, is, promised| ledger.judge(sector, was, is, promised);
        assert_eq!(state(3, 9, 5, true), SectorDurability::Older);
        assert_eq!(state(9, 9, 5, true), SectorDurability::Torn, "flown");
        assert_eq!(state(3, 9, 6, true), SectorDurability::Torn, "no write's");
        assert_eq!(
            state(3, 9, 2, true),
            SectorDurability::Older,
            "not remembered"
        );
        assert_eq!(state(3, 5, 5 | 1 << 63, true), SectorDurability::Torn);
        assert_eq!(state(3, 5, 0, true), SectorDurability::Lost);
        assert_eq!(state(3, 5, 0, false), SectorDurability::Older);
    }
}
