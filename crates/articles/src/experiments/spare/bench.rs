//! A desktop storage bench in two weights, made up from what is known of the article's.
//!
//! The article plays back traces of Windows 7 desktops which were never published. Known of them:
//! they write about 4 GB at most, too little to use up the spare area of most drives (AnandTech
//! 5734), that all of them together took about half an hour (AnandTech 4256), and that TRIM is left
//! out (AnandTech 16458, of the site's later traces). Numbers of commands, sizes, mean depth and
//! recorded length are as remembered of the site's descriptions of 2010 and were not read again;
//! everything else is assumed and named here.
//!
//! A desktop asks in bursts. The commands of a burst are given at once; a queue of n that empties
//! is (n + 1) / 2 deep on average, which gives the mean length of bursts. Between them the host
//! thinks, as long as makes the recorded rate: what was recorded in 5 and 22 minutes and took half
//! an hour to play was played at its own pace. (The site's later traces cut pauses to 25 ms.)

use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};

/// A trace's statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DesktopTraceProfile {
    /// Name in results.
    pub name: &'static str,
    /// Reads, on a drive of full size.
    pub reads: u32,
    /// Writes, on a drive of full size.
    pub writes: u32,
    /// Mean commands outstanding, in hundredths.
    pub depth_x100: u32,
    /// How long the recorded use took, s.
    pub recorded_s: u32,
    /// Percentage of commands that go on where the last of their kind ended.
    pub sequential_pct: u32,
    /// Sizes of commands in KiB, with their shares in per cent.
    pub sizes: [(u32, u32); 6],
    /// Percentage of the sequential runs written that are downloads, archives and media: data
    /// that does not compress. Assumed.
    pub incompressible_pct: u32,
}

/// Mail, office, a film: light, typical use.
pub const LIGHT: DesktopTraceProfile = DesktopTraceProfile {
    name: "light",
    reads: 37_501,
    writes: 20_268,
    depth_x100: 609,
    recorded_s: 300,
    sequential_pct: 30,
    sizes: [(4, 30), (8, 12), (16, 11), (32, 22), (64, 13), (128, 12)],
    incompressible_pct: 0,
};

/// Downloads, installations, virus scan and picture editing at the same time.
pub const HEAVY: DesktopTraceProfile = DesktopTraceProfile {
    name: "heavy",
    reads: 128_895,
    writes: 72_411,
    depth_x100: 359,
    recorded_s: 1320,
    sequential_pct: 44,
    sizes: [(4, 30), (8, 4), (16, 12), (32, 14), (64, 20), (128, 20)],
    incompressible_pct: 50,
};

/// Per cent that a compressor takes off programs and documents: an installation of Windows 7 and
/// Office 2007 writes 25 GB, of which the maker of the controller says 11 GB reach the flash.
pub const DESKTOP_COMPRESS_PCT: u8 = 56;

/// The part of a drive's addresses that the recorded system used, in bytes on a drive of full
/// size: assumed, Windows 7 with its programs and files.
pub const SYSTEM_BYTES: u64 = 40_000_000_000;

/// Percentage of jumps that go to a fifth of the system: browser cache, mail, logs. Assumed.
const HOT_PCT: u32 = 80;

const KIB: u64 = 1024;
const ALIGN: u64 = 4 * KIB;

/// One direction of a trace: where it is and what it writes.
struct TraceDirection {
    place: Rng,
    next: u64,
    compress_pct: u8,
}

/// A trace's commands for a drive `factor` times smaller than its catalogue entry: as many times
/// fewer commands over as many times fewer addresses.
pub fn commands(weight: &DesktopTraceProfile, factor: u64, seed: u64) -> Vec<Command> {
    let system = SYSTEM_BYTES / factor / ALIGN;
    let named =
        |stream: &str| Rng::named(seed, &format!("storage bench {}: {stream}", weight.name));
    let mut kind = named("kinds");
    let mut size = named("sizes");
    let side = |stream: &str| TraceDirection {
        place: named(stream),
        next: 0,
        compress_pct: DESKTOP_COMPRESS_PCT,
    };
    let mut sides = [side("reads"), side("writes")];
    let mut remaining = [weight.reads, weight.writes].map(|n| (u64::from(n) / factor).max(1));
    let mut trace = Vec::new();
    while remaining[0] + remaining[1] > 0 {
        let write = usize::from(kind.below(remaining[0] + remaining[1]) >= remaining[0]);
        remaining[write] -= 1;
        let len = draw_size(weight, &mut size);
        trace.push(sides[write].command(weight, write == 1, len, system));
    }
    trace
}

/// Commands that are given together, and the pause after them.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandBurst {
    /// In order.
    pub commands: Vec<Command>,
    /// Until the next burst, from the last completion.
    pub pause: Nanos,
}

