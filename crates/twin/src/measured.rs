//! What was measured of a drive, from runs instead of a table: our own run directories, and fio's
//! JSON with its bandwidth logs.
//!
//! ```text
//! LOAD[@USED%]=PATH -> samples (seconds, bytes) -> the last quarter against the one before -> row
//! ```
//! A rate is settled as that of a table is: by its drift and by how often the drive was
//! overwritten. fio's JSON alone holds a mean over the whole run, which cannot show that; it counts
//! as evidence of the sequential rate only.

use crate::table::{self, MeasurementTable, RawMeasurementRow};
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_bench::run_dir::RunDir;
use ssdlab_ssd::Op;
use std::path::{Path, PathBuf};

/// Fewest samples for comparing the last quarter with the one before.
const SAMPLES_MIN: usize = 8;
/// Most samples that logs are summed up into.
const BINS: u64 = 400;
/// Largest difference between the bytes of fio's JSON and those of its logs.
const APART_MAX: f64 = 0.15;
/// Fewest samples before a write cliff, how far they differ (in logarithms), and the part of their
/// rate below which the rate has fallen.
const FLAT_MIN: usize = 3;
const FLAT: f64 = 0.1;
const FALLEN: f64 = 0.8;

/// Some time of a run.
#[derive(Clone, Copy, Debug, Default)]
struct RateSample {
    seconds: f64,
    written: f64,
    read: f64,
    programmed: Option<f64>,
}

/// The course of one run.
struct RateCourse {
    samples: Vec<RateSample>,
    /// Bytes written by the host in all.
    written: f64,
    /// There is only a mean over the whole run.
    mean_only: bool,
}

/// Where the rate first left that of the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cliff {
    /// Bytes written before it.
    pub at: f64,
    /// Rate before it, B/s.
    pub before: f64,
}

/// The write cliff in samples of (seconds, bytes written), where they show it: several at one rate,
/// then clearly lower ones.
pub fn cliff(samples: &[(f64, f64)]) -> Option<Cliff> {
    let rate = |(seconds, written): &(f64, f64)| written / seconds.max(1e-9);
    let first = samples.get(..FLAT_MIN)?;
    let before = first.iter().map(rate).sum::<f64>() / FLAT_MIN as f64;
    let is_flat = |sample| (rate(sample) / before).ln().abs() < FLAT;
    let i = samples.iter().position(|s| rate(s) < FALLEN * before)?;
    let (flat, fallen) = samples.split_at(i);
    let (edge, next) = (fallen.first()?, rate(fallen.get(1)?));
    if flat.len() < FLAT_MIN || !flat.iter().all(is_flat) || next >= FALLEN * before {
        return None;
    }
    // The sample with the edge has some of both rates.
    let part = (rate(edge) - next) / (before - next);
    let written = flat.iter().map(|(_, written)| written).sum::<f64>();
    let position = written + part.clamp(0.0, 1.0) * before * edge.0;
    Some(Cliff {
        at: position,
        before,
    })
}

/// Whether an argument of `twin fit` names a run, LOAD=PATH, rather than a table.
pub fn is_run(argument: &str) -> bool {
    !Path::new(argument).exists() && argument.contains('=')
}

/// The table of runs, each `LOAD=PATH` or `LOAD@USED%=PATH`, of a drive of `capacity` bytes.
///
/// # Errors
/// When a run cannot be read, its load is unknown, or runs contradict each other.
pub fn runs(arguments: &[String], capacity: u64) -> Result<MeasurementTable, LabError> {
    let mut courses = Vec::new();
    for (argument, line) in arguments.iter().zip(1..) {
        let hint = "such as sequential=RUN_DIR uniform=RUN_DIR uniform@50%=fio.json";
        let Some((load, path)) = argument.split_once('=') else {
            let problem = format!("`{argument}` is neither a table nor LOAD=PATH");
            return Err(LabError::refused(problem, hint));
        };
        let (load, used) = load_and_share(load)?;
        let path = Path::new(path);
        let course = if path.is_dir() {
            run_dir(path)?
        } else {
            fio(path)?
        };
        courses.push((line, load, used, course));
    }
    let raw = |(line, load, used, course): &(usize, &str, f64, RateCourse), cliff| {
        row(*line, load, *used, course, cliff, capacity)
    };
    let sequential = courses.iter().find(|(_, load, ..)| *load == "sequential");
    let most = sequential.map_or(0.0, |entry| table::CACHE * raw(entry, None).rate);
    let rows = courses.iter().map(|entry| {
        let samples = entry.3.samples.iter().map(|s| (s.seconds, s.written));
        let cliff = cliff(&samples.collect::<Vec<_>>());
        let cliff = cliff.filter(|cliff| cliff.before <= most);
        raw(entry, cliff)
    });
    table::table(rows.collect(), "argument")
}

