//! Fill curves of the client archetypes, beside those that a reviewer published of named drives:
//! the whole drive is written once in order, from erased. Does it go through the published phases,
//! at the published places?
//!
//! Published (TechPowerUp, "Write Intensive Usage", 1 MB in order on an erased drive): the ADATA
//! XPG Atom 50 of 1 TB (TLC) writes 280 GB into its cache, then 2 GB/s directly until almost 500
//! GB, then 500 MB/s while it moves data out of the cache; the whole drive takes 800 MB/s. The
//! Sabrent Rocket Q of 1 TB (QLC) writes 1.7 GB/s for 250 GB, then some 150 MB/s.
//!
//! Three values of the TLC archetype are calibrated: to 280 GB, 2 GB/s and 500 MB/s. Nothing of
//! the QLC archetype is.

use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::{Command, Drive, Nanos};

const IN_ORDER: u64 = 128 << 10;
/// Parts of the drive whose rates are taken.
const PARTS: u64 = 50;
/// Bytes of the archetypes, made smaller: rates and shares of the drive stay.
const SIZE: u64 = 48 << 30;

/// MB/s in each fiftieth of the drive.
fn fill(name: &str) -> Vec<f64> {
    let whole = catalogue::drive(name).unwrap().config;
    let config = scaled(&whole, SIZE).unwrap().config;
    let blocks = config.user_bytes / IN_ORDER;
    let mut drive = Drive::new(config).unwrap();
    let mut ends = vec![Nanos::ZERO];
    let mut done = 0;
    for block in 0..blocks + 32 {
        if block >= 32 {
            let at = drive.pop_completion(Nanos::MAX).unwrap().done;
            done += 1;
            if done % (blocks / PARTS) == 0 {
                ends.push(at);
            }
        }
        if block < blocks {
            let command = Command::write(block * IN_ORDER, IN_ORDER as u32);
            drive.submit((block % 64) as u32, &command, drive.now());
        }
    }
    drive.check().unwrap();
    let part = (blocks / PARTS * IN_ORDER) as f64 / 1e6;
    let rate = |two: &[Nanos]| part / (two[1] - two[0]).as_secs_f64();
    ends.windows(2).take(PARTS as usize).map(rate).collect()
}

/// Share of the drive, in %, at which the rate first stays below `level` for two parts.
fn falls_below(rates: &[f64], level: f64) -> f64 {
    let at = rates
        .windows(2)
        .position(|two| two[0] < level && two[1] < level);
    at.map_or(100.0, |part| 100.0 * part as f64 / PARTS as f64)
}

fn mean(rates: &[f64]) -> f64 {
    rates.len() as f64 / rates.iter().map(|rate| 1.0 / rate).sum::<f64>()
}

fn near(what: &str, ours: f64, published: f64, share: f64) {
    let off = (ours / published - 1.0).abs();
    assert!(off <= share, "{what}: {ours}, published {published}");
}

#[test]
fn tlc_has_three_phases_where_the_atom_50_has_them() {
    let rates = fill("tlc-client-nvme-1tb");
    let (cache, direct) = (falls_below(&rates, 2_700.0), falls_below(&rates, 1_000.0));
    // Calibrated.
    near("end of the cache, %", cache, 28.0, 0.10);
    near(
        "direct, MB/s",
        rates[40 * PARTS as usize / 100],
        2_000.0,
        0.10,
    );
    near(
        "folding, MB/s",
        rates[80 * PARTS as usize / 100],
        500.0,
        0.10,
    );
    // Predicted: three cells of the cache hold what one does later, so the room left for direct
    // writes is what three times the cache leaves of the flash.
    near("end of direct writes, %", direct, 50.0, 0.10);
    near("whole drive, MB/s", mean(&rates), 800.0, 0.15);
}

#[test]
fn qlc_falls_where_the_rocket_q_falls() {
    let rates = fill("qlc-client-nvme-1tb");
    near("in the cache, MB/s", rates[10], 1_700.0, 0.15);
    near(
        "end of the cache, %",
        falls_below(&rates, 800.0),
        25.0,
        0.15,
    );
    // A miss, by half: program times are those of FEMU's QLC.
    let late = mean(&rates[PARTS as usize / 2..]);
    assert!((60.0..110.0).contains(&late), "{late} MB/s, published 150");
}
