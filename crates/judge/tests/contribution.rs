//! Results of other tools and of ours as rows of the ledger: the right rows, and nothing personal,
//! whichever field it stood in.

use serde_json::{Value, json};
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_judge::contribution::{Contribution, ContributionSettings, contribution};
use ssdlab_judge::qualify::evidence::{Evidence, WriteProbe};
use ssdlab_ledger::metric::Metric;
use ssdlab_ledger::row::{DriveState, LedgerRow, LoadKind, SyncMethod, Through};
use ssdlab_ledger::{Ledger, check, write};
use std::fs;
use std::path::{Path, PathBuf};

const DRIVE: &str = "Samsung SSD 990 PRO 2TB";

fn settings(drive: Option<&str>) -> ContributionSettings {
    ContributionSettings {
        drive: drive.map(str::to_owned),
        state: DriveState::Unknown,
        source: "contribution".into(),
    }
}

fn added(path: &Path, drive: Option<&str>) -> Contribution {
    let added = contribution(path, &settings(drive)).expect("rows");
    let files = [("rows".to_owned(), write::text(&added.rows))];
    let report = check::files(Ledger::open(), &files);
    assert!(report.breaches.is_empty(), "{}", report.text());
    added
}

fn value(contribution: &Contribution, metric: Metric) -> Option<f64> {
    let row = contribution
        .rows
        .iter()
        .find(|row| row.figure.metric == metric)?;
    Some(row.figure.value)
}

/// Inputs of every format: file name and text. Personal fields have something in them.
fn inputs() -> Vec<(&'static str, String)> {
    let fio3 = json!({
        "fio version": "fio-3.28", "timestamp": 1_600_000_000, "time": "Mon",
        "global options": {"filename": "/dev/nvme0n1", "direct": "1", "ioengine": "libaio"},
        "jobs": [{
            "jobname": "my job", "groupid": 0, "error": 0, "hostname": "box",
            "job options": {"name": "my job", "rw": "randwrite", "bs": "16k", "iodepth": "1",
                "numjobs": "1", "fdatasync": "1", "description": "a note"},
            "read": {"iops": 0.0},
            "write": {"iops": 1336.5, "runtime": 60_000,
                "lat_ns": {"mean": 20_000.0},
                "clat_ns": {"mean": 19_000.0, "max": 900_000,
                    "percentile": {"99.000000": 30_000, "99.900000": 50_000}}},
            "sync": {"lat_ns": {"mean": 700_000.0, "max": 9_000_000,
                "percentile": {"99.000000": 1_600_000}}}
        }],
        "disk_util": [{"name": "nvme0n1"}]
    });
    let fio2 = json!({
        "fio version": "fio-2.16",
        "global options": {"directory": "bench", "direct": "1", "ioengine": "libaio"},
        "jobs": [{
            "jobname": "r", "groupid": 0, "error": 0,
            "job options": {"rw": "randread", "bs": "4k", "iodepth": "32", "numjobs": "4"},
            "read": {"iops": 250_000.0, "runtime": 60_000, "lat": {"mean": 500.0},
                "clat": {"mean": 499.0, "percentile": {"99.000000": 900}}},
            "write": {"iops": 0.0}
        }]
    });
    let mut list = vec![
        ("fio3.json", format!("fio: a warning\n{fio3}\n")),
        ("fio2.json", fio2.to_string()),
    ];
    list.extend(fio_inputs());
    list.extend(drive_inputs());
    list.extend(text_inputs());
    list
}

/// A job of fio as it stands in the document, with a thousand commands a second.
fn job(name: &str, group: u32, options: &Value) -> Value {
    json!({"jobname": name, "groupid": group, "error": 0, "job options": options,
        "read": {"iops": 1000.0, "runtime": 90_000},
        "write": {"iops": 1000.0, "runtime": 90_000,
            "clat_ns": {"max": 900, "bins": {"100": 3, "200": 4}}}})
}

