//! The setters that the option table calls: those of engine, time, durability, rates and contents
//! are here.

pub(super) use super::addresses::*;
pub(super) use super::bindings::*;
use super::draft::{FioJobDraft, SetterResult};
use super::engines::{self, EngineClass};
use ssdlab_fio::Error;
use ssdlab_fio::JobOption;
use ssdlab_fio::TimeUnit;
use ssdlab_ssd::Nanos;

pub(super) fn wait_for(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.wait_for = Some(s.clone());
    Ok(())
}

pub(super) fn name(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.name = Some(s.text().to_owned());
    Ok(())
}

pub(super) fn ioengine(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.engine_refused = false;
    draft.passthrough = s.text() == "io_uring_cmd";
    let (what, hint) = match engines::meaning(s.text()) {
        Some(EngineClass::Queued) => {
            draft.synchronous = false;
            return Ok(());
        }
        Some(EngineClass::OneByOne) => {
            draft.synchronous = true;
            return Ok(());
        }
        Some(EngineClass::NoBlocks(why)) => {
            draft.engine_refused = true;
            let hint = "for the same load on a drive, write ioengine=io_uring";
            (why.to_owned(), hint)
        }
        None => (
            format!("it is one of {}", engines::block_engines()),
            "write ioengine=io_uring: it is the engine used in any case",
        ),
    };
    Err(s.bad(&what, hint))
}

pub(super) fn iodepth(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.depth = s.count(draft.kb_base, 1..=65_536)? as u32;
    Ok(())
}

pub(super) fn iodepth_low(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.submission.depth_low = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn iodepth_batch_complete_min(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.submission.reap_min = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

/// Checks a size that changes nothing here.
pub(super) fn checked_size(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    s.size(draft.kb_base).map(|_| ())
}

/// Checks a count that changes nothing here.
pub(super) fn checked_count(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let count = s.count(draft.kb_base, 0..=u64::from(u32::MAX));
    count.map(|_| ())
}

pub(super) fn numjobs(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.copies = s.count(draft.kb_base, 1..=4096)? as u32;
    Ok(())
}

pub(super) fn runtime(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    // fio: 0 is no limit.
    draft.time.run = Some(Nanos(s.time_ns(TimeUnit::Seconds)?)).filter(|time| *time > Nanos::ZERO);
    Ok(())
}

pub(super) fn time_based(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.time.time_based = s.flag()?;
    Ok(())
}

pub(super) fn startdelay(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.time.delay = Nanos(s.time_ns(TimeUnit::Seconds)?);
    Ok(())
}

pub(super) fn ramp_time(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.time.ramp = Nanos(s.time_ns(TimeUnit::Seconds)?);
    Ok(())
}

pub(super) fn stonewall(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.stonewall = s.flag()?;
    Ok(())
}

pub(super) fn direct(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.direct = s.flag()?;
    Ok(())
}

pub(super) fn buffered(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.direct = !s.flag()?;
    Ok(())
}

pub(super) fn sync(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.sync = match s.text() {
        "none" | "0" => false,
        "sync" | "1" | "dsync" => true,
        _ => return Err(s.bad("it is none, sync, dsync, 0 or 1", "")),
    };
    Ok(())
}

pub(super) fn fsync(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.fsync = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn fdatasync(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.fdatasync = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn end_fsync(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.submission.end_fsync = s.flag()?;
    Ok(())
}

pub(super) fn fsync_on_close(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.submission.close_fsync = s.flag()?;
    Ok(())
}

pub(super) fn rate(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.rate_bytes = rates(draft.kb_base, s)?;
    Ok(())
}

pub(super) fn rate_iops(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.rate_iops = rates(draft.kb_base, s)?;
    Ok(())
}

pub(super) fn rate_process(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.poisson = match s.text() {
        "linear" => false,
        "poisson" => true,
        _ => return Err(s.bad("it is linear or poisson", "")),
    };
    Ok(())
}

fn rates(kb_base: u64, s: &JobOption) -> Result<[u64; 3], Error> {
    s.per_kind(0, |text| {
        ssdlab_fio::number(text, kb_base).ok_or_else(|| {
            s.bad(
                "a rate is a whole number per second, such as 500 or 10m",
                "",
            )
        })
    })
}

pub(super) fn thinktime(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.think = Nanos(s.time_ns(TimeUnit::Micros)?);
    Ok(())
}

pub(super) fn thinktime_iotime(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.think_after = Nanos(s.time_ns(TimeUnit::Seconds)?);
    Ok(())
}

pub(super) fn thinktime_blocks(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pace.think_blocks = s.count(draft.kb_base, 1..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn compress(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.compress_pct = s.percent()?;
    Ok(())
}

pub(super) fn zero_buffers(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.zero = s.flag()?;
    Ok(())
}

pub(super) fn refill_buffers(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.refill = s.flag()?;
    Ok(())
}

pub(super) fn buffer_pattern(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.pattern = super::pattern::bytes(s)?;
    Ok(())
}

pub(super) fn dedupe_percentage(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.dedupe.percent = s.percent()?;
    Ok(())
}

pub(super) fn dedupe_mode(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.dedupe.from_set = match s.text() {
        "repeat" => false,
        "working_set" => true,
        _ => return Err(s.bad("it is repeat or working_set", "")),
    };
    Ok(())
}

pub(super) fn dedupe_working_set(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.dedupe.set_pct = s.percent()?;
    Ok(())
}

pub(super) fn log(draft: &mut FioJobDraft, _: &JobOption) -> SetterResult {
    draft.logs = true;
    Ok(())
}

pub(super) fn log_avg_msec(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.log_avg_ms = s.count(draft.kb_base, 0..=u64::from(u32::MAX))?;
    Ok(())
}

pub(super) fn read_iolog(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.replayed.log = Some(s.clone());
    Ok(())
}

pub(super) fn replay_no_stall(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.replayed.no_stall = s.flag()?;
    Ok(())
}

pub(super) fn replay_time_scale(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.replayed.speed_pct = s.count(draft.kb_base, 1..=u64::from(u32::MAX))?;
    Ok(())
}

/// Checks a flag that changes nothing here.
pub(super) fn checked_flag(_: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    s.flag().map(|_| ())
}

pub(super) fn kb_base(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.kb_base = match s.text() {
        "1024" => 1024,
        "1000" => 1000,
        _ => return Err(s.bad("it is 1024 or 1000", "")),
    };
    Ok(())
}
