//! The catalogue as text and JSON.

use super::check::{CatalogueCheck, check, check_family};
pub use super::documents::{DriveDescription, DriveSummary};
use super::drive::CatalogueDrive;
use super::file::DriveFile;
use super::read;
use super::resolve::derived;
use super::sourced::Provenance;
use super::standing::DatasheetStanding;
use ssdlab_base::LabError;
use ssdlab_view::text::wrap;
use ssdlab_view::units::decimal_bytes;

/// Every drive as JSON.
///
/// # Errors
/// Never for a released build: a test loads every file.
pub fn list_json() -> Result<Vec<DriveSummary>, LabError> {
    let row = |d: &CatalogueDrive| DriveSummary {
        name: d.file.name.clone(),
        family: d.family().to_owned(),
        title: d.file.title.clone(),
        interface: d.file.interface.clone(),
        user_bytes: d.config.user_bytes,
        power_loss_protection: d.file.documented.power_loss_protection.value,
        rated_bytes_written: d.rated_bytes_written(),
        drive_writes_per_day: d.dwpd(),
        meets_its_sheet: DatasheetStanding::of(&d.file.name).cell(),
    };
    Ok(families()?.iter().flatten().map(row).collect())
}

/// Every drive in a line, family by family.
///
/// # Errors
/// As [`list_json`].
pub fn list() -> Result<String, LabError> {
    let mut out = String::new();
    for members in &families()? {
        if let Some(first) = members.first() {
            let family = first.file.family.as_ref();
            let title = family.map_or(&first.file.title, |family| &family.title);
            for line in wrap(title, 78) {
                out += &format!("{line}\n");
            }
        }
        for drive in members {
            out += &format!("{}\n", line_of(drive));
        }
        out.push('\n');
    }
    out += DatasheetStanding::MARKS;
    Ok(out + "`ssdlab drives show NAME` gives every parameter with its source.\n")
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
        format!(
            "{}{}",
            d.file.name,
            DatasheetStanding::of(&d.file.name).mark()
        ),
        decimal_bytes(d.config.user_bytes as f64),
        d.file.interface,
    )
    .trim_end()
    .to_owned()
}

/// The catalogue by families, members from small to large.
fn families() -> Result<Vec<Vec<CatalogueDrive>>, LabError> {
    let mut families: Vec<Vec<CatalogueDrive>> = Vec::new();
    for name in read::names()? {
        let drive = read::drive(&name)?;
        let family = families.iter_mut().find(|members| {
            members
                .first()
                .is_some_and(|first| first.family() == drive.family())
        });
        match family {
            Some(members) => members.push(drive),
            None => families.push(vec![drive]),
        }
    }
    for members in &mut families {
        members.sort_by_key(|d| d.config.user_bytes);
    }
    Ok(families)
}

/// A check of drive files.
pub struct CheckReport {
    /// A line or two for each file.
    pub text: String,
    /// Number of files that are wrong.
    pub wrong: usize,
}

impl CheckReport {
    fn add(&mut self, name: &str, result: Result<CatalogueCheck, LabError>) {
        match result {
            Ok(c) => {
                let dwpd = c.dwpd.map(|dwpd| format!("  {dwpd:.2} DWPD"));
                let raw = ssdlab_ssd::Bytes(c.raw_bytes).to_string();
                self.text += &format!(
                    "ok    {name:28} raw {raw:>10}  OP {:5.1} %{}\n",
                    c.op * 100.0,
                    dwpd.unwrap_or_default()
                );
            }
            Err(error) => {
                self.wrong += 1;
                self.text += &format!("WRONG {error}\n");
                if !error.advice().is_empty() {
                    self.text += &format!("      hint: {}\n", error.advice());
                }
            }
        }
    }
}

/// Checks files, or the whole catalogue and its families when `files` is empty.
///
/// # Errors
/// When the members of a family differ in more than its base allows.
pub fn check_files(files: &[String]) -> Result<CheckReport, LabError> {
    let mut report = CheckReport {
        text: String::new(),
        wrong: 0,
    };
    for file in files {
        let checked = read::read(file)
            .and_then(|text| match read::parse(&text, file) {
                Ok(drive) => Ok((drive, text)),
                Err(error) => Err(error.unless_recognised(file, &text, "a drive file")),
            })
            .and_then(|(drive, text)| check(&drive, &text, file));
        let usual = checked.as_ref().ok().and_then(|c| c.usual_moved_slot);
        report.add(file, checked);
        if let Some(usual) = usual {
            report.text += &format!(
                "      hint: without host.moved_slot, reclaim costs the controller nothing; \
                 {usual} is usual\n"
            );
        }
    }
    if !files.is_empty() {
        return Ok(report);
    }
    for (file, text) in read::files() {
        let name = file.strip_suffix(".toml").unwrap_or(file);
        let checked = read::parse(text, file).and_then(|drive| check(&drive, text, file));
        report.add(name, checked);
    }
    if report.wrong == 0 {
        for members in families()? {
            let drives: Vec<&CatalogueDrive> = members.iter().collect();
            let family = drives.first().map_or("", |first| first.family());
            check_family(family, &drives)?;
        }
    }
    Ok(report)
}

/// A drive as a complete drive file, to start another from.
///
/// # Errors
/// When a value has no form in TOML.
pub fn toml(drive: CatalogueDrive) -> Result<String, LabError> {
    // With all values in it the file is not a member of a family, which may differ in few.
    let whole = DriveFile {
        base: None,
        ..drive.file
    };
    toml::to_string_pretty(&whole)
        .map_err(|error| LabError::refused(format!("writing TOML: {error}"), ""))
}

/// A drive's parameters with their sources, and the values that follow from them, as JSON.
pub fn json(drive: &CatalogueDrive) -> DriveDescription {
    DriveDescription {
        name: drive.file.name.clone(),
        title: drive.file.title.clone(),
        meets_its_sheet: DatasheetStanding::of(&drive.file.name).cell(),
        parameters: drive.parameters(),
        derived: derived(&drive.config).into_iter().collect(),
    }
}

/// The same for a terminal.
pub fn text(drive: &CatalogueDrive) -> String {
    let mut out = format!("{}\n{}\n\n", drive.file.name, drive.file.title);
    for p in drive.parameters() {
        let kind = match p.kind {
            Provenance::Calibrated => format!("calibrated to {}", p.fitted_to.join(", ")),
            kind => kind.name().to_owned(),
        };
        out += &format!("{} = {}  [{kind}]\n", p.key, p.value);
        for line in wrap(&p.source, 74) {
            out += &format!("      {line}\n");
        }
    }
    out += &format!(
        "\nMeets its data sheet: {}\n",
        DatasheetStanding::of(&drive.file.name).cell()
    );
    out += "\nFrom this follow:\n";
    for (name, value) in derived(&drive.config) {
        out += &format!("  {name:20} {value}\n");
    }
    out
}
