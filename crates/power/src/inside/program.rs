//! Running a program in the folder, and listening to it.

use super::preset::{DatabasePreset, PresetSetting};
use super::tools::{command, is_there};
use super::{terminal, tracer};
use crate::crashtest::scripts::{NOT_FOUND, NOT_RUN, NOT_SEEN, mark};
use ssdlab_base::LabError;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How a program says what it has acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkSource {
    /// Each line that it prints is a mark.
    Stdout,
    /// By `ssdlab mark`, or the socket `SSDLAB_MARK`.
    Socket,
}

/// How long what a program has printed may take to arrive after its end. A process that it has
/// left behind can hold its output open for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Lost lines that a message names.
const LOST_NAMED: usize = 3;

/// A program to be run on the drive.
pub struct WorkloadProgram {
    at: PathBuf,
    env: Vec<(&'static str, OsString)>,
    /// What a tracer of the workload writes into.
    trace: Option<PathBuf>,
}

impl WorkloadProgram {
    /// A program in the folder `at`, whose data is `subject`.
    pub fn new(subject: &Path, at: &Path) -> WorkloadProgram {
        WorkloadProgram {
            at: at.to_owned(),
            env: vec![
                ("SSDLAB_DATA", subject.into()),
                // It would hold lines back.
                ("PYTHONUNBUFFERED", "1".into()),
                ("TERM", "dumb".into()),
            ],
            trace: None,
        }
    }

    /// Watches the names that the workload makes, if this machine can; otherwise `trace` says why
    /// not.
    pub fn watch(&mut self, trace: &Path) -> Result<(), LabError> {
        match tracer::obstacle(trace) {
            None => self.trace = Some(trace.to_owned()),
            Some(reason) => std::fs::write(trace, format!("{NOT_SEEN}{reason}"))
                .map_err(|error| LabError::file("writing", trace, error))?,
        }
        Ok(())
    }

    /// With one more variable in its environment.
    pub fn set(&mut self, name: &'static str, value: &Path) {
        self.env.push((name, value.into()));
    }

    /// A workload's command, under a tracer if the campaign asks for it.
    fn watched(&self, program: &str) -> Command {
        let exists = if program.contains('/') {
            self.at.join(program).exists()
        } else {
            is_there(program)
        };
        match &self.trace {
            Some(trace) if exists => self.settled(tracer::traced(program, trace)),
            _ => self.command(program),
        }
    }

    fn command(&self, program: &str) -> Command {
        self.settled(command(program))
    }

    /// With its environment and its folder.
    fn settled(&self, mut command: Command) -> Command {
        let env = self.env.iter().map(|(name, value)| (name, value));
        command.envs(env).current_dir(&self.at);
        command
    }

    /// Runs a workload; each line that it prints is a mark if `marks` says so.
    pub fn work(
        &self,
        words: &[String],
        marks: MarkSource,
        socket: &Path,
    ) -> Result<i32, LabError> {
        let Some((program, rest)) = words.split_first() else {
            return Err(LabError::refused("no program is given", ""));
        };
        let mut command = self.watched(program);
        let data = self.env[0].1.to_string_lossy().into_owned();
        command.args(rest.iter().map(|word| word.replace("{}", &data)));
        match marks {
            MarkSource::Socket => finish(start(&mut command)?),
            MarkSource::Stdout => heard(command, |line| mark(socket, line)),
        }
    }

    /// Runs a command line of the shell.
    pub fn shell(&self, line: &str) -> Result<i32, LabError> {
        finish(start(self.command("sh").args(["-c", line]))?)
    }

