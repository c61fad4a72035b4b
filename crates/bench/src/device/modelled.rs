//! A drive of the catalogue as a target, in virtual time.

use super::health::{DriveHealth, EvidenceGrade, ReportedValue, ThermalSummary};
use super::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use ssdlab_base::LabError;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::{CatalogueDrive, Provenance};
use ssdlab_drives::cycles::Cycles;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_ssd::nand::EndOfLife;
use ssdlab_ssd::{Bytes, Command, Drive, DriveConfig, Nanos, Op};

/// A modelled drive, or the first bytes of it (as a file on it would be).
#[derive(Clone)]
pub struct ModelledTarget {
    drive: Drive,
    facts: TargetFacts,
    /// The target's time: the drive's less `origin`.
    now: Nanos,
    /// The drive's time when the target was opened.
    origin: Nanos,
    /// It can come to its end and refuse commands.
    wears: bool,
    was_kept: bool,
    /// Tags of commands under way that a drive at its end refused, with their errors.
    refused: Vec<(u32, i32)>,
}

/// No such I/O any more, and: read-only (Linux's EIO and EROFS).
const ERRNO: (i32, i32) = (5, 30);

impl ModelledTarget {
    /// A factory-fresh drive; `size` limits the target to the drive's first bytes, as a file on
    /// an otherwise empty drive does.
    ///
    /// # Errors
    /// When `size` is more than the drive has, or the model would need more memory than there is.
    pub fn new(from: &CatalogueDrive, size: Option<u64>) -> Result<ModelledTarget, LabError> {
        let config = from.config.clone();
        let capacity = capacity(&config, size)?;
        refuse_if_too_big(&config.name, config.memory_bytes(), 1)?;
        let facts = facts(from, capacity);
        let drive = Drive::new(config)
            .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))?;
        Ok(ModelledTarget::around(drive, facts))
    }

    /// A drive that was kept, as it is: its data mapped, its media worn.
    ///
    /// # Errors
    /// When `size` is more than the drive has.
    pub fn kept(
        drive: Drive,
        about: &SavedDriveInfo,
        size: Option<u64>,
    ) -> Result<ModelledTarget, LabError> {
        let capacity = capacity(drive.config(), size)?;
        let facts = facts_of_kept(&drive, about, capacity);
        Ok(ModelledTarget::around(drive, facts))
    }

    /// A drive in whatever state, and what is known of it.
    pub fn around(drive: Drive, facts: TargetFacts) -> ModelledTarget {
        ModelledTarget {
            facts,
            now: Nanos::ZERO,
            origin: drive.now(),
            wears: drive.reliability().is_some(),
            was_kept: drive.counters().host_writes > 0,
            refused: Vec::new(),
            drive,
        }
    }

    /// The same, called by the name that it was opened by.
    pub fn named(mut self, name: String) -> ModelledTarget {
        self.facts.name = name;
        self
    }

    /// The same, with what its user types for it.
    pub fn typed(mut self, text: String) -> ModelledTarget {
        self.facts.typed = Some(text);
        self
    }

    /// The error of a command that the drive refuses because it is at its end.
    fn refusal(&self, op: Op) -> Option<i32> {
        match self.drive.ended()? {
            EndOfLife::Failed => Some(ERRNO.0),
            EndOfLife::ReadOnly if !matches!(op, Op::Read | Op::Flush) => Some(ERRNO.1),
            EndOfLife::ReadOnly | EndOfLife::Slow => None,
        }
    }

    /// The drive itself.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// It had a life before it was opened.
    pub fn is_kept(&self) -> bool {
        self.was_kept
    }
}

fn capacity(config: &DriveConfig, size: Option<u64>) -> Result<u64, LabError> {
    let capacity = size.unwrap_or(config.user_bytes);
    if capacity > config.user_bytes || capacity == 0 || !capacity.is_multiple_of(512) {
        return Err(LabError::refused(
            format!(
                "a size of {} on drive {}: whole 512-byte blocks up to {} are allowed",
                Bytes(capacity),
                config.name,
                Bytes(config.user_bytes)
            ),
            "choose a smaller --size",
        ));
    }
    Ok(capacity)
}

/// What the catalogue says of a drive of that name, and what the drive says of its own life.
fn facts_of_kept(drive: &Drive, about: &SavedDriveInfo, capacity: u64) -> TargetFacts {
    let listed = catalogue::drive(&about.name).ok();
    let mut facts = match &listed {
        Some(listed) => facts(listed, capacity),
        None => TargetFacts {
            block_size: 512,
            ..TargetFacts::unknown(String::new(), TargetKind::Modelled)
        },
    };
    let config = drive.config();
    facts.name = format!("drive:{}", about.name);
    facts.capacity = capacity;
    facts.model = Some(about.title.clone());
    facts.interface = about.interface.clone().or(facts.interface);
    facts.write_cache = Some("write back".into());
    facts.fua = Some(true);
    facts.rotational = Some(false);
    facts.virtualised = Some(false);
    facts.power_loss_protection = Some(config.buffer.protected);
    facts.power_loss_protection_source = Some("the configuration of the kept drive".into());
    facts.notes = vec!["modelled: virtual time, no data held".into()];
    facts.notes.extend(about.history.iter().cloned());
    if let Some(wear) = drive.reliability() {
        let rated = wear.config().cycles_rated;
        let ended = drive
            .ended()
            .map(|end| format!("; at its end: {}", end.name()));
        let ended = ended.unwrap_or_default();
        facts.health = health(drive, about);
        facts.notes.push(format!(
            "{:.0} of {rated} rated cycles on average, {} blocks retired{ended}",
            Cycles::of(wear).average.floor(),
            wear.counters().blocks_retired
        ));
    }
    facts
}

