//! The command line of a campaign, for another.

use std::path::Path;

/// The command line of this process under POSIX's rules, with a directory of its own for results.
pub fn posix_command(out: &Path) -> String {
    let mut words = std::env::args().skip(1);
    let mut line = vec!["ssdlab".to_owned()];
    let mut is_program = false;
    while let Some(word) = words.next() {
        is_program |= word == "--";
        let is_out = word == "--out" || word == "-o" || word == "--rules";
        let has_value = ["--out=", "--rules="]
            .iter()
            .any(|start| word.starts_with(start));
        let is_short = word.starts_with("-o") && word.len() > 2;
        match (is_program, is_out) {
            (false, true) => drop(words.next()),
            (false, false) if has_value || is_short => {}
            (false, false) if word == "run" => {
                let other = format!("{}-posix", out.display());
                let added = ["run", "--rules", "posix", "--out", &other];
                line.extend(added.map(quoted));
            }
            _ => line.push(quoted(&word)),
        }
    }
    line.join(" ")
}

/// A word as the shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