    /// Runs a command line of the shell that prints what it finds, and compares it with the lines
    /// that are due.
    pub fn found(&self, line: &str, due: &str) -> Result<i32, LabError> {
        let mut command = self.command("sh");
        let output = command.args(["-c", line]).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| LabError::file("running", "sh", error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some(code @ (NOT_RUN | NOT_FOUND)) = output.status.code() {
            println!("`{line}` ends with {}", output.status);
            return Ok(code);
        }
        let failed = !output.status.success();
        let how = if failed {
            format!("; `{line}` ends with {}", output.status)
        } else {
            String::new()
        };
        match missing(due, &text) {
            Some(words) => println!("{words}{how}"),
            // With nothing acknowledged there may be nothing that it could read.
            None if failed && !due.is_empty() => println!("damaged{how}"),
            None => return Ok(0),
        }
        Ok(1)
    }

    /// Runs a script of a preset.
    pub fn preset(
        &self,
        preset: &DatabasePreset,
        row: &PresetSetting,
        is_work: bool,
        folder: &Path,
    ) -> Result<i32, LabError> {
        let [program, words @ ..] = &preset.write(row, is_work, folder)?[..] else {
            return Err(LabError::refused("an empty preset", ""));
        };
        let mut command = if is_work {
            self.watched(program)
        } else {
            self.command(program)
        };
        finish(start(command.args(words).envs(&row.env))?)
    }
}

/// The first lines that are due and not there, in words.
pub fn missing(due: &str, lines: &str) -> Option<String> {
    let lines: BTreeSet<&str> = lines.lines().map(str::trim_end).collect();
    let due: Vec<&str> = due.lines().map(str::trim_end).collect();
    let is_lost = |line: &&&str| !lines.contains(**line);
    let lost: Vec<&str> = due.iter().filter(is_lost).copied().collect();
    let named: Vec<String> = lost
        .iter()
        .take(LOST_NAMED)
        .map(|line| format!("`{line}`"))
        .collect();
    let more = if lost.len() > LOST_NAMED { ", ..." } else { "" };
    let counts = format!("{} of {} acknowledged", lost.len(), due.len());
    (!lost.is_empty()).then(|| format!("lost: {counts}: {}{more}", named.join(", ")))
}

fn start(command: &mut Command) -> Result<Child, LabError> {
    let child = command.spawn();
    child.map_err(|error| LabError::File {
        action: "running",
        path: command.get_program().into(),
        source: error,
        hint: "a program of your own is named with its path: ./my-app".into(),
    })
}

fn finish(mut child: Child) -> Result<i32, LabError> {
    let ended = child.wait();
    ended
        .map(code)
        .map_err(|error| LabError::refused(error.to_string(), ""))
}

/// The exit code of a program, or as the shell has it for a signal.
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let by_signal = status.signal().map(|signal| 128 + signal);
    status.code().or(by_signal).unwrap_or(1)
}

/// Runs a program and hands on each line that it prints, also to our own output.
fn heard(
    mut command: Command,
    mut each: impl FnMut(&str) -> Result<(), LabError>,
) -> Result<i32, LabError> {
    let (ours, mut child) = with_terminal(&mut command)?;
    // It holds the program's side of the terminal.
    drop(command);
    let (to, lines) = mpsc::channel();
    std::thread::spawn(move || read_lines(ours, |line| to.send(line).is_ok()));
    let mut status = None;
    loop {
        let wait = status.map_or(Duration::from_millis(5), |_| LAST_WORDS);
        match lines.recv_timeout(wait) {
            Ok(line) => {
                println!("{line}");
                each(&line)?;
            }
            Err(mpsc::RecvTimeoutError::Timeout) if status.is_none() => {
                status = child.try_wait().unwrap_or(None);
            }
            Err(_) => break,
        }
    }
    match status {
        Some(status) => Ok(code(status)),
        None => finish(child),
    }
}

/// Starts a program whose output is a terminal, or a pipe without one; returns our side of it.
fn with_terminal(command: &mut Command) -> Result<(Box<dyn Read + Send>, Child), LabError> {
    if let Ok((ours, theirs)) = terminal::open() {
        let child = start(command.stdout(theirs))?;
        return Ok((Box::new(ours), child));
    }
    let mut child = start(command.stdout(Stdio::piped()))?;
    match child.stdout.take() {
        Some(ours) => Ok((Box::new(ours), child)),
        None => Ok((Box::new(std::io::empty()), child)),
    }
}

/// Passes on lines until the last writer has closed its end, or `each` refuses; skips empty ones.
fn read_lines(from: Box<dyn Read + Send>, mut each: impl FnMut(String) -> bool) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    // A terminal whose other side is closed reads as an error.
    while from.read_until(b'\n', &mut line).unwrap_or(0) > 0 || !line.is_empty() {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        if !text.is_empty() && !each(text) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_due_and_not_there_are_named() {
        assert_eq!(missing("a\nb\n", "b\nz\na \n"), None);
        assert_eq!(missing("", ""), None);
        let words = missing("a\nb\nc\nd\ne\n", "c\n").expect("lost");
        assert_eq!(words, "lost: 4 of 5 acknowledged: `a`, `b`, `d`, ...");
    }

    /// Each line is heard when it is printed, not when the program ends; the last needs no end.
    #[test]
    fn a_program_is_heard_line_by_line() {
        let program = WorkloadProgram::new(Path::new("/"), Path::new("/"));
        let folder = tempfile::tempdir().expect("made");
        let go = folder.path().join("go");
        let mut command = program.command("sh");
        let script = "echo one; while [ ! -e \"$0\" ]; do sleep 0.01; done; \
                      printf 'two\\n\\nthree'; exit 3";
        command.args(["-c", script]).arg(&go);
        let mut heard_lines = Vec::new();
        let code = heard(command, |line| {
            heard_lines.push(line.to_owned());
            // It ends only when its first line has come.
            super::super::tools::write_script(&go, "")
        });
        assert_eq!(code.expect("ran"), 3);
        assert_eq!(heard_lines, ["one", "two", "three"]);
    }

    /// A daemon that a program has left behind keeps its output open.
    #[test]
    fn a_program_ends_although_its_daemon_goes_on() {
        let program = WorkloadProgram::new(Path::new("/"), Path::new("/"));
        let mut command = program.command("sh");
        command.args(["-c", "sleep 30 & echo $!"]);
        let mut daemon = String::new();
        let code = heard(command, |line| {
            line.clone_into(&mut daemon);
            Ok(())
        });
        assert_eq!(code.expect("ran"), 0);
        let ended = Command::new("kill").arg(&daemon).status().expect("killed");
        assert!(ended.success(), "{daemon} was gone");
    }
}
