//! The table of fio options: parser, help and reference are made from it.

use super::draft::FioJobDraft;
use super::setters;
use ssdlab_fio::Error;
use ssdlab_fio::JobOption;

type OptionSetter = fn(&mut FioJobDraft, &JobOption) -> Result<(), Error>;

/// What an option does to a job.
#[derive(Clone, Copy)]
pub(super) enum OptionEffect {
    /// Changes the job.
    Set(OptionSetter),
    /// Shapes fio's own process or output only; the measured numbers are the same without it.
    OutputOnly,
    /// Changes something in fio that is not there here; the commands are the same without it.
    NoDifference,
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
    pub(super) effect: OptionEffect,
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

/// Whether `name` is an option without effect on the commands that a drive gets.
pub(super) fn is_moot(name: &str) -> bool {
    find(name).is_some_and(|option| matches!(option.effect, OptionEffect::NoDifference))
}

/// fio's name of what the user called `name`; unknown names are their own.
pub(super) fn canonical(name: &str) -> String {
    find(name).map_or(name, |option| option.name).to_owned()
}

/// Makes the table: `value` and `flag` and `named` (which may
/// stand alone) name a setter of [`setters`], their
/// own or the one after `by`; `output` has no effect on the measured numbers; `moot` has none on
/// the commands that a drive gets; `only` is accepted at these values.
macro_rules! options {
    ($($kind:ident $name:ident $(or $alias:ident)* $(by $set:ident)?: $($text:literal),+;)*) => {
        &[$(OptionHelp {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            ..options!(@$kind ($name $($set)?) $($text),+)
        }),*]
    };
    (@value $set:tt $unit:literal, $default:literal, $what:literal) => {
        row($what, $unit, $default, false, OptionEffect::Set(options!(@setter $set)))
    };
    (@named $set:tt $what:literal) => {
        row($what, "name", "the job's name", true, OptionEffect::Set(options!(@setter $set)))
    };
    (@flag $set:tt $default:literal, $what:literal) => {
        row($what, "0 or 1", $default, true, OptionEffect::Set(options!(@setter $set)))
    };
    (@output $set:tt $what:literal) => {
        row($what, "any", "", true, OptionEffect::OutputOnly)
    };
    (@moot $set:tt $what:literal) => {
        row(concat!("without effect here: ", $what), "any", "", true, OptionEffect::NoDifference)
    };
    (@only $set:tt $default:literal $(, $more:literal)*) => {
        row(AS_IN_FIO, "", $default, true, OptionEffect::Only(&[$default $(, $more)*]))
    };
    (@setter ($name:ident)) => { setters::$name };
    (@setter ($name:ident $set:ident)) => { setters::$set };
}

const AS_IN_FIO: &str = "accepted at this value, at which fio does what happens here anyway";

const fn row(
    what: &'static str,
    unit: &'static str,
    default: &'static str,
    flag: bool,
    effect: OptionEffect,
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
        "read write trim rw readwrite randread randwrite randtrim randrw trimwrite randtrimwrite \
         [:number]", "read",
        "kind and order of commands; the reads and writes of a sequential mix keep a position \
         each; write:8k leaves 8 KiB after each command, read:-8k goes backwards, randread:8 is \
         one random command and 7 that follow it";
    value rwmixread: "%", "50", "share of reads in a mix";
    value rwmixwrite: "%", "50", "share of writes in a mix";
    value bs or blocksize: "size[,size[,size]]", "4k",
        "bytes per command, for reads, writes and trims; multiples of 512 with direct=1, any size \
         through the page cache";
    value bssplit: "size/%:size/%:...[,...]", "",
        "several sizes with their shares; empty shares divide the rest";
    value bsrange or blocksize_range: "size-size or size:size[,...]", "",
        "sizes drawn evenly between both, in multiples of the smaller, as fio draws them";
    value blockalign or ba: "size", "the smallest bs",
        "random commands start at multiples of it; turns the random map off, as in fio";
    value size: "size or %", "all of the target",
        "length of the region, and bytes to transfer unless io_size or time_based is given";
    value io_size or io_limit: "size or % of size", "all of size", "bytes to transfer";
    value filesize: "size", "",
        "the region ends here; size limits the bytes to transfer beside it, or is a share of it";
    value number_ios: "count", "0",
        "end after this many commands, or at size if that is sooner; of one size only";
    value loops: "count", "1", "go over the region this many times, in another random order each";
    value offset or fileoffset: "size or %", "0", "start of the region";
    value offset_increment: "size", "0", "how much further on each copy of the job starts";
    value filename: "path[:path...]", "the target of the command line",
        "file or device; \\: stands for a colon; several are served in turn and lie one after \
         another on --target";
    value libblkio_path by filename: "path", "", "filename of libblkio";
    value directory: "path", "", "each copy of each job has its own file in it, as in fio";
    value filename_format: "text", "$jobname.$jobnum.$filenum",
        "names of the files; what has the same name is the same file";
    value nrfiles or nr_files: "count", "1",
        "files of each copy, size divided by this; served in turn";
    // How much at a time, how long.
    value ioengine: "io_uring libaio posixaio io_uring_cmd null psync sync vsync pvsync2 mmap ...",
        "io_uring",
        "accepted for fio's sake: io_uring is used; those that wait for each command (sync, psync, \
         vsync, pvsync, pvsync2, mmap, sg, libcufile) imply iodepth=1";
    value iodepth: "count", "1", "commands outstanding per copy";
    value iodepth_low: "count", "as iodepth",
        "once iodepth commands are outstanding, the next is sent when this few are";
    value iodepth_batch_complete_min or iodepth_batch_complete: "count", "1",
        "once iodepth commands are outstanding, the next is sent when this many have completed";
    value iodepth_batch_complete_max by checked_count: "count", "",
        "accepted: how many completions fio takes at a time; none waits for another here";
    value iodepth_batch or iodepth_batch_submit by checked_count: "count", "1",
        "accepted: fio gathers commands for a call of the kernel; they leave at the same instant";
    value numjobs: "count", "1", "copies of the job";
    value runtime or timeout: "time, s", "0", "end after this time, or at size if that is sooner";
    flag time_based: "0", "go on for all of runtime";
    value startdelay or start_delay: "time, s", "0",
        "from the start of its group to its first command";
    value ramp_time: "time, s", "0", "run for this time before counting";
    flag stonewall or wait_for_previous: "0", "start when the jobs above have ended";
    value wait_for: "job", "",
        "start when that job, and all beside it, have ended; an error if others run beside it";
    // Caching and durability.
    value direct: "0 or 1", "0", "bypass the page cache";
    value buffered: "0 or 1", "1", "the opposite of direct";
    value sync: "none sync dsync 0 1", "none", "each write is durable when it completes";
    value fsync: "count", "0", "flush after this many writes";
    value fdatasync: "count", "0", "flush after this many writes, without a file's metadata";
    value end_fsync: "0 or 1", "0", "flush when all is written, in each of several loops";
    value fsync_on_close: "0 or 1", "0", "as end_fsync";
    // Randomness.
    value random_distribution:
        "random zipf:theta pareto:h normal:% zoned:%/%:...[,...] zoned_abs:%/size:...[,...]",
        "random",
        "which addresses are likelier; all but random turn the random map off; zones of reads, \
         writes and trims may differ";
    value percentage_random: "%[,%[,%]]", "100",
        "reads, writes and trims: random commands that go to a random address; the others follow \
         the last of their kind";
    flag norandommap: "0", "do not wait with a second visit until all blocks had their first";
    value random_generator: "tausworthe tausworthe64 lfsr", "tausworthe",
        "lfsr: no address twice in a pass even with norandommap";
    value randseed: "number", "0x89", "seed of the job's choices";
    value randrepeat by checked_flag: "0 or 1", "1",
        "accepted: a run always repeats, also with 0; change randseed instead";
    value allrandrepeat by checked_flag: "0 or 1", "0", "accepted: a run always repeats";
    // Pace.
    value rate: "bytes/s[,...[,...]]", "unlimited", "limit per copy for reads, writes and trims";
    value rate_iops: "1/s[,...[,...]]", "unlimited", "limit per copy for reads, writes and trims";
    value rate_process: "linear or poisson", "linear",
        "times between commands of a rate: all the same, or exponentially distributed";
    value thinktime: "time, us", "0", "pause between commands";
    value thinktime_iotime: "time, s", "0", "time at work between pauses; 0 = a number of commands";
    value thinktime_blocks: "count", "1", "commands between pauses";
    // Contents.
    value buffer_compress_percentage by compress: "%", "0",
        "how much of the written data a compressor can remove";
    value buffer_compress_chunk by checked_size: "size", "512",
        "accepted: the length over which fio keeps that share; a model has the share only";
    flag zero_buffers: "0", "write zeroes";
    value buffer_pattern: "\"text\" number 0x...", "",
        "writes hold these bytes, repeated: on a real target as they are, on a model as what \
         compresses that far; one pattern per real target";
    value dedupe_percentage: "%", "0",
        "share of the smallest writes that repeat earlier contents, on a real target; no modelled \
         drive finds equal blocks; one choice per real target";
    value dedupe_mode: "repeat working_set", "repeat",
        "what they repeat: the last contents that were new, or any of a working set";
    value dedupe_working_set_percentage by dedupe_working_set: "%", "5",
        "the working set: as much new contents as this share of the region holds";
    flag refill_buffers: "0", "fresh contents for each write";
    // Verifying.
    value verify: "md5 crc32c sha256 xxhash meta pattern ...", "0",
        "read back earlier writes, after each pass of a job; the method is ssdlab's own, \
         whichever is named";
    value do_verify: "0 or 1", "1", "0: leave out the reads at the end of a pass";
    value verify_backlog: "count", "0", "read back after this many writes, too";
    value verify_backlog_batch: "count", "as verify_backlog", "how many to read back then";
    value continue_on_error: "none read write io verify all", "none",
        "verify and all: go on after blocks that hold something else";
    // Commands of a log.
    value read_iolog: "path", "",
        "the commands of this log of fio's (versions 2 and 3), of one file, at its times; rw, bs, \
         size and offset say nothing then";
    flag replay_no_stall: "0", "as fast as iodepth allows, without the log's pauses";
    value replay_time_scale: "%", "100", "speed of a log's times: 200 is twice as fast";
    value replay_redirect by filename: "path", "", "filename, of a log";
    // Zones.
    value zonemode: "none strided", "none", "strided: go through the region zone by zone";
    value zonesize: "size", "0", "bytes to transfer in a zone";
    value zonerange: "size", "as zonesize",
        "length of a zone; gone over again until zonesize is done";
    value zoneskip: "size", "0", "bytes left out between zones";
    value sg_write_mode: "write write_and_verify write_same_ndob verify_bytchk_00 _01 _11", "write",
        "what a write is: verify_bytchk is a read, in which nothing is compared; write_same_ndob \
         writes zeroes without data";
    // Jobs that depend on each other, or on what they measure.
    flag new_group: "0", "begin another group of jobs, which exitall ends together";
    value flow: "weight", "0", "keep this job's share of the commands of all jobs in its flow";
    value flow_id: "number", "0", "the flow";
    flag exitall: "0", "when a copy of this job ends, end others";
    value exit_what: "group stonewall all", "group",
        "whom: jobs of its group; all that run; all, and those that wait";
    value steadystate or ss: "iops:limit[%] iops_slope:... bw:... bw_slope:...", "",
        "end when this criterion holds, over all jobs of the group that name it";
    value steadystate_duration or ss_dur: "time, s", "0", "the window of the criterion";
    value steadystate_ramp_time or ss_ramp: "time, s", "0", "time before the first window";
    value latency_target: "time, us", "0", "search the depth that keeps this latency";
    value latency_window: "time, us", "0", "time over which a depth is judged";
    value latency_percentile: "%", "100", "share of the commands that must keep it";
    flag latency_run: "0", "go on after the depth was found";
    // Names and fio's own output.
    value name: "text", "the section", "the job's name";
    value kb_base: "1024 or 1000", "1024", "what k means; KiB means the other";
    output description: "text for the reader";
    output group_reporting: "fio sums up the copies of a job in its output";
    output thread or threads: "fio uses threads rather than processes";
    output fixedbufs: "fio registers its buffers with the ring; here they always are";
    output registerfiles: "fio registers its files with the ring; here they always are";
    output unit_base: "fio prints bits or bytes";
    output percentile_list: "fio prints these percentiles";
    output clat_percentiles: "fio prints percentiles of completion latency";
    output lat_percentiles: "fio prints percentiles of total latency";
    output slat_percentiles: "fio prints percentiles of submission latency";
    output gtod_reduce: "fio measures less to need less time; here all is measured";
    output disable_lat: "fio leaves out the latency; here it is measured";
    output disable_clat: "fio leaves out the completion latency; here it is measured";
    output disable_slat: "fio leaves out the submission latency";
    output disable_bw_measurement or disable_bw:
        "fio leaves out the bandwidth; here it is measured";
    output gtod_cpu: "fio reads the clock on a processor of its own";
    output clocksource: "fio reads this clock";
    named write_bw_log by log: "a log in the run directory, by fio's name";
    named write_iops_log by log: "as write_bw_log";
    named write_lat_log by log: "as write_bw_log, of lat and clat";
    value log_avg_msec: "time, ms", "0",
        "0: a line of a log for each command; otherwise a line a second, for a job that is alone \
         in its phase";
    output log_offset: "lines of a log for each command have the command's offset, too";
    moot log_entries: "logs are written as the run goes on";
    moot log_hist_coarseness: "every run records a histogram for each second";
    moot log_compression_cpus: "logs are not compressed";
    moot log_alternate_epoch: "times are from the start of the job's counted part";
    output disk_util: "fio prints the kernel's own counters; here the drive's are recorded";
    moot log_prio: "logs are plain text, with fio's default columns";
    moot log_max_value: "logs are plain text, with fio's default columns";
    moot per_job_logs: "logs are plain text, with fio's default columns";
    moot log_unix_epoch: "logs are plain text, with fio's default columns";
    moot log_compression: "logs are plain text, with fio's default columns";
    moot log_store_compressed: "logs are plain text, with fio's default columns";
    output bwavgtime: "fio averages bandwidth over this time, ms";
    output iopsavgtime: "fio averages IOPS over this time, ms";
    output unified_rw_reporting: "fio sums up reads, writes and trims";
    output significant_figures: "fio prints this many digits";
    output sig_figs: "fio prints this many digits";
    output block_error_percentiles: "fio prints errors of trimmed blocks";
    output eta: "fio prints an estimate of the time left";
    // The host: processors, memory, priorities. Nothing of this reaches a modelled drive.
    moot cpus_allowed: "pin the whole program with taskset";
    moot cpumask: "pin the whole program with taskset";
    moot cpus_allowed_policy: "pin the whole program with taskset";
    moot numa_cpu_nodes: "pin the whole program with numactl";
    moot numa_mem_policy: "pin the whole program with numactl";
    moot nice: "priorities are not passed on";
    moot prio: "priorities are not passed to the drive";
    moot prioclass: "priorities are not passed to the drive";
    moot priohint: "priorities are not passed to the drive";
    moot libblkio_driver: "how libblkio reaches the drive";
    moot cmdprio: "priorities are not passed to the drive";
    moot cmdprio_class: "priorities are not passed to the drive";
    moot cmdprio_percentage: "priorities are not passed to the drive";
    moot cmdprio_bssplit: "priorities are not passed to the drive";
    moot mem or iomem: "where fio keeps its buffers";
    moot iomem_align or mem_align: "where fio keeps its buffers";
    moot lockmem: "memory that fio locks";
    moot userspace_reap: "how libaio learns of completions";
    moot hipri: "how the kernel learns of completions";
    moot sqthread_poll: "who submits to the ring";
    moot sqthread_poll_cpu: "who submits to the ring";
    moot nonvectored: "form of the kernel's call";
    moot force_async: "who submits to the ring";
    moot io_submit_mode: "here commands never wait for another to be reaped";
    moot thinktime_spin: "a pause is spent asleep";
    moot write_hint: "lifetime hints are not passed to the drive";
    moot cgroup: "one process sends all commands";
    moot cgroup_nodelete: "one process sends all commands";
    moot cgroup_weight: "one process sends all commands";
    moot uid: "one process sends all commands";
    moot gid: "one process sends all commands";
    moot exitall_on_error: "an error ends the run, or none does";
    moot read_iolog_chunked: "a log is never held in memory";
    moot gpu_dev_ids: "where libcufile's buffers are; the drive gets the same commands";
    moot cuda_io: "where libcufile's buffers are; the drive gets the same commands";
    moot dedupe_global: "the jobs of a real target repeat the same contents in any case";
    // How fio verifies.
    moot verify_pattern: "blocks hold stamps of ssdlab's own";
    moot verify_interval: "each 512 bytes are verified on their own";
    moot verify_offset: "blocks hold stamps of ssdlab's own";
    moot verify_fatal: "a block that holds something else ends the run in any case";
    moot verify_dump: "nothing is dumped";
    moot verify_async: "blocks are verified as they arrive";
    moot verify_async_cpus: "blocks are verified as they arrive";
    moot verifysort: "fio has no such choice any more";
    moot verifysort_nr: "fio has no such choice any more";
    moot verify_write_sequence: "the write's number is always verified";
    moot verify_header_seed: "there is no such header";
    moot experimental_verify: "the commands are always made again rather than remembered";
    moot ignore_error: "errors are counted";
    moot error_dump: "errors are counted";
    moot flow_watermark: "fio has no such choice any more";
    moot flow_sleep: "a job that is ahead waits until it is not";
    // Judgement: the rates are recorded.
    moot rate_iops_min: "a rate that is too low ends no job; look at the recorded rate";
    moot rate_cycle or ratecycle: "a rate that is too low ends no job; look at the recorded rate";
    moot rate_min or ratemin: "a rate that is too low ends no job; look at the recorded rate";
    // Files: a target here has all its blocks, and holds no file system.
    moot create_serialize: "files are not created";
    moot create_fsync: "files are not created";
    moot create_on_open: "files are not created";
    moot fallocate: "files are not created";
    moot unique_filename: "there are no clients";
    moot lockfile: "one process uses the target";
    moot unlink_each_loop: "files are not removed";
    moot pre_read: "there is no page cache with direct=1 or on a modelled drive";
    moot unlink: "files are not removed";
    moot openfiles: "files are not opened";
    moot allow_file_create: "files are not created";
    moot allow_mounted_write: "safety of real devices is the program's own";
    moot invalidate: "there is no page cache with direct=1 or on a modelled drive";
    moot fadvise_hint: "there is no page cache with direct=1 or on a modelled drive";
    only cmd_type: "nvme";
    only stats: "1";
    only rw_sequencer: "sequential";
    only file_service_type: "roundrobin", "roundrobin:1";
    only overwrite: "0";
    value fill_device or fill_fs by checked_flag: "0 or 1", "0",
        "accepted: a target has all its blocks, and is written to its end unless size says less";
    only rate_ignore_thinktime: "0";
    only thinktime_blocks_type: "complete";
    only verify_only: "0";
    only verify_state_save: "0", "1";
    only verify_state_load: "0";
    only replay_scale: "1", "0";
    only replay_align: "0", "512";
    only bs_unaligned: "0";
    only trim_percentage: "0";
    only scramble_buffers: "0", "1";
};
