//! The conversation with the host: lines that begin with [`TAG`], and an empty line from the host
//! where the guest waits for it.

use std::io::{BufRead, Write};

/// What a line for the host begins with. Other lines are Linux's.
pub const TAG: &str = "@conform ";

/// The guest's end of the serial line.
pub struct Console {
    input: std::io::StdinLock<'static>,
}

impl Console {
    pub fn new() -> Console {
        Console {
            input: std::io::stdin().lock(),
        }
    }

    /// Says a line.
    pub fn say(&mut self, text: &str) {
        let mut out = std::io::stdout();
        // In one call, and on a line of its own: Linux may be in the middle of one.
        let line = format!("\n{TAG}{}\n", text.replace('\n', " "));
        let _ = out.write_all(line.as_bytes());
        let _ = out.flush();
    }

    /// Says a line and waits until the host has looked into the drive.
    pub fn ask(&mut self, text: &str) {
        self.say(text);
        let _ = self.input.read_line(&mut String::new());
    }

    /// Says why nothing more comes.
    pub fn fail(&mut self, why: &str) {
        self.say(&format!("fail {why}"));
    }
}
