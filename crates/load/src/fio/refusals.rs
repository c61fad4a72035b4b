//! Why an option is refused and what to do instead.

use super::ini::Setting;
use super::options;
use ssdlab_base::LabError;

/// Options people do use, with what to do about each.
static KNOWN: &[(&[&str], &str)] = &[
    (&["include"], "copy the included file's lines into this one"),
    (
        &["end_fsync", "fsync_on_close"],
        "use fsync= or fdatasync= to count flushes while the job runs",
    ),
    (&["bsrange"], "use bssplit= with the sizes and their shares"),
    (
        &["bs_unaligned"],
        "drives are addressed in blocks of 512 bytes: leave it out",
    ),
    (&["offset_increment"], "write one job per offset"),
    (&["rw_sequencer"], "leave it out"),
    (&["directory", "opendir"], "name the file with filename="),
    (
        &["steadystate"],
        "leave it out: the lab judges steady state itself, over the whole window",
    ),
    (
        &["verify"],
        "leave it out: contents are not verified by a performance run",
    ),
    (
        &[
            "write_bw_log",
            "write_lat_log",
            "write_iops_log",
            "write_hist_log",
            "log_avg_msec",
            "log_hist_msec",
        ],
        "leave it out: every run is recorded and can be exported as fio's logs",
    ),
    (&["read_iolog"], "replaying a log is not supported"),
    (&["write_iolog"], "writing a log is not supported"),
    (&["cpus_allowed"], "pin the whole program with taskset"),
    (&["numa_cpu_nodes"], "pin the whole program with numactl"),
    (&["invalidate"], "use direct=1, for which it has no meaning"),
    (&["rate_min"], "leave it out and look at the recorded rate"),
    (&["latency_target"], "run several depths and compare"),
    (&["writefua"], "use sync=dsync"),
    (&["dsync"], "write sync=dsync"),
    (&["wait_for"], "use stonewall to wait for all jobs above"),
    (
        &["loops"],
        "use io_size= for more than one pass, or time_based with runtime=",
    ),
    (&["nrfiles"], "write one job per file"),
];

/// The error for an option that is not in the table.
pub(super) fn unknown(setting: &Setting) -> LabError {
    let name = setting.name.as_str();
    let word = name.split(char::is_whitespace).next().unwrap_or(name);
    let hint = match (advice(word), nearest(name)) {
        (Some(hint), _) => hint.to_owned(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => {
            "leave it out if the result does not depend on it; see the list of supported options"
                .to_owned()
        }
    };
    setting.unsupported(hint)
}

/// What to do instead of `name`, if that is known.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(known, _)| known.contains(&name));
    known.map(|(_, hint)| *hint)
}

/// The supported name nearest to `name`, if it is near: a third of the letters may differ.
fn nearest(name: &str) -> Option<&'static str> {
    let names = options::supported_options()
        .iter()
        .flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied()));
    let lower = name.to_ascii_lowercase();
    // No option is so long that a longer name would be near it.
    if lower.len() > 64 {
        return None;
    }
    let (distance, best) = names.map(|n| (distance(&lower, n), n)).min()?;
    (distance <= (lower.len() / 3).clamp(1, 3)).then_some(best)
}

/// Levenshtein distance, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
