//! The host side: commands, link, write buffer, FLUSH and FUA, idle work.
//!
//! ```text
//! submit -> queue depth -> controller -> link -> pipeline: buffer -> acknowledged    (write)
//!                                                  |
//!                                                  +-> placed by the unit, in order
//!                       FUA on a volatile buffer, FLUSH -> commit: data, then map, one at a time
//!           read: map -> buffer, or die and channel -> link -> completed
//! ```
//! Durability (see the contract in `docs/model.md`). A protected buffer makes every acknowledged
//! write durable, so FUA and FLUSH wait for nothing. A volatile one must commit: program the data,
//! then its map. Commits are serial.
//!
//! The caller drives time: [`Drive::submit`] takes times that never decrease, and
//! [`Drive::pop_completion`] advances the drive's own work.

#[macro_use]
mod each;

mod ahead;
mod changes;
mod completions;
mod counting;
mod energy;
mod engine;
mod limit;
mod patrol;
mod pipeline;
pub mod power;
mod reading;
mod relief;
mod span;
mod thermal;
mod warmth;

pub use completions::Completion;
pub use counting::CountingDrive;
pub use energy::EnergyUse;
pub use power::PowerDrive;
pub use relief::Relief;
pub use thermal::{HeatCounters, HeatReport, SleepReport, Throttle};

use crate::command::Command;
use crate::config::{ConfigError, DriveConfig, MappingKind};
use crate::counters::DriveCounters;
use crate::ftl::policies::VictimPolicy;
use crate::ftl::{BlockFtl, Full, Lean, PageFtl, SlotPlace, SuperblockView, Translation};
use crate::image::{IMAGE_MAGIC, IMAGE_VERSION, Image, ImageError, Reader, Writer};
use crate::nand::{Clock, EndOfLife, NandWork, Purpose, Reliability, UsedArray};
use crate::units::Nanos;
use each::ByLayer;
use engine::Engine;
use std::io;

/// Kind of translation layer of a configuration.
enum LayerKind {
    Lean,
    Full,
    Block,
}

impl LayerKind {
    fn of(config: &DriveConfig) -> LayerKind {
        match config.ftl.mapping.kind {
            MappingKind::Flat if config.pack() == 1 => LayerKind::Lean,
            MappingKind::Flat | MappingKind::Cached | MappingKind::Tree => LayerKind::Full,
            MappingKind::Block => LayerKind::Block,
        }
    }
}

/// Refuses a victim policy on a block-mapped drive, which has no victims to choose from.
fn refuse_victim(config: &DriveConfig, own: bool) -> Result<(), ConfigError> {
    if !own || !config.ftl.mapping.kind.is_block_mapped() {
        return Ok(());
    }
    Err(ConfigError {
        what: "victim".into(),
        given: "a policy of your own".into(),
        allowed: "a block-mapped drive chooses no victims".into(),
    })
}

type TimedEngine =
    ByLayer<Engine<PageFtl<Clock, Lean>>, Engine<PageFtl<Clock, Full>>, Engine<BlockFtl<Clock>>>;

/// A software SSD in virtual time. Cloning it forks its whole state.
#[derive(Clone, Debug)]
pub struct Drive {
    kind: Box<TimedEngine>,
}

impl Drive {
    /// A drive as it comes from the factory.
    ///
    /// # Errors
    /// When the configuration is impossible; see [`DriveConfig::validate`].
    pub fn new(config: DriveConfig) -> Result<Drive, ConfigError> {
        Drive::build(config, None)
    }

    /// The same with a victim policy of your own.
    ///
    /// # Errors
    /// As [`Drive::new`].
    pub fn with_victim(
        config: DriveConfig,
        victim: Box<dyn VictimPolicy>,
    ) -> Result<Drive, ConfigError> {
        Drive::build(config, Some(victim))
    }

    /// Creates a drive of `config` on the array that `used` has worn, secure erased: other firmware
    /// on the same media. Its own counters begin at zero; those of the array continue.
    ///
    /// # Errors
    /// When the configuration is impossible, the array is of another kind, wears differently or has
    /// too few good superblocks left, or either drive is block-mapped.
    pub fn on_used_array(config: DriveConfig, used: &Drive) -> Result<Drive, ConfigError> {
        let mismatch = |what: &str, allowed: &str| ConfigError {
            what: what.into(),
            given: format!("that of {}", used.config().name),
            allowed: allowed.into(),
        };
        if config.shape != used.config().shape {
            return Err(mismatch(
                "shape",
                "only an array of the same shape is taken over",
            ));
        }
        if config.wear != used.config().wear {
            return Err(mismatch(
                "wear",
                "only media that wears alike is taken over",
            ));
        }
        let array = match &*used.kind {
            ByLayer::Lean(engine) => engine.ftl.array(),
            ByLayer::Full(engine) => engine.ftl.array(),
            ByLayer::Block(_) => {
                return Err(mismatch(
                    "mapping",
                    "only page-mapped drives are taken over",
                ));
            }
        };
        let mut drive = Drive::new(config)?;
        match &mut *drive.kind {
            ByLayer::Lean(engine) => engine.ftl.begin_on(array)?,
            ByLayer::Full(engine) => engine.ftl.begin_on(array)?,
            ByLayer::Block(_) => {
                return Err(mismatch("mapping", "only page-mapped drives take over"));
            }
        }
        each_mut!(drive, engine => engine.begin_thermal());
        drive.secure_erase(Nanos::ZERO);
        Ok(drive)
    }

