//! What follows a watch as it goes on: lines or a screen, metrics, events, the limits of a role.

use super::Watch;
use super::lines::EventOutput;
use super::metrics::serve_metrics;
use super::order::Forecaster;
use super::screen::{RecordingPace, open_screen};
use crate::failure::CliFailure;
use ssdlab_base::LabError;
use ssdlab_judge::qualify::roles::role;
use ssdlab_watch::events::EventWriter;
use ssdlab_watch::exporter::WatchExporter;
use ssdlab_watch::preflight::Preflight;
use ssdlab_watch::report::WatchReport;
use ssdlab_watch::screen::Screen;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Everything that follows a watch.
pub struct WatchFollower {
    pub(super) quiet: bool,
    /// The screen, in the place of lines.
    pub(super) screen: Option<Screen>,
    pub(super) exporter: Option<WatchExporter>,
    pub(super) events: Option<EventWriter<EventOutput>>,
    pub(super) preflight: Option<Preflight>,
    pub(super) forecaster: Option<Forecaster>,
    /// Of a recording that is played.
    pub(super) pace: Option<RecordingPace>,
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
        let exporter = args.exporter.as_deref();
        let events = args
            .events
            .then(|| EventWriter::new(EventOutput::default(), Arc::clone(stop)));
        Ok(WatchFollower {
            quiet: args.quiet || args.events,
            exporter: exporter.map(|at| serve_metrics(args, at)).transpose()?,
            events,
            preflight: args
                .role
                .as_deref()
                .map(|name| role(name).map(Preflight::new))
                .transpose()?,
            forecaster: match args.model.as_deref() {
                Some(name) => Forecaster::new(name)?,
                None => None,
            },
            pace: args.play.then(|| RecordingPace::new(stop)),
            // Last: what is wrong with the others is said on the terminal as it was.
            screen: open_screen(args, is_recording, stop)?,
        })
    }

    /// Whether seconds of a recording are wanted as they went by.
    pub fn follows_recordings(&self) -> bool {
        self.pace.is_some()
            || self.exporter.is_some()
            || self.events.is_some()
            || self.preflight.is_some()
            || self.forecaster.is_some()
    }

    /// A recording that was played stays on the screen until it is left.
    pub fn wait_for_key(&mut self) {
        if let (Some(screen), Some(pace)) = (&mut self.screen, &self.pace) {
            pace.wait_for_key(screen);
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
}
