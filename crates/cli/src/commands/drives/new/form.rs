//! The questions of `ssdlab drives new` at a terminal.

use crate::failure::CliFailure;
use console::Term;
use ssdlab_base::LabError;
use ssdlab_life::draft::{DatasheetFacts, QUESTIONS};
use std::path::Path;

/// Asks for each fact until its answer is one; an empty answer leaves it out.
pub fn ask(facts: &mut DatasheetFacts) -> Result<(), CliFailure> {
    let term = Term::stderr();
    let wrong = |error| LabError::file("asking", Path::new("the terminal"), error);
    term.write_line("Facts of the data sheet; an empty answer leaves one out (* is needed).")
        .map_err(wrong)?;
    for question in QUESTIONS {
        loop {
            let mark = if question.needed { "*" } else { "" };
            let prompt = format!("{}{mark} ({}): ", question.key, question.text);
            term.write_str(&prompt).map_err(wrong)?;
            let answer = term.read_line().map_err(wrong)?;
            match answer.trim() {
                "" if question.needed => continue,
                "" => break,
                answer => match facts.set(question.key, answer) {
                    Ok(()) => break,
                    Err(error) => term.write_line(&error.to_string()).map_err(wrong)?,
                },
            }
        }
    }
    Ok(())
}
