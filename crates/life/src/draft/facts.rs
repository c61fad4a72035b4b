//! What a data sheet says of a drive, and how it is asked for.

use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_drives::catalogue::Provenance;
use ssdlab_ssd::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// How the drive is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    /// SATA, 6 Gb/s.
    Sata,
    /// SAS, 12 Gb/s, one port.
    Sas,
    /// PCIe 3.0 with four lanes, NVMe.
    #[default]
    Pcie3,
    /// PCIe 4.0 with four lanes, NVMe.
    Pcie4,
    /// PCIe 5.0 with four lanes, NVMe.
    Pcie5,
}

/// Years of warranty where the sheet gives drive writes per day without them: usual for drives that
/// are rated so.
pub(super) const YEARS_USUAL: u32 = 5;

/// Bits of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// One bit: SLC, and its fast kinds (XL-FLASH, Z-NAND).
    Slc,
    /// Two bits.
    Mlc,
    /// Three bits.
    #[default]
    Tlc,
    /// Four bits.
    Qlc,
}

/// Class of JESD218.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftClass {
    /// Consumer drives.
    Client,
    /// Data-centre drives.
    Enterprise,
}

/// Where the map is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapLocation {
    /// In DRAM of the drive, all of it.
    #[default]
    Dram,
    /// On media, its part in use in memory of the host (HMB).
    Host,
}

/// What the sheet says. Rates in bytes or commands per second, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The questions say what each one is.
pub struct DatasheetFacts {
    pub name: String,
    pub title: Option<String>,
    pub source: String,
    /// Bytes, and the decimal GB that the sheet rounds them to where it gives no more.
    pub capacity: u64,
    pub interface: Interface,
    pub protected: bool,
    pub class: Option<DraftClass>,
    pub cells: Cells,
    pub map: MapLocation,
    pub raw: Option<u64>,
    pub dram: Option<u64>,
    pub random_read: Option<u32>,
    pub random_write: Option<u32>,
    pub mixed: Option<u32>,
    pub depth: Option<u32>,
    pub span: Option<u64>,
    pub sequential_read: Option<u64>,
    pub sequential_write: Option<u64>,
    pub read_latency: Option<Nanos>,
    pub write_latency: Option<Nanos>,
    pub random_read_latency: Option<Nanos>,
    pub rated_writes: Option<u64>,
    pub dwpd: Option<f64>,
    pub years: Option<u32>,
    pub slc: Option<u64>,
    pub slc_empty: Option<u64>,
    pub direct_write: Option<u64>,
    /// Facts that are not from `source`: their kind and where from.
    pub others: BTreeMap<&'static str, (Provenance, String)>,
    /// Facts that a draft has taken from measured drives.
    pub(super) estimated: BTreeSet<&'static str>,
}

/// One fact: its key (the option's name), and the question of the form.
pub struct DraftQuestion {
    /// Name of the option.
    pub key: &'static str,
    /// As the form asks.
    pub text: &'static str,
    /// Without it there is no draft.
    pub needed: bool,
    set: fn(&mut DatasheetFacts, &str) -> Result<(), String>,
}

macro_rules! question {
    ($key:literal, $needed:literal, $text:literal, $set:expr) => {
        DraftQuestion {
            key: $key,
            text: $text,
            needed: $needed,
            set: $set,
        }
    };
}

