//! A drive without time: the same translation layer and the same commands in the same order,
//! reduced to their effects on map and media. For write amplification and wear.

use super::engine::Engine;
use super::span::{assert_possible, edges, refuses, slots_touched, slots_within};
use super::{ByLayer, Drive, LayerKind, refuse_victim};
use crate::command::{Command, Op};
use crate::config::{ConfigError, DriveConfig};
use crate::counters::DriveCounters;
use crate::ftl::policies::VictimPolicy;
use crate::ftl::{
    AHEAD, BlockFtl, Full, Hint, Lean, PageFtl, SlotPlace, SuperblockView, Translation,
};
use crate::image::{IMAGE_VERSION, Image, ImageError, Reader, Writer};
use crate::nand::{Counting, EndOfLife, NandWork, Reliability};
use std::io;

/// First bytes of every image of a counting drive.
const COUNTING_MAGIC: [u8; 8] = *b"ssdlabCD";

fn block_mapped() -> ImageError {
    ImageError::Unknown("a block-mapped drive in the counting gear is not saved".into())
}

/// The part of the host side that changes the map.
#[derive(Clone, Debug)]
struct Tally<F> {
    ftl: F,
    slot_shift: u32,
    protected: bool,
    /// Every write, trim and write of zeroes is treated as one with FUA.
    through: bool,
}

type CountingEngine = ByLayer<
    Tally<PageFtl<Counting, Lean>>,
    Tally<PageFtl<Counting, Full>>,
    Tally<BlockFtl<Counting>>,
>;

/// A software SSD without time. Cloning it forks its whole state.
#[derive(Clone, Debug)]
pub struct CountingDrive {
    config: DriveConfig,
    kind: Box<CountingEngine>,
}

impl<F: Translation> Tally<F> {
    fn new(config: &DriveConfig, victim: Option<Box<dyn VictimPolicy>>) -> Tally<F> {
        Tally::around(config, F::new(config, victim))
    }

    fn around(config: &DriveConfig, ftl: F) -> Tally<F> {
        Tally {
            ftl,
            slot_shift: config.shape.slot_bytes.trailing_zeros(),
            protected: config.buffer.protected,
            through: config.buffer.writes_through(),
        }
    }

    #[inline(always)]
    fn apply(&mut self, command: &Command) {
        if refuses(self.ftl.ended(), command.op) {
            return self.ftl.count_refused();
        }
        match command.op {
            Op::Write => self.write(command),
            Op::Read => {
                let slots = slots_touched(command, self.slot_shift);
                self.ftl.read(0, slots);
                self.ftl.counters().count_read(command);
            }
            Op::Trim | Op::WriteZeroes => {
                for lpn in slots_within(command, self.slot_shift) {
                    self.ftl.trim(lpn);
                }
                self.ftl.counters().host_trims += 1;
                let durable = command.op == Op::WriteZeroes && command.fua && !self.protected;
                if durable || self.through {
                    self.commit();
                }
            }
            Op::Flush => {
                self.ftl.counters().host_flushes += 1;
                if !self.protected {
                    self.ftl.flush_data(0);
                    self.commit();
                }
            }
        }
    }

    fn apply_all(&mut self, commands: &[Command], user_bytes: u64) {
        if !self.ftl.writes_are_plain() {
            return self.apply_each(commands, user_bytes);
        }
        let mut lpns = [0; 2 * AHEAD];
        let mut chunks = commands.chunks(AHEAD);
        let mut chunk = chunks.next().unwrap_or_default();
        let mut plain = self.lpns_of(chunk, user_bytes, &mut lpns[AHEAD..]);
        while !chunk.is_empty() {
            lpns.copy_within(AHEAD.., 0);
            let following = chunks.next().unwrap_or_default();
            let plain_next = self.lpns_of(following, user_bytes, &mut lpns[AHEAD..]);
            if plain {
                let bytes = chunk.len() as u64 * u64::from(chunk[0].len);
                let counters = self.ftl.counters();
                counters.host_writes += chunk.len() as u64;
                counters.host_bytes_written += bytes;
                // Nothing follows the last chunk, which may be short.
                let known = chunk.len() + following.len();
                self.ftl.write_each(&lpns[..known], chunk.len());
            } else {
                self.apply_each(chunk, user_bytes);
            }
            (chunk, plain) = (following, plain_next);
        }
    }

    /// Computes the mapping units of a chunk of commands; returns whether each command writes
    /// exactly one.
    #[inline(always)]
    fn lpns_of(&self, chunk: &[Command], user_bytes: u64, lpns: &mut [u32]) -> bool {
        let slot = 1_u32 << self.slot_shift;
        // Accumulated over all commands, so that one test covers each of them.
        let (mut offsets, mut furthest) = (0, 0);
        let (mut any_len, mut all_len) = (0, u32::MAX);
        let mut unusual = u8::from(self.through);
        for (lpn, command) in lpns.iter_mut().zip(chunk) {
            *lpn = (command.offset >> self.slot_shift) as u32;
            offsets |= command.offset;
            furthest = furthest.max(command.offset);
            any_len |= command.len;
            all_len &= command.len;
            unusual |= command.op as u8 ^ Op::Write as u8 | u8::from(command.fua);
        }
        unusual == 0
            && any_len == slot
            && all_len == slot
            && offsets & u64::from(slot - 1) == 0
            && user_bytes >= u64::from(slot)
            && furthest <= user_bytes - u64::from(slot)
    }

