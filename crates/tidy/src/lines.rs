//! Lines of Rust, with and without tests.

use crate::repository::Repository;
use crate::source::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// Lines of a crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    /// Code that is not a test, with its comments and empty lines.
    pub shipped: usize,
    /// Tests and their support.
    pub tests: usize,
}

impl AddAssign for LineCount {
    fn add_assign(&mut self, other: LineCount) {
        self.shipped += other.shipped;
        self.tests += other.tests;
    }
}

/// Lines by crate (folder of two parts: `crates/ssd`, or less).
pub fn by_crate(repository: &Repository) -> BTreeMap<String, LineCount> {
    let tests = test_files(repository);
    let mut counts: BTreeMap<String, LineCount> = BTreeMap::new();
    for source in repository.rust() {
        let parts: Vec<&str> = source.path.split('/').collect();
        let folder = parts[..parts.len().saturating_sub(1).min(2)].join("/");
        *counts.entry(folder).or_default() += lines(source, tests.contains(&source.path));
    }
    counts
}

/// Test files, known by their names and by `#[cfg(test)] mod`.
pub fn test_files(repository: &Repository) -> BTreeSet<String> {
    let modules: BTreeSet<String> = repository
        .rust()
        .flat_map(SourceFile::test_modules)
        .collect();
    let is_below = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let above = module.match_indices('/').map(|(at, _)| &module[..at]);
        above.chain([module]).any(|part| modules.contains(part))
    };
    let paths = repository.rust().map(|source| source.path.as_str());
    let tests = paths.filter(|path| is_test_name(path) || is_below(path));
    tests.map(str::to_owned).collect()
}

fn is_test_name(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let name = file.trim_end_matches(".rs");
    folders.split('/').any(|folder| folder == "tests")
        || ["tests", "testing", "fixtures"].contains(&name)
        || name.ends_with("_tests")
        || name.starts_with("tests_")
}

fn lines(source: &SourceFile, is_test: bool) -> LineCount {
    let line_count = source.text.lines().count();
    if is_test {
        return LineCount {
            shipped: 0,
            tests: line_count,
        };
    }
    let modules = source.test_items().into_iter().filter(|range| {
        let item = &source.code[range.clone()];
        item.ends_with('}')
            && item
                .split('{')
                .next()
                .is_some_and(|head| head.contains("mod "))
    });
    let tests = modules
        .map(|range| source.code[range].lines().count())
        .sum();
    LineCount {
        shipped: line_count - tests,
        tests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_name_and_by_module() {
        for path in [
            "crates/a/tests/b.rs",
            "a/tests.rs",
            "a/b_tests.rs",
            "a/tests_c.rs",
        ] {
            assert!(is_test_name(path), "{path}");
        }
        for path in [
            "a/crashtest.rs",
            "a/testimony.rs",
            "crates/crashtest/mod.rs",
        ] {
            assert!(!is_test_name(path), "{path}");
        }
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(test)]\nfn c() {}\n";
        let counted = lines(&SourceFile::new("a.rs", text), false);
        assert_eq!(
            counted,
            LineCount {
                shipped: 3,
                tests: 4
            }
        );
        assert_eq!(
            lines(&SourceFile::new("a.rs", text), true),
            LineCount {
                shipped: 0,
                tests: 7
            }
        );
    }

    #[test]
    fn files_of_a_test_module_are_tests() {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let repository = Repository {
            root: "unused".into(),
            sources: vec![
                file("crates/a/src/lib.rs", "#[cfg(test)]\nmod bench;\nmod b;\n"),
                file("crates/a/src/b.rs", "\n"),
                file("crates/a/src/bench/mod.rs", "\n\n"),
                file("crates/a/src/bench/deep.rs", "\n\n\n"),
            ],
        };
        let found = by_crate(&repository);
        assert_eq!(
            found["crates/a"],
            LineCount {
                shipped: 4,
                tests: 5
            }
        );
    }
}
