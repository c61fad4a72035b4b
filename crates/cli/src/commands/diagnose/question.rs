//! The question that a diagnosis begins with: which drive, and what was noticed.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use ssdlab_base::LabError;
use ssdlab_judge::symptom::Symptom;
use std::io::{BufRead, IsTerminal, Write};

/// Whether somebody is there to answer.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Lists the symptoms with what to type for each.
///
/// # Errors
/// When standard output cannot be written.
pub fn list(target: Option<&str>) -> Result<CommandExit, CliFailure> {
    let shown = target.unwrap_or("TARGET");
    let mut text = "What did you notice? Choose a symptom:\n\n".to_owned();
    for symptom in Symptom::ALL {
        text += &format!("  --symptom {:19}  {}\n", symptom.name(), symptom.words());
    }
    text += &format!(
        "\nFor instance: ssdlab diagnose {shown} --symptom {}\n",
        Symptom::SlowDurableWrites.name()
    );
    if target.is_none() {
        text += "TARGET is a drive of the catalogue (drive:consumer-sata-1tb), a new file or a \
                 device.\n";
    }
    print(&text)?;
    Ok(CommandExit::Error)
}

fn no_answer() -> CliFailure {
    LabError::refused(
        "the question was not answered",
        "give the target and --symptom: `ssdlab diagnose --help` lists them",
    )
    .into()
}

fn line(question: &str) -> Result<String, CliFailure> {
    let mut errors = std::io::stderr();
    write!(errors, "{question} ")?;
    errors.flush()?;
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer)? == 0 {
        return Err(no_answer());
    }
    Ok(answer.trim().to_owned())
}

/// Asks for the drive.
///
/// # Errors
/// When nobody answers.
pub fn target() -> Result<String, CliFailure> {
    tell!(
        "Which drive is slow? A name as drive:consumer-sata-1tb (`ssdlab list drives`), a new file \
         on\nthe drive (./test-file), or a device whose contents may be lost (/dev/nvme0n1)."
    );
    let answer = line("Drive:")?;
    if answer.is_empty() {
        return Err(no_answer());
    }
    Ok(answer)
}

/// Asks for the symptom until there is one.
///
/// # Errors
/// When nobody answers.
pub fn symptom() -> Result<Symptom, CliFailure> {
    tell!("What did you notice?");
    for (number, symptom) in Symptom::ALL.iter().enumerate() {
        tell!("  {}  {}", number + 1, symptom.words());
    }
    loop {
        let answer = line(&format!("Number, 1 to {}:", Symptom::ALL.len()))?;
        let by_number = answer.parse::<usize>().ok();
        let chosen = by_number.and_then(|number| Symptom::ALL.get(number.checked_sub(1)?));
        if let Some(symptom) = chosen {
            return Ok(*symptom);
        }
        if let Ok(symptom) = Symptom::parse(&answer) {
            return Ok(symptom);
        }
    }
}
