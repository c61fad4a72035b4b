//! Does every field of a drive's configuration come from its file? A field that the catalogue
//! forgets has its default in every drive, and nobody sees it.

use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_ssd::config::{
    DriveConfig, HeatConfig, NandConfig, NandTiming, PowerState, Suspend, ThrottleStep, WearConfig,
};
use ssdlab_ssd::geometry::Shape;
use ssdlab_ssd::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Every struct with the values that its constructor or `Default` gives.
fn defaults() -> DriveConfig {
    let timing = NandTiming::new(Vec::new(), Vec::new(), Nanos::ZERO, 0);
    let mut nand = NandConfig::new(timing);
    nand.suspend = Some(Suspend::default());
    let mut config = DriveConfig::new("", Shape::default(), nand, 0);
    config.energy.states = vec![PowerState::new(Nanos::ZERO, 0)];
    config.wear = Some(WearConfig::default());
    let steps = [(); 3].map(|()| ThrottleStep::new(0, 0));
    config.heat = Some(HeatConfig::new(0, 0, steps));
    config
}

/// The values of `Struct.field`, from the Debug text: structs of one kind share a field's values.
fn fields(config: &DriveConfig) -> BTreeMap<String, String> {
    let text = format!("{config:#?}");
    let mut fields = BTreeMap::<String, String>::new();
    let (mut structs, mut field) = (Vec::new(), String::new());
    for line in text.lines().map(str::trim) {
        let value = match line.split_once(": ") {
            Some((name, value)) => {
                field = format!("{}.{name}", structs.last().unwrap_or(&""));
                value
            }
            None => line,
        };
        if let Some(name) = value.strip_suffix(" {") {
            structs.push(name);
        } else if value.starts_with('}') {
            structs.pop();
        } else if value.ends_with(',') && !value.starts_with([')', ']']) {
            fields.entry(field.clone()).or_default().push_str(value);
        }
    }
    fields
}

/// Keys that every drive of the catalogue leaves at the default, changed, and what that needs.
const SELDOM: [(&str, &[(&str, &str)]); 7] = [
    ("capacity", &[("user", "\"480 GiB\"")]),
    ("nand", &[("cache_read", "true"), ("cache_program", "true")]),
    (
        "ftl",
        &[
            ("victim", "\"windowed:7\""),
            ("free_superblocks_low", "9"),
            ("pace", "\"whole\""),
            ("idle_free_superblocks", "9"),
            ("shared_frontier", "true"),
            ("streams", "2"),
            ("separation", "\"hint\""),
            ("slc_full", "\"fold\""),
            ("slc_commit_superblocks", "2"),
            ("checkpoint_pages", "9999"),
            ("recovery", "\"journal\""),
            ("refresh_reads", "99"),
            ("trim_queued", "false"),
            ("trim_time", "\"1 us\""),
        ],
    ),
    (
        "buffer",
        &[
            ("joined_flushes", "true"),
            ("write_cache", "false"),
            ("flush_time", "\"1 us\""),
            ("fua_time", "\"1 us\""),
            ("fua_at_once", "3"),
        ],
    ),
    (
        "host",
        &[
            ("write_limit", "\"1484.8 MB/s\""),
            ("write_latency", "\"35 us\""),
        ],
    ),
    ("heat", &[("hysteresis", "\"4 K\"")]),
    ("wear", &[("end_of_life", "\"failed\"")]),
];

/// A drive that changes them all.
fn seldom() -> CatalogueDrive {
    let base = "tlc-client-nvme-1tb-no-fan";
    let mut text = format!("name = \"seldom\"\ntitle = \"seldom\"\nbase = \"{base}\"\n");
    for (table, keys) in SELDOM {
        text += &format!("[{table}]\n");
        for (key, value) in keys {
            let source = "kind = \"assumed\", source = \"a test\"";
            text += &format!("{key} = {{ value = {value}, {source} }}\n");
        }
    }
    catalogue::parse(&text, "seldom.toml").unwrap()
}

/// With the tables of its wear.
fn config(drive: &CatalogueDrive) -> DriveConfig {
    let mut config = drive.config.clone();
    let blocks = config.shape.blocks_per_plane;
    config.wear = Some(drive.media().unwrap().tables(blocks, 1).unwrap());
    config
}

#[test]
fn every_field_of_a_configuration_is_assigned() {
    let defaults = fields(&defaults());
    let mut unassigned: BTreeSet<&str> = defaults.keys().map(String::as_str).collect();
    let names = catalogue::names().unwrap();
    let catalogue = names.iter().map(|name| catalogue::drive(name).unwrap());
    for drive in catalogue.chain([seldom()]) {
        for (field, value) in &fields(&config(&drive)) {
            if defaults.get(field) != Some(value) {
                unassigned.remove(field.as_str());
            }
        }
    }
    // No file gives a seed of the translation layer: it is always 0.
    let expected = BTreeSet::from(["FtlConfig.seed"]);
    assert_eq!(
        unassigned, expected,
        "for each, a key of drive files or a value in `resolve`"
    );
}

/// The text of a configuration leaves these out while they are zero, so that the test above cannot
/// miss them.
#[test]
fn what_is_left_out_while_it_is_zero_comes_from_the_file() {
    let config = seldom().config;
    assert_eq!(config.ftl.slc.commit_superblocks, 2);
    assert_eq!(config.buffer.fua_at_once, 3);
    assert_eq!(config.host.write_bytes_per_second, 1_484_800_000);
    assert_eq!(config.host.write_latency, Nanos::from_micros(35));
}
