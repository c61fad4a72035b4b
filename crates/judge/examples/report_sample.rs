//! Writes the pages of made-up results, to look at: `report.html`, `run.html`, `phases.html`,
//! `compare.html` in the directory given (default: the current one), and the terminal's tables to
//! stdout.

#[path = "../tests/sample/mod.rs"]
mod sample;

use ssdlab_bench::report::terminal;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or(".".into()));
    let (q, runs) = (sample::qualification(), sample::runs());
    std::fs::write(
        directory.join("report.html"),
        ssdlab_judge::page::qualification_page(&q),
    )?;
    std::fs::write(
        directory.join("run.html"),
        ssdlab_bench::report::run_page(&runs[..1]),
    )?;
    let phases = sample::phases();
    std::fs::write(
        directory.join("phases.html"),
        ssdlab_bench::report::run_page(std::slice::from_ref(&phases)),
    )?;
    std::fs::write(
        directory.join("compare.html"),
        ssdlab_bench::report::run_page(&runs),
    )?;
    println!("{}", ssdlab_judge::qualify::terminal::verdict_summary(&q));
    println!("{}", ssdlab_judge::qualify::terminal::comparison_table(&q));
    println!("{}", terminal::run_summary(&runs[0]));
    println!("{}", terminal::run_summary(&phases));
    println!("{}", terminal::run_comparison(&runs));
    Ok(())
}
