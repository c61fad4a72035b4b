//! The drive of a host: from the catalogue, with what was changed of it.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_drives::{catalogue, scaling, settings};
use ssdlab_ssd::{Bytes, DriveConfig};

/// A drive ready to be run, and what is known of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HostDrive {
    /// Name in the catalogue.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Parameters changed from the drive's file.
    pub settings: Vec<String>,
    /// How it was made smaller, in a sentence.
    pub scaled: String,
    /// User capacity of the whole drive, bytes.
    pub whole_user_bytes: u64,
    /// User capacity as run, bytes.
    pub user_bytes: u64,
    /// (raw - user) / user of the whole drive.
    pub op_nominal: f64,
    /// The same with what reclaim can use, as run.
    pub op_effective: f64,
    /// Acknowledged writes survive a power cut.
    pub protected: bool,
    /// Rated endurance of the whole drive, bytes written by the host.
    pub rated_bytes: Option<u64>,
    /// Rated program/erase cycles x raw capacity of the whole drive, bytes, where its papers give
    /// the cycles.
    pub rated_cycles_bytes: Option<f64>,
    /// Warranty, years.
    pub warranty_years: Option<f64>,
    /// Calibrated and assumed values that its figures rest on.
    pub rests_on: Vec<RestsOn>,
    /// As the model takes it.
    #[serde(skip)]
    pub config: DriveConfig,
}

impl HostDrive {
    /// A drive by its name or file, with settings, scaled down to `capacity` bytes for the host
    /// where one is given.
    ///
    /// # Errors
    /// When there is no such drive, or it is not possible so.
    pub fn open(
        name: &str,
        set: &[DriveSetting],
        capacity: Option<u64>,
    ) -> Result<HostDrive, LabError> {
        let name = name.strip_prefix("drive:").unwrap_or(name);
        let drive = settings::apply(&catalogue::open(name)?, set)?;
        if capacity == Some(0) {
            return Err(LabError::bad_option(
                "--capacity",
                "0",
                "a size such as 8GiB, or `whole`, is allowed",
                "too small a drive is refused with the least that is possible",
            ));
        }
        let scaled = scaling::scaled(&drive.config, capacity.unwrap_or(u64::MAX))?;
        refuse_if_too_big(&drive.file.name, scaled.config.memory_bytes(), 1)?;
        Ok(HostDrive {
            settings: set.iter().map(DriveSetting::to_string).collect(),
            scaled: scaled.said,
            whole_user_bytes: drive.config.user_bytes,
            user_bytes: scaled.config.user_bytes,
            op_nominal: drive.config.nominal_op(),
            op_effective: scaled.config.effective_op(),
            protected: drive.config.buffer.protected,
            rated_bytes: drive.rated_bytes_written(),
            rated_cycles_bytes: drive
                .file
                .documented
                .program_erase_cycles
                .as_ref()
                .map(|cycles| f64::from(cycles.value) * settings::raw_bytes(&drive) as f64),
            warranty_years: drive
                .file
                .documented
                .warranty_years
                .as_ref()
                .map(|years| f64::from(years.value)),
            rests_on: drive.rests_on(),
            config: scaled.config,
            name: drive.file.name,
            title: drive.file.title,
        })
    }

    /// Bytes that may be programmed in the drive's rated life, and where that comes from: rated
    /// cycles, or else the rated bytes of the host, each taken to be programmed once.
    pub fn rated_nand(&self) -> Option<(f64, String)> {
        if let Some(bytes) = self.rated_cycles_bytes {
            return Some((bytes, "rated cycles x raw capacity".into()));
        }
        let why = "rated bytes of the host, each taken to be programmed once: the least that \
                   the maker must allow";
        Some((self.rated_bytes? as f64, why.into()))
    }

    /// The first lines of every text about it, each at most 80 columns.
    pub fn head(&self) -> Vec<String> {
        let buffer = if self.protected {
            "protected"
        } else {
            "volatile"
        };
        let mut lines = ssdlab_view::text::wrap(&format!("{}: {}", self.name, self.title), 80);
        lines.push(format!(
            "user {}, {buffer} buffer, over-provisioning {:.1} % nominal",
            Bytes(self.whole_user_bytes),
            self.op_nominal * 100.0
        ));
        lines.extend(
            ssdlab_view::text::wrap(&self.scaled, 78)
                .into_iter()
                .map(|l| format!("  {l}")),
        );
        let calibrated: Vec<&str> = self
            .rests_on
            .iter()
            .filter(|value| value.is_calibrated())
            .map(RestsOn::key)
            .collect();
        if !calibrated.is_empty() {
            let text = format!("calibrated, see `drives show`: {}", calibrated.join(", "));
            lines.extend(
                ssdlab_view::text::wrap(&text, 78)
                    .iter()
                    .map(|l| format!("  {l}")),
            );
        }
        if !self.settings.is_empty() {
            lines.push(format!("  set {}", self.settings.join(" ")));
        }
        lines
    }
}
