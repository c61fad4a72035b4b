//! What every command has that pulls: the switch, its times, and leave to write.

use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::WriteOptions;
use ssdlab_judge::pull::PullSwitch;
use std::time::Duration;

/// Who takes the power away.
#[derive(Args, Debug)]
pub struct PullPowerArgs {
    /// Command that takes the target's power away and leaves it away. [default: a person is asked]
    #[arg(long, value_name = "CMD", requires = "on")]
    pub off: Option<String>,
    /// Command that brings it back.
    #[arg(long, value_name = "CMD", requires = "off")]
    pub on: Option<String>,
}

impl PullPowerArgs {
    /// The switch.
    pub fn switch(&self) -> PullSwitch {
        match (&self.off, &self.on) {
            (Some(off), Some(on)) => PullSwitch::Commands {
                off: off.clone(),
                on: on.clone(),
            },
            _ => PullSwitch::Hand,
        }
    }
}

/// How long each part of a pull takes.
#[derive(Args, Debug)]
pub struct PullTimesArgs {
    /// Mean time of writing before each pull.
    #[arg(long, value_name = "TIME", default_value = "3s")]
    pub write_for: String,
    /// Time without power, so that nothing is left in capacitors of a dock.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub settle: String,
    /// Longest time until the target has stopped to answer. [default: 60s, by hand 10m]
    #[arg(long, value_name = "TIME")]
    pub gone: Option<String>,
    /// Longest time until the target is back.
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub back: String,
}

fn time(text: &str) -> Result<Duration, LabError> {
    parse_duration(text).map(|time| Duration::from_nanos(time.0))
}

impl PullTimesArgs {
    /// Mean time of writing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn write_for(&self) -> Result<Duration, LabError> {
        time(&self.write_for)
    }

    /// Time without power.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn settle(&self) -> Result<Duration, LabError> {
        time(&self.settle)
    }

    /// Longest time until the target is gone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn gone(&self, switch: &PullSwitch) -> Result<Duration, LabError> {
        let gone = match switch {
            PullSwitch::Hand => "10m",
            PullSwitch::Commands { .. } => "60s",
        };
        time(self.gone.as_deref().unwrap_or(gone))
    }

    /// Longest time until the target is back.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn back(&self) -> Result<Duration, LabError> {
        time(&self.back)
    }
}

/// Leave to write to a target.
#[derive(Args, Debug)]
pub struct WriteLeaveArgs {
    /// Allow writing over an existing file that is not empty.
    #[arg(long)]
    pub overwrite: bool,
    /// The serial number of the block device, to confirm that it may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<String>,
    /// To destroy what a block device without a serial number holds: a UUID on it, its backing
    /// file, its name in the device mapper, or its exact size.
    #[arg(long, value_name = "WORD")]
    pub destroy: Option<String>,
}

impl WriteLeaveArgs {
    /// What may be overwritten.
    pub fn options(&self) -> WriteOptions {
        WriteOptions {
            allow_overwrite: self.overwrite,
            confirmed_serial: self.serial.clone(),
            destroy: self.destroy.clone(),
        }
    }
}
