//! The `ssdlab` command: arguments to a lab plan to an exit code.
fn main() {}
