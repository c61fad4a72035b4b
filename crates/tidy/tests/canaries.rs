//! Each rule sees a sample that breaks it, and one that does not.

use ssdlab_tidy::rules::*;
use ssdlab_tidy::source::SourceFile;

fn rs(path: &str, text: &str) -> SourceFile {
    SourceFile::new(path, text)
}

#[test]
fn code_strings_characters_and_comments_are_distinguished() {
    let text = "let a = \"// no /* no\"; // yes \"\n\
                let b = 'x'; let c = '\\''; let d = '\"'; /* yes /* yes */ yes */ f::<'static>();\n\
                let e = r#\"no \" no\"#; let f = b\"no\\\"no\"; end";
    let source = rs("a.rs", text);
    assert!(!source.code.contains("no") && !source.code.contains("yes"));
    assert_eq!(source.comments.matches("yes").count(), 4);
    assert!(!source.comments.contains("no") && !source.comments.contains("let"));
    for kept in ["let a = \"", "f::< static>();", "let f = b\"", "\"; end"] {
        assert!(source.code.contains(kept), "{kept}: {}", source.code);
    }
    let lines = |text: &str| text.matches('\n').count();
    assert_eq!(lines(&source.code), lines(text));
    assert_eq!(lines(&source.comments), lines(text));
    assert_eq!(lines(&source.strings), lines(text));
    assert_eq!(source.strings.matches("no").count(), 6);
    assert!(!source.strings.contains("let") && !source.strings.contains("yes"));
}

#[test]
fn tests_are_not_shipped() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn t() { b.unwrap() } }\nfn c() {}\n\
                #[cfg(test)]\nmod more;\n#[cfg(test)]\npub(crate) mod others;\n";
    let source = rs("crates/lab/src/x/y.rs", text);
    assert!(!source.shipped_code().contains("unwrap"));
    assert!(source.shipped_code().contains("fn c()"));
    assert_eq!(
        source.test_modules(),
        ["crates/lab/src/x/y/more", "crates/lab/src/x/y/others"]
    );
    let beside = rs("crates/lab/src/x/mod.rs", "#[cfg(test)]\nmod more;");
    assert_eq!(beside.test_modules(), ["crates/lab/src/x/more"]);
    let text = "// é\n#[cfg(test)]\n#[path = \"y_tests.rs\"]\nmod tests;";
    let elsewhere = rs("crates/lab/src/x/y.rs", text);
    assert_eq!(elsewhere.test_modules(), ["crates/lab/src/x/y_tests"]);
}

#[test]
fn the_software_ssd_reaches_nothing_outside() {
    let bad = [
        ("use std::collections::HashMap;", 1),
        ("use std::time::Instant;", 2),
        ("use std::{fs, thread};", 2),
        ("fn f() { std::env::args(); }", 1),
    ];
    for (text, count) in bad {
        let found = outside_of_ssd(&rs("crates/ssd/src/drive/a.rs", text));
        assert_eq!(found.len(), count, "{text}");
    }
    let good = "use crate::nand::Nand; // no thread\n#[cfg(test)]\nmod t { use proptest::x; }";
    assert!(outside_of_ssd(&rs("crates/ssd/src/a.rs", good)).is_empty());
    let elsewhere = "use std::{fs, time::Instant};";
    assert!(outside_of_ssd(&rs("crates/lab/src/a.rs", elsewhere)).is_empty());
}

#[test]
fn a_dependency_is_seen_in_every_form() {
    let bad = [
        "[dependencies]\nserde = \"1\"",
        "[dependencies.serde]\nversion = \"1\"",
        "[build-dependencies]\ncc.workspace = true",
        "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"",
    ];
    for text in bad {
        let found = no_dependencies(&rs("crates/ssd/Cargo.toml", text));
        assert!(!found.is_empty(), "{text}");
    }
    let good = "[package]\nname = \"x\"\n[dependencies]\n\n[dev-dependencies]\nproptest = \"1\"\n";
    assert!(no_dependencies(&rs("crates/ssd/Cargo.toml", good)).is_empty());
}

