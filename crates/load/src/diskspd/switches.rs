//! The table of DISKSPD options, and the setters it calls.

use super::draft::{DiskspdContents, DiskspdDraft};
use super::words::CommandLineWord;
use crate::plan::Distribution;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

type SwitchResult = Result<(), LabError>;

/// One supported option.
#[derive(Clone, Copy)]
pub struct SwitchHelp {
    /// The letter after the dash.
    pub letter: char,
    /// Form and unit of what follows the letter.
    pub unit: &'static str,
    /// What holds when it is not given.
    pub default: &'static str,
    /// What it does.
    pub what: &'static str,
    pub(super) set: fn(&mut DiskspdDraft, &CommandLineWord) -> SwitchResult,
}

/// Every option a command line may use, in the order of the reference.
pub fn supported_options() -> &'static [SwitchHelp] {
    SWITCHES
}

pub(super) const fn switch(
    letter: char,
    unit: &'static str,
    default: &'static str,
    what: &'static str,
    set: fn(&mut DiskspdDraft, &CommandLineWord) -> SwitchResult,
) -> SwitchHelp {
    SwitchHelp {
        letter,
        unit,
        default,
        what,
        set,
    }
}

/// Makes the table: letter, setter, unit, default, and what the option does.
macro_rules! switches {
    ($($letter:literal $set:ident: $unit:literal, $default:literal, $what:literal;)*) => {
        &[$(switch($letter, $unit, $default, $what, $set)),*]
    };
}

pub(super) static SWITCHES: &[SwitchHelp] = switches! {
    'b' block: "size, or s[n|p]", "64K",
        "bytes per command; s: without effect, where buffers lie";
    't' threads: "count", "1", "threads per target";
    'o' depth: "count, or c<count>", "2",
        "commands outstanding per target and thread; c: without effect, completions per batch";
    'w' writes: "%", "0", "share of writes";
    'r' random: "[size], s<%>, dpct<%/%:...>, dabs<%/size:...>", "sequential",
        "random addresses, aligned to the block or size; s: share of them, the others follow the \
         last of their kind; d: shares of the commands in parts of the target";
    's' stride: "[i][size]", "the block", "distance between commands; i: threads share it";
    'T' thread_step: "size", "0", "distance between the starts of a target's threads";
    'f' region: "size, or hints r s t", "all of the target",
        "use only the first bytes of the target; hints have no effect";
    'B' base: "size[:length]", "0", "start of the region, and its length";
    'c' file: "size", "", "the target has this length; with --target, use this part of it";
    'F' threads_total: "count", "", "threads, each of which works on all targets";
    'O' depth_total: "count", "",
        "commands outstanding per thread of -F, on whichever targets are drawn";
    'p' parallel: "", "", "each outstanding command goes through the target on its own";
    'i' burst: "count", "", "commands of a burst, before the pause of -j";
    'j' pause: "ms", "", "pause after a burst of -i";
    'd' duration: "s", "10", "time that counts";
    'W' warm_up: "s", "5", "time before that, not counted";
    'C' cool_down: "s", "0", "time after that, not counted";
    'S' caching: "[bhmuwyY]", "b",
        "u: no page cache; w: writes are durable; h: both; m: one command at a time per thread, as \
         to a mapped file; y, Y: without effect, there are no filter drivers";
    'N' mapped_flush: "v, n or i", "", "with -Sm: flush after each write";
    'h' old_caching: "", "", "old form of -Sh";
    'Z' contents: "[r|size[,file]]", "bytes 0..255",
        "contents of writes: zeroes, fresh random, random, or as compressible as a file";
    'g' limit: "bytes/ms or <n>i for IOPS", "unlimited", "limit per thread and target";
    'z' seed: "[number]", "0", "seed; alone it is 0, too: a run always repeats";
    'X' profile: "file", "",
        "read targets from an XML profile; -d -W -C -R and -z go before its own";
    'D' buckets: "[ms]", "none", "report IOPS per interval, 1000 ms unless given";
    'L' latency: "", "", "report latencies";
    'R' report: "[p]text|xml", "text", "form of the report; p: print the profile only";
    'a' moot: "any", "", "without effect: threads are not pinned; pin the program with taskset";
    'n' moot: "", "", "without effect: threads are not pinned";
    'x' moot: "", "", "without effect: how Windows reports completions";
    'I' moot: "1 to 3", "3", "without effect: priorities are not passed to the drive";
    'l' moot: "", "", "without effect: where buffers lie";
    'u' moot: "[b][%]", "", "without effect: commands go through io_uring anyway";
    'P' moot: "[count]", "", "without effect: progress is shown anyway";
    'e' moot: "any", "", "without effect: tracing of Windows";
    'v' moot: "[x]", "", "without effect: the report is complete";
    'A' moot: "any", "", "without effect: CrystalDiskMark's own copy reports its progress by it";
};