    fn apply_each(&mut self, commands: &[Command], user_bytes: u64) {
        for (index, command) in commands.iter().enumerate() {
            if let Some(next) = commands.get(index + AHEAD) {
                self.ftl.prefetch((next.offset >> self.slot_shift) as u32);
            }
            assert_possible(command, user_bytes);
            self.apply(command);
        }
    }

    #[inline(always)]
    fn write(&mut self, command: &Command) {
        let is_one_slot = command.len == 1 << self.slot_shift
            && command.offset & ((1 << self.slot_shift) - 1) == 0;
        if !is_one_slot || command.fua || self.through {
            self.write_any(command);
            return;
        }
        self.ftl.counters().count_write(command);
        let hint = Hint::of(command, 0);
        let lpn = (command.offset >> self.slot_shift) as u32;
        self.ftl.write(0, lpn, hint);
    }

    fn write_any(&mut self, command: &Command) {
        let slots = slots_touched(command, self.slot_shift);
        let partial = (command.offset | u64::from(command.len)) & ((1 << self.slot_shift) - 1);
        if partial != 0 {
            for lpn in edges(command, &slots, self.slot_shift) {
                self.ftl.read_internal(0, lpn);
            }
        }
        self.ftl.counters().count_write(command);
        let hint = Hint::of(command, 0);
        if command.fua && !self.protected || self.through {
            self.ftl.write_through(0, slots, hint);
            self.commit();
            return;
        }
        self.ftl.write_run(0, slots, hint);
    }

    fn commit(&mut self) {
        if self.ftl.uncommitted() {
            self.ftl.counters().commits += 1;
            self.ftl.commit_map(0);
        }
    }
}

impl CountingDrive {
    /// A drive as it comes from the factory.
    ///
    /// # Errors
    /// When the configuration is impossible; see [`DriveConfig::validate`].
    pub fn new(config: DriveConfig) -> Result<CountingDrive, ConfigError> {
        CountingDrive::build(config, None)
    }

    /// The same with a victim policy of your own.
    ///
    /// # Errors
    /// As [`CountingDrive::new`].
    pub fn with_victim(
        config: DriveConfig,
        victim: Box<dyn VictimPolicy>,
    ) -> Result<CountingDrive, ConfigError> {
        CountingDrive::build(config, Some(victim))
    }

    fn build(
        config: DriveConfig,
        victim: Option<Box<dyn VictimPolicy>>,
    ) -> Result<CountingDrive, ConfigError> {
        config.validate()?;
        refuse_victim(&config, victim.is_some())?;
        let kind = Box::new(kind_of!(&config, Tally::new(&config, victim)));
        Ok(CountingDrive { config, kind })
    }

    /// Writes the drive's whole state to `out`, to continue from later.
    ///
    /// # Errors
    /// When `out` fails, or the drive is block-mapped: only page-mapped ones are saved.
    pub fn save(&self, out: &mut dyn io::Write) -> Result<(), ImageError> {
        let mut out = Writer::new(out);
        out.bytes(&COUNTING_MAGIC)?;
        IMAGE_VERSION.save(&mut out)?;
        self.config.save(&mut out)?;
        match &*self.kind {
            ByLayer::Lean(tally) => tally.ftl.save(&mut out)?,
            ByLayer::Full(tally) => tally.ftl.save(&mut out)?,
            ByLayer::Block(_) => return Err(block_mapped()),
        }
        out.flush()
    }

    /// Reads what [`CountingDrive::save`] wrote, at most `length` bytes. The bytes are trusted:
    /// verify them first.
    ///
    /// # Errors
    /// When the bytes are not such a drive, are of another version, or are truncated.
    pub fn load(input: &mut dyn io::Read, length: u64) -> Result<CountingDrive, ImageError> {
        let from = &mut Reader::new(input, length);
        let mut magic = [0; 8];
        from.bytes(&mut magic)?;
        let version = u32::load(from)?;
        if magic != COUNTING_MAGIC || version != IMAGE_VERSION {
            return Err(ImageError::Unknown(format!(
                "it is no counting drive of format {IMAGE_VERSION}"
            )));
        }
        let config = DriveConfig::load(from)?;
        config
            .validate()
            .map_err(|error| ImageError::Unknown(format!("its configuration: {error}")))?;
        let kind = match LayerKind::of(&config) {
            LayerKind::Lean => ByLayer::Lean(Tally::around(&config, Image::load(from)?)),
            LayerKind::Full => ByLayer::Full(Tally::around(&config, Image::load(from)?)),
            LayerKind::Block => return Err(block_mapped()),
        };
        Ok(CountingDrive {
            config,
            kind: Box::new(kind),
        })
    }

