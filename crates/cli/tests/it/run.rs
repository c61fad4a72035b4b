//! Runs the command line and keeps what it said.

use assert_cmd::Command;
use std::path::Path;

pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `ssdlab ARGS` in `dir`; a panic fails the test.
pub fn ssdlab(dir: &Path, args: &[&str]) -> Outcome {
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .current_dir(dir)
        .args(args)
        .output()
        .expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    Outcome {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr,
    }
}

/// The example drive.
pub fn small() -> String {
    format!(
        "{}/../../examples/drives/small.toml",
        env!("CARGO_MANIFEST_DIR")
    )
}
