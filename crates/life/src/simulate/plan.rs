//! Plan of a simulated life: drive, load, gear, fill and end.

use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_drives::smart::AttributeSet;
use ssdlab_load::synthetic::{SyntheticCommands, SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::{Bytes, DriveConfig, Nanos};

/// Which of the drive's gears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationGear {
    /// Map and media only: write amplification and wear.
    Counting,
    /// In virtual time.
    Timed,
}

impl SimulationGear {
    /// Reads its name.
    ///
    /// # Errors
    /// When there is no such gear.
    pub fn parse(text: &str) -> Result<SimulationGear, LabError> {
        let gears = [SimulationGear::Counting, SimulationGear::Timed];
        gears
            .into_iter()
            .find(|gear| gear.name() == text)
            .ok_or_else(|| {
                LabError::bad_option(
                    "--gear",
                    text,
                    "counting or timed is allowed",
                    "counting is faster, timed also gives IOPS and latency",
                )
            })
    }

    /// Name for the command line and files.
    pub fn name(self) -> &'static str {
        match self {
            SimulationGear::Counting => "counting",
            SimulationGear::Timed => "timed",
        }
    }
}

/// Writes before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefill {
    /// Nothing.
    None,
    /// The whole drive, front to back.
    Sequential,
    /// Every mapping unit once, in random order.
    Random,
}

impl Prefill {
    /// Reads its name.
    ///
    /// # Errors
    /// When there is no such fill.
    pub fn parse(text: &str) -> Result<Prefill, LabError> {
        let fills = [Prefill::None, Prefill::Sequential, Prefill::Random];
        fills
            .into_iter()
            .find(|fill| fill.name() == text)
            .ok_or_else(|| {
                LabError::bad_option(
                    "--fill",
                    text,
                    "none, sequential or random is allowed",
                    "the default is to fill the drive front to back",
                )
            })
    }

    /// Name for the command line and files.
    pub fn name(self) -> &'static str {
        match self {
            Prefill::None => "none",
            Prefill::Sequential => "sequential",
            Prefill::Random => "random",
        }
    }
}

/// When a load ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadEnd {
    /// User capacities written by the host.
    Drives(f64),
    /// Bytes written by the host.
    Bytes(u64),
    /// Virtual time.
    Time(Nanos),
}

impl LoadEnd {
    /// Reads `10x`, `100GB` or `30m`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<LoadEnd, LabError> {
        let drives = text
            .strip_suffix('x')
            .and_then(|n| n.trim().parse::<f64>().ok());
        let ending = |unit: &str| text.trim().ends_with(unit);
        let end = match drives {
            Some(drives) if drives > 0.0 && drives <= 1e6 => Some(LoadEnd::Drives(drives)),
            Some(_) => None,
            // `30m` is half an hour here; sizes need their B.
            None if ending("B") => parse_size(text).ok().filter(|b| *b > 0).map(LoadEnd::Bytes),
            None => parse_duration(text)
                .ok()
                .filter(|t| t.0 > 0)
                .map(LoadEnd::Time),
        };
        end.ok_or_else(|| LabError::BadValue {
            option: "--until".into(),
            given: text.into(),
            allowed: "user capacities written (10x), bytes written (100GB) or virtual time (30m) \
                      is allowed"
                .into(),
            place: InputLocation::command_line(),
            hint: "more than zero; sizes end in B, times in ns, us, ms, s, m, h or d".into(),
        })
    }
}

impl std::fmt::Display for LoadEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadEnd::Drives(drives) => write!(f, "{drives}x"),
            LoadEnd::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
            LoadEnd::Time(time) => write!(f, "{time}"),
        }
    }
}

/// Everything that determines a life.
#[derive(Clone, Debug)]
pub struct SimulationPlan {
    /// Name of the drive.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// The drive.
    pub config: DriveConfig,
    /// Parameters changed from the drive's file, `key=value`.
    pub settings: Vec<String>,
    /// Calibrated and assumed values of the drive.
    pub rests_on: Vec<RestsOn>,
    /// The attributes that the drive's SMART has.
    pub attributes: Option<AttributeSet>,
    /// History of a saved drive.
    pub history: Vec<String>,
    /// Gear.
    pub gear: SimulationGear,
    /// Commands.
    pub load: SyntheticLoad,
    /// Commands outstanding, in the timed gear.
    pub depth: u32,
    /// Every write of the load must be durable when it completes (FUA): nothing coalesces in a
    /// volatile buffer.
    pub write_through: bool,
    /// Before the load.
    pub fill: Prefill,
    /// Percentage of the user capacity that fill and load use, from its beginning; the rest is
    /// never written. 1 to 100.
    pub used_pct: u32,
    /// End of the load.
    pub until: LoadEnd,
}

/// Most commands outstanding.
pub const DEPTH_MAX: u32 = 65_536;

impl SimulationPlan {
    /// What [`SimulationPlan::set`] knows.
    pub const KEYS: [&str; 9] = [
        "load", "block", "read_pct", "trim_pct", "iodepth", "seed", "fill", "used_pct", "until",
    ];

