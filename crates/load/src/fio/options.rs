//! The table of fio options: parser, help and reference are made from it.

use super::draft::{self, Draft};
use super::ini::Setting;
use ssdlab_base::LabError;

type Set = fn(&mut Draft, &Setting) -> Result<(), LabError>;

/// What an option does to a job.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Changes the job.
    Set(Set),
    /// Shapes fio's own process or output only; the measured numbers are the same without it.
    OutputOnly,
    /// Accepted at the values at which fio does what happens here anyway.
    Only(&'static [&'static str]),
}

/// One supported option.
#[derive(Clone, Copy)]
pub struct OptionHelp {
    /// fio's name.
    pub name: &'static str,
    /// Other names fio knows it by.
    pub aliases: &'static [&'static str],
    /// What it does.
    pub what: &'static str,
    /// Form and unit of the value.
    pub unit: &'static str,
    /// The value when it is not given.
    pub default: &'static str,
    /// It may stand without a value, which then is 1.
    pub flag: bool,
    pub(super) effect: Effect,
}

/// Every option a job file may use, in the order of the reference.
pub fn supported_options() -> &'static [OptionHelp] {
    OPTIONS
}

/// The option called `name`.
pub(super) fn find(name: &str) -> Option<&'static OptionHelp> {
    OPTIONS
        .iter()
        .find(|o| o.name == name || o.aliases.contains(&name))
}

/// fio's name of what the user called `name`; unknown names are their own.
pub(super) fn canonical(name: &str) -> String {
    find(name).map_or(name, |option| option.name).to_owned()
}

/// Makes the table: `value` and `flag` (which may stand alone) name a setter of [`draft`], their
/// own or the one after `by`; `output` has no effect on the measured numbers; `only` is accepted at
/// these values.
macro_rules! options {
    ($($kind:ident $name:ident $(or $alias:ident)* $(by $set:ident)?: $($text:literal),+;)*) => {
        &[$(OptionHelp {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            ..options!(@$kind ($name $($set)?) $($text),+)
        }),*]
    };
    (@value $set:tt $unit:literal, $default:literal, $what:literal) => {
        row($what, $unit, $default, false, Effect::Set(options!(@setter $set)))
    };
    (@flag $set:tt $default:literal, $what:literal) => {
        row($what, "0 or 1", $default, true, Effect::Set(options!(@setter $set)))
    };
    (@output $set:tt $what:literal) => {
        row($what, "any", "", true, Effect::OutputOnly)
    };
    (@only $set:tt $default:literal $(, $more:literal)*) => {
        row(AS_IN_FIO, "", $default, true, Effect::Only(&[$default $(, $more)*]))
    };
    (@setter ($name:ident)) => { draft::$name };
    (@setter ($name:ident $set:ident)) => { draft::$set };
}

const AS_IN_FIO: &str = "accepted at this value, at which fio does what happens here anyway";

const fn row(
    what: &'static str,
    unit: &'static str,
    default: &'static str,
    flag: bool,
    effect: Effect,
) -> OptionHelp {
    OptionHelp {
        name: "",
        aliases: &[],
        what,
        unit,
        default,
        flag,
        effect,
    }
}

