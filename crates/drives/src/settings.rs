//! Parameters of a drive, changed on the command line: `ftl.victim=d-choices:10`, `op=28%`.
//!
//! A setting goes through the drive file's own reader, so that it means what it means there and
//! is refused as it is refused there.

mod keys;

use crate::catalogue::{self, CatalogueDrive};
use keys::ParameterForm::{Decimal, Flag, List, Number, Text};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::quantity::parse_size;
use ssdlab_ssd::geometry::Geometry;

/// Not a parameter of the file: the user capacity that leaves the over-provisioning asked for.
const OP: &str = "op";

/// One parameter and its value, as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveSetting {
    key: String,
    value: String,
}

impl std::fmt::Display for DriveSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// A table of what can be set, for help: `key=example` a line.
pub fn help() -> String {
    let mut lines = vec![format!(
        "{:32} over-provisioning by user capacity",
        "op=28%"
    )];
    lines.extend(
        keys::ALL
            .iter()
            .map(|(key, _, example)| format!("{key}={example}")),
    );
    lines.join("\n")
}

fn bad(key: &str, given: &str, allowed: String, hint: &str) -> LabError {
    LabError::BadValue {
        option: key.into(),
        given: given.into(),
        allowed,
        place: InputLocation::command_line(),
        hint: hint.into(),
    }
}

/// The full name of a parameter given in full or by its last part, where that is one only.
fn full_key(written_key: &str) -> Result<&'static str, LabError> {
    if written_key == OP {
        return Ok(OP);
    }
    let last = |key: &str| {
        key.split_once('.')
            .is_some_and(|(_, last)| last == written_key)
    };
    keys::ALL
        .iter()
        .map(|(key, ..)| *key)
        .find(|key| *key == written_key || last(key))
        .ok_or_else(|| {
            let nearest = match nearest(written_key) {
                Some(key) => format!("did you mean {key}? "),
                None => String::new(),
            };
            LabError::refused(
                format!("a drive has no parameter `{written_key}` that can be set"),
                format!("{nearest}`ssdlab simulate --list-settings` lists all"),
            )
        })
}

/// The parameter whose full name, or last part, is most like `given`, if one is.
fn nearest(given: &str) -> Option<&'static str> {
    /// Similarity below which a name is not a likely misspelling.
    const LIKELY: f64 = 0.85;
    let likeness = |key: &str| {
        let last = key.split_once('.').map_or(key, |(_, last)| last);
        strsim::jaro_winkler(given, key).max(strsim::jaro_winkler(given, last))
    };
    let keys = keys::ALL.iter().map(|(key, ..)| (likeness(key), *key));
    let best = keys.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= LIKELY).then_some(best.1)
}

impl DriveSetting {
    /// Reads `key=value`.
    ///
    /// # Errors
    /// When there is no such parameter, or the value is of another form.
    pub fn parse(text: &str) -> Result<DriveSetting, LabError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(bad(
                "--set",
                text,
                "key=value is allowed".into(),
                "such as --set ftl.victim=d-choices:10 or --set op=28%",
            ));
        };
        DriveSetting::new(key.trim(), value.trim())
    }

    /// A parameter, by its name in full or its last part, and its value.
    ///
    /// # Errors
    /// As [`DriveSetting::parse`].
    pub fn new(key: &str, value: &str) -> Result<DriveSetting, LabError> {
        let setting = DriveSetting {
            key: full_key(key)?.into(),
            value: value.into(),
        };
        if setting.key == OP {
            setting.op()?;
        } else {
            setting.toml()?;
        }
        Ok(setting)
    }

    /// The parameter's full name.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its value, as given.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// OP as a ratio.
    fn op(&self) -> Result<f64, LabError> {
        let number = self.value.strip_suffix('%').unwrap_or(&self.value).trim();
        match number.parse::<f64>() {
            Ok(op) if (0.0..=10_000.0).contains(&op) => Ok(op / 100.0),
            _ => Err(bad(
                OP,
                &self.value,
                "a percentage such as 28% is allowed: (raw - user) / user".into(),
                "the spare factor, (raw - user) / raw, is another number",
            )),
        }
    }

    fn toml(&self) -> Result<toml::Value, LabError> {
        let &(_, form, example) = keys::ALL
            .iter()
            .find(|(key, ..)| *key == self.key)
            .unwrap_or(&("", Text, ""));
        let wrong = |problem: &str| {
            bad(
                &self.key,
                &self.value,
                format!("{problem} is allowed, such as {example}"),
                "`ssdlab drives show NAME` lists a drive's parameters",
            )
        };
        match form {
            Number => match self.value.parse::<u32>() {
                Ok(number) => Ok(i64::from(number).into()),
                Err(_) => Err(wrong("a whole number up to 4294967295")),
            },
            Decimal => match self.value.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number.into()),
                _ => Err(wrong("a number")),
            },
            Flag => match self.value.as_str() {
                "true" | "yes" | "on" => Ok(true.into()),
                "false" | "no" | "off" => Ok(false.into()),
                _ => Err(wrong("true or false")),
            },
            Text if self.value.is_empty() => Err(wrong("a value")),
            Text => Ok(spaced(&self.value).into()),
            List => {
                let items: Vec<&str> = self.value.split(',').map(str::trim).collect();
                if items.iter().any(|item| item.is_empty()) {
                    return Err(wrong("a list"));
                }
                Ok(toml::Value::Array(
                    items.into_iter().map(|item| spaced(item).into()).collect(),
                ))
            }
        }
    }
}

