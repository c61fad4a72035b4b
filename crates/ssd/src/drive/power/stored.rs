//! A drive stored in files: the content of its media, and its SMART state.

use super::{ByLayer, Power, PowerCounters, PowerDrive};
use crate::config::{ConfigError, DriveConfig};
use crate::counters::DriveCounters;
use crate::drive::Drive;
use crate::ftl::Translation;
use crate::ftl::recover::Recoverable;
use crate::image::image_of;
use crate::nand::media::{Content, Event, MapRecord, Shelf};
use crate::nand::{EndOfLife, Reliability, UsedArray};
use crate::units::Nanos;
use std::sync::Arc;

image_of! {
    /// State of a drive besides its media.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Smart {
        /// Virtual time since it was created.
        pub now: Nanos,
        /// Number of the last command.
        pub number: u64,
        /// Counters.
        pub counters: DriveCounters,
        /// Counters of power.
        pub power: PowerCounters,
        /// Work and erases of the array, and the wear of each block where it wears.
        pub array: UsedArray,
        /// Whether its reserve is used up.
        pub ended: bool,
    }
}

impl Smart {
    /// State of an aged drive whose media are empty.
    pub fn of_used(drive: &Drive) -> Smart {
        Smart {
            now: drive.now(),
            number: 0,
            counters: drive.counters().clone(),
            power: PowerCounters::default(),
            array: drive.used_array(),
            ended: drive.ended().is_some(),
        }
    }
}

impl PowerDrive {
    /// Creates a drive without power from the `events` of its media and the mapping units that its
    /// capacitor `saved`, oldest first.
    ///
    /// # Errors
    /// When the configuration is impossible.
    pub fn stored(
        config: DriveConfig,
        power: Power,
        smart: &Smart,
        events: impl IntoIterator<Item = Event>,
        saved: Vec<(u32, Content)>,
    ) -> Result<PowerDrive, ConfigError> {
        let mut drive = PowerDrive::new(config, power)?;
        drive.on = false;
        drive.number = smart.number;
        drive.counters = smart.power;
        drive.dump = saved;
        for event in events {
            drive.media_mut().replay(event);
        }
        each_mut!(drive, engine => {
            engine.now = smart.now.0;
            engine.ftl.set_now(smart.now.0);
            *engine.ftl.counters() = smart.counters.clone();
            if smart.array.has(engine.ftl.superblock_count()) {
                engine.ftl.take_array(smart.array.clone(), smart.ended);
            }
            engine.begin_thermal();
        });
        Ok(drive)
    }

    /// State of the drive besides its media.
    pub fn smart(&self) -> Smart {
        Smart {
            now: self.now(),
            number: self.number,
            counters: self.counters().clone(),
            power: self.power_counters(),
            array: each!(self, engine => engine.ftl.array()),
            ended: each!(self, engine => engine.ftl.ended()).is_some(),
        }
    }

    /// Blocks retired, superblocks retired, and whether the drive has reached its end of life, as a
    /// cut now would find them: when they change, [`PowerDrive::smart`] should be stored.
    pub fn worn_out(&self) -> (u64, u64, bool) {
        let ended = each!(self, engine => engine.ftl.ended()).is_some();
        let wear = each!(self, engine => engine.ftl.settled_wear());
        let counters = wear.map(|wear| wear.counters());
        let count = counters.map_or((0, 0), |c| (c.blocks_retired, c.superblocks_retired));
        (count.0, count.1, ended)
    }

    /// Behaviour at the end of life; `None`: the reserve is not used up.
    pub fn ended(&self) -> Option<EndOfLife> {
        each!(self, engine => engine.ftl.ended())
    }

    /// Wear of the media, where it wears.
    pub fn reliability(&self) -> Option<&Reliability> {
        each!(self, engine => engine.ftl.reliability())
    }

    /// Puts the bytes that the media hold, and those to come, on a shelf of slots of their size.
    pub fn put_on_shelf(&mut self, shelf: Arc<dyn Shelf>) {
        self.media_mut().put_on_shelf(shelf);
    }

    /// Keeps all changes of the media from now on for [`PowerDrive::take_events`].
    pub fn keep_events(&mut self) {
        self.media_mut().keep_events();
    }

    /// The whole content of the media as events.
    pub fn all_events(&mut self) -> Vec<Event> {
        each_mut!(self, engine => engine.ftl.settle());
        self.media().as_events()
    }

    /// The map record that a protected drive would save in a cut now.
    pub fn unsaved_map(&self) -> Arc<MapRecord> {
        self.media().unsaved_map()
    }

    /// Switches power off with notice, which is a safe shutdown. No command may be outstanding, and
    /// a FLUSH must have completed.
    ///
    /// # Panics
    /// As [`PowerDrive::cut`].
    pub fn shut_down(&mut self) {
        let dies = self.config().geometry().die_count;
        let quiet = each!(self, engine => {
            (0..dies).map(|die| engine.ftl.die_free_at(die)).max().unwrap_or(0)
        });
        while self.pop_completion(Nanos(quiet)).is_some() {}
        let time = self.now().0.max(quiet).max(self.ready.0);
        self.cut(Nanos(time));
        self.counters.unsafe_shutdowns -= 1;
    }
}
