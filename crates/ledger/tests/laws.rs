//! Each law of the ledger finds a row that breaks it, and names the line, the value and the values
//! that are allowed.

use ssdlab_ledger::check::{self, CheckReport};
use ssdlab_ledger::read::COLUMNS;
use ssdlab_ledger::source::LedgerSourceClass;
use ssdlab_ledger::{Ledger, LedgerSource, laws};
use std::collections::BTreeMap;

/// Cells of a row that holds to every law, by column.
fn good() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("maker", "Acme"),
        ("model", "Rocket 1TB (AR1T)"),
        ("family", "acme-rocket"),
        ("capacity_gb", "1000"),
        ("interface", "nvme-3"),
        ("plp", "no"),
        ("state", "unknown"),
        ("through", "raw"),
        ("rw", "randwrite"),
        ("block_bytes", "4096"),
        ("queue_depth", "1"),
        ("jobs", "1"),
        ("sync", "none"),
        ("metric", "write_iops"),
        ("value", "20000"),
        ("unit", "1/s"),
        ("kind", "test"),
        ("use", "drive"),
        ("source", "mdcallag-mytools"),
    ])
}

type Changes = &'static [(&'static str, &'static str)];

fn line(changes: Changes) -> String {
    let mut cells = good();
    for (column, cell) in changes {
        assert!(COLUMNS.contains(column), "{column}");
        cells.insert(column, cell);
    }
    let cells = COLUMNS.map(|column| cells.get(column).copied().unwrap_or_default());
    cells.map(|cell| format!("\"{cell}\"")).join(",")
}

fn report(rows: &[Changes]) -> CheckReport {
    let mut text = COLUMNS.join(",") + "\n";
    for changes in rows {
        text += &line(changes);
        text.push('\n');
    }
    check::files(Ledger::open(), &[("acme.csv".to_owned(), text)])
}

#[test]
fn a_good_row_breaks_no_law() {
    let report = report(&[&[]]);
    assert!(report.breaches.is_empty(), "{}", report.text());
    assert_eq!(
        report.text(),
        "1 rows of 1 families in 1 files: every law holds\n"
    );
}

/// Rows, the line of the breach, and words of its message.
const PLANTED: &[(&str, &[Changes], usize, &str)] = &[
    ("a maker", &[&[("maker", "")]], 2, "`maker` cannot be ``"),
    ("a model", &[&[("model", "")]], 2, "`model` cannot be ``"),
    (
        "a family",
        &[&[("family", "Acme Rocket")]],
        2,
        "lower case, digits and hyphens",
    ),
    (
        "units by metric",
        &[&[("unit", "us")]],
        2,
        "`write_iops` is in 1/s",
    ),
    ("a known metric", &[&[("metric", "iops")]], 2, "write_iops"),
    (
        "a number",
        &[&[("value", "20k")]],
        2,
        "`value` cannot be `20k`: a number is allowed",
    ),
    (
        "a known state",
        &[&[("state", "new")]],
        2,
        "fresh, filled, used, steady",
    ),
    (
        "a known way",
        &[&[("through", "zfs")]],
        2,
        "raw, file-system, raid",
    ),
    (
        "a known sync",
        &[&[("sync", "dsync")]],
        2,
        "none, fsync, fdatasync",
    ),
    (
        "a known link",
        &[&[("interface", "PCIe")]],
        2,
        "sata-3g, sata-6g",
    ),
    (
        "a known kind",
        &[&[("kind", "blog")]],
        2,
        "sheet, test, review, field",
    ),
    ("a known use", &[&[("use", "yes")]], 2, "drive, context"),
    (
        "yes or no",
        &[&[("plp", "maybe")]],
        2,
        "yes, no are allowed",
    ),
    (
        "a range",
        &[&[("value", "90000000"), ("interface", "")]],
        2,
        "from 0.1 to 20000000",
    ),
    (
        "a spread around the value",
        &[&[("low", "21000"), ("high", "22000"), ("samples", "3")]],
        2,
        "a value from `low` 21000 to `high` 22000",
    ),
    (
        "samples of a spread",
        &[&[("low", "19000")]],
        2,
        "2 or more where `low` or `high`",
    ),
    (
        "no RAID as a drive",
        &[&[("through", "raid"), ("through_how", "md RAID1 of 2")]],
        2,
        "only `context` is allowed for a RAID",
    ),
    (
        "no unnamed drive as a drive",
        &[&[("model", "unnamed NVMe SSD 1TB")]],
        2,
        "only `context` is allowed for a RAID or a drive without a name",
    ),
    (
        "counts within the link",
        &[&[("interface", "sata-6g"), ("value", "200000")]],
        2,
        "sata-6g carries 600 MB/s, and this is 819 MB/s",
    ),
    (
        "rates within the link",
        &[&[
            ("metric", "write_rate"),
            ("unit", "MB/s"),
            ("value", "5000"),
        ]],
        2,
        "nvme-3 carries 3940 MB/s, and this is 5000 MB/s",
    ),
    ("a load of a rate", &[&[("rw", "")]], 2, "`rw` cannot be ``"),
    (
        "a size of counted commands",
        &[&[("block_bytes", "")]],
        2,
        "bytes of a command are needed",
    ),
    (
        "a share of a mix",
        &[&[("rw", "randrw")]],
        2,
        "a share of reads is given for `randrw`",
    ),
    (
        "no share without a mix",
        &[&[("read_pct", "70")]],
        2,
        "only for these",
    ),
    (
        "counters in service",
        &[&[("kind", "field")]],
        2,
        "`in-service` is the state",
    ),
    (
        "sheets by sheets",
        &[&[("kind", "sheet")]],
        2,
        "`sheet` is allowed with kind `sheet`",
    ),
    (
        "a known source",
        &[&[("source", "my-blog")]],
        2,
        "an id of ledger/sources.toml",
    ),
    (
        "no path",
        &[&[("note", concat!("run in /ho", "me/ann/fio"))]],
        2,
        "a path does not belong",
    ),
    (
        "no mail",
        &[&[("note", "by ann@example.org")]],
        2,
        "a mail address does not belong",
    ),
    (
        "no host address",
        &[&[("trap", "host 10.0.0.7")]],
        2,
        "an address of a host",
    ),
    (
        "no serial",
        &[&[("note", "Serial S4ABC")]],
        2,
        "a serial number does not belong",
    ),
    (
        "no wwn",
        &[&[("note", "0x5002538e40a1b2c3")]],
        2,
        "a number of a single drive",
    ),
    (
        "no row twice",
        &[&[], &[("value", "21000")]],
        3,
        "the same case stands at acme.csv:2",
    ),
    (
        "one set of facts",
        &[&[], &[("plp", "yes"), ("sync", "fsync")]],
        3,
        "acme.csv:2 says Some(false) of the same model",
    ),
    (
        "bytes are commands times size",
        &[
            &[],
            &[
                ("metric", "write_rate"),
                ("unit", "MB/s"),
                ("value", "78.1"),
            ],
        ],
        3,
        "20000 commands per second of 4096 bytes are 81.9 MB/s",
    ),
    (
        "percentiles in order",
        &[
            &[
                ("metric", "write_latency_p99"),
                ("unit", "us"),
                ("value", "900"),
            ],
            &[
                ("metric", "write_latency_p99.9"),
                ("unit", "us"),
                ("value", "90"),
            ],
        ],
        3,
        "`write_latency_p99` is 900 us",
    ),
    (
        "latency within what is outstanding",
        &[
            &[],
            &[
                ("metric", "write_latency_mean"),
                ("unit", "us"),
                ("value", "500"),
            ],
        ],
        3,
        "20000 per second with 1 outstanding take 50.0 us each at most",
    ),
];