/// Shapes of fio's documents that people post: several jobs, several runs, several hosts.
fn fio_inputs() -> Vec<(&'static str, String)> {
    let several = json!({"fio version": "fio-3.36",
        "global options": {"filename": "/dev/nvme0n1", "direct": "1", "ioengine": "libaio",
            "bs": "4k", "iodepth": "32"},
        "jobs": [job("a", 0, &json!({"rw": "randread"})), job("b", 1, &json!({"rw": "write"}))]});
    let runs = |depth: &str| {
        json!({"fio version": "fio-3.1", "jobs": [job("q", 0, &json!({
        "filename": "/dev/sdb", "direct": "1", "ioengine": "io_uring", "rw": "randwrite",
        "bs": "4k", "iodepth": depth}))]})
    };
    let two = format!(
        "q: (g=0): ${{HOST}} {{\nfio-3.1\n{}\nDisk stats\n{}\n",
        runs("1"),
        runs("8")
    );
    vec![("several.json", several.to_string()), ("runs.txt", two)]
}

/// What drives and pulls report, as JSON.
fn drive_inputs() -> Vec<(&'static str, String)> {
    let smart = json!({
        "smartctl": {"version": [7, 2], "argv": ["smartctl"], "exit_status": 0},
        "device": {"name": "/dev/nvme0", "info_name": "/dev/nvme0", "type": "nvme",
            "protocol": "NVMe"},
        "model_name": "SAMSUNG MZQLB960HAJR-00007", "serial_number": "S437NF0M",
        "firmware_version": "EDA5202Q",
        "nvme_total_capacity": 960_197_124_096_u64,
        "smart_status": {"passed": true},
        "local_time": {"time_t": 1_700_000_000, "asctime": "now"},
        "nvme_smart_health_information_log": {
            "critical_warning": 0, "temperature": 30, "available_spare": 100,
            "available_spare_threshold": 10, "percentage_used": 8,
            "data_units_read": 1_000_000, "data_units_written": 200_000_000,
            "power_cycles": 10, "power_on_hours": 20_000, "unsafe_shutdowns": 3,
            "media_errors": 0, "num_err_log_entries": 0}
    });
    let pulls = json!({
        "path": "/dev/sdb", "serial": "S4", "model": "SAMSUNG MZQLB960HAJR-00007",
        "is_file": false, "bytes": 1_000_000, "pulls": 12, "counted": 10, "unnoticed": 0,
        "breaking": 2, "lost": 5, "first": null, "unpromised": 3, "unpromised_lost": 1,
        "losing_unpromised": 1, "counts_cycles": true, "protected": "a reason",
        "standing": "broken", "why": "a sentence"
    });
    vec![
        ("smart.json", smart.to_string()),
        ("pulls.json", pulls.to_string()),
    ]
}

/// Texts of tools.
fn text_inputs() -> Vec<(&'static str, String)> {
    let pg = "5 seconds per test\nO_DIRECT supported on this platform for open_datasync.\n\n\
              Compare file sync methods using one 8kB write:\n\
              (in wal_sync_method preference order, except fdatasync is Linux's default)\n\
              \x20       open_datasync                       249.578 ops/sec    4007 usecs/op\n\
              \x20       fdatasync                           608.573 ops/sec    1643 usecs/op\n\
              \x20       fsync                               177.431 ops/sec    5636 usecs/op\n\
              \x20       fsync_writethrough                              n/a\n\
              \x20       open_sync                           185.095 ops/sec    5403 usecs/op\n\n\
              Compare file sync methods using two 8kB writes:\n\
              \x20       fdatasync                           500.000 ops/sec    2000 usecs/op\n";
    let diskinfo = "/dev/ada0\n\t512         \t# sectorsize\n\
              \t200049647616\t# mediasize in bytes (186G)\n\
              \tINTEL SSDSC2BA200G3\t# Disk descr.\n\tBTTV1234\t# Disk ident.\n\n\
              Synchronous random writes:\n\
              \t 0.5 kbytes:    138.3 usec/IO =      3.5 Mbytes/s\n\
              \t   4 kbytes:    157.8 usec/IO =     24.8 Mbytes/s\n";
    let text = "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\n\n\
              === START OF INFORMATION SECTION ===\n\
              Model Number:                       SAMSUNG MZQLB960HAJR-00007\n\
              Serial Number:                      S437NF0M\n\
              Firmware Version:                   EDA5202Q\n\
              Total NVM Capacity:                 960,197,124,096 [960 GB]\n\
              Local Time is:                      Wed Oct 1 2025 MSK\n\n\
              === START OF SMART DATA SECTION ===\n\
              SMART overall-health self-assessment test result: PASSED\n\n\
              SMART/Health Information (NVMe Log 0x02)\n\
              Critical Warning:                   0x00\n\
              Percentage Used:                    8%\n\
              Data Units Written:                 200,000,000 [102 TB]\n\
              Power On Hours:                     20,000\n";
    vec![
        ("pg.txt", pg.to_owned()),
        ("diskinfo.txt", diskinfo.to_owned()),
        ("smart.txt", text.to_owned()),
    ]
}

