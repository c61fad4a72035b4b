//! Forecasts on the way of a run, held against what came.

use crate::run::DrawnRun;
use crate::truth::DrawnDrive;
use ssdlab_watch::forecast::{
    ExpectedEvent, ForecastEvidence, ForecastInterval, ForecastOutlook, WatchForecast,
};
use ssdlab_watch::steps::WatchedSecond;
use std::fmt::Write as _;

/// Shares of the way at which forecasts are scored.
const CHECKPOINTS: [f64; 3] = [0.25, 0.5, 0.75];
/// Shares of the way at which it is asked for the first true statement.
const STEPS: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/// Slices from which a watch can have said anything.
const SLICES_MIN: usize = 12;
/// The median share of pSLC in the capacity of client drives of 1 TB of the ledger.
const NULL_SHARE: f64 = 0.156;

/// A forecast at a checkpoint.
#[derive(Clone, Copy, Debug)]
struct ScoredForecast {
    interval: ForecastInterval,
    /// What came, from the checkpoint, s.
    truth: f64,
    /// From the beginning of the watch to the checkpoint, s.
    elapsed: f64,
    /// Bytes of the same, and whether the interval covers them.
    covers_bytes: bool,
    /// Whether the state at the beginning of the watch was known.
    known: bool,
}

impl ScoredForecast {
    fn width(&self) -> f64 {
        self.interval.width()
    }

    /// The same for the moment, from the beginning of the watch.
    fn moment_width(&self) -> f64 {
        self.interval.high.map_or(f64::INFINITY, |high| {
            (self.elapsed + high) / (self.elapsed + self.interval.low)
        })
    }
}

/// Scores of one drive.
#[derive(Default)]
pub struct DriveScore {
    pub line: String,
    /// It was slow when the watch began.
    is_left_out: bool,
    /// Something came.
    came: bool,
    /// It was said, or something else was.
    forecasts: Vec<ScoredForecast>,
    /// Checkpoints with nothing said although it came.
    silent: usize,
    /// The first true statement, share of the way.
    first: Option<f64>,
    /// Nothing came, and it was said to come: checkpoints.
    false_alarms: usize,
    /// |ln| of the nulls' and of our median, over the truth, bytes.
    null_share: Vec<f64>,
    null_sheet: Vec<f64>,
    ours: Vec<f64>,
}

fn evidence(drawn: &DrawnDrive, run: &DrawnRun, slices: &[WatchedSecond]) -> ForecastEvidence {
    let seconds = slices.len() as f64 * run.slice_s;
    let temperatures = run.temperatures.iter().copied();
    ForecastEvidence {
        slices: slices.to_vec(),
        slice_s: run.slice_s,
        temperatures: temperatures
            .filter(|reading| reading.at_s <= seconds)
            .collect(),
        pressure: Some(run.pressure),
        ..drawn.evidence.clone()
    }
}

fn written(slices: &[WatchedSecond]) -> f64 {
    slices.iter().map(|slice| slice.writes.bytes as f64).sum()
}

/// A run up to its event, or to its end.
#[derive(Clone, Copy)]
struct ScoredWay<'a> {
    drawn: &'a DrawnDrive,
    run: &'a DrawnRun,
    /// Slice of the event.
    event: Option<usize>,
    /// The same, or the last slice.
    end: usize,
}

impl ScoredWay<'_> {
    /// The slice at a share of the way, and what is forecast there.
    fn forecast(&self, share: f64) -> (usize, WatchForecast) {
        let slice = ((self.end as f64 * share) as usize).max(1);
        let evidence = evidence(self.drawn, self.run, &self.run.slices[..slice]);
        (
            slice,
            WatchForecast::new(Some(&self.drawn.model), &evidence),
        )
    }

    /// The outlook on heat where the run ends by heat, else on the cliff.
    fn asked<'f>(&self, forecast: &'f WatchForecast) -> &'f ForecastOutlook {
        match self.run.throttling {
            Some(_) => &forecast.throttling,
            None => &forecast.cliff,
        }
    }

    /// Seconds from a slice to the event.
    fn left(&self, slice: usize) -> f64 {
        (self.end - slice) as f64 * self.run.slice_s
    }

    fn title(&self) -> String {
        let drawn = self.drawn;
        let came = match self.event {
            Some(_) => "came after",
            None => "nothing in",
        };
        format!(
            "{:?} {} {}{:?} {came} {:.2} s",
            drawn.class,
            drawn.name,
            drawn.load.burst.map_or("", |_| "bursts "),
            (drawn.load.bytes >> 10, drawn.load.in_order),
            self.left(0),
        )
    }

    fn is_true(&self, share: f64) -> bool {
        let (slice, forecast) = self.forecast(share);
        let expected = self.asked(&forecast).expected();
        expected.is_some_and(|event| event.seconds.covers(self.left(slice)))
    }
}

/// Scores a run.
pub fn score(drawn: &DrawnDrive, run: &DrawnRun) -> DriveScore {
    // Before any watch could say anything: the drive was past it already.
    let event = run.throttling.or(run.cliff);
    if event.is_some_and(|end| end < SLICES_MIN) {
        return DriveScore {
            line: format!("{} slow from the beginning", drawn.name),
            is_left_out: true,
            ..DriveScore::default()
        };
    }
    let way = ScoredWay {
        drawn,
        run,
        event,
        end: event.unwrap_or(run.slices.len()),
    };
    let mut scored = DriveScore {
        came: event.is_some(),
        line: way.title(),
        ..DriveScore::default()
    };
    for share in CHECKPOINTS {
        scored.checkpoint(&way, share);
    }
    if event.is_some() {
        scored.first = STEPS.into_iter().find(|&share| way.is_true(share));
        let _ = write!(scored.line, " | first {:?}", scored.first);
    }
    scored
}

