//! What a dollar buys: random writes a second, durable ones, and bytes written over the life.

use super::DriveEndurance;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, Nanos};

/// Bytes of each write.
const BLOCK: u64 = 4096;
/// Commands outstanding.
const DEPTH: u32 = 32;
/// Writes before, and within, each measurement.
const WARM: u32 = 20_000;
const COUNTED: u32 = 60_000;

/// Writes a second in steady state, modelled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WriteSpeeds {
    /// 4 KiB random, 32 outstanding; `None`: the drive did not complete them.
    pub sustained_iops: Option<f64>,
    /// The same, each durable (FUA) before it is acknowledged.
    pub durable_iops: Option<f64>,
}

/// A drive against its price.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PricePerformance {
    /// Name.
    pub name: String,
    /// US dollars.
    pub price_usd: f64,
    /// Whose price.
    pub price_source: String,
    /// Modelled.
    #[serde(flatten)]
    pub speeds: WriteSpeeds,
    /// What article zil measured after 80 minutes.
    pub published_iops: Option<u32>,
    /// Terabytes that the host may write, by each work.
    pub terabytes: Vec<(String, f64)>,
}

impl PricePerformance {
    /// Of `drive`, with its own price or `price`; `None` when neither is known.
    ///
    /// # Errors
    /// When the drive cannot be modelled.
    pub fn of(
        drive: &CatalogueDrive,
        config: &DriveConfig,
        price: Option<f64>,
        rows: &[&DriveEndurance],
        seed: u64,
    ) -> Result<Option<PricePerformance>, LabError> {
        let documented = &drive.file.documented;
        let listed = documented.price_usd.as_ref();
        let (price_usd, price_source) = match (price, listed) {
            (Some(price), _) => (price, "--price".to_owned()),
            (None, Some(listed)) => (f64::from(listed.value), listed.source.clone()),
            (None, None) => return Ok(None),
        };
        Ok(Some(PricePerformance {
            name: drive.file.name.clone(),
            price_usd,
            price_source,
            speeds: speeds(config, seed)?,
            published_iops: documented.rw80_iops.as_ref().map(|iops| iops.value),
            terabytes: rows
                .iter()
                .map(|row| (row.work.clone(), row.tbw / 1e12))
                .collect(),
        }))
    }
}

/// Fills the drive, writes it twice over at random without time, and then times it. A block-mapped
/// drive is filled in virtual time, as it has no other; each write of it merges blocks, so it is
/// steady once it is full.
///
/// # Errors
/// When the drive cannot be modelled.
pub fn speeds(config: &DriveConfig, seed: u64) -> Result<WriteSpeeds, LabError> {
    let refused = |error: String| LabError::refused(error, "see `ssdlab drives show`");
    let blocks = config.user_bytes / BLOCK;
    let mut rng = Rng::named(seed, "endurance: speeds");
    let mut devices = if config.ftl.mapping.kind.is_block_mapped() {
        let drive = Drive::new(config.clone()).map_err(|e| refused(e.to_string()))?;
        let mut devices = Devices::one(drive);
        fill_in_time(&mut devices, config.user_bytes);
        devices
    } else {
        let drive = CountingDrive::new(config.clone());
        let mut drive = drive.map_err(|e| refused(e.to_string()))?;
        super::fill(&mut drive, config.user_bytes);
        let mut batch = Vec::with_capacity(4096);
        for _ in 0..(2 * blocks).div_ceil(4096) {
            batch.clear();
            batch.extend((0..4096).map(|_| write(&mut rng, blocks, false)));
            drive.apply_all(&batch);
        }
        Devices::one(drive.into_timed().map_err(|e| refused(e.to_string()))?)
    };
    let sustained_iops = rate(&mut devices, &mut rng, blocks, false);
    let durable_iops = rate(&mut devices, &mut rng, blocks, true);
    let failed = failures(&devices.checks());
    if !failed.is_empty() {
        return Err(LabError::SelfCheck(failed.join("; ")));
    }
    Ok(WriteSpeeds {
        sustained_iops,
        durable_iops,
    })
}

fn write(rng: &mut Rng, blocks: u64, fua: bool) -> Command {
    Command {
        fua,
        ..Command::write(rng.below(blocks) * BLOCK, BLOCK as u32)
    }
}

/// Writes a drive once from front to back, a command at a time.
fn fill_in_time(devices: &mut Devices, bytes: u64) {
    const RUN: u64 = 1 << 20;
    let mut writes = (0..bytes)
        .step_by(RUN as usize)
        .map(|offset| Command::write(offset, RUN.min(bytes - offset) as u32));
    devices.keep(1, Nanos::MAX, &mut || writes.next());
    devices.settle();
}

