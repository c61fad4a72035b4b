//! What follows a watch as it goes on: lines or a screen, metrics, events, the limits of a role.

use super::Watch;
use crate::failure::CliFailure;
use crate::output::say;
use crate::terminal::write_output;
use ssdlab_base::LabError;
use ssdlab_judge::qualify::roles::role;
use ssdlab_view::units;
use ssdlab_watch::events::EventWriter;
use ssdlab_watch::exporter::WatchExporter;
use ssdlab_watch::judge::LiveAnswer;
use ssdlab_watch::preflight::Preflight;
use ssdlab_watch::report::{WatchProgress, WatchReport};
use ssdlab_watch::request::BlockRequest;
use ssdlab_watch::screen::{Screen, ScreenLook};
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a recording that is played looks whether it is to go on.
const TICK: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);

/// Standard output, whole texts at a time, without what would drive a terminal.
#[derive(Default)]
pub struct EventOutput {
    text: Vec<u8>,
}

impl Write for EventOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        write_output(&String::from_utf8_lossy(&text))
    }
}

/// Everything that follows a watch.
pub struct WatchFollower {
    quiet: bool,
    /// The screen, in the place of lines.
    screen: Option<Screen>,
    exporter: Option<WatchExporter>,
    events: Option<EventWriter<EventOutput>>,
    preflight: Option<Preflight>,
    /// A recording goes on from this time, if it is played.
    next_second: Option<Instant>,
    stop: Arc<AtomicBool>,
}

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

impl WatchFollower {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// When an address cannot be listened at, or there is no such role or no terminal to play on.
    pub fn new(
        args: &Watch,
        is_recording: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<WatchFollower, LabError> {
        let wants_screen = wants_screen(args, is_recording)?;
        let exporter = args.exporter.as_deref();
        let events = args
            .events
            .then(|| EventWriter::new(EventOutput::default(), Arc::clone(stop)));
        let mut follower = WatchFollower {
            quiet: args.quiet || args.events,
            screen: None,
            exporter: exporter.map(|at| serve_metrics(args, at)).transpose()?,
            events,
            preflight: args
                .role
                .as_deref()
                .map(|name| role(name).map(Preflight::new))
                .transpose()?,
            next_second: args.play.then(Instant::now),
            stop: Arc::clone(stop),
        };
        if wants_screen {
            let look = ScreenLook::from_environment(|name| std::env::var(name).ok());
            follower.screen = Some(Screen::open(look, &note(args), Arc::clone(stop))?);
        }
        Ok(follower)
    }

    /// Whether seconds of a recording are wanted as they went by.
    pub fn follows_recordings(&self) -> bool {
        self.next_second.is_some()
            || self.exporter.is_some()
            || self.events.is_some()
            || self.preflight.is_some()
    }

    /// Waits for the next second of a recording that is played, and while it is paused.
    fn keep_pace(&mut self) {
        let Some(next) = &mut self.next_second else {
            return;
        };
        let is_paused = || self.screen.as_ref().is_some_and(Screen::is_paused);
        while !self.stop.load(Ordering::Relaxed) && (is_paused() || Instant::now() < *next) {
            std::thread::sleep(TICK);
        }
        *next = Instant::now() + SECOND;
    }

    /// A recording that was played stays on the screen until it is left.
    pub fn wait_for_key(&mut self) {
        if let (Some(screen), Some(_)) = (&mut self.screen, self.next_second) {
            screen.note("end of the recording");
            while !self.stop.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
            }
        }
    }

    /// Ends what follows: the terminal is given back, the role is judged.
    pub fn finish(&mut self, report: &mut WatchReport) {
        self.screen = None;
        if let Some(preflight) = &self.preflight {
            let is_rotational = report.settings.rotational == Some(true);
            report.role = Some(preflight.check(&report.seconds, is_rotational));
        }
    }

    /// Writes the last event, if events are written; whether they are.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn finish_events(&mut self, report: &WatchReport) -> Result<bool, CliFailure> {
        let Some(events) = self.events.take() else {
            return Ok(false);
        };
        events.finish(report)?;
        Ok(true)
    }

    fn line(&self, report: &WatchReport) {
        let Some(second) = report.seconds.last() else {
            return;
        };
        let count = second.reads.count + second.writes.count + second.flushes.count;
        let line = format!(
            "{:>4.0} s  {} requests  {}",
            report.watched_s,
            units::count(count),
            short_answer(&report.answer)
        );
        say(self.quiet, &line);
    }
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

impl WatchProgress for WatchFollower {
    fn begins(&mut self, begun_ns: u64) {
        if let Some(screen) = &mut self.screen {
            screen.begins(begun_ns);
        }
        if let Some(events) = &mut self.events {
            events.begins(begun_ns);
        }
    }

    fn request(&mut self, request: &BlockRequest) {
        if let Some(exporter) = &mut self.exporter {
            exporter.request(request);
        }
        if let Some(events) = &mut self.events {
            events.request(request);
        }
        if let Some(preflight) = &mut self.preflight {
            preflight.request(request);
        }
        if let Some(screen) = &mut self.screen {
            screen.request(request);
        }
    }

    fn second(&mut self, report: &WatchReport) {
        self.keep_pace();
        if let Some(exporter) = &mut self.exporter {
            exporter.second(report);
        }
        if let Some(events) = &mut self.events {
            events.second(report);
        }
        match &mut self.screen {
            Some(screen) => screen.second(report),
            None => self.line(report),
        }
    }
}

fn short_answer(answer: &LiveAnswer) -> String {
    match answer {
        LiveAnswer::TooLittle { .. } => "too few to say".to_owned(),
        LiveAnswer::AsExpected { .. } => "as on a healthy drive".to_owned(),
        LiveAnswer::Causes { findings } => {
            let names: Vec<_> = findings
                .iter()
                .map(|finding| finding.cause.name())
                .collect();
            names.join(", ")
        }
    }
}

/// Metrics at an address; `:9955` and `9955` are ports of the loopback interface.
fn serve_metrics(args: &Watch, address: &str) -> Result<WatchExporter, LabError> {
    let port = address.trim_start_matches(':').parse::<u16>();
    let parsed = match port {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => address.parse(),
    };
    let parsed = parsed.map_err(|_| {
        LabError::bad_option(
            "--exporter",
            address,
            "a port, or an address with a port",
            "--exporter :9955 listens on the loopback interface",
        )
    })?;
    let exporter = WatchExporter::new(&args.target);
    let bound = exporter.serve(parsed)?;
    say(args.quiet, &format!("metrics at http://{bound}/metrics"));
    Ok(exporter)
}
