//! Setters of the options that say which commands go where: kind, size, region, files, order.

use super::draft::{FioJobDraft, RwDirection, SetterResult};
use crate::plan::{BlockSize, Distribution, WriteAs};
use ssdlab_fio::{Error, JobOption, SizeOrPercent};

pub(super) fn rw(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let (order, number) = match s.text().split_once(':') {
        Some((order, number)) => (order, Some(number)),
        None => (s.text(), None),
    };
    draft.write_as = match order {
        "trimwrite" | "randtrimwrite" => WriteAs::TrimAndWrite,
        _ => WriteAs::Write,
    };
    (draft.direction, draft.random) = match order {
        "read" => (RwDirection::Read, false),
        "write" => (RwDirection::Write, false),
        "trim" => (RwDirection::Trim, false),
        "randread" => (RwDirection::Read, true),
        "randwrite" => (RwDirection::Write, true),
        "randtrim" => (RwDirection::Trim, true),
        "trimwrite" => (RwDirection::Write, false),
        "randtrimwrite" => (RwDirection::Write, true),
        "rw" | "readwrite" => (RwDirection::Both, false),
        "randrw" => (RwDirection::Both, true),
        _ => {
            return Err(s.bad(
                "it is read, write, trim, rw, trimwrite, or one of them with rand before it",
                "",
            ));
        }
    };
    draft.after_colon = match number {
        None => 0,
        Some(text) if draft.random => match text.parse() {
            Ok(count @ 1..=0xffff_ffff_i64) => count,
            _ => {
                let rule = "of random commands, the number after the colon is a count from 1";
                return Err(s.bad(
                    rule,
                    "randread:8 is one random command and 7 that follow it",
                ));
            }
        },
        Some(text) => hole(s, text, draft.kb_base)?,
    };
    Ok(())
}

/// The bytes between sequential commands, which may be negative.
fn hole(s: &JobOption, text: &str, kb_base: u64) -> Result<i64, Error> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let bytes = ssdlab_fio::number(digits, kb_base).filter(|b| b.is_multiple_of(512));
    match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
        Some(bytes) => Ok(sign * bytes),
        None => Err(s.bad(
            "of sequential commands, the number after the colon is a size, a multiple of 512",
            "write:8k leaves 8 KiB between writes, read:-8k reads 4 KiB blocks backwards",
        )),
    }
}

pub(super) fn rwmixread(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.read_pct = s.percent()?;
    Ok(())
}

pub(super) fn rwmixwrite(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.read_pct = 100 - s.percent()?;
    Ok(())
}

pub(super) fn bs(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.block = s.per_kind(4096, |text| s.block_of_page_cache(text, draft.kb_base))?;
    draft.submission.block_option = Some(s.clone());
    draft.range = None;
    Ok(())
}

pub(super) fn bssplit(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let lists = s.splits(draft.kb_base)?;
    draft.submission.block_option = Some(s.clone());
    draft.split = Some(lists.map(|list| {
        let sizes = list.into_iter();
        let size = |s: ssdlab_fio::BlockSizeShare| BlockSize {
            bytes: s.bytes,
            percent: s.percent,
        };
        sizes.map(size).collect()
    }));
    Ok(())
}

pub(super) fn blockalign(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let [read, write, trim] = s.per_kind(4096, |text| s.block(text, draft.kb_base))?;
    if read != write || write != trim {
        return Err(s.bad("one alignment for reads, writes and trims is supported", ""));
    }
    draft.align = Some(u64::from(read));
    Ok(())
}

pub(super) fn size(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    // 0 is fio's default: all of the file.
    draft.size = match s.size_or_percent(draft.kb_base)? {
        SizeOrPercent::Bytes(0) | SizeOrPercent::Percent(0) => None,
        size => Some(size),
    };
    Ok(())
}

pub(super) fn io_size(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.io_size = Some(s.size_or_percent(draft.kb_base)?);
    Ok(())
}

pub(super) fn filesize(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.file_size = Some(s.size(draft.kb_base)?);
    Ok(())
}

pub(super) fn offset(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.offset = s.size_or_percent(draft.kb_base)?;
    match draft.offset {
        SizeOrPercent::Bytes(bytes) if !bytes.is_multiple_of(512) => {
            Err(s.bad("it is a multiple of 512 bytes", ""))
        }
        _ => Ok(()),
    }
}

