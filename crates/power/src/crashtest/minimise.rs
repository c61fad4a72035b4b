//! The smallest set of lost writes that still fails a check.
//!
//! A cut loses many writes, and most do not matter. Here the drive loses chosen
//! writes: the stream is played without a cut and without some pieces of commands, and the check
//! runs again. Delta debugging (A. Zeller, R. Hildebrandt, IEEE TSE 28(2), 2002) takes pieces
//! away until every one is needed; then single pieces are tried, as a smaller set may be another.

use super::history::{History, Piece, Reached, parts};
use super::player::Player;
use super::stream::Stream;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::DataDrive;

/// States of a drive that lacks some pieces of commands.
#[derive(Clone, Debug)]
pub struct Missing<'a> {
    stream: &'a Stream,
    history: &'a History,
    /// The drive before the commands from `from` on.
    base: DataDrive,
    from: usize,
    /// Commands to play, at most.
    until: usize,
}

impl<'a> Missing<'a> {
    /// For sets of pieces of commands not before the earliest of `lost`, when the power went
    /// after `until` commands. `player`: at the stream's beginning, on an honest drive.
    pub fn new(
        stream: &'a Stream,
        history: &'a History,
        mut player: Player<'a>,
        lost: &[Piece],
        until: usize,
    ) -> Missing<'a> {
        let first = lost.iter().map(|piece| piece.command).min();
        let before = first.and_then(|first| history.flushes_around(first).0);
        let from = before.map_or(0, |flush| flush as usize + 1).min(until);
        player.seek(from);
        player.settle();
        Missing {
            stream,
            history,
            base: DataDrive::of(player.drive().clone()),
            from,
            until,
        }
    }

    /// The drive without these pieces.
    pub fn drive(&self, missing: &[Piece]) -> DataDrive {
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
                    let at = (begin - command.offset) as usize;
                    drive.write(begin, &bytes[at..at + len as usize], false)
                }
                (Op::Trim, _) => drive.trim(begin, len),
                _ => drive.write_zeroes(begin, len, false),
            };
        }
    }

    /// Every piece that the drive has promised nobody, by the contract.
    pub fn volatile(&self, reached: &Reached) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for index in self.from..self.until {
            let is_promised = self.history.is_promised(index as u32, reached);
            let command = &self.stream.commands[index].command;
            if is_promised || matches!(command.op, Op::Flush | Op::Read) {
                continue;
            }
            let sectors = self.base.drive().config().shape.slot_bytes / 512;
            pieces.extend(parts(command, sectors).map(|(unit, _)| Piece {
                command: index as u32,
                unit,
            }));
        }
        pieces
    }
}

/// A set that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// Text of the check.
    pub message: String,
    /// Checks run.
    pub checks: usize,
    /// No smaller set fails.
    pub is_smallest: bool,
}

/// Looks for the smallest failing part of `lost`, with at most `budget` checks. `check` says why
/// it fails without these pieces. `None`: it does not fail without all of `lost`.
pub fn smallest(
    lost: &[Piece],
    volatile: &[Piece],
    budget: usize,
    check: impl FnMut(&[Piece]) -> Result<(), String>,
) -> Option<Smallest> {
    let mut search = Search {
        check,
        checks: 0,
        budget,
        message: String::new(),
    };
    if search.fails(&[]) {
        return Some(search.found(Vec::new(), true));
    }
    if !search.fails(lost) {
        return None;
    }
    let mut pieces = search.reduce(lost.to_vec());
    let mut is_smallest = pieces.len() == 1;
    if pieces.len() > 1 {
        let single = volatile.iter().find(|&&piece| search.fails(&[piece]));
        if let Some(&piece) = single {
            pieces = vec![piece];
        }
        let all_tried = search.checks < search.budget;
        is_smallest = pieces.len() == 1 || (pieces.len() == 2 && all_tried);
    }
    Some(search.found(pieces, is_smallest))
}

struct Search<C> {
    check: C,
    checks: usize,
    budget: usize,
    /// Of the last set that failed.
    message: String,
}

impl<C: FnMut(&[Piece]) -> Result<(), String>> Search<C> {
    fn found(self, pieces: Vec<Piece>, is_smallest: bool) -> Smallest {
        Smallest {
            pieces,
            message: self.message,
            checks: self.checks,
            is_smallest,
        }
    }

    /// Out of budget nothing fails any more.
    fn fails(&mut self, missing: &[Piece]) -> bool {
        if self.checks >= self.budget {
            return false;
        }
        self.checks += 1;
        match (self.check)(missing) {
            Ok(()) => false,
            Err(message) => {
                self.message = message;
                true
            }
        }
    }

    /// Delta debugging: a failing set to which every piece is needed.
    fn reduce(&mut self, mut set: Vec<Piece>) -> Vec<Piece> {
        let mut parts = 2;
        while set.len() > 1 {
            let size = set.len().div_ceil(parts);
            let chunks: Vec<Vec<Piece>> = set.chunks(size).map(<[Piece]>::to_vec).collect();
            let one = chunks.iter().find(|chunk| self.fails(chunk)).cloned();
            if let Some(chunk) = one {
                set = chunk;
                parts = 2;
                continue;
            }
            let mut rest = None;
            for skip in 0..chunks
                .len()
                .min(if chunks.len() > 2 { usize::MAX } else { 0 })
            {
                let others = (0..).zip(&chunks).filter(|&(index, _)| index != skip);
                let others: Vec<Piece> = others.flat_map(|(_, chunk)| chunk.clone()).collect();
                if self.fails(&others) {
                    rest = Some(others);
                    break;
                }
            }
            match rest {
                Some(others) => {
                    set = others;
                    parts = (parts - 1).max(2);
                }
                None if size == 1 => break,
                None => parts = (parts * 2).min(set.len()),
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(range: std::ops::Range<u32>) -> Vec<Piece> {
        range.map(|command| Piece { command, unit: 0 }).collect()
    }

    /// The check fails when all of `needed` are missing, or the one piece `alone`.
    fn search(needed: &[u32], alone: Option<u32>, budget: usize) -> Option<Smallest> {
        smallest(&pieces(10..60), &pieces(0..60), budget, |missing| {
            let has = |command: u32| missing.iter().any(|piece| piece.command == command);
            let fails = needed.iter().all(|&n| has(n)) || alone.is_some_and(has);
            if fails { Err("lost".into()) } else { Ok(()) }
        })
    }

    #[test]
    fn what_does_not_matter_is_taken_away() {
        for needed in [&[17][..], &[11, 59], &[12, 13, 40]] {
            let found = search(needed, None, 10_000).unwrap();
            let commands: Vec<u32> = found.pieces.iter().map(|p| p.command).collect();
            assert_eq!(commands, needed);
            assert_eq!(found.is_smallest, needed.len() < 3);
        }
    }

    #[test]
    fn a_smaller_set_of_other_writes_is_found() {
        let found = search(&[12, 40], Some(3), 10_000).unwrap();
        assert_eq!(found.pieces, pieces(3..4));
        assert!(found.is_smallest);
    }

    #[test]
    fn nothing_lost_and_nothing_failing_are_told_apart() {
        let found = search(&[], None, 10).unwrap();
        assert!(found.pieces.is_empty() && found.checks == 1);
        assert_eq!(search(&[99], None, 1000), None);
    }

    #[test]
    fn the_budget_is_kept() {
        let found = search(&[12, 40], None, 5).unwrap();
        assert!(found.checks <= 5 && !found.is_smallest, "{found:?}");
    }
}
