//! What the arguments of a watch stand for: a modelled drive, a time.

use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_volume::VolumeConfig;
use ssdlab_watch::forecast::{ForecastModel, WatchForecast};
use ssdlab_watch::report::WatchReport;

/// The modelled drive that `--model` names.
///
/// # Errors
/// When it names something else, or there is none.
pub fn listed(name: &str) -> Result<CatalogueDrive, LabError> {
    let TargetName::Drive(name) = TargetName::parse(name)? else {
        return Err(LabError::bad_option(
            "--model",
            name,
            "a modelled drive",
            "drive:NAME of the catalogue (`ssdlab list drives`), drive:FILE.toml or volume:TYPE",
        ));
    };
    open_drive(&name)
}

/// The volume that `--model` names; `None`: it names a drive.
///
/// # Errors
/// When it is not sold.
pub fn modelled_volume(name: &str) -> Result<Option<VolumeConfig>, LabError> {
    name.strip_prefix("volume:")
        .map(ssdlab_volume::open)
        .transpose()
}

/// How often a forecast is made, s of the watch.
const FORECAST_EVERY_S: f64 = 5.0;

/// Forecasts while a watch goes on.
pub struct Forecaster {
    model: ForecastModel,
    next_s: f64,
    last: Option<WatchForecast>,
}

impl Forecaster {
    /// By the model that `--model` names; `None`: a volume has no state to come.
    ///
    /// # Errors
    /// When it is no modelled drive.
    pub fn new(name: &str) -> Result<Option<Forecaster>, LabError> {
        if modelled_volume(name)?.is_some() {
            return Ok(None);
        }
        Ok(Some(Forecaster {
            model: ForecastModel::new(&listed(name)?),
            next_s: FORECAST_EVERY_S,
            last: None,
        }))
    }

    /// The last forecast, made again every few seconds.
    pub fn forecast(&mut self, report: &WatchReport) -> Option<WatchForecast> {
        if report.watched_s >= self.next_s {
            self.next_s = report.watched_s + FORECAST_EVERY_S;
            let evidence = report.forecast_evidence();
            self.last = Some(WatchForecast::new(Some(&self.model), &evidence));
        }
        self.last.clone()
    }
}

/// Whole seconds of `--for`.
///
/// # Errors
/// When it is no time, or less than a second.
pub fn seconds(text: &str) -> Result<u64, LabError> {
    let seconds = parse_duration(text)?.0 / 1_000_000_000;
    if seconds == 0 {
        return Err(LabError::bad_option(
            "--for",
            text,
            "a second or more",
            "ten seconds give a first answer: --for 10s",
        ));
    }
    Ok(seconds)
}
