//! Progress on standard error: what is being done, its rate now, and the time left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::Second;
use ssdlab_bench::run::RunProgress;
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
    let signalled = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if signalled.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell!("\nstopping: what was measured is kept (once more to quit at once)");
    })
    .map_err(|error| LabError::refused(format!("cannot watch for Ctrl-C: {error}"), ""))?;
    Ok(stop)
}

/// A bar over seconds of the target's clock, with the rate of the last second.
pub struct RateBar {
    bar: ProgressBar,
    seconds: f64,
    last_drawn: Instant,
}

impl RateBar {
    /// A bar for `expected_s` seconds of the target's clock; 0 = not known.
    pub fn new(title: &str, expected_s: f64, quiet: bool) -> RateBar {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let length = (expected_s.max(0.0) * 1000.0) as u64;
        let title = title
            .chars()
            .filter(|c| !c.is_control())
            .collect::<String>();
        let bar = ProgressBar::with_draw_target((length > 0).then_some(length), target);
        bar.set_style(style(length > 0));
        bar.set_prefix(title);
        bar.tick();
        RateBar {
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

/// What is being done on a line of its own, as far as the terminal is wide; below it the rate, and
/// a bar and the time left when the length is known.
fn style(known_length: bool) -> ProgressStyle {
    let size = console::Term::stderr().size_checked();
    let columns = size.map_or(80, |(_, columns)| columns.max(20)) - 1;
    let below = if known_length {
        "  {bar:24} {percent:>3}% {msg:12} {eta:>4} left"
    } else {
        "  {spinner} {msg}"
    };
    // Constants, so they parse; were one wrong, the default bar is better than none.
    ProgressStyle::with_template(&format!("{{prefix:{columns}!}}\n{below}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

impl Drop for RateBar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Watches a run: a bar for each part of it.
pub struct RunBars {
    quiet: bool,
    bar: Option<RateBar>,
}

impl RunBars {
    /// A run without a bar when `quiet`.
    pub fn new(quiet: bool) -> RunBars {
        RunBars { quiet, bar: None }
    }
}

impl Observer for RunBars {
    fn second(&mut self, second: &Second, _latencies: &[Latencies]) -> Result<(), LabError> {
        if let Some(bar) = &mut self.bar {
            bar.second(second);
        }
        Ok(())
    }
}

impl RunProgress for RunBars {
    fn begins(&mut self, title: &str, expected_s: f64) {
        // The bar before it is removed first: two would share a line.
        self.bar = None;
        self.bar = Some(RateBar::new(title, expected_s, self.quiet));
    }

    fn filling(&mut self, file: &Path, done: u64, total: u64) {
        filling(&mut self.bar, self.quiet, file, done, total);
    }
}

/// Draws the filling of a new file.
fn filling(bar: &mut Option<RateBar>, quiet: bool, file: &Path, done: u64, total: u64) {
    let title = || format!("filling {}", file.display());
    bar.get_or_insert_with(|| RateBar::new(&title(), 0.0, quiet))
        .bytes(done, total);
}

/// Watches a qualification: a bar per step.
pub struct QualifyBars {
    quiet: bool,
    bar: Option<RateBar>,
    /// What is being measured, once it is open.
    target: String,
}

impl QualifyBars {
    /// Steps without a bar when `quiet`.
    pub fn new(quiet: bool) -> QualifyBars {
        QualifyBars {
            quiet,
            bar: None,
            target: String::new(),
        }
    }
}

impl qualify::QualifyProgress for QualifyBars {
    fn step(&mut self, step: &qualify::QualifyStep) {
        // The bar before it is removed first: two would share a line.
        self.bar = None;
        let title = step_title(step, &self.target);
        self.bar = Some(RateBar::new(&title, step.expected_s, self.quiet));
    }

    fn second(
        &mut self,
        _step: &qualify::QualifyStep,
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

    fn opened(&mut self, facts: &TargetFacts) -> Result<(), LabError> {
        self.target.clone_from(&facts.name);
        Ok(())
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
        let title = format!("modelled drives beside it: {measured} of {count} measured");
        let bar = self
            .bar
            .get_or_insert_with(|| RateBar::new(&title, 0.0, self.quiet));
        bar.bar.set_prefix(title);
        bar.bytes(measured as u64, count as u64);
    }
}

/// "step 3 of 21 on drive:NAME: durable 4 KiB writes, one writer"
fn step_title(step: &qualify::QualifyStep, target: &str) -> String {
    format!(
        "step {} of {} on {target}: {}",
        step.number, step.count, step.title
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels said neither which drive nor which step of how many, and were cut after 34 letters.
    #[test]
    fn a_step_names_its_drive_its_number_and_what_it_measures() {
        let step = qualify::QualifyStep {
            number: 3,
            count: 21,
            title: "durable 4 KiB writes, write then flush, one writer".into(),
            expected_s: 4.0,
        };
        let title = step_title(&step, "drive:consumer-sata-1tb");
        assert!(title.starts_with("step 3 of 21 on drive:consumer-sata-1tb: durable"));
        assert!(title.ends_with("one writer"), "{title}");
    }
}
