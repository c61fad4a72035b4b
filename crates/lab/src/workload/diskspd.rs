//! DISKSPD command lines.
//!
//! Options come first, then targets, as in DISKSPD; each option is one word (`-b4K`, `/b4K`).
//! On systems where paths begin with a slash, a word such as `/dev/sda` that is no option is a
//! target. What is not in [`supported_options`] is refused by name.
//!
//! * Sizes take K, M, G, T (powers of 1024) or `b` (blocks of `-b`).
//! * Without `-Su`, `-Sh` or `-S` the page cache is used, as in DISKSPD.
//! * Without `-Z` DISKSPD writes bytes 0, 1, ... 255 over and over: a drive or layer that
//!   compresses sees almost nothing. It is modelled as [`pattern_compress_pct`].
//! * `-si` makes the threads of a target share one sequential position. What a target sees of it
//!   is one stream with `-t` times `-o` commands outstanding, and so it is planned.
//! * `-g` limits the sum of a thread's reads and writes; here each has its share of the limit.
//! * Random addresses repeat freely; every run repeats for the same `-z`.
//!
//! Source: DISKSPD 2.x, CmdLineParser.cpp and IORequestGenerator.cpp (GetNextFileOffset).

use super::{
    BlockSize, Data, DiskspdOutput, Distribution, Durability, JobSpec, Language, Mix, Order, Pace,
    Phase, Plan, Time,
};
use crate::LabError;
use crate::error::Place;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

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
    set: fn(&mut Draft, &Word) -> Outcome,
}

/// Every option a command line may use, in the order of the reference.
pub fn supported_options() -> &'static [SwitchHelp] {
    SWITCHES
}

const fn switch(
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

static SWITCHES: &[SwitchHelp] = &[
    switch('b', "size", "64K", "bytes per command", block),
    switch('t', "count", "1", "threads per target", threads),
    switch(
        'o',
        "count",
        "2",
        "commands outstanding per target and thread",
        depth,
    ),
    switch('w', "%", "0", "share of writes", writes),
    switch(
        'r',
        "[size]",
        "sequential",
        "random addresses, aligned to the block or size",
        random,
    ),
    switch(
        's',
        "[i][size]",
        "the block",
        "distance between commands; i: threads share it",
        stride,
    ),
    switch(
        'T',
        "size",
        "0",
        "distance between the starts of a target's threads",
        thread_step,
    ),
    switch(
        'f',
        "size",
        "all of the target",
        "use only the first bytes of the target",
        region,
    ),
    switch('d', "s", "10", "time that counts", duration),
    switch('W', "s", "5", "time before that, not counted", warm_up),
    switch('C', "s", "0", "time after that, not counted", cool_down),
    switch(
        'S',
        "[bhuw]",
        "b",
        "u: no page cache; w: writes are durable; h: both",
        caching,
    ),
    switch('h', "", "", "old form of -Sh", old_caching),
    switch(
        'Z',
        "[r|size]",
        "bytes 0..255",
        "what is written: zeroes, fresh random, random",
        contents,
    ),
    switch(
        'g',
        "bytes/ms or <n>i for IOPS",
        "unlimited",
        "limit per thread and target",
        limit,
    ),
    switch('z', "number", "0", "seed", seed),
    switch(
        'D',
        "[ms]",
        "none",
        "report IOPS per interval, 1000 ms unless given",
        buckets,
    ),
    switch('L', "", "", "report latencies", latency),
    switch(
        'R',
        "[p]text|xml",
        "text",
        "form of the report; p: print the profile only",
        report,
    ),
];

/// Options people do use, with what to do about each.
static REFUSED: &[(&str, &str)] = &[
    (
        "rs",
        "use -r or leave it out: a mix of random and sequential is not supported",
    ),
    (
        "rd",
        "use -r: a skewed distribution needs a fio job file with random_distribution=",
    ),
    ("B", "leave it out, or use a fio job file with offset="),
    ("c", "create the file first, then name it as the target"),
    ("F", "use -t, threads per target"),
    ("O", "use -o, commands outstanding per target and thread"),
    ("i", "use -g to limit the rate"),
    ("j", "use -g to limit the rate"),
    ("p", "leave it out"),
    ("X", "write the profile's options on the command line"),
    ("a", "pin the whole program with taskset"),
    ("n", "leave it out: threads are not pinned"),
    ("v", "leave it out"),
    ("Sm", "use -Su or -Sh: memory-mapped I/O is not supported"),
    ("Sr", "use -Su or -Sh: there is no remote cache"),
];

/// A word of the command line.
struct Word<'a> {
    /// As written.
    text: &'a str,
    /// After dash and letter.
    rest: &'a str,
    /// From 1.
    number: usize,
}

