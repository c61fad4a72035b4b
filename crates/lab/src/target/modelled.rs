//! A drive of the catalogue as a target, in virtual time.

use super::{Counters, Done, Target, TargetFacts, TargetKind};
use crate::LabError;
use crate::catalogue::CatalogueDrive;
use crate::memory::refuse_if_too_big;
use ssdlab_ssd::{Bytes, Command, Drive, Nanos};

/// A modelled drive, or the first bytes of it (as a file on it would be).
#[derive(Clone)]
pub struct ModelledTarget {
    drive: Drive,
    facts: TargetFacts,
    now: Nanos,
}

impl ModelledTarget {
    /// A factory-fresh drive; `size` limits the target to the drive's first bytes, as a file on
    /// an otherwise empty drive does.
    ///
    /// # Errors
    /// When `size` is more than the drive has, or the model would need more memory than there is.
    pub fn new(from: &CatalogueDrive, size: Option<u64>) -> Result<ModelledTarget, LabError> {
        let config = from.config.clone();
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
        refuse_if_too_big(&config.name, config.memory_bytes(), 1)?;
        let facts = facts(from, capacity);
        let drive = Drive::new(config)
            .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))?;
        Ok(ModelledTarget {
            drive,
            facts,
            now: Nanos::ZERO,
        })
    }

    /// The drive itself.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }
}

fn facts(from: &CatalogueDrive, capacity: u64) -> TargetFacts {
    let file = &from.file;
    let protection = &file.documented.power_loss_protection;
    TargetFacts {
        name: format!("drive:{}", file.name),
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
        self.drive.submit(tag, command, self.now);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, until: Option<Nanos>, done: &mut Vec<Done>) -> Result<(), LabError> {
        let limit = until.unwrap_or(Nanos::MAX);
        match self.drive.pop_completion(limit) {
            Some(c) => {
                self.now = c.done;
                done.push(Done {
                    tag: c.tag,
                    submitted: c.submitted,
                    done: c.done,
                    errno: 0,
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
