//! Drive files in TOML: an accepted drive is valid and can be shown; a refusal names the file.

use crate::Target;
use ssdlab_drives::catalogue::{check, files, parse};

/// A drive file.
pub const TARGET: Target = Target {
    name: "drive_file",
    run,
    seeds: || {
        let texts = files().iter().map(|(_, text)| text.as_bytes().to_vec());
        texts.collect()
    },
    words: &[
        "value = ",
        "kind = \"assumed\"",
        "kind = \"calibrated\"",
        "source = \"x\"",
        "base = ",
        "\"10 us\"",
        "\"1 TB\"",
        "\"0 GiB\"",
        "true",
        "-1",
        "1e400",
        "nan",
        "\u{e4}",
        "[nand]\n",
    ],
};

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match parse(&text, "input.toml") {
        Err(error) => assert!(error.to_string().contains("input.toml"), "{error}"),
        Ok(drive) => {
            drive.config.validate().expect("an accepted drive is valid");
            assert!(drive.dwpd().is_none_or(|dwpd| dwpd >= 0.0));
            drop((drive.parameters(), drive.rests_on()));
            let _ = check(&drive, &text, "input.toml");
        }
    }
}
