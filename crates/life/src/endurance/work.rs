//! Work that wears a drive: JESD219's enterprise stream, a stand-in for its client trace, a
//! pattern, or a trace of your own.

use super::jesd219::Jesd219;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_load::synthetic::{SyntheticCommands, SyntheticLoad, SyntheticPattern};
use ssdlab_load::trace::replay::{AddressFit, Replay, ReplayCommands as TraceCommands};
use ssdlab_load::trace::{Op, ReadOptions};
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;
use std::path::Path;

/// A kind of work.
#[derive(Clone, Debug)]
pub enum WearWorkload {
    /// JESD219's enterprise writes.
    Enterprise,
    /// In place of JESD219A's client trace, which is not free: see [`Client`].
    Client,
    /// Independent commands.
    Pattern(SyntheticLoad),
    /// A trace, over and over, its addresses shrunk alike when it reaches beyond the drive.
    Trace(Box<Replay>),
}

impl WearWorkload {
    /// Reads `enterprise`, `client`, a pattern of `ssdlab simulate` or the path of a trace; `block`
    /// and `seed` are a pattern's.
    ///
    /// # Errors
    /// When it is none of these, or a trace that never writes.
    pub fn parse(text: &str, block: u32, seed: u64) -> Result<WearWorkload, LabError> {
        match text {
            "enterprise" => return Ok(WearWorkload::Enterprise),
            "client" => return Ok(WearWorkload::Client),
            _ => {}
        }
        if let Ok(pattern) = SyntheticPattern::parse(text) {
            return Ok(WearWorkload::Pattern(SyntheticLoad {
                pattern,
                block,
                read_pct: 0,
                trim_pct: 0,
                seed,
            }));
        }
        let path = Path::new(text);
        if !path.exists() {
            return Err(LabError::BadValue {
                option: "--workload".into(),
                given: text.into(),
                allowed:
                    "enterprise, client, uniform, sequential, hotcold:80/20, zipf:0.99 or the \
                          path of a trace is allowed"
                        .into(),
                place: InputLocation::command_line(),
                hint: "`ssdlab trace show FILE` tells whether a trace can be read".into(),
            });
        }
        let (replay, _) = Replay::survey(path, &ReadOptions::default(), None, AddressFit::Scale)?;
        if replay.survey.commands[Op::Write as usize] == 0 {
            return Err(LabError::refused(
                format!("{text} never writes: it wears no drive"),
                "give a trace with writes",
            ));
        }
        Ok(WearWorkload::Trace(Box::new(replay)))
    }

    /// For tables.
    pub fn name(&self) -> String {
        match self {
            WearWorkload::Enterprise => "enterprise".into(),
            WearWorkload::Client => "client".into(),
            WearWorkload::Pattern(load) => {
                format!("{} {}", load.pattern, ssdlab_ssd::Bytes(load.block.into()))
            }
            WearWorkload::Trace(replay) => {
                let name = replay.path.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
        }
    }

    /// Its commands on a drive of `capacity` bytes.
    ///
    /// # Errors
    /// When it does not fit.
    pub(super) fn stream(&self, capacity: u64, seed: u64) -> Result<WearStream, LabError> {
        Ok(match self {
            WearWorkload::Enterprise => WearStream::Enterprise(Jesd219::new(capacity, seed)?),
            WearWorkload::Client => WearStream::Client(ClientStream::new(capacity, seed)?),
            WearWorkload::Pattern(load) => {
                WearStream::Pattern(Box::new(SyntheticCommands::new(load, capacity)?))
            }
            WearWorkload::Trace(replay) => {
                let mut replay = replay.clone();
                if replay.survey.end <= capacity {
                    replay.fit = AddressFit::Refuse;
                }
                let commands = TraceCommands::new(&replay, capacity)?;
                WearStream::Trace(Box::new((*replay, commands, capacity)))
            }
        })
    }
}

/// A work's commands.
pub(super) enum WearStream {
    Enterprise(Jesd219),
    Client(ClientStream),
    Pattern(Box<SyntheticCommands>),
    Trace(Box<(Replay, TraceCommands, u64)>),
}

impl WearStream {
    /// The next `count` of them.
    pub fn batch(&mut self, batch: &mut Vec<Command>, count: usize) -> Result<(), LabError> {
        batch.clear();
        match self {
            WearStream::Enterprise(stream) => batch.extend(stream.take(count)),
            WearStream::Client(stream) => batch.extend(stream.take(count)),
            WearStream::Pattern(commands) => batch.extend((0..count).map(|_| commands.command())),
            WearStream::Trace(all) => {
                let (replay, commands, capacity) = &mut **all;
                while batch.len() < count {
                    if let Some((command, _)) = commands.next_command() {
                        batch.push(command);
                        continue;
                    }
                    if let Some(failure) = commands.failure() {
                        return Err(failure);
                    }
                    *commands = TraceCommands::new(replay, *capacity)?;
                }
            }
        }
        Ok(())
    }
}

/// Our stand-in for a client's writes; JESD219A's own trace is not free. All of it is assumed:
/// three quarters of the drive are used (the active range of SNIA's client tests), four of five
/// commands go to a fifth of that, sizes are small with long ones between, and one command in
/// twenty trims 256 KiB.
pub struct ClientStream {
    rng: Rng,
    blocks: u64,
}

/// Sizes in 512-byte blocks, with their shares of 100.
const CLIENT_SIZES: [(u64, u32); 6] = [(8, 60), (16, 10), (32, 8), (64, 7), (128, 7), (256, 8)];
/// Of the drive, and of what is used of it, in per cent.
const CLIENT_USED: u64 = 75;
const CLIENT_HOT: u64 = 20;
/// Blocks of 512 bytes of a trim.
const CLIENT_TRIM: u64 = 512;

impl ClientStream {
    /// The stream of `seed` on a drive of `capacity` bytes.
    ///
    /// # Errors
    /// When the drive is smaller than 16 MiB.
    pub fn new(capacity: u64, seed: u64) -> Result<ClientStream, LabError> {
        if capacity < 16 << 20 {
            return Err(LabError::refused(
                format!("a drive of {capacity} bytes is too small for a client's zones"),
                "16 MiB or more",
            ));
        }
        Ok(ClientStream {
            rng: Rng::named(seed, "client"),
            blocks: capacity / 512 * CLIENT_USED / 100,
        })
    }

