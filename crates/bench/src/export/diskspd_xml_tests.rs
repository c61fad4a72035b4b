use super::*;
use crate::record::testing;
use quick_xml::Reader;
use ssdlab_load::plan::{DiskspdOutput, Language};

fn machine() -> DiskspdMachine {
    let name = "lab <1> & \u{1}2".to_string();
    DiskspdMachine {
        name,
        run_time: "2026/01/02 03:04:05".to_string(),
        processors: 2,
    }
}

fn made() -> (WorkloadPlan, RunRecord) {
    let mut jobs = vec![
        testing::job("a", Mix::ReadWrite { read_pct: 70 }),
        testing::job("b", Mix::Write),
    ];
    jobs[1].target = Some(r#"C:\a "b" <c> & d.dat"#.to_string());
    let mut plan = testing::plan(
        Language::Diskspd {
            args: Vec::new(),
            output: DiskspdOutput::default(),
        },
        jobs,
    );
    // Both targets at once, then the first alone.
    let again = testing::job("c", Mix::Read);
    let second = plan.phases.remove(1);
    plan.phases[0].jobs.extend(second.jobs);
    plan.phases.push(PlanPhase { jobs: vec![again] });
    let record = testing::record(&plan, 6, 11);
    (plan, record)
}

/// Every element with its path and its text, in order; `Event::Empty` has its attributes as text.
fn elements(xml: &str) -> Vec<(String, String)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().trim_text(true);
    let (mut path, mut found) = (Vec::new(), Vec::<(String, String)>::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                path.push(start.name().as_ref().to_string());
                found.push((path.join("/"), String::new()));
            }
            Event::Empty(empty) => {
                let name = empty.name().as_ref().to_string();
                found.push((format!("{}/{name}", path.join("/")), empty.to_string()));
            }
            Event::Text(value) => found.last_mut().unwrap().1.push_str(&value),
            Event::End(_) => drop(path.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(path.is_empty());
    found
}

fn numbers(elements: &[(String, String)], path: &str) -> Vec<u64> {
    let at = elements.iter().filter(|(p, _)| p == path);
    at.map(|(_, value)| value.parse().unwrap_or_else(|_| panic!("{path}: {value}")))
        .collect()
}

#[test]
fn required_elements_are_there() {
    let (plan, record) = made();
    let all = elements(&diskspd_xml(&plan, &record, &machine()));
    let has = |path: &str| all.iter().filter(|(p, _)| p == path).count();
    assert_eq!(all[0].0, "Results");
    for path in [
        "Results/System/ComputerName",
        "Results/System/Tool/Version",
        "Results/System/RunTime",
        "Results/Profile/ResultFormat",
    ] {
        assert_eq!(has(path), 1, "{path}");
    }
    for path in [
        "Results/Profile/TimeSpans/TimeSpan/Duration",
        "Results/TimeSpan/TestTimeSeconds",
        "Results/TimeSpan/ThreadCount",
        "Results/TimeSpan/ProcCount",
        "Results/TimeSpan/CpuUtilization/Average/UsagePercent",
        "Results/TimeSpan/Latency/AverageReadMilliseconds",
        "Results/TimeSpan/Latency/AverageTotalMilliseconds",
        "Results/TimeSpan/Latency/LatencyStdev",
        "Results/TimeSpan/Iops/ReadIopsStdDev",
        "Results/TimeSpan/Iops/IopsStdDev",
    ] {
        assert_eq!(has(path), 2, "{path}");
    }
    assert_eq!(has("Results/TimeSpan/Latency/AverageWriteMilliseconds"), 1);
    assert_eq!(
        has("Results/Profile/TimeSpans/TimeSpan/Targets/Target/BlockSize"),
        3
    );
    // 0, 1 to 99, seven fractions, 100.
    assert_eq!(has("Results/TimeSpan/Latency/Bucket/Percentile"), 2 * 108);
    assert_eq!(has("Results/TimeSpan/Iops/Bucket"), 2 * 6);
    assert_eq!(has("Results/TimeSpan/Thread/Target/Iops/Bucket"), 3 * 6);
    assert_eq!(
        has("Results/TimeSpan/Thread/Target/AverageReadLatencyMilliseconds"),
        2
    );
}

#[test]
fn counts_sum() {
    let (plan, record) = made();
    let all = elements(&diskspd_xml(&plan, &record, &machine()));
    let of = |name: &str| numbers(&all, &format!("Results/TimeSpan/Thread/Target/{name}"));
    let (reads, writes, both) = (of("ReadCount"), of("WriteCount"), of("IOCount"));
    let (read_bytes, write_bytes, bytes) = (of("ReadBytes"), of("WriteBytes"), of("BytesCount"));
    assert_eq!(both.len(), 3);
    for i in 0..3 {
        let ops = &record.jobs[i].ops;
        assert_eq!((reads[i], writes[i]), (ops[0].count, ops[1].count));
        assert_eq!(reads[i] + writes[i], both[i]);
        assert_eq!(read_bytes[i] + write_bytes[i], bytes[i]);
        assert_eq!(bytes[i], both[i] * 4096);
    }
    assert_eq!(numbers(&all, "Results/TimeSpan/ThreadCount"), [4, 2]);
}

#[test]
fn percentiles_never_fall() {
    let (plan, record) = made();
    let all = elements(&diskspd_xml(&plan, &record, &machine()));
    let values: Vec<f64> = all
        .iter()
        .filter(|(path, _)| path == "Results/TimeSpan/Latency/Bucket/TotalMilliseconds")
        .map(|(_, value)| value.parse().unwrap())
        .collect();
    for span in values.chunks(108) {
        assert!(span.windows(2).all(|pair| pair[0] <= pair[1]));
    }
    let percentiles: Vec<&str> = all
        .iter()
        .filter(|(path, _)| path == "Results/TimeSpan/Latency/Bucket/Percentile")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(
        percentiles[99..108].join(" "),
        "99 99.9 99.99 99.999 99.9999 99.99999 \
        99.999999 99.9999999 100"
    );
}

#[test]
fn an_interrupted_run_says_so() {
    let (plan, mut record) = made();
    record.seconds.clear();
    for job in &mut record.jobs {
        job.length = Nanos::ZERO;
    }
    let all = elements(&diskspd_xml(&plan, &record, &machine()));
    assert_eq!(
        all.iter()
            .filter(|(path, _)| path == "Results/TimeSpan/Error")
            .count(),
        2
    );
}