// Setters, in the order of the option table.

pub(super) fn block(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    if let Some(strategy) = word.rest.strip_prefix('s') {
        return match strategy {
            "n" | "p" => Ok(()),
            _ => Err(word.bad("the separation of buffers is sn or sp", "")),
        };
    }
    let bytes = word.size(word.rest, None)?;
    draft.block = u32::try_from(bytes).map_err(|_| word.bad("a block is less than 4 GiB", ""))?;
    Ok(())
}

fn threads(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.threads = word.count(1, 4096)?;
    draft.threads_given = true;
    Ok(())
}

fn depth(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    if let Some(batch) = word.rest.strip_prefix('c') {
        let word = CommandLineWord {
            rest: batch,
            ..*word
        };
        return word.count(1, u32::MAX).map(|_| ());
    }
    draft.depth = word.count(1, 65_536)?;
    Ok(())
}

fn writes(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    // DISKSPD: -w alone is -w0.
    draft.write_pct = if word.rest.is_empty() {
        0
    } else {
        word.count(0, 100)? as u8
    };
    Ok(())
}

fn random(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    if let Some(percent) = word.rest.strip_prefix('s') {
        let word = CommandLineWord {
            rest: percent,
            ..*word
        };
        draft.random_pct = Some(word.count(0, 100)? as u8);
        return Ok(());
    }
    if let Some(distribution) = word.rest.strip_prefix('d') {
        draft.distribution = parts(word, distribution, draft.block)?;
        return Ok(());
    }
    draft.random = Some(match word.rest {
        "" => u64::from(draft.block),
        size => word.size(size, Some(draft.block))?,
    });
    Ok(())
}

fn stride(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    let size = word.rest.strip_prefix('i');
    draft.interlocked = size.is_some();
    draft.stride = Some(match size.unwrap_or(word.rest) {
        "" => u64::from(draft.block),
        size => word.size(size, Some(draft.block))?,
    });
    Ok(())
}

fn thread_step(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.thread_step = word.size(word.rest, Some(draft.block))?;
    Ok(())
}

/// `pct90/10:0/10:5/20` or `abs90/10G:0/10G:5/20G`; the rest goes to the rest of the target.
fn parts(word: &CommandLineWord, text: &str, block: u32) -> Result<Distribution, LabError> {
    let bad = || {
        word.bad(
            "parts are dpct<%>/<% of the target>:... or dabs<%>/<size>:..., at most 100 % in sum",
            "for example -rdpct95/5:4/10",
        )
    };
    let (percent, text) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
        (Some(text), _) => (true, text),
        (None, Some(text)) => (false, text),
        (None, None) => return Err(bad()),
    };
    let mut zones = Vec::new();
    for part in text.split(':') {
        let (accesses, size) = part.split_once('/').ok_or_else(bad)?;
        let accesses: u8 = accesses.parse().map_err(|_| bad())?;
        let size = if percent {
            size.parse().map_err(|_| bad())?
        } else {
            word.size(size, Some(block))?
        };
        zones.push((accesses, size));
    }
    let accesses: u64 = zones.iter().map(|zone| u64::from(zone.0)).sum();
    let sizes: u64 = zones.iter().fold(0, |sum, zone| sum.saturating_add(zone.1));
    let none = zones.iter().any(|zone| zone.1 == 0);
    if accesses > 100 || none || zones.len() > 99 || (percent && sizes > 100) {
        return Err(bad());
    }
    if !percent {
        return Ok(Distribution::ZonedBytes { zones });
    }
    let mut zones: Vec<(u8, u8)> = zones
        .into_iter()
        .map(|(io, size)| (io, size as u8))
        .collect();
    if sizes < 100 {
        zones.push((100 - accesses as u8, 100 - sizes as u8));
    } else if accesses < 100 {
        // Nothing is left of the target for the other commands.
        return Err(bad());
    }
    Ok(Distribution::Zoned { zones })
}

