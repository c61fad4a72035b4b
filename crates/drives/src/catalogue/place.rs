//! Where in a drive file an error lies: its key and line.
//!
//! A member's table is merged with its base's before it is read, and errors of the merged table
//! know no place in the member's text. So it is written out and read again, which tells the key,
//! and the key is looked for in the text.

use super::file::DriveFile;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;

/// The file of a merged table.
///
/// # Errors
/// With the key at fault and, where it stands in `text`, its line.
pub(super) fn file_of(table: toml::Table, text: &str, source: &str) -> Result<DriveFile, LabError> {
    let written = toml::to_string(&table).unwrap_or_default();
    toml::Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| {
            let again = toml::from_str::<DriveFile>(&written).err();
            let key = again.and_then(|error| key_at(&written, error.span()?.start));
            match (toml_error(&error, text, source), key) {
                (LabError::BadEntry { what, hint, .. }, Some(key)) => LabError::BadEntry {
                    place: InputLocation {
                        source: source.into(),
                        line: line_of(text, &key),
                    },
                    key,
                    what,
                    hint,
                },
                (error, _) => error,
            }
        })
}

/// What the library says of a text that is not a drive file.
pub(super) fn toml_error(error: &toml::de::Error, text: &str, source: &str) -> LabError {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    let message = error.message().replace('\n', "; ");
    LabError::BadEntry {
        key: "drive file".into(),
        what: plainly(&message),
        place: InputLocation {
            source: source.into(),
            line,
        },
        hint: "every value is { value = ..., kind = \"...\", source = \"...\" }; \
               `ssdlab drives show NAME --toml` prints a complete file"
            .into(),
    }
}

/// What the library says of an unknown key or word, with what is allowed as a list.
fn plainly(message: &str) -> String {
    let (what, allowed) = match message.split_once(", expected ") {
        Some((what, allowed)) if what.starts_with("unknown ") => (what, allowed),
        Some((what, kind)) => return format!("{what}; allowed here: {}", kind_of_value(kind)),
        None => return message.into(),
    };
    let allowed = allowed.strip_prefix("one of ").unwrap_or(allowed);
    format!("{what}; allowed here: {allowed}")
}

/// The library names the types of a program; a file has numbers and texts.
fn kind_of_value(kind: &str) -> &str {
    match kind {
        "struct SourcedValue" => "{ value = ..., kind = \"...\", source = \"...\" }",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "any valid TOML value" => "a whole number of at most 9223372036854775807",
        kind => kind,
    }
}

/// `table.key` around the byte `byte` of a file that the library wrote: each value is a table of
/// its own there. `None` outside of tables.
fn key_at(written: &str, byte: usize) -> Option<String> {
    let line_end = written[byte.min(written.len())..].find('\n');
    let until = line_end.map_or(written.len(), |more| byte + more);
    let mut lines = written[..until].lines().rev();
    let last = lines.clone().next()?;
    let header = lines.find(|line| line.starts_with('['))?;
    let header = header.trim_matches(['[', ']']);
    // Plain values stay in the table unchanged.
    let bare = last.split_once('=').filter(|_| !header.contains('.'));
    Some(match bare {
        Some((key, _)) => format!("{header}.{}", key.trim()),
        None => header.to_owned(),
    })
}

/// Adds the line on which the key of a bad value stands, if it stands in this file.
pub(super) fn located(mut error: LabError, text: &str) -> LabError {
    if let LabError::BadValue { option, place, .. } = &mut error
        && place.line.is_none()
    {
        place.line = line_of(text, option);
    }
    error
}

/// The line of `table.key`, or of `key` alone.
fn line_of(text: &str, option: &str) -> Option<usize> {
    let (table, key) = option.split_once('.').unwrap_or(("", option));
    let mut within = table.is_empty();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            within = table.is_empty() || name == table;
        }
        let assigned = line
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start().starts_with('='));
        if within && assigned {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::{files, parse};

    fn file(name: &str) -> String {
        let found = files().iter().find(|(file, _)| file.contains(name));
        found.unwrap().1.to_owned()
    }

    fn said(text: &str) -> String {
        parse(text, "x.toml").unwrap_err().to_string()
    }

    fn line(text: &str, start: &str) -> String {
        let at = text
            .lines()
            .position(|line| line.starts_with(start))
            .unwrap();
        format!("x.toml:{}", at + 1)
    }

    #[test]
    fn an_error_names_its_key_and_line_in_a_base_and_in_a_member() {
        let base = file("intel-dc-s3700-200gb");
        let member = file("intel-dc-s3700-100gb");
        for (text, key, table) in [
            (&base, "erase", "nand"),
            (&member, "dies_per_channel", "nand"),
            (&base, "size", "buffer"),
        ] {
            let given = text
                .lines()
                .find(|l| l.starts_with(&format!("{key} =")))
                .unwrap();
            let (value, _) = given.split_once(", kind").unwrap();
            for (bad, why) in [
                (
                    format!("{value}, kind = \"assumed\" }}"),
                    "missing field `source`",
                ),
                (
                    format!("{value}, source = \"s\" }}"),
                    "missing field `kind`",
                ),
                (given.replace("kind = \"", "kind = \"un"), "unknown variant"),
                (
                    given.replace("source =", "sauce ="),
                    "unknown field `sauce`",
                ),
                (format!("{key} = 7"), "invalid type"),
            ] {
                let text = text.replacen(given, &bad, 1);
                let error = said(&text);
                assert!(error.contains(why), "{bad}: {error}");
                assert!(
                    error.contains(&format!("`{table}.{key}`")),
                    "{bad}: {error}"
                );
                assert!(error.contains(&line(&text, key)), "{bad}: {error}");
            }
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        for name in ["intel-dc-s3700-200gb", "intel-dc-s3700-100gb"] {
            let text = file(name);
            let text = text.replacen("dies_per_channel =", "dice_per_channel =", 1);
            let error = said(&text);
            let says = "`nand.dice_per_channel`: unknown field `dice_per_channel`; allowed here: `";
            assert!(error.contains(says), "{error}");
            assert!(!error.contains("cannot be"), "{error}");
            assert!(error.contains(&line(&text, "dice_per_channel")), "{error}");
        }
    }
    /// What is allowed is said in the words of the file, not in those of the program that reads it.
    #[test]
    fn a_value_of_another_type_is_told_what_a_value_is() {
        let text = file("intel-dc-s3700-200gb");
        let given = text.lines().find(|l| l.starts_with("channels =")).unwrap();
        let (_, rest) = given.split_once(", kind").unwrap();
        for (value, allowed) in [
            ("channels = 8".to_owned(), "{ value = ..., kind ="),
            (
                format!("channels = {{ value = -8, kind{rest}"),
                "a whole number, 0 or more",
            ),
            (
                format!("channels = {{ value = \"8\", kind{rest}"),
                "a whole number, 0 or more",
            ),
            (
                format!("channels = {{ value = 99999999999999999999, kind{rest}"),
                "a whole number of at most",
            ),
        ] {
            let error = said(&text.replacen(given, &value, 1));
            let allowed = format!("allowed here: {allowed}");
            assert!(error.contains(&allowed), "{value}: {error}");
        }
    }
}
