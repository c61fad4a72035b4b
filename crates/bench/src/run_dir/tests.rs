use super::*;
use crate::engine::Observer;
use crate::record::{RunRecord, Second, testing};
use proptest::prelude::*;
use ssdlab_load::plan::{Language, Mix};
use ssdlab_ssd::Op;
use std::fs;
use std::path::Path;

fn made() -> (WorkloadPlan, RunRecord) {
    let jobs = vec![
        testing::job("fill", Mix::Write),
        testing::job("mix", Mix::ReadWrite { read_pct: 70 }),
    ];
    let plan = testing::plan(Language::Ssdlab, jobs);
    let record = testing::record(&plan, 12, 7);
    (plan, record)
}

fn header(plan: &WorkloadPlan) -> RunHeader {
    let arguments = ["run".to_string(), "a b.fio".to_string()];
    RunHeader::new(
        plan,
        &testing::facts(),
        42,
        "2026-01-02T03:04:05Z",
        &arguments,
    )
    .unwrap()
}

/// Writes the seconds of `record` and, when asked, the result.
fn write(path: &Path, plan: &WorkloadPlan, record: &RunRecord, finish: bool) {
    let mut writer = RunWriter::create(path, &header(plan), Existing::Refuse).unwrap();
    for second in &record.seconds {
        let mut latencies = testing::no_latencies();
        latencies[Op::Write as usize]
            .record_n(70_000, second.ops[1].count)
            .unwrap();
        writer.second(second, &latencies).unwrap();
    }
    if finish {
        writer.finish(&RunResult::new(plan, record, 2)).unwrap();
    }
}

fn message(result: Result<RunDir, LabError>) -> String {
    let error = result.unwrap_err();
    assert!(!error.hint().is_empty(), "{error}");
    error.to_string()
}

/// As version 1 of the format wrote it: histograms at the top, and no 99.9th percentiles.
fn write_version_1(path: &Path, plan: &WorkloadPlan, record: &RunRecord) {
    write(path, plan, record, true);
    for name in [RUN_FILE, RESULT_FILE] {
        let text = fs::read_to_string(path.join(name)).unwrap();
        let text = text.replacen("\"version\": 2", "\"version\": 1", 1);
        fs::write(path.join(name), text).unwrap();
    }
    fs::rename(path.join(HISTOGRAMS_FILE), path.join(HISTOGRAMS_FILE_1)).unwrap();
    fs::remove_dir(path.join(HISTOGRAMS_DIR)).unwrap();
    let text = fs::read_to_string(path.join(SERIES_FILE)).unwrap();
    let tails: Vec<bool> = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .map(|name| name.ends_with("_p999_ns"))
        .collect();
    let old = text.lines().map(|line| {
        let fields = line.split(',').zip(&tails).filter(|(_, tail)| !**tail);
        fields.map(|(field, _)| field).collect::<Vec<_>>().join(",") + "\n"
    });
    fs::write(path.join(SERIES_FILE), old.collect::<String>()).unwrap();
}

/// `series.csv` of version 1 has no 99.9th percentiles.
fn without_tails(record: &mut RunRecord) {
    let seconds = record.seconds.iter_mut();
    for op in seconds.flat_map(|second| &mut second.ops) {
        op.p999_ns = 0;
    }
}

/// Version 1: read from the rows of buckets, against the histogram's own quantile.
#[test]
fn a_run_of_version_1_is_read_with_its_far_quantiles() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("run");
    let (plan, mut record) = made();
    for second in &mut record.seconds {
        second.ops[Op::Write as usize].max_ns = 5_000_000;
    }
    write_version_1(&path, &plan, &record);
    let mut run = RunDir::open(&path).unwrap();
    without_tails(&mut record);
    assert_eq!(run.seconds, record.seconds);
    assert_eq!(run.header.version, 1);
    run.read_tails().unwrap();
    for (read, second) in run.seconds.iter().zip(&record.seconds) {
        let mut latencies = testing::no_latencies();
        let writes = &mut latencies[Op::Write as usize];
        writes
            .record_n(70_000, second.ops[Op::Write as usize].count)
            .unwrap();
        let tail = read.ops[Op::Write as usize].p999_ns;
        assert_eq!(tail, writes.value_at_quantile(0.999).min(5_000_000));
    }
    let line = read_first_line(&path.join(SERIES_FILE));
    assert_eq!(line, csv::series_header(1));
}

fn read_first_line(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

/// One glob is one table: all CSV files at the top have the same columns, whatever the run did.
#[test]
fn csv_files_at_the_top_have_the_same_columns() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("run");
    let (plan, record) = made();
    write(&path, &plan, &record, true);
    let names = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let csv_files: Vec<_> = names
        .filter(|path| path.extension().is_some_and(|e| e == "csv"))
        .collect();
    assert!(!csv_files.is_empty());
    for file in csv_files {
        assert_eq!(
            read_first_line(&file),
            csv::series_header(FORMAT_VERSION),
            "{}",
            file.display()
        );
    }
}

