//! Constants that no sheet gives, as the ledger of measured drives has them: for each one a median
//! and a spread by class, in the file `ledger/prior.toml`, which `ssdlab ledger fit` writes.
//!
//! A constant of a drive is log-normal about the median of its class. The spread is that of a drive
//! of a family that was not seen: between families, within one, and what the median itself is off.

use super::facts::{Cells, DatasheetFacts, Interface};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Quantile of a normal distribution that 10 % lie above.
const TENTH: f64 = 1.2816;
/// The class of drives of whose own class nothing is known.
pub const ANY: &str = "any";

/// A constant that no sheet gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorConstant {
    /// Time of the controller for a flush, in ns.
    FlushTime,
    /// The same for a write by FUA.
    FuaTime,
    /// Writes by FUA whose time of the controller runs side by side.
    FuaAtOnce,
    /// Durable writes a second, predicted by other families over measured: its spread is that of
    /// predictions.
    DurableRatio,
    /// pSLC cache of an empty drive, as a share of the user capacity.
    CacheShare,
    /// Rate of writes in order into the cache, as a share of the link.
    CacheRate,
    /// Rate of writes in order past it, in bytes a second at 1 TB; it grows with the square root of
    /// the capacity.
    DirectRate,
    /// Rate of writes in order of protected drives, as a share of the link at 1 TB; it grows with
    /// the square root of the capacity.
    WriteRate,
    /// Time of a moved slot, in times of what is usual at the drive's time of a command.
    MovedSlot,
    /// Erase cycles at which the drive's own counter says 100 %.
    Cycles,
    /// Cycles by which a per cent of that counter is a hundredth, counted from the host's writes
    /// and the model's write amplification.
    WearCycles,
    /// Write amplification in service in times of the model's: of the tenth least.
    WafLow,
    /// The same: the median.
    WafMedian,
    /// The same: of the tenth highest.
    WafHigh,
}

impl PriorConstant {
    /// All of them.
    pub const ALL: [PriorConstant; 14] = [
        PriorConstant::FlushTime,
        PriorConstant::FuaTime,
        PriorConstant::FuaAtOnce,
        PriorConstant::DurableRatio,
        PriorConstant::CacheShare,
        PriorConstant::CacheRate,
        PriorConstant::DirectRate,
        PriorConstant::WriteRate,
        PriorConstant::MovedSlot,
        PriorConstant::Cycles,
        PriorConstant::WearCycles,
        PriorConstant::WafLow,
        PriorConstant::WafMedian,
        PriorConstant::WafHigh,
    ];

    /// As the file has it.
    pub const fn name(self) -> &'static str {
        match self {
            PriorConstant::FlushTime => "flush-time",
            PriorConstant::FuaTime => "fua-time",
            PriorConstant::FuaAtOnce => "fua-at-once",
            PriorConstant::DurableRatio => "durable-ratio",
            PriorConstant::CacheShare => "cache-share",
            PriorConstant::CacheRate => "cache-rate",
            PriorConstant::DirectRate => "direct-rate",
            PriorConstant::WriteRate => "write-rate",
            PriorConstant::MovedSlot => "moved-slot",
            PriorConstant::Cycles => "cycles",
            PriorConstant::WearCycles => "wear-cycles",
            PriorConstant::WafLow => "waf-low",
            PriorConstant::WafMedian => "waf-median",
            PriorConstant::WafHigh => "waf-high",
        }
    }

    /// Classes of a drive for this constant, the narrowest first. What commits take depends on the
    /// controller, so on the maker, and never on drives with the other protection.
    pub fn classes(self, drive: PriorClass) -> Vec<String> {
        let protection = if drive.protected {
            "protected"
        } else {
            "unprotected"
        };
        let link = match drive.interface {
            Interface::Sata => "sata",
            Interface::Sas => "sas",
            _ => "nvme",
        };
        let by_link = format!("{protection} {link}");
        let generation = match drive.interface {
            Interface::Sata => "sata",
            Interface::Sas => "sas",
            Interface::Pcie3 => "pcie3",
            Interface::Pcie4 => "pcie4",
            Interface::Pcie5 => "pcie5",
        };
        match self {
            PriorConstant::FlushTime | PriorConstant::FuaTime => {
                let by_maker = drive.maker.map(|maker| format!("{by_link} {maker}"));
                let wider = [by_link, protection.to_owned()];
                by_maker.into_iter().chain(wider).collect()
            }
            PriorConstant::DurableRatio | PriorConstant::FuaAtOnce | PriorConstant::WriteRate => {
                vec![by_link, protection.to_owned()]
            }
            PriorConstant::CacheShare | PriorConstant::CacheRate | PriorConstant::MovedSlot => {
                vec![by_link, ANY.to_owned()]
            }
            PriorConstant::DirectRate => {
                let by_cells = format!("{protection} {}", drive.cells.name());
                let narrow = format!("{by_cells} {generation}");
                vec![narrow, by_cells, ANY.to_owned()]
            }
            PriorConstant::Cycles
            | PriorConstant::WearCycles
            | PriorConstant::WafLow
            | PriorConstant::WafMedian
            | PriorConstant::WafHigh => {
                let by_cells = format!("{protection} {}", drive.cells.name());
                vec![by_cells, ANY.to_owned()]
            }
        }
    }
}