pub(super) fn offset_increment(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.offset_step = match s.size_or_percent(draft.kb_base)? {
        SizeOrPercent::Bytes(bytes) if bytes.is_multiple_of(512) => bytes,
        SizeOrPercent::Bytes(_) => return Err(s.bad("it is a multiple of 512 bytes", "")),
        SizeOrPercent::Percent(_) => {
            return Err(s.bad(
                "it is a size: shares are not supported",
                "write it in bytes",
            ));
        }
    };
    Ok(())
}

pub(super) fn number_ios(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let count = s.count(draft.kb_base, 0..=u64::MAX)?;
    draft.commands = Some(count).filter(|count| *count > 0);
    Ok(())
}

pub(super) fn loops(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.loops = s.count(draft.kb_base, 1..=u64::from(u32::MAX))?;
    Ok(())
}

pub(super) fn bsrange(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let ranges = s.per_kind((4096, 4096), |text| {
        let ends = text.split_once('-').or_else(|| text.split_once(':'));
        let (low, high) = ends.unwrap_or((text, text));
        let size = |text: &str| s.block_of_page_cache(text.trim(), draft.kb_base);
        let (low, high) = (size(low)?, size(high)?);
        // fio swaps them, too.
        Ok((low.min(high), low.max(high)))
    })?;
    draft.submission.block_option = Some(s.clone());
    draft.block = ranges.map(|(low, _)| low);
    draft.range = ranges
        .iter()
        .any(|(low, high)| low < high)
        .then_some(ranges);
    Ok(())
}

pub(super) fn filename(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let unescaped = s.text().replace("\\:", "\0");
    let names = unescaped.split(':').map(|name| name.replace('\0', ":"));
    draft.files.names = names.collect();
    if draft.files.names.iter().any(String::is_empty) {
        let hint = "several are separated by colons; \\: is a colon in a name";
        return Err(s.bad("it is the path of a file or device", hint));
    }
    Ok(())
}

pub(super) fn directory(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    if s.text().contains(':') {
        return Err(s.bad("one directory is supported", "give each job its own"));
    }
    draft.files.directory = Some(s.text().trim_end_matches('/').to_owned());
    Ok(())
}

pub(super) fn filename_format(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    if s.text().contains("$clientuid") {
        return Err(s.bad(
            "$clientuid has no meaning without fio's server",
            "leave it out",
        ));
    }
    draft.files.format = Some(s.text().to_owned());
    Ok(())
}

pub(super) fn nrfiles(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.files.count = s.count(draft.kb_base, 1..=4096)? as u32;
    Ok(())
}

pub(super) fn random_generator(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.lfsr = match s.text() {
        "lfsr" => true,
        "tausworthe" | "tausworthe64" => false,
        _ => return Err(s.bad("it is tausworthe, tausworthe64 or lfsr", "")),
    };
    Ok(())
}

pub(super) fn random_distribution(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    let (kind, rest) = s.text().split_once(':').unwrap_or((s.text(), ""));
    // A second number is a centre, which moves what is scattered anyway.
    let first = rest.split(':').next().unwrap_or_default();
    let number = |default: f64| match first {
        "" => Ok(default),
        _ => first
            .parse::<f64>()
            .map_err(|_| s.bad("a number follows the colon", "")),
    };
    draft.distribution = match kind {
        "random" if rest.is_empty() => Distribution::Uniform,
        "zipf" => {
            let theta = number(1.1)?;
            if !(theta > 0.0 && theta.is_finite()) || theta == 1.0 {
                return Err(s.bad("zipf's theta is above 0 and not 1", "for theta 1 use 1.001"));
            }
            Distribution::Zipf { theta }
        }
        "pareto" => {
            let h = number(0.2)?;
            if !(h > 0.0 && h < 1.0) {
                return Err(s.bad("pareto's h lies between 0 and 1", ""));
            }
            Distribution::Pareto { h }
        }
        "zoned" => of_kinds(s, rest, |list| {
            let zones = zones(s, list)?;
            Ok(Distribution::Zoned { zones })
        })?,
        "zoned_abs" => of_kinds(s, rest, |list| {
            let zones = absolute_zones(s, list, draft.kb_base)?;
            Ok(Distribution::ZonedBytes { zones })
        })?,
        "normal" => {
            let deviation = number(0.0)?;
            if !(0.0..=100.0).contains(&deviation) {
                return Err(s.bad("normal's deviation lies between 0 and 100 per cent", ""));
            }
            Distribution::Normal { deviation }
        }
        _ => {
            return Err(s.bad(
                "it is random, zipf:theta, pareto:h, normal:deviation or zoned:accesses/size:...",
                "",
            ));
        }
    };
    Ok(())
}

