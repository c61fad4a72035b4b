//! `ssdlab endurance --mirror`: do two mirrored drives wear out together?

use super::args::EnduranceArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say, self_checked};
use crate::progress::stop_on_signal;
use comfy_table::{Table, presets};
use ssdlab_articles::experiments::mirror::{
    MirrorPairs, MirrorSettings, mirror as live, percentile,
};
use ssdlab_base::LabError;
use ssdlab_view::units::decimal_bytes;

/// The first of the seeds, unless another is given.
const SEED_USUAL: u64 = 1;

/// Prints when the two sides die, and the distribution of the gap between.
///
/// # Errors
/// When there are not two drives, one is unknown, or one cannot wear.
pub fn mirror(args: &EnduranceArgs) -> Result<CommandExit, CliFailure> {
    let [first, second] = args.drives.as_slice() else {
        return Err(LabError::refused(
            format!(
                "--mirror takes two drives, and {} are given",
                args.drives.len()
            ),
            "name one drive twice for two of a kind",
        )
        .into());
    };
    let settings = MirrorSettings {
        sides: [first, second].map(|name| name.strip_prefix("drive:").unwrap_or(name).to_owned()),
        pairs: args.seeds,
        seed: args.seed.unwrap_or(SEED_USUAL),
    };
    let stop = stop_on_signal()?;
    let lives = live(&settings, &stop)?;
    let exit = self_checked(&lives.faults);
    if args.json {
        print_json(&lives)?;
        return Ok(exit);
    }
    print(&text(&lives))?;
    say(
        args.quiet,
        "\nThe drives played are smaller, in size and in rated cycles; lives are of the full\n\
         drive. With fewer blocks to average over, equal drives die further apart than full ones.",
    );
    Ok(exit)
}

fn text(lives: &MirrorPairs) -> String {
    let [a, b] = lives.mean_bytes();
    let (gaps, rated) = (lives.gaps_pct(), lives.rated_gaps_pct());
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "gap, % of the shorter life",
        "least",
        "10 %",
        "median",
        "90 %",
        "most",
    ]);
    for (name, gaps) in [("E9 at 1", &rated), ("dead: reserve used up", &gaps)] {
        let mut cells = vec![name.to_owned()];
        cells.extend([0, 10, 50, 90, 100].map(|p| format!("{:.2}", percentile(gaps, p))));
        table.add_row(cells);
    }
    let lines: Vec<String> = table
        .to_string()
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    format!(
        "{} pairs under 4 KiB random writes over the smaller side\n\
         {:28} dies after {} on average\n{:28} dies after {} on average\n\n{}",
        lives.pairs.len(),
        lives.sides[0],
        decimal_bytes(a),
        lives.sides[1],
        decimal_bytes(b),
        lines.join("\n")
    )
}
