//! Why an option is refused and what to do instead.

use super::ini::Setting;
use super::options;
use ssdlab_base::LabError;

/// Options people do use, with what to do about each.
static KNOWN: &[(&[&str], &str)] = &[
    (
        &["end_fsync", "fsync_on_close"],
        "use fsync= or fdatasync= to count flushes while the job runs",
    ),
    (
        &["bs_unaligned"],
        "drives are addressed in blocks of 512 bytes: leave it out",
    ),
    (&["rw_sequencer"], "leave it out"),
    (
        &["rwmixcycle"],
        "fio refuses it, too, since it has no effect: leave it out",
    ),
    (&["opendir"], "name the files with filename="),
    (
        &[
            "steadystate",
            "ss",
            "steadystate_duration",
            "ss_dur",
            "steadystate_ramp_time",
            "ss_ramp",
        ],
        "leave it out: the lab judges steady state itself, over the whole window",
    ),
    (
        &[
            "verify",
            "verify_pattern",
            "verify_interval",
            "verify_fatal",
            "verify_dump",
            "verify_backlog",
            "verify_async",
            "do_verify",
        ],
        "leave it out: contents are not verified by a performance run",
    ),
    (
        &["write_hist_log", "log_hist_msec"],
        "leave it out: every run records a histogram for each second",
    ),
    (&["read_iolog"], "replay it with: ssdlab run --trace FILE"),
    (&["write_iolog"], "writing a log is not supported"),
    (
        &["latency_target", "latency_window", "latency_percentile"],
        "it searches a depth while it runs: run several depths and compare",
    ),
    (
        &["flow", "flow_id", "flow_watermark", "flow_sleep"],
        "jobs do not wait for each other's share: give each a rate=",
    ),
    (
        &["exitall", "exit_what"],
        "jobs do not end each other: give each a runtime= or an io_size=",
    ),
    (
        &[
            "zonemode",
            "zonesize",
            "zonerange",
            "zoneskip",
            "max_open_zones",
            "read_beyond_wp",
        ],
        "there is no zoned drive, and no strided zones: split the region into jobs with offset= \
         and size=",
    ),
    (
        &["buffer_pattern"],
        "use zero_buffers or buffer_compress_percentage=",
    ),
    (
        &["sg_write_mode"],
        "only plain writes are sent, without SCSI's verify and write same",
    ),
    (
        &[
            "continue_on_error",
            "ignore_error",
            "error_dump",
            "skip_bad",
        ],
        "leave it out: errors are counted, and a drive that fails ends the run",
    ),
    (&["writefua"], "use sync=dsync"),
    (&["dsync"], "write sync=dsync"),
    (&["wait_for"], "use stonewall to wait for all jobs above"),
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
