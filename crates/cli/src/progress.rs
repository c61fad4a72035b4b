//! Progress on standard error: what is being done, its rate now, and the time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::Second;
use ssdlab_bench::run::Progress;
use ssdlab_judge::qualify;
use std::path::Path;
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

/// Watches a run: a bar for each part of it.
pub struct Watch {
    quiet: bool,
    bar: Option<Bar>,
}

impl Watch {
    /// A run without a bar when `quiet`.
    pub fn new(quiet: bool) -> Watch {
        Watch { quiet, bar: None }
    }
}

impl Observer for Watch {
    fn second(&mut self, second: &Second, _latencies: &[Latencies]) -> Result<(), LabError> {
        if let Some(bar) = &mut self.bar {
            bar.second(second);
        }
        Ok(())
    }
}

impl Progress for Watch {
    fn begins(&mut self, title: &str, expected_s: f64) {
        // The bar before it is removed first: two would share a line.
        self.bar = None;
        self.bar = Some(Bar::new(title, expected_s, self.quiet));
    }

    fn filling(&mut self, file: &Path, done: u64, total: u64) {
        filling(&mut self.bar, self.quiet, file, done, total);
    }
}

/// Draws the filling of a new file.
fn filling(bar: &mut Option<Bar>, quiet: bool, file: &Path, done: u64, total: u64) {
    let title = || format!("filling {}", file.display());
    bar.get_or_insert_with(|| Bar::new(&title(), 0.0, quiet))
        .bytes(done, total);
}

/// Watches a qualification: a bar per step.
pub struct Steps {
    quiet: bool,
    bar: Option<Bar>,
}

impl Steps {
    /// Steps without a bar when `quiet`.
    pub fn new(quiet: bool) -> Steps {
        Steps { quiet, bar: None }
    }
}

impl qualify::Progress for Steps {
    fn step(&mut self, step: &qualify::Step) {
        // The bar before it is removed first: two would share a line.
        self.bar = None;
        let number = format!("{}/{}", step.number, step.count);
        let title = format!("{number} {}", step.title);
        self.bar = Some(Bar::new(&title, step.expected_s, self.quiet));
    }

    fn second(
        &mut self,
        _step: &qualify::Step,
        second: &Second,
        _latencies: &[Latencies],
    ) -> Result<(), LabError> {
        if let Some(bar) = &mut self.bar {
            bar.second(second);
        }
        Ok(())
    }

    fn filling(&mut self, file: &Path, done: u64, total: u64) {
        filling(&mut self.bar, self.quiet, file, done, total);
    }

    fn overwriting(&mut self, done: u64, needed: u64) {
        if let Some(bar) = &mut self.bar {
            bar.bytes(done.min(needed), needed);
        }
    }

    fn judged(&mut self, _so_far: &qualify::Qualification) -> Result<(), LabError> {
        self.bar = None;
        Ok(())
    }

    fn references(&mut self, measured: usize, count: usize) {
        let title = || format!("{count} modelled drives beside it");
        self.bar
            .get_or_insert_with(|| Bar::new(&title(), 0.0, self.quiet))
            .bytes(measured as u64, count as u64);
    }
}

/// Bar of the experiments of `reproduce`.
pub fn experiments_bar(experiments: usize, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(Some(experiments as u64), target);
    let template = "{pos:>3} of {len} experiments {bar:20} last: {msg:16!} {elapsed}";
    bar.set_style(
        ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar.tick();
    bar
}
