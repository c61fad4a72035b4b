//! Which instants of a stream are cut, and how one of them is named.

use super::history::CommandPiece;
use super::player::{CutPoint, Player, SecondCut};
use super::stream::CommandStream;
use super::timeline::{DieWork, StreamTimeline};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::power::PowerDrive;
use ssdlab_ssd::rng::Rng;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Longest rest behind the last command before a cut, in ns.
const REST_MAX: u64 = 50_000_000;
/// Longest time between a recovery and the cut after it, in ns.
const AFTER_MAX: u64 = 5_000_000;
/// Last FLUSH of a check that is cut.
const CHECK_FLUSH_MAX: u64 = 8;

/// Which instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// A number of instants, drawn from a seed.
    Random {
        /// How many.
        count: usize,
        /// Seed.
        seed: u64,
    },
    /// Before every command, behind the last, and around every NAND operation in between: at its
    /// beginning, in it, and just before its end.
    Exhaustive,
}

/// What a cut is meant to strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// Any instant: half of them uniform over the commands and then over the time of the command,
    /// half uniform over the time of the whole stream.
    Any,
    /// Any instant, and again inside the drive's recovery.
    Recovery,
    /// Any instant, and again right after the drive's recovery.
    AfterRecovery,
    /// A program that moves data.
    Reclaim,
    /// A program of the map.
    Map,
    /// Any instant, and again while the check runs, for the recovery of file system and program;
    /// campaigns of scripts only.
    Check,
}

impl Occasion {
    /// All of campaigns of scripts.
    pub const ALL: [Occasion; 6] = [
        Occasion::Any,
        Occasion::Recovery,
        Occasion::AfterRecovery,
        Occasion::Reclaim,
        Occasion::Map,
        Occasion::Check,
    ];

    /// All in which the check has no part.
    pub const OF_DRIVE: [Occasion; 5] = [
        Occasion::Any,
        Occasion::Recovery,
        Occasion::AfterRecovery,
        Occasion::Reclaim,
        Occasion::Map,
    ];

    /// The name in arguments and reports.
    pub fn name(self) -> &'static str {
        match self {
            Occasion::Any => "any",
            Occasion::Recovery => "recovery",
            Occasion::AfterRecovery => "after-recovery",
            Occasion::Reclaim => "reclaim",
            Occasion::Map => "map",
            Occasion::Check => "check",
        }
    }

    /// The occasion of that name.
    pub fn named(name: &str) -> Option<Occasion> {
        Occasion::ALL.into_iter().find(|of| of.name() == name)
    }
}

/// A cut that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenCut {
    /// Where.
    pub point: CutPoint,
    /// What for.
    pub occasion: Occasion,
}

/// The instants of all `occasions` not before the command `from`, in order. There may be fewer
/// than asked for in a short stream.
pub fn choose(
    cuts: Cuts,
    occasions: &[Occasion],
    from: usize,
    stream: &CommandStream,
    base: &PowerDrive,
    timeline: &StreamTimeline,
) -> Vec<ChosenCut> {
    let from = from.min(timeline.spans.len());
    match cuts {
        Cuts::Random { count, seed } => CutSampler::new(seed, from, timeline).all(count, occasions),
        Cuts::Exhaustive => exhaustive(from, stream, base),
    }
}

/// Draws instants.
struct CutSampler<'a> {
    rng: Rng,
    from: usize,
    timeline: &'a StreamTimeline,
    /// Time of the first command that counts, and of the last completion.
    first: u64,
    last: u64,
    reclaim: Vec<DieWork>,
    map: Vec<DieWork>,
}

