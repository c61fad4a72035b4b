//! What a dollar buys: random writes a second, durable ones, and bytes written over the life.

use super::Endurance;
use crate::LabError;
use crate::catalogue::CatalogueDrive;
use serde::Serialize;
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speeds {
    /// 4 KiB random, 32 outstanding.
    pub sustained_iops: f64,
    /// The same, each durable (FUA) before it is acknowledged.
    pub durable_iops: f64,
}

/// A drive against its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Money {
    /// Name.
    pub name: String,
    /// US dollars.
    pub price_usd: f64,
    /// Whose price.
    pub price_source: String,
    /// Modelled.
    #[serde(flatten)]
    pub speeds: Speeds,
    /// What article zil measured after 80 minutes.
    pub published_iops: Option<u32>,
    /// Terabytes that the host may write, by each work.
    pub terabytes: Vec<(String, f64)>,
}

impl Money {
    /// Of `drive`, with its own price or `price`; `None` when neither is known.
    ///
    /// # Errors
    /// When the drive cannot be modelled.
    pub fn of(
        drive: &CatalogueDrive,
        config: &DriveConfig,
        price: Option<f64>,
        rows: &[&Endurance],
        seed: u64,
    ) -> Result<Option<Money>, LabError> {
        let documented = &drive.file.documented;
        let listed = documented.price_usd.as_ref();
        let (price_usd, price_source) = match (price, listed) {
            (Some(price), _) => (price, "--price".to_owned()),
            (None, Some(listed)) => (f64::from(listed.value), listed.source.clone()),
            (None, None) => return Ok(None),
        };
        Ok(Some(Money {
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

/// Fills the drive, writes it twice over at random without time, and then times it.
///
/// # Errors
/// When the drive cannot be modelled.
pub fn speeds(config: &DriveConfig, seed: u64) -> Result<Speeds, LabError> {
    let refused = |error: String| LabError::refused(error, "see `ssdlab drives show`");
    let blocks = config.user_bytes / BLOCK;
    let mut rng = Rng::named(seed, "endurance: speeds");
    let mut drive = match config.ftl.mapping.kind.is_block_mapped() {
        true => Drive::new(config.clone()).map_err(|e| refused(e.to_string()))?,
        false => {
            let drive = CountingDrive::new(config.clone());
            let mut drive = drive.map_err(|e| refused(e.to_string()))?;
            super::fill(&mut drive, config.user_bytes);
            let mut batch = Vec::with_capacity(4096);
            for _ in 0..(2 * blocks).div_ceil(4096) {
                batch.clear();
                batch.extend((0..4096).map(|_| write(&mut rng, blocks, false)));
                drive.apply_all(&batch);
            }
            drive.into_timed().map_err(|e| refused(e.to_string()))?
        }
    };
    let sustained_iops = rate(&mut drive, &mut rng, blocks, false);
    let durable_iops = rate(&mut drive, &mut rng, blocks, true);
    drive.check().map_err(LabError::SelfCheck)?;
    Ok(Speeds {
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

/// Writes a second with [`DEPTH`] outstanding, once those before have settled.
fn rate(drive: &mut Drive, rng: &mut Rng, blocks: u64, fua: bool) -> f64 {
    let mut now = drive.now();
    for tag in 0..DEPTH {
        drive.submit(tag, &write(rng, blocks, fua), now);
    }
    // Durable writes of an unprotected drive take milliseconds each: fewer tell as much.
    let (warm, counted) = if fua { (2_000, 6_000) } else { (WARM, COUNTED) };
    let mut begin = now;
    for n in 0..warm + counted {
        let Some(completion) = drive.pop_completion(Nanos::MAX) else {
            return 0.0;
        };
        now = completion.done;
        if n + 1 == warm {
            begin = now;
        }
        drive.submit(completion.tag, &write(rng, blocks, fua), now);
    }
    for _ in 0..DEPTH {
        // What is outstanding is waited for, so that the next measurement starts with nothing.
        if drive.pop_completion(Nanos::MAX).is_none() {
            return 0.0;
        }
    }
    f64::from(counted) / ((now.0 - begin.0) as f64 / 1e9)
}

/// A table for people.
pub fn table(rows: &[Money]) -> String {
    use crate::report::units::rate;
    let mut lines = vec![format!(
        "{:22} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7}",
        "drive", "price", "IOPS", "IOPS/$", "durable", "/$", "zil", "IOPS/$"
    )];
    for r in rows {
        let per = |iops: f64| format!("{:.2}", iops / r.price_usd);
        let (s, published) = (&r.speeds, r.published_iops.map(f64::from));
        lines.push(format!(
            "{:22} {:>7} {:>8} {:>7} {:>8} {:>7} {:>8} {:>7}",
            r.name,
            format!("${:.0}", r.price_usd),
            rate(s.sustained_iops),
            per(s.sustained_iops),
            rate(s.durable_iops),
            per(s.durable_iops),
            published.map_or("-".into(), rate),
            published.map_or("-".into(), per),
        ));
        for (work, terabytes) in &r.terabytes {
            let per_dollar = match terabytes.is_finite() {
                true => format!("{:.2} TB written per dollar", terabytes / r.price_usd),
                false => "writes do not wear it".into(),
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
        let volatile = speeds(&config, 1).unwrap();
        assert!(
            volatile.durable_iops < 0.5 * volatile.sustained_iops,
            "{volatile:?}"
        );
        config.buffer.protected = true;
        let protected = speeds(&config, 1).unwrap();
        let off = protected.durable_iops / protected.sustained_iops - 1.0;
        assert!(off.abs() < 0.15, "{protected:?}");
    }
}