fn written(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn each_format_gives_the_rows_that_it_holds() {
    let dir = tempfile::tempdir().expect("a directory");
    let of = |name: &str, drive| {
        let inputs = inputs();
        let (_, text) = inputs
            .iter()
            .find(|(file, _)| *file == name)
            .expect("an input");
        added(&written(dir.path(), name, text), drive)
    };
    let fio3 = of("fio3.json", Some(DRIVE));
    assert_eq!(value(&fio3, Metric::WriteIops), Some(1336.5));
    assert_eq!(value(&fio3, Metric::WriteLatencyP99), Some(30.0));
    assert_eq!(value(&fio3, Metric::SyncLatencyMean), Some(700.0));
    let row = &fio3.rows[0];
    assert_eq!(row.path.through, Through::Raw);
    assert_eq!(row.load.rw, Some(LoadKind::RandWrite));
    assert_eq!(row.load.block_bytes, Some(16384));
    assert_eq!(row.load.sync, Some(SyncMethod::Fdatasync));
    assert_eq!(row.drive.family, "samsung-990-pro");

    let fio2 = of("fio2.json", Some(DRIVE));
    assert_eq!(value(&fio2, Metric::ReadIops), Some(250_000.0));
    // Version 2 counts microseconds.
    assert_eq!(value(&fio2, Metric::ReadLatencyP99), Some(900.0));
    assert_eq!(fio2.rows[0].load.outstanding(), Some(128));
    assert_eq!(fio2.rows[0].path.through, Through::FileSystem);

    let pg = of("pg.txt", Some(DRIVE));
    let rates: Vec<f64> = pg.rows.iter().map(|row| row.figure.value).collect();
    assert_eq!(rates, [249.578, 608.573, 177.431, 185.095]);

    let diskinfo = of("diskinfo.txt", None);
    assert_eq!(diskinfo.rows[0].drive.family, "intel-s3700");
    assert_eq!(diskinfo.rows[1].figure.value, 157.8);
    assert_eq!(diskinfo.rows[1].load.block_bytes, Some(4096));

    for name in ["smart.json", "smart.txt"] {
        let smart = of(name, None);
        assert_eq!(value(&smart, Metric::HostTbWritten), Some(102.4), "{name}");
        assert_eq!(value(&smart, Metric::HostTbPerPct), Some(12.8), "{name}");
        assert_eq!(smart.rows[0].drive.family, "samsung-pm983", "{name}");
        assert_eq!(smart.rows[0].drive.firmware, "EDA5202Q", "{name}");
    }
    let pulls = of("pulls.json", None);
    assert_eq!(value(&pulls, Metric::PowerCuts), Some(10.0));
    assert_eq!(value(&pulls, Metric::PowerCutsWithLoss), Some(2.0));
}

#[test]
fn a_source_without_a_known_drive_is_refused_with_the_option_that_names_it() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in inputs() {
        let text = text
            .replace("SAMSUNG MZQLB960HAJR-00007", "Vorrath Rocket")
            .replace("INTEL SSDSC2BA200G3", "Vorrath Rocket");
        let path = written(dir.path(), name, &text);
        let error = contribution(&path, &settings(None)).expect_err(name);
        assert!(
            error.hint().contains("--drive \"MAKER MODEL"),
            "{name}: {error}"
        );
        assert!(!error.to_string().contains("Vorrath Rocket"), "{error}");
    }
}

