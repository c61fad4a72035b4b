//! The life itself.

use super::checkpoint::{self, LifeCheckpoint};
use super::result::LifeResult;
use super::row::AgeingSample;
use super::{AgeingPlan, LifeEnd, load_of};
use ssdlab_base::LabError;
use ssdlab_drives::keep::saved::SaveTarget;
use ssdlab_load::synthetic::SyntheticCommands;
use ssdlab_ssd::nand::{NandWork, Reliability};
use ssdlab_ssd::{Command, CountingDrive, DriveCounters};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Samples of a life, about.
const SAMPLES: u64 = 400;
/// Hours that pass for the media in one step where the drive has no patrols of its own.
const HOURS_AT_ONCE: u32 = 168;
/// Bytes of a run given to the drive at once.
const RUN: u64 = 64 << 20;
/// Spans whose WAF differ by no more than this are alike, for leaps.
const ALIKE: f64 = 0.01;
/// Maximum leap, as a share of the rated cycles.
const LEAP_SHARE: f64 = 0.02;
/// Drive writes in a span of the fast manner at most, for loads in order: they are cheap to play,
/// and what levelling adds to them comes in bursts, further apart than one drive write.
const SPAN_IN_ORDER: u64 = 8;
/// A leap ends before one in this number of the reserve's blocks is needed: failures are played.
const LEAP_FAILURES: u32 = 20;

/// Where to leave checkpoints, and how often.
#[derive(Clone, Debug)]
pub struct CheckpointSchedule {
    /// File.
    pub path: PathBuf,
    /// Host bytes between two.
    pub every: u64,
    /// Another one when the life has reached its end; a life that is stopped always leaves one.
    pub at_the_end: bool,
}

/// Result of a life.
pub struct AgeingOutcome {
    /// Result.
    pub life: LifeResult,
    /// Samples.
    pub rows: Vec<AgeingSample>,
    /// The drive it leaves behind.
    pub drive: CountingDrive,
}

impl AgeingOutcome {
    /// Saves the drive with its life; returns the bytes of the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(self, place: SaveTarget, plan: &AgeingPlan) -> Result<u64, LabError> {
        let about = self.life.about(&plan.interface, plan.attributes);
        let timed = self.drive.into_timed();
        let timed = timed.map_err(|error| LabError::refused(error.to_string(), ""))?;
        place.save(&timed, &about)
    }
}

/// A drive in the middle of its life.
pub struct Ageing<'a> {
    plan: &'a AgeingPlan,
    drive: CountingDrive,
    commands: SyntheticCommands,
    patrols: u64,
    since_patrol: u64,
    rows: Vec<AgeingSample>,
    leapt_bytes: u64,
    leap_error: f64,
    batch: Vec<Command>,
}

impl<'a> Ageing<'a> {
    /// A drive from the factory, filled once from front to back.
    ///
    /// # Errors
    /// When the plan is impossible.
    pub fn begin(plan: &'a AgeingPlan) -> Result<Ageing<'a>, LabError> {
        plan.validate()?;
        let refused = |e: ssdlab_ssd::ConfigError| LabError::refused(e.to_string(), "");
        let mut drive = CountingDrive::new(plan.config.clone()).map_err(refused)?;
        let slot = plan.config.shape.slot_bytes;
        let capacity = plan.config.user_bytes;
        for at in (0..capacity).step_by(RUN as usize) {
            drive.write_run(at, RUN.min(capacity - at), slot);
        }
        let mut ageing = Ageing::around(plan, drive)?;
        ageing.row();
        Ok(ageing)
    }

    /// Goes on from a checkpoint, whose manner must be the plan's.
    ///
    /// # Errors
    /// When it is not.
    pub fn resume(
        plan: &'a AgeingPlan,
        drive: CountingDrive,
        standing: LifeCheckpoint,
    ) -> Result<Ageing<'a>, LabError> {
        let mut ageing = Ageing::around(plan, drive)?;
        ageing.commands.resume(&standing.commands)?;
        Ok(Ageing {
            patrols: standing.patrols,
            since_patrol: standing.since_patrol,
            rows: standing.rows,
            leapt_bytes: standing.leapt_bytes,
            leap_error: standing.leap_error,
            ..ageing
        })
    }

