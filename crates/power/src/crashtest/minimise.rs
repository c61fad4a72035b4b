//! The smallest set of lost writes that still fails a check.
//!
//! A cut loses many writes, and most do not matter. Here the drive loses chosen
//! writes: the stream is played without a cut and without some pieces of commands, and the check
//! runs again. Delta debugging (`ssdlab_crash::smallest`) takes pieces away until every one is
//! needed; then single pieces are tried, as a smaller set may be another.

use super::history::{CommandPiece, StreamProgress, UnitHistory, parts};
use super::player::Player;
use super::stream::CommandStream;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::DataDrive;

/// States of a drive that lacks some pieces of commands.
#[derive(Clone, Debug)]
pub struct LossyReplay<'a> {
    stream: &'a CommandStream,
    history: &'a UnitHistory,
    /// The drive before the commands from `from` on.
    base: DataDrive,
    from: usize,
    /// Commands to play, at most.
    until: usize,
}

impl<'a> LossyReplay<'a> {
    /// For sets of pieces of commands not before the earliest of `lost`, when the power went
    /// after `until` commands. `player`: at the stream's beginning, on an honest drive.
    pub fn new(
        stream: &'a CommandStream,
        history: &'a UnitHistory,
        mut player: Player<'a>,
        lost: &[CommandPiece],
        until: usize,
    ) -> LossyReplay<'a> {
        let first = lost.iter().map(|piece| piece.command).min();
        let before = first.and_then(|first| history.flushes_around(first).0);
        let from = before.map_or(0, |flush| flush as usize + 1).min(until);
        player.seek(from);
        player.settle();
        LossyReplay {
            stream,
            history,
            base: DataDrive::of(player.drive().clone()),
            from,
            until,
        }
    }

    /// The drive without these pieces.
    pub fn drive(&self, missing: &[CommandPiece]) -> DataDrive {
        let mut drive = self.base.clone();
        for index in self.from..self.until {
            let of_command = missing.iter().filter(|p| p.command as usize == index);
            let units: Vec<u32> = of_command.map(|p| p.unit).collect();
            self.play(&mut drive, index, &units);
        }
        let _ = drive.flush();
        drive
    }

    /// The drive refuses nothing that the disk has taken, so results are not looked at.
    fn play(&self, drive: &mut DataDrive, index: usize, missing: &[u32]) {
        let recorded = &self.stream.commands[index];
        let command = &recorded.command;
        let slot = drive.drive().config().shape.slot_bytes;
        for (unit, (first, end)) in parts(command, slot / 512) {
            if missing.contains(&unit) {
                continue;
            }
            let begin = u64::from(unit) * u64::from(slot) + u64::from(first) * 512;
            let len = u64::from(end - first) * 512;
            let _ = match (command.op, &recorded.bytes) {
                (Op::Write, Some(bytes)) => {
                    let start = (begin - command.offset) as usize;
                    drive.write(begin, &bytes[start..start + len as usize], false)
                }
                (Op::Trim, _) => drive.trim(begin, len),
                _ => drive.write_zeroes(begin, len, false),
            };
        }
    }

    /// Every piece that the drive has not promised to keep, by the contract.
    pub fn volatile(&self, reached: &StreamProgress) -> Vec<CommandPiece> {
        let mut pieces = Vec::new();
        for index in self.from..self.until {
            let is_promised = self.history.is_promised(index as u32, reached);
            let command = &self.stream.commands[index].command;
            if is_promised || matches!(command.op, Op::Flush | Op::Read) {
                continue;
            }
            let sectors = self.base.drive().config().shape.slot_bytes / 512;
            pieces.extend(parts(command, sectors).map(|(unit, _)| CommandPiece {
                command: index as u32,
                unit,
            }));
        }
        pieces
    }
}