/// Two hundred made-up names of people and hosts.
fn names() -> Vec<String> {
    let first = [
        "Anselm", "Brunhild", "Corvin", "Dagny", "Eskil", "Fjorn", "Gudrun", "Hjalm",
    ];
    let last = ["Vorrath", "Quellnar", "Tessmark", "Ubrekken", "Zandvik"];
    let shapes = 5;
    let all = (0..200).map(|n| {
        let (first, last) = (first[n % 8], last[n / 8 % 5]);
        match n / 40 % shapes {
            0 => format!("{first}{last}"),
            1 => format!("{}-{}", last.to_lowercase(), first.to_lowercase()),
            2 => format!("{}.{n}", last.to_lowercase()),
            3 => format!("{first}@{last}.example"),
            _ => format!("/{}/{}/{last}{n}", "home", first.to_lowercase()),
        }
    });
    all.collect()
}

/// Pointers to every value of a document that is not a list or an object.
fn leaves(value: &Value, at: &str, list: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            leaves(value, &format!("{at}/{}", key.replace('/', "~1")), list)
        }),
        Value::Array(values) => values
            .iter()
            .enumerate()
            .for_each(|(index, value)| leaves(value, &format!("{at}/{index}"), list)),
        _ => list.push(at.to_owned()),
    }
}

/// The input with a name in one field after another.
fn planted(text: &str, names: &mut dyn Iterator<Item = String>) -> Vec<(String, String)> {
    let document = text
        .find('{')
        .map(|start| serde_json::from_str::<Value>(&text[start..]));
    let mut variants = Vec::new();
    if let Some(Ok(document)) = document {
        let mut fields = Vec::new();
        leaves(&document, "", &mut fields);
        for field in fields {
            let name = names.next().expect("names without end");
            let mut variant = document.clone();
            *variant.pointer_mut(&field).expect("a field") = json!(name);
            variants.push((name, variant.to_string()));
        }
        return variants;
    }
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    for index in (0..words.len()).filter(|index| !words[*index].trim().is_empty()) {
        let name = names.next().expect("names without end");
        let word = words[index];
        let replaced = word.replace(word.trim(), &name);
        let mut variant = words.clone();
        variant[index] = &replaced;
        variants.push((name.clone(), variant.concat()));
    }
    variants
}

fn assert_clean(path: &Path, name: &str, drive: Option<&str>) -> bool {
    let Ok(added) = contribution(path, &settings(drive)) else {
        return false;
    };
    let text = write::text(&added.rows).to_lowercase();
    let left_out = added.left_out.join("\n").to_lowercase();
    for part in name
        .split(['@', '/', '-', '.'])
        .filter(|part| part.len() > 4 && *part != "example")
    {
        let part = part.to_lowercase();
        assert!(!text.contains(&part), "{name} in {text}");
        assert!(!left_out.contains(&part), "{name} in {left_out}");
    }
    true
}

#[test]
fn no_name_from_any_field_of_any_format_is_in_the_rows() {
    let dir = tempfile::tempdir().expect("a directory");
    let made_up = names();
    assert_eq!(made_up.len(), 200);
    let mut endless = made_up.iter().cloned().cycle();
    let (mut planted_count, mut read_count) = (0, 0);
    for (file, text) in inputs() {
        for (name, variant) in planted(&text, &mut endless) {
            planted_count += 1;
            let path = written(dir.path(), file, &variant);
            for drive in [None, Some(DRIVE)] {
                read_count += usize::from(assert_clean(&path, &name, drive));
            }
        }
    }
    // Every name was used, and most variants were still read.
    assert!(planted_count >= 200, "{planted_count}");
    assert!(
        read_count > planted_count,
        "{read_count} of {planted_count}"
    );
}

