//! How often the answer to a symptom names the planted fault that causes it, over seeds: the table
//! of docs/qualify.md; and healthy drives, with and without protection, that are called normal.
//!
//!     cargo run --release -p ssdlab-judge --example symptoms -- FIRST_SEED COUNT [black-box]
//!
//! With `black-box` the faulty drive is asked as a real one, through its interface alone.

use ssdlab_base::{LabError, parallel};
use ssdlab_judge::ablate::planted::{FAULTS, healthy, healthy_client};
use ssdlab_judge::ablate::steady;
use ssdlab_judge::symptom::planted::PlantedDrive;
use ssdlab_judge::symptom::{SheetFigures, Symptom, SymptomOutcome, beside, of_model};
use ssdlab_ssd::DriveConfig;

/// Of one drive: for each symptom that the fault causes, whether it was named, or what was.
/// A healthy drive by its seed.
type DriveOfSeed = fn(u64) -> DriveConfig;

fn judged(
    seed: u64,
    fault: usize,
    is_hidden: bool,
) -> Result<Vec<(Symptom, bool, String)>, LabError> {
    let Some(drive) = PlantedDrive::draw(seed, fault)? else {
        return Ok(Vec::new());
    };
    let caused = Symptom::ALL.into_iter().filter(|one| drive.causes(*one));
    let hidden = is_hidden.then(|| drive.investigated()).transpose()?;
    let answer = |symptom| {
        let found = match &hidden {
            Some(hidden) => hidden.ask(symptom),
            None => drive.ask(symptom)?,
        };
        let names: Vec<_> = found
            .answer
            .causes
            .iter()
            .map(|cause| cause.name.clone())
            .collect();
        let figures: Vec<String> = found.answer.figures.iter().map(beside).collect();
        let said = format!(
            "{seed} {}: {} [{}]",
            symptom.name(),
            names.join(" > "),
            figures.join("; ")
        );
        Ok((symptom, found.right, said))
    };
    caused.map(answer).collect()
}

/// Symptoms of a healthy drive that were called not normal.
fn accused(config: &DriveConfig, seed: u64) -> Result<Vec<String>, LabError> {
    let drive = steady(config, seed)?;
    let mut accused = Vec::new();
    for symptom in Symptom::ALL {
        let found = of_model(&drive, &SheetFigures::default(), symptom, 1)?;
        if found.outcome != SymptomOutcome::Normal {
            accused.push(format!(
                "{} {}: {}",
                config.name,
                symptom.name(),
                found.answer
            ));
        }
    }
    Ok(accused)
}

fn row(name: &str, fault: usize, seeds: &[u64], is_hidden: bool) -> Result<(u32, u32), LabError> {
    let judged = |seed: &u64| judged(*seed, fault, is_hidden);
    let answers = parallel::all(seeds, parallel::cores(), judged)?;
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    let mut line = format!("| {name} |");
    let (mut right, mut asked) = (0, 0);
    for symptom in Symptom::ALL {
        let of_symptom = || answers.iter().filter(|one| one.0 == symptom);
        let (named, count) = (
            of_symptom().filter(|one| one.1).count(),
            of_symptom().count(),
        );
        line += &match count {
            0 => " - |".to_owned(),
            _ => format!(" {named} of {count} |"),
        };
        right += named as u32;
        asked += count as u32;
    }
    println!("{line}");
    for (_, _, said) in answers.iter().filter(|one| !one.1) {
        println!("    {said}");
    }
    Ok((right, asked))
}

fn main() -> Result<(), LabError> {
    let mut args = std::env::args().skip(1);
    let is_hidden = std::env::args().any(|arg| arg == "black-box");
    let mut number = |default: u64| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(1), number(3));
    let seeds: Vec<u64> = (first..first + count).collect();
    let names: Vec<&str> = Symptom::ALL.iter().map(|symptom| symptom.name()).collect();
    println!("| planted | {} |", names.join(" | "));
    let (mut right, mut asked) = (0, 0);
    for (fault, (name, _)) in FAULTS.iter().enumerate() {
        let (named, count) = row(name, fault, &seeds, is_hidden)?;
        right += named;
        asked += count;
    }
    println!("named first: {right} of {asked}");
    let protected: DriveOfSeed = healthy;
    for (name, kind) in [("protected", protected), ("not protected", healthy_client)] {
        let accused = parallel::all(&seeds, parallel::cores(), |seed| {
            accused(&kind(*seed), *seed)
        })?;
        let accused: Vec<String> = accused.into_iter().flatten().collect();
        let answers = seeds.len() * Symptom::ALL.len();
        println!(
            "healthy, {name}: {} of {answers} accused {accused:?}",
            accused.len()
        );
    }
    Ok(())
}
