//! The recipes of `CONTRIBUTING.md`, each with an example that is kept as a patch.
//!
//! ```text
//! ### A role [4 or 5]              title, and how many files a change touches
//! 1. `crates/judge/...`: what      a step with its files; NAME stands for any name,
//! 2. `docs/...`, when ...          a folder for any file in it; optional with "when"
//! ```

use std::ops::RangeInclusive;

/// Most lines of a file to which a recipe leads: what the recipe adds must find room there.
pub const LINES_MAX: usize = 500;

/// The patches of `tests/recipes/` and the titles of their recipes.
pub const EXAMPLES: [(&str, &str); 7] = [
    ("drive", "A drive"),
    ("policy", "A victim policy"),
    ("fio-option", "A fio option"),
    ("nbd-command", "An NBD command"),
    ("role", "A role"),
    ("fault", "A fault of a power cut"),
    ("figure", "A published figure"),
];

/// Folders of the repository's root in which named files are.
const ROOTS: [&str; 5] = ["crates/", "docs/", "drives/", "examples/", "tests/"];

/// Beginnings of commands that write files of the repository.
const COMMANDS: [&str; 2] = ["`UPDATE_", "`ssdlab drives adopt"];

/// One recipe.
#[derive(Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Its heading without the number.
    pub title: String,
    /// Number of files that a change touches.
    pub counts: RangeInclusive<usize>,
    /// Its numbered steps.
    pub steps: Vec<RecipeStep>,
}

/// A numbered step of a recipe.
#[derive(Debug, PartialEq, Eq)]
pub struct RecipeStep {
    /// The files and folders that it names; empty if it is not about the repository.
    pub paths: Vec<String>,
    /// Whether a change may leave it out.
    pub is_optional: bool,
    /// Whether a command writes its files.
    pub is_command: bool,
}

/// A file of a patch.
#[derive(Debug, PartialEq, Eq)]
pub struct PatchedFile {
    /// Path from the repository's root.
    pub path: String,
    /// What each hunk expects to find; empty: the file is new.
    pub hunks: Vec<String>,
}

/// The recipes of a text.
///
/// # Errors
/// When a heading has no number of files.
pub fn read(text: &str) -> Result<Vec<Recipe>, String> {
    let recipes = text
        .split_once("\n## Recipes\n")
        .map_or("", |(_, rest)| rest);
    recipes.split("\n### ").skip(1).map(recipe).collect()
}