#[test]
fn a_name_in_a_qualification_is_not_in_its_rows() {
    let dir = tempfile::tempdir().expect("a directory");
    let name = "AnselmVorrath";
    let mut facts = TargetFacts::unknown(name.into(), TargetKind::File);
    facts.model = Some("SAMSUNG MZQLB960HAJR-00007".into());
    facts.serial = Some(name.into());
    facts.file_system = Some(name.into());
    let mut evidence = Evidence::none(facts);
    evidence.precondition = name.into();
    evidence.incomplete = vec![name.into()];
    evidence.probes.push(WriteProbe {
        method: "write_flush".into(),
        block_size: 4096,
        writers: 1,
        per_second: 1442.0,
        mean_ns: 690_000.0,
        p50_ns: 600_000,
        p99_ns: 900_000,
        p999_ns: 1_200_000,
        ..WriteProbe::default()
    });
    let qualification = json!({
        "version": 2, "role": "slog", "profile": "quick", "seed": 1,
        "target": {"evidence": evidence, "verdict": {"role": "slog", "outcome": "PASS",
            "answer": name, "findings": [], "mechanisms": []}},
        "references": [], "incomplete": [name]
    });
    written(dir.path(), "qualification.json", &qualification.to_string());
    let added = added(dir.path(), None);
    assert_eq!(value(&added, Metric::WriteIops), Some(1442.0));
    assert_eq!(added.rows[0].load.sync, Some(SyncMethod::Flush));
    assert_eq!(added.rows[0].drive.family, "samsung-pm983");
    assert!(assert_clean(dir.path(), name, None));
}

/// The rows of one job with these options.
fn rows_of(options: &Value) -> Vec<LedgerRow> {
    let dir = tempfile::tempdir().expect("a directory");
    let text = json!({"fio version": "fio-3.1", "jobs": [job("a", 0, options)]});
    let path = written(dir.path(), "fio.json", &text.to_string());
    added(&path, Some(DRIVE)).rows
}

#[test]
fn each_job_of_each_run_has_the_load_that_it_had() {
    let dir = tempfile::tempdir().expect("a directory");
    let inputs = fio_inputs();
    let rows = |name: &str| {
        let (_, text) = inputs
            .iter()
            .find(|(file, _)| *file == name)
            .expect("an input");
        added(&written(dir.path(), name, text), Some(DRIVE)).rows
    };
    let several = rows("several.json");
    let kinds: Vec<_> = several.iter().map(|row| row.load.rw).collect();
    assert_eq!(kinds[0], Some(LoadKind::RandRead));
    assert_eq!(kinds[1], Some(LoadKind::Write));
    assert!(several.iter().all(|row| row.load.queue_depth == Some(32)));
    assert!(several.iter().all(LedgerRow::is_of_a_drive));
    let depths: Vec<_> = rows("runs.txt")
        .iter()
        .map(|row| row.load.queue_depth)
        .collect();
    assert_eq!(depths[0], Some(1));
    assert_eq!(depths.last(), Some(&Some(8)));
}

#[test]
fn a_synchronous_engine_has_one_command_outstanding() {
    for engine in ["psync", "pvsync2", "sync"] {
        let rows = rows_of(&json!({"rw": "randwrite", "bs": "4k", "direct": "1",
            "iodepth": "32", "ioengine": engine, "filename": "/dev/sdb"}));
        assert_eq!(rows[0].load.queue_depth, Some(1), "{engine}");
    }
    let rows = rows_of(&json!({"rw": "randread", "direct": "1", "fdatasync": "1",
        "ioengine": "libaio", "iodepth": "4", "filename": "/dev/sdb"}));
    assert_eq!(rows[0].load.queue_depth, Some(4));
    assert_eq!(
        rows[0].load.sync,
        Some(SyncMethod::None),
        "nothing is written"
    );
}