/// `LOAD`, or `LOAD@50%` where half of the capacity is in use.
pub(crate) fn load_and_share(text: &str) -> Result<(&str, f64), LabError> {
    let Some((load, used)) = text.split_once('@') else {
        return Ok((text, 1.0));
    };
    let percent = used.strip_suffix('%').and_then(|n| n.parse::<f64>().ok());
    let percent = percent.filter(|n| (1.0..=100.0).contains(n));
    let percent = percent.ok_or_else(|| {
        let problem = format!("`{text}`: 1% to 100% in use is allowed");
        LabError::refused(problem, "such as uniform@50%=RUN")
    })?;
    Ok((load, percent / 100.0))
}

/// The row of a run: the rate of its last quarter.
fn row(
    line: usize,
    load: &str,
    used: f64,
    course: &RateCourse,
    cliff: Option<Cliff>,
    capacity: u64,
) -> RawMeasurementRow {
    let samples = &course.samples;
    let quarter = (samples.len() / 4).max(1);
    let sum =
        |part: &[RateSample], field: fn(&RateSample) -> f64| part.iter().map(field).sum::<f64>();
    let rate = |part: &[RateSample]| sum(part, |s| s.written) / sum(part, |s| s.seconds).max(1e-9);
    let last = &samples[samples.len().saturating_sub(quarter)..];
    let before = &samples[samples.len().saturating_sub(2 * quarter)..samples.len() - last.len()];
    let drift = if before.is_empty() || rate(before) <= 0.0 {
        0.0
    } else {
        100.0 * (rate(last) / rate(before) - 1.0)
    };
    let reads = sum(samples, |s| s.read) > 0.0;
    let left_out = if reads {
        Some("reads were mixed in: their share of the time is not modelled".to_owned())
    } else if course.mean_only {
        Some("a mean over the whole run: no log (write_bw_log) shows that it settled".to_owned())
    } else if samples.len() < SAMPLES_MIN {
        Some(format!(
            "not settled: {} samples, {SAMPLES_MIN} needed",
            samples.len()
        ))
    } else {
        table::drift((10.0 * drift).round() / 10.0)
    };
    let programmed = last.iter().map(|s| s.programmed).sum::<Option<f64>>();
    let waf = programmed.map(|bytes| bytes / sum(last, |s| s.written).max(1.0));
    RawMeasurementRow {
        line,
        load: load.to_owned(),
        used,
        overwrites: Some(course.written / capacity as f64),
        rate: rate(last),
        waf: waf.filter(|waf| *waf >= 1.0),
        cliff: cliff.map(|cliff| cliff.at / capacity as f64),
        // A beginning slower than the end is no drive with space left.
        before: cliff
            .map(|cliff| cliff.before)
            .filter(|before| *before >= rate(last)),
        left_out,
    }
}

/// The last phase of a run directory that wrote.
fn run_dir(path: &Path) -> Result<RateCourse, LabError> {
    let run = RunDir::open(path)?;
    let written = |s: &ssdlab_bench::record::Second| s.ops[Op::Write as usize].bytes;
    let Some(phase) = run
        .seconds
        .iter()
        .rev()
        .find(|s| written(s) > 0)
        .map(|s| s.phase)
    else {
        let problem = format!("nothing was written in {}", path.display());
        return Err(LabError::refused(problem, "name a run of writes"));
    };
    let of_phase = || run.seconds.iter().filter(|s| s.phase == phase);
    let samples = of_phase().filter(|s| s.t_s >= 0).map(|s| RateSample {
        seconds: s.length_s,
        written: written(s) as f64,
        read: s.ops[Op::Read as usize].bytes as f64,
        programmed: s.nand_bytes_written.map(|bytes| bytes as f64),
    });
    Ok(RateCourse {
        samples: samples.collect(),
        written: of_phase().map(written).sum::<u64>() as f64,
        mean_only: false,
    })
}

