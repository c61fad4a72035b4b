//! Progress on standard error: what is being done, its rate now, and the time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::Second;
use ssdlab_bench::run_dir::RunWriter;
use ssdlab_judge::qualify;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set on the first Ctrl-C, SIGTERM or SIGHUP: the run ends and keeps what it has. A second one
/// ends the program at once.
///
/// # Errors
/// When the system refuses the handler.
pub fn stop_on_signal() -> Result<Arc<AtomicBool>, LabError> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell!("\nstopping: what was measured is kept (once more to quit at once)");
    })
    .map_err(|error| LabError::refused(format!("cannot watch for Ctrl-C: {error}"), ""))?;
    Ok(stop)
}

/// A bar over seconds of the target's clock, with the rate of the last second.
pub struct Bar {
    bar: ProgressBar,
    seconds: f64,
    last_drawn: Instant,
}

impl Bar {
    /// A bar for `expected_s` seconds of the target's clock; 0 = not known.
    pub fn new(title: &str, expected_s: f64, quiet: bool) -> Bar {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let length = (expected_s.max(0.0) * 1000.0) as u64;
        let bar = ProgressBar::with_draw_target((length > 0).then_some(length), target);
        bar.set_style(style(length > 0));
        bar.set_prefix(title.to_owned());
        bar.tick();
        Bar {
            bar,
            seconds: 0.0,
            last_drawn: Instant::now(),
        }
    }

    /// Another second of the target's clock has passed.
    pub fn second(&mut self, second: &Second) {
        self.seconds += second.length_s;
        // In virtual time seconds pass by the thousand: draw only some.
        if self.last_drawn.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.last_drawn = Instant::now();
        let count: u64 = second.ops.iter().map(|op| op.count).sum();
        self.bar.set_position((self.seconds * 1000.0) as u64);
        let rate = count as f64 / second.length_s.max(1e-9);
        self.bar
            .set_message(format!("{} IOPS", ssdlab_view::units::rate(rate)));
    }

    /// Position for work that is counted in bytes.
    pub fn bytes(&mut self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_style(style(true));
        }
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// With a known length, a bar and the time left; else what is being done and the rate.
fn style(known_length: bool) -> ProgressStyle {
    let template = if known_length {
        "{prefix:34!} {bar:14} {percent:>3}% {msg:12} {eta:>4} left"
    } else {
        "{prefix:38!} {spinner} {msg}"
    };
    // Constants, so they parse; were one wrong, the default bar is better than none.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Watches a run: draws the bar and writes the run directory.
pub struct Watch<'a> {
    /// Drawn.
    pub bar: Bar,
    /// Written; `None` for preparations.
    pub writer: Option<&'a mut RunWriter>,
}

impl Observer for Watch<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.bar.second(second);
        match &mut self.writer {
            Some(writer) => writer.second(second, latencies),
            None => Ok(()),
        }
    }
}

/// Watches a qualification: a bar per step; every second also goes to the run directory, the
/// step's number as its phase.
pub struct Steps<'a> {
    /// Shown before each step's title.
    pub label: String,
    /// Say nothing.
    pub quiet: bool,
    /// Written; `None` for references.
    pub writer: Option<&'a mut RunWriter>,
    bar: Option<Bar>,
}

impl<'a> Steps<'a> {
    /// Steps of one target.
    pub fn new(label: &str, quiet: bool, writer: Option<&'a mut RunWriter>) -> Steps<'a> {
        Steps {
            label: label.to_owned(),
            quiet,
            writer,
            bar: None,
        }
    }

    /// Removes the last bar.
    pub fn finish(&mut self) {
        self.bar = None;
    }
}

impl qualify::Progress for Steps<'_> {
    fn step(&mut self, step: &qualify::Step) {
        self.bar = None;
        let title = format!(
            "{}{}/{} {}",
            self.label, step.number, step.count, step.title
        );
        self.bar = Some(Bar::new(&title, step.expected_s, self.quiet));
    }

    fn second(
        &mut self,
        step: &qualify::Step,
        second: &Second,
        latencies: &[Latencies],
    ) -> Result<(), LabError> {
        if let Some(bar) = &mut self.bar {
            bar.second(second);
        }
        match &mut self.writer {
            Some(writer) => {
                let numbered = Second {
                    phase: step.number,
                    ..second.clone()
                };
                writer.second(&numbered, latencies)
            }
            None => Ok(()),
        }
    }
}
