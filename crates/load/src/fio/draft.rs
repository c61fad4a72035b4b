//! A job while its options are being read, and the setters the option table calls.

use super::ini::{Section, Setting};
use super::units::{Size, TimeUnit};
use crate::plan::{
    BlockSize, Data, Distribution, Durability, JobSpec, Mix, Order, Pace, Shares, Time,
};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

type Outcome = Result<(), LabError>;

/// fio's FIO_RANDSEED default for `randseed`.
const SEED: u64 = 0x89;

/// `rw` without its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
    Trim,
    Both,
}

/// A job half read, with fio's defaults.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub stonewall: bool,
    /// Options as written, for the exporters.
    pub written: Vec<(String, String)>,
    kb_base: u64,
    name: Option<String>,
    filename: Option<String>,
    direction: Direction,
    random: bool,
    read_pct: u8,
    block: [u32; 3],
    split: Option<[Vec<BlockSize>; 3]>,
    align: Option<u64>,
    size: Option<Size>,
    file_size: Option<u64>,
    offset: Size,
    io_size: Option<Size>,
    /// The engine waits for each command.
    synchronous: bool,
    depth: u32,
    copies: u32,
    time: Time,
    direct: bool,
    sync: bool,
    fsync: u32,
    fdatasync: u32,
    distribution: Distribution,
    random_map: bool,
    random_pct: u8,
    seed: u64,
    pace: Pace,
    compress_pct: u8,
    zero: bool,
    refill: bool,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            stonewall: false,
            written: Vec::new(),
            kb_base: 1024,
            name: None,
            filename: None,
            direction: Direction::Read,
            random: false,
            read_pct: 50,
            block: [4096; 3],
            split: None,
            align: None,
            size: None,
            file_size: None,
            offset: Size::Bytes(0),
            io_size: None,
            synchronous: false,
            depth: 1,
            copies: 1,
            time: Time::default(),
            direct: false,
            sync: false,
            fsync: 0,
            fdatasync: 0,
            distribution: Distribution::Uniform,
            random_map: true,
            random_pct: 100,
            seed: SEED,
            pace: Pace::default(),
            compress_pct: 0,
            zero: false,
            refill: false,
        }
    }
}

impl Draft {
    /// The job of `section`, the `index`th of the file.
    pub fn finish(self, section: &Section, index: u32) -> Result<JobSpec, LabError> {
        let mix = match self.direction {
            Direction::Read => Mix::Read,
            Direction::Write => Mix::Write,
            Direction::Trim => Mix::Trim,
            Direction::Both => Mix::ReadWrite {
                read_pct: self.read_pct,
            },
        };
        let (region, region_share) = self.region(section)?;
        let (io_limit, io_share) = match self.io_size {
            Some(Size::Percent(percent)) => (None, Some(percent)),
            Some(Size::Bytes(bytes)) => (Some(bytes), None),
            None => (None, None),
        };
        let (offset, offset_share) = match self.offset {
            Size::Bytes(bytes) => (bytes, None),
            Size::Percent(percent) => (0, Some(percent)),
        };
        if self.fsync > 0 && self.fdatasync > 0 {
            return Err(refuse(
                section,
                "both fsync and fdatasync",
                "use one of them",
            ));
        }
        if self.time.time_based && self.time.run.is_none() {
            return Err(refuse(
                section,
                "time_based without runtime has no end",
                "say how long with runtime=",
            ));
        }
        let order = self.order(section)?;
        let block_sizes = self.block_sizes();
        Ok(JobSpec {
            name: self.name.unwrap_or_else(|| section.name.clone()),
            target: self.filename,
            options: self.written,
            mix,
            order,
            random_pct: self.random_pct,
            block_sizes,
            offset,
            region,
            shares: Shares {
                offset: offset_share,
                region: region_share,
                io_limit: io_share,
            },
            io_limit,
            depth: if self.synchronous { 1 } else { self.depth },
            copies: self.copies,
            time: self.time,
            durability: Durability {
                fua: self.sync,
                flush_every: self.fsync.max(self.fdatasync),
                data_only: self.fdatasync > 0,
            },
            pace: self.pace,
            data: Data {
                compress_pct: if self.zero { 100 } else { self.compress_pct },
                refill: self.refill,
            },
            direct: self.direct,
            seed: Rng::named(self.seed, &format!("fio job {index}")).next_u64(),
            replay: None,
        })
    }

