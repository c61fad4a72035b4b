//! Latency that was measured: a CSV table, a row a rate; or fio's JSON.
//!
//! ```text
//! load,write_iops,read_p50_us,read_p90_us,read_p99_us,write_p50_us
//! uniform,10000,70,104,256,8
//! ```

use super::{MeasuredLatency, Quantile, ReadOrWrite};
use crate::measured::load_and_share;
use crate::structure::SLOT;
use crate::table;
use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_load::synthetic::SyntheticPattern;
use std::path::Path;

/// Longest latency that a table may hold, us.
const LONGEST: f64 = 1e8;

const COLUMNS: &str = "load, used_pct, one of write_iops (of 4 KiB), write_mibs and write_mbs, and \
                       read_pN_us and write_pN_us with N the percentile, such as read_p99.9_us";

fn bad_cell(source: &str, line: usize, key: &str, problem: String) -> LabError {
    let hint = format!("columns are {COLUMNS}");
    table::bad_entry(source, line, key, problem, &hint)
}

/// What the cells of a column are.
#[derive(Clone, Copy, PartialEq)]
enum LatencyColumn {
    Load,
    Used,
    /// Throughput, with its B/s.
    Rate(f64),
    Percentile(ReadOrWrite, f64),
}

fn column(name: &str) -> Option<LatencyColumn> {
    let percentile = |text: &str| {
        let percent: f64 = text.strip_suffix("_us")?.parse().ok()?;
        (percent > 0.0 && percent < 100.0).then_some(percent)
    };
    Some(match name {
        "load" => LatencyColumn::Load,
        "used_pct" => LatencyColumn::Used,
        "write_iops" => LatencyColumn::Rate(SLOT as f64),
        "write_mibs" => LatencyColumn::Rate(1_048_576.0),
        "write_mbs" => LatencyColumn::Rate(1e6),
        _ => match (name.strip_prefix("read_p"), name.strip_prefix("write_p")) {
            (Some(text), _) => LatencyColumn::Percentile(ReadOrWrite::Read, percentile(text)?),
            (_, Some(text)) => LatencyColumn::Percentile(ReadOrWrite::Write, percentile(text)?),
            _ => return None,
        },
    })
}

/// Reads a table of latency.
///
/// # Errors
/// With file and line: unknown columns, impossible values, percentiles that fall.
pub fn parse(text: &str, source: &str) -> Result<Vec<MeasuredLatency>, LabError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let broken = |error: csv::Error| {
        let line = error
            .position()
            .map_or(0, |position| position.line() as usize);
        bad_cell(source, line, "table", error.to_string())
    };
    let head = reader.headers().map_err(broken)?.clone();
    let columns = head
        .iter()
        .map(|name| column(name).ok_or_else(|| bad_cell(source, 1, name, "no such column".into())))
        .collect::<Result<Vec<_>, _>>()?;
    let rates = columns
        .iter()
        .filter(|c| matches!(c, LatencyColumn::Rate(_)));
    if rates.count() != 1 {
        let problem = "one rate of writes is needed, in one unit".into();
        return Err(bad_cell(source, 1, "columns", problem));
    }
    let mut measurements = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record
            .position()
            .map_or(0, |position| position.line() as usize);
        let mut measurement = MeasuredLatency {
            line,
            load: "uniform".into(),
            used: 1.0,
            rate: 0.0,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        let cells = record.iter().zip(&columns).zip(&head);
        for ((cell, column), name) in cells.filter(|((cell, _), _)| !cell.is_empty()) {
            set_cell(&mut measurement, *column, cell)
                .map_err(|allowed| bad_cell(source, line, name, format!("`{cell}`: {allowed}")))?;
        }
        measurements.push(checked(measurement, source)?);
    }
    if measurements.is_empty() {
        return Err(bad_cell(source, 0, "table", "no row".into()));
    }
    Ok(measurements)
}

