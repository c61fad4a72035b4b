//! Do names say what they are, and do sentences of code ask plainly? The figures that are reached
//! are limits: a change that lowers one lowers the limit, none raises it.

use ssdlab_tidy::census::Census;
use ssdlab_tidy::repository::Repository;
use std::path::Path;

/// Locals in 1,000 whose name says nothing.
const VAGUE_LOCALS_PER_1000: usize = 6;
const BOOL_ARMS: usize = 2;
const TUPLE_PARAMETERS: usize = 1;
/// Names that more than one type has.
const SHARED_TYPE_NAMES: usize = 30;

#[test]
fn names_and_idioms_stay_as_good_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = Repository::read(&root).expect("a readable repository");
    let census = Census::of_crates(&repository).expect("Rust");
    assert!(census.locals > 5000, "only {} locals", census.locals);
    let vague = &census.vague_locals;
    assert!(
        vague.len() * 1000 <= census.locals * VAGUE_LOCALS_PER_1000,
        "{} of {} locals have a name that says nothing:\n{}",
        vague.len(),
        census.locals,
        vague.join("\n")
    );
    let limits = [
        ("arms of a match on a bool", &census.bool_arms, BOOL_ARMS),
        (
            "tuples as parameters",
            &census.tuple_parameters,
            TUPLE_PARAMETERS,
        ),
        (
            "shared names of types",
            &census.shared_types(),
            SHARED_TYPE_NAMES,
        ),
    ];
    for (what, places, limit) in limits {
        let count = places.len();
        assert!(
            count <= limit,
            "{what}: {count}, {limit} are allowed:\n{}",
            places.join("\n")
        );
    }
}

#[test]
fn each_is_counted() {
    let mut census = Census::default();
    let text = "struct Row;\n\
                fn f((a, b): (u8, u8), c: bool) {\n\
                    let found = a; let mut of: u8 = b; let sum = 1;\n\
                    match c { true => 1, false => 2 };\n\
                }\n\
                #[cfg(test)]\nmod tests { struct Row; fn f() { let found = 1; } }";
    census.add("crates/a/src/a.rs", text).expect("Rust");
    census
        .add("crates/a/src/b.rs", "enum Row {}")
        .expect("Rust");
    assert_eq!(census.locals, 3);
    assert_eq!(census.vague_locals.len(), 2);
    assert_eq!(census.bool_arms.len(), 2);
    assert_eq!(census.tuple_parameters, ["crates/a/src/a.rs: f"]);
    assert_eq!(
        census.shared_types(),
        ["Row: crates/a/src/a.rs, crates/a/src/b.rs"]
    );
}
