//! Setters of the options that tie a job to what it wrote, to other jobs and to its own results:
//! `verify`, zones, `flow`, `exitall`, `steadystate`, `latency_target`.

use super::draft::{FioJobDraft, SetterResult};
use crate::plan::{ExitScope, WriteAs};
use ssdlab_fio::Error;
use ssdlab_fio::JobOption;
use ssdlab_fio::TimeUnit;
use ssdlab_ssd::Nanos;

/// fio's methods. All are carried out alike: by the address, number and checksum in each block.
const METHODS: &[&str] = &[
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc32c-intel",
    "crc16",
    "crc7",
    "xxhash",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
    "pattern",
    "pattern_hdr",
];

pub(super) fn verify(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.verifies = match s.text() {
        "0" | "none" => false,
        method if METHODS.contains(&method) => true,
        "null" => {
            return Err(s.bad(
                "null pretends to verify, which only tests fio",
                "leave verify out",
            ));
        }
        _ => return Err(s.bad(&format!("it is one of {}", METHODS.join(" ")), "")),
    };
    Ok(())
}

pub(super) fn do_verify(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.verify_after = s.flag()?;
    Ok(())
}

pub(super) fn verify_backlog(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.verify_backlog = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn verify_backlog_batch(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.verify_batch = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

/// Kinds of error after which fio goes on; here a kind is `verify`, or one that ends no run
/// anyway.
pub(super) fn continue_on_error(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.verify_goes_on = match s.text() {
        "none" | "read" | "write" | "io" | "0" => false,
        "verify" | "all" | "1" => true,
        _ => return Err(s.bad("it is none, read, write, io, verify, all, 0 or 1", "")),
    };
    Ok(())
}

pub(super) fn zonemode(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.zbd = None;
    draft.strided = match s.text() {
        "none" => false,
        "strided" => true,
        "zbd" => {
            draft.zbd = Some(s.clone());
            false
        }
        _ => return Err(s.bad("it is none or strided", "")),
    };
    Ok(())
}

/// A size of whole blocks.
fn blocks(draft: &FioJobDraft, s: &JobOption) -> Result<u64, Error> {
    let bytes = s.size(draft.kb_base)?;
    if bytes.is_multiple_of(512) {
        Ok(bytes)
    } else {
        Err(s.bad("it is a multiple of 512 bytes", ""))
    }
}

pub(super) fn zonesize(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.zones.bytes = blocks(draft, s)?;
    Ok(())
}

pub(super) fn zonerange(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.zones.range = blocks(draft, s)?;
    Ok(())
}

pub(super) fn zoneskip(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.zones.skip = blocks(draft, s)?;
    Ok(())
}

pub(super) fn sg_write_mode(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.write_as = match s.text() {
        "write" => WriteAs::Write,
        "verify" | "write_and_verify" => WriteAs::WriteAndRead,
        "write_same_ndob" => WriteAs::Zeroes,
        "verify_bytchk_00" | "verify_bytchk_01" | "verify_bytchk_11" => WriteAs::Read,
        "same" | "write_same" => {
            return Err(s.bad(
                "a command that repeats one block over many has no like outside SCSI",
                "write_same_ndob writes zeroes that way",
            ));
        }
        _ => {
            return Err(s.bad(
                "it is write, write_and_verify, write_same_ndob or verify_bytchk_00, _01 or _11",
                "",
            ));
        }
    };
    Ok(())
}

pub(super) fn new_group(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.new_group = s.flag()?;
    Ok(())
}

pub(super) fn flow(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.flow = s.count(draft.kb_base, 0..=1000)? as u32;
    Ok(())
}

pub(super) fn flow_id(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.flow_id = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn exitall(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.exits = s.flag()?;
    Ok(())
}

pub(super) fn exit_what(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.exit_what = match s.text() {
        "group" => ExitScope::Group,
        "stonewall" => ExitScope::Phase,
        "all" => ExitScope::All,
        _ => return Err(s.bad("it is group, stonewall or all", "")),
    };
    Ok(())
}

/// `iops:5%`, `bw_slope:100`.
pub(super) fn steadystate(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let bad = || {
        s.bad(
            "it is iops, iops_slope, bw or bw_slope, a colon and a limit such as 5%",
            "for example steadystate=iops:5%",
        )
    };
    let (what, limit) = s.text().split_once(':').ok_or_else(bad)?;
    (draft.steady.bandwidth, draft.steady.slope) = match what {
        "iops" => (false, false),
        "iops_slope" => (false, true),
        "bw" => (true, false),
        "bw_slope" => (true, true),
        _ => return Err(bad()),
    };
    draft.steady.percent = limit.ends_with('%');
    draft.steady.limit = match limit.strip_suffix('%') {
        Some(number) => number.parse().map_err(|_| bad())?,
        None if draft.steady.bandwidth => {
            ssdlab_fio::number(limit, draft.kb_base).ok_or_else(bad)? as f64
        }
        None => limit.parse().map_err(|_| bad())?,
    };
    if !(draft.steady.limit.is_finite() && draft.steady.limit > 0.0) {
        return Err(bad());
    }
    draft.ends_steady = true;
    Ok(())
}

pub(super) fn steadystate_duration(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let time = Nanos(s.time_ns(TimeUnit::Seconds)?);
    let seconds = time.0.div_ceil(1_000_000_000);
    draft.steady.window_s = match u32::try_from(seconds) {
        Ok(seconds @ 0..=86_400) => seconds,
        _ => return Err(s.bad("it is at most a day", "")),
    };
    Ok(())
}

pub(super) fn steadystate_ramp_time(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.steady.ramp = Nanos(s.time_ns(TimeUnit::Seconds)?);
    Ok(())
}

pub(super) fn latency_target(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.latency.limit = Nanos(s.time_ns(TimeUnit::Micros)?);
    Ok(())
}

pub(super) fn latency_window(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.latency.window = Nanos(s.time_ns(TimeUnit::Micros)?);
    Ok(())
}

pub(super) fn latency_percentile(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.latency.percentile = match s.text().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => percent,
        _ => return Err(s.bad("it is above 0, up to 100", "")),
    };
    Ok(())
}

pub(super) fn latency_run(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.latency.run = s.flag()?;
    Ok(())
}
