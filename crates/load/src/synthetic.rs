//! What the host asks of a simulated drive: independent commands of one size, without end.

use crate::distribution::Zipf;
use crate::permutation::Permutation;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

/// Which blocks are written, read and trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SyntheticPattern {
    /// All alike.
    Uniform,
    /// One after another, round and round.
    Sequential,
    /// A percentage of the commands goes to a percentage of the blocks; with 100 % of the commands,
    /// the other blocks are read-only once they have been filled.
    HotCold {
        /// Of the commands.
        commands_pct: u32,
        /// Of the blocks.
        blocks_pct: u32,
        /// Whether the hot blocks lie at random all over the drive. Otherwise they are the first.
        scattered: bool,
    },
    /// A cache of small and large objects: a percentage of the commands goes at random to a
    /// percentage of the blocks, stream 0 (small objects); the others go round and round the
    /// rest, stream 1 (large objects, appended as a log).
    Cache {
        /// Of the commands.
        commands_pct: u32,
        /// Of the blocks.
        blocks_pct: u32,
    },
    /// The k-th likeliest block in proportion to k^-theta; blocks are ranked at random.
    Zipf(f64),
}

const ALLOWED: &str = "uniform, sequential, hotcold:80/20 (per cent of commands / of blocks), \
                       hotcold:80/20:scattered, cache:70/4 or zipf:0.99 is allowed";
/// Ends a `hotcold` load whose hot blocks lie all over the drive.
const SCATTERED: &str = ":scattered";

impl SyntheticPattern {
    /// Reads a name with its parameters.
    ///
    /// # Errors
    /// When there is no such load, or its parameters are out of range.
    pub fn parse(text: &str) -> Result<SyntheticPattern, LabError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let pattern = match name {
            "uniform" if parameters.is_empty() => Some(SyntheticPattern::Uniform),
            "sequential" if parameters.is_empty() => Some(SyntheticPattern::Sequential),
            "hotcold" => hot_cold(parameters),
            "cache" => cache(parameters),
            "zipf" => match parameters.parse::<f64>() {
                Ok(theta) if theta > 0.0 && theta <= 10.0 => Some(SyntheticPattern::Zipf(theta)),
                _ => None,
            },
            _ => None,
        };
        pattern.ok_or_else(|| LabError::BadValue {
            option: "--load".into(),
            given: text.into(),
            allowed: ALLOWED.into(),
            place: InputLocation::command_line(),
            hint: "hotcold gives 1 to 100 % of the commands to 1 to 99 % of the blocks, cache to \
                   random writes there, the others to a log; zipf's exponent is above 0, up to 10"
                .into(),
        })
    }
}

fn hot_cold(parameters: &str) -> Option<SyntheticPattern> {
    let (shares, scattered) = match parameters.strip_suffix(SCATTERED) {
        Some(shares) => (shares, true),
        None => (parameters, false),
    };
    let (commands, blocks) = shares.split_once('/')?;
    let percent = |text: &str, most| text.parse().ok().filter(|p| (1..=most).contains(p));
    Some(SyntheticPattern::HotCold {
        commands_pct: percent(commands, 100)?,
        blocks_pct: percent(blocks, 99)?,
        scattered,
    })
}

fn cache(parameters: &str) -> Option<SyntheticPattern> {
    match hot_cold(parameters)? {
        SyntheticPattern::HotCold {
            commands_pct,
            blocks_pct,
            scattered: false,
        } => Some(SyntheticPattern::Cache {
            commands_pct,
            blocks_pct,
        }),
        _ => None,
    }
}

impl std::fmt::Display for SyntheticPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SyntheticPattern::Uniform => f.write_str("uniform"),
            SyntheticPattern::Sequential => f.write_str("sequential"),
            SyntheticPattern::HotCold {
                commands_pct,
                blocks_pct,
                scattered,
            } => {
                let end = if *scattered { SCATTERED } else { "" };
                write!(f, "hotcold:{commands_pct}/{blocks_pct}{end}")
            }
            SyntheticPattern::Cache {
                commands_pct,
                blocks_pct,
            } => write!(f, "cache:{commands_pct}/{blocks_pct}"),
            SyntheticPattern::Zipf(theta) => write!(f, "zipf:{theta}"),
        }
    }
}

