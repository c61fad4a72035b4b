//! A volume of a cloud as a target, in virtual time.

use super::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use ssdlab_base::LabError;
use ssdlab_ssd::{Bytes, Command, Nanos, Op};
use ssdlab_volume::{AccountRates, AccountUnit, Volume, VolumeConfig, VolumeLimits};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest drain, s.
const DRAIN_MAX_S: f64 = 4.0 * 3600.0;
/// Seconds after a drain.
const AFTER_DRAIN_S: u64 = 120;

/// A command under way, ordered by the time at which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VolumeCommand {
    done: Nanos,
    number: u64,
    tag: u32,
    submitted: Nanos,
}

/// A volume, or the first bytes of it.
#[derive(Clone)]
pub struct VolumeTarget {
    volume: Volume,
    facts: TargetFacts,
    time: Nanos,
    number: u64,
    outstanding: BinaryHeap<Reverse<VolumeCommand>>,
}

impl VolumeTarget {
    /// A new volume; `size` limits the target to its first bytes.
    ///
    /// # Errors
    /// When `size` is more than it has.
    pub fn new(config: VolumeConfig, size: Option<u64>) -> Result<VolumeTarget, LabError> {
        let capacity = size.unwrap_or(config.bytes);
        if capacity > config.bytes || capacity == 0 || !capacity.is_multiple_of(512) {
            return Err(LabError::refused(
                format!(
                    "a size of {} on volume {}: whole 512-byte blocks up to {} are allowed",
                    Bytes(capacity),
                    config.name,
                    Bytes(config.bytes)
                ),
                "choose a smaller --size, or a larger volume: volume:gp3,size=500",
            ));
        }
        Ok(VolumeTarget {
            facts: facts(&config, capacity),
            volume: Volume::new(config),
            time: Nanos::ZERO,
            number: 0,
            outstanding: BinaryHeap::new(),
        })
    }

    /// How long it takes at most to spend every credit, and to see the rate after it, s.
    pub fn drain_s(&self) -> u64 {
        let config = self.volume.config();
        let instance = config.instance.iter().map(|(_, limits)| limits);
        let accounts = std::iter::once(&config.volume).chain(instance);
        let accounts = accounts.flat_map(|limits| [limits.operations, limits.bytes]);
        let lasts = accounts.filter_map(|rates| rates.lasts_s(rates.burst as f64));
        let longest_s = lasts.fold(0.0, f64::max).min(DRAIN_MAX_S);
        longest_s.ceil() as u64 + AFTER_DRAIN_S
    }

    /// The volume itself.
    pub fn volume(&self) -> &Volume {
        &self.volume
    }
}

fn rate(rates: AccountRates, shown: impl Fn(u64) -> String) -> String {
    let base = shown(rates.base);
    match rates.lasts_s(rates.burst as f64) {
        Some(lasts_s) => format!(
            "{base} that lasts, {} for {:.0} min of a full credit",
            shown(rates.burst),
            lasts_s / 60.0
        ),
        None => base,
    }
}

/// What the accounts allow, a sentence.
fn limits(of: &str, limits: &VolumeLimits) -> String {
    let operations = rate(limits.operations, |rate| format!("{rate} operations/s"));
    let bytes = rate(limits.bytes, |rate| {
        format!("{:.1} MB/s", rate as f64 / 1e6)
    });
    format!("{of}: {operations}; {bytes}")
}

fn facts(config: &VolumeConfig, capacity: u64) -> TargetFacts {
    let mut notes = vec![
        "modelled: virtual time, no data held".to_owned(),
        limits("the volume", &config.volume),
    ];
    let instance = config.instance.as_ref();
    notes.extend(instance.map(|(name, given)| limits(&format!("instance {name}"), given)));
    TargetFacts {
        capacity,
        block_size: 512,
        model: Some(config.title.clone()),
        interface: Some("network".to_owned()),
        write_cache: Some("write through".to_owned()),
        fua: Some(true),
        power_loss_protection: Some(true),
        power_loss_protection_source: Some(
            "a provider answers after it has copies; assumed of the model".to_owned(),
        ),
        power_loss_protection_assumed: true,
        rotational: Some(false),
        virtualised: Some(false),
        notes,
        ..TargetFacts::unknown(format!("volume:{}", config.name), TargetKind::Volume)
    }
}

