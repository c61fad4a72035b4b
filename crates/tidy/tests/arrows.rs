//! Does a path lead to the file that defines what it names? Small crates, written here.

use ssdlab_tidy::modules::Modules;
use ssdlab_tidy::source::SourceFile;

/// Reads files given as (path below `src`, text).
fn read(files: &[(&str, &str)]) -> Modules {
    let text = |text: &str| SourceFile::new("a.rs", text).shipped_text();
    let texts = files.iter().map(|(path, t)| ((*path).to_owned(), text(t)));
    Modules::read("ssdlab-sample", &texts.collect()).expect("a crate")
}

/// Arrows as text.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let modules = read(files);
    assert_eq!(modules.unresolved, [], "all paths lead somewhere");
    let all = modules.arrows.keys();
    all.map(|(from, to)| modules.arrow(*from, *to)).collect()
}

const ROOT: (&str, &str) = ("lib.rs", "mod a;\nmod b;");

#[test]
fn a_use_leads_to_the_definition() {
    let b = ("b.rs", "pub struct X;\npub fn f() {}\npub const N: u8 = 1;");
    for a in [
        "use crate::b::X;",
        "use super::b::X;",
        "use super::b::{X};",
        "use super::{b::{self, X}};",
        "use crate::b::X as Y;",
        "use crate::b;\nfn g(x: b::X) {}",
        "use crate::b as other;\nfn g(x: &[other::X]) {}",
        "fn g() { use super::b::X; }",
        "fn g() { use super::b; let x: Vec<b::X>; }",
        "fn g() { let x = crate::b::X; }",
        "impl crate::b::X {}",
        "fn g() { assert!(f(&crate::b::X).is_ok()); }",
        "fn g() { write!(f, \"{}\", super::b::X) }",
        "mod inner { use super::super::b::X; }",
        "mod inner { fn g(x: crate::b::X) {} }",
    ] {
        assert_eq!(arrows(&[ROOT, ("a.rs", a), b]), ["a.rs -> b.rs: X"], "{a}");
    }
    let a = "fn g() { crate::b::f(); let n = crate::b::N; }";
    assert_eq!(arrows(&[ROOT, ("a.rs", a), b]), ["a.rs -> b.rs: N, f"]);
}

#[test]
fn names_from_elsewhere_make_no_arrow() {
    let b = (
        "b.rs",
        "pub struct X;\nimpl X { pub fn f(&self) {} }\npub fn len() {}",
    );
    for a in [
        "use std::collections::BTreeMap;",
        "fn g<T: Default>() { T::default(); Self::b(); Vec::<u8>::new(); }",
        "use super::b;",
        "use super::b::*;",
        "fn g(x: u8) { x.b.len(); x.f(); }",
        "#[cfg(test)]\nuse crate::b::X;\n#[cfg(test)]\nmod tests { use crate::b::X; }",
        "// crate::b::X\nconst A: &str = \"crate::b::X\";",
        "pub(in crate::a) fn g() {}",
        "use ::b::X;",
    ] {
        assert_eq!(arrows(&[ROOT, ("a.rs", a), b]), [""; 0], "{a}");
    }
}

#[test]
fn a_re_export_is_followed() {
    let root = ("lib.rs", "mod top;\npub use top::one::X;");
    let top = (
        "top/mod.rs",
        "pub mod one;\nmod two;\npub use one::X as Z;\npub use one::*;",
    );
    let one = ("top/one.rs", "pub struct X;");
    for two in [
        "use super::X;",
        "use super::Z;",
        "use crate::X;",
        "use crate::top::X;",
    ] {
        let found = arrows(&[root, top, one, ("top/two.rs", two)]);
        assert_eq!(found, ["top/two.rs -> top/one.rs: X"], "{two}");
    }
}