    /// The region in bytes, or in per cent of the target.
    fn region(&self, section: &Section) -> Result<(Option<u64>, Option<u8>), LabError> {
        match (self.size, self.file_size) {
            (None, file) => Ok((file, None)),
            (Some(Size::Bytes(bytes)), None) => Ok((Some(bytes), None)),
            // All of the target is what no region at all means.
            (Some(Size::Percent(100)), None) => Ok((None, None)),
            (Some(Size::Percent(percent)), None) => Ok((None, Some(percent))),
            (Some(Size::Percent(percent)), Some(file)) => {
                let bytes = u128::from(file) * u128::from(percent) / 100;
                Ok((u64::try_from(bytes).ok(), None))
            }
            (Some(Size::Bytes(bytes)), Some(file)) if bytes == file => Ok((Some(bytes), None)),
            (Some(Size::Bytes(_)), Some(_)) => Err(refuse(
                section,
                "size and filesize differ",
                "give the region with size and the amount to transfer with io_size",
            )),
        }
    }

    fn block_sizes(&self) -> [Vec<BlockSize>; 3] {
        match &self.split {
            Some(split) => split.clone(),
            None => self.block.map(|bytes| {
                vec![BlockSize {
                    bytes,
                    percent: 100,
                }]
            }),
        }
    }

    fn order(&self, section: &Section) -> Result<Order, LabError> {
        if !self.random {
            return Ok(Order::Sequential {
                stride: None,
                start_step: 0,
                split_positions: true,
            });
        }
        let smallest = self.block_sizes().map(|list| {
            list.iter()
                .map(|b| u64::from(b.bytes))
                .min()
                .unwrap_or(4096)
        });
        let used = match self.direction {
            Direction::Read => &smallest[..1],
            Direction::Write => &smallest[1..2],
            Direction::Trim => &smallest[2..],
            Direction::Both => &smallest[..2],
        };
        if self.align.is_none() && used.iter().any(|bytes| *bytes != used[0]) {
            // fio would align each kind to its own smallest block.
            return Err(refuse(
                section,
                "reads and writes whose smallest blocks differ, at random addresses",
                "say where both may start with blockalign=",
            ));
        }
        // fio: "Any use of blockalign= turns off randommap"; so does any skew.
        let each_once =
            self.random_map && self.align.is_none() && self.distribution == Distribution::Uniform;
        Ok(Order::Random {
            align: self.align.unwrap_or(used[0]),
            distribution: self.distribution.clone(),
            each_once,
        })
    }
}

fn refuse(section: &Section, what: &str, hint: &str) -> LabError {
    LabError::refused(
        format!("{}: job `{}`: {what}", section.place, section.name),
        hint,
    )
}

// Setters, in the order of the option table.

pub(super) fn rw(draft: &mut Draft, s: &Setting) -> Outcome {
    (draft.direction, draft.random) = match s.text() {
        "read" => (Direction::Read, false),
        "write" => (Direction::Write, false),
        "trim" => (Direction::Trim, false),
        "randread" => (Direction::Read, true),
        "randwrite" => (Direction::Write, true),
        "randtrim" => (Direction::Trim, true),
        "rw" | "readwrite" => (Direction::Both, false),
        "randrw" => (Direction::Both, true),
        text => {
            let hint = match text {
                "trimwrite" | "randtrimwrite" => {
                    "trims followed by writes are not supported: use two jobs".to_owned()
                }
                _ => match text.split_once(':') {
                    Some((plain, _)) => format!(
                        "a count after the colon, which changes the order of addresses, is not \
                         supported: write {}={plain}",
                        s.name
                    ),
                    None => String::new(),
                },
            };
            return Err(s.bad(
                "it is read, write, trim, rw, readwrite, randread, randwrite, randtrim or randrw",
                hint,
            ));
        }
    };
    Ok(())
}