/// Random writes, of which the first ones are not counted.
struct CountedWrites<'a> {
    rng: &'a mut Rng,
    blocks: u64,
    fua: bool,
    /// Writes left to give.
    remaining: u32,
    warm: u32,
    counted: u32,
    completed: u32,
    /// Times of the completions at which counting begins and ends.
    span: [Nanos; 2],
}

impl CommandSource for CountedWrites<'_> {
    fn next(&mut self, _: &Drive) -> Option<Command> {
        self.remaining = self.remaining.checked_sub(1)?;
        Some(write(self.rng, self.blocks, self.fua))
    }

    fn done(&mut self, _: &Drive, completion: &DeviceCompletion) {
        self.completed += 1;
        if self.completed == self.warm {
            self.span[0] = completion.done;
        }
        if self.completed == self.warm + self.counted {
            self.span[1] = completion.done;
        }
    }
}

/// Writes a second with [`DEPTH`] outstanding, once those before have settled; `None` when the
/// drive stops answering: that is no rate of 0.
fn rate(devices: &mut Devices, rng: &mut Rng, blocks: u64, fua: bool) -> Option<f64> {
    // Durable writes of an unprotected drive take milliseconds each: fewer tell as much.
    let (warm, counted) = if fua { (2_000, 6_000) } else { (WARM, COUNTED) };
    let mut writes = CountedWrites {
        rng,
        blocks,
        fua,
        remaining: warm + counted + DEPTH,
        warm,
        counted,
        completed: 0,
        span: [Nanos::ZERO; 2],
    };
    devices.keep(DEPTH, Nanos::MAX, &mut writes);
    let [begin, end] = writes.span;
    devices.settle();
    let seconds = end.0.saturating_sub(begin.0) as f64 / 1e9;
    (seconds > 0.0 && devices.outstanding(0) == 0).then(|| f64::from(counted) / seconds)
}

/// A table for people.
pub fn table(rows: &[PricePerformance]) -> String {
    use ssdlab_view::units::rate;
    let mut lines = vec![format!(
        "{:22} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7}",
        "drive", "price", "IOPS", "IOPS/$", "durable", "/$", "zil", "IOPS/$"
    )];
    for r in rows {
        let per = |iops: Option<f64>| iops.map(|iops| format!("{:.2}", iops / r.price_usd));
        let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".into());
        let (s, published) = (&r.speeds, r.published_iops.map(f64::from));
        lines.push(format!(
            "{:22} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7}",
            r.name,
            format!("${:.0}", r.price_usd),
            known(s.sustained_iops.map(rate)),
            known(per(s.sustained_iops)),
            known(s.durable_iops.map(rate)),
            known(per(s.durable_iops)),
            published.map_or("-".into(), rate),
            per(published).unwrap_or_else(|| "-".into()),
        ));
        for (work, terabytes) in &r.terabytes {
            let per_dollar = if terabytes.is_finite() {
                format!("{:.2} TB written per dollar", terabytes / r.price_usd)
            } else {
                "writes do not wear it".into()
            };
            lines.push(format!("  {work}: {per_dollar}"));
        }
        lines.push(format!("  price: {}", r.price_source));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unprotected drive programs for each durable write; a protected one does not.
    #[test]
    fn durable_writes_cost_where_the_buffer_is_volatile() {
        let mut config = DriveConfig::tiny();
        config.shape.blocks_per_plane = 96;
        config.user_bytes = 8 << 20;
        let durable = |config: &DriveConfig| {
            let found = speeds(config, 1).unwrap();
            found.durable_iops.unwrap() / found.sustained_iops.unwrap()
        };
        assert!(durable(&config) < 0.5);
        config.buffer.protected = true;
        assert!((durable(&config) - 1.0).abs() < 0.15);
    }

    /// An empty block-mapped drive has nothing to merge: it was timed so.
    #[test]
    fn a_block_mapped_drive_is_timed_full() {
        let mut config = DriveConfig::tiny();
        config.shape.blocks_per_plane = 96;
        config.user_bytes = 4 << 20;
        config.ftl.slc.superblocks = 0;
        config.ftl.journal = Default::default();
        config.ftl.mapping.kind = ssdlab_ssd::config::MappingKind::Block;
        let mut devices = Devices::one(Drive::new(config.clone()).unwrap());
        fill_in_time(&mut devices, config.user_bytes);
        let counters = devices.drive(0).counters();
        assert_eq!(counters.host_bytes_written, config.user_bytes);
        let found = speeds(&config, 1).unwrap();
        assert!(
            found.sustained_iops.is_some_and(|iops| iops > 0.0),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_not_known_is_said_so() {
        let row = PricePerformance {
            name: "a".into(),
            price_usd: 100.0,
            price_source: "list".into(),
            speeds: WriteSpeeds {
                sustained_iops: Some(1000.0),
                durable_iops: None,
            },
            published_iops: None,
            terabytes: Vec::new(),
        };
        let text = table(&[row]);
        assert_eq!(text.matches("unknown").count(), 2, "{text}");
    }
}