impl DriveScore {
    fn checkpoint(&mut self, way: &ScoredWay<'_>, share: f64) {
        let (slice, forecast) = way.forecast(share);
        match (way.asked(&forecast).expected(), way.event) {
            (Some(expected), Some(_)) => self.interval(way, slice, expected),
            (None, Some(_)) => {
                self.silent += 1;
                self.line += " | silent";
            }
            (_, None) => {
                // What is said to come later than the run's end was not seen.
                let outlooks = [&forecast.cliff, &forecast.throttling];
                let said = outlooks.iter().any(|outlook| {
                    let until = outlook.expected().and_then(|event| event.seconds.high);
                    until.is_some_and(|high| high < way.left(slice))
                });
                self.false_alarms += usize::from(said);
                self.line += if said { " | FALSE" } else { " | none" };
            }
        }
    }

    fn interval(&mut self, way: &ScoredWay<'_>, slice: usize, expected: &ExpectedEvent) {
        let truth = way.left(slice);
        let bytes = written(&way.run.slices[slice..way.end]);
        let known = &way.drawn.evidence;
        let one = ScoredForecast {
            interval: expected.seconds,
            truth,
            elapsed: slice as f64 * way.run.slice_s,
            covers_bytes: expected.bytes.covers(bytes),
            known: way.run.throttling.is_some() || known.run_up.is_some() && known.used.is_some(),
        };
        let _ = write!(
            self.line,
            " | {truth:.2} in {:.2}..{:.2}..{:.2}{}",
            one.interval.low,
            one.interval.median,
            one.interval.high.unwrap_or(f64::INFINITY),
            ["", " MISS"][usize::from(!one.interval.covers(truth))]
        );
        self.forecasts.push(one);
        let bytes = bytes.max(1.0);
        self.ours.push((expected.bytes.median / bytes).ln().abs());
        self.nulls(way.drawn, way.run, slice, bytes);
    }

    /// The nulls: a fixed share of the capacity for the cache and all of it for spare, and the
    /// sheet's size of the cache on an empty drive; less the bytes written since the watch began.
    fn nulls(&mut self, drawn: &DrawnDrive, run: &DrawnRun, slice: usize, truth: f64) {
        if run.throttling.is_some() {
            return;
        }
        let law = ssdlab_watch::forecast::fill::FillLaw::new(&drawn.model.config);
        let so_far = written(&run.slices[..slice]);
        let (share, sheet) = if law.has_cache() {
            (
                NULL_SHARE * law.user_bytes,
                law.cache_bytes(law.native_bytes),
            )
        } else {
            (law.user_bytes, law.native_bytes)
        };
        let error = |size: f64| ((size - so_far).max(0.01 * size) / truth).ln().abs();
        self.null_share.push(error(share));
        self.null_sheet.push(error(sheet));
    }
}

/// Scores of all drives.
#[derive(Default)]
pub struct ForecastScore {
    drives: usize,
    left_out: usize,
    came: usize,
    forecasts: Vec<ScoredForecast>,
    silent: usize,
    early: usize,
    quiet: usize,
    false_drives: usize,
    null_share: Vec<f64>,
    null_sheet: Vec<f64>,
    ours: Vec<f64>,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl ForecastScore {
    /// Adds a drive.
    pub fn add(&mut self, drive: &DriveScore) {
        if drive.is_left_out {
            self.left_out += 1;
            return;
        }
        self.drives += 1;
        self.came += usize::from(drive.came);
        self.forecasts.extend(&drive.forecasts);
        self.silent += drive.silent;
        self.early += usize::from(drive.first.is_some());
        self.quiet += usize::from(!drive.came);
        self.false_drives += usize::from(drive.false_alarms > 0);
        self.null_share.extend(&drive.null_share);
        self.null_sheet.extend(&drive.null_sheet);
        self.ours.extend(&drive.ours);
    }

    /// The table.
    pub fn text(&self) -> String {
        let covered = self
            .forecasts
            .iter()
            .filter(|forecast| forecast.interval.covers(forecast.truth))
            .count();
        let count = self.forecasts.len();
        let by_bytes = self.forecasts.iter().filter(|one| one.covers_bytes).count();
        let widths = |width: fn(&ScoredForecast) -> f64, only_known: bool| {
            let some = self.forecasts.iter().filter(|one| one.known || !only_known);
            median(some.map(width).collect())
        };
        let error = |errors: &[f64]| median(errors.to_vec()).exp();
        format!(
            "{} drives ({} more slow from the beginning), {} with an event: {count} intervals\n\
             cover the time {covered} ({:.0} %), the bytes {by_bytes}; silent checkpoints {}\n\
             median width: {:.2} of the time left, {:.2} of the moment from the watch's beginning\n\
             the same where the state at the beginning was known: {:.2}, {:.2}\n\
             a true statement by 80 % of the way: {} of {}\n\
             nothing came: {}, said to come on {}\n\
             median error of bytes: ours {:.2}, fixed share {:.2}, sheet {:.2} (factors)",
            self.drives,
            self.left_out,
            self.came,
            100.0 * covered as f64 / count.max(1) as f64,
            self.silent,
            widths(ScoredForecast::width, false),
            widths(ScoredForecast::moment_width, false),
            widths(ScoredForecast::width, true),
            widths(ScoredForecast::moment_width, true),
            self.early,
            self.came,
            self.quiet,
            self.false_drives,
            error(&self.ours),
            error(&self.null_share),
            error(&self.null_sheet),
        )
    }
}
