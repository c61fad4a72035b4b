//! `ssdlab drives`: the catalogue.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, wrap};
use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::{CatalogueDrive, Checked, DriveFile, Kind, derived};
use ssdlab_view::units::decimal_bytes;

/// `ssdlab drives`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab drives list
  ssdlab drives show intel-dc-s3700-200gb
  ssdlab drives check my-drive.toml")]
pub struct Drives {
    /// What to do.
    #[command(subcommand)]
    pub action: DrivesAction,
}

/// `ssdlab drives ...`.
#[derive(Subcommand, Debug)]
pub enum DrivesAction {
    /// Every drive of the catalogue.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check drive files: units, arithmetic, sources, the rules of families.
    ///
    /// Raw capacity must follow from the array's shape, drive writes per day from rated writes and
    /// warranty; every value must have a source; a family has at most three calibrated constants,
    /// and its members differ only in what its base names.
    Check {
        /// Drive files; without any, the whole catalogue.
        files: Vec<String>,
    },
    /// One drive: every parameter with its kind and source.
    Show {
        /// Name, or a .toml file.
        name: String,
        /// As JSON.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// As a complete drive file, to start your own from.
        #[arg(long)]
        toml: bool,
    },
}

/// Lists or shows drives.
///
/// # Errors
/// When a drive is unknown or its file wrong.
pub fn drives(action: &DrivesAction) -> Result<Exit, Failure> {
    match action {
        DrivesAction::List { json } => list(*json)?,
        DrivesAction::Check { files } => return check(files),
        DrivesAction::Show { name, json, toml } => show(name, *json, *toml)?,
    }
    Ok(Exit::Good)
}

fn list(json: bool) -> Result<(), Failure> {
    let drives = families()?;
    if json {
        let rows: Vec<_> = drives
            .iter()
            .flatten()
            .map(|d| {
                serde_json::json!({
                    "name": d.file.name,
                    "family": d.family(),
                    "title": d.file.title,
                    "interface": d.file.interface,
                    "user_bytes": d.config.user_bytes,
                    "power_loss_protection": d.file.documented.power_loss_protection.value,
                    "rated_bytes_written": d.rated_bytes_written(),
                    "drive_writes_per_day": d.dwpd(),
                })
            })
            .collect();
        return print_json(&rows);
    }
    for members in &drives {
        if let Some(first) = members.first() {
            let family = first.file.family.as_ref();
            let title = family.map_or(&first.file.title, |family| &family.title);
            for line in wrap(title, 78) {
                print(&line)?;
            }
        }
        for d in members {
            print(&line_of(d))?;
        }
        print("")?;
    }
    print("`ssdlab drives show NAME` gives every parameter with its source.")
}

/// One drive in a line of at most 80 columns.
fn line_of(d: &CatalogueDrive) -> String {
    let protected = if d.file.documented.power_loss_protection.value {
        "PLP"
    } else {
        "-"
    };
    let rated = d.file.documented.rated_writes.as_ref();
    let rated = rated.map_or("-", |rated| rated.value.as_str());
    let dwpd = d
        .dwpd()
        .map_or(String::new(), |dwpd| format!("{dwpd:.2} DWPD"));
    format!(
        "  {:28} {:>8}  {:5} {protected:4} {rated:>8}  {dwpd}",
        d.file.name,
        decimal_bytes(d.config.user_bytes as f64),
        d.file.interface,
    )
    .trim_end()
    .to_owned()
}

/// The catalogue by families, members from small to large.
fn families() -> Result<Vec<Vec<CatalogueDrive>>, Failure> {
    let mut families: Vec<Vec<CatalogueDrive>> = Vec::new();
    for name in catalogue::names()? {
        let drive = catalogue::drive(&name)?;
        let found = families.iter_mut().find(|members| {
            members
                .first()
                .is_some_and(|first| first.family() == drive.family())
        });
        match found {
            Some(members) => members.push(drive),
            None => families.push(vec![drive]),
        }
    }
    for members in &mut families {
        members.sort_by_key(|d| d.config.user_bytes);
    }
    Ok(families)
}

/// Checks files, or the whole catalogue when none is named.
fn check(files: &[String]) -> Result<Exit, Failure> {
    let mut wrong = 0;
    let mut report = |name: &str, result: Result<Checked, LabError>| -> Result<(), Failure> {
        match result {
            Ok(c) => {
                let dwpd = c
                    .dwpd
                    .map_or(String::new(), |dwpd| format!("  {dwpd:.2} DWPD"));
                let raw = ssdlab_ssd::Bytes(c.raw_bytes).to_string();
                print(&format!(
                    "ok    {name:28} raw {raw:>10}  OP {:5.1} %{dwpd}",
                    c.op * 100.0
                ))
            }
            Err(error) => {
                wrong += 1;
                print(&format!("WRONG {error}"))?;
                let hint = error.advice();
                if hint.is_empty() {
                    return Ok(());
                }
                print(&format!("      hint: {hint}"))
            }
        }
    };
    if files.is_empty() {
        for (file, text) in catalogue::files() {
            let name = file.strip_suffix(".toml").unwrap_or(file);
            let checked =
                catalogue::parse(text, file).and_then(|drive| catalogue::check(&drive, text, file));
            report(name, checked)?;
        }
    }
    for file in files {
        let checked = catalogue::read(file)
            .and_then(|text| Ok((catalogue::parse(&text, file)?, text)))
            .and_then(|(drive, text)| catalogue::check(&drive, &text, file));
        report(file, checked)?;
    }
    if files.is_empty() && wrong == 0 {
        for members in families()? {
            let all: Vec<&CatalogueDrive> = members.iter().collect();
            let family = all.first().map_or("", |first| first.family());
            catalogue::check_family(family, &all)?;
        }
    }
    Ok(if wrong == 0 { Exit::Good } else { Exit::Error })
}

fn show(name: &str, json: bool, toml: bool) -> Result<(), Failure> {
    let drive = catalogue::open(name)?;
    if toml {
        // With all values in it the file is no member of a family, which may differ in few.
        let whole = DriveFile {
            base: None,
            ..drive.file
        };
        let text = toml::to_string_pretty(&whole)
            .map_err(|error| LabError::refused(format!("writing TOML: {error}"), ""))?;
        return print(&text);
    }
    let derived = derived(&drive.config);
    if json {
        return print_json(&serde_json::json!({
            "name": drive.file.name,
            "title": drive.file.title,
            "parameters": drive.parameters(),
            "derived": derived.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        }));
    }
    print(&format!("{}\n{}\n", drive.file.name, drive.file.title))?;
    for p in drive.parameters() {
        let kind = match p.kind {
            Kind::Calibrated => format!("calibrated to {}", p.fitted_to.join(", ")),
            kind => kind.name().to_owned(),
        };
        print(&format!("{} = {}  [{kind}]", p.key, p.value))?;
        for line in wrap(&p.source, 74) {
            print(&format!("      {line}"))?;
        }
    }
    print("\nFrom this follow:")?;
    for (name, value) in derived {
        print(&format!("  {name:20} {value}"))?;
    }
    Ok(())
}