impl Word<'_> {
    fn place(&self) -> Place {
        Place {
            source: format!("DISKSPD command line, word {}", self.number),
            line: None,
        }
    }

    fn bad(&self, allowed: &str, hint: &str) -> LabError {
        LabError::BadValue {
            option: self.text.chars().take(2).collect(),
            given: self.rest.to_owned(),
            allowed: allowed.to_owned(),
            place: self.place(),
            hint: hint.to_owned(),
        }
    }

    fn unsupported(&self) -> LabError {
        let name = self.text.get(1..).unwrap_or_default();
        let known = REFUSED.iter().find(|(known, _)| name.starts_with(known));
        let hint = known.map_or("leave it out; see the list of supported options", |k| k.1);
        LabError::UnknownOption {
            language: "DISKSPD",
            option: self.text.to_owned(),
            place: self.place(),
            hint: hint.to_owned(),
        }
    }

    fn count(&self, low: u32, high: u32) -> Result<u32, LabError> {
        let digits = self.rest.bytes().all(|b| b.is_ascii_digit());
        match self.rest.parse() {
            Ok(n) if digits && (low..=high).contains(&n) => Ok(n),
            _ => Err(self.bad(
                &format!("it is a whole number from {low} to {high}"),
                self.spaced(),
            )),
        }
    }

    /// A hint for `-b 4K`.
    fn spaced(&self) -> &'static str {
        if self.rest.is_empty() {
            "write the value without a blank before it"
        } else {
            ""
        }
    }

    fn size(&self, text: &str, block: Option<u32>) -> Result<u64, LabError> {
        let allowed = "a size is a number with K, M, G, T or b (blocks), such as 4K";
        let bad = || self.bad(allowed, self.spaced());
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let scale = match (suffix.to_ascii_uppercase().as_str(), block) {
            ("", _) => 1,
            ("K", _) => 1 << 10,
            ("M", _) => 1 << 20,
            ("G", _) => 1 << 30,
            ("T", _) => 1 << 40,
            ("B", Some(block)) => u64::from(block),
            _ => return Err(bad()),
        };
        let bytes = digits
            .parse()
            .ok()
            .and_then(|n: u64| n.checked_mul(scale))
            .ok_or_else(bad)?;
        if bytes == 0 || !bytes.is_multiple_of(512) {
            return Err(self.bad("it is a multiple of 512 bytes", ""));
        }
        Ok(bytes)
    }
}

/// What is written.
#[derive(Clone, Copy)]
enum Contents {
    Pattern,
    Zeroes,
    Random { refill: bool },
}

/// A command line half read, with DISKSPD's defaults.
struct Draft {
    block: u32,
    threads: u32,
    depth: u32,
    write_pct: u8,
    random: Option<u64>,
    stride: Option<u64>,
    interlocked: bool,
    thread_step: u64,
    region: Option<u64>,
    time: Time,
    /// `-S`: whether the page cache is bypassed, once it has been said.
    uncached: Option<bool>,
    write_through: bool,
    contents: Contents,
    bytes_per_second: u64,
    iops: u64,
    seed: u64,
    output: DiskspdOutput,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            block: 64 << 10,
            threads: 1,
            depth: 2,
            write_pct: 0,
            random: None,
            stride: None,
            interlocked: false,
            thread_step: 0,
            region: None,
            time: Time {
                ramp: Nanos::from_secs(5),
                run: Some(Nanos::from_secs(10)),
                time_based: true,
                cool_down: Nanos::ZERO,
            },
            uncached: None,
            write_through: false,
            contents: Contents::Pattern,
            bytes_per_second: 0,
            iops: 0,
            seed: 0,
            output: DiskspdOutput::default(),
        }
    }
}

/// How far DISKSPD's default contents, bytes 0 to 255 repeated, compress: a compressor keeps the
/// first 256 bytes and a few to say "again". In per cent removed of a command of `block` bytes.
pub fn pattern_compress_pct(block: u32) -> u8 {
    const KEPT: u64 = 256 + 16;
    let block = u64::from(block).max(1);
    (block.saturating_sub(KEPT) * 100 / block) as u8
}

/// The plan of a command line; a leading `diskspd` is dropped.
///
/// # Errors
/// When an option or value is not supported, options contradict each other, or no target is
/// named. The place is the word's number in `args`.
pub fn parse(args: &[String]) -> Result<Plan, LabError> {
    let skip = usize::from(args.first().is_some_and(|word| is_program(word)));
    let words = || {
        args.iter()
            .enumerate()
            .skip(skip)
            .map(|(at, text)| word(text, at + 1))
    };
    let mut draft = Draft::default();
    // The block size first: other sizes may be counted in blocks.
    for word in words()
        .take_while(|w| option(w).is_some())
        .filter(|w| letter(w) == Some('b'))
    {
        block(&mut draft, &word)?;
    }
    let mut options = Vec::new();
    let mut targets = Vec::new();
    for word in words() {
        let Some(option) = option(&word) else {
            targets.push(target(&word)?);
            continue;
        };
        if !targets.is_empty() {
            return Err(word.bad("it stands after a target", "options come before targets"));
        }
        (option.set)(&mut draft, &word)?;
        options.push((format!("-{}", option.letter), word.rest.to_owned()));
    }
    draft.check()?;
    if targets.is_empty() {
        return Err(LabError::refused(
            "DISKSPD command line: no target is named",
            "end the line with a file or a device such as /dev/nvme0n1",
        ));
    }
    let job = |(index, target)| draft.job(target, index, &options);
    let jobs = targets.into_iter().enumerate().map(job).collect();
    Ok(Plan {
        language: Language::Diskspd {
            args: args[skip..].to_vec(),
            output: draft.output,
        },
        phases: vec![Phase { jobs }],
    })
}