#[test]
fn what_is_not_the_drives_own_rate_only_gives_context() {
    let base = json!({"rw": "randwrite", "bs": "4k", "direct": "1", "ioengine": "libaio",
        "filename": "/dev/nvme0n1"});
    assert!(rows_of(&base).iter().all(LedgerRow::is_of_a_drive));
    for (key, value, trap) in [
        ("rate_iops", "500", "held to a rate"),
        ("thinktime", "100", "held to a rate"),
        ("zonemode", "zbd", "a zoned drive"),
        ("ioengine", "rbd", "no drive of this host"),
        ("filename", "/dev/md0", "not one drive"),
        ("filename", "/dev/sda:/dev/sdb", "not one drive"),
        ("direct", "0", "through the page cache"),
        ("random_distribution", "zipf:1.2", "more often than others"),
    ] {
        let mut options = base.clone();
        options[key] = json!(value);
        let rows = rows_of(&options);
        assert!(rows.iter().all(|row| !row.is_of_a_drive()), "{key}={value}");
        assert!(rows[0].trap.contains(trap), "{}", rows[0].trap);
    }
    for name in ["C\\:\\bench", "\\\\.\\PhysicalDrive1"] {
        let mut options = base.clone();
        options["filename"] = json!(name);
        assert!(
            rows_of(&options).iter().all(LedgerRow::is_of_a_drive),
            "{name}"
        );
    }
}

#[test]
fn jobs_that_ran_together_and_on_several_hosts_are_no_figures_of_a_drive() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = |rw: &str| {
        json!({"rw": rw, "bs": "4k", "direct": "1", "ioengine": "libaio",
        "filename": "/dev/nvme0n1"})
    };
    let together = json!({"fio version": "fio-3.1", "jobs": [
        job("a", 0, &options("randread")), job("b", 0, &options("randwrite"))]});
    let path = written(dir.path(), "together.json", &together.to_string());
    let rows = added(&path, Some(DRIVE)).rows;
    assert!(rows.iter().all(|row| !row.is_of_a_drive()));
    assert!(rows[0].trap.contains("other jobs ran at the same time"));
    let hosts = json!({"fio version": "fio-3.1",
        "client_stats": [job("a", 0, &options("randread"))]});
    let path = written(dir.path(), "hosts.json", &hosts.to_string());
    let error = contribution(&path, &settings(Some(DRIVE))).expect_err("several hosts");
    assert!(error.to_string().contains("several hosts"), "{error}");
}

#[test]
fn a_sync_that_leaves_the_drives_cache_is_no_durable_write() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "Compare file sync methods using one 8kB write:\n\
        \x20       open_datasync      21000.100 ops/sec   48 usecs/op\n\
        \x20       fdatasync          20500.200 ops/sec   49 usecs/op\n\
        \x20       fsync              20100.300 ops/sec   50 usecs/op\n\
        \x20       fsync_writethrough   230.400 ops/sec 4340 usecs/op\n\
        \x20       open_sync          20900.500 ops/sec   48 usecs/op\n\n\
        Compare file sync methods using two 8kB writes:\n\
        \x20       fsync_writethrough   999.000 ops/sec 1000 usecs/op\n";
    let path = written(dir.path(), "pg.txt", text);
    let added = added(&path, Some(DRIVE));
    let rates: Vec<f64> = added.rows.iter().map(|row| row.figure.value).collect();
    assert_eq!(rates, [230.4]);
    assert_eq!(added.left_out.len(), 4);
}

#[test]
fn loads_that_a_row_cannot_say_are_left_out_with_the_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    for (options, reason) in [
        (json!({}), "its options are not in the file"),
        (json!({"rw": "randwrite", "bs": "4k-64k"}), "several sizes"),
        (
            json!({"rw": "write", "fsync": "32"}),
            "after several writes",
        ),
        (json!({"rw": "trim"}), "no load of reads or writes"),
        (
            json!({"rw": "randwrite:8"}),
            "only a part of its addresses is random",
        ),
        (
            json!({"rw": "randwrite", "percentage_random": "50"}),
            "only a part of its addresses is random",
        ),
        (json!({"rw": "write:64k"}), "leave gaps"),
    ] {
        let text = json!({"fio version": "fio-3.1", "jobs": [{"jobname": "a", "error": 0,
            "job options": options, "write": {"iops": 1000.0, "runtime": 1000}}]});
        let path = written(dir.path(), "fio.json", &text.to_string());
        let error = contribution(&path, &settings(Some(DRIVE))).expect_err(reason);
        assert!(error.to_string().contains(reason), "{error}");
    }
}
