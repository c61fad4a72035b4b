//! `ssdlab ledger predict`: what the models say of every measured figure, frozen.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_ledger::Ledger;
use ssdlab_predict::{Predictions, frozen, predict};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `ssdlab ledger predict`.
#[derive(Args, Debug)]
pub struct PredictArgs {
    /// Only this family, without freezing anything.
    #[arg(long)]
    family: Option<String>,
    /// Folder of the frozen predictions; without it, nothing is frozen.
    #[arg(long, value_name = "FOLDER", conflicts_with = "family")]
    freeze: Option<PathBuf>,
}

/// Predicts every row, and freezes what this build has not said before.
///
/// # Errors
/// When no family has that name, a frozen file was changed, or the user stops it.
pub fn predict_rows(args: &PredictArgs) -> Result<CommandExit, CliFailure> {
    let ledger = Ledger::open();
    let mut rows = ledger.all_rows().to_vec();
    if let Some(family) = &args.family {
        if !ledger.families().contains(family.as_str()) {
            return Err(LabError::refused(
                format!("the ledger has no family `{family}`"),
                "`ssdlab ledger check` counts them; their names are those of the files in ledger/",
            )
            .into());
        }
        // The sheets of the family stay: drafts are made of them.
        rows.retain(|row| row.drive.family == *family);
    }
    let address = |id: &str| {
        let source = ledger.source(id);
        source.map_or_else(String::new, |source| source.address.clone())
    };
    let date = Utc::now().date();
    let stop = stop_on_signal()?;
    let predictions = predict(&rows, &address, &date, &stop)?;
    if let Some(folder) = &args.freeze {
        let text = match frozen::freeze(folder, &predictions, &date)? {
            Some((file, count)) => format!("{count} predictions frozen in {}.\n", file.display()),
            None => "This build has said all of it before: nothing is added.\n".to_owned(),
        };
        print(&text)?;
    }
    print(&text(&predictions, args.family.is_some()))?;
    Ok(CommandExit::Good)
}

fn text(predictions: &Predictions, is_listed: bool) -> String {
    let mut text = String::new();
    if is_listed {
        text += &format!(
            "{:24} {:>10} {:>22}  made from\n",
            "metric", "predicted", "80 % within"
        );
        for made in &predictions.made {
            let within = format!("{} .. {}", made.low, made.high);
            text += &format!(
                "{:24} {:>10} {within:>22}  {}\n",
                made.metric, made.predicted, made.basis
            );
        }
        text.push('\n');
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &predictions.unpredicted {
        *reasons.entry(row.why.words()).or_insert(0) += 1;
    }
    text += &format!(
        "Predicted: {} rows. Not predicted:\n",
        predictions.made.len()
    );
    for (why, count) in reasons {
        text += &format!("{count:6}  {why}\n");
    }
    text
}