/// fio's JSON, and the bandwidth logs that its jobs name, beside it.
fn fio(path: &Path) -> Result<RateCourse, LabError> {
    let wrong = |problem: &str| {
        let message = format!("{}: {problem}", path.display());
        LabError::refused(
            message,
            "give a run directory, or what `fio --output-format=json+` wrote",
        )
    };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| LabError::file("reading", path, error))?;
    // fio puts warnings before the JSON.
    let start = text.find('{').ok_or_else(|| wrong("no JSON"))?;
    let report: Value =
        serde_json::from_str(&text[start..]).map_err(|error| wrong(&error.to_string()))?;
    let jobs = report["jobs"]
        .as_array()
        .ok_or_else(|| wrong("no `jobs`"))?;
    let number = |job: &Value, op: &str, key: &str| job[op][key].as_f64().unwrap_or(0.0);
    let mut mean = RateSample::default();
    for job in jobs {
        mean.written += number(job, "write", "io_bytes");
        mean.read += number(job, "read", "io_bytes");
        mean.seconds = mean.seconds.max(number(job, "write", "runtime") / 1000.0);
    }
    if mean.written <= 0.0 || mean.seconds <= 0.0 {
        return Err(wrong("its jobs wrote nothing"));
    }
    let options = [&report["global options"], &jobs[0]["job options"]];
    let log = options.iter().find_map(|o| o["write_bw_log"].as_str());
    let logs = log.map(|prefix| logs(path, prefix)).transpose()?;
    let Some(samples) = logs.filter(|samples| !samples.is_empty()) else {
        return Ok(RateCourse {
            samples: vec![mean],
            written: mean.written,
            mean_only: true,
        });
    };
    let logged: f64 = samples.iter().map(|s| s.written).sum();
    if (logged / mean.written).ln().abs() > APART_MAX {
        return Err(wrong(&format!(
            "{:.2} GB were written, but its bandwidth logs hold {:.2} GB",
            mean.written / 1e9,
            logged / 1e9
        )));
    }
    Ok(RateCourse {
        samples,
        written: mean.written,
        mean_only: false,
    })
}

