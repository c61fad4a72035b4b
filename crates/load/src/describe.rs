//! A job in a few words, as its user would write it: `randrw 65/35 8 KiB, depth 32 x 4`.

use crate::plan::{BlockSize, Distribution, JobSpec, Mix, Order, WriteAs};
use ssdlab_ssd::{Bytes, Nanos};

impl JobSpec {
    /// What the job does. Left out: place, duration and data.
    pub fn what(&self) -> String {
        if self.replay.is_some() {
            return format!("a trace, {}", self.demand());
        }
        let mut words = format!("{} {}", self.pattern(), self.sizes());
        words += &format!(", {}", self.demand());
        if let Order::Random { distribution, .. } = &self.order {
            words += match distribution {
                Distribution::Uniform => "",
                Distribution::Zipf { .. } => ", zipf",
                Distribution::Pareto { .. } => ", pareto",
                Distribution::Zoned { .. }
                | Distribution::ZonedBytes { .. }
                | Distribution::Kinds { .. } => ", zoned",
                Distribution::Normal { .. } => ", normal",
            };
            if let Some([read, write, _]) = self.steps.random_pct {
                words += &format!(", {read} % of reads and {write} % of writes random");
            } else if self.random_pct < 100 {
                words += &format!(", {} % random", self.random_pct);
            }
        }
        if self.verify.is_some() {
            words += ", verified";
        }
        if self.durability.fua {
            words += ", each write durable";
        }
        match self.durability.flush_every {
            0 => {}
            1 => words += ", a flush after each write",
            n => words += &format!(", a flush after {n} writes"),
        }
        if self.end_flushes > 0 {
            words += ", a flush at the end";
        }
        if self.pace.think > Nanos::ZERO {
            words += &format!(", pauses of {}", self.pace.think);
        }
        let limits = self.pace.rate_bytes.iter();
        if limits.chain(&self.pace.rate_iops).any(|limit| *limit > 0) {
            words += ", rate limited";
        }
        words
    }

    fn pattern(&self) -> String {
        let random = match self.order {
            Order::Sequential { .. } => "",
            Order::Random { .. } => "rand",
        };
        match self.mix {
            Mix::Read => format!("{random}read"),
            Mix::Write if self.steps.write_as == WriteAs::TrimAndWrite => {
                format!("{random}trimwrite")
            }
            Mix::Write => format!("{random}write"),
            Mix::Trim => format!("{random}trim"),
            Mix::ReadWrite { read_pct } => {
                format!("{random}rw {read_pct}/{}", 100u8.saturating_sub(read_pct))
            }
        }
    }

    /// The size, or the smallest and the largest of the kinds that occur.
    fn sizes(&self) -> String {
        let kinds = match self.mix {
            Mix::Read => 0..1,
            Mix::Write => 1..2,
            Mix::Trim => 2..3,
            Mix::ReadWrite { .. } => 0..2,
        };
        let sizes = || self.block_sizes[kinds.clone()].iter().flatten();
        let bytes = |size: &BlockSize| u64::from(size.bytes);
        let smallest = Bytes(sizes().map(bytes).min().unwrap_or(0));
        let largest = Bytes(sizes().map(bytes).max().unwrap_or(0));
        if smallest == largest {
            smallest.to_string()
        } else {
            format!("{smallest} to {largest}")
        }
    }

    fn demand(&self) -> String {
        let shared = if self.ties.shares_depth {
            " with the other targets"
        } else {
            ""
        };
        match self.copies {
            1 => format!("depth {}{shared}", self.depth),
            copies => format!("depth {} x {copies}{shared}", self.depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fio;

    fn what(options: &str) -> String {
        let text = format!("[job]\nioengine=io_uring\ndirect=1\n{options}\n");
        fio::parse(&text, "test").unwrap().phases[0].jobs[0].what()
    }

    #[test]
    fn a_job_is_told_in_a_few_words() {
        let iops = "rw=randrw\nrwmixread=65\nbs=8k\niodepth=32\nnumjobs=4";
        assert_eq!(what(iops), "randrw 65/35 8 KiB, depth 32 x 4");
        assert_eq!(what("rw=read\nbs=1m"), "read 1 MiB, depth 1");
        assert_eq!(what("rw=randwrite\nbs=512"), "randwrite 512 B, depth 1");
        // A job that only reads has no size of writes to state.
        assert_eq!(what("rw=read\nbs=8k,64k"), "read 8 KiB, depth 1");
        assert_eq!(
            what("rw=rw\nbs=8k,64k"),
            "rw 50/50 8 KiB to 64 KiB, depth 1"
        );
        let zoned = "rw=randread\nbs=4k\nrandom_distribution=zoned:50/5:30/15:20/80";
        assert_eq!(what(zoned), "randread 4 KiB, depth 1, zoned");
        let idle = "rw=write\nbs=4k\nthinktime=5s\nthinktime_iotime=5s";
        assert!(what(idle).contains(", pauses of 5"), "{}", what(idle));
        let durable = "rw=write\nbs=4k\nfdatasync=1";
        assert_eq!(
            what(durable),
            "write 4 KiB, depth 1, a flush after each write"
        );
    }
}