    /// Converts the drive to virtual time, with its buffer emptied, at time zero.
    ///
    /// # Errors
    /// When the drive is block-mapped.
    pub fn into_timed(mut self) -> Result<Drive, ImageError> {
        each_mut!(self, tally => {
            tally.ftl.flush_data(0);
        });
        let config = self.config;
        let kind = match *self.kind {
            ByLayer::Lean(tally) => {
                let ftl = tally.ftl.regear(&config);
                super::ByLayer::Lean(Engine::around(config, ftl))
            }
            ByLayer::Full(tally) => {
                let ftl = tally.ftl.regear(&config);
                super::ByLayer::Full(Engine::around(config, ftl))
            }
            ByLayer::Block(_) => return Err(block_mapped()),
        };
        Ok(Drive {
            kind: Box::new(kind),
        })
    }

    /// Executes a command.
    ///
    /// # Panics
    /// When the command lies outside the drive or is not in whole 512-byte blocks.
    #[inline]
    pub fn apply(&mut self, command: &Command) {
        assert_possible(command, self.config.user_bytes);
        each_mut!(self, tally => tally.apply(command));
    }

    /// Executes many commands in order; faster than one by one, because memory that later commands
    /// need is prefetched.
    ///
    /// # Panics
    /// As [`CountingDrive::apply`].
    pub fn apply_all(&mut self, commands: &[Command]) {
        let user_bytes = self.config.user_bytes;
        each_mut!(self, tally => tally.apply_all(commands, user_bytes));
    }

    /// Prefetches memory that `command` needs; no effect on the model.
    #[inline(always)]
    pub fn prefetch(&self, command: &Command) {
        each!(self, tally => {
            tally.ftl.prefetch((command.offset >> tally.slot_shift) as u32);
        });
    }

    /// Writes `bytes` of incompressible data from `offset` on, in order, as commands of
    /// `command_bytes` each would; their common work is done once. Both must be whole mapping
    /// units. A drive that reaches its end of life during the run still takes the rest of it.
    ///
    /// # Panics
    /// When the run lies outside the drive or is not in whole commands and mapping units.
    pub fn write_run(&mut self, offset: u64, bytes: u64, command_bytes: u32) {
        let slot = u64::from(self.config.shape.slot_bytes);
        assert!(offset + bytes <= self.config.user_bytes, "beyond the drive");
        let whole = (offset | u64::from(command_bytes)).is_multiple_of(slot);
        assert!(
            whole && bytes.is_multiple_of(command_bytes.into()),
            "in parts"
        );
        let (first, last) = (offset / slot, (offset + bytes) / slot);
        let commands = bytes / u64::from(command_bytes);
        each_mut!(self, tally => {
            if refuses(tally.ftl.ended(), Op::Write) {
                return tally.ftl.count_refused();
            }
            let counters = tally.ftl.counters();
            counters.host_writes += commands;
            counters.host_bytes_written += bytes;
            tally.ftl.write_run(0, first as u32..last as u32, Hint::default());
        });
    }

    /// Extrapolates: repeats `times` the growth of counts and cycles since the counters were
    /// `counters` and the array's work was `work`, without simulation. The map stays.
    pub fn leap(&mut self, counters: &DriveCounters, work: &NandWork, times: u64) {
        each_mut!(self, tally => tally.ftl.leap(counters, work, times));
    }

    /// Does all idle work of the drive.
    pub fn idle(&mut self) {
        each_mut!(self, tally => {
            while tally.ftl.has_idle_work() && tally.ftl.idle(0).is_some() {}
        });
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// Counters since the drive was created.
    pub fn counters(&self) -> &DriveCounters {
        each!(self, tally => tally.ftl.counted())
    }

    /// Work done on the array.
    pub fn nand_work(&self) -> &NandWork {
        each!(self, tally => tally.ftl.nand_work())
    }

    /// Wear of the media, where it wears.
    pub fn reliability(&self) -> Option<&Reliability> {
        each!(self, tally => tally.ftl.reliability())
    }

    /// Behaviour at the end of life; `None`: the reserve is not used up.
    pub fn ended(&self) -> Option<EndOfLife> {
        each!(self, tally => tally.ftl.ended())
    }

    /// Lets hours pass on the media at the reference temperature. [`CountingDrive::idle`] then
    /// reads some pages of every full superblock (a patrol) and rewrites faded data.
    pub fn rest(&mut self, hours: u32) {
        each_mut!(self, tally => tally.ftl.rest(hours));
    }

    /// Place of a mapping unit's newest copy.
    pub fn find(&self, lpn: u32) -> SlotPlace {
        each!(self, tally => tally.ftl.find(lpn))
    }

    /// Superblocks free for data in native mode.
    pub fn free_superblocks(&self) -> usize {
        each!(self, tally => tally.ftl.free_superblocks())
    }

    /// State of every superblock.
    pub fn superblocks(&self) -> Vec<SuperblockView> {
        each!(self, tally => {
            (0..tally.ftl.superblock_count()).map(|s| tally.ftl.superblock(s)).collect()
        })
    }

    /// Checks the drive: map, reverse map, valid counts, page conservation.
    ///
    /// # Errors
    /// The first contradiction found, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        each!(self, tally => tally.ftl.check())
    }
}
