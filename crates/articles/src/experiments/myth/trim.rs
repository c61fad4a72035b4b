//! Reads beside TRIMs.

use super::settings::{FLASH, MythSettings};
use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::experiments::scale;
use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::sync::atomic::AtomicBool;

/// Random reads of 4 KiB, 32 outstanding, one command in a hundred a TRIM of 64 KiB.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrimCost {
    /// Kind of TRIM.
    pub name: &'static str,
    /// Reads a second.
    pub read_iops: f64,
    /// Latency that 99.9 % of the reads do not exceed, ms.
    pub read_p999_ms: f64,
}

const TRIM: u32 = 64 * 1024;
const READ: u32 = 4096;
const DEPTH: u32 = 32;

/// Without TRIMs, with queued ones, with ones that are not, and with slow ones that are not.
pub(super) fn cost(
    settings: &MythSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<Vec<TrimCost>, LabError> {
    let kinds: [(&str, &[&str], bool); 4] = [
        ("no TRIM", &[], false),
        ("queued", &["ftl.trim_queued=true"], true),
        ("not queued", &["ftl.trim_queued=false"], true),
        (
            "not queued, 1 ms each",
            &["ftl.trim_queued=false", "ftl.trim_time=1ms"],
            true,
        ),
    ];
    let mut costs = Vec::new();
    for (name, set, trims) in kinds {
        let config = scale::with(FLASH, set)?.config;
        let mut host = ExperimentHost::new(settings.scale.apply(&config)?)?.watching(stop);
        let user = host.config().user_bytes;
        host.run(
            DEPTH,
            (0..user / u64::from(TRIM)).map(|n| Command::write(n * u64::from(TRIM), TRIM)),
        );
        let mut rng = Rng::named(settings.seed, "myth: trim");
        // TRIMs go to the last eighth, reads to the rest, so that reads stay reads of flash.
        let border = user / 8 * 7 / u64::from(TRIM) * u64::from(TRIM);
        let commands: Vec<Command> = (0..2 * settings.probe_commands)
            .map(|n| {
                if trims && n % 100 == 99 {
                    let offset = rng.below((user - border) / u64::from(TRIM)) * u64::from(TRIM);
                    Command::trim(border + offset, TRIM)
                } else {
                    Command::read(rng.below(border / u64::from(READ)) * u64::from(READ), READ)
                }
            })
            .collect();
        let span = host.run(DEPTH, commands);
        health.add(name, &host);
        costs.push(TrimCost {
            name,
            read_iops: span.read_mb_s() * 1e6 / f64::from(READ),
            read_p999_ms: span.read_ms(99.9),
        });
    }
    Ok(costs)
}
