//! `gp3,size=100,iops=3000,throughput=125,instance=m5.large`: a volume by name.

use crate::catalogue::{self, VolumeSetting};
use crate::volume::VolumeConfig;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;

/// Size of a volume whose size is not given, in GiB, where the type has it.
const USUAL_GIB: u64 = 100;

const KEYS: &str = "size (GiB), iops, throughput, instance, credit (percent), snapshot, seed";

/// A volume's name, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeName {
    /// Its type in the catalogue.
    pub kind: String,
    /// What its user chose.
    pub setting: VolumeSetting,
    /// The instance that it is attached to.
    pub instance: Option<String>,
    /// Share of the credit that it begins with, in thousandths.
    pub credit_permille: u32,
    /// Made from a snapshot and not read yet.
    pub from_snapshot: bool,
    /// Seed of its latencies.
    pub seed: u64,
}

fn bad(key: &str, text: &str, allowed: &str) -> LabError {
    LabError::refused(format!("volume: `{key}={text}`: {allowed}"), "")
}

fn number(key: &str, text: &str) -> Result<u64, LabError> {
    text.parse()
        .map_err(|_| bad(key, text, "give a whole number"))
}

/// GiB: a number, or a size with its unit that is whole GiB.
fn gib(text: &str) -> Result<u64, LabError> {
    if let Ok(gib) = text.parse() {
        return Ok(gib);
    }
    let bytes = parse_size(text)?;
    if bytes.is_multiple_of(1 << 30) {
        Ok(bytes >> 30)
    } else {
        Err(bad("size", text, "volumes are whole GiB"))
    }
}

impl VolumeName {
    /// Reads what follows `volume:`.
    ///
    /// # Errors
    /// When the type is not in the catalogue or a key or value is wrong.
    pub fn parse(text: &str) -> Result<VolumeName, LabError> {
        let mut parts = text.split(',');
        let kind = parts.next().unwrap_or_default();
        let file = catalogue::volume(kind)?;
        let smallest = file.size.min.value as u64;
        let mut name = VolumeName {
            kind: kind.to_owned(),
            setting: VolumeSetting {
                gib: USUAL_GIB.max(smallest),
                ..VolumeSetting::default()
            },
            instance: None,
            credit_permille: 1000,
            from_snapshot: false,
            seed: 1,
        };
        for part in parts {
            name.set(part)?;
        }
        Ok(name)
    }

    fn set(&mut self, part: &str) -> Result<(), LabError> {
        let (key, value) = part.split_once('=').unwrap_or((part, "yes"));
        match key {
            "size" => self.setting.gib = gib(value)?,
            "iops" => self.setting.operations = Some(number(key, value)?),
            "throughput" => self.setting.throughput = Some(number(key, value)?),
            "instance" => self.instance = Some(value.to_owned()),
            "seed" => self.seed = number(key, value)?,
            "credit" => {
                let percent = number(key, value.trim_end_matches('%'))?;
                if percent > 100 {
                    return Err(bad(key, value, "0 to 100 percent"));
                }
                self.credit_permille = u32::try_from(percent * 10).unwrap_or(1000);
            }
            "snapshot" => {
                self.from_snapshot = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(bad(key, value, "yes or no")),
                }
            }
            _ => {
                return Err(LabError::refused(
                    format!("volume: `{key}` is not a setting of a volume"),
                    format!("there are: {KEYS}"),
                ));
            }
        }
        Ok(())
    }

    /// The volume.
    ///
    /// # Errors
    /// When the provider does not sell it, or the instance is not known.
    pub fn config(&self) -> Result<VolumeConfig, LabError> {
        let file = catalogue::volume(&self.kind)?;
        let mut config = catalogue::resolve(&file, &self.setting)?;
        if let Some(instance) = &self.instance {
            let limits = catalogue::instance(&file.provider, &self.kind, instance)?;
            config.instance = Some((instance.clone(), limits));
        }
        config.first_touch = self.from_snapshot.then(|| file.first_touch());
        config.credit_permille = self.credit_permille;
        config.seed = self.seed;
        Ok(config)
    }
}

/// The volume that `text`, what follows `volume:`, names.
///
/// # Errors
/// When it is not understood, or not sold.
pub fn open(text: &str) -> Result<VolumeConfig, LabError> {
    let mut config = VolumeName::parse(text)?.config()?;
    text.clone_into(&mut config.name);
    Ok(config)
}