/// `400MB/s` and `56.5us` as drive files write them.
fn spaced(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    match end {
        Some(end) if end > 0 && !text[end..].starts_with([' ', ':']) => {
            format!("{} {}", &text[..end], &text[end..])
        }
        _ => text.to_owned(),
    }
}

/// The drive with `settings`; later ones win, and `op` is applied last.
///
/// # Errors
/// When a value is not allowed, or the drive is not possible with it.
pub fn apply(
    drive: &CatalogueDrive,
    settings: &[DriveSetting],
) -> Result<CatalogueDrive, LabError> {
    if settings.is_empty() {
        return Ok(drive.clone());
    }
    let unreadable =
        |error: String| LabError::refused(format!("changing the drive's parameters: {error}"), "");
    let mut table =
        toml::Table::try_from(&drive.file).map_err(|error| unreadable(error.to_string()))?;
    for setting in settings.iter().filter(|setting| setting.key != OP) {
        put(&mut table, &setting.key, setting.toml()?);
    }
    if let Some(op) = settings.iter().rev().find(|setting| setting.key == OP) {
        let user = user_bytes(&table, op)?;
        put(&mut table, "capacity.user", format!("{user} B").into());
    }
    let text = toml::to_string(&table).map_err(|error| unreadable(error.to_string()))?;
    let assignments: Vec<String> = settings.iter().map(DriveSetting::to_string).collect();
    let source = format!(
        "{} with --set {}",
        drive.file.name,
        assignments.join(" --set ")
    );
    catalogue::parse(&text, &source)
}

fn put(table: &mut toml::Table, key: &str, value: toml::Value) {
    let Some((name, key)) = key.split_once('.') else {
        return;
    };
    let mut sourced = toml::Table::new();
    sourced.insert("value".into(), value);
    sourced.insert("kind".into(), "assumed".into());
    sourced.insert("source".into(), "--set on the command line".into());
    let inner = table
        .entry(name)
        .or_insert_with(|| toml::Table::new().into());
    if let Some(inner) = inner.as_table_mut() {
        inner.insert(key.into(), sourced.into());
    }
}

/// User capacity that leaves the over-provisioning wished for, in whole mapping units.
fn user_bytes(table: &toml::Table, op: &DriveSetting) -> Result<u64, LabError> {
    let value = |table_name: &str, key: &str| table.get(table_name)?.get(key)?.get("value");
    let number = |key: &str| {
        let number = value("nand", key).and_then(toml::Value::as_integer);
        u32::try_from(number.unwrap_or(0)).unwrap_or(0)
    };
    let size = |table_name: &str, key: &str| {
        let text = value(table_name, key).and_then(toml::Value::as_str);
        parse_size(text.unwrap_or("")).map(|bytes| u32::try_from(bytes).unwrap_or(0))
    };
    let raw = [
        "channels",
        "dies_per_channel",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
    ]
    .iter()
    .fold(u64::from(size("nand", "page")?), |product, key| {
        product.saturating_mul(number(key).into())
    });
    let unit = u64::from(size("ftl", "mapping_unit")?).max(1);
    Ok((raw as f64 / (1.0 + op.op()?)) as u64 / unit * unit)
}