/// Makers of several families of the ledger, as names of drives begin.
const MAKERS: [&str; 9] = [
    "samsung", "intel", "crucial", "micron", "sandisk", "kingston", "corsair", "toshiba", "team",
];

/// What decides the class of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorClass {
    /// Whether acknowledged writes survive a power cut.
    pub protected: bool,
    /// How it is connected.
    pub interface: Interface,
    /// Bits of its cells.
    pub cells: Cells,
    /// Its maker, if several families of it are known.
    pub maker: Option<&'static str>,
}

impl PriorClass {
    /// Of the drive that facts describe.
    pub fn of(facts: &DatasheetFacts) -> PriorClass {
        PriorClass {
            protected: facts.protected,
            interface: facts.interface,
            cells: facts.cells,
            maker: maker(&facts.name),
        }
    }
}

/// The maker that the name of a drive or family begins with.
fn maker(name: &str) -> Option<&'static str> {
    let first = name.split('-').next().unwrap_or_default();
    MAKERS.into_iter().find(|maker| *maker == first)
}

/// What the ledger says of a constant in a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassPrior {
    /// The constant.
    pub constant: PriorConstant,
    /// The class, or [`ANY`].
    pub class: String,
    /// Its median.
    pub median: f64,
    /// Standard deviation of the logarithm, for a drive of another family.
    pub spread: f64,
    /// Drives that it is from.
    pub drives: usize,
    /// Their families.
    pub families: usize,
}

impl ClassPrior {
    /// The value at `z` standard deviations from the median.
    pub fn at(&self, z: f64) -> f64 {
        self.median * (z * self.spread).exp()
    }

    /// The interval within which four of five lie.
    pub fn interval(&self) -> (f64, f64) {
        (self.at(-TENTH), self.at(TENTH))
    }
}

/// The file `ledger/prior.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DraftPrior {
    /// Version of the program that estimated it, and hash of the catalogue that it had.
    pub code: String,
    /// Hash of the rows of the open families.
    pub data: String,
    /// Seed of the folds and of the draws.
    pub seed: u64,
    /// By constant and class.
    #[serde(rename = "class")]
    pub classes: Vec<ClassPrior>,
}

static BUILT_IN: LazyLock<DraftPrior> = LazyLock::new(|| {
    let prior = DraftPrior::from_text(include_str!("../../../../ledger/prior.toml"));
    prior.expect("ledger/prior.toml; `ssdlab ledger fit --out ledger/prior.toml` writes it again")
});