pub(super) fn rwmixread(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.read_pct = s.percent()?;
    Ok(())
}

pub(super) fn rwmixwrite(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.read_pct = 100 - s.percent()?;
    Ok(())
}

pub(super) fn bs(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.block = s.per_kind(4096, |text| s.block(text, draft.kb_base))?;
    Ok(())
}

pub(super) fn bssplit(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.split = Some(s.splits(draft.kb_base)?);
    Ok(())
}

pub(super) fn blockalign(draft: &mut Draft, s: &Setting) -> Outcome {
    let [read, write, trim] = s.per_kind(4096, |text| s.block(text, draft.kb_base))?;
    if read != write || write != trim {
        return Err(s.bad("one alignment for reads, writes and trims is supported", ""));
    }
    draft.align = Some(u64::from(read));
    Ok(())
}

pub(super) fn size(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.size = Some(s.size_or_percent(draft.kb_base)?);
    if matches!(draft.size, Some(Size::Bytes(0) | Size::Percent(0))) {
        return Err(s.bad(
            "a job needs a region to work on",
            "leave size out for all of it",
        ));
    }
    Ok(())
}

pub(super) fn io_size(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.io_size = Some(s.size_or_percent(draft.kb_base)?);
    Ok(())
}

pub(super) fn filesize(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.file_size = Some(s.size(draft.kb_base)?);
    Ok(())
}

pub(super) fn offset(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.offset = s.size_or_percent(draft.kb_base)?;
    match draft.offset {
        Size::Bytes(bytes) if !bytes.is_multiple_of(512) => {
            Err(s.bad("it is a multiple of 512 bytes", ""))
        }
        _ => Ok(()),
    }
}

pub(super) fn filename(draft: &mut Draft, s: &Setting) -> Outcome {
    let unescaped = s.text().replace("\\:", "\0");
    if unescaped.contains(':') {
        let hint = "use one job per file, or write \\: for a colon in a name";
        return Err(s.bad("one file or device is supported", hint));
    }
    if unescaped.is_empty() {
        return Err(s.bad("it is the path of a file or device", ""));
    }
    draft.filename = Some(unescaped.replace('\0', ":"));
    Ok(())
}

pub(super) fn name(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.name = Some(s.text().to_owned());
    Ok(())
}

pub(super) fn ioengine(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.synchronous = match s.text() {
        "io_uring" | "libaio" | "posixaio" | "null" => false,
        "psync" | "sync" => true,
        _ => {
            let hint = "write ioengine=io_uring: it is the engine used in any case";
            return Err(s.bad(
                "it is io_uring, libaio, posixaio, psync, sync or null",
                hint,
            ));
        }
    };
    Ok(())
}

pub(super) fn iodepth(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.depth = s.count(draft.kb_base, 1..=65_536)? as u32;
    Ok(())
}

pub(super) fn numjobs(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.copies = s.count(draft.kb_base, 1..=4096)? as u32;
    Ok(())
}

pub(super) fn runtime(draft: &mut Draft, s: &Setting) -> Outcome {
    // fio: 0 is no limit.
    draft.time.run = Some(s.time(TimeUnit::Seconds)?).filter(|time| *time > Nanos::ZERO);
    Ok(())
}

pub(super) fn time_based(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.time.time_based = s.flag()?;
    Ok(())
}

pub(super) fn ramp_time(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.time.ramp = s.time(TimeUnit::Seconds)?;
    Ok(())
}

pub(super) fn stonewall(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.stonewall = s.flag()?;
    Ok(())
}

pub(super) fn direct(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.direct = s.flag()?;
    Ok(())
}

pub(super) fn buffered(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.direct = !s.flag()?;
    Ok(())
}

