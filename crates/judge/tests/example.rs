//! Does the example that the README links to qualify a drive?

#[path = "../examples/qualify.rs"]
#[allow(dead_code)]
mod example;

#[test]
fn the_example_judges_a_small_drive() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let small = crates.join("../../examples/drives/small.toml");
    let text = example::answer(&format!("drive:{}", small.display())).expect("a verdict");
    assert!(text.contains("Is it a good choice?"), "{text}");
    assert!(text.contains("as slog (quick profile)"), "{text}");
}
