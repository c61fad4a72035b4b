//! What is refused, by its exact message.

use super::{options, parse, refusals};

/// Lines of a section, the message without its place, the hint.
const BAD: &[(&str, &str, &str)] = &[
    (
        "rw=read:8",
        "`rw` cannot be `read:8`: of sequential commands, the number after the colon is a size, a \
      multiple of 512",
        "write:8k leaves 8 KiB between writes, read:-8k reads 4 KiB blocks backwards",
    ),
    (
        "rw=randread:0",
        "`rw` cannot be `randread:0`: of random commands, the number after the colon is a count \
      from 1",
        "randread:8 is one random command and 7 that follow it",
    ),
    (
        "rw=writetrim",
        "`rw` cannot be `writetrim`: it is read, write, trim, rw, trimwrite, or one of them with \
      rand before it",
        "",
    ),
    (
        "bs=4KiB",
        "`bs` cannot be `4KiB`: a block is a multiple of 512 bytes and less than 4 GiB",
        "fio reads 4KiB as 4000 bytes; write 4K",
    ),
    (
        "bs=4.0k",
        "`bs` cannot be `4.0k`: a size is a number with k, m, g, t or p, such as 4k or 10g",
        "",
    ),
    (
        "bs=0",
        "`bs` cannot be `0`: a block is a multiple of 512 bytes and less than 4 GiB",
        "drives are addressed in blocks of 512 bytes",
    ),
    ("bs", "`bs` cannot be ``: it needs a value", "write bs=..."),
    (
        "bs=1k,2k,3k,4k",
        "`bs` cannot be `1k,2k,3k,4k`: at most three values: read,write,trim",
        "",
    ),
    (
        "bssplit=4k/50:8k/40",
        "`bssplit` cannot be `4k/50:8k/40`: its shares add up to 90 %, not 100",
        "leave one share empty to give it the rest: 4k/60:64k/",
    ),
    (
        "bssplit=4k/50:8k/60",
        "`bssplit` cannot be `4k/50:8k/60`: its shares add up to 110 %, not \
      100",
        "leave one share empty to give it the rest: 4k/60:64k/",
    ),
    (
        "bssplit=4k/x",
        "`bssplit` cannot be `4k/x`: a share is a whole number from 0 to 100",
        "",
    ),
    (
        "size=101%",
        "`size` cannot be `101%`: a share is 0% to 100%",
        "",
    ),
    (
        "offset=100",
        "`offset` cannot be `100`: it is a multiple of 512 bytes",
        "",
    ),
    (
        "iodepth=0",
        "`iodepth` cannot be `0`: it is a whole number from 1 to 65536",
        "",
    ),
    (
        "rwmixread=101",
        "`rwmixread` cannot be `101`: it is a whole number from 0 to 100",
        "",
    ),
    (
        "runtime=5x",
        "`runtime` cannot be `5x`: a time is a whole number of seconds, or one with d, \
      h, m, s, ms or us",
        "",
    ),
    ("direct=yes", "`direct` cannot be `yes`: it is 0 or 1", ""),
    (
        "sync=2",
        "`sync` cannot be `2`: it is none, sync, dsync, 0 or 1",
        "",
    ),
    (
        "ioengine=splice",
        "`ioengine` cannot be `splice`: it moves data by pipes through the page cache",
        "for the same load on a drive, write ioengine=io_uring",
    ),
    (
        "random_distribution=zipf:1.0",
        "`random_distribution` cannot be `zipf:1.0`: zipf's theta is \
      above 0 and not 1",
        "for theta 1 use 1.001",
    ),
    (
        "random_distribution=zipf:NaN",
        "`random_distribution` cannot be `zipf:NaN`: zipf's theta is \
      above 0 and not 1",
        "for theta 1 use 1.001",
    ),
    (
        "random_distribution=pareto:1",
        "`random_distribution` cannot be `pareto:1`: pareto's h lies \
      between 0 and 1",
        "",
    ),
    (
        "random_distribution=zoned:50/5:30/15",
        "`random_distribution` cannot be \
      `zoned:50/5:30/15`: accesses add up to 80 % and sizes to 20 %, not 100",
        "for example zoned:50/5:30/15:20/80, or such lists for reads,writes,trims",
    ),
    (
        "random_distribution=gauss:1",
        "`random_distribution` cannot be `gauss:1`: it is random, zipf:theta, pareto:h, \
      normal:deviation or zoned:accesses/size:...",
        "",
    ),
    (
        "filename=a::b",
        "`filename` cannot be `a::b`: it is the path of a file or device",
        "several are separated by colons; \\: is a colon in a name",
    ),
    (
        "size=${SIZE}",
        "`size` cannot be `${SIZE}`: the environment variable SIZE is not set",
        "set it, for example by: export SIZE=...",
    ),
    (
        "name=\"x",
        "`name` cannot be `\"x`: its quote is not closed",
        "end it as it begins",
    ),
    (
        "zonemode=zbd",
        "`zonemode` cannot be `zbd`: no target here has zones that are reset as a whole; without \
      zonesize, fio refuses such a target, too",
        "zonemode=strided goes through any drive zone by zone",
    ),
    (
        "zonemode=zbd\nzonesize=1m",
        "`zonemode` cannot be `zbd`: no target here has zones that are reset as a whole, and \
      imitated ones, which fio makes of zonesize, are not supported",
        "zonemode=strided goes through any drive zone by zone",
    ),
    (
        "rate_process=pareto",
        "`rate_process` cannot be `pareto`: it is linear or poisson",
        "",
    ),
    (
        "iodeph=4",
        "fio option `iodeph` is not supported",
        "did you mean `iodepth`?",
    ),
    (
        "Group_Reporting",
        "fio option `Group_Reporting` is not supported",
        "did you mean `group_reporting`?",
    ),
    ("end_fsync=2", "`end_fsync` cannot be `2`: it is 0 or 1", ""),
    (
        "steadystate=iops",
        "`steadystate` cannot be `iops`: it is iops, iops_slope, bw or bw_slope, a colon and a \
      limit such as 5%",
        "for example steadystate=iops:5%",
    ),
    (
        "verify=crc128",
        "`verify` cannot be `crc128`: it is one of md5 crc64 crc32 crc32c crc32c-intel crc16 crc7 \
      xxhash sha1 sha256 sha512 sha3-224 sha3-256 sha3-384 sha3-512 meta pattern pattern_hdr",
        "",
    ),
    (
        "include other.fio",
        "`include` cannot be `other.fio`: a text without a file includes none",
        "copy the included file's lines into this one",
    ),
    (
        "quite_unheard_of=1",
        "fio option `quite_unheard_of` is not supported",
        "leave it out if the result does not depend on it; see the list of supported options",
    ),
    (
        "two words",
        "`line` cannot be `two words`: a line is name=value, or a name alone",
        "",
    ),
    (
        "[",
        "`line` cannot be `[`: a section is a name in brackets: [job1]",
        "",
    ),
];

/// An option of fio's that is missing from the tables looks like a misspelling.
#[test]
fn every_option_of_fio_is_carried_out_or_named_as_without_effect_or_refused_with_a_reason() {
    let open = ssdlab_fio::names::NAMES.iter().filter(|(name, other)| {
        let known = options::find(name).is_some_and(|option| {
            other.is_empty() || options::find(other).is_some_and(|o| o.name == option.name)
        });
        !known && refusals::advice(name).is_none()
    });
    assert_eq!(open.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

#[test]
fn bad_lines_say_what_where_and_what_to_do() {
    for (line, message, hint) in BAD {
        let error = parse(&format!("[j]\n{line}\n"), "job.fio").unwrap_err();
        let text = error.to_string();
        let expected = format!("job.fio:2: {message}");
        assert_eq!(
            (text.as_str(), error.hint()),
            (expected.as_str(), *hint),
            "{line}"
        );
    }
}