/// Every fact, in the order of the form.
pub const QUESTIONS: &[DraftQuestion] = &[
    question!(
        "name",
        true,
        "name of the file, such as maker-model-960gb",
        name
    ),
    question!(
        "title",
        false,
        "maker, model and capacity, for lists",
        |f, t| {
            f.title = Some(t.to_owned());
            Ok(())
        }
    ),
    question!(
        "source",
        true,
        "where the facts are from, for every value",
        |f, t| {
            f.source = t.to_owned();
            Ok(())
        }
    ),
    question!("capacity", true, "capacity, such as 960GB", |f, t| {
        f.capacity = size(t)?;
        Ok(())
    }),
    question!(
        "interface",
        true,
        "sata, sas, pcie3, pcie4 or pcie5",
        |f, t| {
            f.interface = choice(t, &INTERFACES)?;
            Ok(())
        }
    ),
    question!(
        "protected",
        true,
        "do acknowledged writes survive a power cut: yes or no",
        |f, t| {
            f.protected = choice(t, &[("yes", true), ("no", false)])?;
            Ok(())
        }
    ),
    question!("class", false, "client or enterprise", |f, t| {
        let classes = [
            ("client", DraftClass::Client),
            ("enterprise", DraftClass::Enterprise),
        ];
        f.class = Some(choice(t, &classes)?);
        Ok(())
    }),
    question!(
        "cells",
        false,
        "slc (xl-flash, z-nand), mlc, tlc or qlc",
        |f, t| {
            let cell_kinds = [
                ("slc", Cells::Slc),
                ("xl-flash", Cells::Slc),
                ("z-nand", Cells::Slc),
                ("mlc", Cells::Mlc),
                ("tlc", Cells::Tlc),
                ("qlc", Cells::Qlc),
            ];
            f.cells = choice(t, &cell_kinds)?;
            Ok(())
        }
    ),
    question!(
        "map",
        false,
        "where the map is: dram, or host (no DRAM)",
        |f, t| {
            f.map = choice(
                t,
                &[("dram", MapLocation::Dram), ("host", MapLocation::Host)],
            )?;
            Ok(())
        }
    ),
    question!(
        "raw",
        false,
        "flash on the board, such as 1024GiB",
        |f, t| {
            f.raw = Some(size(t)?);
            Ok(())
        }
    ),
    question!("dram", false, "DRAM on the board", |f, t| {
        f.dram = Some(size(t)?);
        Ok(())
    }),
    question!(
        "random-read",
        false,
        "4 KiB random reads per second",
        |f, t| {
            f.random_read = Some(count(t)?);
            Ok(())
        }
    ),
    question!(
        "random-write",
        false,
        "4 KiB random writes per second",
        |f, t| {
            f.random_write = Some(count(t)?);
            Ok(())
        }
    ),
    question!(
        "mixed",
        false,
        "4 KiB random per second, 70 % reads",
        |f, t| {
            f.mixed = Some(count(t)?);
            Ok(())
        }
    ),
    question!(
        "depth",
        false,
        "commands outstanding for random rates; else 32",
        |f, t| {
            f.depth = Some(count(t)?);
            Ok(())
        }
    ),
    question!(
        "span",
        false,
        "span of random rates, if not the whole drive",
        |f, t| {
            f.span = Some(size(t)?);
            Ok(())
        }
    ),
    question!(
        "sequential-read",
        false,
        "reads in order, such as 3000MB/s",
        |f, t| {
            f.sequential_read = Some(rate(t)?);
            Ok(())
        }
    ),
    question!(
        "sequential-write",
        false,
        "writes in order (into pSLC, if any)",
        |f, t| {
            f.sequential_write = Some(rate(t)?);
            Ok(())
        }
    ),
    question!(
        "read-latency",
        false,
        "4 KiB read in order, one at a time",
        |f, t| {
            f.read_latency = Some(time(t)?);
            Ok(())
        }
    ),
    question!(
        "write-latency",
        false,
        "4 KiB written in order, one at a time",
        |f, t| {
            f.write_latency = Some(time(t)?);
            Ok(())
        }
    ),
    question!(
        "random-read-latency",
        false,
        "4 KiB read at random, one at a time",
        |f, t| {
            f.random_read_latency = Some(time(t)?);
            Ok(())
        }
    ),
    question!(
        "rated-writes",
        false,
        "rated endurance, such as 600TB",
        |f, t| {
            f.rated_writes = Some(size(t)?);
            Ok(())
        }
    ),
    question!(
        "dwpd",
        false,
        "drive writes per day over the warranty",
        |f, t| {
            let number = t.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
            f.dwpd = Some(number.ok_or("a number above 0 is allowed")?);
            Ok(())
        }
    ),
    question!("years", false, "years of warranty", |f, t| {
        f.years = Some(count(t)?);
        Ok(())
    }),
    question!("slc", false, "pSLC cache that is always there", |f, t| {
        f.slc = Some(size(t)?);
        Ok(())
    }),
    question!(
        "slc-empty",
        false,
        "pSLC cache of an empty drive",
        |f, t| {
            f.slc_empty = Some(size(t)?);
            Ok(())
        }
    ),
    question!(
        "direct-write",
        false,
        "writes in order past the pSLC cache",
        |f, t| {
            f.direct_write = Some(rate(t)?);
            Ok(())
        }
    ),
];

const INTERFACES: [(&str, Interface); 5] = [
    ("sata", Interface::Sata),
    ("sas", Interface::Sas),
    ("pcie3", Interface::Pcie3),
    ("pcie4", Interface::Pcie4),
    ("pcie5", Interface::Pcie5),
];

impl Cells {
    /// As facts and classes name them.
    pub const fn name(self) -> &'static str {
        match self {
            Cells::Slc => "slc",
            Cells::Mlc => "mlc",
            Cells::Tlc => "tlc",
            Cells::Qlc => "qlc",
        }
    }
}