#[test]
fn a_facade_has_no_arrow_but_a_detour_has() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use b::X;");
    let b = ("b.rs", "pub struct X;");
    assert_eq!(arrows(&[root, ("a.rs", ""), b]), [""; 0]);
    for a in ["pub use crate::b::X;", "pub(crate) use super::X;"] {
        assert_eq!(arrows(&[root, ("a.rs", a), b]), ["a.rs -> b.rs: X"]);
    }
    for used in [
        "fn f(x: b::X) {}",
        "fn f(x: X) {}",
        "impl X {}",
        "fn f() { assert!(X) }",
    ] {
        let text = format!("mod b;\npub use b::X;\n{used}");
        assert_eq!(
            arrows(&[("lib.rs", &text), b]),
            ["lib.rs -> b.rs: X"],
            "{used}"
        );
    }
}

#[test]
fn a_star_ties_by_the_names_that_are_used() {
    let b = (
        "b.rs",
        "pub struct X;\npub fn f() {}\npub enum E { One, Two }\npub fn g() {}",
    );
    let a = "use crate::b::*;\nfn h(x: X) { f(); let g = 1; g + 1; }";
    assert_eq!(arrows(&[ROOT, ("a.rs", a), b]), ["a.rs -> b.rs: X, f"]);
    let own = "use crate::b::*;\nstruct X;\nfn h(x: X) {}";
    assert_eq!(arrows(&[ROOT, ("a.rs", own), b]), [""; 0]);
    let block = "fn h() { use crate::b::E::*; Two; None; }";
    assert_eq!(arrows(&[ROOT, ("a.rs", block), b]), ["a.rs -> b.rs: E"]);
    let pattern = "use crate::b::*;\nfn h(x: u8) { match x { MOST => 1, f => f } }";
    let b_const = ("b.rs", "pub const MOST: u8 = 9;\npub fn f() {}");
    assert_eq!(
        arrows(&[ROOT, ("a.rs", pattern), b_const]),
        ["a.rs -> b.rs: MOST"]
    );
    let macro_argument = "use crate::b::*;\nfn h() { assert!(f() == 1); }";
    assert_eq!(
        arrows(&[ROOT, ("a.rs", macro_argument), b]),
        ["a.rs -> b.rs: f"]
    );
}

#[test]
fn variants_and_associated_functions_lead_to_the_type() {
    let b = (
        "b.rs",
        "pub enum E { One }\npub trait T { fn t(); }\npub type A = E;",
    );
    for (a, name) in [
        ("use super::b::E::One;", "E"),
        ("use super::b::E::{self, One};", "E"),
        ("fn f() { super::b::E::new(1); }", "E"),
        ("fn f() { matches!(x, super::b::E::One { .. }) }", "E"),
        ("fn f() { match x { crate::b::E::One => {} } }", "E"),
        ("fn f() { <u8 as crate::b::T>::t() }", "T"),
        ("fn f() -> crate::b::A {}", "A"),
    ] {
        let found = arrows(&[ROOT, ("a.rs", a), b]);
        assert_eq!(found, [format!("a.rs -> b.rs: {name}")], "{a}");
    }
}

#[test]
fn a_name_may_stand_for_a_module_and_for_a_function() {
    let root = ("lib.rs", "mod a;\nmod report;\npub use report::report;");
    let report = ("report.rs", "pub fn report() {}\npub struct Row;");
    for (a, name) in [
        ("use crate::report;\nfn f() { report() }", "report"),
        ("use crate::report::report;", "report"),
        ("use crate::report::Row;", "Row"),
    ] {
        let found = arrows(&[root, ("a.rs", a), report]);
        assert_eq!(found, [format!("a.rs -> report.rs: {name}")], "{a}");
    }
}

#[test]
fn macros_by_example_are_names_too() {
    let b = "macro_rules! each { () => { $crate::a::f() } }\npub(crate) use each;";
    let used = "pub fn f() {}\nfn g() { crate::b::each!(); }";
    let both = ["a.rs -> b.rs: each", "b.rs -> a.rs: f"];
    assert_eq!(arrows(&[ROOT, ("a.rs", used), ("b.rs", b)]), both);
    let bare = "pub fn f() {}\nfn g() { each!(); vec![1]; }";
    assert_eq!(arrows(&[ROOT, ("a.rs", bare), ("b.rs", b)]), both);
    let nested = "pub fn f() {}\nfn g() { vec![each!()]; }";
    assert_eq!(arrows(&[ROOT, ("a.rs", nested), ("b.rs", b)]), both);

    let table = "macro_rules! table { ($n:ident) => { pub struct Table { $n: u8 } } }\ntable!(n);";
    let a = ("a.rs", "use crate::b::Table;");
    assert_eq!(arrows(&[ROOT, a, ("b.rs", table)]), ["a.rs -> b.rs: Table"]);
}