/// The logs `PREFIX_bw.N.log` beside the JSON, summed over the jobs.
fn logs(json: &Path, prefix: &str) -> Result<Vec<RateSample>, LabError> {
    let dir = json.parent().unwrap_or(Path::new(""));
    let prefix = Path::new(prefix)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let files: Vec<PathBuf> = (1..=1024)
        .map(|n| dir.join(format!("{prefix}_bw.{n}.log")))
        .take_while(|file| file.exists())
        .collect();
    let mut entries = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| LabError::file("reading", file, error))?;
        let mut last = 0;
        for line in text.lines() {
            let mut cells = line.split(',').map(str::trim);
            let mut next = || cells.next().and_then(|cell| cell.parse::<u64>().ok());
            let (Some(ms), Some(kib), Some(op)) = (next(), next(), next()) else {
                let problem = format!(
                    "{}: `{line}` is not a line of a bandwidth log",
                    file.display()
                );
                return Err(LabError::refused(
                    problem,
                    "fio writes TIME, KIB/S, DIRECTION, ...",
                ));
            };
            // A line stands for the time since the last one of its direction.
            if op == 1 {
                entries.push((ms, ms.saturating_sub(last), kib));
                last = ms;
            }
        }
    }
    let end = entries.iter().map(|&(ms, ..)| ms).max().unwrap_or(0);
    let bin = (end / BINS).max(1000);
    let empty = RateSample {
        seconds: bin as f64 / 1000.0,
        ..RateSample::default()
    };
    let mut samples = vec![empty; (end / bin) as usize];
    for (ms, length, kib) in entries {
        // The rest after the last whole bin is no sample.
        if let Some(sample) = samples.get_mut((ms.saturating_sub(1) / bin) as usize) {
            sample.written += kib as f64 * 1024.0 * length as f64 / 1000.0;
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_with(files: &[(&str, String)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    fn json(written: u64, ms: u64, log: &str) -> String {
        format!(
            "fio: a warning\n{{\"global options\": {{\"write_bw_log\": \"{log}\"}}, \"jobs\": \
             [{{\"write\": {{\"io_bytes\": {written}, \"runtime\": {ms}}}, \"read\": \
             {{\"io_bytes\": 0}}}}]}}"
        )
    }

    /// 100 s: the first half at `first` KiB/s, the rest at `second`.
    fn log(first: u64, second: u64) -> String {
        let line = |s: u64| {
            let rate = if s <= 50 { first } else { second };
            format!("{}, {rate}, 1, 4096, 0, 0\n", s * 1000)
        };
        (1..=100).map(line).collect()
    }

    fn fitted(
        name: &str,
        dir: &tempfile::TempDir,
        sequential: &str,
    ) -> Result<MeasurementTable, LabError> {
        let at = |load: &str, name: &str| format!("{load}={}", dir.path().join(name).display());
        runs(
            &[at("sequential", sequential), at("uniform", name)],
            10 << 30,
        )
    }

    #[test]
    fn the_rate_of_a_log_is_that_of_its_end() {
        let written = 50 * 1024 * (600_000 + 300_000);
        let dir = dir_with(&[
            ("seq.json", json(70_000_000_000, 100_000, "none")),
            ("a.json", json(written, 100_000, "a")),
            ("a_bw.1.log", log(600_000, 300_000)),
        ]);
        let table = fitted("a.json", &dir, "seq.json").unwrap();
        assert_eq!(table.rows[0].rate, 300_000.0 * 1024.0);
        assert_eq!(table.rows[0].left_out, None);
        // The first half is the time before the cliff.
        assert_eq!(table.rows[0].before, Some(600_000.0 * 1024.0));
        // In steps of a quarter.
        let exact = written as f64 / (10_u64 << 30) as f64;
        let overwrites = table.rows[0].load.overwrites;
        assert!(overwrites % 0.25 == 0.0 && (overwrites - exact).abs() <= 0.125);
    }

    #[test]
    fn the_cliff_is_where_the_first_rate_ends() {
        // 40 s at 10 B/s (6 s of the fifth sample); then 4 B/s.
        let mut samples = vec![(9.0, 90.0); 4];
        samples.extend([(9.0, 4.0 * 10.0 + 5.0 * 4.0), (9.0, 36.0), (9.0, 36.0)]);
        let found = cliff(&samples).expect("a cliff");
        assert!(
            (found.at - 400.0).abs() < 1.0 && found.before == 10.0,
            "{found:?}"
        );
        // One rate, a slow fall, a single slow sample, and too short a beginning have none.
        let fall: Vec<_> = (0..40).map(|n| (1.0, 100.0 - f64::from(n))).collect();
        let dip = [vec![(1.0, 10.0); 9], vec![(1.0, 5.0)], vec![(1.0, 10.0); 9]].concat();
        for none in [vec![(9.0, 90.0); 9], fall, dip, samples.split_off(3)] {
            assert_eq!(cliff(&none), None);
        }
    }

    #[test]
    fn a_mean_a_drift_and_a_short_run_are_no_evidence() {
        let drifting: String = (1..=100)
            .map(|s| format!("{}, {}, 1, 4096, 0\n", s * 1000, 600_000 - 3000 * s))
            .collect();
        let bytes = (1..=100_u64).map(|s| (600_000 - 3000 * s) * 1024).sum();
        let dir = dir_with(&[
            ("seq.json", json(70_000_000_000, 100_000, "none")),
            ("mean.json", json(40_000_000_000, 100_000, "none")),
            ("drift.json", json(bytes, 100_000, "drift")),
            ("drift_bw.1.log", drifting),
        ]);
        for (name, why) in [("mean.json", "mean over"), ("drift.json", "drifting")] {
            let table = fitted(name, &dir, "seq.json").unwrap();
            let left = table.rows[0].left_out.clone().unwrap_or_default();
            assert!(left.contains(why), "{name}: {left}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let dir = dir_with(&[
            ("seq.json", json(70_000_000_000, 100_000, "none")),
            // A log in B/s, or of another run.
            ("unit.json", json(50_000_000_000, 100_000, "unit")),
            ("unit_bw.1.log", log(600_000_000, 600_000_000)),
            ("fast.json", json(90_000_000_000, 100_000, "none")),
            ("junk.json", "no json".into()),
        ]);
        for (name, why) in [
            ("unit.json", "logs hold"),
            ("fast.json", "above the sequential"),
            ("junk.json", "no JSON"),
            ("absent.json", "absent.json"),
        ] {
            let error = fitted(name, &dir, "seq.json").expect_err(name).to_string();
            assert!(error.contains(why), "{name}: {error}");
        }
        let bad = runs(&["uniform@0%=x".into()], 1 << 30)
            .unwrap_err()
            .to_string();
        assert!(bad.contains("1% to 100%"), "{bad}");
    }
}