    fn around(plan: &'a AgeingPlan, drive: CountingDrive) -> Result<Ageing<'a>, LabError> {
        Ok(Ageing {
            commands: SyntheticCommands::new(&load_of(&plan.manner)?, plan.config.user_bytes)?,
            plan,
            drive,
            patrols: 0,
            since_patrol: 0,
            rows: Vec::new(),
            leapt_bytes: 0,
            leap_error: 0.0,
            batch: Vec::new(),
        })
    }

    fn standing(&self) -> LifeCheckpoint {
        LifeCheckpoint {
            manner: self.plan.manner.clone(),
            media: self.plan.media.clone(),
            interface: self.plan.interface.clone(),
            attributes: self.plan.attributes,
            commands: self.commands.state(),
            patrols: self.patrols,
            since_patrol: self.since_patrol,
            rows: self.rows.clone(),
            leapt_bytes: self.leapt_bytes,
            leap_error: self.leap_error,
        }
    }

    /// Lives to the end; `watch` sees each sample.
    ///
    /// # Errors
    /// When a checkpoint cannot be written.
    pub fn live(
        mut self,
        keep: Option<&CheckpointSchedule>,
        watch: &mut dyn FnMut(&AgeingSample),
        stop: &AtomicBool,
    ) -> Result<AgeingOutcome, LabError> {
        let mut checkpoint_bytes = self.host_bytes();
        let span = self.span();
        while !self.is_over() && !stop.load(Ordering::Relaxed) {
            let begin = (
                self.drive.counters().clone(),
                self.drive.nand_work().clone(),
            );
            self.play(self.bytes_left().min(span), stop);
            if self.plan.manner.fast {
                self.try_leap(&begin, stop);
            }
            self.row();
            if let Some(row) = self.rows.last() {
                watch(row);
            }
            if let Some(keep) =
                keep.filter(|keep| self.host_bytes() - checkpoint_bytes >= keep.every)
            {
                checkpoint::save(&keep.path, &self.drive, &self.standing())?;
                checkpoint_bytes = self.host_bytes();
            }
        }
        let stopped = !self.is_over();
        if let Some(keep) = keep.filter(|keep| keep.at_the_end || stopped) {
            checkpoint::save(&keep.path, &self.drive, &self.standing())?;
        }
        let end = AgeingSample::of(&self.drive, self.days());
        let leapt = (self.leapt_bytes, self.leap_error);
        let life = LifeResult::of(self.plan, &self.drive, end, leapt, stopped)?;
        Ok(AgeingOutcome {
            life,
            rows: self.rows,
            drive: self.drive,
        })
    }

    fn host_bytes(&self) -> u64 {
        self.drive.counters().host_bytes_written
    }

    /// Bytes between two samples: in the fast manner a drive write.
    fn span(&self) -> u64 {
        let capacity = self.plan.config.user_bytes;
        let rated = capacity.saturating_mul(self.plan.media.cycles_rated.into());
        let whole = match self.plan.until {
            LifeEnd::Bytes(bytes) => bytes,
            LifeEnd::LifeLeft(_) | LifeEnd::Dead => rated,
        };
        let span = if self.plan.manner.fast {
            self.leap_span()
        } else {
            whole / SAMPLES
        };
        span.max(u64::from(self.commands.block()))
    }

    /// Bytes in each of the two spans that a leap extrapolates.
    fn leap_span(&self) -> u64 {
        let most = LEAP_SHARE * f64::from(self.plan.media.cycles_rated);
        let times = if self.commands.is_in_order() {
            // Short beside the leap, on media of few cycles too.
            ((most / 4.0) as u64).clamp(1, SPAN_IN_ORDER)
        } else {
            1
        };
        self.plan.config.user_bytes.saturating_mul(times)
    }

    /// Bytes left to write, where that is known.
    fn bytes_left(&self) -> u64 {
        match self.plan.until {
            LifeEnd::Bytes(bytes) => bytes.saturating_sub(self.host_bytes()),
            _ => u64::MAX,
        }
    }

    fn is_over(&self) -> bool {
        let at_end = self.drive.ended().is_some();
        at_end
            || match self.plan.until {
                LifeEnd::Bytes(_) => self.bytes_left() == 0,
                LifeEnd::LifeLeft(percent) => {
                    let life_left_pct = self.rows.last().map_or(100.0, |row| row.life_left_pct);
                    life_left_pct <= f64::from(percent)
                }
                LifeEnd::Dead => false,
            }
    }

    /// Plays `bytes` of host writes, with patrols on the way.
    fn play(&mut self, bytes: u64, stop: &AtomicBool) {
        let until = self.host_bytes().saturating_add(bytes);
        let daily = u128::from(self.plan.manner.per_day);
        let patrol = u128::from(self.patrol_hours()) * daily / 24;
        let patrol = u64::try_from(patrol).unwrap_or(u64::MAX).max(1);
        while self.host_bytes() < until && self.drive.ended().is_none() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let before = self.host_bytes();
            let most = (until - before).min(patrol.saturating_sub(self.since_patrol).max(1));
            self.write(most);
            let written = self.host_bytes() - before;
            self.since_patrol += written;
            if self.since_patrol >= patrol {
                self.since_patrol = 0;
                self.patrol();
            }
        }
    }

