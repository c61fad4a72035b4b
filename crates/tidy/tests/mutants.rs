//! Are mutants found by the rules, written so that they parse, chosen by their own function alone?

use ssdlab_tidy::mutants::{Choice, chosen, mutated_files, rewritten, sites, switch};
use ssdlab_tidy::repository::Repository;
use ssdlab_tidy::source::SourceFile;
use std::path::Path;

const CODE: &str = "\
const LIMIT: u32 = 2 + 3;
struct Pool { free: u32 }
impl Pool {
    fn take(&mut self, count: u32) -> bool {
        if count as u32 + 1 > self.free && !self.is_empty() {
            return false;
        }
        self.free -= count;
        self.note(count);
        match count {
            0 => true,
            _ => self.free % 2 == 0,
        }
    }
}
impl std::fmt::Debug for Pool {
    fn fmt(&self) -> u32 { 1 + 1 }
}
#[cfg(test)]
mod tests { fn check() -> u32 { 1 + 1 } }
";

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile::new(&format!("crates/ssd/src/ftl/{path}"), text)
}

#[test]
fn every_rule_applies_and_what_is_no_code_of_the_drive_is_left_alone() {
    let sites = sites(CODE).expect("parses");
    let names: Vec<String> = sites.iter().map(|site| site.name()).collect();
    let expected = [
        "Pool::take: is `true`",
        "Pool::take: is `false`",
        "Pool::take: `&&` to `||`",
        "Pool::take: `>` to `==`",
        "Pool::take: `>` to `<`",
        "Pool::take: `>` to `>=`",
        "Pool::take: `+` to `-`",
        "Pool::take: `+` to `*`",
        "Pool::take: `!` left out",
        "Pool::take: `-=` to `+=`",
        "Pool::take: `-=` to `/=`",
        "Pool::take: `self.note(count)` left out",
        "Pool::take: arm `0` left out",
        "Pool::take: `==` to `!=`",
        "Pool::take: `%` to `/`",
        "Pool::take: `%` to `+`",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_mutant_of_a_mutant_s_operand_is_written_too() {
    let source = file("a.rs", "fn f(a: u32) -> u32 { a + 2 * a }\n");
    let all = Choice { seed: 1, one_in: 1 };
    let mutants = chosen(&[&source], &all).expect("parses");
    let by_name = |name: &str| {
        let found = mutants.iter().find(|mutant| mutant.name().ends_with(name));
        found.expect("there")
    };
    let (plus, times) = (by_name("`+` to `-`"), by_name("`*` to `/`"));
    let text = rewritten(&source.text, &[plus, times]);
    let on = |id: usize| format!("crate::mutant::on({id})");
    let expected = format!(
        "fn f(a: u32) -> u32 {{ (if {} {{ (a) - (2 * a) }} else {{ a + (if {} {{ (2) / (a) }} \
         else {{ 2 * a }}) }}) }}\n",
        on(plus.id),
        on(times.id)
    );
    assert_eq!(text, expected);
}

#[test]
fn what_is_chosen_of_a_function_does_not_depend_on_others() {
    let before = file("a.rs", "fn f(a: u32) -> u32 { a * a + a - a / a }\n");
    let text = format!("fn g(a: u32) -> u32 {{ a + 1 }}\n{}", before.text);
    let after = file("a.rs", &text);
    let names = |source: &SourceFile, one_in| -> Vec<String> {
        let mutants = chosen(&[source], &Choice { seed: 7, one_in }).expect("parses");
        mutants.iter().map(|mutant| mutant.name()).collect()
    };
    let (before, after) = (names(&before, 2), names(&after, 2));
    assert!(before.len() > 1, "{before:?}");
    let of_f: Vec<&String> = after.iter().filter(|name| name.contains(" f:")).collect();
    assert_eq!(of_f, before.iter().collect::<Vec<_>>());
}

#[test]
fn every_mutant_of_the_drive_parses_and_every_file_has_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = Repository::read(&root).expect("readable");
    let files = mutated_files(&repository);
    let all = chosen(&files, &Choice { seed: 1, one_in: 1 }).expect("parses");
    let few = chosen(
        &files,
        &Choice {
            seed: 1,
            one_in: 24,
        },
    )
    .expect("parses");
    for source in files {
        let own: Vec<_> = all
            .iter()
            .filter(|mutant| mutant.file == source.path)
            .collect();
        let text = rewritten(&source.text, &own);
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let is_drawn = few.iter().any(|mutant| mutant.file == source.path);
        assert!(is_drawn || own.is_empty(), "{}", source.path);
    }
    assert!(few.len() >= 200, "{}", few.len());
    let mut names: Vec<String> = all.iter().map(|mutant| mutant.name()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len(), "two have one name");
    syn::parse_file(&switch(all.len())).expect("parses");
}
