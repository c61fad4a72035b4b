//! What came out of a tier: samples, totals, self-checks.

use super::engine::{HIT, MISS, TierEngine, WRITE};
use super::{AccessLatency, DeviceWork, DurabilityMode, Tier, TierSample, TierSpec};
use crate::probe::quantile;
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::Nanos;

impl TierEngine<'_> {
    pub(super) fn dirty(&self) -> u64 {
        self.sides.iter().map(|side| side.cache.dirty()).sum()
    }

    pub(super) fn take_sample(&mut self, at: Nanos) {
        let mut sample = std::mem::take(&mut self.sample);
        let slots: u64 = self.sides.iter().map(|side| side.cache.slot_count()).sum();
        sample.t_s = (at - self.began).as_secs_f64();
        sample.write_mean_ns = self.sample_write_ns as f64 / sample.writes.max(1) as f64;
        sample.backlog_bytes = self.dirty() * u64::from(self.spec.block);
        sample.dirty_share = self.dirty() as f64 / slots as f64;
        let work = self.work();
        sample.nand_bytes = work.iter().map(|w| w.nand_bytes).sum();
        sample.device_bytes = work.iter().map(|w| w.written_bytes).sum();
        // So far these are since the beginning.
        let before = |count: fn(&TierSample) -> u64| self.samples.iter().map(count).sum::<u64>();
        sample.nand_bytes -= before(|s| s.nand_bytes);
        sample.device_bytes -= before(|s| s.device_bytes);
        self.sample_write_ns = 0;
        self.samples.push(sample);
    }

    /// What each device did since the load began.
    fn work(&self) -> Vec<DeviceWork> {
        let devices = self.counters.iter().enumerate().map(|(device, then)| {
            let counters = self.devices.drive(device).counters();
            let config = self.devices.drive(device).config();
            let slot = u64::from(config.geometry().slot_bytes);
            DeviceWork {
                written_bytes: counters.host_bytes_written - then.host_bytes_written,
                nand_bytes: (counters.slots_programmed() - then.slots_programmed()) * slot,
                commits: counters.commits - then.commits,
                padding_bytes: (counters.slots_padding - then.slots_padding) * slot,
            }
        });
        devices.collect()
    }

    pub(super) fn result(mut self) -> Tier {
        let duration = self.stop - self.began;
        let seconds = duration.as_secs_f64();
        if self.samples.is_empty() {
            self.take_sample(self.stop);
        }
        let devices = self.work();
        let written: u64 = devices.iter().map(|d| d.written_bytes).sum();
        let nand: u64 = devices.iter().map(|d| d.nand_bytes).sum();
        let served = |kind: usize| {
            let latencies = &self.latencies[kind];
            AccessLatency {
                count: latencies.len(),
                mean_ns: self.sums[kind] as f64 / latencies.len().max(1) as f64,
                p50_ns: quantile(latencies, 0.5),
                p99_ns: quantile(latencies, 0.99),
                max_ns: quantile(latencies, 1.0),
            }
        };
        let (hits, misses, writes) = (served(HIT), served(MISS), served(WRITE));
        let block = u64::from(self.spec.block);
        Tier {
            stopped: duration < self.spec.duration,
            spec: TierSpec {
                duration,
                ..self.spec.clone()
            },
            sides: self.sides.len(),
            cache_bytes: self.sides[0].cache.slot_count() * block,
            working_set_bytes: self.newest.len() as u64 * block,
            iops: (hits.count + misses.count + writes.count) as f64 / seconds,
            writes_s: writes.count as f64 / seconds,
            hits,
            misses,
            writes,
            stalls: self.stalls,
            not_durable: self.promises.not_durable,
            destaged_bytes: self.destaged * block,
            backlog_bytes: self.dirty() * block,
            nand_per_host_byte: (written > 0).then(|| nand as f64 / written as f64),
            devices,
            checks: self.checks(),
            samples: self.samples,
        }
    }

    fn checks(&self) -> Vec<SelfCheck> {
        let mut checks = self.devices.checks();
        for (number, side) in self.sides.iter().enumerate() {
            let newest = |block: u32| {
                let mut copies = 0..self.spec.copies;
                let on_side = copies.any(|copy| self.side_of(block, copy) == number);
                on_side.then(|| self.newest[block as usize])
            };
            let outcome = side.cache.check(newest);
            checks.push(SelfCheck::new(
                format!("side {number}: no block is lost"),
                outcome,
            ));
        }
        let broken = self.promises.not_durable;
        if self.spec.durable != DurabilityMode::Buffered {
            let outcome = match broken {
                0 => Ok(()),
                _ => Err(format!("{broken} acknowledged before they were durable")),
            };
            checks.push(SelfCheck::new(
                "acknowledged writes are durable on all copies",
                outcome,
            ));
        }
        checks
    }
}