fn is_program(word: &str) -> bool {
    let name = word
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(word)
        .to_ascii_lowercase();
    matches!(name.as_str(), "diskspd" | "diskspd.exe")
}

fn word(text: &str, number: usize) -> Word<'_> {
    let mut rest = text.chars();
    rest.next();
    rest.next();
    Word {
        text,
        rest: rest.as_str(),
        number,
    }
}

fn letter(word: &Word) -> Option<char> {
    word.text.chars().nth(1)
}

/// The option a word is, or `None` for a target. An unknown letter after a dash is an option,
/// one that refuses itself; after a slash a word is an option only if it is a correct one.
fn option(word: &Word) -> Option<&'static SwitchHelp> {
    static UNKNOWN: SwitchHelp = switch('?', "", "", "", |_, word| Err(word.unsupported()));
    let found = SWITCHES.iter().find(|s| Some(s.letter) == letter(word));
    match word.text.chars().next() {
        Some('-') => Some(found.unwrap_or(&UNKNOWN)),
        Some('/') => found.filter(|s| (s.set)(&mut Draft::default(), word).is_ok()),
        _ => None,
    }
}

fn target(word: &Word) -> Result<String, LabError> {
    let drive_letter = word.text.len() == 2 && word.text.ends_with(':');
    if word.text.is_empty() || word.text.starts_with('#') || drive_letter {
        return Err(LabError::BadValue {
            option: "target".to_owned(),
            given: word.text.to_owned(),
            allowed: "a target is the path of a file or a block device".to_owned(),
            place: word.place(),
            hint: "drives have names such as /dev/nvme0n1 or /dev/sda here".to_owned(),
        });
    }
    Ok(word.text.to_owned())
}

impl Draft {
    fn check(&self) -> Outcome {
        let conflict = |what: &str, hint: &str| {
            Err(LabError::refused(
                format!("DISKSPD command line: {what}"),
                hint,
            ))
        };
        if self.random.is_some() && (self.stride.is_some() || self.interlocked) {
            return conflict("-r and -s contradict each other", "use one of them");
        }
        if self.interlocked && self.thread_step > 0 {
            return conflict("-si and -T contradict each other", "use one of them");
        }
        if self.bytes_per_second > 0 && self.iops > 0 {
            return conflict("two limits are given with -g", "use one of them");
        }
        Ok(())
    }

    fn job(&self, target: String, index: usize, options: &[(String, String)]) -> JobSpec {
        let order = match self.random {
            Some(align) => Order::Random {
                align,
                distribution: Distribution::Uniform,
                each_once: false,
            },
            None => Order::Sequential {
                stride: self.stride,
                start_step: self.thread_step,
                split_positions: false,
            },
        };
        let merged = if self.interlocked { self.threads } else { 1 };
        let block = vec![BlockSize {
            bytes: self.block,
            percent: 100,
        }];
        JobSpec {
            name: target.clone(),
            target: Some(target),
            options: options.to_vec(),
            mix: match self.write_pct {
                0 => Mix::Read,
                100 => Mix::Write,
                percent => Mix::ReadWrite {
                    read_pct: 100 - percent,
                },
            },
            order,
            block_sizes: [block.clone(), block.clone(), block],
            region: self.region,
            depth: self.depth.saturating_mul(merged),
            copies: self.threads / merged,
            time: self.time,
            durability: Durability {
                fua: self.write_through,
                ..Durability::default()
            },
            pace: self.pace(u64::from(merged)),
            data: match self.contents {
                Contents::Pattern => Data {
                    compress_pct: pattern_compress_pct(self.block),
                    refill: false,
                },
                Contents::Zeroes => Data {
                    compress_pct: 100,
                    refill: false,
                },
                Contents::Random { refill } => Data {
                    compress_pct: 0,
                    refill,
                },
            },
            direct: self.uncached.unwrap_or(false),
            seed: Rng::named(self.seed, &format!("DISKSPD target {index}")).next_u64(),
            ..JobSpec::default()
        }
    }

    /// The limit of one copy that stands for `merged` threads, shared out by the mix.
    fn pace(&self, merged: u64) -> Pace {
        let write = u64::from(self.write_pct);
        let share = |total: u64| {
            let part = |percent: u64| {
                let limit = u128::from(total) * u128::from(merged) * u128::from(percent) / 100;
                // 0 means no limit, so a small share of a small limit is at least 1.
                let least = u64::from(total > 0 && percent > 0);
                u64::try_from(limit).unwrap_or(u64::MAX).max(least)
            };
            [part(100 - write), part(write), 0]
        };
        Pace {
            rate_bytes: share(self.bytes_per_second),
            rate_iops: share(self.iops),
            ..Pace::default()
        }
    }
}

// Setters, in the order of the option table.

fn block(draft: &mut Draft, word: &Word) -> Outcome {
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

#[cfg(test)]
#[path = "diskspd_tests.rs"]
mod tests;
