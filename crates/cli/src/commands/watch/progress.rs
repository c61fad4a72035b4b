//! What each request and each second is passed on to.

use super::follow::WatchFollower;
use super::lines::second_line;
use ssdlab_watch::report::{WatchProgress, WatchReport};
use ssdlab_watch::request::BlockRequest;

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
        if let Some(pace) = &mut self.pace {
            pace.wait(self.screen.as_ref());
        }
        let foretold = self.forecaster.as_mut().map(|forecaster| WatchReport {
            forecast: forecaster.forecast(report),
            ..report.clone()
        });
        let report = foretold.as_ref().unwrap_or(report);
        if let Some(exporter) = &mut self.exporter {
            exporter.second(report);
        }
        if let Some(events) = &mut self.events {
            events.second(report);
        }
        match &mut self.screen {
            Some(screen) => screen.second(report),
            None => second_line(self.quiet, report),
        }
    }
}