pub(super) fn percentage_random(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.random_pct = s.percent_per_kind(100)?;
    Ok(())
}

/// One list of zones for all commands, two for reads and for the others, or three for reads, writes
/// and trims.
fn of_kinds(
    s: &JobOption,
    lists: &str,
    parse: impl Fn(&str) -> Result<Distribution, Error>,
) -> Result<Distribution, Error> {
    let lists: Result<Vec<Distribution>, Error> = lists.split(',').map(parse).collect();
    let kinds = match <[Distribution; 3]>::try_from(lists?) {
        Ok(kinds) => kinds,
        Err(lists) => match &lists[..] {
            [all] => return Ok(all.clone()),
            [read, others] => [read.clone(), others.clone(), others.clone()],
            _ => return Err(s.bad("at most three lists of zones: reads,writes,trims", "")),
        },
    };
    Ok(Distribution::Kinds {
        kinds: Box::new(kinds),
    })
}

/// `50/5:30/15:20/80`: shares of accesses and of the region.
fn zones(s: &JobOption, text: &str) -> Result<Vec<(u8, u8)>, Error> {
    let part = |text: &str| match text {
        "" => Some(None),
        _ => text.parse().ok().map(Some),
    };
    let zones: Option<Vec<(Option<u8>, Option<u8>)>> = text
        .split(':')
        .map(|zone| {
            let (accesses, size) = zone.split_once('/').unwrap_or((zone, ""));
            Some((part(accesses)?, part(size)?))
        })
        .collect();
    let hint = "for example zoned:50/5:30/15:20/80, or such lists for reads,writes,trims";
    let zones = zones.ok_or_else(|| {
        let rule = "zones are accesses/size:accesses/size:..., whole numbers in per cent";
        s.bad(rule, hint)
    })?;
    let accesses = shared_out(zones.iter().map(|zone| zone.0));
    let zones: Vec<(u8, u8)> = accesses
        .into_iter()
        .zip(shared_out(zones.iter().map(|zone| zone.1)))
        .collect();
    let accesses: u32 = zones.iter().map(|z| u32::from(z.0)).sum();
    let sizes: u32 = zones.iter().map(|z| u32::from(z.1)).sum();
    if accesses != 100 || sizes != 100 || zones.len() > 100 {
        let sums = format!("accesses add up to {accesses} % and sizes to {sizes} %, not 100");
        return Err(s.bad(&sums, hint));
    }
    Ok(zones)
}

/// `60/10g:30/100g:10/500g`: shares of accesses, and lengths.
fn absolute_zones(s: &JobOption, text: &str, kb_base: u64) -> Result<Vec<(u8, u64)>, Error> {
    let zones: Option<Vec<(u8, u64)>> = text
        .split(':')
        .map(|zone| {
            let (accesses, size) = zone.split_once('/')?;
            Some((accesses.parse().ok()?, ssdlab_fio::number(size, kb_base)?))
        })
        .collect();
    let sum = |zones: &Vec<(u8, u64)>| zones.iter().map(|zone| u32::from(zone.0)).sum::<u32>();
    match zones {
        Some(zones) if sum(&zones) == 100 && zones.len() <= 100 => Ok(zones),
        _ => Err(s.bad(
            "zones are accesses/size:accesses/size:..., the accesses in per cent, 100 in sum",
            "for example zoned_abs:60/10g:30/100g:10/500g, or such lists for reads,writes,trims",
        )),
    }
}

/// As fio: empty shares divide what the others leave, in whole per cent.
fn shared_out(shares: impl Iterator<Item = Option<u8>> + Clone) -> Vec<u8> {
    let assigned_pct: u32 = shares.clone().flatten().map(u32::from).sum();
    let open = shares.clone().filter(Option::is_none).count() as u32;
    let equal_share = 100u32
        .saturating_sub(assigned_pct)
        .checked_div(open)
        .unwrap_or(0);
    shares
        .map(|share| share.unwrap_or(equal_share as u8))
        .collect()
}

pub(super) fn norandommap(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.random_map = !s.flag()?;
    Ok(())
}

pub(super) fn randseed(draft: &mut FioJobDraft, s: &JobOption) -> SetterResult {
    draft.seed = s.count(draft.kb_base, 0..=u64::MAX)?;
    Ok(())
}
