//! Arguments of `ssdlab twin predict`.

use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_load::trace::ReadOptions;
use ssdlab_twin::latency::RequestedRate;
use ssdlab_twin::trace::TraceExcerpt;
use std::path::PathBuf;

/// `ssdlab twin predict`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --load, loads that usually separate models are predicted. Intervals hold
90 % and contain the models' own error. Latency needs a fit with --latency.

Examples:
  ssdlab twin predict twin --load zipf:0.9 --load hotcold:90/10:scattered
  ssdlab twin predict twin --load uniform --spare +20%
  ssdlab twin predict twin --trace host.blkparse --used-pct 80
  ssdlab twin predict twin --load zipf:0.9 --rated 7PB --per-day 2TB
  ssdlab twin predict twin --load zipf:0.9 --rate 40k --rate 60%")]
pub struct Predict {
    /// Directory that `twin fit` has written.
    pub dir: PathBuf,
    /// Load to predict, as --load of simulate (repeatable).
    #[arg(long, value_name = "LOAD")]
    pub load: Vec<String>,
    /// Predict the writes of a host, recorded from a drive of this capacity (a format of
    /// `ssdlab trace`); they are repeated.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// The device whose commands are meant, where the trace has several.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub device: Option<String>,
    /// Percentage of the capacity that is filled and written.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub used_pct: u32,
    /// User capacities written after the fill.
    #[arg(long, value_name = "N", default_value = "6")]
    pub overwrites: String,
    /// Spare area to add, in per cent of the capacity: +20%.
    #[arg(long, value_name = "PERCENT")]
    pub spare: Option<String>,
    /// Latency beside writes at this rate: 4 KiB a second, or per cent of what the
    /// drive sustains under the load (repeatable).
    #[arg(long, value_name = "IOPS|PERCENT")]
    pub rate: Vec<String>,
    /// Life under the load, of a drive that is rated for these host bytes (7PB; taken
    /// to be of uniform 4 KiB writes).
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub rated: Option<u64>,
    /// Host bytes a day: life in years as well.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "rated")]
    pub per_day: Option<u64>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

impl Predict {
    /// The trace of a drive of `capacity` bytes.
    pub fn trace(&self, capacity: u64) -> Result<Option<TraceExcerpt>, LabError> {
        let mut options = ReadOptions::default();
        options.device = self.device.clone();
        let path = self.trace.as_deref();
        path.map(|path| TraceExcerpt::read(path, &options, capacity))
            .transpose()
    }

    /// Rates of writes.
    pub fn rates(&self) -> Result<Vec<RequestedRate>, LabError> {
        let rate = |text: &String| {
            let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1e9);
            let rate = match (text.strip_suffix('%'), text.strip_suffix(['k', 'K'])) {
                (Some(percent), _) => number(percent).map(|n| RequestedRate::Share(n / 100.0)),
                (_, Some(thousands)) => number(thousands).map(|n| RequestedRate::Iops(n * 1000.0)),
                _ => number(text).map(RequestedRate::Iops),
            };
            rate.ok_or_else(|| {
                let allowed = "a rate above 0 is allowed";
                LabError::bad_option("--rate", text, allowed, "such as --rate 40k or --rate 60%")
            })
        };
        self.rate.iter().map(rate).collect()
    }

    /// Overwrites as a number.
    pub fn overwrites(&self) -> Result<f64, LabError> {
        let overwrites = self.overwrites.parse::<f64>().ok();
        overwrites
            .filter(|n| (1.0..=100.0).contains(n))
            .ok_or_else(|| {
                let allowed = "1 to 100 user capacities are allowed";
                let hint = "the first ones are no settled rate";
                LabError::bad_option("--overwrites", &self.overwrites, allowed, hint)
            })
    }

    /// Spare area to add, a share of the capacity.
    pub fn more_spare(&self) -> Result<f64, LabError> {
        let Some(text) = &self.spare else {
            return Ok(0.0);
        };
        let number = text.strip_prefix('+').and_then(|t| t.strip_suffix('%'));
        let percent = number.and_then(|n| n.parse::<f64>().ok());
        let percent = percent.filter(|n| (0.0..=40.0).contains(n));
        percent.map(|pct| pct / 100.0).ok_or_else(|| {
            let allowed = "+0% to +40% of the capacity is allowed";
            LabError::bad_option("--spare", text, allowed, "such as --spare +20%")
        })
    }
}
