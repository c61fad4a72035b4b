//! Databases with workload and check, by name: `databases.toml` and scripts, part of this program.

use super::tools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::path::Path;

const STORES: &str = include_str!("../../presets/stores.py");
const SQLITE_FILL: &str = include_str!("../../../../examples/crashtest/sqlite-fill.sh");
const SQLITE_VERIFY: &str = include_str!("../../../../examples/crashtest/sqlite-verify.sh");

/// What the authors of a database say of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilityClaim {
    /// Every acknowledged transaction is there.
    Keeps,
    /// Acknowledged transactions may be lost, and nothing is damaged.
    Loses,
    /// They may be lost, and the database may be damaged.
    Damages,
}

/// A setting of a database.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetSetting {
    /// Its name.
    pub setting: String,
    /// Variables of the scripts for it.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What its authors promise.
    pub published: DurabilityClaim,
    /// Their words in short.
    pub says: String,
    /// Smallest share of cuts at which it loses something.
    #[serde(default)]
    pub share: f64,
    /// One run need not show the loss.
    #[serde(default)]
    pub rare: bool,
    /// Part of every run of continuous integration.
    #[serde(default)]
    pub ci: bool,
}

/// A database.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabasePreset {
    /// The name on the command line; the key of the file.
    #[serde(skip_deserializing)]
    pub key: String,
    /// The name of the database.
    pub name: String,
    /// The program or Python module that it needs.
    pub needs: String,
    /// How to install that.
    pub install: String,
    /// Bytes of the drive, if not the usual number.
    #[serde(default)]
    pub size: Option<String>,
    /// Where its authors say so.
    pub source: String,
    /// Its settings; the first that keeps everything is the default.
    #[serde(rename = "row")]
    pub rows: Vec<PresetSetting>,
}

/// Every preset, in order of names.
///
/// # Panics
/// Never: a test reads the file.
pub fn presets() -> Vec<DatabasePreset> {
    let text = include_str!("../../presets/databases.toml");
    let by_name: BTreeMap<String, DatabasePreset> = toml::from_str(text).expect("valid presets");
    let named = |(key, preset): (String, DatabasePreset)| DatabasePreset { key, ..preset };
    by_name.into_iter().map(named).collect()
}

/// The preset and setting of `NAME` or `NAME:SETTING`. Part of a setting is enough, if only one has
/// it.
///
/// # Errors
/// When no preset has that name.
pub fn chosen(text: &str) -> Result<(DatabasePreset, PresetSetting), LabError> {
    let (name, setting) = text.split_once(':').unwrap_or((text, ""));
    let available = presets();
    let preset_found = available.iter().find(|preset| preset.key == name);
    let preset = preset_found.cloned().ok_or_else(|| {
        let names: Vec<&str> = available.iter().map(|preset| preset.key.as_str()).collect();
        LabError::refused(
            format!("`{name}` is no preset"),
            format!("presets are {}", names.join(", ")),
        )
    })?;
    let rows = &preset.rows;
    let exact = rows.iter().find(|row| row.setting == setting);
    let mut like = rows.iter().filter(|row| row.setting.contains(setting));
    let row = match (setting, exact) {
        (_, Some(row)) => Some(row),
        ("", None) => rows
            .iter()
            .find(|row| row.published == DurabilityClaim::Keeps),
        _ => like.next().filter(|_| like.next().is_none()),
    };
    let row = row.cloned().ok_or_else(|| {
        let names: Vec<String> = rows
            .iter()
            .map(|row| format!("`{}`", row.setting))
            .collect();
        LabError::refused(
            format!("{name} has not one setting `{setting}`"),
            format!("its settings are {}", names.join("; ")),
        )
    })?;
    Ok((preset, row))
}

/// Bytes of the drive that a preset asks for, in words; `None`: the usual number.
///
/// # Errors
/// When it is unknown or not installed.
pub fn preset_size(text: &str) -> Result<Option<String>, LabError> {
    let (preset, _) = chosen(text)?;
    preset.check_installed()?;
    Ok(preset.size)
}

impl DatabasePreset {
    /// Whether it is SQLite, whose scripts need no Python.
    fn is_of_shell(&self) -> bool {
        self.key == "sqlite"
    }

    /// Refuses a database that is not installed.
    ///
    /// # Errors
    /// When it, or Python, is missing.
    pub fn check_installed(&self) -> Result<(), LabError> {
        let refused = |needs: &str, hint: &str| {
            LabError::refused(format!("the preset {} needs {needs}", self.key), hint)
        };
        if !self.is_of_shell() && !tools::is_there("python3") {
            return Err(refused("python3", "apt-get install python3"));
        }
        let is_postgres = self.needs == "initdb" && has_postgres();
        if is_postgres || tools::is_there(&self.needs) || has_module(&self.needs) {
            return Ok(());
        }
        Err(refused(&self.needs, &self.install))
    }

    /// Writes its script into a folder; returns the command that runs it.
    pub(crate) fn write(
        &self,
        row: &PresetSetting,
        is_work: bool,
        folder: &Path,
    ) -> Result<Vec<String>, LabError> {
        let task = if is_work { "fill" } else { "check" };
        let (name, text) = match (self.is_of_shell(), is_work) {
            (true, true) => ("fill.sh", SQLITE_FILL),
            (true, false) => ("verify.sh", SQLITE_VERIFY),
            (false, _) => ("stores.py", STORES),
        };
        let path = folder.join(name);
        tools::write_script(&path, text)?;
        let path = path.display().to_string();
        Ok(if self.is_of_shell() {
            vec!["sh".into(), path]
        } else {
            let words = ["python3", "-B", &path, task, &self.key, &row.setting];
            words.map(str::to_owned).to_vec()
        })
    }
}

/// Whether Debian's PostgreSQL is installed, whose programs are in no `PATH`.
fn has_postgres() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    versions
        .flatten()
        .any(|version| version.path().join("bin/initdb").is_file())
}

/// Whether `python3` has a module.
fn has_module(name: &str) -> bool {
    let mut python = tools::command("python3");
    let output = tools::output(python.args(["-c", &format!("import {name}")]));
    output.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_names_and_a_safe_default() {
        let names: Vec<String> = presets().into_iter().map(|preset| preset.key).collect();
        assert_eq!(
            names,
            [
                "duckdb", "leveldb", "lmdb", "postgres", "redis", "rocksdb", "sqlite"
            ]
        );
        for name in &names {
            let (_, row) = chosen(name).expect("a default");
            assert_eq!(row.published, DurabilityClaim::Keeps, "{name}");
        }
        let (_, row) = chosen("sqlite:WAL, synchronous=FULL").expect("one setting");
        assert_eq!(row.setting, "journal_mode=WAL, synchronous=FULL");
        for bad in ["sqlite:WAL", "sqlite:none", "oracle"] {
            assert!(!chosen(bad).expect_err(bad).advice().is_empty());
        }
    }
}