/// The distribution that the text after `-rd` says.
pub(super) fn distribution(text: &str) -> Result<Distribution, LabError> {
    let word = CommandLineWord {
        text,
        rest: text,
        number: 0,
    };
    parts(&word, text, 512)
}

fn base(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    let (base, length) = match word.rest.split_once(':') {
        Some((base, length)) => (base, Some(length)),
        None => (word.rest, None),
    };
    draft.base = match base {
        "0" => 0,
        size => word.size(size, Some(draft.block))?,
    };
    if let Some(length) = length {
        let end = word
            .size(length, Some(draft.block))?
            .checked_add(draft.base)
            .ok_or_else(|| word.bad("base and length are below 2^64 in sum", ""))?;
        end_once(draft, word, end)?;
    }
    Ok(())
}

/// Sets the end of the region, which `-f` and `-B` with a length both do.
fn end_once(draft: &mut DiskspdDraft, word: &CommandLineWord, end: u64) -> SwitchResult {
    if draft.region.is_some() {
        let hint = "use either -f or -B with a length";
        return Err(word.bad("the end of the region has been given before", hint));
    }
    draft.region = Some(end);
    Ok(())
}

fn file(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.file = Some(word.size(word.rest, Some(draft.block))?);
    Ok(())
}

fn threads_total(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.threads_total = Some(word.count(1, 4096)?);
    Ok(())
}

fn depth_total(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.depth_total = Some(word.count(1, 65_536)?);
    Ok(())
}

fn parallel(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    plain(word)?;
    draft.parallel = true;
    Ok(())
}

fn burst(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.burst = Some(word.count(1, u32::MAX)?);
    Ok(())
}

fn pause(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.pause = Some(Nanos::from_millis(word.count(1, u32::MAX)?.into()));
    Ok(())
}

fn mapped_flush(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    match word.rest {
        "v" | "n" | "i" => draft.flushes = true,
        _ => return Err(word.bad("it is v, n or i", "")),
    }
    Ok(())
}

fn profile(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    if word.rest.is_empty() {
        return Err(word.bad("it is the path of an XML file", word.spaced()));
    }
    draft.profile = Some(word.rest.to_owned());
    Ok(())
}

/// An option that changes no command.
fn moot(_: &mut DiskspdDraft, _: &CommandLineWord) -> SwitchResult {
    Ok(())
}

fn region(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    let hints = word.rest.chars().all(|c| "rst".contains(c));
    if hints && !word.rest.is_empty() {
        return Ok(());
    }
    let end = word.size(word.rest, Some(draft.block))?;
    end_once(draft, word, end)
}

fn duration(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.time.run = Some(Nanos::from_secs(word.count(1, u32::MAX)?.into()));
    draft.times_given[0] = true;
    Ok(())
}

fn warm_up(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.time.ramp = Nanos::from_secs(word.count(0, u32::MAX)?.into());
    draft.times_given[1] = true;
    Ok(())
}

fn cool_down(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.time.cool_down = Nanos::from_secs(word.count(0, u32::MAX)?.into());
    draft.times_given[2] = true;
    Ok(())
}