/// A trace in bursts. Lengths of bursts and of pauses are uniform between nothing and twice their
/// mean.
pub fn bursts(weight: &DesktopTraceProfile, trace: &[Command], seed: u64) -> Vec<CommandBurst> {
    let name = format!("storage bench {}: bursts", weight.name);
    let mut rng = Rng::named(seed, &name);
    let longest = u64::from(4 * weight.depth_x100 - 2 * 100) / 100;
    let recorded_ns = u64::from(weight.recorded_s) * 1_000_000_000;
    let period_ns = recorded_ns / u64::from(weight.reads + weight.writes) * (longest + 1) / 2;
    let mut remaining = trace;
    let mut bursts = Vec::new();
    while !remaining.is_empty() {
        let length = (1 + rng.below(longest) as usize).min(remaining.len());
        let (commands, rest) = remaining.split_at(length);
        remaining = rest;
        bursts.push(CommandBurst {
            commands: commands.to_vec(),
            pause: Nanos(rng.below(2 * period_ns)),
        });
    }
    bursts
}

fn draw_size(weight: &DesktopTraceProfile, rng: &mut Rng) -> u64 {
    let total: u32 = weight.sizes.iter().map(|(_, share)| share).sum();
    let mut drawn = rng.below(total.into());
    for (kib, share) in weight.sizes {
        match drawn.checked_sub(share.into()) {
            Some(rest) => drawn = rest,
            None => return u64::from(kib) * KIB,
        }
    }
    4 * KIB
}

impl TraceDirection {
    /// `system`: in units of 4 KiB.
    fn command(
        &mut self,
        weight: &DesktopTraceProfile,
        write: bool,
        len: u64,
        system: u64,
    ) -> Command {
        let units = len / ALIGN;
        let on = self.place.percent(weight.sequential_pct);
        if !on || self.next + units > system {
            let hot = self.place.percent(HOT_PCT);
            let within = if hot { system / 5 } else { system };
            self.next = self.place.below(within.saturating_sub(units).max(1));
            self.compress_pct = if self.place.percent(weight.incompressible_pct) {
                0
            } else {
                DESKTOP_COMPRESS_PCT
            };
        }
        let offset = self.next * ALIGN;
        self.next += units;
        let command = if write {
            Command::write(offset, len as u32)
        } else {
            Command::read(offset, len as u32)
        };
        Command {
            compress_pct: if write { self.compress_pct } else { 0 },
            ..command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::Op;

    #[test]
    fn the_traces_have_the_statistics_that_they_are_made_from() {
        for weight in [LIGHT, HEAVY] {
            assert_eq!(
                weight.sizes.iter().map(|(_, share)| share).sum::<u32>(),
                100
            );
            let trace = commands(&weight, 1, 1);
            let writes: Vec<&Command> = trace.iter().filter(|c| c.op == Op::Write).collect();
            assert_eq!(writes.len(), weight.writes as usize);
            assert_eq!(trace.len() - writes.len(), weight.reads as usize);
            let small = trace.iter().filter(|c| c.len == 4096).count() as f64;
            assert!((small / trace.len() as f64 - 0.30).abs() < 0.01);
            assert!(
                trace
                    .iter()
                    .all(|c| c.offset + u64::from(c.len) <= SYSTEM_BYTES)
            );
            let on = writes
                .windows(2)
                .filter(|w| w[0].offset + u64::from(w[0].len) == w[1].offset);
            let share = on.count() as f64 / writes.len() as f64;
            assert!(
                (share * 100.0 - f64::from(weight.sequential_pct)).abs() < 2.0,
                "{share}"
            );
        }
    }

    #[test]
    fn bursts_have_the_mean_depth_and_lose_nothing() {
        for weight in [LIGHT, HEAVY] {
            let trace = commands(&weight, 1, 1);
            let all = bursts(&weight, &trace, 1);
            let flat: Vec<Command> = all.iter().flat_map(|b| b.commands.clone()).collect();
            assert_eq!(flat, trace);
            let mean = trace.len() as f64 / all.len() as f64;
            let depth = f64::from(weight.depth_x100) / 100.0;
            assert!(
                ((mean + 1.0) / 2.0 - depth).abs() < 0.5,
                "{mean} for {depth}"
            );
            let paused: u64 = all.iter().map(|burst| burst.pause.0).sum();
            let paused_s = paused as f64 / 1e9;
            let recorded_s = f64::from(weight.recorded_s);
            assert!((paused_s / recorded_s - 1.0).abs() < 0.05, "{paused_s}");
        }
    }

    #[test]
    fn the_heavy_trace_writes_about_four_gigabytes() {
        let bytes: u64 = commands(&HEAVY, 1, 1)
            .iter()
            .filter(|c| c.op == Op::Write)
            .map(|c| u64::from(c.len))
            .sum();
        assert!((3_000_000_000..4_500_000_000).contains(&bytes), "{bytes}");
    }
}
