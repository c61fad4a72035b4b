//! Reports of real drives, as others published them: does each lead to the right row of the table
//! of known models, and is what it says of wear, heat and writes read as a person reads it?
//!
//! The expected values were written by hand from the samples, not taken from a run. Where the
//! samples are from is in the README beside them.

use ssdlab_judge::inspect::{Inspection, drive_reports, inspect};
use std::path::Path;

/// Units in which drives count what the host wrote: a thousand NVMe sectors of 512 bytes, one such
/// sector, and 32 MiB.
const DATA_UNIT: f64 = 512_000.0;
const SECTOR: f64 = 512.0;
const MIB_32: f64 = 33_554_432.0;

struct Expected {
    sample: &'static str,
    family: Option<&'static str>,
    /// Protection by the table; `None`: the row says nothing of it.
    plp: Option<bool>,
    /// Rated writes in TB for the drive's capacity.
    rated_tb: Option<f64>,
    /// Per cent of life used.
    used: f64,
    celsius: f64,
    /// Count of units that the host wrote, and the unit.
    written: (f64, f64),
}

#[rustfmt::skip]
const EXPECTED: [Expected; 16] = [
    Expected { sample: "intel-p3520-450g", family: Some("Intel SSD DC P3520"), plp: Some(true),
        rated_tb: None, used: 0.0, celsius: 11.0, written: (6_981_141.0, DATA_UNIT) },
    Expected { sample: "intel-p3700-400g", family: Some("Intel SSD DC P3700"), plp: Some(true),
        rated_tb: Some(7300.0), used: 5.0, celsius: 28.0, written: (655_012_839.0, DATA_UNIT) },
    Expected { sample: "intel-p4500-2t", family: Some("Intel SSD DC P4500"), plp: Some(true),
        rated_tb: Some(1890.0), used: 75.0, celsius: 19.0, written: (5_014_522_069.0, DATA_UNIT) },
    Expected { sample: "intel-p1600x-58g", family: Some("Intel Optane SSD P1600X"),
        plp: Some(true), rated_tb: Some(635.0), used: 0.0, celsius: 44.0,
        written: (1_081_718.0, DATA_UNIT) },
    // 3,840,755,982,336 bytes, once a day, 1,825 days.
    Expected { sample: "intel-p5500-3840g", family: Some("Solidigm D7-P5520"), plp: Some(true),
        rated_tb: Some(7009.38), used: 0.0, celsius: 29.0, written: (146_527_728.0, DATA_UNIT) },
    // 3,200,631,791,616 bytes, three times a day, 1,825 days.
    Expected { sample: "intel-p5600-3200g", family: Some("Solidigm D7-P5620"), plp: Some(true),
        rated_tb: Some(17_523.46), used: 0.0, celsius: 38.0, written: (39_452_691.0, DATA_UNIT) },
    // 15 is left of a scale from 100 to 1.
    Expected { sample: "intel-s3500-1600g", family: Some("Intel SSD DC S3500"), plp: Some(true),
        rated_tb: None, used: 85.86, celsius: 23.0, written: (62_594_010.0, MIB_32) },
    Expected { sample: "micron-7300-1920g", family: Some("Micron 7300 PRO"), plp: Some(true),
        rated_tb: None, used: 9.0, celsius: 26.0, written: (1_362_255_590.0, DATA_UNIT) },
    Expected { sample: "micron-7400-1920g", family: Some("Micron 7400 PRO"), plp: Some(true),
        rated_tb: None, used: 5.0, celsius: 33.0, written: (725_355_323.0, DATA_UNIT) },
    Expected { sample: "micron-7450-3200g", family: Some("Micron 7450 MAX"), plp: Some(true),
        rated_tb: None, used: 0.0, celsius: 33.0, written: (1_248_078.0, DATA_UNIT) },
    // 1,920,383,410,176 bytes, 1.3 times a day, 1,095 days.
    Expected { sample: "samsung-pm983-1920g", family: Some("Samsung PM983"), plp: Some(true),
        rated_tb: Some(2733.67), used: 0.0, celsius: 40.0, written: (44_965_392.0, DATA_UNIT) },
    Expected { sample: "samsung-sm843t-240g", family: Some("Samsung SM843T"), plp: Some(true),
        rated_tb: None, used: 10.0, celsius: 27.0, written: (218_759_569_150.0, SECTOR) },
    Expected { sample: "samsung-970-evo-plus-250g", family: Some("Samsung SSD 970 EVO Plus"),
        plp: Some(false), rated_tb: Some(150.0), used: 0.0, celsius: 35.0,
        written: (1_969_459.0, DATA_UNIT) },
    Expected { sample: "samsung-970-evo-500g-media-errors", family: Some("Samsung SSD 970 EVO"),
        plp: Some(false), rated_tb: Some(300.0), used: 3.0, celsius: 35.0,
        written: (65_602_088.0, DATA_UNIT) },
    Expected { sample: "intel-p4610-1600g", family: Some("Intel SSD DC P4610"), plp: Some(true),
        rated_tb: Some(10613.0), used: 0.0, celsius: 31.0, written: (13_140_871.0, DATA_UNIT) },
    Expected { sample: "samsung-mzpll-3200g", family: Some("Samsung PM1725a, PM1725b"),
        plp: Some(true), rated_tb: None, used: 0.0, celsius: 38.0,
        written: (500_161_695.0, DATA_UNIT) },
];

fn read(sample: &str) -> Inspection {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/smart");
    let reports = drive_reports(&folder.join(format!("{sample}.json"))).expect("a report");
    inspect(&reports[0]).expect("a drive")
}

#[test]
fn each_leads_to_its_row() {
    for expected in &EXPECTED {
        let found = read(expected.sample);
        let known = found.known.as_ref();
        let name = expected.sample;
        assert_eq!(
            known.map(|known| known.family.as_str()),
            expected.family,
            "{name}"
        );
        assert_eq!(known.and_then(|known| known.plp), expected.plp, "{name}");
        assert_eq!(found.protection.holds, expected.plp, "{name}");
        let rating = known.and_then(|known| known.rating.as_ref());
        let tb = rating.map(|rating| rating.bytes_written as f64 / 1e12);
        match (tb, expected.rated_tb) {
            (Some(tb), Some(rated)) => assert!((tb / rated - 1.0).abs() < 1e-5, "{name}: {tb}"),
            (tb, rated) => assert_eq!(tb, rated, "{name}"),
        }
    }
    let rows = EXPECTED.iter().filter(|expected| expected.family.is_some());
    assert!(rows.count() >= 12);
}

#[test]
fn wear_heat_and_writes_are_read() {
    for expected in &EXPECTED {
        let found = read(expected.sample);
        let name = expected.sample;
        let used = found.life.used_percent.expect(name).value;
        assert!(
            (used - expected.used).abs() < 0.005,
            "{name}: {used} % used"
        );
        assert_eq!(found.events.temperature_c, Some(expected.celsius), "{name}");
        let (count, unit) = expected.written;
        let written = found.life.host_bytes_written.expect(name).value;
        assert_eq!(written, count * unit, "{name}");
        assert!(found.identity.capacity.is_some(), "{name}: capacity");
    }
}

/// NAND writes of the S3500: 138,721,860 x 32 MiB for 62,594,010 x 32 MiB of the host.
#[test]
fn write_amplification_over_a_life() {
    let waf = read("intel-s3500-1600g").life.waf.expect("both counters");
    assert!((waf.value - 2.2162).abs() < 1e-4, "{}", waf.value);
}