static OPTIONS: &[OptionHelp] = options! {
    // What and where.
    value rw or readwrite:
        "read write trim rw readwrite randread randwrite randtrim randrw", "read",
        "kind and order of commands; the reads and writes of a sequential mix keep a position each";
    value rwmixread: "%", "50", "share of reads in a mix";
    value rwmixwrite: "%", "50", "share of writes in a mix";
    value bs or blocksize: "size[,size[,size]]", "4k",
        "bytes per command, for reads, writes and trims";
    value bssplit: "size/%:size/%:...[,...]", "",
        "several sizes with their shares; empty shares divide the rest";
    value blockalign or ba: "size", "the smallest bs",
        "random commands start at multiples of it; turns the random map off, as in fio";
    value size: "size or %", "all of the target",
        "length of the region, and bytes to transfer unless io_size or time_based is given";
    value io_size or io_limit: "size or % of size", "all of size", "bytes to transfer";
    value filesize: "size", "",
        "length of the region when size is not given, or what size=% refers to";
    value offset or fileoffset: "size or %", "0",
        "start of the region; every copy of a job starts there";
    value filename: "path", "the target of the command line",
        "file or device; \\: stands for a colon";
    // How much at a time, how long.
    value ioengine: "io_uring libaio posixaio psync sync null", "io_uring",
        "accepted for fio's sake: io_uring is used; psync and sync imply iodepth=1";
    value iodepth: "count", "1", "commands outstanding per copy";
    value numjobs: "count", "1", "copies of the job";
    value runtime or timeout: "time, s", "0", "end after this time, or at size if that is sooner";
    flag time_based: "0", "go on for all of runtime";
    value ramp_time: "time, s", "0", "run for this time before counting";
    flag stonewall or wait_for_previous: "0", "start when the jobs above have ended";
    // Caching and durability.
    value direct: "0 or 1", "0", "bypass the page cache";
    value buffered: "0 or 1", "1", "the opposite of direct";
    value sync: "none sync dsync 0 1", "none", "each write is durable when it completes";
    value fsync: "count", "0", "flush after this many writes";
    value fdatasync: "count", "0", "flush after this many writes, without a file's metadata";
    // Randomness.
    value random_distribution: "random zipf:theta pareto:h zoned:%/%:...", "random",
        "which addresses are likelier; all but random turn the random map off";
    value percentage_random: "%", "100",
        "random commands that go to a random address; the others follow the last of their kind";
    flag norandommap: "0", "do not wait with a second visit until all blocks had their first";
    value randseed: "number", "0x89", "seed of the job's choices";
    value randrepeat by checked_flag: "0 or 1", "1",
        "accepted: a run always repeats, also with 0; change randseed instead";
    value allrandrepeat by checked_flag: "0 or 1", "0", "accepted: a run always repeats";
    // Pace.
    value rate: "bytes/s[,...[,...]]", "unlimited", "limit per copy for reads, writes and trims";
    value rate_iops: "1/s[,...[,...]]", "unlimited", "limit per copy for reads, writes and trims";
    value thinktime: "time, us", "0", "pause between commands";
    value thinktime_iotime: "time, s", "0", "time at work between pauses; 0 = a number of commands";
    value thinktime_blocks: "count", "1", "commands between pauses";
    // Contents.
    value buffer_compress_percentage by compress: "%", "0",
        "how much of the written data a compressor can remove";
    flag zero_buffers: "0", "write zeroes";
    flag refill_buffers: "0", "fresh contents for each write";
    // Names and fio's own output.
    value name: "text", "the section", "the job's name";
    value kb_base: "1024 or 1000", "1024", "what k means; KiB means the other";
    output description: "text for the reader";
    output group_reporting: "fio sums up the copies of a job in its output";
    output new_group: "fio begins another group in its output";
    output thread: "fio uses threads rather than processes";
    output fixedbufs: "fio registers its buffers with the ring; here they always are";
    output registerfiles: "fio registers its files with the ring; here they always are";
    output unit_base: "fio prints bits or bytes";
    output percentile_list: "fio prints these percentiles";
    output clat_percentiles: "fio prints percentiles of completion latency";
    output lat_percentiles: "fio prints percentiles of total latency";
    output slat_percentiles: "fio prints percentiles of submission latency";
    only gtod_reduce: "0";
    only disable_lat: "0";
    only disable_clat: "0";
    only disable_slat: "0";
    only disable_bw_measurement: "0";
    only loops: "1";
    only nrfiles: "1";
    only startdelay: "0";
    only verify: "0";
    only do_verify: "0";
    only end_fsync: "0";
    only fsync_on_close: "0";
    only iodepth_batch: "1";
    only iodepth_batch_submit: "1";
    only rate_process: "linear";
    only zonemode: "none";
    only exitall: "0";
    only continue_on_error: "none";
    only scramble_buffers: "0", "1";
};