    /// Bytes from the front that are used.
    pub fn used(&self) -> u64 {
        self.blocks * 512
    }

    fn offset(&mut self, size: u64) -> u64 {
        let hot = self.blocks * CLIENT_HOT / 100;
        let (first, wide) = if self.rng.percent(80) {
            (0, hot)
        } else {
            (hot, self.blocks - hot)
        };
        let place = self.rng.below((wide - size) / 8) * 8;
        (first.next_multiple_of(8) + place).min(self.blocks - size) / 8 * 4096
    }
}

impl Iterator for ClientStream {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        if self.rng.percent(5) {
            let offset = self.offset(CLIENT_TRIM);
            return Some(Command::trim(offset, (CLIENT_TRIM * 512) as u32));
        }
        let mut drawn = self.rng.below(100) as u32;
        let mut size = CLIENT_SIZES[0].0;
        for (blocks, share) in CLIENT_SIZES {
            size = blocks;
            if drawn < share {
                break;
            }
            drawn -= share;
        }
        let offset = self.offset(size);
        Some(Command::write(offset, (size * 512) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_client_stand_in_stays_in_its_part_and_has_its_shares() {
        let capacity = 1_u64 << 30;
        let client = ClientStream::new(capacity, 1).unwrap();
        let used = client.used();
        assert_eq!(used, capacity * 3 / 4);
        let (mut trims, mut hot, mut small) = (0, 0, 0);
        let count = 100_000;
        for command in client.take(count) {
            assert!(command.offset + u64::from(command.len) <= used);
            assert_eq!(command.offset % 4096, 0);
            trims += u32::from(command.op == Op::Trim);
            hot += u32::from(command.offset < used / 5);
            small += u32::from(command.op == Op::Write && command.len == 4096);
        }
        assert!((4_700..5_300).contains(&trims), "{trims}");
        assert!((79_000..81_000).contains(&hot), "{hot}");
        assert!((56_000..58_000).contains(&small), "{small}");
    }

    #[test]
    fn a_trace_goes_round_and_one_without_writes_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, kind: &str| {
            let path = dir.path().join(name);
            let mut file = std::fs::File::create(&path).unwrap();
            // MSR Cambridge: time, host, disk, kind, offset, size, response time.
            for n in 0..4_u64 {
                let at = 128166372003061629 + n * 10_000;
                let offset = n * 4096;
                writeln!(file, "{at},usr,0,{kind},{offset},4096,1000").unwrap();
            }
            path.display().to_string()
        };
        let work = WearWorkload::parse(&put("w.csv", "Write"), 4096, 0).unwrap();
        let mut batch = Vec::new();
        let mut stream = work.stream(64 << 20, 0).unwrap();
        stream.batch(&mut batch, 10).unwrap();
        let offsets: Vec<u64> = batch.iter().map(|c| c.offset / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
        let error = WearWorkload::parse(&put("r.csv", "Read"), 4096, 0).unwrap_err();
        assert!(error.to_string().contains("never writes"), "{error}");
        let error = WearWorkload::parse("nonesuch", 4096, 0)
            .unwrap_err()
            .to_string();
        assert!(error.contains("path of a trace"), "{error}");
    }
}
