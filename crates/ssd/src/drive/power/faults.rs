//! Named faults: the ways in which real drives break their promises. All are off by default.
//!
//! The classes are those that M. Zheng, J. Tucek, F. Qin and M. Lillibridge observed or looked for
//! in "Understanding the Robustness of SSDs under Power Fault" (FAST 2013): 13 of 15 drives failed.
//! Each fault has a probability, in per mille of its occasions, and its own seed.

use crate::command::{Command, Op};
use crate::config::ConfigError;
use crate::nand::media::{Media, Page};
use crate::nand::{Mode, Purpose};
use crate::rng::Rng;

/// Kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// FLUSH completes and does nothing.
    IgnoresFlush,
    /// FUA is treated as an ordinary write.
    IgnoresFua,
    /// The map of flushed data is not on media.
    FlushNotMap,
    /// Changes of the map get lost.
    LosesMapUpdates,
    /// Only the first part of a write is on media.
    ShornWrites,
    /// Data is at the address of other data.
    FlyingWrites,
    /// Sectors hold corrupt data.
    BitCorruption,
    /// Pages below an interrupted one are lost, whatever their data.
    PairedPageLoss,
    /// The capacitor of a protected drive has no energy.
    CapacitorFailed,
    /// Recovery takes the older of two copies.
    RecoveryPicksOlder,
    /// Recovery reads a page with an interrupted program as good; by the next cut it has faded.
    TrustsTornPages,
    /// The drive is dead after a number of cuts.
    DiesAfterCuts(u64),
}

/// A fault, switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kind.
    pub kind: FaultKind,
    /// Probability, per mille of its occasions.
    pub per_mille: u32,
    /// Seed of its random stream.
    pub seed: u64,
}

/// Description of a fault.
#[derive(Clone, Copy, Debug)]
pub struct FaultInfo {
    /// Name in the command line and in reports.
    pub name: &'static str,
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Effect, in a sentence.
    pub text: &'static str,
    /// Occasion at which it may strike.
    pub occasion: &'static str,
    /// Publication that reports it.
    pub source: &'static str,
}

/// Default number of cuts of `dies-after-cuts`: that of the drive in FAST 2013.
const CUTS_UNTIL_DEATH: u64 = 136;

/// Every fault.
pub const FAULTS: [FaultInfo; 12] = [
    FaultInfo {
        name: "ignores-flush",
        kind: FaultKind::IgnoresFlush,
        text: "FLUSH completes at once and nothing is programmed",
        occasion: "each FLUSH",
        source: "FAST'13: unserializable writes (8 of 15 drives); R. Bishop 2022: 2 of 4",
    },
    FaultInfo {
        name: "ignores-fua",
        kind: FaultKind::IgnoresFua,
        text: "a FUA write completes when it is in the volatile buffer",
        occasion: "each FUA write",
        source: "FAST'13: unserializable writes",
    },
    FaultInfo {
        name: "flush-not-map",
        kind: FaultKind::FlushNotMap,
        text: "FLUSH programs the data, but not the map that leads to it",
        occasion: "each cut",
        source: "FAST'13: unserializable writes, metadata corruption",
    },
    FaultInfo {
        name: "loses-map-updates",
        kind: FaultKind::LosesMapUpdates,
        text: "recovery does not find some of the units programmed last",
        occasion: "each of the last 32 units, at a cut",
        source: "FAST'13: metadata corruption (one drive lost a third of its capacity)",
    },
    FaultInfo {
        name: "shorn-writes",
        kind: FaultKind::ShornWrites,
        text: "only the first half of a mapping unit is there, zeroes follow",
        occasion: "each of the last 8 units of host data, at a cut",
        source: "FAST'13: shorn writes (3 of 15 drives)",
    },
    FaultInfo {
        name: "flying-writes",
        kind: FaultKind::FlyingWrites,
        text: "two mapping units have changed places",
        occasion: "each of the last 8 units of host data, at a cut",
        source: "FAST'13: flying writes (looked for, not seen)",
    },
    FaultInfo {
        name: "bit-corruption",
        kind: FaultKind::BitCorruption,
        text: "a sector holds data that was never written, and no error is reported",
        occasion: "each of the last 8 units of host data, at a cut",
        source: "FAST'13: bit corruption (3 of 15 drives)",
    },
    FaultInfo {
        name: "paired-page-loss",
        kind: FaultKind::PairedPageLoss,
        text: "pages below an interrupted one are lost though they were promised",
        occasion: "each word line torn by a cut",
        source: "Tseng, Grupp, Swanson, DAC 2011",
    },
    FaultInfo {
        name: "capacitor-failed",
        kind: FaultKind::CapacitorFailed,
        text: "a protected drive loses its buffer",
        occasion: "each cut",
        source: "FAST'13: drives that claim protection failed too",
    },
    FaultInfo {
        name: "recovery-picks-older",
        kind: FaultKind::RecoveryPicksOlder,
        text: "of two copies of a mapping unit recovery takes the older",
        occasion: "each slot of the last 32 units, at a cut",
        source: "FAST'13: unserializable writes",
    },
    FaultInfo {
        name: "trusts-torn-pages",
        kind: FaultKind::TrustsTornPages,
        text: "a page whose program was cut short is read as good, and has faded by the next cut",
        occasion: "each unit of host data torn by a cut",
        source: "Tseng, Grupp, Swanson, DAC 2011: it may seem intact, and is not to be relied on",
    },
    FaultInfo {
        name: "dies-after-cuts",
        kind: FaultKind::DiesAfterCuts(CUTS_UNTIL_DEATH),
        text: "the drive does not come back; after 136 cuts by default",
        occasion: "the cut of that number",
        source: "FAST'13: dead device (one, after 136 faults)",
    },
];

