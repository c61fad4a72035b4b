//! Lines of the control socket: a request survives being written and read back; a refusal says
//! why and changes nothing.

use crate::Target;
use ssdlab_serve::control::{ControlRequest, run_line};
use ssdlab_serve::{MemoryStore, PowerControl};

/// One line.
pub const TARGET: Target = Target {
    name: "control",
    run,
    seeds: || {
        let lines = [
            r#"{"do": "off"}"#,
            r#"{"do": "on"}"#,
            r#"{"do": "status"}"#,
            r#"{"do": "disarm"}"#,
            r#"{"do": "cut-when", "at": {"flush": {"nth": 3, "side": "inside"}}, "wait": true}"#,
            r#"{"do": "cut-when", "at": {"write-to": {"offset": 0, "length": 4096}}}"#,
            r#"{"do": "cut-when", "at": {"after-bytes": {"bytes": 1048576}}}"#,
            r#"{"do": "cut-when", "at": {"magic": {"text": "CUT HERE"}}}"#,
            r#"{"do": "cut-when", "at": {"nand-op": {"nth": 1000}}}"#,
        ];
        lines.map(|line| line.as_bytes().to_vec()).to_vec()
    },
    words: &["\"wait\": ", "null", "{}", "\"before\"", "-1", "1e99"],
};

fn run(input: &[u8]) {
    let line = String::from_utf8_lossy(input);
    let drive = MemoryStore::new(1 << 16, 512);
    let before = drive.status();
    let (answer, until) = run_line(&drive, &line);
    let request = serde_json::from_str::<ControlRequest>(&line);
    match &request {
        Ok(request) => {
            let written = serde_json::to_string(request).expect("a request");
            assert_eq!(
                serde_json::from_str::<ControlRequest>(&written)
                    .ok()
                    .as_ref(),
                Some(request)
            );
        }
        Err(_) => assert!(!answer.ok),
    }
    assert_eq!(answer.ok, answer.error.is_none());
    assert_eq!(answer.ok, answer.event.is_some() && answer.status.is_some());
    if !answer.ok {
        assert!(until.is_none());
        assert_eq!(drive.status(), before, "refused, and yet changed");
    }
}
