//! What a draft is made from: the facts of a drive's class, and its maker's figures.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue::{CatalogueDrive, Provenance, SourcedValue};
use ssdlab_ledger::row::{LedgerDrive, LinkKind, LoadKind};
use ssdlab_ledger::{LedgerRow, Metric};
use ssdlab_life::draft::DatasheetFacts;

/// Span that sheets of client drives mean by random rates, where they say nothing.
const CLIENT_SPAN: &str = "8GB[assumed: sheets of client drives mean a nearly empty drive]";
/// Year from which a drive of an unsaid generation is taken as PCIe 4.0.
const PCIE4_SINCE: u16 = 2020;

/// Pairs of key and value as `ssdlab drives new` takes them.
pub type FactList = Vec<(&'static str, String)>;

/// The interface as drafts name it.
pub fn interface(drive: &LedgerDrive) -> &'static str {
    let is_new = drive.year.is_some_and(|year| year >= PCIE4_SINCE);
    match drive.interface {
        Some(LinkKind::Sata3 | LinkKind::Sata6) => "sata",
        Some(LinkKind::Sas6 | LinkKind::Sas12 | LinkKind::Sas24) => "sas",
        Some(LinkKind::Nvme5) => "pcie5",
        Some(LinkKind::Nvme4 | LinkKind::Pcie3X8) => "pcie4",
        Some(LinkKind::Nvme3 | LinkKind::Nvme3X2 | LinkKind::Pcie2X8) => "pcie3",
        _ if is_new => "pcie4",
        _ => "pcie3",
    }
}

/// What the class of a drive says: nothing that was measured.
pub fn class(drive: &LedgerDrive, capacity_gb: f64, is_protected: bool) -> FactList {
    let protected = if is_protected { "yes" } else { "no" };
    let mut facts: FactList = vec![
        ("name", drive.family.clone()),
        ("source", "the ledger's facts of its class".to_owned()),
        ("capacity", format!("{capacity_gb:.0}GB")),
        ("interface", interface(drive).to_owned()),
        ("protected", protected.to_owned()),
    ];
    let cells = match drive.bits_per_cell {
        Some(1) => Some("slc"),
        Some(2) => Some("mlc"),
        Some(4) => Some("qlc"),
        _ => None,
    };
    facts.extend(cells.map(|cells| ("cells", cells.to_owned())));
    if drive.dram == Some(false) && drive.interface.is_some_and(LinkKind::is_nvme) {
        facts.push(("map", "host".to_owned()));
    }
    if let Some(gib) = drive.raw_gib {
        facts.push(("raw", format!("{gib:.0}GiB")));
    }
    facts
}

/// The maker's figures among `rows`, which are of one family and capacity; the median where
/// several copies of a sheet disagree.
pub fn sheet(rows: &[&LedgerRow], is_protected: bool) -> FactList {
    let median = |metric: Metric, kinds: &[LoadKind], block: Option<u64>| {
        let fits = |row: &&&LedgerRow| {
            row.figure.metric == metric
                && (kinds.is_empty() || row.load.rw.is_some_and(|rw| kinds.contains(&rw)))
                && (block.is_none() || row.load.block_bytes == block)
        };
        let values = rows
            .iter()
            .filter(fits)
            .map(|row| row.figure.value)
            .collect();
        median(values).filter(|value| *value > 0.0)
    };
    let small = Some(4096);
    let (reads, writes) = (&[LoadKind::RandRead][..], &[LoadKind::RandWrite][..]);
    let mut facts = FactList::new();
    let mut add = |key, value: Option<f64>, text: fn(f64) -> String| {
        facts.extend(value.map(|value| (key, text(value))));
    };
    let count = |value: f64| format!("{value:.0}");
    let rate = |value: f64| format!("{value:.0}MB/s");
    let time = |value: f64| format!("{:.0}ns", value * 1e3);
    let random_write = median(Metric::WriteIops, writes, small);
    add("random-read", median(Metric::ReadIops, reads, small), count);
    add("random-write", random_write, count);
    add(
        "mixed",
        median(Metric::MixedIops, &[LoadKind::RandRw], small),
        count,
    );
    add("sequential-read", median(Metric::ReadRate, &[], None), rate);
    add(
        "sequential-write",
        median(Metric::WriteRate, &[], None),
        rate,
    );
    let read = median(Metric::ReadLatencyTypical, reads, small);
    add("random-read-latency", read, time);
    add(
        "write-latency",
        median(Metric::WriteLatencyTypical, &[], small),
        time,
    );
    let rated = median(Metric::EnduranceTbw, &[], None);
    add("rated-writes", rated, |tb| format!("{tb:.0}TB"));
    if random_write.is_some() && !is_protected {
        facts.push(("span", CLIENT_SPAN.to_owned()));
    }
    facts
}

/// The median; `None` of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => None,
        0 => Some((values[middle - 1] + values[middle]) / 2.0),
        _ => Some(values[middle]),
    }
}

/// The figures that the sheet of a drive of the catalogue gives, without what was measured of it.
pub fn of_catalogue(drive: &CatalogueDrive) -> FactList {
    let documented = &drive.file.documented;
    let text = |value: &Option<SourcedValue<String>>| from_sheet(value, String::clone);
    let number = |value: &Option<SourcedValue<u32>>| from_sheet(value, u32::to_string);
    let listed = [
        ("raw", text(&documented.raw)),
        ("random-read", number(&documented.random_read_iops)),
        ("random-write", number(&documented.random_write_iops)),
        ("mixed", number(&documented.mixed_iops)),
        ("depth", number(&documented.random_depth)),
        ("span", text(&documented.random_span)),
        ("sequential-read", text(&documented.sequential_read)),
        ("sequential-write", text(&documented.sequential_write)),
        ("read-latency", text(&documented.sequential_read_latency)),
        ("write-latency", text(&documented.sequential_write_latency)),
        ("rated-writes", text(&documented.rated_writes)),
    ];
    let fact = |(key, value): (&'static str, Option<String>)| Some((key, value?));
    listed.into_iter().filter_map(fact).collect()
}

fn from_sheet<T>(value: &Option<SourcedValue<T>>, text: impl Fn(&T) -> String) -> Option<String> {
    let value = value.as_ref()?;
    (value.kind == Provenance::Datasheet).then(|| text(&value.value))
}

/// Facts of a class and of a sheet as drafts take them.
///
/// # Errors
/// When a value is none of its fact.
pub fn facts(lists: &[&FactList]) -> Result<DatasheetFacts, LabError> {
    let mut facts = DatasheetFacts::default();
    for (key, value) in lists.iter().flat_map(|list| list.iter()) {
        facts.set(key, value)?;
    }
    Ok(facts)
}