/// What is said of a fact that there is not, with the one that is most like it.
fn no_such_fact(given: &str) -> LabError {
    /// Similarity, of 2, below which a name is not a likely misspelling.
    const LIKELY: f64 = 1.5;
    let keys = QUESTIONS.iter().map(|question| question.key);
    // As a whole, or word by word: `seq-read`.
    let by_words = |key: &str| {
        let words = given.split(['-', '_', ' ']);
        let like = |word: &str| {
            let words_of_key = key
                .split('-')
                .map(|other| strsim::jaro_winkler(word, other));
            words_of_key.fold(0.0, f64::max)
        };
        let likes: Vec<f64> = words.map(like).collect();
        likes.iter().sum::<f64>() / likes.len() as f64
    };
    let likeness = |key: &str| strsim::jaro_winkler(given, key) + by_words(key);
    let nearest = keys.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let meant = match nearest.filter(|key| likeness(key) >= LIKELY) {
        Some(key) => format!("; did you mean {key}?"),
        None => String::new(),
    };
    let hint = "`ssdlab drives new --help` lists the facts";
    LabError::refused(format!("there is no fact `{given}`{meant}"), hint)
}

impl DatasheetFacts {
    /// Sets the fact of `key` from text: a value, and where it is not from the sheet
    /// `[SOURCE]` or `[KIND: SOURCE]` behind it, KIND being measured, teardown or assumed.
    ///
    /// # Errors
    /// When there is no such fact, or the text is no value of it.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), LabError> {
        let question = QUESTIONS.iter().find(|question| question.key == key);
        let Some(question) = question else {
            return Err(no_such_fact(key));
        };
        let (value, other) = match text
            .trim()
            .strip_suffix(']')
            .and_then(|t| t.split_once('['))
        {
            Some((value, source)) => (value.trim(), Some(source)),
            None => (text.trim(), None),
        };
        (question.set)(self, value).map_err(|allowed| {
            LabError::refused(format!("{key} `{text}`: {allowed}"), question.text)
        })?;
        if let Some(source) = other {
            let kinds = [
                Provenance::Measured,
                Provenance::Teardown,
                Provenance::Assumed,
            ];
            let named = source.split_once(':');
            let named = named.and_then(|(kind, source)| {
                let kind = kinds.into_iter().find(|k| k.name() == kind.trim())?;
                Some((kind, source.trim().to_owned()))
            });
            let provenance = named.unwrap_or((Provenance::Datasheet, source.trim().to_owned()));
            self.others.insert(question.key, provenance);
        }
        Ok(())
    }

    /// How and where from the fact of `key` is known.
    pub fn known(&self, key: &str) -> (Provenance, &str) {
        match self.others.get(key) {
            Some((kind, source)) => (*kind, source),
            None => (Provenance::Datasheet, &self.source),
        }
    }

    /// Whether the fact of `key` is nobody's, but estimated from measured drives.
    pub(super) fn is_estimated(&self, key: &str) -> bool {
        self.estimated.contains(key)
    }

    /// Years over which its drive writes per day count: given, or as usual.
    pub fn rated_years(&self) -> Option<u32> {
        self.dwpd?;
        Some(self.years.unwrap_or(YEARS_USUAL))
    }

    /// Its class: given, or enterprise if its writes are protected.
    pub fn class(&self) -> DraftClass {
        self.class.unwrap_or(if self.protected {
            DraftClass::Enterprise
        } else {
            DraftClass::Client
        })
    }
}

fn name(facts: &mut DatasheetFacts, text: &str) -> Result<(), String> {
    let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || !text.chars().all(ok) || text.starts_with('-') {
        return Err("lower-case letters, digits and hyphens are allowed".into());
    }
    facts.name = text.to_owned();
    Ok(())
}

fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let chosen = choices.iter().find(|(name, _)| *name == text);
    chosen.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        format!("one of {} is allowed", names.join(", "))
    })
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text).ok().filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a size such as 960GB or 128GiB is allowed".into())
}

fn rate(text: &str) -> Result<u64, String> {
    let rate = text
        .strip_suffix("/s")
        .and_then(|t| parse_size(t.trim()).ok());
    let allowed = "a size per second such as 3200MB/s is allowed";
    rate.filter(|rate| *rate > 0).ok_or_else(|| allowed.into())
}

fn time(text: &str) -> Result<Nanos, String> {
    let time = parse_duration(text).ok().filter(|time| time.0 > 0);
    time.ok_or_else(|| "a time such as 15us is allowed".into())
}

fn count(text: &str) -> Result<u32, String> {
    let text = text.replace(',', "");
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1e3),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((&text[..], 1.0), |millions| (millions, 1e6)),
    };
    // `1.4M` is exact to the last command; `1.4` alone is no count.
    let number = digits
        .trim()
        .parse::<f64>()
        .ok()
        .map(|number| (number * scale).round());
    let is_whole = scale > 1.0 || !digits.contains('.');
    let number = number.filter(|n| is_whole && (1.0..=f64::from(u32::MAX)).contains(n));
    let allowed = "a number such as 540000, 540k or 1.4M is allowed";
    number.map(|n| n as u32).ok_or_else(|| allowed.into())
}
