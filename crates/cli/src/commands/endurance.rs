//! `ssdlab endurance`: what drives last for under JESD219 or your own work, against their ratings.

mod args;
mod in_service;
mod mirror;

pub use args::EnduranceArgs;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::settings;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::endurance;
use ssdlab_life::endurance::study::EnduranceStudy;
use ssdlab_life::endurance::work::WearWorkload;
use ssdlab_life::endurance::{EnduranceOptions, money};
use std::sync::atomic::AtomicBool;

/// Prints a table.
///
/// # Errors
/// When a drive is unknown or cannot be modelled.
pub fn endurance(args: &EnduranceArgs) -> Result<CommandExit, CliFailure> {
    if args.mirror {
        return mirror::mirror(args);
    }
    let study = EnduranceStudy {
        drives: drives(args)?,
        works: works(args)?,
        asked: asked(args)?,
        money: args.money,
        price: args.price,
        jobs: args.jobs.unwrap_or_else(ssdlab_base::parallel::cores),
    };
    // Ctrl-C ends the process: there is nothing to keep.
    let results = study.run(&AtomicBool::new(false))?;
    if args.json {
        print_json(&results)?;
        return Ok(CommandExit::Good);
    }
    let (rows, money) = (&results.endurance, &results.money);
    print(&endurance::table(rows))?;
    for remark in in_service::remarks(rows) {
        print(&remark)?;
    }
    if args.money {
        print("")?;
        print(&money::table(money))?;
        if money.len() < study.drives.len() {
            say(
                args.quiet,
                "drives without a price are left out: see --price",
            );
        }
    }
    say(
        args.quiet,
        "\nTBW = cycles x raw capacity / WAF, cycles by JESD218; UBER at the rated bytes, or at\n\
         the rated cycles where there are none; details and what each rests on: --json",
    );
    Ok(CommandExit::Good)
}

fn asked(args: &EnduranceArgs) -> Result<EnduranceOptions, LabError> {
    let capacity = match args.capacity.as_str() {
        "whole" => None,
        size => Some(parse_size(size)?),
    };
    if let Some(price) = args.price
        && !(price > 0.0 && price.is_finite())
    {
        return Err(LabError::refused(
            format!("a price of {price} buys nothing"),
            "US dollars above 0",
        ));
    }
    Ok(EnduranceOptions {
        capacity,
        warm: args.warm,
        seed: args.stream_seed(),
    })
}

/// The drives as they are, and with other over-provisioning.
fn drives(args: &EnduranceArgs) -> Result<Vec<CatalogueDrive>, LabError> {
    let settings = args.set.iter().map(|text| DriveSetting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let mut drives = Vec::new();
    for name in &args.drives {
        let drive = settings::apply(&open_drive(name)?, &settings)?;
        for op in &args.op {
            let op = DriveSetting::parse(&format!("op={op}"))?;
            drives.push(settings::apply(&drive, &[op])?);
        }
        drives.insert(drives.len() - args.op.len(), drive);
    }
    Ok(drives)
}

fn works(args: &EnduranceArgs) -> Result<Vec<WearWorkload>, LabError> {
    let bytes = parse_size(&args.block)?;
    let block = u32::try_from(bytes).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", args.block),
            "choose a smaller --block",
        )
    })?;
    if args.workload.is_empty() {
        return Ok(vec![WearWorkload::Enterprise, WearWorkload::Client]);
    }
    args.workload
        .iter()
        .map(|text| WearWorkload::parse(text, block, args.stream_seed()))
        .collect()
}