fn caching(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    let letters = if word.rest.is_empty() { "u" } else { word.rest };
    for letter in letters.chars() {
        let (uncached, through) = match letter {
            'b' => (Some(false), false),
            'u' => (Some(true), false),
            'w' => (None, true),
            'h' => (Some(true), true),
            'm' => {
                draft.mapped = true;
                continue;
            }
            'y' | 'Y' => continue,
            'r' => return Err(word.unsupported()),
            _ => return Err(word.bad("its letters are b, h, m, u, w, y and Y", "")),
        };
        let twice =
            (uncached.is_some() && draft.uncached.is_some()) || (through && draft.write_through);
        if twice {
            return Err(word.bad("caching has been said before", "say it once, such as -Suw"));
        }
        draft.uncached = uncached.or(draft.uncached);
        draft.write_through |= through;
    }
    Ok(())
}

fn old_caching(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    plain(word)?;
    caching(draft, &CommandLineWord { rest: "h", ..*word })
}

fn contents(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.contents = match word.rest {
        "" => DiskspdContents::Zeroes,
        "r" => DiskspdContents::Random { refill: true },
        size if size.contains(',') => {
            let (size, path) = size.split_once(',').unwrap_or((size, ""));
            let bytes = word.size(size, Some(draft.block))?;
            contents_of(path, bytes)
                .map_err(|what| word.bad(&what, "-Z<size> alone is random data"))?
        }
        size => {
            word.size(size, Some(draft.block))?;
            DiskspdContents::Random { refill: false }
        }
    };
    Ok(())
}

/// Contents as compressible as the first `bytes` of the file at `path`.
pub(super) fn contents_of(path: &str, bytes: u64) -> Result<DiskspdContents, String> {
    let compress_pct = compressible(path, bytes)
        .map_err(|why| format!("its file {path} cannot be read: {why}"))?;
    Ok(DiskspdContents::File { compress_pct })
}

/// How much of the first `bytes` of a file a compressor removes, in per cent.
fn compressible(path: &str, bytes: u64) -> std::io::Result<u8> {
    use std::io::{Read, Write};
    let mut contents = Vec::new();
    std::fs::File::open(path)?
        .take(bytes)
        .read_to_end(&mut contents)?;
    if contents.is_empty() {
        return Err(std::io::Error::other("it is empty"));
    }
    let fast = flate2::Compression::fast();
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), fast);
    encoder.write_all(&contents)?;
    let compressed_bytes = encoder.finish()?.len() as u64;
    let total_bytes = contents.len() as u64;
    Ok((total_bytes.saturating_sub(compressed_bytes) * 100 / total_bytes) as u8)
}

fn limit(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    match word.rest.strip_suffix('i') {
        Some(iops) => {
            draft.iops = CommandLineWord {
                rest: iops,
                ..*word
            }
            .count(1, u32::MAX)?
            .into()
        }
        None => draft.bytes_per_second = u64::from(word.count(1, u32::MAX)?) * 1000,
    }
    Ok(())
}

fn seed(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.seed_given = true;
    if word.rest.is_empty() {
        return Ok(());
    }
    draft.seed = word.count(0, u32::MAX)?.into();
    Ok(())
}

fn buckets(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    draft.output.bucket_ms = Some(match word.rest {
        "" => 1000,
        _ => word.count(1, u32::MAX)?,
    });
    Ok(())
}

fn latency(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    plain(word)?;
    draft.output.latency = true;
    Ok(())
}

fn report(draft: &mut DiskspdDraft, word: &CommandLineWord) -> SwitchResult {
    if word.rest.starts_with('s') {
        return Err(word.unsupported());
    }
    let form = word.rest.strip_prefix('p');
    draft.output.profile_only = form.is_some();
    draft.output.xml = match form.unwrap_or(word.rest) {
        "text" => false,
        "" if form.is_some() => false,
        "xml" => true,
        _ => return Err(word.bad("it is text, xml, ptext or pxml", "")),
    };
    Ok(())
}

/// Refuses anything after the letter.
fn plain(word: &CommandLineWord) -> SwitchResult {
    if word.rest.is_empty() {
        Ok(())
    } else {
        Err(word.bad("nothing follows it", ""))
    }
}