#[test]
fn attributes_of_serde_name_functions() {
    let b = ("b.rs", "pub fn is_zero() {}");
    let a = "#[derive(Serialize)]\nstruct A { #[serde(default, skip_serializing_if = \
             \"crate::b::is_zero\")] n: u8 }";
    assert_eq!(arrows(&[ROOT, ("a.rs", a), b]), ["a.rs -> b.rs: is_zero"]);
}

#[test]
fn files_are_found_where_rust_looks() {
    let root = (
        "lib.rs",
        "mod a;\nmod c { mod d; }\n#[path = \"other/e.rs\"]\nmod b;",
    );
    let files = [
        root,
        ("a/mod.rs", "mod deep;\npub struct A;"),
        ("a/deep.rs", "mod deeper;\nuse super::A;"),
        ("a/deep/deeper.rs", "use super::super::A;\nuse crate::b::B;"),
        ("c/d.rs", "use super::super::a::A;"),
        ("other/e.rs", "pub struct B;"),
        ("unused.rs", "use crate::a::A;"),
    ];
    let expected = [
        "a/deep.rs -> a/mod.rs: A",
        "a/deep/deeper.rs -> a/mod.rs: A",
        "a/deep/deeper.rs -> other/e.rs: B",
        "c/d.rs -> a/mod.rs: A",
    ];
    assert_eq!(arrows(&files), expected);
}

#[test]
fn a_program_uses_the_library_beside_it() {
    let files = [
        ("lib.rs", "pub mod b;"),
        ("b.rs", "pub struct X;"),
        ("main.rs", "mod own;\nuse ssdlab_sample::b::X;\nuse own::Y;"),
        ("own.rs", "pub struct Y;"),
    ];
    assert_eq!(
        arrows(&files),
        ["main.rs -> b.rs: X", "main.rs -> own.rs: Y"]
    );
}

#[test]
fn missing_names_are_counted() {
    let modules = read(&[ROOT, ("a.rs", "use crate::b::Missing;"), ("b.rs", "")]);
    assert_eq!(modules.unresolved, [(1, "crate::b::Missing".to_owned())]);
    let files = [("lib.rs".to_owned(), "mod gone;".to_owned())].into();
    assert!(Modules::read("ssdlab-sample", &files).is_err());
}

#[test]
fn imports_that_lead_to_themselves_end() {
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::*;\npub use b::*;");
    let a = (
        "a.rs",
        "pub use crate::b::*;\npub use super::*;\nuse toml::toml;\nfn f() { g(); }",
    );
    let b = ("b.rs", "pub use crate::a::*;\npub fn g() {}");
    assert_eq!(arrows(&[root, a, b]), ["a.rs -> b.rs: g"]);
}

#[test]
fn circles_and_floors_are_of_files() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\nfn f(x: a::A) {}"),
        ("a.rs", "pub struct A;\nuse crate::b::B;"),
        (
            "b.rs",
            "pub struct B;\nuse crate::c::C;\nfn f(x: crate::a::A) {}",
        ),
        ("c.rs", "pub struct C;"),
    ];
    let modules = read(&files);
    let names = |circle: &Vec<usize>| -> Vec<String> {
        circle
            .iter()
            .map(|&file| modules.files[file].clone())
            .collect()
    };
    let circles: Vec<_> = modules.circles().iter().map(names).collect();
    assert_eq!(circles, [["a.rs", "b.rs"]]);
    assert_eq!(modules.floors(), [3, 2, 2, 1]);
}