/// Puts one cell into its row.
fn set_cell(
    measurement: &mut MeasuredLatency,
    column: LatencyColumn,
    cell: &str,
) -> Result<(), String> {
    let within = |low: f64, high: f64, allowed: &str| {
        let value = cell.parse::<f64>().ok();
        value
            .filter(|v| (low..=high).contains(v))
            .ok_or_else(|| allowed.to_owned())
    };
    match column {
        LatencyColumn::Load => {
            let pattern = SyntheticPattern::parse(cell).map_err(|_| "not a load that is known")?;
            measurement.load = pattern.to_string();
        }
        LatencyColumn::Used => {
            measurement.used = within(1.0, 100.0, "1 to 100 is allowed")? / 100.0
        }
        LatencyColumn::Rate(unit) => {
            measurement.rate = within(1e-6, 1e12, "a rate above 0 is allowed")? * unit
        }
        LatencyColumn::Percentile(kind, percent) => {
            let us = within(1e-3, LONGEST, "0.001 us to 100 s is allowed, in us")?;
            let quantile = Quantile { percent, us };
            match kind {
                ReadOrWrite::Read => measurement.reads.push(quantile),
                ReadOrWrite::Write => measurement.writes.push(quantile),
            }
        }
    }
    Ok(())
}

/// A measurement that can be true, with its percentiles in order.
fn checked(mut measurement: MeasuredLatency, source: &str) -> Result<MeasuredLatency, LabError> {
    let line = measurement.line;
    if measurement.rate <= 0.0 {
        return Err(bad_cell(
            source,
            line,
            "rate",
            "the rate of writes is not given".into(),
        ));
    }
    for (name, quantiles) in [
        ("read", &mut measurement.reads),
        ("write", &mut measurement.writes),
    ] {
        quantiles.sort_by(|a, b| a.percent.total_cmp(&b.percent));
        if let Some(pair) = quantiles
            .windows(2)
            .find(|pair| pair[0].us > pair[1].us || pair[0].percent == pair[1].percent)
        {
            let problem = format!(
                "the {} percentile is {} us, the {} percentile {} us",
                pair[0].percent, pair[0].us, pair[1].percent, pair[1].us
            );
            return Err(bad_cell(source, line, name, problem));
        }
    }
    if measurement.reads.is_empty() && measurement.writes.is_empty() {
        return Err(bad_cell(
            source,
            line,
            "latency",
            "no percentile is given".into(),
        ));
    }
    Ok(measurement)
}