fn recipe(text: &str) -> Result<Recipe, String> {
    let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
    let parts = heading.strip_suffix(']').and_then(|h| h.split_once(" ["));
    let (title, numbers) = parts.ok_or(format!("`{heading}`: no [number] of files"))?;
    let numbers = numbers
        .split([' ', '-'])
        .filter_map(|word| word.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    let (Some(&least), Some(&most)) = (numbers.first(), numbers.last()) else {
        return Err(format!("`{heading}`: no [number] of files"));
    };
    let mut steps: Vec<String> = Vec::new();
    let mut is_step = false;
    for line in body.lines() {
        let number = line.find(". ").map(|end| &line[..end]);
        if number.is_some_and(|number| number.parse::<u8>().is_ok()) {
            steps.push(String::new());
            is_step = true;
        }
        is_step &= !line.is_empty();
        if let Some(step) = steps.last_mut().filter(|_| is_step) {
            *step += line.trim_start();
            step.push(' ');
        }
    }
    Ok(Recipe {
        title: title.to_owned(),
        counts: least..=most,
        steps: steps.iter().map(|text| step(text)).collect(),
    })
}

fn step(text: &str) -> RecipeStep {
    let mut folder = String::new();
    let mut paths = Vec::new();
    for token in text.split('`').skip(1).step_by(2) {
        let ends = ["/", ".rs", ".toml", ".md", ".csv", ".jsonl", ".txt", ".sh"];
        if token.contains([' ', '=']) || !ends.iter().any(|end| token.ends_with(end)) {
            continue;
        }
        let is_whole = folder.is_empty() || ROOTS.iter().any(|root| token.starts_with(root));
        let path = if is_whole {
            token.to_owned()
        } else {
            folder.clone() + token
        };
        if is_whole {
            folder = path[..path.rfind('/').map_or(0, |end| end + 1)].to_owned();
        }
        paths.push(path);
    }
    RecipeStep {
        is_optional: text.contains(" when "),
        is_command: COMMANDS.iter().any(|start| text.contains(start)),
        paths,
    }
}

/// Whether a change of `file` is a change of `path`: the file, any file of a folder, or a file
/// called otherwise where the path says NAME.
fn covers(path: &str, file: &str) -> bool {
    if path.ends_with('/') {
        return file.starts_with(path);
    }
    match path.split_once("NAME") {
        Some((start, end)) => {
            let name = file.strip_prefix(start).and_then(|f| f.strip_suffix(end));
            name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
        }
        None => path == file,
    }
}

impl Recipe {
    fn names(&self, file: &str) -> bool {
        let mut paths = self.steps.iter().flat_map(|step| &step.paths);
        paths.any(|path| covers(path, file))
    }

    /// Breaches of the recipe by a change that touches `files`.
    pub fn breaches(&self, files: &[&str]) -> Vec<String> {
        let title = &self.title;
        let unnamed = files.iter().filter(|file| !self.names(file));
        let mut breaches: Vec<String> = unnamed
            .map(|file| format!("recipe `{title}` does not name {file}, which has to change"))
            .collect();
        for (number, step) in (1..).zip(&self.steps) {
            let touches = |path: &String| files.iter().any(|file| covers(path, file));
            let needs = !step.paths.is_empty() && !step.is_optional;
            if needs && !step.paths.iter().any(touches) {
                let paths = step.paths.join(", ");
                breaches.push(format!(
                    "recipe `{title}`: step {number} was left out: {paths}"
                ));
            }
        }
        if !self.counts.contains(&files.len()) {
            let (least, most) = (self.counts.start(), self.counts.end());
            breaches.push(format!(
                "recipe `{title}` says {least} to {most} files, the change touches {}",
                files.len()
            ));
        }
        breaches
    }

    /// Files that the recipe names and that do not exist or have no room; `read` gives a file's
    /// text.
    pub fn dead_ends(&self, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let paths = self.steps.iter().flat_map(|step| &step.paths);
        let files = paths.filter(|path| !path.ends_with('/') && !path.contains("NAME"));
        files
            .filter_map(|path| match read(path) {
                None => Some(format!("recipe `{}`: {path} does not exist", self.title)),
                Some(text) => crowded(path, &text),
            })
            .collect()
    }

    /// The files of a patch, and those that a step's command writes.
    pub fn files<'a>(&'a self, patch: &'a [PatchedFile]) -> Vec<&'a str> {
        let commands = self.steps.iter().filter(|step| step.is_command);
        let written = commands.flat_map(|step| &step.paths);
        let mut files: Vec<&str> = patch.iter().map(|file| file.path.as_str()).collect();
        let written = written.filter(|path| !path.contains("NAME"));
        files.extend(written.map(String::as_str));
        files.sort_unstable();
        files.dedup();
        files
    }
}

fn crowded(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LINES_MAX).then(|| {
        format!(
            "{path}: a recipe leads there, and it has {lines} lines, over {LINES_MAX}: split it"
        )
    })
}

/// The files of a patch in the form of `git diff`.
pub fn patch(text: &str) -> Vec<PatchedFile> {
    let mut files: Vec<PatchedFile> = Vec::new();
    let mut is_new = false;
    for line in text.lines() {
        if let Some(old) = line.strip_prefix("--- ") {
            is_new = old == "/dev/null";
        } else if let Some(path) = line.strip_prefix("+++ b/") {
            let (path, hunks) = (path.to_owned(), Vec::new());
            files.push(PatchedFile { path, hunks });
        } else if let Some(file) = files.last_mut().filter(|_| !is_new) {
            match (line.split_at_checked(1), file.hunks.last_mut()) {
                (Some(("@", _)), _) => file.hunks.push(String::new()),
                (Some((" " | "-", text)), Some(hunk)) => {
                    *hunk += text;
                    hunk.push('\n');
                }
                _ => {}
            }
        }
    }
    files
}

/// Files of a patch that have changed where the patch wants to change them, or have no room; `read`
/// gives a file's text.
pub fn misfits(patch: &[PatchedFile], read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut misfits = Vec::new();
    for file in patch {
        let text = match (read(&file.path), file.hunks.is_empty()) {
            (None, true) => continue,
            (Some(_), true) => {
                misfits.push(format!("{} exists already", file.path));
                continue;
            }
            (None, false) => {
                misfits.push(format!("{} has moved", file.path));
                continue;
            }
            (Some(text), false) => text,
        };
        let lost = file.hunks.iter().find(|hunk| !text.contains(hunk.as_str()));
        misfits.extend(lost.map(|hunk| format!("{} has changed here:\n{hunk}", file.path)));
        misfits.extend(crowded(&file.path, &text));
    }
    misfits
}