impl FaultKind {
    /// Description of the kind.
    pub fn info(self) -> &'static FaultInfo {
        let same =
            |info: &&FaultInfo| std::mem::discriminant(&info.kind) == std::mem::discriminant(&self);
        FAULTS.iter().find(same).unwrap_or(&FAULTS[0])
    }

    /// The fault of that name, with its defaults.
    pub fn named(name: &str) -> Option<FaultKind> {
        let mut faults = FAULTS.iter();
        faults.find(|info| info.name == name).map(|info| info.kind)
    }
}

/// Refuses the faults that act on spare areas which recovery by a journal does not read.
pub(super) fn allowed_with_journal(faults: &[Fault]) -> Result<(), ConfigError> {
    let in_spare_areas = |kind| {
        matches!(
            kind,
            FaultKind::FlushNotMap
                | FaultKind::LosesMapUpdates
                | FaultKind::RecoveryPicksOlder
                | FaultKind::PairedPageLoss
        )
    };
    let mut faults = faults.iter().map(|fault| fault.kind);
    let Some(kind) = faults.find(|&kind| in_spare_areas(kind)) else {
        return Ok(());
    };
    Err(ConfigError {
        what: "fault".into(),
        given: kind.info().name.into(),
        allowed: "it changes spare areas, which only recovery = \"scan\" reads".into(),
    })
}

/// The faults of a drive, with their random streams.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    list: Vec<(Fault, Rng)>,
    /// Kinds that have struck, in the order of the first time.
    struck: Vec<FaultKind>,
    /// Torn pages read as good since the last cut: block, row, sequence number.
    trusted: Vec<(usize, usize, u64)>,
    /// The last sequence number at the last cut.
    seen: u64,
}

impl Faults {
    pub fn new(list: &[Fault]) -> Faults {
        let named = |fault: &Fault| Rng::named(fault.seed, fault.kind.info().name);
        Faults {
            list: list.iter().map(|fault| (*fault, named(fault))).collect(),
            struck: Vec::new(),
            trusted: Vec::new(),
            seen: 0,
        }
    }

    /// Changes all further draws by `by`.
    pub fn stir(&mut self, by: u64) {
        for (_, rng) in &mut self.list {
            *rng = Rng::named(rng.next_u64() ^ by, "stirred");
        }
    }

