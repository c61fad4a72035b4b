//! The commands in `ssdlab --help`, by what one wants; first the three that a newcomer needs.

use clap::Command;
use ssdlab_view::text::wrap;

/// Every command once.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start here", &["qualify", "inspect", "drives"]),
    (
        "Measure",
        &[
            "run",
            "fingerprint",
            "report",
            "compare",
            "trace",
            "profiles",
            "snia",
            "options",
        ],
    ),
    (
        "Modelled drives over their lives",
        &[
            "diagnose",
            "simulate",
            "twin",
            "age",
            "smart",
            "endurance",
            "mirror",
            "policies",
            "theory",
        ],
    ),
    ("Hosts as loads", &["zil", "tier", "months", "oltp"]),
    (
        "Drives that hold data, and power cuts",
        &[
            "create",
            "serve",
            "power",
            "check",
            "crashtest",
            "mark",
            "pull",
            "conform",
        ],
    ),
    (
        "Articles and this program",
        &["reproduce", "completions", "man"],
    ),
];
/// Columns of the names, and of a line.
const NAME: usize = 13;
const LINE: usize = 80;

fn listed(command: &Command) -> String {
    let mut text = String::new();
    for (head, names) in GROUPS {
        text += &format!("{head}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let names = std::iter::once(*name).chain(std::iter::repeat(""));
            for (line, name) in wrap(&about, LINE - NAME - 2).iter().zip(names) {
                text += &format!("  {name:NAME$}{line}\n");
            }
        }
        text.push('\n');
    }
    text
}

/// `command` with its subcommands in groups.
pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\
         Options:\n{{options}}{{after-help}}",
        listed(&command)
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_in_one_group_and_lines_fit() {
        let command = Cli::command();
        for sub in command.get_subcommands() {
            let of = |names: &[&str]| names.iter().filter(|n| **n == sub.get_name()).count();
            let count: usize = GROUPS.iter().map(|(_, names)| of(names)).sum();
            assert_eq!(count, 1, "{}", sub.get_name());
        }
        let help = grouped(command).render_help().to_string();
        assert!(
            help.lines().all(|line| line.chars().count() <= LINE),
            "{help}"
        );
        let at = |text: &str| {
            help.find(text)
                .unwrap_or_else(|| panic!("{text} in {help}"))
        };
        assert!(at("Start here:") < at("qualify") && at("qualify") < at("simulate"));
    }
}
