//! Prints the experiments of articles `spare` and `myth`:
//! `cargo run --release --example experiments [spare|myth]`.

use ssdlab_articles::experiments::Curve;
use ssdlab_articles::experiments::myth::{MythResult, MythSettings, Swept, WholeDisk, run_myth};
use ssdlab_articles::experiments::spare::{SpareResult, SpareSettings, run_spare};
use ssdlab_base::LabError;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn main() -> Result<(), LabError> {
    let go_on = AtomicBool::new(false);
    let asked = std::env::args().nth(1);
    let wanted = |name: &str| asked.as_deref().is_none_or(|asked| asked == name);
    if wanted("spare") {
        let begin = Instant::now();
        print_spare(&run_spare(SpareSettings::default(), &go_on)?);
        eprintln!("spare took {:.1} s", begin.elapsed().as_secs_f64());
    }
    if wanted("myth") {
        let begin = Instant::now();
        print_myth(&run_myth(&MythSettings::default(), &go_on)?);
        eprintln!("myth took {:.1} s", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

fn print_myth(result: &MythResult) {
    println!("{:?}", result.settings);
    for row in &result.in_place {
        println!("{row:?}");
    }
    for row in &result.logged {
        println!("{row:?}");
    }
    println!(
        "{:24} {:>6} {:>7} {:>7} {:>8} {:>6} {:>6} {:>5}",
        "reads in mixed load", "OP %", "new", "old", "alone", "WAF", "map %", "held"
    );
    for aged in &result.aged {
        let last = aged.ages.last().copied();
        println!(
            "{:24} {:6.1} {:7.1} {:7.1} {:8.1} {:6.2} {:6.2} {:5.1}",
            aged.name,
            100.0 * aged.op,
            aged.new_read_mb_s(),
            aged.old_read_mb_s(),
            aged.old_read_alone_mb_s(),
            aged.old_waf(),
            aged.map_upkeep().level(4).unwrap_or(0.0),
            last.map_or(0.0, |age| age.held_pct)
        );
    }
    for aged in &result.aged {
        println!("{}: {:.0?}", aged.name, ys(&aged.throughput()));
        println!("  map: {:.1?}", ys(&aged.map_upkeep()));
    }
    print_swept("used %, with TRIM", &result.by_used);
    print_swept("used %, without TRIM", &result.by_used_untold);
    print_swept("OP %, without TRIM", &result.by_op);
    for row in &result.trim {
        println!("{row:?}");
    }
    let disk = &result.whole_disk;
    for curve in [
        &disk.write_first,
        &disk.write_again,
        &disk.write_steady,
        &disk.read_full,
        &disk.mixed_read,
        &disk.mixed_read_p50_us,
        &disk.mixed_write,
    ] {
        println!(
            "{} (flatness {:.3}): {:.0?}",
            curve.name,
            WholeDisk::flatness(curve),
            ys(curve)
        );
    }
    println!("health: {:?}", result.health);
}

fn print_swept(name: &str, rows: &[Swept]) {
    println!("{name}");
    for row in rows {
        println!("  {row:?}");
    }
}

fn ys(curve: &Curve) -> Vec<f64> {
    curve.points.iter().map(|(_, y)| *y).collect()
}

fn print_spare(result: &SpareResult) {
    println!("per cent of new performance, {:?}", result.settings);
    for drive in &result.drives {
        println!(
            "{} OP {:.1} % WAF dirty, scattered {:.2?} free superblocks {:?}",
            drive.name,
            100.0 * drive.op,
            drive.dirty_waf,
            drive.free_superblocks
        );
        for kept in &drive.kept {
            println!(
                "  {:6} new {:7.0} IOPS full {:6.2} dirty {:6.2} ({:.1}-{:.1}) scattered {:6.2} \
                 WAF {:.2?} (against an installed drive: {:.1?}; saturated {:.1?} \
                 with pauses {:.2?})",
                kept.weight,
                kept.new_iops,
                kept.full_pct,
                kept.dirty_pct,
                kept.dirty_range_pct.0,
                kept.dirty_range_pct.1,
                kept.scattered_pct,
                kept.waf,
                kept.of_installed_pct,
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
    let shares = result.drives.iter().flat_map(|drive| &drive.by_share);
    let dirt = result.drives.iter().flat_map(|drive| &drive.by_dirt);
    let rested = result.rested.kept.iter().chain(&result.rested.difference);
    for curve in shares.chain(dirt).chain(rested) {
        println!("{}: {:.2?}", curve.name, curve.points);
    }
    println!("rests: {:?}", result.rested.assumed);
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
