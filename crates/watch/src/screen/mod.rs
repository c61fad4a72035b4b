//! The screen of a watch on a terminal: the answer on top, then rates, latency by second, stalls.
//!
//! [`ScreenView`] is what is shown, [`draw`] puts it into a buffer of any size, [`Screen`] has the
//! terminal and the keys. Characters and colours are a [`ScreenLook`].

mod draw;
mod heat;
mod look;
mod parts;
mod terminal;
#[cfg(test)]
mod tests;

pub use draw::draw;
pub use look::ScreenLook;
pub use terminal::Screen;

use crate::heat::HeatColumn;
use crate::report::WatchReport;
use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use crate::stall::{Stall, is_stall, stall_cause};
use std::collections::VecDeque;

/// Seconds that the screen can show.
const COLUMNS_MAX: usize = 600;
/// Stalls that the screen keeps: the last ones.
const STALLS_MAX: usize = 50;

/// The worst stall of a second, by what held it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StallMark {
    total_ns: u64,
    letter: Option<char>,
}

/// A second on the screen.
#[derive(Clone, Debug, Default)]
struct ScreenSecond {
    heat: HeatColumn,
    stall: StallMark,
}

/// What the screen shows.
#[derive(Clone, Debug, Default)]
pub struct ScreenView {
    report: Option<WatchReport>,
    /// Seconds that are over, the last ones.
    seconds: VecDeque<ScreenSecond>,
    /// How many were dropped before them.
    seconds_dropped: u64,
    /// The second at hand.
    current: ScreenSecond,
    /// The last stalls.
    stalls: VecDeque<Stall>,
    /// The latencies of one kind; `None`: of all.
    pub kind: Option<RequestKind>,
    /// Whether the picture stands still.
    pub is_paused: bool,
    /// What else is going on, for the first line: "recording to FILE".
    pub note: String,
}

impl ScreenView {
    /// Counts a request; `begun_ns` is when the watch began.
    pub fn request(&mut self, request: &BlockRequest, begun_ns: u64) {
        let total_ns = request.total_ns();
        self.current.heat.add(request.kind, total_ns, 1);
        if !is_stall(request) {
            return;
        }
        if total_ns > self.current.stall.total_ns {
            self.current.stall = StallMark {
                total_ns,
                letter: Some(parts::stall_letter(stall_cause(request))),
            };
        }
        self.stalls.extend(Stall::of(request, begun_ns));
        if self.stalls.len() > STALLS_MAX {
            self.stalls.pop_front();
        }
    }

    /// A second has ended.
    pub fn second(&mut self, report: &WatchReport) {
        let mut second = std::mem::take(&mut self.current);
        if report.figures.only_means
            && let Some(counted) = report.seconds.last()
        {
            second.heat.add_means(counted);
        }
        self.seconds.push_back(second);
        if self.seconds.len() > COLUMNS_MAX {
            self.seconds.pop_front();
            self.seconds_dropped += 1;
        }
        self.report = Some(report.clone());
    }

    /// The next kind whose latencies are shown, or the one before: all, reads, writes, flushes,
    /// discards.
    pub fn turn(&mut self, is_forward: bool) {
        let kinds: Vec<Option<RequestKind>> = std::iter::once(None)
            .chain(RequestKind::ALL.into_iter().map(Some))
            .collect();
        let place = kinds.iter().position(|kind| *kind == self.kind);
        let step = if is_forward { 1 } else { kinds.len() - 1 };
        self.kind = kinds[(place.unwrap_or(0) + step) % kinds.len()];
    }
}