pub(super) fn sync(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.sync = match s.text() {
        "none" | "0" => false,
        "sync" | "1" | "dsync" => true,
        _ => return Err(s.bad("it is none, sync, dsync, 0 or 1", "")),
    };
    Ok(())
}

pub(super) fn fsync(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.fsync = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn fdatasync(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.fdatasync = s.count(draft.kb_base, 0..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn random_distribution(draft: &mut Draft, s: &Setting) -> Outcome {
    let (kind, rest) = s.text().split_once(':').unwrap_or((s.text(), ""));
    let number = |default: f64| match rest {
        "" => Ok(default),
        _ => rest
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
        "zoned" => Distribution::Zoned {
            zones: zones(s, rest)?,
        },
        _ => {
            return Err(s.bad(
                "it is random, zipf:theta, pareto:h or zoned:accesses/size:...",
                "",
            ));
        }
    };
    Ok(())
}

pub(super) fn percentage_random(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.random_pct = s.percent()?;
    Ok(())
}

/// `50/5:30/15:20/80`: shares of accesses and of the region.
fn zones(s: &Setting, text: &str) -> Result<Vec<(u8, u8)>, LabError> {
    let zones: Option<Vec<(u8, u8)>> = text
        .split(':')
        .map(|zone| {
            let (accesses, size) = zone.split_once('/')?;
            Some((accesses.parse().ok()?, size.parse().ok()?))
        })
        .collect();
    let hint = "for example zoned:50/5:30/15:20/80";
    let zones = zones.ok_or_else(|| {
        let both = "zones are accesses/size:accesses/size:..., whole numbers in per cent";
        s.bad(both, hint)
    })?;
    let accesses: u32 = zones.iter().map(|z| u32::from(z.0)).sum();
    let sizes: u32 = zones.iter().map(|z| u32::from(z.1)).sum();
    if accesses != 100 || sizes != 100 || zones.len() > 100 {
        let sums = format!("accesses add up to {accesses} % and sizes to {sizes} %, not 100");
        return Err(s.bad(&sums, hint));
    }
    Ok(zones)
}

pub(super) fn norandommap(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.random_map = !s.flag()?;
    Ok(())
}

pub(super) fn randseed(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.seed = s.count(draft.kb_base, 0..=u64::MAX)?;
    Ok(())
}

pub(super) fn rate(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.pace.rate_bytes = rates(draft.kb_base, s)?;
    Ok(())
}

pub(super) fn rate_iops(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.pace.rate_iops = rates(draft.kb_base, s)?;
    Ok(())
}

fn rates(kb_base: u64, s: &Setting) -> Result<[u64; 3], LabError> {
    s.per_kind(0, |text| {
        super::units::number(text, kb_base).ok_or_else(|| {
            s.bad(
                "a rate is a whole number per second, such as 500 or 10m",
                "",
            )
        })
    })
}

pub(super) fn thinktime(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.pace.think = s.time(TimeUnit::Micros)?;
    Ok(())
}

pub(super) fn thinktime_iotime(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.pace.think_after = s.time(TimeUnit::Seconds)?;
    Ok(())
}

pub(super) fn thinktime_blocks(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.pace.think_blocks = s.count(draft.kb_base, 1..=u64::from(u32::MAX))? as u32;
    Ok(())
}

pub(super) fn compress(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.compress_pct = s.percent()?;
    Ok(())
}

pub(super) fn zero_buffers(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.zero = s.flag()?;
    Ok(())
}

pub(super) fn refill_buffers(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.refill = s.flag()?;
    Ok(())
}

/// Checks a flag that changes nothing here.
pub(super) fn checked_flag(_: &mut Draft, s: &Setting) -> Outcome {
    s.flag().map(|_| ())
}

pub(super) fn kb_base(draft: &mut Draft, s: &Setting) -> Outcome {
    draft.kb_base = match s.text() {
        "1024" => 1024,
        "1000" => 1000,
        _ => return Err(s.bad("it is 1024 or 1000", "")),
    };
    Ok(())
}