impl<'a> CutSampler<'a> {
    fn new(seed: u64, from: usize, timeline: &'a StreamTimeline) -> CutSampler<'a> {
        let last = timeline.end().0;
        let first = timeline.spans.get(from).map_or(last, |span| span.start.0);
        let late = |all: &[DieWork]| {
            let mut late = all.to_vec();
            late.retain(|work| work.from.0 >= first);
            late
        };
        CutSampler {
            rng: Rng::named(seed, "crashtest"),
            from,
            timeline,
            first,
            last,
            reclaim: late(&timeline.reclaim),
            map: late(&timeline.map),
        }
    }

    /// Of all occasions, two sevenths of the cuts strike at any instant. A drive without
    /// reclaim, or without work for its map, is cut at any instant instead.
    fn all(mut self, count: usize, occasions: &[Occasion]) -> Vec<ChosenCut> {
        let mut points = BTreeMap::new();
        for draw in 0..count.saturating_mul(8) {
            if points.len() == count {
                break;
            }
            // The first occasion gets a double share.
            let pick = (draw / 2) % (occasions.len() + 1);
            let occasion_wanted = occasions.get(pick.saturating_sub(1)).copied();
            let (point, occasion) = self.one(draw, occasion_wanted.unwrap_or(Occasion::Any));
            points.entry(point).or_insert(occasion);
        }
        let chosen = points.into_iter();
        chosen
            .map(|(point, occasion)| ChosenCut { point, occasion })
            .collect()
    }

    fn one(&mut self, draw: usize, wanted: Occasion) -> (CutPoint, Occasion) {
        let again = match wanted {
            Occasion::Recovery => Some(SecondCut::InRecovery(self.rng.below(1000) as u16)),
            Occasion::AfterRecovery => Some(SecondCut::After(self.rng.below(AFTER_MAX))),
            Occasion::Check => {
                let nth = 1 + self.rng.below(CHECK_FLUSH_MAX);
                Some(SecondCut::InCheck(nth as u32))
            }
            _ => None,
        };
        let work = match wanted {
            Occasion::Reclaim => self.inside(false),
            Occasion::Map => self.inside(true),
            _ => None,
        };
        if let Some(point) = work {
            return (point, wanted);
        }
        let point = CutPoint {
            again,
            ..self.anywhere(draw)
        };
        let is_any = matches!(wanted, Occasion::Reclaim | Occasion::Map);
        (point, if is_any { Occasion::Any } else { wanted })
    }

    /// Inside some work of the drive.
    fn inside(&mut self, of_map: bool) -> Option<CutPoint> {
        let work = if of_map { &self.map } else { &self.reclaim };
        let count = work.len() as u64;
        if count == 0 {
            return None;
        }
        let DieWork { from, to } = work[self.rng.below(count) as usize];
        let instant_ns = from.0 + self.rng.below(to.0 - from.0);
        let (command, ns) = self.timeline.at(Nanos(instant_ns))?;
        Some(inside(command, ns))
    }

    fn anywhere(&mut self, draw: usize) -> CutPoint {
        let spans = &self.timeline.spans;
        if draw.is_multiple_of(2) && self.last > self.first {
            let instant_ns = self.first + self.rng.below(self.last - self.first);
            let command_at = self.timeline.at(Nanos(instant_ns));
            return command_at.map_or(CutPoint::before(self.from), |(c, ns)| inside(c, ns));
        }
        let command = self.from + self.rng.below((spans.len() - self.from) as u64 + 1) as usize;
        let length = spans.get(command).map(|span| span.end.0 - span.start.0);
        inside(command, self.rng.below(length.unwrap_or(REST_MAX).max(1)))
    }
}

/// An instant 0 ns into a command is before it.
fn inside(command: usize, ns: u64) -> CutPoint {
    CutPoint {
        inside: (ns > 0).then_some(ns),
        ..CutPoint::before(command)
    }
}

fn exhaustive(from: usize, stream: &CommandStream, base: &PowerDrive) -> Vec<ChosenCut> {
    let mut player = Player::new(stream, base.clone());
    player.seek(from);
    let mut points = Vec::new();
    for command in from..=stream.commands.len() {
        player.seek(command);
        points.push(CutPoint::before(command));
        let instants = player.instants().into_iter();
        points.extend(instants.map(|ns| CutPoint {
            inside: Some(ns),
            ..CutPoint::before(command)
        }));
    }
    let chosen = points.into_iter().map(|point| ChosenCut {
        point,
        occasion: Occasion::Any,
    });
    chosen.collect()
}

/// Names one cut of one campaign, so that it can be replayed; as text `12+300-89abcdef` or, with
/// the writes that are to be missing instead of those that the drive would lose,
/// `12+300~3.7,9.12-89abcdef`: command index and mapping unit of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutToken {
    /// Where the power is cut.
    pub point: CutPoint,
    /// Pieces of commands that are missing.
    pub missing: Option<Vec<CommandPiece>>,
    /// Digest of drive, faults and stream.
    pub digest: u32,
}

impl fmt::Display for CutToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.point)?;
        if let Some(missing) = &self.missing {
            let pieces = missing.iter().map(|p| format!("{}.{}", p.command, p.unit));
            write!(f, "~{}", pieces.collect::<Vec<_>>().join(","))?;
        }
        write!(f, "-{:08x}", self.digest)
    }
}