/// A load in full.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticLoad {
    /// Where.
    pub pattern: SyntheticPattern,
    /// Bytes of each command.
    pub block: u32,
    /// Percentage of commands that are reads.
    pub read_pct: u32,
    /// Percentage of commands that are trims; the rest are writes.
    pub trim_pct: u32,
    /// Of its random numbers.
    pub seed: u64,
}

enum PatternCursor {
    Uniform,
    Sequential(u64),
    HotCold {
        commands_pct: u32,
        hot: u64,
        scatter: Option<Permutation>,
    },
    Cache {
        commands_pct: u32,
        small: u64,
        next: u64,
    },
    Zipf(Box<Zipf>),
}

/// Where a load's commands stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandsState {
    kind: [u64; 4],
    address: [u64; 4],
    next: u64,
}

/// A load's commands, one after another.
pub struct SyntheticCommands {
    place: PatternCursor,
    blocks: u64,
    block: u32,
    read_pct: u32,
    trim_pct: u32,
    kind: Rng,
    address: Rng,
}

impl SyntheticCommands {
    /// The commands of `load` on a drive of `capacity` bytes.
    ///
    /// # Errors
    /// When the load does not fit the drive.
    pub fn new(load: &SyntheticLoad, capacity: u64) -> Result<SyntheticCommands, LabError> {
        let blocks = capacity / u64::from(load.block.max(1));
        let refused = |problem: String| Err(LabError::refused(problem, "choose another --block"));
        if load.block == 0 || !load.block.is_multiple_of(512) {
            return refused(format!(
                "a block of {} bytes: whole 512-byte blocks are allowed",
                load.block
            ));
        }
        if load.block > 1 << 24 || blocks < 2 {
            return refused(format!(
                "a block of {} bytes: up to 16 MiB and half of the drive is allowed",
                load.block
            ));
        }
        if load.read_pct.saturating_add(load.trim_pct) > 100 {
            return Err(LabError::refused(
                format!(
                    "{} % reads and {} % trims are more than 100 %",
                    load.read_pct, load.trim_pct
                ),
                "the rest of 100 are writes",
            ));
        }
        let place = match load.pattern {
            SyntheticPattern::Uniform => PatternCursor::Uniform,
            SyntheticPattern::Sequential => PatternCursor::Sequential(0),
            SyntheticPattern::HotCold {
                commands_pct,
                blocks_pct,
                scattered,
            } => PatternCursor::HotCold {
                commands_pct,
                hot: (blocks * u64::from(blocks_pct) / 100).clamp(1, blocks - 1),
                scatter: scattered.then(|| {
                    Permutation::new(blocks, &mut Rng::named(load.seed, "simulate: hot blocks"))
                }),
            },
            SyntheticPattern::Cache {
                commands_pct,
                blocks_pct,
            } => {
                let small = (blocks * u64::from(blocks_pct) / 100).clamp(1, blocks - 1);
                PatternCursor::Cache {
                    commands_pct,
                    small,
                    next: small,
                }
            }
            SyntheticPattern::Zipf(theta) => {
                let mut scatter = Rng::named(load.seed, "simulate: ranks");
                PatternCursor::Zipf(Box::new(Zipf::new(blocks, theta, &mut scatter)))
            }
        };
        Ok(SyntheticCommands {
            place,
            blocks,
            block: load.block,
            read_pct: load.read_pct,
            trim_pct: load.trim_pct,
            kind: Rng::named(load.seed, "simulate: kinds"),
            address: Rng::named(load.seed, "simulate: addresses"),
        })
    }

