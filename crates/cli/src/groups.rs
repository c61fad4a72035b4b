//! `ssdlab --help`: the commands in groups, two in a line, so that a terminal of 24 lines shows
//! them all. Full sentences stand in the help of each command.

use clap::Command;

/// A command and what it is for, in a few words.
type Entry = (&'static str, &'static str);

/// Every command that is not hidden, once; in the order in which people need them.
const GROUPS: [(&str, &[Entry]); 5] = [
    (
        "Start here",
        &[
            ("qualify", "is it good for a role?"),
            ("watch", "slow in use; no writes"),
            ("diagnose", "it is slow: what gives?"),
            ("inspect", "health, wear, forecast"),
        ],
    ),
    (
        "Measure",
        &[
            ("run", "fio, DISKSPD, a trace"),
            ("fingerprint", "find caches, spare area"),
            ("report", "a run's results again"),
            ("compare", "runs side by side"),
            ("trace", "look at traces, convert"),
            ("snia", "SNIA's performance test"),
        ],
    ),
    (
        "Modelled drives, and volumes of a cloud",
        &[
            ("drives", "the catalogue, your own"),
            ("list", "drives, profiles, options"),
            ("simulate", "WAF, wear, IOPS, latency"),
            ("age", "a whole life, worn drive"),
            ("endurance", "against ratings; mirrors"),
            ("host", "ZFS, S2D, files, MySQL"),
            ("twin", "fit a model, predict"),
            ("volumes", "a burst? what to buy?"),
        ],
    ),
    (
        "Power cuts, and drives that hold data",
        &[
            ("crashtest", "cut under your program"),
            ("pull", "cut a real drive"),
            ("create", "make a drive with data"),
            ("serve", "over NBD, or as a file"),
            ("power", "switch a served drive"),
            ("check", "find damage, recover"),
            ("conform", "hypervisors' promises"),
        ],
    ),
    (
        "Published figures beside ours",
        &[
            ("reproduce", "those of five articles"),
            ("ledger", "drives by others' tests"),
        ],
    ),
];
/// Columns of a name, and of the first command of a line.
const NAME: usize = 13;
const HALF: usize = 40;

fn listed() -> String {
    let mut text = String::new();
    for (head, entries) in GROUPS {
        text += &format!("{head}:\n");
        for pair in entries.chunks(2) {
            let mut line = String::new();
            for (name, words) in pair {
                line += &format!("{:HALF$}", format!("  {name:NAME$}{words}"));
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

/// `command` with its subcommands in groups.
pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n\
         Usage: ssdlab COMMAND ...     `ssdlab COMMAND --help` has options and examples\n\n\
         {}{{after-help}}",
        listed().trim_end()
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    /// A terminal's columns and lines.
    const LINE: usize = 80;
    const LINES: usize = 24;

    #[test]
    fn every_command_stands_in_one_group_and_the_help_fits_a_terminal() {
        let command = Cli::command();
        let entries = || GROUPS.iter().flat_map(|(_, entries)| *entries);
        let visible: Vec<&Command> = command
            .get_subcommands()
            .filter(|c| !c.is_hide_set())
            .collect();
        for sub in &visible {
            let count = entries()
                .filter(|(name, _)| *name == sub.get_name())
                .count();
            assert_eq!(count, 1, "{}", sub.get_name());
        }
        assert_eq!(entries().count(), visible.len());
        assert!(visible.len() <= 27, "{} commands", visible.len());
        // The second command of a line begins where those of other lines do.
        for (name, words) in GROUPS
            .iter()
            .flat_map(|(_, entries)| entries.iter().step_by(2))
        {
            assert!(2 + NAME + words.len() < HALF, "{name}: {words}");
        }
        let mut command = grouped(command);
        let help = command.render_help().to_string();
        assert!(help.lines().count() < LINES, "{help}");
        for help in [help, command.render_long_help().to_string()] {
            let fits = help.lines().all(|line| line.chars().count() <= LINE);
            assert!(fits, "{help}");
            let position = |text: &str| {
                help.find(text)
                    .unwrap_or_else(|| panic!("{text} in {help}"))
            };
            assert!(position("qualify") < position("simulate"));
        }
    }
}
