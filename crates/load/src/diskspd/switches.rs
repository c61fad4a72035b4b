//! The table of DISKSPD options, and the setters it calls.

use super::draft::{Contents, Draft};
use super::words::Word;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

type Outcome = Result<(), LabError>;

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
    pub(super) set: fn(&mut Draft, &Word) -> Outcome,
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
    set: fn(&mut Draft, &Word) -> Outcome,
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
    'b' block: "size", "64K", "bytes per command";
    't' threads: "count", "1", "threads per target";
    'o' depth: "count", "2", "commands outstanding per target and thread";
    'w' writes: "%", "0", "share of writes";
    'r' random: "[size]", "sequential", "random addresses, aligned to the block or size";
    's' stride: "[i][size]", "the block", "distance between commands; i: threads share it";
    'T' thread_step: "size", "0", "distance between the starts of a target's threads";
    'f' region: "size", "all of the target", "use only the first bytes of the target";
    'd' duration: "s", "10", "time that counts";
    'W' warm_up: "s", "5", "time before that, not counted";
    'C' cool_down: "s", "0", "time after that, not counted";
    'S' caching: "[bhuw]", "b", "u: no page cache; w: writes are durable; h: both";
    'h' old_caching: "", "", "old form of -Sh";
    'Z' contents: "[r|size]", "bytes 0..255", "contents of writes: zeroes, fresh random, random";
    'g' limit: "bytes/ms or <n>i for IOPS", "unlimited", "limit per thread and target";
    'z' seed: "number", "0", "seed";
    'D' buckets: "[ms]", "none", "report IOPS per interval, 1000 ms unless given";
    'L' latency: "", "", "report latencies";
    'R' report: "[p]text|xml", "text", "form of the report; p: print the profile only";
};

// Setters, in the order of the option table.

pub(super) fn block(draft: &mut Draft, word: &Word) -> Outcome {
    let bytes = word.size(word.rest, None)?;
    draft.block = u32::try_from(bytes).map_err(|_| word.bad("a block is less than 4 GiB", ""))?;
    Ok(())
}

fn threads(draft: &mut Draft, word: &Word) -> Outcome {
    draft.threads = word.count(1, 4096)?;
    Ok(())
}

fn depth(draft: &mut Draft, word: &Word) -> Outcome {
    draft.depth = word.count(1, 65_536)?;
    Ok(())
}

fn writes(draft: &mut Draft, word: &Word) -> Outcome {
    // DISKSPD: -w alone is -w0.
    draft.write_pct = if word.rest.is_empty() {
        0
    } else {
        word.count(0, 100)? as u8
    };
    Ok(())
}

fn random(draft: &mut Draft, word: &Word) -> Outcome {
    if word.rest.starts_with(['s', 'd']) {
        return Err(word.unsupported());
    }
    draft.random = Some(match word.rest {
        "" => u64::from(draft.block),
        size => word.size(size, Some(draft.block))?,
    });
    Ok(())
}

fn stride(draft: &mut Draft, word: &Word) -> Outcome {
    let size = word.rest.strip_prefix('i');
    draft.interlocked = size.is_some();
    draft.stride = Some(match size.unwrap_or(word.rest) {
        "" => u64::from(draft.block),
        size => word.size(size, Some(draft.block))?,
    });
    Ok(())
}

fn thread_step(draft: &mut Draft, word: &Word) -> Outcome {
    draft.thread_step = word.size(word.rest, Some(draft.block))?;
    Ok(())
}

fn region(draft: &mut Draft, word: &Word) -> Outcome {
    draft.region = Some(word.size(word.rest, Some(draft.block))?);
    Ok(())
}

fn duration(draft: &mut Draft, word: &Word) -> Outcome {
    draft.time.run = Some(Nanos::from_secs(word.count(1, u32::MAX)?.into()));
    Ok(())
}

fn warm_up(draft: &mut Draft, word: &Word) -> Outcome {
    draft.time.ramp = Nanos::from_secs(word.count(0, u32::MAX)?.into());
    Ok(())
}

fn cool_down(draft: &mut Draft, word: &Word) -> Outcome {
    draft.time.cool_down = Nanos::from_secs(word.count(0, u32::MAX)?.into());
    Ok(())
}

fn caching(draft: &mut Draft, word: &Word) -> Outcome {
    let letters = if word.rest.is_empty() { "u" } else { word.rest };
    for letter in letters.chars() {
        let (uncached, through) = match letter {
            'b' => (Some(false), false),
            'u' => (Some(true), false),
            'w' => (None, true),
            'h' => (Some(true), true),
            'r' | 'm' => return Err(word.unsupported()),
            _ => return Err(word.bad("its letters are b, h, u and w", "")),
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

fn old_caching(draft: &mut Draft, word: &Word) -> Outcome {
    plain(word)?;
    caching(draft, &Word { rest: "h", ..*word })
}

fn contents(draft: &mut Draft, word: &Word) -> Outcome {
    draft.contents = match word.rest {
        "" => Contents::Zeroes,
        "r" => Contents::Random { refill: true },
        size if size.contains(',') => {
            return Err(word.bad("contents from a file are not supported", "use -Z1M or -Zr"));
        }
        size => {
            word.size(size, Some(draft.block))?;
            Contents::Random { refill: false }
        }
    };
    Ok(())
}

fn limit(draft: &mut Draft, word: &Word) -> Outcome {
    match word.rest.strip_suffix('i') {
        Some(iops) => {
            draft.iops = Word {
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

fn seed(draft: &mut Draft, word: &Word) -> Outcome {
    if word.rest.is_empty() {
        let hint = "a seed from the clock cannot be repeated: write -z1";
        return Err(word.bad("it is a number", hint));
    }
    draft.seed = word.count(0, u32::MAX)?.into();
    Ok(())
}

fn buckets(draft: &mut Draft, word: &Word) -> Outcome {
    draft.output.bucket_ms = Some(match word.rest {
        "" => 1000,
        _ => word.count(1, u32::MAX)?,
    });
    Ok(())
}

fn latency(draft: &mut Draft, word: &Word) -> Outcome {
    plain(word)?;
    draft.output.latency = true;
    Ok(())
}

fn report(draft: &mut Draft, word: &Word) -> Outcome {
    let form = word.rest.strip_prefix('p');
    draft.output.profile_only = form.is_some();
    draft.output.xml = match form.unwrap_or(word.rest) {
        "text" => false,
        "xml" => true,
        _ => return Err(word.bad("it is text, xml, ptext or pxml", "")),
    };
    Ok(())
}

/// Refuses anything after the letter.
fn plain(word: &Word) -> Outcome {
    if word.rest.is_empty() {
        Ok(())
    } else {
        Err(word.bad("nothing follows it", ""))
    }
}
