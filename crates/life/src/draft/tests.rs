//! Do facts become a drive that passes the check and has the sheet's figures?

use super::{DatasheetFacts, draft};
use ssdlab_drives::catalogue;

fn facts(values: &[(&str, &str)]) -> DatasheetFacts {
    let mut facts = DatasheetFacts::default();
    for (key, value) in values {
        facts.set(key, value).unwrap();
    }
    facts
}

const LOG: [(&str, &str); 13] = [
    ("name", "a-drive"),
    ("source", "its \"sheet\""),
    ("capacity", "960GB"),
    ("interface", "pcie3"),
    ("protected", "yes"),
    ("random-read", "400k"),
    ("random-write", "40k"),
    ("depth", "128"),
    ("sequential-read", "3000MB/s"),
    ("sequential-write", "1050MB/s"),
    ("write-latency", "15us"),
    ("dwpd", "1.3"),
    ("years", "3"),
];

#[test]
fn the_facts_of_a_sheet_become_a_drive() {
    let text = draft(&facts(&LOG)).unwrap();
    let drive = catalogue::parse(&text, "a-drive.toml").unwrap();
    assert_eq!(drive.config.user_bytes, 960_197_124_096, "IDEMA LBA1-03");
    assert_eq!(drive.dwpd().map(|n| (n * 100.0).round()), Some(130.0));
    assert!(drive.config.buffer.protected);
    let op = drive.config.nominal_op();
    assert!((0.13..0.15).contains(&op), "1024 GiB for 960 GB: {op}");
    let unknown = drive.parameters().iter().any(|p| p.source.is_empty());
    assert!(!unknown, "every value has a source");
}

/// A rate that was an input of the draft must not count as a prediction.
#[test]
fn figures_that_a_value_follows_from_are_marked() {
    let drive = catalogue::parse(&draft(&facts(&LOG)).unwrap(), "a-drive.toml").unwrap();
    let documented = crate::validate::documented(&drive).unwrap();
    for figure in documented {
        let key = figure.figure.key();
        assert!(figure.fitted, "{key} is given and used");
    }
}

#[test]
fn facts_that_contradict_each_other_are_refused() {
    let mut both = facts(&LOG);
    both.set("rated-writes", "100TB").unwrap();
    let error = draft(&both).unwrap_err().to_string();
    assert!(error.contains("dwpd"), "{error}");
    let mut small = facts(&LOG);
    small.set("raw", "512GiB").unwrap();
    assert!(draft(&small).is_err(), "less flash than capacity");
    assert!(DatasheetFacts::default().set("random-read", "-3").is_err());
    assert!(
        DatasheetFacts::default()
            .set("sequential-read", "3000")
            .is_err()
    );
    assert!(DatasheetFacts::default().set("colour", "red").is_err());
}

/// People write `seq-read` and `random_write`; the answer was "there is no fact", without a hint.
#[test]
fn a_fact_that_there_is_not_names_the_one_that_is_meant() {
    for (given, meant) in [
        ("seq-read", "sequential-read"),
        ("random_write", "random-write"),
        ("cell", "cells"),
    ] {
        let error = DatasheetFacts::default().set(given, "1").unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("did you mean {meant}?")), "{text}");
    }
    let error = DatasheetFacts::default().set("xyzzy", "1").unwrap_err();
    assert!(!error.to_string().contains("did you mean"), "{error}");
}

/// `slc=226GB` of a sheet that means an empty drive: the refusal spoke of superblocks.
#[test]
fn a_cache_that_leaves_no_room_is_named_with_the_fact_that_is_meant() {
    let mut given = facts(&LOG[..11]);
    given.set("slc", "100GB").unwrap();
    let error = draft(&given).unwrap_err();
    assert!(
        error.to_string().starts_with("slc: a cache of 100 GB"),
        "{error}"
    );
    assert!(error.hint().contains("slc-empty"), "{}", error.hint());
}

