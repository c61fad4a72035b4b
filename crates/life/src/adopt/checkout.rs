//! A checkout of ssdlab's source: the folder of drives, and the two tables that are kept of them.

use serde_json::Value;
use ssdlab_base::LabError;
use ssdlab_bench::run_dir::write_text;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rows of validated drives, by the name that begins each; the first line is a header.
const VALIDATED: &str = "validated.csv";
/// A JSON object a line, of each validated drive.
const REFERENCES: &str = "references.jsonl";

/// A checkout.
pub struct Checkout {
    /// Its folder of drive files and tables.
    drives: PathBuf,
}

/// One of the tables, read; its entries are in the order of the drives' file names.
struct Table {
    path: PathBuf,
    /// Each line, and the name of the drive that it is about; `None`: the header.
    lines: Vec<(Option<String>, String)>,
}

impl Table {
    fn read(path: PathBuf, name: fn(&str) -> Option<String>) -> Result<Table, LabError> {
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| LabError::file("reading", &path, error))?;
        let lines = text.lines().map(|line| (name(line), line.to_owned()));
        Ok(Table {
            lines: lines.collect(),
            path,
        })
    }

    fn has(&self, name: &str) -> bool {
        self.lines
            .iter()
            .any(|(known, _)| known.as_deref() == Some(name))
    }

    /// The table with the entries of one more drive.
    fn with(&self, name: &str, entries: &[String]) -> String {
        let is_later = |(known, _): &(Option<String>, String)| {
            known
                .as_ref()
                .is_some_and(|known| file_name(known) > file_name(name))
        };
        let position = self.lines.iter().position(is_later);
        let mut lines: Vec<&str> = self.lines.iter().map(|(_, line)| line.as_str()).collect();
        let position = position.unwrap_or(lines.len());
        lines.splice(position..position, entries.iter().map(String::as_str));
        lines.join("\n") + "\n"
    }
}

fn file_name(drive: &str) -> String {
    format!("{drive}.toml")
}

/// Drive of a row of `validated.csv`.
fn row_name(row: &str) -> Option<String> {
    let name = row.split(',').next()?;
    (name != "drive").then(|| name.to_owned())
}

/// Drive of a line of `references.jsonl`.
fn reference_name(line: &str) -> Option<String> {
    let reference: Value = serde_json::from_str(line).ok()?;
    let target = reference["evidence"]["facts"]["name"].as_str()?;
    Some(target.strip_prefix("drive:")?.to_owned())
}

impl Checkout {
    /// The checkout at `folder`, else the one that the current directory is in.
    ///
    /// # Errors
    /// When neither is in a checkout.
    pub fn find(folder: Option<&Path>) -> Result<Checkout, LabError> {
        let start = match folder {
            Some(folder) => folder.to_owned(),
            None => std::env::current_dir()
                .map_err(|error| LabError::file("reading", Path::new("."), error))?,
        };
        let depth = if folder.is_some() { 1 } else { usize::MAX };
        let places = start
            .ancestors()
            .take(depth)
            .map(|place| place.join("drives"));
        let is_checkout = |drives: &PathBuf| {
            drives.join(VALIDATED).is_file() && drives.join(REFERENCES).is_file()
        };
        places
            .into_iter()
            .find(is_checkout)
            .map(|drives| Checkout { drives })
            .ok_or_else(|| {
                LabError::refused(
                    format!(
                        "{} is not in a checkout of ssdlab: it has no drives/{VALIDATED}",
                        start.display()
                    ),
                    "go into the checkout, or name it: --into FOLDER",
                )
            })
    }

    fn validated(&self) -> Result<Table, LabError> {
        Table::read(self.drives.join(VALIDATED), row_name)
    }

    fn references(&self) -> Result<Table, LabError> {
        Table::read(self.drives.join(REFERENCES), reference_name)
    }

    /// Refuses a name that the checkout has already.
    ///
    /// # Errors
    /// When it has a file or an entry of a table of this name, or a table cannot be read.
    pub fn refuse_known(&self, name: &str) -> Result<(), LabError> {
        let file = self.drives.join(file_name(name));
        if file.exists() {
            return Err(LabError::refused(
                format!("there is a drive `{name}` already: {}", file.display()),
                "give the drive another name, in the file and as the file's name",
            ));
        }
        for table in [self.validated()?, self.references()?] {
            if table.has(name) {
                return Err(LabError::refused(
                    format!(
                        "{} has entries of a drive `{name}` already",
                        table.path.display()
                    ),
                    "give the drive another name, or remove the entries of a drive that is gone",
                ));
            }
        }
        Ok(())
    }

    /// Adds a drive: its file, its rows of `validated.csv`, and its line of `references.jsonl`;
    /// returns the paths that were written.
    ///
    /// # Errors
    /// When one cannot be written; the drive's file is then removed again.
    pub fn add(
        &self,
        name: &str,
        text: &str,
        rows: &[String],
        reference: Option<&str>,
    ) -> Result<Vec<PathBuf>, LabError> {
        let (validated, references) = (self.validated()?, self.references()?);
        let file = self.drives.join(file_name(name));
        fs::File::create_new(&file)
            .and_then(|mut created| created.write_all(text.as_bytes()))
            .map_err(|error| LabError::file("writing", &file, error))?;
        let mut written = vec![file.clone()];
        let entries: Vec<String> = reference.map(str::to_owned).into_iter().collect();
        for (table, entries) in [(validated, rows), (references, entries.as_slice())] {
            if entries.is_empty() {
                continue;
            }
            if let Err(error) = write_text(&table.path, &table.with(name, entries)) {
                let _ = fs::remove_file(&file);
                return Err(error);
            }
            written.push(table.path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_in_the_order_of_file_names_behind_the_header() {
        let lines = ["drive,figure", "b,x", "b,y", "d,x"];
        let lines = lines.map(|line| (row_name(line), line.to_owned()));
        let table = Table {
            path: PathBuf::new(),
            lines: lines.to_vec(),
        };
        for (name, lines) in [
            ("a", "drive,figure\na,z\nb,x\nb,y\nd,x\n"),
            ("c", "drive,figure\nb,x\nb,y\nc,z\nd,x\n"),
            // `b-2.toml` is before `b.toml`.
            ("b-2", "drive,figure\nb-2,z\nb,x\nb,y\nd,x\n"),
            ("e", "drive,figure\nb,x\nb,y\nd,x\ne,z\n"),
        ] {
            assert_eq!(table.with(name, &[format!("{name},z")]), lines);
            assert!(!table.has(name) && table.has("b"));
        }
    }
}
