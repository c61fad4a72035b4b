//! What `--help` says: that it fits a terminal, and that its examples are understood.

use super::Cli;
use clap::{CommandFactory, Parser};

fn each(command: &mut clap::Command, look: &mut impl FnMut(&mut clap::Command)) {
    look(command);
    for sub in command.get_subcommands_mut() {
        each(sub, look);
    }
}

#[test]
fn help_fits_80_columns() {
    each(&mut Cli::command().term_width(80), &mut |command| {
        for help in [command.render_help(), command.render_long_help()] {
            let text = help.to_string();
            let wide = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{} --help", command.get_name());
        }
    });
    // Text set by hand that is a little too long is broken by clap behind its last word.
    each(&mut Cli::command(), &mut |command| {
        let after = command.get_after_help().map(ToString::to_string);
        let after = after.unwrap_or_default();
        let wide = after.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{} --help", command.get_name());
    });
}

/// The commands of a help text, a line each; a comment stands behind two spaces.
fn examples(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let whole = line.trim_end_matches('\\').trim();
        if goes_on && let Some(begun) = found.last_mut() {
            *begun += &format!(" {whole}");
        } else if line.starts_with("  ssdlab ") {
            let command = whole.split("  ").next().unwrap_or(whole);
            found.extend(command.split("; ").map(str::to_owned));
        }
        goes_on = line.ends_with('\\');
    }
    found
}

#[test]
fn every_example_is_understood() {
    let mut count = 0;
    each(&mut Cli::command(), &mut |command| {
        let after = command.get_after_help().map(ToString::to_string);
        for example in examples(&after.unwrap_or_default()) {
            count += 1;
            let words = shlex::split(&example).expect("quotes are closed");
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    });
    assert!(count > 40, "{count} examples found");
}