/// What the SMART of a kept drive says of its health, from the same counters.
fn health(drive: &Drive, about: &SavedDriveInfo) -> Option<DriveHealth> {
    let wear = drive.reliability()?;
    let counters = wear.counters();
    let rated = f64::from(wear.config().cycles_rated.max(1));
    let dies = drive.config().geometry().die_count;
    let reserve = f64::from(wear.config().reserve_blocks * dies);
    let ended = drive.ended();
    Some(DriveHealth {
        protection_grade: EvidenceGrade::Documented,
        passed: ended.map(|_| false),
        warnings: ended
            .map(|end| format!("at its end: {}", end.name()))
            .into_iter()
            .collect(),
        used_percent: Some(ReportedValue {
            value: 100.0 * Cycles::of(wear).average / rated,
            resolution: 0.0,
            source: "the model's count of cycles".into(),
        }),
        uncorrectable: Some(counters.reads_uncorrectable),
        retired: Some(counters.blocks_retired),
        spare_percent: (reserve > 0.0).then(|| 100.0 * f64::from(wear.reserve_left()) / reserve),
        read_only: Some(matches!(
            ended,
            Some(EndOfLife::ReadOnly | EndOfLife::Failed)
        )),
        host_bytes_written: Some(drive.counters().host_bytes_written),
        temperature_c: drive
            .heat()
            .map(|heat| heat.millicelsius as f64 / 1e3)
            .or(about.celsius.map(f64::from)),
        too_warm_minutes: None,
    })
}

fn facts(from: &CatalogueDrive, capacity: u64) -> TargetFacts {
    let file = &from.file;
    let protection = &file.documented.power_loss_protection;
    TargetFacts {
        name: format!("drive:{}", file.name),
        typed: None,
        kind: TargetKind::Modelled,
        capacity,
        block_size: 512,
        model: Some(file.title.clone()),
        serial: None,
        interface: Some(file.interface.clone()),
        write_cache: Some("write back".into()),
        fua: Some(true),
        power_loss_protection: Some(protection.value),
        power_loss_protection_source: Some(protection.source.clone()),
        power_loss_protection_assumed: protection.kind == Provenance::Assumed,
        rated_bytes_written: from.rated_bytes_written(),
        warranty_years: file
            .documented
            .warranty_years
            .as_ref()
            .map(|y| f64::from(y.value)),
        rotational: Some(false),
        virtualised: Some(false),
        file_system: None,
        health: None,
        heat: None,
        notes: vec![
            "modelled: virtual time, no data held".into(),
            format!(
                "over-provisioning: nominal {:.1} %, effective {:.1} %",
                from.config.nominal_op() * 100.0,
                from.config.effective_op() * 100.0
            ),
        ],
    }
}

impl Target for ModelledTarget {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        // The drive itself holds back what is beyond its queue depth.
        1 << 20
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.now
    }

    #[inline]
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        if self.wears
            && let Some(errno) = self.refusal(command.op)
        {
            self.refused.push((tag, errno));
        }
        self.drive.submit(tag, command, self.now + self.origin);
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let limit = until.unwrap_or(Nanos::MAX);
        let limit_of_drive = Nanos(limit.0.saturating_add(self.origin.0));
        match self.drive.pop_completion(limit_of_drive) {
            Some(c) => {
                let ours = |time: Nanos| Nanos(time.0 - self.origin.0);
                self.now = ours(c.done);
                let refused = self.refused.iter().position(|(tag, _)| *tag == c.tag);
                let lost = if self.wears && self.drive.take_unreadable(c.tag) {
                    ERRNO.0
                } else {
                    0
                };
                let errno = refused.map_or(lost, |index| self.refused.swap_remove(index).1);
                completions.push(TargetCompletion {
                    tag: c.tag,
                    submitted: ours(c.submitted),
                    done: ours(c.done),
                    errno,
                });
                Ok(())
            }
            None if until.is_some() => {
                self.now = self.now.max(limit);
                Ok(())
            }
            None => Err(LabError::SelfCheck(
                "waiting, but nothing is outstanding".into(),
            )),
        }
    }

    #[inline]
    fn prefetch(&self, command: &Command) {
        self.drive.prefetch(command);
    }

    fn heat(&self) -> Option<ThermalSummary> {
        ThermalSummary::of(&self.drive)
    }

    fn counters(&mut self) -> Counters {
        let c = self.drive.counters();
        let slot = u64::from(self.drive.config().shape.slot_bytes);
        Counters {
            reads: Some(c.host_reads),
            writes: Some(c.host_writes),
            fua_writes: Some(c.host_fua_writes),
            flushes: Some(c.host_flushes),
            trims: Some(c.host_trims),
            host_bytes_written: Some(c.host_bytes_written),
            nand_bytes_written: Some(c.slots_programmed() * slot),
            more: c
                .named()
                .into_iter()
                .map(|(name, n)| (name.to_string(), n))
                .collect(),
        }
    }

    fn self_check(&mut self) -> Result<(), LabError> {
        self.drive.check().map_err(LabError::SelfCheck)
    }
}