impl Target for VolumeTarget {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        1 << 20
    }

    #[inline]
    fn now(&mut self) -> Nanos {
        self.time
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        let service = self.volume.submit(self.time, command);
        self.outstanding.push(Reverse(VolumeCommand {
            done: service.done,
            number: self.number,
            tag,
            submitted: self.time,
        }));
        self.number += 1;
        Ok(())
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let limit = until.unwrap_or(Nanos::MAX);
        match self.outstanding.peek() {
            Some(Reverse(first)) if first.done <= limit => {
                let first = *first;
                self.outstanding.pop();
                self.time = first.done;
                completions.push(TargetCompletion {
                    tag: first.tag,
                    submitted: first.submitted,
                    done: first.done,
                    errno: 0,
                });
                Ok(())
            }
            _ if until.is_some() => {
                self.time = self.time.max(limit);
                Ok(())
            }
            _ => Err(LabError::SelfCheck(
                "waiting, but nothing is outstanding".into(),
            )),
        }
    }

    fn counters(&mut self) -> Counters {
        let counters = self.volume.counters();
        let count = |op: Op| Some(counters.commands[op as usize]);
        let mut more = vec![
            ("volume_operations".to_owned(), counters.operations),
            ("volume_merged".to_owned(), counters.merged),
            ("volume_throttled_ns".to_owned(), counters.throttled_ns),
            ("volume_first_touches".to_owned(), counters.first_touches),
        ];
        for (owner, unit, credit) in self.volume.credits(self.time) {
            let unit = match unit {
                AccountUnit::Operations => "operations",
                AccountUnit::Bytes => "bytes",
            };
            more.push((format!("{}_credit_{unit}", owner.name()), credit));
        }
        Counters {
            reads: count(Op::Read),
            writes: count(Op::Write),
            fua_writes: Some(counters.fua_writes),
            flushes: count(Op::Flush),
            trims: count(Op::Trim),
            host_bytes_written: Some(counters.bytes_written),
            nand_bytes_written: None,
            more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> VolumeTarget {
        VolumeTarget::new(ssdlab_volume::open(name).unwrap(), None).unwrap()
    }

    #[test]
    fn commands_complete_in_order_of_time_and_the_clock_waits_until_told() {
        let mut target = target("gp3");
        for tag in 0..40 {
            let command = Command::read(u64::from(tag) << 20, 4096);
            target.submit(tag, &command).unwrap();
        }
        let mut completions = Vec::new();
        while completions.len() < 40 {
            target.reap(None, &mut completions).unwrap();
        }
        assert!(completions.is_sorted_by_key(|completion| completion.done));
        // 30 pass at once in 10 ms of 3,000 a second, the other 10 one every third of one.
        assert!(completions[39].done >= Nanos::from_millis(3));
        target
            .reap(Some(Nanos::from_secs(9)), &mut completions)
            .unwrap();
        assert_eq!(target.now(), Nanos::from_secs(9));
        assert!(target.reap(None, &mut completions).is_err());
    }

    #[test]
    fn its_facts_tell_the_account() {
        let facts = target("gp2,instance=t3.small").facts().clone();
        assert_eq!(facts.name, "volume:gp2,instance=t3.small");
        let notes = facts.notes.join("\n");
        assert!(notes.contains("300 operations/s that lasts, 3000 operations/s for 33 min"));
        assert!(
            notes.contains("instance t3.small: 1000 operations/s"),
            "{notes}"
        );
        let config = ssdlab_volume::open("gp2,size=1").unwrap();
        assert!(VolumeTarget::new(config, Some(2 << 30)).is_err());
    }
}