/// A fact that was typed is used: drive writes per day without a warranty count over five years,
/// and the file says that these are assumed.
#[test]
fn drive_writes_per_day_decide_without_a_warranty() {
    let mut given = facts(&LOG[..11]);
    given.set("dwpd", "0.4").unwrap();
    let text = draft(&given).unwrap();
    let drive = catalogue::parse(&text, "a-drive.toml").unwrap();
    assert_eq!(drive.dwpd().map(|n| (n * 100.0).round()), Some(40.0));
    let years = text.lines().find(|line| line.starts_with("warranty_years"));
    assert!(years.unwrap().contains("assumed"), "{text}");
}

#[test]
fn counts_are_read_as_sheets_print_them() {
    for (text, count) in [
        ("540000", 540_000),
        ("540,000", 540_000),
        ("540k", 540_000),
        ("1M", 1_000_000),
        ("1.4M", 1_400_000),
        ("2.25m", 2_250_000),
        ("97.5K", 97_500),
    ] {
        let mut given = DatasheetFacts::default();
        given.set("random-read", text).unwrap();
        assert_eq!(given.random_read, Some(count), "{text}");
    }
    for text in ["1.4", "0", "0k", "9000M", "-1M", "M", "nan", "1e9M"] {
        assert!(
            DatasheetFacts::default().set("random-read", text).is_err(),
            "{text}"
        );
    }
}

/// Each class of drive that is used as a log or a cache passes the check.
#[test]
fn every_kind_of_drive_can_be_drafted() {
    for interface in ["sata", "sas", "pcie3", "pcie4", "pcie5"] {
        for (protected, map, cells) in [
            ("yes", "dram", "tlc"),
            ("yes", "dram", "slc"),
            ("no", "dram", "mlc"),
            ("no", "host", "tlc"),
            ("no", "dram", "qlc"),
        ] {
            for capacity in ["118GB", "480GB", "1000GB", "3200GB", "15360GB"] {
                let mut drive_facts = facts(&[
                    ("name", "one"),
                    ("source", "a test"),
                    ("capacity", capacity),
                    ("interface", interface),
                    ("protected", protected),
                    ("map", map),
                    ("cells", cells),
                ]);
                if protected == "no" {
                    drive_facts.set("slc-empty", "12GB").unwrap();
                    drive_facts.set("sequential-write", "500MB/s").unwrap();
                }
                if let Err(error) = draft(&drive_facts) {
                    panic!("{interface} {protected} {map} {cells} {capacity}: {error}");
                }
            }
        }
    }
}

fn client(values: &[(&str, &str)]) -> DatasheetFacts {
    let mut given = facts(&[
        ("name", "a-client"),
        ("source", "its sheet"),
        ("capacity", "2000GB"),
        ("interface", "sata"),
        ("protected", "no"),
    ]);
    for (key, value) in values {
        given.set(key, value).unwrap();
    }
    given
}

/// A large SATA drive with a cache had SLC programs of milliseconds, 13 durable writes a second:
/// its rate is the link's, whatever the number of dies.
#[test]
fn more_dies_make_no_program_longer() {
    let given = client(&[("slc-empty", "40GB"), ("sequential-write", "500MB/s")]);
    let drive = catalogue::parse(&draft(&given).unwrap(), "a-client.toml").unwrap();
    let nand = &drive.config.nand;
    assert!(nand.timing.slc_program.0 < 300_000, "{:?}", nand.timing);
    let unit = 4.0 * 16384.0;
    let rate = f64::from(nand.programs_at_once) * unit * 1e9 / nand.timing.slc_program.0 as f64;
    assert!((rate / 500e6 - 1.0).abs() < 0.01, "{rate}");
}