    /// Where it stands, to go on from later.
    pub fn state(&self) -> CommandsState {
        CommandsState {
            kind: self.kind.state(),
            address: self.address.state(),
            next: match self.place {
                PatternCursor::Sequential(next) | PatternCursor::Cache { next, .. } => next,
                _ => 0,
            },
        }
    }

    /// Goes on from where the same load stood.
    ///
    /// # Errors
    /// When it cannot have stood there.
    pub fn resume(&mut self, state: &CommandsState) -> Result<(), LabError> {
        if state.next >= self.blocks {
            return Err(LabError::refused(
                format!(
                    "block {} of {} is not of this load",
                    state.next, self.blocks
                ),
                "the checkpoint belongs to another drive or load",
            ));
        }
        match &mut self.place {
            PatternCursor::Sequential(next) => *next = state.next,
            PatternCursor::Cache { next, small, .. } => *next = state.next.max(*small),
            _ => {}
        }
        self.kind = Rng::from_state(state.kind);
        self.address = Rng::from_state(state.address);
        Ok(())
    }

    /// The next commands as one run of writes in order, where they are that: offset and how many,
    /// at most `most` of them.
    pub fn run(&mut self, most: u64) -> Option<(u64, u64)> {
        let mixed = self.read_pct + self.trim_pct > 0;
        let PatternCursor::Sequential(next) = &mut self.place else {
            return None;
        };
        if mixed {
            return None;
        }
        let (at, count) = (*next, most.min(self.blocks - *next));
        *next = if at + count == self.blocks {
            0
        } else {
            at + count
        };
        Some((at * u64::from(self.block), count))
    }

    /// Whether [`SyntheticCommands::run`] gives runs.
    pub fn is_in_order(&self) -> bool {
        matches!(self.place, PatternCursor::Sequential(_)) && self.read_pct + self.trim_pct == 0
    }

    /// Bytes of each command.
    pub fn block(&self) -> u32 {
        self.block
    }

    /// Block number, and the stream that the host names: 0 for hot data or small objects, 1 for
    /// cold data or large objects.
    #[inline]
    fn draw(&mut self) -> (u64, u8) {
        match &mut self.place {
            PatternCursor::Uniform => (self.address.below(self.blocks), 0),
            PatternCursor::Sequential(next) => {
                let block = *next;
                *next = if block + 1 == self.blocks {
                    0
                } else {
                    block + 1
                };
                (block, 0)
            }
            PatternCursor::HotCold {
                commands_pct,
                hot,
                scatter,
            } => {
                let (block, stream) = if self.address.percent(*commands_pct) {
                    (self.address.below(*hot), 0)
                } else {
                    (*hot + self.address.below(self.blocks - *hot), 1)
                };
                let scattered_block = scatter.as_ref().map_or(block, |scatter| scatter.at(block));
                (scattered_block, stream)
            }
            PatternCursor::Cache {
                commands_pct,
                small,
                next,
            } => {
                if self.address.percent(*commands_pct) {
                    return (self.address.below(*small), 0);
                }
                let block = *next;
                *next = if block + 1 == self.blocks {
                    *small
                } else {
                    block + 1
                };
                (block, 1)
            }
            PatternCursor::Zipf(zipf) => (zipf.slot(&mut self.address), 0),
        }
    }

