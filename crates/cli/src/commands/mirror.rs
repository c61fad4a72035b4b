//! `ssdlab mirror`: do two mirrored drives wear out together?

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say, self_checked};
use crate::progress::stop_on_signal;
use clap::Args;
use comfy_table::{Table, presets};
use ssdlab_articles::experiments::mirror::{
    MirrorPairs, MirrorSettings, mirror as live, percentile,
};
use ssdlab_view::units::decimal_bytes;

/// `ssdlab mirror`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab mirror intel-710-100gb intel-710-100gb --seeds 20
  ssdlab mirror intel-710-100gb intel-710-200gb --seeds 20")]
pub struct MirrorArgs {
    /// The two sides: drives of the catalogue, or drive files ending in .toml.
    #[arg(num_args = 2, required = true, value_name = "DRIVE")]
    sides: Vec<String>,
    /// Pairs, each of two drives whose blocks are drawn from a seed of their own.
    #[arg(long, default_value_t = 200, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: u32,
    /// The first of the seeds.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print every pair as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints when the two sides die, and the distribution of the gap between.
///
/// # Errors
/// When a drive is unknown or cannot wear.
pub fn mirror(args: &MirrorArgs) -> Result<CommandExit, CliFailure> {
    let side = |n: usize| {
        let name = &args.sides[n];
        name.strip_prefix("drive:").unwrap_or(name).to_owned()
    };
    let settings = MirrorSettings {
        sides: [side(0), side(1)],
        pairs: args.seeds,
        seed: args.seed,
    };
    let stop = stop_on_signal()?;
    let found = live(&settings, &stop)?;
    let exit = self_checked(&found.faults);
    if args.json {
        print_json(&found)?;
        return Ok(exit);
    }
    print(&text(&found))?;
    say(
        false,
        "\nThe drives played are smaller, in size and in rated cycles; lives are of the full\n\
         drive. With fewer blocks to average over, equal drives die further apart than full ones.",
    );
    Ok(exit)
}

fn text(found: &MirrorPairs) -> String {
    let [a, b] = found.mean_bytes();
    let (gaps, rated) = (found.gaps_pct(), found.rated_gaps_pct());
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
        found.pairs.len(),
        found.sides[0],
        decimal_bytes(a),
        found.sides[1],
        decimal_bytes(b),
        lines.join("\n")
    )
}
