//! Prints the experiments of articles `spare` and `myth`:
//! `cargo run --release --example experiments [spare|myth]`.

use ssdlab_lab::LabError;
use ssdlab_lab::experiments::spare::{SpareResult, SpareSettings, run_spare};
use std::time::Instant;

fn main() -> Result<(), LabError> {
    let asked = std::env::args().nth(1);
    let wanted = |name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    if wanted("spare") {
        let begin = Instant::now();
        print_spare(&run_spare(SpareSettings::default())?);
        eprintln!("spare took {:.1} s", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

fn print_spare(result: &SpareResult) {
    println!("per cent of new performance, {:?}", result.settings);
    for drive in &result.drives {
        println!(
            "{} OP {:.1} % dirty WAF {:.2} free superblocks {:?}",
            drive.name,
            100.0 * drive.op,
            drive.dirty_waf,
            drive.free_superblocks
        );
        for (kept, bare) in drive.kept.iter().zip(&drive.bare) {
            println!(
                "  {:6} new {:7.0} IOPS full {:6.2} dirty {:6.2} ({:.1}-{:.1}) WAF {:.2?} \
                 (against an empty drive: full {:.1} dirty {:.1}; saturated {:.1?} with pauses {:.2?})",
                kept.weight,
                kept.new_iops,
                kept.full_pct,
                kept.dirty_pct,
                kept.dirty_range_pct.0,
                kept.dirty_range_pct.1,
                kept.waf,
                bare.full_pct,
                bare.dirty_pct,
                kept.saturated_pct,
                kept.with_pauses_pct
            );
        }
    }
    println!(
        "full, 13 % less 28 %: {:.2?} points",
        result.full_13_less_28()
    );
    println!(
        "dirty, 28 % less 13 %: {:.2?} points",
        result.dirty_28_less_13()
    );
    println!("X25-M: {}", result.intel.assumed);
    for round in &result.intel.rounds {
        println!(
            "  after {:18} with {:6.2} without {:6.2} free {:?}",
            round.after, round.with_pct, round.without_pct, round.free_superblocks
        );
    }
    for fill in &result.compress {
        println!(
            "fill, {} % compressible: {:.1} % of the flash, WAF {:.3}",
            fill.compress_pct,
            100.0 * fill.flash_used,
            fill.waf
        );
    }
    println!("health: {:?}", result.health);
}