/// Raw capacity in bytes.
pub fn raw_bytes(drive: &CatalogueDrive) -> u64 {
    Geometry::new(drive.config.shape).raw_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> CatalogueDrive {
        catalogue::drive("consumer-sata-1tb").unwrap()
    }

    fn set(all: &[&str]) -> Result<CatalogueDrive, LabError> {
        let settings: Result<Vec<_>, _> =
            all.iter().map(|text| DriveSetting::parse(text)).collect();
        apply(&drive(), &settings?)
    }

    /// A drive that has the table of a key.
    fn drive_with(key: &str) -> CatalogueDrive {
        if key.starts_with("heat") {
            catalogue::drive("tlc-client-nvme-1tb-no-fan").unwrap()
        } else {
            drive()
        }
    }

    #[test]
    fn every_example_can_be_read() {
        for (key, _, example) in keys::ALL {
            let setting = DriveSetting::parse(&format!("{key}={example}")).unwrap();
            let mut table = toml::Table::try_from(&drive_with(key).file).unwrap();
            put(&mut table, key, setting.toml().unwrap());
            let text = toml::to_string(&table).unwrap();
            // The drive may be impossible with it, but the file is understood.
            if let Err(error) = catalogue::parse(&text, "x.toml") {
                let said = error.to_string();
                assert!(!said.contains("drive file"), "{key}: {said}");
                assert!(!said.contains(&format!("`{key}`")), "{key}: {said}");
            }
        }
    }

    #[test]
    fn every_parameter_of_a_drive_can_be_set() {
        for table in ["capacity", "nand", "ftl", "buffer", "host", "heat", "wear"] {
            let text = format!("{}\n", toml::to_string(&drive_with(table).file).unwrap());
            let text = text.replacen(
                &format!("[{table}."),
                &format!("[{table}.nonesuch.x]\n[{table}."),
                1,
            );
            let said = catalogue::parse(&text, "x").unwrap_err().to_string();
            let known = said
                .split("allowed here: ")
                .nth(1)
                .unwrap_or_else(|| panic!("{said}"));
            for field in known.split('`').skip(1).step_by(2) {
                let key = format!("{table}.{field}");
                assert!(
                    keys::ALL.iter().any(|(k, ..)| *k == key),
                    "{key} cannot be set"
                );
            }
        }
    }

    #[test]
    fn over_provisioning_is_met_within_a_mapping_unit() {
        for op in [7.0, 12.0, 28.0, 50.0] {
            let drive = set(&[&format!("op={op}%")]).unwrap();
            let unit = f64::from(drive.config.shape.slot_bytes);
            let off = (drive.config.nominal_op() - op / 100.0) * drive.config.user_bytes as f64;
            assert!((0.0..2.0 * unit).contains(&off), "{op}: {off}");
        }
    }

    #[test]
    fn settings_reach_the_model_by_full_and_by_short_name() {
        let drive = set(&[
            "ftl.victim=d-choices:4",
            "streams=2",
            "op=28%",
            "nand.erase=4ms",
            "program=1ms,2ms,3ms",
            "separation=lifespan",
            "free_superblocks_low=6",
        ])
        .unwrap();
        assert_eq!(drive.config.ftl.reclaim.victim.to_string(), "d-choices:4");
        assert_eq!(drive.config.ftl.reclaim.streams, 2);
        assert_eq!(drive.config.nand.timing.program[2].0, 3_000_000);
        let changed = drive
            .parameters()
            .into_iter()
            .filter(|p| p.source.contains("--set"));
        assert_eq!(changed.count(), 7);
    }

    #[test]
    fn mistakes_are_named_with_what_is_allowed() {
        for (given, expected) in [
            ("victim", "key=value"),
            ("bananas=1", "no parameter `bananas`"),
            ("ftl.victim=lru", "no victim policy `lru`"),
            ("d=3", "no parameter `d`"),
            ("ftl.victim=d-choices:0", "1 to 10000"),
            ("streams=many", "a whole number"),
            ("streams=9", "1 to 8"),
            ("parity=perhaps", "true or false"),
            ("op=much", "a percentage"),
            ("op=-3%", "a percentage"),
            ("op=0%", "raw capacity is"),
            ("capacity.user=2TB", "raw capacity is"),
            ("nand.page=16 bananas", "16 bananas"),
            ("nand.read=1us,,2us", "a list"),
        ] {
            let error = set(&[given]).unwrap_err();
            let said = error.to_string();
            assert!(said.contains(expected), "{given}: {said}");
            assert!(!error.advice().is_empty(), "{given}");
        }
    }
}
