//! What a job file may refer to outside itself: environment variables (`${NAME}`), the machine
//! (`$ncpus`, `$mb_memory`, `$pagesize`) and other files (`include`).

use std::path::{Path, PathBuf};

/// Source and text of an included file, or why it cannot be read.
type IncludeResult = Result<(String, String), String>;

/// What a job file may refer to outside itself.
pub struct Surroundings<'a> {
    /// The value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The value of `ncpus`, `mb_memory` and `pagesize`.
    pub keyword: &'a dyn Fn(&str) -> Option<u64>,
    /// The file of this name, included by that source.
    pub file: &'a dyn Fn(&str, &str) -> IncludeResult,
    /// Where the log of commands of this name is, or why it may not be read.
    pub log: &'a dyn Fn(&str) -> Result<PathBuf, String>,
}

const KEYWORDS: [&str; 3] = ["pagesize", "mb_memory", "ncpus"];

impl Surroundings<'_> {
    /// No variables, no machine, no files: a text means the same everywhere.
    pub fn none() -> Surroundings<'static> {
        Surroundings {
            variable: &|_| None,
            keyword: &|_| None,
            file: &|_, _| Err("a text without a file includes none".to_owned()),
            log: &|_| Err("a text without a file reads none".to_owned()),
        }
    }

    /// Those of this process.
    pub fn here() -> Surroundings<'static> {
        Surroundings {
            variable: &|name| std::env::var(name).ok(),
            keyword: &machine,
            file: &included,
            log: &|name| Ok(PathBuf::from(name)),
        }
    }

    /// `text` with its variables and keywords replaced; as in fio, a text with a keyword may be a
    /// calculation such as `$mb_memory*2`. An error has its hint.
    pub(crate) fn expand(&self, text: &str) -> Result<String, (String, String)> {
        let mut remaining = text;
        let mut whole = String::new();
        while let Some((before, rest)) = remaining.split_once("${") {
            let (name, after) = rest.split_once('}').ok_or_else(|| {
                let hint = "a variable is written ${NAME}".to_owned();
                ("its `${` is not closed".to_owned(), hint)
            })?;
            whole += before;
            whole += &(self.variable)(name).ok_or_else(|| {
                let problem = format!("the environment variable {name} is not set");
                (
                    problem,
                    format!("set it, for example by: export {name}=..."),
                )
            })?;
            remaining = after;
        }
        whole += remaining;
        let mut calculate = false;
        for keyword in KEYWORDS {
            let written = format!("${keyword}");
            if whole.contains(&written) {
                let value = (self.keyword)(keyword).ok_or_else(|| {
                    let problem = format!("`{written}` is not known here");
                    (problem, "write the value itself".to_owned())
                })?;
                whole = whole.replace(&written, &value.to_string());
                calculate = true;
            }
        }
        if !calculate || !whole.contains(['+', '-', '*', '/']) {
            return Ok(whole);
        }
        let value = calculated(&whole).ok_or_else(|| {
            let problem = format!("`{whole}` cannot be calculated");
            (problem, "whole numbers with + - * / are".to_owned())
        })?;
        Ok(value.to_string())
    }
}

/// The value of whole numbers with + - * /, products first.
fn calculated(text: &str) -> Option<u64> {
    let mut sum = 0u64;
    let mut sign = '+';
    let mut remaining = text.trim();
    loop {
        let end = remaining.find(['+', '-']).unwrap_or(remaining.len());
        let product = product(&remaining[..end])?;
        sum = match sign {
            '+' => sum.checked_add(product)?,
            _ => sum.checked_sub(product)?,
        };
        let Some(next) = remaining[end..].chars().next() else {
            return Some(sum);
        };
        sign = next;
        remaining = &remaining[end + 1..];
    }
}

fn product(text: &str) -> Option<u64> {
    let mut value: Option<u64> = None;
    let mut times = true;
    let mut remaining = text;
    loop {
        let end = remaining.find(['*', '/']).unwrap_or(remaining.len());
        let factor: u64 = remaining[..end].trim().parse().ok()?;
        value = Some(match (value, times) {
            (None, _) => factor,
            (Some(value), true) => value.checked_mul(factor)?,
            (Some(value), false) => value.checked_div(factor)?,
        });
        let Some(next) = remaining[end..].chars().next() else {
            return value;
        };
        times = next == '*';
        remaining = &remaining[end + 1..];
    }
}

/// What Linux says of the machine.
fn machine(keyword: &str) -> Option<u64> {
    let kib = |file: &str, field: &str| -> Option<u64> {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    match keyword {
        "ncpus" => Some(std::thread::available_parallelism().ok()?.get() as u64),
        "mb_memory" => Some(kib("/proc/meminfo", "MemTotal:")? / 1024),
        // Of the first mapping of this process, which is not of huge pages.
        "pagesize" => Some(kib("/proc/self/smaps", "KernelPageSize:")? * 1024),
        _ => None,
    }
}

/// As fio: relative to the working directory, or else to the including file.
fn included(name: &str, by: &str) -> IncludeResult {
    let beside: PathBuf = Path::new(by).parent().unwrap_or(Path::new("")).join(name);
    let path = if Path::new(name).exists() {
        PathBuf::from(name)
    } else {
        beside
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(why) => Err(format!("reading {}: {why}", path.display())),
    }
}
