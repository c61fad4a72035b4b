//! A campaign under the preload library, without the command line.
//!
//!     cargo build -p ssdlab-preload
//!     cargo run -p ssdlab-power --example preload -- OUT CUTS RULES preset sqlite
//!     cargo run -p ssdlab-power --example preload -- OUT CUTS RULES 'cat log-*' sh append-log.sh

use ssdlab_power::crashtest::scripts::{CampaignSettings, NameRules, mark};
use ssdlab_power::preload::{PreloadCampaign, PreloadSettings};
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [task, text] = words.as_slice()
        && task == "mark"
    {
        let socket = std::env::var("SSDLAB_MARK")?;
        return Ok(mark(Path::new(&socket), text)?);
    }
    let [out, cuts, rules, check, program @ ..] = words.as_slice() else {
        return Err("OUT CUTS RULES preset NAME, or OUT CUTS RULES FOUND PROGRAM...".into());
    };
    let preset = (check == "preset").then(|| program.join(" "));
    let faults = std::env::var("FAULT").ok();
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let settings = CampaignSettings {
        drive: "consumer-sata-1tb".into(),
        size: Some(64 << 20),
        faults: faults.into_iter().collect(),
        seed: seed.unwrap_or(1),
        cuts: Some(cuts.parse()?),
        occasions: vec!["any".into(), "recovery".into()],
        age: "mixed".into(),
        after_mark: preset.as_ref().map(|_| "begin".to_owned()),
        workload: String::new(),
        check: check.clone(),
        file: false,
        timeout_s: 120,
        checks_max: 0,
        consistency_only: false,
        rules: NameRules::FileSystem,
        posix_command: None,
        preload: Some(PreloadSettings {
            rules: rules.clone(),
            program: if preset.is_some() {
                Vec::new()
            } else {
                program.to_vec()
            },
            marks_on_stdout: preset.is_none(),
            finds: preset.is_none(),
            preset,
            here: std::env::current_dir()?,
        }),
    };
    let stop = AtomicBool::new(false);
    let begun = std::time::Instant::now();
    let campaign = PreloadCampaign::record(Path::new(out), settings, &stop)?;
    eprintln!("recorded {} in {:?}", campaign.summary(), begun.elapsed());
    let begun = std::time::Instant::now();
    let report = campaign.run(2, &stop, |_, _| {})?;
    print!("{}", report.render());
    eprintln!("{} cuts in {:?}", report.lines.len(), begun.elapsed());
    Ok(())
}