#[test]
fn floats_and_unsafe_are_seen_where_they_may_not_be() {
    let text = "fn f(x: f64) { unsafe { g(x) } }";
    assert_eq!(no_floats(&rs("crates/ssd/src/ftl/mod.rs", text)).len(), 1);
    assert!(no_floats(&rs("crates/ssd/src/counters.rs", text)).is_empty());
    assert_eq!(
        unsafe_where_allowed(&rs("crates/lab/src/a.rs", text)).len(),
        1
    );
    assert!(unsafe_where_allowed(&rs("crates/ssd/src/caches.rs", text)).is_empty());
    let said = "#![deny(unsafe_code)] // no unsafe\nconst A: &str = \"unsafe\";";
    assert!(unsafe_where_allowed(&rs("crates/lab/src/a.rs", said)).is_empty());
}

#[test]
fn lengths_are_counted_at_the_limit_and_one_above() {
    let line = |columns: usize| rs("a.rs", &"é".repeat(columns));
    assert!(columns(&line(100)).is_empty());
    assert_eq!(columns(&line(101)), ["a.rs:1: over 100 columns"]);

    let body = |lines: usize| format!("fn f(a: [u8; 3]) -> T {{{}}}\n", "\n".repeat(lines - 1));
    assert!(too_long(&rs("a.rs", &body(70))).is_empty());
    let long = too_long(&rs("a.rs", &body(71)));
    assert_eq!(long, ["a.rs:1: f has 71 lines, 70 are allowed"]);

    assert!(too_long(&rs("a.rs", &"\n".repeat(600))).is_empty());
    assert_eq!(too_long(&rs("a.rs", &"\n".repeat(601))).len(), 1);
    let command = |lines: usize| too_long(&rs("crates/cli/src/commands/a.rs", &"\n".repeat(lines)));
    assert_eq!((command(120).len(), command(121).len()), (0, 1));
    let declared = "trait T { fn a(&self); }\ntype F = fn(u32) -> u32;\n";
    assert!(rs("a.rs", declared).functions().is_empty());
}

#[test]
fn unwraps_and_leftovers_are_seen() {
    let bad = "fn f() { a.unwrap(); b.expect(\"\"); }";
    assert_eq!(unwraps(&rs("crates/cli/src/a.rs", bad)).len(), 2);
    let good = "// .unwrap()\nfn f() { b.expect(\"always there\"); c.unwrap_or(1); }";
    assert!(unwraps(&rs("crates/cli/src/a.rs", good)).is_empty());

    let left = concat!(
        "// TO",
        "DO: later\nfn f() { dbg!(x); todo!() } // FIX",
        "ME"
    );
    assert_eq!(unfinished(&rs("a.rs", left)).len(), 4);
    let none = "const WORDS: [&str; 1] = [\"TODO\"]; fn todo() {}";
    assert!(unfinished(&rs("a.rs", none)).is_empty());
    assert_eq!(unfinished(&rs("a.py", concat!("# TO", "DO"))).len(), 1);
}

#[test]
fn a_machines_paths_are_seen() {
    let home = concat!("see `/ho", "me/me/x` and \"/mn", "t/disk/a\"");
    assert_eq!(machine_paths(&rs("a.md", home)).len(), 2);
    let good = "`/dev/sda`, https://example.org/a/b, 70/30 and/or, target/release, /b4K";
    assert!(machine_paths(&rs("a.md", good)).is_empty());
}

#[test]
fn documents_are_held_to_their_form() {
    let good = "# 001. A title\n\n## Context\n\n## Choice\n\n## What would change it\n";
    let path = "docs/decisions/001-a-title.md";
    assert!(decision(&rs(path, good)).is_empty());
    assert_eq!(decision(&rs("docs/decisions/title.md", good)).len(), 2);
    assert_eq!(
        decision(&rs(path, &good.replace("## Choice", "## Choices"))).len(),
        1
    );

    assert!(glossary(&rs("g.md", "- **a, b**: x\n- **c**: y\n")).is_empty());
    assert_eq!(
        glossary(&rs("g.md", "- **a, b c**: x. **B\n  C**: y\n")).len(),
        1
    );
    assert_eq!(glossary(&rs("g.md", "a\n")).len(), 1, "no terms at all");

    let map = rs("docs/README.md", "[x](a.md) [y](b.md#part)");
    assert_eq!(unmapped(&map, &["a.md", "b.md", "c.md"]).len(), 1);

    let links = rs(
        "docs/a.md",
        "[x](b.md#part) [y](../c.md) [z](https://e.org) [w](#here)",
    );
    let there = |path: &str| path == "docs/b.md" || path == "c.md";
    assert!(broken_links(&links, there).is_empty());
    assert_eq!(broken_links(&links, |_| false).len(), 2);
}