impl FromStr for CutToken {
    type Err = LabError;

    fn from_str(text: &str) -> Result<CutToken, LabError> {
        parse(text).ok_or_else(|| {
            LabError::refused(
                format!("`{text}` is not a replay token"),
                "it is written 12+300-89abcdef; the summary of a campaign prints one",
            )
        })
    }
}

fn parse(text: &str) -> Option<CutToken> {
    let (cut, digest) = text.trim().rsplit_once('-')?;
    let (point, missing) = match cut.split_once('~') {
        Some((point, missing)) => (point, Some(missing)),
        None => (cut, None),
    };
    let (point, again) = if let Some((point, share)) = point.split_once('r') {
        let share = share.parse().ok().filter(|&share: &u16| share < 1000)?;
        (point, Some(SecondCut::InRecovery(share)))
    } else if let Some((point, ns)) = point.split_once('a') {
        (point, Some(SecondCut::After(ns.parse().ok()?)))
    } else if let Some((point, nth)) = point.split_once('c') {
        let nth = nth.parse().ok().filter(|&nth: &u32| nth > 0)?;
        (point, Some(SecondCut::InCheck(nth)))
    } else {
        (point, None)
    };
    let (command, inside) = match point.split_once('+') {
        Some((command, ns)) => (command, Some(ns.parse().ok()?)),
        None => (point, None),
    };
    let piece = |text: &str| {
        let (command, unit) = text.split_once('.')?;
        Some(CommandPiece {
            command: command.parse().ok()?,
            unit: unit.parse().ok()?,
        })
    };
    let pieces = |text: &str| {
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts.map(piece).collect::<Option<Vec<_>>>()
    };
    Some(CutToken {
        point: CutPoint {
            command: command.parse().ok()?,
            inside,
            again,
        },
        missing: match missing {
            Some(text) => Some(pieces(text)?),
            None => None,
        },
        digest: u32::from_str_radix(digest, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crashtest::CommandSpan;

    fn work(from: u64, to: u64) -> DieWork {
        DieWork {
            from: Nanos(from),
            to: Nanos(to),
        }
    }

    #[test]
    fn no_random_cut_falls_into_the_preparation() {
        let span = |at: u64| CommandSpan {
            start: Nanos(1_000 * at),
            end: Nanos(1_000 * at + 1_000),
        };
        let timeline = StreamTimeline {
            spans: (0..10).map(span).collect(),
            reclaim: vec![work(100, 1_500), work(9_200, 9_400)],
            map: vec![work(2_000, 2_300)],
        };
        // Also when the last mark was made behind the last command.
        for from in [0, 4, 10] {
            let found = CutSampler::new(1, from, &timeline).all(40, &Occasion::ALL);
            assert!(found.len() > 20, "{found:?}");
            assert!(found.iter().all(|cut| cut.point.command >= from), "{from}");
            // Each occasion has a share, where there is such work after the preparation.
            let has = |occasion| found.iter().any(|cut| cut.occasion == occasion);
            assert_eq!(has(Occasion::Reclaim), from < 10);
            assert_eq!(has(Occasion::Map), from == 0);
            assert!(has(Occasion::Any) && has(Occasion::Recovery) && has(Occasion::AfterRecovery));
        }
        let only = CutSampler::new(1, 0, &timeline).all(40, &[Occasion::Map]);
        let inside = |cut: &ChosenCut| cut.point.command == 2 && cut.point.inside < Some(300);
        assert!(
            only.iter()
                .all(|cut| cut.occasion == Occasion::Map && inside(cut))
        );
    }

    #[test]
    fn a_token_reads_as_it_was_written() {
        for text in [
            "12-000000ff",
            "12+300-89abcdef",
            "0+1~3.7,9.12-00000000",
            "4~-12345678",
            "4+7r999-12345678",
            "4a12-12345678",
            "4+7c3-12345678",
        ] {
            let token: CutToken = text.parse().unwrap();
            assert_eq!(token.to_string(), text);
        }
        for text in [
            "",
            "12",
            "x-12",
            "1+-12",
            "1~2-12x",
            "1~2-00000001",
            "1r1000-12345678",
        ] {
            assert!(text.parse::<CutToken>().is_err(), "{text}");
        }
    }
}