#[test]
fn what_was_written_is_read_back() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("parent/run");
    let (plan, record) = made();
    write(&path, &plan, &record, true);
    let run = RunDir::open(&path).unwrap();
    assert_eq!(run.seconds, record.seconds);
    assert_eq!((run.header.seed, run.header.version), (42, FORMAT_VERSION));
    assert_eq!(run.header.arguments, ["run", "a b.fio"]);
    assert_eq!(run.header.plan["phases"][1]["jobs"][0]["name"], "mix");
    let result = run.result.as_ref().unwrap();
    assert_eq!(result.jobs[1].name, "mix");
    assert_eq!(result.last_phase().map(|phase| phase.phase), Some(1));
    let mut stopped = result.clone();
    stopped.jobs.truncate(1);
    assert_eq!(stopped.last_phase().map(|phase| phase.phase), Some(0));
    let ops: Vec<&str> = result.jobs[1].ops.iter().map(|o| o.op.as_str()).collect();
    assert_eq!(ops, ["read", "write", "flush"]);
    assert_eq!(
        result.phases[0].steady_state.as_ref().map(|s| s.attained),
        Some(true)
    );
    assert!(result.checks[0].passed);
    for phase in 0..2 {
        let in_phase = record.seconds.iter().filter(|s| s.phase == phase);
        let writes: u64 = in_phase.map(|s| s.ops[1].count).sum();
        let latencies = run.latencies(phase, Op::Write).unwrap();
        assert_eq!(latencies.len(), writes);
        assert!(latencies.equivalent(latencies.max(), 70_000));
        assert_eq!(run.latencies(phase, Op::Trim).unwrap().len(), 0);
    }
    let names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn totals_are_those_of_the_record() {
    let (plan, record) = made();
    let result = RunResult::new(&plan, &record, 60);
    let write = &result.jobs[0].ops[0];
    let counted: u64 = record
        .seconds
        .iter()
        .filter(|s| s.phase == 0)
        .map(|s| s.ops[1].count)
        .sum();
    assert_eq!(
        (write.op.as_str(), write.count, write.bytes),
        ("write", counted, counted * 4096)
    );
    assert_eq!(write.iops, counted as f64 / 12.0);
    let latency = &write.latency;
    assert!(latency.min_ns <= latency.percentiles[0].ns);
    assert!(latency.percentiles.windows(2).all(|p| p[0].ns <= p[1].ns));
    assert!(latency.percentiles[16].ns <= latency.max_ns);
    assert_eq!(result.phases[0].steady_state, None);
}

#[test]
fn a_run_cut_off_at_any_byte_is_readable() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("run");
    let (plan, record) = made();
    write(&path, &plan, &record, false);
    for name in [SERIES_FILE, HISTOGRAMS_FILE] {
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        for length in (0..whole.len()).step_by(7) {
            fs::write(&file, &whole[..length]).unwrap();
            let run = RunDir::open(&path).unwrap();
            assert!(run.result.is_none());
            assert_eq!(run.seconds, record.seconds[..run.seconds.len()]);
            let lines = whole[..length].iter().filter(|b| **b == b'\n').count();
            let mut rows = 0;
            run.histogram_rows(|_| rows += 1).unwrap();
            let read = if name == SERIES_FILE {
                run.seconds.len()
            } else {
                rows
            };
            assert_eq!(read, lines.saturating_sub(1));
        }
        fs::write(&file, &whole).unwrap();
    }
}

#[test]
fn rows_are_on_disk_after_each_second() {
    let temporary = tempfile::tempdir().unwrap();
    let (plan, record) = made();
    let mut writer = RunWriter::create(temporary.path(), &header(&plan), Existing::Refuse).unwrap();
    assert!(RunDir::open(temporary.path()).unwrap().seconds.is_empty());
    for (n, second) in record.seconds[..3].iter().enumerate() {
        writer.second(second, &testing::no_latencies()).unwrap();
        assert_eq!(RunDir::open(temporary.path()).unwrap().seconds.len(), n + 1);
    }
}

#[test]
fn an_existing_directory_is_left_alone_unless_asked() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("run");
    let (plan, record) = made();
    write(&path, &plan, &record, true);
    fs::write(path.join("notes.txt"), "mine").unwrap();
    let error = RunWriter::create(&path, &header(&plan), Existing::Refuse).unwrap_err();
    assert!(
        error.to_string().contains("already has something"),
        "{error}"
    );
    assert!(RunDir::open(&path).unwrap().result.is_some());
    RunWriter::create(&path, &header(&plan), Existing::Replace).unwrap();
    let run = RunDir::open(&path).unwrap();
    assert!(run.result.is_none() && run.seconds.is_empty());
    assert_eq!(fs::read(path.join("notes.txt")).unwrap(), b"mine");
    let file = path.join("notes.txt");
    let error = RunWriter::create(&file, &header(&plan), Existing::Replace).unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
}

