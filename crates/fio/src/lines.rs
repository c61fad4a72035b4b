//! The lines of a job file: sections, settings, comments, quotes, included files.

use crate::error::{Error, JobFileLocation};
use crate::surroundings::Surroundings;

/// A section with its settings in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFileSection {
    /// Its name, such as `global`.
    pub name: String,
    /// Where it begins.
    pub place: JobFileLocation,
    /// Its options, those of included files among them.
    pub settings: Vec<JobOption>,
}

/// One option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOption {
    /// The option as the user spelled it: see [`crate::names::canonical`].
    pub name: String,
    /// With variables, keywords and quotes resolved; `None` for an option without `=`.
    pub value: Option<String>,
    /// Where it stands.
    pub place: JobFileLocation,
}

impl JobFileSection {
    /// Whether its options are for all jobs below it.
    pub fn is_global(&self) -> bool {
        self.name == "global"
    }
}

impl JobOption {
    /// The value, "1" for an option without one: what fio's own JSON prints.
    pub fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// Name and [`JobOption::text`].
    pub fn as_written(&self) -> (String, String) {
        (self.name.clone(), self.text().to_owned())
    }

    /// The error that this value is not `allowed`.
    pub fn bad(&self, allowed: &str, hint: impl Into<String>) -> Error {
        Error::BadValue {
            option: self.name.clone(),
            given: self.value.clone().unwrap_or_default(),
            allowed: allowed.to_owned(),
            place: self.place.clone(),
            hint: hint.into(),
        }
    }

    /// The error that this option is not supported.
    pub fn unsupported(&self, hint: impl Into<String>) -> Error {
        Error::UnknownOption {
            option: self.name.clone(),
            place: self.place.clone(),
            hint: hint.into(),
        }
    }
}

fn place(source: &str, line: Option<usize>) -> JobFileLocation {
    JobFileLocation {
        source: source.to_owned(),
        line,
    }
}

/// A job file being read, with what is wrong in it.
pub(crate) struct JobFileParser<'a> {
    pub surroundings: &'a Surroundings<'a>,
    pub sections: Vec<JobFileSection>,
    pub errors: Vec<Error>,
}

/// Files included by files included ...: more than this is a circle.
const NESTED_MAX: u32 = 16;

impl JobFileParser<'_> {
    /// Reads the lines of `text`, which `nested` files include.
    pub fn lines(&mut self, text: &str, source: &str, nested: u32) {
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let place = place(source, Some(index + 1));
            let line = without_comment(line).trim();
            if !line.is_empty() {
                let read = self.line(line, place, nested);
                self.errors.extend(read.err());
            }
        }
    }

    fn line(&mut self, line: &str, place: JobFileLocation, nested: u32) -> Result<(), Error> {
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim).unwrap_or_default();
            let rule = match (name, nested) {
                ("", _) => "a section is a name in brackets: [job1]",
                (_, 0) => "",
                _ => "an included file holds options, and no sections",
            };
            if !rule.is_empty() {
                return Err(broken(place, line, rule));
            }
            self.sections.push(JobFileSection {
                name: name.to_owned(),
                place,
                settings: Vec::new(),
            });
            return Ok(());
        }
        if let Some(name) = line.strip_prefix("include ") {
            return self.include(name.trim(), place, nested);
        }
        let Some(section) = self.sections.last_mut() else {
            let rule = "options stand below a section such as [global]";
            return Err(broken(place, line, rule));
        };
        section
            .settings
            .push(setting(line, place, self.surroundings)?);
        Ok(())
    }

    /// The lines of another file, as if they stood here.
    fn include(&mut self, name: &str, place: JobFileLocation, nested: u32) -> Result<(), Error> {
        let bad = |problem: &str, hint: &str| Error::BadValue {
            option: "include".to_owned(),
            given: name.to_owned(),
            allowed: problem.to_owned(),
            place: place.clone(),
            hint: hint.to_owned(),
        };
        if nested == NESTED_MAX {
            return Err(bad("files include each other", "copy the lines instead"));
        }
        match (self.surroundings.file)(name, &place.source) {
            Ok((source, text)) => {
                self.lines(&text, &source, nested + 1);
                Ok(())
            }
            Err(why) => Err(bad(&why, "copy the included file's lines into this one")),
        }
    }
}

fn setting(
    line: &str,
    place: JobFileLocation,
    surroundings: &Surroundings,
) -> Result<JobOption, Error> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (line, None),
    };
    if name.is_empty() || (value.is_none() && name.contains(char::is_whitespace)) {
        return Err(broken(place, line, "a line is name=value, or a name alone"));
    }
    let mut setting = JobOption {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        place,
    };
    // In a pattern, quotes mark texts.
    let quotes = !["buffer_pattern", "verify_pattern"].contains(&name);
    let first = value.filter(|_| quotes).and_then(|v| v.chars().next());
    if let Some(quote @ ('"' | '\'')) = first {
        let inner = value.unwrap_or_default()[1..].strip_suffix(quote);
        match inner.map(str::to_owned) {
            Some(inner) => setting.value = Some(inner),
            None => return Err(setting.bad("its quote is not closed", "end it as it begins")),
        }
    }
    // fio's own words, and a text for the reader.
    if !["description", "filename_format"].contains(&name) && setting.text().contains('$') {
        let expanded = surroundings.expand(setting.text());
        let expanded = expanded.map_err(|(why, hint)| setting.bad(&why, hint))?;
        setting.value = Some(expanded);
    }
    Ok(setting)
}

fn broken(place: JobFileLocation, value: &str, allowed: &str) -> Error {
    Error::BadValue {
        option: "line".to_owned(),
        given: value.to_owned(),
        allowed: allowed.to_owned(),
        place,
        hint: String::new(),
    }
}

/// The line up to the first `#` or `;` that no quotes enclose. Quotes count only where a value
/// begins, so that an apostrophe in a description hides nothing.
fn without_comment(line: &str) -> &str {
    let mut open: Option<char> = None;
    let mut before = ' ';
    for (position, c) in line.char_indices() {
        match (open, c) {
            (None, '#' | ';') => return &line[..position],
            (None, '"' | '\'') if before == '=' => open = Some(c),
            (Some(quote), c) if c == quote => open = None,
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    // A quote that never closes encloses nothing.
    match open {
        Some(_) => line
            .find(['#', ';'])
            .map_or(line, |position| &line[..position]),
        None => line,
    }
}