/// A QLC drive wrote end to end at the rate of its link: nobody had said that it has a cache.
#[test]
fn a_draft_without_a_stated_cache_has_one_as_measured_drives_do() {
    let given = client(&[("interface", "pcie4"), ("cells", "qlc")]);
    let text = draft(&given).unwrap();
    let drive = catalogue::parse(&text, "a-client.toml").unwrap();
    let (config, timing) = (&drive.config, &drive.config.nand.timing);
    assert!(config.ftl.slc.dynamic_superblocks > 0);
    assert!(timing.program[0] > timing.slc_program, "{timing:?}");
    // Zero: all dies.
    let at_once = match config.nand.programs_at_once {
        0 => f64::from(config.shape.channel_count * config.shape.dies_per_channel),
        programs => f64::from(programs),
    };
    let past = at_once * 4.0 * 16384.0 * 1e9 / timing.program[0].0 as f64;
    assert!((50e6..1e9).contains(&past), "past the cache: {past}");
    let cache = text
        .lines()
        .find(|l| l.starts_with("slc_dynamic_superblocks"));
    let cache = cache.unwrap();
    assert!(
        cache.contains("assumed") && cache.contains("estimated from the ledger"),
        "{cache}"
    );
    let is_documented = text
        .lines()
        .any(|line| line.starts_with("sequential_write ="));
    assert!(!is_documented, "an estimate is no figure of the sheet");
}

/// A commit takes a program in SLC mode and the time of the controller: the T500 and the smaller
/// MP600 complete one in 0.32 to 0.48 ms, drives with SATA in 0.2 (some acknowledge what is in no
/// cell) to 1.3 ms.
#[test]
fn drafts_without_a_protected_buffer_commit_as_measured_drives_do() {
    let drive = |values: &[(&str, &str)]| {
        let text = draft(&client(values)).unwrap();
        catalogue::parse(&text, "a-client.toml").unwrap().config
    };
    for (interface, within) in [("sata", 150_000..1_300_000), ("pcie4", 320_000..700_000)] {
        let config = drive(&[("interface", interface)]);
        let commit = config.nand.timing.slc_program.0 + config.buffer.flush_time.0;
        assert!(within.contains(&commit), "{interface}: {commit}");
        assert_eq!(config.ftl.slc.commit_superblocks, 2, "{interface}");
        let sends_fua = interface != "sata";
        let buffer = &config.buffer;
        let (fua, flush) = (buffer.fua_time.0, buffer.flush_time.0);
        assert_eq!(fua > flush, sends_fua, "{interface}: {buffer:?}");
    }
    let mlc = drive(&[("cells", "mlc")]);
    assert_eq!(mlc.ftl.slc.commit_superblocks, 0, "cells are fast enough");
}

/// A protected buffer gets no flush over NVMe, and takes FUA in some microseconds: of drives of the
/// ledger 1 to 38.
#[test]
fn drafts_with_a_protected_buffer_wait_for_no_cell() {
    let protected = catalogue::parse(&draft(&facts(&LOG)).unwrap(), "a-drive.toml").unwrap();
    let config = &protected.config;
    assert_eq!(config.buffer.flush_time.0, 0);
    assert!(
        (1_000..38_000).contains(&config.buffer.fua_time.0),
        "{config:?}"
    );
    assert_eq!(config.ftl.slc.commit_superblocks, 0);
}

/// A protected drive of which no sheet gives the rate of writes in order wrote at that of its link:
/// durable writes of ten writers were predicted three times too high. A drive's own random writes,
/// which other data moves with, set the least.
#[test]
fn a_protected_draft_writes_in_order_as_other_sheets_say_and_no_slower_than_its_own() {
    let rate = |random: &str| {
        let given = facts(&[
            ("name", "a-drive"),
            ("source", "its sheet"),
            ("capacity", "960GB"),
            ("interface", "pcie4"),
            ("protected", "yes"),
            ("random-write", random),
        ]);
        let text = draft(&given).unwrap();
        let config = catalogue::parse(&text, "a-drive.toml").unwrap().config;
        let (shape, timing) = (&config.shape, &config.nand.timing);
        let dies = f64::from(shape.channel_count * shape.dies_per_channel);
        dies * 4.0 * 16384.0 * 1e9 / timing.program[0].0 as f64
    };
    let usual = rate("30k");
    assert!((1e9..3.5e9).contains(&usual), "{usual}");
    assert!(
        rate("300k") > 300e3 * 4096.0 * 2.0,
        "the sheet's own figure"
    );
}