/// `/dev/full` fails every write with "no space left on device".
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_and_keeps_what_there_is() {
    let temporary = tempfile::tempdir().unwrap();
    let (plan, record) = made();
    let mut writer = RunWriter::create(temporary.path(), &header(&plan), Existing::Refuse).unwrap();
    writer
        .second(&record.seconds[0], &testing::no_latencies())
        .unwrap();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    writer.series = std::io::BufWriter::new(full);
    let error = writer
        .second(&record.seconds[1], &testing::no_latencies())
        .unwrap_err();
    assert!(error.to_string().contains("series.csv"), "{error}");
    assert!(error.hint().contains("free some space"), "{}", error.hint());
    assert_eq!(RunDir::open(temporary.path()).unwrap().seconds.len(), 1);
}

#[test]
fn what_is_no_run_directory_is_named() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path();
    assert!(message(RunDir::open(path.join("nowhere"))).contains("does not exist"));
    assert!(message(RunDir::open(path)).contains("no run.json"));
    fs::write(path.join(RUN_FILE), [0xff, 0, 1]).unwrap();
    assert!(message(RunDir::open(path.join(RUN_FILE))).contains("is not a directory"));
    assert!(message(RunDir::open(path)).contains("run.json is not what ssdlab writes"));
    fs::write(path.join(RUN_FILE), r#"{"version": 99, "ssdlab": "9.9"}"#).unwrap();
    let error = RunDir::open(path).unwrap_err();
    assert!(
        error.to_string().contains("`version` cannot be `99`"),
        "{error}"
    );
    assert!(error.hint().contains("ssdlab 9.9"), "{}", error.hint());
    fs::write(path.join(RUN_FILE), r#"{"version": 1}"#).unwrap();
    assert!(message(RunDir::open(path)).contains("missing field"));
}

#[test]
fn damage_in_the_series_is_placed() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("run");
    let (plan, record) = made();
    write(&path, &plan, &record, false);
    let series = path.join(SERIES_FILE);
    let text = fs::read_to_string(&series).unwrap();
    fs::write(&series, text.replacen("\n0,1,1.0,", "\n0,one,1.0,", 1)).unwrap();
    assert!(message(RunDir::open(&path)).contains("series.csv:3: `t_s` cannot be `one`"));
    fs::write(&series, text.replacen("\n0,1,1.0,", "\n0,1,NaN,", 1)).unwrap();
    assert!(message(RunDir::open(&path)).contains("`length_s` cannot be `NaN`"));
    fs::write(&series, text.replacen("\n0,1,1.0,", "\n0,1,", 1)).unwrap();
    assert!(message(RunDir::open(&path)).contains("columns"));
    for garbage in [&b"\x00\xff\xfe garbage"[..], b"\x7fELF\n\x01\x02\n"] {
        fs::write(&series, garbage).unwrap();
        assert!(message(RunDir::open(&path)).contains("series.csv:1: `header` cannot be"));
    }
    fs::remove_file(&series).unwrap();
    let error = RunDir::open(&path).unwrap_err();
    assert!(error.to_string().contains("series.csv"), "{error}");
}

#[test]
fn the_series_header_is_stable() {
    let header = csv::series_header(FORMAT_VERSION);
    let columns: Vec<&str> = header.split(',').collect();
    assert_eq!(columns.len(), 40);
    assert_eq!(
        columns[..5],
        ["phase", "t_s", "length_s", "read_count", "read_bytes"]
    );
    assert_eq!(
        columns[10..17].join(" "),
        "write_count write_bytes write_mean_ns write_p50_ns \
        write_p99_ns write_p999_ns write_max_ns"
    );
    assert_eq!(
        columns[37..],
        [
            "write_zeroes_max_ns",
            "nand_bytes_written",
            "device_flushes"
        ]
    );
}

proptest! {
    #[test]
    fn any_second_survives_its_row(
        t_s in any::<i64>(), length_s in 0.0f64..2.0, count in any::<u64>(),
        mean_ns in 0.0f64..1e13, nand in any::<Option<u64>>(),
    ) {
        let mut second = Second { length_s, nand_bytes_written: nand, ..testing::idle(3, t_s) };
        second.ops[2].count = count;
        second.ops[2].mean_ns = mean_ns;
        let place = ssdlab_base::error::InputLocation { source: "here".to_string(), line: Some(2) };
        let row = csv::series_row(&second);
        let read = csv::parse_series_row(row.trim_end(), FORMAT_VERSION, &place);
        prop_assert_eq!(read.unwrap(), second);
    }

    #[test]
    fn no_line_panics(line in ".*") {
        let place = ssdlab_base::error::InputLocation { source: "here".to_string(), line: Some(2) };
        let _ = csv::parse_series_row(&line, FORMAT_VERSION, &place);
        let _ = csv::parse_histogram_row(&line, &place);
    }
}