/// Reads fio's JSON, or a run directory, which holds it: the completion latency of the job that
/// reads, or of the only one, beside the writes of all jobs.
///
/// # Errors
/// When it cannot be read, holds no percentiles, or those of several jobs.
pub fn run(path: &Path, load: &str, line: usize) -> Result<MeasuredLatency, LabError> {
    let source = path.display().to_string();
    let file = if path.is_dir() {
        path.join("fio.json")
    } else {
        path.to_owned()
    };
    let text = std::fs::read_to_string(&file);
    let text = text.map_err(|error| LabError::file("reading", &file, error))?;
    let wrong = |problem: String| {
        let hint = "give a run directory, or what `fio --output-format=json` wrote, with one job \
                    that reads (group_reporting makes one of several)";
        LabError::refused(format!("{source}: {problem}"), hint)
    };
    let start = text.find('{').ok_or_else(|| wrong("no JSON".into()))?;
    let report: Value =
        serde_json::from_str(&text[start..]).map_err(|error| wrong(error.to_string()))?;
    let jobs = report["jobs"]
        .as_array()
        .ok_or_else(|| wrong("no `jobs`".into()))?;
    let groups = jobs.iter().map(|job| job["groupid"].as_u64().unwrap_or(0));
    if groups
        .clone()
        .any(|group| Some(group) != groups.clone().next())
    {
        let problem = "its jobs ran one after the other (stonewall)".into();
        return Err(wrong(problem));
    }
    let number = |job: &Value, op: &str, key: &str| job[op][key].as_f64().unwrap_or(0.0);
    let rate = jobs
        .iter()
        .map(|job| number(job, "write", "bw_bytes"))
        .sum::<f64>();
    let quantiles = |job: &Value, op: &str| {
        let map = job[op]["clat_ns"]["percentile"].as_object();
        let quantiles = map.into_iter().flatten().filter_map(|(percent, ns)| {
            let percent: f64 = percent.parse().ok()?;
            let us = ns.as_f64()? / 1000.0;
            (percent < 100.0 && us > 0.0).then_some(Quantile { percent, us })
        });
        quantiles.collect::<Vec<_>>()
    };
    let reading: Vec<&Value> = jobs
        .iter()
        .filter(|job| number(job, "read", "total_ios") > 0.0)
        .collect();
    let probe = match (reading.as_slice(), jobs.as_slice()) {
        ([one], _) => one,
        ([], [one]) => one,
        ([], _) => return Err(wrong("several jobs, and none of them reads".into())),
        (several, _) => return Err(wrong(format!("{} jobs read", several.len()))),
    };
    let (load, used) = load_and_share(load)?;
    let pattern = SyntheticPattern::parse(load)?;
    let measurement = MeasuredLatency {
        line,
        load: pattern.to_string(),
        used,
        rate,
        reads: quantiles(probe, "read"),
        writes: quantiles(probe, "write"),
    };
    checked(measurement, &source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_its_units() {
        let text = "# drive at 21 C\nload,write_mibs,read_p99.9_us,read_p50_us,write_p50_us\n\
                    zipf:0.8,100,400,70,8\n,50,,65,\n";
        let all = parse(text, "l.csv").unwrap();
        assert_eq!((all[0].line, all[0].load.as_str()), (3, "zipf:0.8"));
        assert_eq!(all[0].rate, 100.0 * 1_048_576.0);
        let percents: Vec<f64> = all[0].reads.iter().map(|one| one.percent).collect();
        assert_eq!(percents, [50.0, 99.9]);
        assert_eq!((all[1].load.as_str(), all[1].reads.len()), ("uniform", 1));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line() {
        for (text, what) in [
            ("write_iops,read_p50\n1,2\n", "no such column"),
            ("write_iops,read_p100_us\n1,2\n", "no such column"),
            ("read_p50_us\n1\n", "one rate"),
            ("write_iops,write_mbs,read_p50_us\n1,1,1\n", "one rate"),
            ("write_iops,read_p50_us\n", "no row"),
            ("write_iops,read_p50_us\n1000\n", "l.csv:2"),
            ("write_iops,read_p50_us\n1000,\n", "no percentile"),
            ("write_iops,read_p50_us\n,70\n", "rate of writes"),
            ("write_iops,read_p50_us\n1000,-3\n", "l.csv:2"),
            ("load,write_iops,read_p50_us\nx,1000,3\n", "not a load"),
            (
                "write_iops,read_p90_us,read_p50_us\n1000,60,70\n",
                "l.csv:2",
            ),
        ] {
            let error = parse(text, "l.csv").expect_err(text);
            assert!(error.to_string().contains(what), "{text}: {error}");
            assert!(!error.hint().is_empty());
        }
    }

    fn job(group: u32, reads: u64, write: u64) -> String {
        format!(
            "{{\"groupid\": {group}, \"read\": {{\"total_ios\": {reads}, \"clat_ns\": \
             {{\"percentile\": {{\"50.000000\": 70000, \"99.000000\": 250000}}}}}}, \"write\": \
             {{\"total_ios\": 9, \"bw_bytes\": {write}, \"clat_ns\": {{\"percentile\": \
             {{\"50.000000\": 9000}}}}}}}}"
        )
    }

    #[test]
    fn fio_gives_the_probe_beside_all_writes() {
        let dir = tempfile::tempdir().unwrap();
        let read = |jobs: &[String]| {
            let file = dir.path().join("fio.json");
            let text = format!("fio: note\n{{\"jobs\": [{}]}}", jobs.join(","));
            std::fs::write(&file, text).unwrap();
            // A run directory holds it under this name.
            run(dir.path(), "uniform@50%", 1)
        };
        let one = read(&[job(0, 0, 30_000_000), job(0, 5, 20_000_000)]).unwrap();
        assert_eq!((one.rate, one.used), (5e7, 0.5));
        assert_eq!((one.reads[1].us, one.writes[0].us), (250.0, 9.0));
        for (jobs, why) in [
            (vec![job(0, 5, 1), job(1, 0, 1)], "stonewall"),
            (vec![job(0, 5, 1), job(0, 5, 1)], "2 jobs read"),
            (vec![job(0, 0, 1), job(0, 0, 1)], "none of them reads"),
            (vec![job(0, 5, 0)], "rate of writes"),
        ] {
            let error = read(&jobs).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