    /// Four user capacities of uniform 4 KiB writes without time, after a sequential fill: what
    /// `ssdlab simulate` does when only a drive is named.
    pub fn usual(drive: &CatalogueDrive) -> SimulationPlan {
        let nothing = SimulationPlan {
            name: String::new(),
            title: String::new(),
            config: drive.config.clone(),
            settings: Vec::new(),
            rests_on: Vec::new(),
            attributes: None,
            history: Vec::new(),
            gear: SimulationGear::Counting,
            load: SyntheticLoad {
                pattern: SyntheticPattern::Uniform,
                block: 4096,
                read_pct: 0,
                trim_pct: 0,
                seed: 1,
            },
            depth: 32,
            write_through: false,
            fill: Prefill::Sequential,
            used_pct: 100,
            until: LoadEnd::Drives(4.0),
        };
        nothing.on(drive)
    }

    /// Sets a parameter of the load, the fill or the end by its name in [`SimulationPlan::KEYS`].
    ///
    /// # Errors
    /// When there is no such parameter, or the value is of another form.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), LabError> {
        let bad = |allowed: &str| {
            LabError::bad_option(key, value, allowed, "see `ssdlab simulate --help`")
        };
        let number = |allowed: &str| value.parse::<u32>().map_err(|_| bad(allowed));
        let percent = || number("0 to 100 is allowed");
        match key {
            "load" => self.load.pattern = SyntheticPattern::parse(value)?,
            "block" => {
                let bytes = parse_size(value)?;
                self.load.block =
                    u32::try_from(bytes).map_err(|_| bad("up to 16 MiB is allowed"))?;
            }
            "read_pct" => self.load.read_pct = percent()?,
            "trim_pct" => self.load.trim_pct = percent()?,
            "iodepth" => self.depth = number("1 to 65536 is allowed")?,
            "seed" => {
                self.load.seed = value
                    .parse()
                    .map_err(|_| bad("a whole number is allowed"))?;
            }
            "fill" => self.fill = Prefill::parse(value)?,
            "used_pct" => self.used_pct = number("1 to 100 is allowed")?,
            "until" => self.until = LoadEnd::parse(value)?,
            _ => {
                return Err(LabError::refused(
                    format!("a load has no parameter `{key}`"),
                    format!("these can be set: {}", SimulationPlan::KEYS.join(", ")),
                ));
            }
        }
        Ok(())
    }

    /// The plan for another drive.
    #[must_use]
    pub fn on(self, drive: &CatalogueDrive) -> SimulationPlan {
        SimulationPlan {
            name: drive.file.name.clone(),
            title: drive.file.title.clone(),
            rests_on: drive.rests_on(),
            attributes: Some(drive.attribute_set()),
            config: drive.config.clone(),
            ..self
        }
    }

    /// Checks that the life is possible and fits in memory.
    ///
    /// # Errors
    /// What is impossible.
    pub fn validate(&self) -> Result<(), LabError> {
        if self.gear == SimulationGear::Counting && matches!(self.until, LoadEnd::Time(_)) {
            return Err(LabError::refused(
                "the counting gear has no time, so --until cannot be one",
                "give what the host writes, such as --until 10x, or choose --gear timed",
            ));
        }
        if !(1..=100).contains(&self.used_pct) {
            return Err(LabError::bad_option(
                "--used-pct",
                self.used_pct.to_string(),
                "1 to 100 is allowed",
                "it is the percentage of the user capacity that fill and load use",
            ));
        }
        SyntheticCommands::new(&self.load, self.span_bytes())?;
        let writes = 100 - self.load.read_pct - self.load.trim_pct;
        if writes == 0 && !matches!(self.until, LoadEnd::Time(_)) {
            return Err(LabError::refused(
                "a load without writes never gets to --until, which counts bytes written",
                "give a time, such as --until 30s --gear timed",
            ));
        }
        if !(1..=DEPTH_MAX).contains(&self.depth) {
            return Err(LabError::BadValue {
                option: "--iodepth".into(),
                given: self.depth.to_string(),
                allowed: format!("1 to {DEPTH_MAX} is allowed"),
                place: InputLocation::command_line(),
                hint: "the drive itself works on host.queue_depth of them at once".into(),
            });
        }
        refuse_if_too_big(&self.name, self.config.memory_bytes(), 1)
    }

    /// Bytes, from the beginning of the drive, that fill and load use: whole mapping units.
    pub fn span_bytes(&self) -> u64 {
        if self.used_pct == 100 {
            return self.config.user_bytes;
        }
        let slots = u128::from(self.config.user_slots()) * u128::from(self.used_pct) / 100;
        slots as u64 * u64::from(self.config.shape.slot_bytes)
    }

    /// Bytes of the commands of a sequential fill: whole mapping units, about 1 MiB.
    pub(super) fn fill_block(&self) -> u32 {
        let slot = self.config.shape.slot_bytes;
        let most = (self.span_bytes() / 2).min(1 << 20) as u32;
        (most / slot).max(1) * slot
    }
}