    /// Gives the drive commands that write `most` bytes or a little more, but not many at once.
    fn write(&mut self, most: u64) {
        let block = self.commands.block();
        let slot = self.plan.config.shape.slot_bytes;
        if block.is_multiple_of(slot) {
            let count = most.min(RUN).div_ceil(block.into());
            if let Some((offset, count)) = self.commands.run(count) {
                self.drive
                    .write_run(offset, count * u64::from(block), block);
                return;
            }
        }
        let count = most.div_ceil(block.into()).clamp(1, 4096);
        self.batch.clear();
        for _ in 0..count {
            self.batch.push(self.commands.command());
        }
        self.drive.apply_all(&self.batch);
    }

    /// Virtual days since the drive was filled.
    fn days(&self) -> f64 {
        checkpoint::days(&self.plan.manner, &self.plan.config, self.host_bytes())
    }

    /// Samples so far.
    pub fn rows(&self) -> &[AgeingSample] {
        &self.rows
    }

    /// Hours between two patrols.
    fn patrol_hours(&self) -> u32 {
        match self.plan.media.patrol_hours {
            0 => HOURS_AT_ONCE,
            hours => hours,
        }
    }

    /// The hours since the last patrol reach the media, and faded data is rewritten.
    fn patrol(&mut self) {
        let factor = self.plan.hours_factor().unwrap_or(1.0);
        let hours = self.patrol_hours();
        let hours_after = |patrols: u64| patrols as f64 * f64::from(hours) * factor;
        let whole = hours_after(self.patrols + 1).floor() - hours_after(self.patrols).floor();
        self.patrols += 1;
        self.drive.rest(whole.min(f64::from(u32::MAX)) as u32);
        self.drive.idle();
    }

    fn row(&mut self) {
        self.rows.push(AgeingSample::of(&self.drive, self.days()));
    }

    /// WAF since then.
    fn waf(&self, then: &DriveCounters) -> Option<f64> {
        let slot = self.plan.config.geometry().slot_bytes;
        self.drive.counters().waf_since(then, slot)
    }

    /// Further cycles until more blocks fail than may be leapt over.
    fn cycles_to_failures(&self) -> f64 {
        let wear = self.drive.reliability();
        let many = |wear: &Reliability| (wear.reserve_left() / LEAP_FAILURES).max(1) as usize;
        wear.map_or(0.0, |wear| {
            f64::from(wear.cycles_until_failures(many(wear)))
        })
    }

    /// Plays one more span; when it is like the one before, as many more are added unplayed.
    fn try_leap(&mut self, first: &(DriveCounters, NandWork), stop: &AtomicBool) {
        let span = self.leap_span();
        let enough = self.bytes_left() > span.saturating_mul(2);
        let Some(one) = self.waf(&first.0).filter(|_| enough) else {
            return;
        };
        let begin = (
            self.drive.counters().clone(),
            self.drive.nand_work().clone(),
        );
        self.play(span, stop);
        let Some(two) = self.waf(&begin.0) else {
            return;
        };
        let off = (two / one - 1.0).abs();
        let over = self.drive.ended().is_some() || stop.load(Ordering::Relaxed);
        if off > ALIKE || over || self.drive.counters().slots_refreshed > begin.0.slots_refreshed {
            return;
        }
        self.leap_error = self.leap_error.max(off);
        let written = self.host_bytes() - begin.0.host_bytes_written;
        let erases = self.drive.nand_work().erases - begin.1.erases;
        let geometry = self.plan.config.geometry();
        let blocks = u64::from(geometry.die_count) * u64::from(geometry.superblock_count);
        let erases_per_block = erases as f64 / blocks as f64;
        let share = LEAP_SHARE * f64::from(self.plan.media.cycles_rated);
        let most = share.min(self.cycles_to_failures()) / erases_per_block.max(1e-9);
        let room = self.bytes_left().saturating_sub(span) / written.max(1);
        let times = (most as u64).min(room);
        if times == 0 {
            return;
        }
        self.drive.leap(&begin.0, &begin.1, times);
        self.leapt_bytes += times * written;
        // The weeks of the leap fade nothing more than one does: all hot data was rewritten.
        self.patrol();
    }
}
