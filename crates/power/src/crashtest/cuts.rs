//! Which instants of a stream are cut, and how one of them is named.

use super::history::Piece;
use super::player::{CutPoint, Player, Span};
use super::stream::Stream;
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::PowerDrive;
use ssdlab_ssd::rng::Rng;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Longest rest behind the last command before a cut, in ns.
const REST_MAX: u64 = 50_000_000;

/// Which instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// A number of instants, drawn from a seed: half of them uniform over the commands and then
    /// over the time of the command, half uniform over the time of the whole stream.
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

/// The instants not before the command `from`, in order. There may be fewer than asked for in a
/// short stream.
pub fn choose(
    cuts: Cuts,
    from: usize,
    stream: &Stream,
    base: &PowerDrive,
    spans: &[Span],
) -> Vec<CutPoint> {
    let from = from.min(spans.len());
    match cuts {
        Cuts::Random { count, seed } => random(count, seed, from, spans),
        Cuts::Exhaustive => exhaustive(from, stream, base),
    }
}

fn random(count: usize, seed: u64, from: usize, spans: &[Span]) -> Vec<CutPoint> {
    let mut rng = Rng::named(seed, "crashtest");
    let mut found = BTreeSet::new();
    let last = spans.last().map_or(0, |span| span.end.0);
    let first = spans.get(from).map_or(last, |span| span.start.0);
    for draw in 0..count.saturating_mul(8) {
        if found.len() == count {
            break;
        }
        let point = if draw % 2 == 0 && last > first {
            let at = first + rng.below(last - first);
            let command = spans.partition_point(|span| span.end.0 <= at);
            inside(command, at - spans[command].start.0)
        } else {
            let command = from + rng.below((spans.len() - from) as u64 + 1) as usize;
            let length = spans.get(command).map(|span| span.end.0 - span.start.0);
            inside(command, rng.below(length.unwrap_or(REST_MAX).max(1)))
        };
        found.insert(point);
    }
    found.into_iter().collect()
}

/// An instant 0 ns into a command is before it.
fn inside(command: usize, ns: u64) -> CutPoint {
    CutPoint {
        command,
        inside: (ns > 0).then_some(ns),
    }
}

fn exhaustive(from: usize, stream: &Stream, base: &PowerDrive) -> Vec<CutPoint> {
    let mut player = Player::new(stream, base.clone());
    player.seek(from);
    let mut found = Vec::new();
    for command in from..=stream.commands.len() {
        let instants = player.instants();
        found.push(CutPoint::before(command));
        found.extend(instants.into_iter().map(|ns| CutPoint {
            command,
            inside: Some(ns),
        }));
        player.step();
    }
    found
}

/// Names one cut of one campaign, so that it can be replayed; as text `12+300-89abcdef` or, with
/// the writes that are to be missing instead of those that the drive would lose,
/// `12+300~3.7,9.12-89abcdef`: command index and mapping unit of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where the power is cut.
    pub point: CutPoint,
    /// Pieces of commands that are missing.
    pub missing: Option<Vec<Piece>>,
    /// Digest of drive, faults and stream.
    pub digest: u32,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.point)?;
        if let Some(missing) = &self.missing {
            let pieces = missing.iter().map(|p| format!("{}.{}", p.command, p.unit));
            write!(f, "~{}", pieces.collect::<Vec<_>>().join(","))?;
        }
        write!(f, "-{:08x}", self.digest)
    }
}

impl FromStr for Token {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Token, LabError> {
        parse(text).ok_or_else(|| {
            LabError::refused(
                format!("`{text}` is not a replay token"),
                "it is written 12+300-89abcdef; the summary of a campaign prints one",
            )
        })
    }
}

fn parse(text: &str) -> Option<Token> {
    let (rest, digest) = text.trim().rsplit_once('-')?;
    let (point, missing) = match rest.split_once('~') {
        Some((point, missing)) => (point, Some(missing)),
        None => (rest, None),
    };
    let (command, inside) = match point.split_once('+') {
        Some((command, ns)) => (command, Some(ns.parse().ok()?)),
        None => (point, None),
    };
    let piece = |text: &str| {
        let (command, unit) = text.split_once('.')?;
        Some(Piece {
            command: command.parse().ok()?,
            unit: unit.parse().ok()?,
        })
    };
    let pieces = |text: &str| {
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts.map(piece).collect::<Option<Vec<_>>>()
    };
    Some(Token {
        point: CutPoint {
            command: command.parse().ok()?,
            inside,
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
    use ssdlab_ssd::Nanos;

    #[test]
    fn no_random_cut_falls_into_the_preparation() {
        let span = |at: u64| Span {
            start: Nanos(1_000 * at),
            end: Nanos(1_000 * at + 1_000),
        };
        let spans: Vec<Span> = (0..10).map(span).collect();
        // Also when the last mark was made behind the last command.
        for from in [0, 4, 10] {
            let found = random(40, 1, from, &spans);
            assert!(!found.is_empty());
            assert!(found.iter().all(|cut| cut.command >= from), "{from}");
        }
    }

    #[test]
    fn a_token_reads_as_it_was_written() {
        for text in [
            "12-000000ff",
            "12+300-89abcdef",
            "0+1~3.7,9.12-00000000",
            "4~-12345678",
        ] {
            let token: Token = text.parse().unwrap();
            assert_eq!(token.to_string(), text);
        }
        for text in ["", "12", "x-12", "1+-12", "1~2-12x", "1~2-00000001"] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }
}
