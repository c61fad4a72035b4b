//! Progress of a life and of a sweep.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_life::simulate::life::{LifeObserver, LifeProgress};
use ssdlab_life::simulate::sample::LifePhase;
use ssdlab_view::units;
use std::time::{Duration, Instant};

/// Progress of a sweep: drives done, and the last of them.
pub fn sweep_bar(points: usize, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(points as u64), target(quiet));
    bar.set_style(style("{pos:>6} of {len} {bar:16} {msg:32!} {eta:>4} left"));
    bar
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    }
}

fn style(template: &str) -> ProgressStyle {
    // Constants, so they parse; were one wrong, the default bar is better than none.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// The line of progress.
pub struct LifeBar {
    pub bar: ProgressBar,
    name: String,
    phase: Option<LifePhase>,
    /// When it was last drawn, and the commands by then.
    drawn: (Instant, u64),
    pub commands: u64,
}

impl LifeBar {
    pub fn new(name: &str, quiet: bool) -> LifeBar {
        let bar = ProgressBar::with_draw_target(Some(1000), target(quiet));
        bar.set_style(style("{prefix:16!} {bar:10} {percent:>3}% {msg:44!}"));
        LifeBar {
            bar,
            name: name.to_owned(),
            phase: None,
            drawn: (Instant::now(), 0),
            commands: 0,
        }
    }
}

impl LifeObserver for LifeBar {
    fn progress(&mut self, progress: &LifeProgress) {
        self.commands = progress.commands;
        let passed = self.drawn.0.elapsed();
        if self.phase == Some(progress.phase) && passed < Duration::from_millis(120) {
            return;
        }
        let rate = (progress.commands - self.drawn.1) as f64 / passed.as_secs_f64().max(1e-9);
        self.drawn = (Instant::now(), progress.commands);
        self.phase = Some(progress.phase);
        let name: String = self.name.chars().take(11).collect();
        self.bar
            .set_prefix(format!("{} {name}", progress.phase.name()));
        self.bar.set_position((progress.done * 1000.0) as u64);
        let waf = progress.waf.map_or("-".into(), |waf| format!("{waf:.2}"));
        let clock = if progress.now.0 > 0 {
            format!(" {}", units::clock(progress.now.as_secs_f64()))
        } else {
            String::new()
        };
        self.bar.set_message(format!(
            "{} WAF {waf}{clock} {}/s",
            units::decimal_bytes(progress.host_bytes as f64),
            units::rate(rate)
        ));
    }
}
