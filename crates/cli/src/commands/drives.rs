//! `ssdlab drives`: the catalogue.

use crate::Exit;
use crate::args::DrivesAction;
use crate::failure::Failure;
use crate::output::{print, print_json, wrap};
use comfy_table::{ContentArrangement, Table, presets};
use ssdlab_lab::LabError;
use ssdlab_lab::catalogue::{self, CatalogueDrive, Kind, derived};
use ssdlab_lab::report::units::decimal_bytes;

/// Lists or shows drives.
///
/// # Errors
/// When a drive is unknown or its file wrong.
pub fn drives(action: &DrivesAction) -> Result<Exit, Failure> {
    match action {
        DrivesAction::List { json } => list(*json)?,
        DrivesAction::Show { name, json, toml } => show(name, *json, *toml)?,
    }
    Ok(Exit::Good)
}

fn list(json: bool) -> Result<(), Failure> {
    let drives: Vec<CatalogueDrive> = catalogue::names()?
        .iter()
        .map(|name| catalogue::drive(name))
        .collect::<Result<_, _>>()?;
    if json {
        let rows: Vec<_> = drives
            .iter()
            .map(|d| {
                serde_json::json!({
                    "name": d.file.name,
                    "title": d.file.title,
                    "interface": d.file.interface,
                    "user_bytes": d.config.user_bytes,
                    "power_loss_protection": d.file.documented.power_loss_protection.value,
                    "rated_bytes_written": d.rated_bytes_written(),
                })
            })
            .collect();
        return print_json(&rows);
    }
    let mut table = table(&["name", "capacity", "PLP", "rated", "what it is"]);
    for d in &drives {
        let protected = if d.file.documented.power_loss_protection.value {
            "yes"
        } else {
            "no"
        };
        table.add_row([
            d.file.name.clone(),
            decimal_bytes(d.config.user_bytes as f64),
            protected.to_owned(),
            d.file.documented.rated_writes.value.clone(),
            d.file.title.clone(),
        ]);
    }
    print(&table.to_string())?;
    print("\n`ssdlab drives show NAME` gives every parameter with its source.")
}

fn show(name: &str, json: bool, toml: bool) -> Result<(), Failure> {
    let drive = catalogue::open(name)?;
    if toml {
        let text = toml::to_string_pretty(&drive.file)
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
            kind => format!("{kind:?}").to_lowercase(),
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

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(80)
        .set_header(head.iter().copied());
    table
}