    /// The next command.
    #[inline]
    pub fn command(&mut self) -> Command {
        let (block, stream) = self.draw();
        let offset = block * u64::from(self.block);
        let command = Command {
            stream,
            ..Command::write(offset, self.block)
        };
        if self.read_pct + self.trim_pct == 0 {
            return command;
        }
        let drawn = self.kind.below(100) as u32;
        if drawn < self.read_pct {
            Command::read(offset, self.block)
        } else if drawn < self.read_pct + self.trim_pct {
            Command::trim(offset, self.block)
        } else {
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::Op;

    fn load(pattern: SyntheticPattern) -> SyntheticLoad {
        SyntheticLoad {
            pattern,
            block: 4096,
            read_pct: 0,
            trim_pct: 0,
            seed: 1,
        }
    }

    #[test]
    fn names_come_back_as_they_were_given() {
        for name in [
            "uniform",
            "sequential",
            "hotcold:90/10",
            "hotcold:100/40",
            "hotcold:95/5:scattered",
            "cache:70/4",
            "zipf:0.99",
            "zipf:1.2",
        ] {
            assert_eq!(SyntheticPattern::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "random",
            "uniform:1",
            "hotcold",
            "hotcold:80",
            "cache:70",
            "cache:70/4:scattered",
            "hotcold:0/20",
            "zipf:",
            "hotcold:101/1",
            "hotcold:100/100",
            "hotcold:80/20:everywhere",
            "zipf:0",
            "zipf:NaN",
            "zipf:inf",
        ] {
            let error = SyntheticPattern::parse(name).unwrap_err().to_string();
            assert!(error.contains("hotcold:80/20"), "{name}: {error}");
        }
    }

    #[test]
    fn hot_blocks_get_their_share_and_their_stream() {
        let mut commands = SyntheticCommands::new(
            &load(SyntheticPattern::parse("hotcold:80/20").unwrap()),
            4096 * 1000,
        )
        .unwrap();
        let hot = (0..100_000).filter(|_| {
            let command = commands.command();
            assert_eq!(command.stream == 0, command.offset < 4096 * 200);
            command.stream == 0
        });
        let hot = hot.count();
        assert!((79_000..81_000).contains(&hot), "{hot}");
    }

    /// A load of 100 % to a part was refused, so that data that is only read could not be played.
    #[test]
    fn the_rest_is_read_only_when_all_commands_go_to_a_part() {
        let pattern = SyntheticPattern::parse("hotcold:100/40:scattered").unwrap();
        let mut commands = SyntheticCommands::new(&load(pattern), 4096 * 1000).unwrap();
        let mut writes = vec![0_u32; 1000];
        (0..100_000).for_each(|_| writes[commands.command().offset as usize / 4096] += 1);
        assert_eq!(writes.iter().filter(|&&count| count > 0).count(), 400);
        // All over the drive, not the first ones: of each quarter about 100 blocks.
        for quarter in writes.chunks(250) {
            let hot = quarter.iter().filter(|&&count| count > 0).count();
            assert!((70..130).contains(&hot), "{hot}");
        }
    }

    #[test]
    fn kinds_come_in_the_shares_asked_for() {
        let mixed = SyntheticLoad {
            read_pct: 70,
            trim_pct: 10,
            ..load(SyntheticPattern::Uniform)
        };
        let mut commands = SyntheticCommands::new(&mixed, 4096 * 1000).unwrap();
        let mut counts = [0_u32; Op::COUNT];
        for _ in 0..100_000 {
            counts[commands.command().op as usize] += 1;
        }
        assert!(
            counts[Op::Read as usize].abs_diff(70_000) < 1_000,
            "{counts:?}"
        );
        assert!(
            counts[Op::Trim as usize].abs_diff(10_000) < 600,
            "{counts:?}"
        );
    }

    #[test]
    fn sequential_goes_round() {
        let mut commands =
            SyntheticCommands::new(&load(SyntheticPattern::Sequential), 4096 * 3 + 512).unwrap();
        let offsets: Vec<u64> = (0..5).map(|_| commands.command().offset / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn impossible_loads_are_refused() {
        let cases: [fn(&mut SyntheticLoad); 4] = [
            |l| l.block = 1000,
            |l| l.block = 0,
            |l| l.block = 1 << 23,
            |l| (l.read_pct, l.trim_pct) = (60, 50),
        ];
        for change in cases {
            let mut load = load(SyntheticPattern::Uniform);
            change(&mut load);
            let error = SyntheticCommands::new(&load, 1 << 23)
                .err()
                .expect("refused");
            assert!(!error.hint().is_empty());
        }
    }
}
