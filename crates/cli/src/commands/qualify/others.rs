//! The verdict on a drive that only others have measured.

use super::Qualify;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say, terminal_width};
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify::{by_others, role};
use ssdlab_predict::of_family::model_step;
use std::path::Path;

/// The name of a drive that others may have measured: `ledger:NAME`; `drive:NAME`, of which there
/// is no model, and none of a name like it; and a plain name, unless it is a file's or a path.
fn name_of_others(target: &str) -> Option<&str> {
    let is_listed = |name: &str| catalogue::drive(name).is_ok() || catalogue::meant(name).is_some();
    if let Some(name) = target.strip_prefix("ledger:") {
        return Some(name);
    }
    let name = match target.strip_prefix("drive:") {
        Some(name) if name.ends_with(".toml") => return None,
        Some(name) => name,
        None if target.contains(['/', '\\', ':']) => return None,
        None => target,
    };
    (!Path::new(name).exists() && !is_listed(name)).then_some(name)
}

/// The verdict on a drive that is in the ledger and not in the catalogue; `None`: the target is no
/// such drive.
///
/// # Errors
/// When `ledger:` leads to no drive, or the role is unknown.
pub(super) fn from_ledger(args: &Qualify) -> Result<Option<CommandExit>, CliFailure> {
    let target = args.target.as_deref().unwrap_or_default();
    let Some(name) = name_of_others(target) else {
        return Ok(None);
    };
    let Some(verdict) = by_others::verdict(name, role(&args.role)?) else {
        if !target.starts_with("ledger:") {
            return Ok(None);
        }
        return Err(by_others::none_called(name).into());
    };
    if target == name {
        let note = format!(
            "no file is called `{name}`: this is of the ledger's drive {}; for a file of that \
             name, write ./{name}",
            verdict.family
        );
        say(args.output.quiet, &note);
    }
    print_result(args.output.json, &verdict, || {
        let model = model_step(&verdict.family, &args.role);
        verdict.text(terminal_width(), &model)
    })?;
    Ok(Some(verdict.outcome.into()))
}
