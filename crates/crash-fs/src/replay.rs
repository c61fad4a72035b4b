//! A cut as a word, and the command that makes it again.

use std::env;
use std::fmt;
use std::str::FromStr;

/// `SEED:CALL`, or `SEED:CALL:CALL OF THE CHECK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayToken {
    pub seed: u64,
    pub place: u64,
    pub nested: Option<u64>,
}

/// Names the only cut to be made.
const VARIABLE: &str = "SSDLAB_CUT";

impl ReplayToken {
    /// # Panics
    /// When the variable has something else: a cut that is not made must not pass.
    pub fn from_environment() -> Option<ReplayToken> {
        let text = env::var(VARIABLE).ok()?;
        let token = text.parse();
        Some(token.unwrap_or_else(|()| panic!("{VARIABLE}={text} is not SEED:CALL, such as 0:12")))
    }
}

impl FromStr for ReplayToken {
    type Err = ();

    fn from_str(text: &str) -> Result<ReplayToken, ()> {
        let numbers = text.split(':').map(str::parse);
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(drop)?;
        let (seed, place, nested) = match numbers.as_slice() {
            [seed, place] => (*seed, *place, None),
            [seed, place, nested] => (*seed, *place, Some(*nested)),
            _ => return Err(()),
        };
        Ok(ReplayToken {
            seed,
            place,
            nested,
        })
    }
}

impl fmt::Display for ReplayToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seed, self.place)?;
        match self.nested {
            Some(nested) => write!(f, ":{nested}"),
            None => Ok(()),
        }
    }
}

/// An argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// What makes a cut again: `cargo test` with the name of the test, or this program.
pub(crate) fn replay_command(token: &ReplayToken) -> String {
    let thread = std::thread::current();
    let test = thread.name().filter(|&name| name != "main");
    let package = env::var("CARGO_PKG_NAME").ok();
    let program = match (test, package) {
        (Some(test), Some(package)) => {
            format!("cargo test -p {package} -- --exact {}", quoted(test))
        }
        // A test program that was started without cargo.
        (Some(test), None) => {
            let program = env::args().next().unwrap_or_default();
            format!("{} --exact {}", quoted(&program), quoted(test))
        }
        _ => {
            let arguments: Vec<String> = env::args().map(|argument| quoted(&argument)).collect();
            arguments.join(" ")
        }
    };
    format!("{VARIABLE}={token} {program}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_printed_and_nonsense_is_refused() {
        for text in ["0:12", "3:0:7"] {
            let token: ReplayToken = text.parse().expect(text);
            assert_eq!(token.to_string(), text);
        }
        for text in ["", "1", "1:", "a:b", "1:2:3:4"] {
            assert_eq!(text.parse::<ReplayToken>(), Err(()), "{text}");
        }
    }

    #[test]
    fn the_command_names_this_test() {
        let token = ReplayToken {
            seed: 1,
            place: 2,
            nested: None,
        };
        let name = "replay::tests::the_command_names_this_test";
        let command = replay_command(&token);
        assert!(command.starts_with("SSDLAB_CUT=1:2 "), "{command}");
        assert!(command.ends_with(name), "{command}");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