impl DraftPrior {
    /// The one that comes with ssdlab.
    pub fn built_in() -> &'static DraftPrior {
        &BUILT_IN
    }

    /// The one in the text of a file.
    ///
    /// # Errors
    /// When it has a constant that is not known, or lacks anything: drafts without their prior
    /// would be far off, and nobody would see why.
    pub fn from_text(text: &str) -> Result<DraftPrior, toml::de::Error> {
        toml::from_str(text)
    }

    /// One that knows nothing: drafts are as they were before there was a prior.
    pub fn none() -> DraftPrior {
        DraftPrior {
            code: String::new(),
            data: String::new(),
            seed: 0,
            classes: Vec::new(),
        }
    }

    /// What it says of a constant of a drive, if anything.
    pub fn of(&self, constant: PriorConstant, drive: PriorClass) -> Option<&ClassPrior> {
        let named = |class: &String| {
            let is_it = |prior: &&ClassPrior| prior.constant == constant && prior.class == *class;
            self.classes.iter().find(is_it)
        };
        let mut classes = constant.classes(drive);
        if drive.cells == Cells::Slc {
            // Cells of one bit are unlike all others.
            classes.pop();
        }
        classes.iter().find_map(named)
    }

    /// The same with commits that take no time of the controller: programs alone.
    pub fn with_instant_commits(&self) -> DraftPrior {
        let mut prior = self.clone();
        let is_of_commits =
            |constant| matches!(constant, PriorConstant::FlushTime | PriorConstant::FuaTime);
        prior.classes.retain(|class| !is_of_commits(class.constant));
        let instant = ["protected", "unprotected"].map(|class| ClassPrior {
            constant: PriorConstant::FlushTime,
            class: class.to_owned(),
            median: 0.0,
            spread: 0.0,
            drives: 0,
            families: 0,
        });
        prior.classes.extend(instant);
        prior
    }

    /// The constants of a drive, each `z(constant)` standard deviations from its median.
    pub fn constants(
        &self,
        drive: PriorClass,
        z: impl Fn(PriorConstant) -> f64,
    ) -> EstimatedConstants {
        let mut constants = EstimatedConstants::default();
        for constant in PriorConstant::ALL {
            if let Some(prior) = self.of(constant, drive) {
                let estimate = Estimate {
                    value: prior.at(z(constant)),
                    source: source(prior),
                };
                constants.0.insert(constant, estimate);
            }
        }
        constants
    }
}

/// An estimated constant, and what it is estimated from.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Its value.
    pub value: f64,
    /// In words.
    pub source: String,
}

/// Constants of one drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EstimatedConstants(BTreeMap<PriorConstant, Estimate>);

impl EstimatedConstants {
    /// One of them, if it is known.
    pub fn get(&self, constant: PriorConstant) -> Option<&Estimate> {
        self.0.get(&constant)
    }

    /// Gives one a value.
    pub fn set(&mut self, constant: PriorConstant, value: f64, source: &str) {
        let source = source.to_owned();
        self.0.insert(constant, Estimate { value, source });
    }
}

fn source(prior: &ClassPrior) -> String {
    let (low, high) = prior.interval();
    let of_class = if prior.class == ANY {
        "of any class".to_owned()
    } else {
        prior.class.clone()
    };
    format!(
        "{} estimated from the ledger: {} drives of {} families, {of_class}; median {}, 80 % \
         within {} to {}",
        prior.constant.name(),
        prior.drives,
        prior.families,
        digits(prior.median),
        digits(low),
        digits(high)
    )
}

/// Three significant digits, without an exponent.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read_and_every_number_of_it_is_sane() {
        let prior = DraftPrior::built_in();
        assert!(!prior.classes.is_empty() && !prior.data.is_empty());
        for class in &prior.classes {
            assert!(class.median > 0.0 && class.spread > 0.0, "{class:?}");
            assert!(
                class.spread < 3.0 && class.families <= class.drives,
                "{class:?}"
            );
        }
    }

    /// A constant was renamed, the file still had the old name, and every draft was made without
    /// any prior, with no word of it.
    #[test]
    fn a_file_with_a_constant_that_is_no_more_is_refused() {
        let mut text = include_str!("../../../../ledger/prior.toml").to_owned();
        text += "\n[[class]]\nconstant = \"fua-ratio\"\nclass = \"any\"\nmedian = 6.4\n\
                 spread = 2.0\ndrives = 2\nfamilies = 1\n";
        let error = DraftPrior::from_text(&text).expect_err("not a constant");
        assert!(error.message().contains("fua-ratio"), "{error}");
    }

    #[test]
    fn a_class_without_drives_of_its_own_has_what_any_has() {
        let class = |class: &str, median| ClassPrior {
            constant: PriorConstant::FlushTime,
            class: class.into(),
            median,
            spread: 0.5,
            drives: 2,
            families: 1,
        };
        let prior = DraftPrior {
            classes: vec![class("unprotected", 10.0), class("unprotected sata", 20.0)],
            ..DraftPrior::none()
        };
        let median = |interface| {
            let drive = PriorClass {
                protected: false,
                interface,
                cells: Cells::Tlc,
                maker: Some("samsung"),
            };
            let constants = prior.constants(drive, |_| 0.0);
            constants.get(PriorConstant::FlushTime).map(|e| e.value)
        };
        assert_eq!(median(Interface::Sata), Some(20.0));
        assert_eq!(median(Interface::Pcie4), Some(10.0));
        let (low, high) = prior.classes[0].interval();
        assert!(low < 10.0 && 10.0 < high && (low * high - 100.0).abs() < 1e-6);
    }
}