    fn strikes(&mut self, kind: FaultKind) -> bool {
        let mut list = self.list.iter_mut();
        let of_kind = list.find(|(fault, _)| fault.kind == kind);
        let strikes =
            of_kind.is_some_and(|(fault, rng)| rng.below(1000) < u64::from(fault.per_mille));
        if strikes {
            self.note(kind);
        }
        strikes
    }

    fn note(&mut self, kind: FaultKind) {
        if !self.struck.contains(&kind) {
            self.struck.push(kind);
        }
    }

    /// Kinds that have struck.
    pub fn struck(&self) -> &[FaultKind] {
        &self.struck
    }

    /// The command as the faulty drive executes it.
    pub fn as_done(&mut self, command: &Command) -> Command {
        if self.list.is_empty() {
            return *command;
        }
        let mut executed = *command;
        if command.op == Op::Flush && self.strikes(FaultKind::IgnoresFlush) {
            // Takes only its time in the controller.
            executed = Command::read(0, 0);
        }
        if command.fua && self.strikes(FaultKind::IgnoresFua) {
            executed.fua = false;
        }
        executed
    }

    pub fn capacitor_fails(&mut self) -> bool {
        self.strikes(FaultKind::CapacitorFailed)
    }

    pub fn is_dead(&mut self, cuts: u64) -> bool {
        let mut kinds = self.list.iter().map(|(fault, _)| fault.kind);
        let fatal =
            kinds.find(|kind| matches!(kind, FaultKind::DiesAfterCuts(most) if cuts >= *most));
        if let Some(kind) = fatal {
            self.note(kind);
        }
        fatal.is_some()
    }

    /// Applies the faults to the media after a cut.
    pub fn strike(&mut self, media: &mut Media) {
        for index in 0..self.list.len() {
            let kind = self.list[index].0.kind;
            match kind {
                FaultKind::FlushNotMap => self.lose_map(media),
                FaultKind::LosesMapUpdates => self.each_recent(media, kind, 32, false, |page| {
                    page.slots.clear();
                }),
                FaultKind::RecoveryPicksOlder => self.pick_older(media),
                FaultKind::ShornWrites => self.each_recent(media, kind, 8, true, shear),
                FaultKind::BitCorruption => self.each_recent(media, kind, 8, true, corrupt),
                FaultKind::FlyingWrites => self.fly(media),
                FaultKind::PairedPageLoss => self.lose_pairs(media),
                FaultKind::TrustsTornPages => self.trust_torn(media),
                FaultKind::IgnoresFlush
                | FaultKind::IgnoresFua
                | FaultKind::CapacitorFailed
                | FaultKind::DiesAfterCuts(_) => {}
            }
        }
    }

    fn each_recent(
        &mut self,
        media: &mut Media,
        kind: FaultKind,
        most: usize,
        host: bool,
        change: impl Fn(&mut Page),
    ) {
        for (_, block, row) in recent(media, most, host) {
            if self.strikes(kind) {
                change(page_of(media, block, row));
            }
        }
    }

    /// Loses the units programmed after the second last map page.
    fn lose_map(&mut self, media: &mut Media) {
        if !self.strikes(FaultKind::FlushNotMap) {
            return;
        }
        let pages = media.blocks().iter().flat_map(|block| &block.pages);
        let maps = pages.filter(|page| page.map.is_some() && !page.torn);
        let mut seqs: Vec<u64> = maps.map(|page| page.seq).collect();
        seqs.sort_unstable();
        let covered = seqs.len().checked_sub(2).map(|index| seqs[index]);
        for (seq, block, row) in recent(media, 8, true) {
            if covered.is_none_or(|covered| seq > covered) {
                page_of(media, block, row).slots.clear();
            }
        }
    }

    fn pick_older(&mut self, media: &mut Media) {
        for (_, block, row) in recent(media, 32, false) {
            let count = media.blocks()[block].pages[row].slots.len();
            for slot in (0..count).rev() {
                let address = media.blocks()[block].pages[row].slots[slot].address;
                if has_older(media, address) && self.strikes(FaultKind::RecoveryPicksOlder) {
                    page_of(media, block, row).slots.remove(slot);
                }
            }
        }
    }

