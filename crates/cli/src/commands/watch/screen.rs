//! Whether a watch has a screen, and the pace of a recording that is played on it.

use super::Watch;
use ssdlab_base::LabError;
use ssdlab_watch::screen::{Screen, ScreenLook};
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a recording that is played looks whether it is to go on.
const TICK: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);

/// Whether there is a terminal for a screen, with keys.
fn has_terminal() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && io::stdin().is_terminal() && !is_dumb
}

fn wants_screen(args: &Watch, is_recording: bool) -> Result<bool, LabError> {
    if args.play {
        if !is_recording || !has_terminal() {
            return Err(LabError::refused(
                "--play needs a recording and a terminal",
                "without --play a recording is read at once, and a drive is shown on a terminal",
            ));
        }
        return Ok(true);
    }
    let is_wanted = !(args.plain || args.json || args.events || args.quiet || is_recording);
    Ok(is_wanted && has_terminal())
}

/// The screen, if there is to be one.
///
/// # Errors
/// When a recording is to be played and there is no terminal, or it cannot be drawn on.
pub fn open_screen(
    args: &Watch,
    is_recording: bool,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Screen>, LabError> {
    if !wants_screen(args, is_recording)? {
        return Ok(None);
    }
    let look = ScreenLook::from_environment(|name| std::env::var(name).ok());
    Screen::open(look, &note(args), Arc::clone(stop)).map(Some)
}

/// What else goes on, for the first line of the screen.
fn note(args: &Watch) -> String {
    let record = args.record.as_ref();
    let mut notes: Vec<String> = record
        .map(|path| format!("recording to {}", path.display()))
        .into_iter()
        .collect();
    if args.play {
        notes.push("recorded".to_owned());
    }
    if args.exporter.is_some() {
        notes.push("metrics served".to_owned());
    }
    notes.join(", ")
}

/// When the next second of a recording that is played is due.
pub struct RecordingPace {
    next: Instant,
    stop: Arc<AtomicBool>,
}

impl RecordingPace {
    /// From now on.
    pub fn new(stop: &Arc<AtomicBool>) -> RecordingPace {
        RecordingPace {
            next: Instant::now(),
            stop: Arc::clone(stop),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits for the next second, and while the screen is paused.
    pub fn wait(&mut self, screen: Option<&Screen>) {
        let is_paused = || screen.is_some_and(Screen::is_paused);
        while !self.is_stopped() && (is_paused() || Instant::now() < self.next) {
            std::thread::sleep(TICK);
        }
        self.next = Instant::now() + SECOND;
    }

    /// The end of the recording stays on the screen until it is left.
    pub fn wait_for_key(&self, screen: &mut Screen) {
        screen.note("end of the recording");
        while !self.is_stopped() {
            std::thread::sleep(TICK);
        }
    }
}
