//! `ssdlab list options`: what is understood of the workload languages.

use crate::failure::CliFailure;
use crate::output::{print, wrap};
use clap::ValueEnum;
use ssdlab_load::{diskspd, fio};

/// A workload language.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum WorkloadLanguage {
    /// fio job files.
    Fio,
    /// DISKSPD command lines.
    Diskspd,
}

/// Lists the options of a workload language.
///
/// # Errors
/// When standard output cannot be written.
pub fn options(language: WorkloadLanguage) -> Result<(), CliFailure> {
    match language {
        WorkloadLanguage::Fio => {
            for option in fio::supported_options() {
                let names: Vec<&str> = std::iter::once(option.name)
                    .chain(option.aliases.iter().copied())
                    .collect();
                entry(&names.join(", "), option.unit, option.what, option.default)?;
            }
        }
        WorkloadLanguage::Diskspd => {
            for option in diskspd::supported_options() {
                entry(
                    &format!("-{}", option.letter),
                    option.unit,
                    option.what,
                    option.default,
                )?;
            }
        }
    }
    Ok(())
}

fn entry(name: &str, unit: &str, what: &str, default: &str) -> Result<(), CliFailure> {
    let head = if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name}  {unit}")
    };
    let default = if default.is_empty() {
        String::new()
    } else {
        format!(" [default: {default}]")
    };
    print(&head)?;
    for line in wrap(&format!("{what}{default}"), 74) {
        print(&format!("      {line}"))?;
    }
    Ok(())
}