    fn fly(&mut self, media: &mut Media) {
        let pages = recent(media, 8, true);
        for pair in pages.windows(2) {
            let ((_, block, row), (_, other, other_row)) = (pair[0], pair[1]);
            if !self.strikes(FaultKind::FlyingWrites) {
                continue;
            }
            let first_content = page_of(media, block, row).slots[0].content.clone();
            let second_content = page_of(media, other, other_row).slots[0].content.clone();
            page_of(media, block, row).slots[0].content = second_content;
            page_of(media, other, other_row).slots[0].content = first_content;
        }
    }

    /// Fades the torn pages trusted since the last cut, and trusts those that this cut tore.
    fn trust_torn(&mut self, media: &mut Media) {
        for (block, row, seq) in std::mem::take(&mut self.trusted) {
            let page = media.blocks()[block].pages.get(row);
            if page.is_some_and(|page| page.seq == seq) {
                media.lose_page(block as u32, row as u32);
            }
        }
        let last_seq = std::mem::replace(&mut self.seen, media.last_seq());
        for block in 0..media.blocks().len() {
            let pages = &media.blocks()[block].pages;
            let torn = pages.last().filter(|page| page.torn && page.seq > last_seq);
            let Some(seq) = torn.filter(|p| p.purpose == Purpose::Host).map(|p| p.seq) else {
                continue;
            };
            let row = pages.len() - 1;
            if self.strikes(FaultKind::TrustsTornPages) {
                page_of(media, block, row).torn = false;
                self.trusted.push((block, row, seq));
            }
        }
    }

    fn lose_pairs(&mut self, media: &mut Media) {
        let bits = media.bits_per_cell() as usize;
        for block in 0..media.blocks().len() {
            let pages = &media.blocks()[block].pages;
            let torn = pages
                .last()
                .is_some_and(|p| p.torn && p.mode == Mode::Native);
            if !torn || !self.strikes(FaultKind::PairedPageLoss) {
                continue;
            }
            let row = pages.len() - 1;
            for lower in row - row % bits..row {
                media.lose_page(block as u32, lower as u32);
            }
        }
    }
}

fn page_of(media: &mut Media, block: usize, row: usize) -> &mut Page {
    media.page_mut(block, row)
}

/// The last programmed readable pages with content: sequence number, block, row.
fn recent(media: &Media, most: usize, host: bool) -> Vec<(u64, usize, usize)> {
    let mut pages = Vec::new();
    for (block, at) in media.blocks().iter().enumerate() {
        for (row, page) in at.pages.iter().enumerate() {
            let fits = !host || page.purpose == Purpose::Host;
            if fits && !page.torn && page.slots.iter().any(|slot| slot.content.is_some()) {
                pages.push((page.seq, block, row));
            }
        }
    }
    pages.sort_unstable();
    pages.split_off(pages.len().saturating_sub(most))
}

fn has_older(media: &Media, address: u32) -> bool {
    let pages = media.blocks().iter().flat_map(|block| &block.pages);
    let readable = pages.filter(|page| !page.torn);
    let slots = readable.flat_map(|page| &page.slots);
    slots.filter(|slot| slot.address == address).count() > 1
}

fn shear(page: &mut Page) {
    change_first(page, |content| {
        let count = content.numbers.count();
        content.numbers.set(count / 2..count, 0);
        if let Some(bytes) = &mut content.bytes {
            let half = bytes.len() / 2;
            bytes.change(|bytes| bytes[half..].fill(0));
        }
    });
}

/// Bit set in the number of a corrupted sector and in no write's number.
const CORRUPTED: u64 = 1 << 63;

fn corrupt(page: &mut Page) {
    change_first(page, |content| {
        let number = content.numbers[0] ^ CORRUPTED;
        content.numbers.set(0..1, number);
        if let Some(bytes) = &mut content.bytes {
            bytes.change(|bytes| bytes[0] ^= 0x10);
        }
    });
}

fn change_first(page: &mut Page, change: impl Fn(&mut crate::nand::media::SlotContent)) {
    let mut slots = page.slots.iter_mut();
    if let Some(content) = slots.find_map(|slot| slot.content.as_mut()) {
        change(content);
    }
}