#[test]
fn each_planted_violation_is_found_at_its_line() {
    for (law, rows, line, words) in PLANTED {
        let report = report(rows);
        let text = report.text();
        assert_eq!(report.breaches.len(), 1, "{law}: {text}");
        assert!(
            text.starts_with(&format!("acme.csv:{line}: ")),
            "{law}: {text}"
        );
        assert!(text.contains(words), "{law}: {text}");
    }
}

#[test]
fn a_file_of_other_columns_is_refused_by_its_first_line() {
    let files = [(
        "other.csv".to_owned(),
        "maker,name\nAcme,Rocket\n".to_owned(),
    )];
    let text = check::files(Ledger::open(), &files).text();
    assert!(
        text.contains("other.csv:1: `column 2` cannot be `name`: `model` is allowed"),
        "{text}"
    );
    assert!(text.contains("hint: "), "{text}");
}

#[test]
fn a_short_row_is_refused_with_its_line() {
    let text = COLUMNS.join(",") + "\nAcme,Rocket\n";
    let report = check::files(Ledger::open(), &[("short.csv".to_owned(), text)]);
    let text = report.text();
    assert!(
        text.contains("short.csv:2: `row` cannot be `2 cells`: a row has 35"),
        "{text}"
    );
}

#[test]
fn each_law_of_sources_finds_its_violation() {
    let good = LedgerSource {
        id: "acme".into(),
        address: "https://example.org".into(),
        version: String::new(),
        read: "2026-11-27".into(),
        licence: "MIT".into(),
        class: LedgerSourceClass::Test,
        attribution: String::new(),
        trap: String::new(),
    };
    let check = |source: LedgerSource| {
        let sources = BTreeMap::from([(source.id.clone(), source)]);
        let breaches = laws::check_sources(&sources, "sources.toml");
        breaches
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(check(good.clone()), "");
    let address = LedgerSource {
        address: "a friend".into(),
        ..good.clone()
    };
    assert!(check(address).contains("`acme.address` cannot be `a friend`"));
    for read in ["yesterday", "2026-13-01", "26-11-27", ""] {
        let read = LedgerSource {
            read: read.into(),
            ..good.clone()
        };
        assert!(check(read).contains("a date as 2026-11-26 is allowed"));
    }
    let licence = LedgerSource {
        licence: String::new(),
        ..good.clone()
    };
    assert!(check(licence).contains("a licence by its SPDX name"));
    let credit = LedgerSource {
        licence: "CC-BY-4.0".into(),
        ..good
    };
    assert!(check(credit.clone()).contains("CC-BY-4.0 asks for the author's name"));
    let credited = LedgerSource {
        attribution: "Ann, CC BY 4.0".into(),
        ..credit
    };
    assert_eq!(check(credited), "");
}
