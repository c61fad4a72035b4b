//! Commands that bore another name before: each is refused with the command line to run instead.

use ssdlab_base::LabError;
use std::ffi::{OsStr, OsString};

/// The words that began a command, and those that begin it now.
const RENAMED: [(&[&str], &str); 10] = [
    (&["drives", "list"], "list drives"),
    (&["profiles"], "list profiles"),
    (&["policies"], "list policies"),
    (&["options"], "list options"),
    (&["zil"], "host zil"),
    (&["tier"], "host tier"),
    (&["months"], "host months"),
    (&["oltp"], "host oltp"),
    (&["smart"], "inspect"),
    (&["mirror"], "endurance --mirror"),
];

/// Refuses `arguments`, those after the program's name, that begin with a former name.
///
/// # Errors
/// When they do; the hint is the same command line with the name of today.
pub fn refuse_former_names(arguments: &[OsString]) -> Result<(), LabError> {
    let begins_with = |words: &[&str]| {
        words.len() <= arguments.len()
            && words
                .iter()
                .zip(arguments)
                .all(|(word, argument)| argument == word)
    };
    let renamed = RENAMED.iter().find(|(former, _)| begins_with(former));
    let Some((former, name)) = renamed else {
        return Ok(());
    };
    let mut command = format!("ssdlab {name}");
    for argument in &arguments[former.len()..] {
        command += &format!(" {}", quoted(argument));
    }
    let message = format!("`ssdlab {}` is now `ssdlab {name}`", former.join(" "));
    Err(LabError::refused(message, command))
}

/// An argument as a shell takes it.
fn quoted(argument: &OsStr) -> String {
    let text = argument.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%+@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn refusal(line: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = line.iter().map(OsString::from).collect();
        let error = refuse_former_names(&arguments).err()?;
        Some(error.advice().to_owned())
    }

    #[test]
    fn a_former_name_is_refused_with_the_users_own_arguments_in_todays_command() {
        for (line, command) in [
            (
                &["zil", "--writers", "5"][..],
                "ssdlab host zil --writers 5",
            ),
            (
                &["tier", "small one.toml"],
                "ssdlab host tier 'small one.toml'",
            ),
            (&["months", "it's"], r"ssdlab host months 'it'\''s'"),
            (
                &["oltp", "x", "--set", "op=7%"],
                "ssdlab host oltp x --set op=7%",
            ),
            (&["drives", "list", "--json"], "ssdlab list drives --json"),
            (
                &["profiles", "jesd219-enterprise"],
                "ssdlab list profiles jesd219-enterprise",
            ),
            (&["policies"], "ssdlab list policies"),
            (&["options", "fio"], "ssdlab list options fio"),
            (
                &["smart", "old", "--format", "bytes"],
                "ssdlab inspect old --format bytes",
            ),
            (&["mirror", "a", "b"], "ssdlab endurance --mirror a b"),
        ] {
            assert_eq!(refusal(line).as_deref(), Some(command));
            if !command.contains('\'') {
                Cli::try_parse_from(command.split(' ')).expect(command);
            }
            Cli::try_parse_from(std::iter::once("ssdlab").chain(line.iter().copied()))
                .expect_err("no command has a former name");
        }
    }

    #[test]
    fn names_of_today_are_not_refused() {
        for line in [
            &["drives", "show", "list"][..],
            &["drives"],
            &["host", "zil"],
            &[],
        ] {
            assert_eq!(refusal(line), None);
        }
    }
}
