//! Updating in place against writing a log, on one die with one plane, so that an erase block is
//! what it is in the article.

use super::settings::FLASH;
use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::experiments::scale;
use crate::outcome::CurvePoints;
use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::sync::atomic::AtomicBool;

/// Updates in place, of one geometry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InPlaceUpdates {
    /// Erase block / update: the factor of rewriting the whole block.
    pub by_arithmetic: f64,
    /// Pages of the erase block: the factor if the update were one page.
    pub by_pages: f64,
    /// Measured write amplification factor.
    pub waf: f64,
}

/// Bytes of each update.
const UPDATE: u64 = 8 * 1024;
const BLOCKS: u32 = 128;
/// Blocks beyond the user capacity.
const SPARE_BLOCKS: u32 = 16;

fn die<'a>(
    page: u64,
    pages: u32,
    mapping: &str,
    stop: &'a AtomicBool,
) -> Result<ExperimentHost<'a>, LabError> {
    let unit = page.min(UPDATE);
    let user = page * u64::from(pages) * u64::from(BLOCKS - SPARE_BLOCKS);
    let settings = [
        "nand.channels=1".into(),
        "nand.dies_per_channel=1".into(),
        "nand.planes_per_die=1".into(),
        format!("nand.blocks_per_plane={BLOCKS}"),
        format!("nand.pages_per_block={pages}"),
        format!("nand.page={page} B"),
        format!("ftl.mapping_unit={unit} B"),
        format!("ftl.mapping={mapping}"),
        "ftl.commit_closes_word_lines=false".into(),
        "buffer.size=64KiB".into(),
        format!("capacity.user={user} B"),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let config = scale::with(FLASH, &settings)?.config;
    Ok(ExperimentHost::new(config)?.watching(stop))
}

fn fill(host: &mut ExperimentHost<'_>, bytes: u64) {
    let block = 64 * 1024;
    host.run(
        1,
        (0..bytes / block).map(|n| Command::write(n * block, block as u32)),
    );
}

fn updates(rng: &mut Rng, bytes: u64, count: u32) -> Vec<Command> {
    let offset = |rng: &mut Rng| rng.below(bytes / UPDATE) * UPDATE;
    (0..count)
        .map(|_| Command::write(offset(rng), UPDATE as u32))
        .collect()
}

/// 8 KiB updated at random on a full drive that writes in place, over the article's pages and
/// blocks.
pub(super) fn in_place(
    seed: u64,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<Vec<InPlaceUpdates>, LabError> {
    let mut results = Vec::new();
    for pages in [128, 256] {
        for kib in [2, 4, 8, 16] {
            let page_bytes = kib * 1024;
            let mut host = die(page_bytes, pages, "block", stop)?;
            let user = host.config().user_bytes;
            fill(&mut host, user);
            let mut rng = Rng::named(seed, "myth: in place");
            let span = host.run(1, updates(&mut rng, user, 400));
            health.add("in place", &host);
            results.push(InPlaceUpdates {
                by_arithmetic: (page_bytes * u64::from(pages)) as f64 / UPDATE as f64,
                by_pages: f64::from(pages),
                waf: span.waf.unwrap_or(0.0),
            });
        }
    }
    Ok(results)
}

/// The same updates, pages of 8 KiB in blocks of 2 MiB, written as a log: write amplification over
/// the percentage of the user capacity that is valid.
pub(super) fn logged(
    seed: u64,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<CurvePoints, LabError> {
    let mut points = Vec::new();
    for valid_pct in [50_u32, 60, 70, 80, 90, 100] {
        let mut host = die(8 * 1024, 256, "flat", stop)?;
        let bytes = host.config().user_bytes / 100 * u64::from(valid_pct) / (1 << 20) * (1 << 20);
        fill(&mut host, bytes);
        let mut rng = Rng::named(seed, "myth: log");
        // Two rounds over what is valid reach the steady state; what follows is measured.
        let rounds = (2 * bytes / UPDATE) as u32;
        host.run(1, updates(&mut rng, bytes, rounds));
        let before = host.counters().clone();
        host.run(1, updates(&mut rng, bytes, 64 * 512));
        health.add("log", &host);
        let waf = host.waf_since(&before).unwrap_or(0.0);
        points.push((f64::from(valid_pct), waf));
    }
    Ok(points)
}
