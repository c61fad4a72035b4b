//! When an armed cut strikes.

use ssdlab_ssd::Nanos;
use ssdlab_ssd::drive::power::PowerDrive;

/// When an armed cut strikes; see [`crate::CrashDisk::arm`].
///
/// ```
/// use ssdlab_crash::{CrashDisk, CutAt, DriveConfig};
///
/// // Every event of this program is cut in turn.
/// let new = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// let mut cuts = 0;
/// loop {
///     let mut disk = new.fork();
///     disk.arm(CutAt::Event(cuts));
///     let run = disk.write(0, &[7; 4096]).and_then(|()| disk.flush());
///     if run.is_ok() {
///         break;
///     }
///     disk.power_on()?.assert_kept();
///     cuts += 1;
/// }
/// assert!(cuts > 3);
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// After this time from now.
    After(Nanos),
    /// After this many events from now, before the next one. Events are completions, the drive's
    /// internal work, and ends of NAND programs and erases: between two of them nothing ends. The
    /// disk's seed decides where between them.
    Event(u64),
    /// In the middle of the nth NAND program or erase that is booked from now on, counted from 1.
    Program(u64),
    /// Inside the next recovery, after this share of it in thousandths (0 to 999).
    Recovery(u16),
}

/// An armed cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArmedCut {
    At(Nanos),
    /// Events left, and the share of the last interval, per mille.
    Event(u64, u64),
    Program,
    Recovery(u16),
}

/// What happens by the next instant that matters to an armed cut.
pub(crate) enum NextInstant {
    /// The cut strikes.
    Strike(Nanos),
    /// Nothing up to this instant; the flag says that an event is at it.
    Pass(Nanos, bool),
}

impl ArmedCut {
    /// The next instant up to `until`.
    pub fn next(&self, drive: &PowerDrive, until: Nanos) -> NextInstant {
        let now_ns = drive.now();
        match *self {
            ArmedCut::At(at) => {
                let next = drive.next_event().min(until);
                if at <= next {
                    NextInstant::Strike(at.max(now_ns))
                } else {
                    NextInstant::Pass(next, false)
                }
            }
            ArmedCut::Program => {
                let next = drive.next_event().min(until);
                match drive.aimed_at().filter(|at| *at <= next) {
                    Some(at) => NextInstant::Strike(at.max(now_ns)),
                    None => NextInstant::Pass(next, false),
                }
            }
            ArmedCut::Event(left, share) => {
                let booked = drive.media().booked_ends().filter(|&end| end > now_ns.0);
                let edge = booked.min().map_or(Nanos::MAX, Nanos);
                let edge = edge.min(drive.next_event());
                if left == 0 && edge == Nanos::MAX {
                    return NextInstant::Strike(now_ns);
                }
                let strike_ns = now_ns.0 + (edge.0.max(now_ns.0) - now_ns.0) / 1000 * share;
                if left == 0 && strike_ns <= until.0 {
                    NextInstant::Strike(Nanos(strike_ns))
                } else {
                    NextInstant::Pass(edge.min(until), edge <= until)
                }
            }
            ArmedCut::Recovery(_) => NextInstant::Pass(until, false),
        }
    }

    /// Counts an event.
    pub fn count(&mut self) {
        if let ArmedCut::Event(left, _) = self {
            *left = left.saturating_sub(1);
        }
    }
}
