//! Why an option is refused and what to do instead.

use super::options;
use ssdlab_fio::Error;
use ssdlab_fio::JobOption;

/// Options people do use, with what to do about each.
static KNOWN: &[(&[&str], &str)] = &[
    (
        &["hugepage-size"],
        "it says where fio keeps its buffers: leave it out",
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
        &["write_hist_log", "log_hist_msec"],
        "leave it out: every run records a histogram for each second",
    ),
    (
        &[
            "replay_skip",
            "replay_scale",
            "replay_align",
            "merge_blktrace_file",
        ],
        "a log is replayed as it is; change it first: ssdlab trace convert",
    ),
    (&["write_iolog"], "writing a log is not supported"),
    (
        &["verify_only", "verify_state_load", "verify_state_save"],
        "leave it out: a run verifies what it wrote itself; for a drive that was written before, \
         use a job with rw=read and verify=",
    ),
    (
        &[
            "max_open_zones",
            "job_max_open_zones",
            "read_beyond_wp",
            "zone_reset_threshold",
            "zone_reset_frequency",
            "ignore_zone_limits",
            "zonecapacity",
            "recover_zbd_write_error",
        ],
        "it belongs to drives of zones that are reset as a whole, and there is none here",
    ),
    (
        &[
            "trim_percentage",
            "trim_verify_zero",
            "trim_backlog",
            "trim_backlog_batch",
        ],
        "use rw=trimwrite, or a job of its own with rw=trim",
    ),
    (&["skip_bad"], "it is for raw flash"),
    (
        &["serialize_overlap"],
        "commands that overlap are not held back: use iodepth=1, or leave it out",
    ),
    (
        &["file_append", "create_only"],
        "the target has all its blocks: leave it out",
    ),
    (&["offset_align"], "write an aligned offset"),
    (
        &["write_barrier", "sync_file_range"],
        "use fsync= or fdatasync=",
    ),
    (
        &["atomic"],
        "drives here promise no atomic writes: leave it out",
    ),
    (
        &["exec_prerun", "exec_postrun"],
        "no programs are run: call it before or after ssdlab",
    ),
    (
        &["ioscheduler"],
        "write it to /sys/block/DEVICE/queue/scheduler before the run",
    ),
    (
        &["max_latency"],
        "no latency ends a job: look at the largest in the result",
    ),
    (
        &["profile"],
        "ssdlab has its own: ssdlab run --profile NAME",
    ),
    (
        &["merge_blktrace_scalars", "merge_blktrace_iters"],
        "give one log",
    ),
    (&["writefua"], "use sync=dsync"),
    (&["dsync"], "write sync=dsync"),
    (&["wait_for"], "use stonewall to wait for all jobs above"),
];

/// The error for an option that is not in the table.
pub(super) fn unknown(setting: &JobOption) -> Error {
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

/// The supported name nearest to `name`, if it is near.
fn nearest(name: &str) -> Option<&'static str> {
    let names = options::supported_options()
        .iter()
        .flat_map(|o| std::iter::once(o.name).chain(o.aliases.iter().copied()));
    ssdlab_fio::names::nearest(name, names)
}
