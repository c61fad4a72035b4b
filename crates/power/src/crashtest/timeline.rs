//! When each command of a stream ran on a drive, and when the drive did work of its own.

use super::player::{CommandSpan, Player};
use super::stream::CommandStream;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::power::PowerDrive;
use ssdlab_ssd::nand::Purpose;
use std::collections::BTreeSet;

/// Time during which a die was at work for a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DieWork {
    /// Begin.
    pub from: Nanos,
    /// End.
    pub to: Nanos,
}

/// The course of a stream on a drive.
#[derive(Clone, Debug, Default)]
pub struct StreamTimeline {
    /// Of each command.
    pub spans: Vec<CommandSpan>,
    /// Programs that move data: reclaim, and folding out of a pSLC cache.
    pub reclaim: Vec<DieWork>,
    /// Programs of the map: journal, map pages, checkpoints.
    pub map: Vec<DieWork>,
}

impl StreamTimeline {
    /// Plays the whole stream once.
    pub fn new(stream: &CommandStream, base: &PowerDrive) -> StreamTimeline {
        let mut player = Player::new(stream, base.clone());
        let mut timeline = StreamTimeline::default();
        let (mut reclaim, mut map) = (BTreeSet::new(), BTreeSet::new());
        loop {
            while player.is_ready() && player.submitted() < stream.commands.len() {
                let start = player.drive().now();
                timeline.spans.push(CommandSpan { start, end: start });
                player.submit();
            }
            note_work(&player, &mut reclaim, &mut map);
            // Event by event: nothing that is booked is missed.
            let next = player.drive().next_event();
            match player.complete(next) {
                Some((index, done)) => timeline.spans[index].end = done,
                None if next == Nanos::MAX => break,
                None if player.is_ready() && player.submitted() == stream.commands.len() => break,
                None => {}
            }
        }
        timeline.reclaim = reclaim.into_iter().collect();
        timeline.map = map.into_iter().collect();
        timeline
    }

    /// The last command that was submitted by a time, and how long before it, ns.
    pub fn at(&self, at: Nanos) -> Option<(usize, u64)> {
        let after = self.spans.partition_point(|span| span.start <= at);
        let command = after.checked_sub(1)?;
        Some((command, at.0 - self.spans[command].start.0))
    }

    /// The last completion.
    pub fn end(&self) -> Nanos {
        self.spans.iter().map(|s| s.end).max().unwrap_or_default()
    }
}

fn note_work(player: &Player<'_>, reclaim: &mut BTreeSet<DieWork>, map: &mut BTreeSet<DieWork>) {
    let now_ns = player.drive().now().0;
    for operations in player.drive().media().booked() {
        let mut from = now_ns;
        for (end, purpose) in operations {
            let work = DieWork {
                from: Nanos(from),
                to: Nanos(end),
            };
            let is_seen = end > from;
            match purpose {
                Some(Purpose::Relocation | Purpose::Fold) if is_seen => reclaim.insert(work),
                Some(Purpose::Map) if is_seen => map.insert(work),
                _ => false,
            };
            from = from.max(end);
        }
    }
}
