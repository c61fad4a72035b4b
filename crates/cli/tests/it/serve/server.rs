//! `ssdlab serve` as a child process.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The program.
pub fn ssdlab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ssdlab"))
}

/// A server of `FOLDER/drive` at `FOLDER/nbd` and `FOLDER/control`.
pub struct Server {
    pub child: Child,
    pub socket: PathBuf,
    pub greeting: String,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Begins to serve.
    pub fn spawn(folder: &Path, more: &[&str]) -> Server {
        Server::spawn_of(folder.join("drive").as_os_str(), folder, more)
    }

    /// Begins to serve `drive`, a directory or `drive:NAME`.
    pub fn spawn_of(drive: &OsStr, folder: &Path, more: &[&str]) -> Server {
        Server::spawn_by(ssdlab(), drive, folder, more)
    }

    /// Both, without the signal that ends a program at the limit on the size of files.
    pub fn start_without_signal(folder: &Path, more: &[&str]) -> Option<Server> {
        let mut shell = Command::new("sh");
        let script = "trap '' XFSZ; exec \"$@\"";
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_ssdlab")]);
        Server::spawn_by(shell, folder.join("drive").as_os_str(), folder, more).wait()
    }

    fn spawn_by(mut command: Command, drive: &OsStr, folder: &Path, more: &[&str]) -> Server {
        let socket = folder.join("nbd");
        let mut child = command
            .arg("serve")
            .arg(drive)
            .arg("--nbd")
            .arg(format!("unix:{}", socket.display()))
            .arg("--control")
            .arg(folder.join("control"))
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Server {
            child,
            socket,
            greeting: String::new(),
            output,
        }
    }

    /// Waits until it is ready; `None` when it ends before.
    pub fn wait(mut self) -> Option<Server> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).expect("text") == 0 {
                self.child.wait().expect("ended");
                return None;
            }
            if line == "ready\n" {
                return Some(self);
            }
            self.greeting.push_str(&line);
        }
    }

    /// Both.
    pub fn start(folder: &Path, more: &[&str]) -> Option<Server> {
        Server::spawn(folder, more).wait()
    }

    /// Ends it by SIGTERM; returns what it said then.
    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        let killed = Command::new("kill").arg(&id).status().expect("kill");
        assert!(killed.success());
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("text");
        assert!(self.child.wait().expect("ended").success());
        said
    }
}
