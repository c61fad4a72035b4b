//! The lines of a job file: sections, settings, comments, quotes.

use ssdlab_base::LabError;
use ssdlab_base::error::Place;

/// A section with its settings in order.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: Place,
    pub settings: Vec<Setting>,
}

/// One option as written.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub name: String,
    /// `None` for an option without `=`.
    pub value: Option<String>,
    pub place: Place,
}

impl Section {
    /// A section that stands nowhere in the file.
    pub fn nameless(source: &str) -> Section {
        Section {
            name: String::new(),
            place: place(source, None),
            settings: Vec::new(),
        }
    }
}

impl Setting {
    /// The value, "1" when there is none: what fio's own JSON prints.
    pub fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// Name and value for the exporters.
    pub fn as_written(&self) -> (String, String) {
        (self.name.clone(), self.text().to_owned())
    }

    /// The error that this value is not `allowed`.
    pub fn bad(&self, allowed: &str, hint: impl Into<String>) -> LabError {
        LabError::BadValue {
            option: self.name.clone(),
            given: self.value.clone().unwrap_or_default(),
            allowed: allowed.to_owned(),
            place: self.place.clone(),
            hint: hint.into(),
        }
    }

    /// The error that this option is not supported.
    pub fn unsupported(&self, hint: impl Into<String>) -> LabError {
        LabError::UnknownOption {
            language: "fio",
            option: self.name.clone(),
            place: self.place.clone(),
            hint: hint.into(),
        }
    }
}

fn place(source: &str, line: Option<usize>) -> Place {
    Place {
        source: source.to_owned(),
        line,
    }
}

/// The sections of `text` in order.
pub(super) fn sections(text: &str, source: &str) -> Result<Vec<Section>, LabError> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let place = place(source, Some(index + 1));
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.strip_suffix(']').map(str::trim).unwrap_or_default();
            if name.is_empty() {
                return Err(broken(
                    place,
                    line,
                    "a section is a name in brackets: [job1]",
                ));
            }
            sections.push(Section {
                name: name.to_owned(),
                place,
                settings: Vec::new(),
            });
            continue;
        }
        let setting = setting(line, place)?;
        match sections.last_mut() {
            Some(section) => section.settings.push(setting),
            None => {
                let rule = "options stand below a section such as [global]";
                return Err(broken(setting.place, line, rule));
            }
        }
    }
    Ok(sections)
}

fn setting(line: &str, place: Place) -> Result<Setting, LabError> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (line, None),
    };
    let crooked = name.is_empty() || (value.is_none() && name.contains(char::is_whitespace));
    if crooked && !name.starts_with("include ") {
        return Err(broken(place, line, "a line is name=value, or a name alone"));
    }
    let mut setting = Setting {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        place,
    };
    if let Some(quote @ ('"' | '\'')) = value.and_then(|v| v.chars().next()) {
        let inner = value.unwrap_or_default()[1..].strip_suffix(quote);
        match inner.map(str::to_owned) {
            Some(inner) => setting.value = Some(inner),
            None => return Err(setting.bad("its quote is not closed", "end it as it begins")),
        }
    }
    if setting.text().contains('$') && setting.name != "description" {
        let hint = "variables and keywords are not expanded: write the value itself";
        return Err(setting.bad("`$` has no meaning here", hint));
    }
    Ok(setting)
}

fn broken(place: Place, given: &str, allowed: &str) -> LabError {
    LabError::BadValue {
        option: "line".to_owned(),
        given: given.to_owned(),
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
    for (at, c) in line.char_indices() {
        match (open, c) {
            (None, '#' | ';') => return &line[..at],
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
        Some(_) => line.find(['#', ';']).map_or(line, |at| &line[..at]),
        None => line,
    }
}