    fn build(
        config: DriveConfig,
        victim: Option<Box<dyn VictimPolicy>>,
    ) -> Result<Drive, ConfigError> {
        config.validate()?;
        refuse_victim(&config, victim.is_some())?;
        Ok(Drive {
            kind: Box::new(kind_of!(&config, Engine::new(config, victim))),
        })
    }

    /// Writes the drive's whole state. It must have no command outstanding.
    ///
    /// # Errors
    /// When the writer fails, or a command is outstanding.
    pub fn save(&self, out: &mut dyn io::Write) -> Result<(), ImageError> {
        let mut out = Writer::new(out);
        out.bytes(&IMAGE_MAGIC)?;
        IMAGE_VERSION.save(&mut out)?;
        self.config().save(&mut out)?;
        each!(self, engine => engine.save(&mut out))?;
        out.flush()
    }

    /// Reads a drive that [`Drive::save`] wrote; `length` is the image's size in bytes. The bytes
    /// are trusted: the storing side adds a checksum and verifies it first.
    ///
    /// # Errors
    /// When the bytes are not an image, are of another version, or contradict themselves.
    pub fn load(input: &mut dyn io::Read, length: u64) -> Result<Drive, ImageError> {
        let from = &mut Reader::new(input, length);
        let mut magic = [0; 8];
        from.bytes(&mut magic)?;
        if magic != IMAGE_MAGIC {
            return Err(ImageError::Unknown("it is no saved drive".into()));
        }
        let version = u32::load(from)?;
        if version != IMAGE_VERSION {
            return Err(ImageError::Unknown(format!(
                "it is a saved drive of format {version}, this build knows format {IMAGE_VERSION}"
            )));
        }
        let config = DriveConfig::load(from)?;
        config
            .validate()
            .map_err(|error| ImageError::Unknown(format!("its configuration: {error}")))?;
        let kind = kind_of!(&config, Engine::load(config, from)?);
        Ok(Drive {
            kind: Box::new(kind),
        })
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        each!(self, engine => &engine.config)
    }

    /// Counters since the drive was created.
    pub fn counters(&self) -> &DriveCounters {
        each!(self, engine => engine.ftl.counted())
    }

    /// Work done on the array.
    pub fn nand_work(&self) -> &NandWork {
        each!(self, engine => engine.ftl.nand_work())
    }

    /// Busy time of all dies by purpose, ns; indexed by [`Purpose`].
    pub fn busy_by_purpose(&self) -> [u64; Purpose::COUNT] {
        each!(self, engine => engine.ftl.busy_by_purpose())
    }

    /// Busy time of each die and of each channel, ns, for utilisation.
    pub fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        each!(self, engine => engine.ftl.busy_ns())
    }

    /// Energy used since the drive was created.
    pub fn energy(&self) -> EnergyUse {
        each!(self, engine => engine.energy())
    }

    /// Temperature and throttling; `None` on a drive whose temperature is not modelled.
    pub fn heat(&self) -> Option<HeatReport> {
        each!(self, engine => engine.heat())
    }

    /// Time in non-operational power states.
    pub fn sleep(&self) -> SleepReport {
        each!(self, engine => engine.sleep())
    }

    /// Brings the drive to a temperature, in mC, at least that of its air, as if it had worked in
    /// the same place before. Without a thermal model it does nothing.
    pub fn warm_to(&mut self, millicelsius: u64) {
        each_mut!(self, engine => engine.warm_to(millicelsius));
    }

    /// Temperature at which the drive would settle under constant power, mC; `None` where its
    /// temperature is not modelled.
    pub fn equilibrium_millicelsius(&self, milliwatts: u64) -> Option<u64> {
        each!(self, engine => engine.thermal.as_ref()?.equilibrium(milliwatts))
    }

    /// Time of the last event.
    pub fn now(&self) -> Nanos {
        each!(self, engine => Nanos(engine.now))
    }

    /// Number of commands submitted and not yet popped.
    pub fn outstanding(&self) -> usize {
        each!(self, engine => engine.outstanding())
    }

    /// Place of a mapping unit's newest copy.
    pub fn find(&self, lpn: u32) -> SlotPlace {
        each!(self, engine => engine.ftl.find(lpn))
    }

    /// The newest copy of a mapping unit booked or programmed on media, whether or not the write
    /// buffer holds a newer one.
    pub fn media_copy(&self, lpn: u32) -> Option<u32> {
        each!(self, engine => engine.ftl.media_copy(lpn))
    }

    /// Mapping units in the write buffer that are not yet booked for programming.
    pub fn buffered_slots(&self) -> u32 {
        each!(self, engine => engine.ftl.buffered_slots())
    }

    /// Wear of the media, where it wears.
    pub fn reliability(&self) -> Option<&Reliability> {
        each!(self, engine => engine.ftl.reliability())
    }

    /// Wear and work counts of its array, without data.
    pub fn used_array(&self) -> UsedArray {
        each!(self, engine => engine.ftl.array())
    }

    /// Behaviour at the end of life; `None`: the reserve is not used up.
    pub fn ended(&self) -> Option<EndOfLife> {
        each!(self, engine => engine.ftl.ended())
    }

    /// Lets hours pass on the media at the reference temperature, without advancing the drive's
    /// clock. When idle, the drive then reads some pages of every full superblock (a patrol) and
    /// rewrites faded data.
    pub fn rest(&mut self, hours: u32) {
        each_mut!(self, engine => engine.rest(hours));
    }

    /// End of everything booked on a die.
    pub fn die_free_at(&self, die: u32) -> Nanos {
        each!(self, engine => Nanos(engine.ftl.die_free_at(die)))
    }

    /// Superblocks of the static pSLC cache ready for use.
    pub fn free_slc_superblocks(&self) -> usize {
        each!(self, engine => engine.ftl.free_slc_superblocks())
    }

    /// Superblocks free for data in native mode.
    pub fn free_superblocks(&self) -> usize {
        each!(self, engine => engine.ftl.free_superblocks())
    }

    /// State of every superblock.
    pub fn superblocks(&self) -> Vec<SuperblockView> {
        each!(self, engine => {
            (0..engine.ftl.superblock_count()).map(|s| engine.ftl.superblock(s)).collect()
        })
    }

    /// Prefetches the map entry of `command`; no effect on the model.
    #[inline(always)]
    pub fn prefetch(&self, command: &Command) {
        each!(self, engine => engine.prefetch(command));
    }

    /// Prefetches the memory behind that entry: some commands after [`Drive::prefetch`], some
    /// before [`Drive::submit`].
    #[inline(always)]
    pub fn prefetch_behind(&self, command: &Command) {
        each!(self, engine => engine.prefetch_behind(command));
    }

    /// Submits a command at time `now`, which must not be before any event already seen. Each
    /// outstanding command has its own tag, below 2^24.
    ///
    /// # Panics
    /// When the command lies outside the drive, is not in whole 512-byte blocks, or `now` is before
    /// the last event.
    #[inline]
    pub fn submit(&mut self, tag: u32, command: &Command, now: Nanos) {
        each_mut!(self, engine => engine.submit(tag, command, now));
    }

    /// Time of the drive's next event: a completion, or internal work. Nothing changes before it,
    /// so several drives in one virtual time stay in step if the one with the earliest event always
    /// advances. `None` when there is nothing to do until the next command.
    pub fn next_event(&self) -> Option<Nanos> {
        let next = each!(self, engine => engine.next_event());
        (next != u64::MAX).then_some(Nanos(next))
    }

    /// Takes the next command that completes by `until`, doing the drive's own work up to then.
    /// `None` means that nothing more completes by `until` and the drive's clock is there.
    #[inline]
    pub fn pop_completion(&mut self, until: Nanos) -> Option<Completion> {
        each_mut!(self, engine => engine.pop_completion(until))
    }

    /// Whether the last read command of `tag` met data that the drive cannot correct, which is an
    /// error to the host; false when asked again. Only media that wears has such data.
    pub fn take_unreadable(&mut self, tag: u32) -> bool {
        each_mut!(self, engine => engine.take_unreadable(tag))
    }

    /// Requests that a superblock be rewritten when the drive is idle, like firmware whose patrol
    /// finds fading data (retention, read disturb). False if the superblock is not full or the
    /// drive's kind of map does not refresh.
    ///
    /// # Panics
    /// When there is no such superblock.
    pub fn request_refresh(&mut self, superblock: u32) -> bool {
        each_mut!(self, engine => engine.request_refresh(superblock))
    }

    /// Secure erase: discards all data at once, and returns when the drive is ready again. No
    /// command may be outstanding.
    ///
    /// # Panics
    /// When a command is outstanding.
    pub fn secure_erase(&mut self, now: Nanos) -> Nanos {
        each_mut!(self, engine => engine.secure_erase(now))
    }

    /// Checks the drive: map, reverse map, valid counts, buffer and page conservation.
    ///
    /// # Errors
    /// The first contradiction found, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        each!(self, engine => engine.check())
    }
}
