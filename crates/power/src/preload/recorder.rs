//! Runs a program under the library, and takes down what it does.

use super::tape::{CallTape, TapeMaker};
use super::wire::{Message, take_message};
use crate::crashtest::scripts::END_OF_RECORDING;
use crate::inside::terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use ssdlab_base::LabError;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a program that does nothing is looked after.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// A process of the program.
struct Caller {
    stream: UnixStream,
    bytes: Vec<u8>,
    /// It asks for marks, not for turns.
    makes_marks: bool,
}

/// How a recording ended.
pub struct ProgramEnd {
    /// `None`: it was stopped, or took too long.
    pub status: Option<ExitStatus>,
    pub stopped: bool,
    pub tape: CallTape,
    /// What was not seen.
    pub problems: Vec<String>,
}

/// What a program runs in.
pub struct RecorderPlaces<'a> {
    /// The folder of its files.
    pub root: &'a Path,
    /// Where the sockets are made.
    pub folder: &'a Path,
    /// The library.
    pub preloaded: &'a Path,
    /// What it prints is kept here.
    pub output: &'a Path,
}

/// The recorder.
pub struct CallRecorder {
    maker: TapeMaker,
    turns: UnixListener,
    marks: UnixListener,
    callers: Vec<Option<Caller>>,
    /// Callers that wait for a turn.
    queue: VecDeque<usize>,
    holder: Option<usize>,
    /// Our side of the program's standard output.
    terminal: Option<File>,
    line: Vec<u8>,
    output: File,
    /// Whether each line on standard output is a mark.
    hears: bool,
}

fn listener(path: &Path) -> Result<UnixListener, LabError> {
    let failed = |error| LabError::file("creating", path, error);
    let listener = UnixListener::bind(path).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    // A server of a database may be another user.
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).map_err(failed)?;
    Ok(listener)
}

impl CallRecorder {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn record(
        mut command: Command,
        hears: bool,
        places: &RecorderPlaces<'_>,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<ProgramEnd, LabError> {
        let failed = |error| LabError::file("creating", places.output, error);
        let output = File::create(places.output).map_err(failed)?;
        let (turns, marks) = (places.folder.join("turns"), places.folder.join("mark"));
        let mut recorder = CallRecorder {
            maker: TapeMaker::new(places.root),
            turns: listener(&turns)?,
            marks: listener(&marks)?,
            callers: Vec::new(),
            queue: VecDeque::new(),
            holder: None,
            terminal: None,
            line: Vec::new(),
            output: output.try_clone().map_err(failed)?,
            hears,
        };
        command
            .env("LD_PRELOAD", places.preloaded)
            .env("SSDLAB_PRELOAD_ROOT", places.root)
            .env("SSDLAB_PRELOAD_SOCKET", &turns)
            .env("SSDLAB_MARK", &marks)
            .stderr(output.try_clone().map_err(failed)?)
            .process_group(0);
        if hears && let Ok((ours, theirs)) = terminal::open() {
            rustix::io::ioctl_fionbio(&ours, true).map_err(|error| failed(error.into()))?;
            recorder.terminal = Some(ours);
            command.stdout(theirs);
        } else {
            command.stdout(output);
        }
        let child = command.spawn().map_err(|error| LabError::File {
            action: "running",
            path: PathBuf::from(command.get_program()),
            source: error,
            hint: "a program of your own is named with its path: ./my-app".into(),
        })?;
        // It holds the program's side of the terminal.
        drop(command);
        let (status, stopped) = recorder.attend(child, timeout, stop);
        let (tape, problems) = recorder.maker.finish();
        Ok(ProgramEnd {
            status,
            stopped,
            tape,
            problems,
        })
    }

    /// Serves the program until it ends; then nothing of it is left.
    fn attend(
        &mut self,
        mut child: Child,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> (Option<ExitStatus>, bool) {
        let until = Instant::now() + timeout;
        let mut next_look = Instant::now();
        let mut status = None;
        let mut stopped = false;
        loop {
            self.wait();
            if Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + LOOK;
            if let Ok(Some(ended)) = child.try_wait() {
                status = Some(ended);
                break;
            }
            stopped = stop.load(Ordering::Relaxed);
            if stopped || Instant::now() > until {
                break;
            }
        }
        // What it had said and done by its end.
        self.wait();
        self.hear();
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
        (status, stopped)
    }

    /// Waits for something to do, not for long, and does it.
    fn wait(&mut self) {
        let ready = {
            let terminal = self.terminal.as_ref().map(AsFd::as_fd);
            let first: Vec<BorrowedFd<'_>> = [self.turns.as_fd(), self.marks.as_fd()]
                .into_iter()
                .chain(terminal)
                .collect();
            let callers = self.callers.iter().enumerate();
            let open: Vec<(usize, &Caller)> = callers
                .filter_map(|(index, caller)| caller.as_ref().map(|caller| (index, caller)))
                .filter(|(_, caller)| !(caller.makes_marks && self.holder.is_some()))
                .collect();
            let heard = open.iter().map(|(_, caller)| caller.stream.as_fd());
            let mut polled: Vec<PollFd<'_>> = first
                .iter()
                .copied()
                .chain(heard)
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            let timeout = Timespec::try_from(LOOK).ok();
            if poll(&mut polled, timeout.as_ref()).is_err() {
                return;
            }
            let is_ready = |polled: &PollFd<'_>| !polled.revents().is_empty();
            let callers = open.iter().zip(&polled[first.len()..]);
            let callers = callers.filter(|(_, polled)| is_ready(polled));
            callers.map(|((index, _), _)| *index).collect::<Vec<_>>()
        };
        self.welcome();
        self.hear();
        for index in ready {
            self.listen(index);
        }
        self.grant();
    }

    /// Takes new connections.
    fn welcome(&mut self) {
        for makes_marks in [false, true] {
            let listener = if makes_marks {
                &self.marks
            } else {
                &self.turns
            };
            while let Ok((stream, _)) = listener.accept() {
                let _ = stream.set_nonblocking(true);
                let caller = Some(Caller {
                    stream,
                    bytes: Vec::new(),
                    makes_marks,
                });
                match self.callers.iter().position(Option::is_none) {
                    Some(free) => self.callers[free] = caller,
                    None => self.callers.push(caller),
                }
            }
        }
    }

    /// Takes the lines that the program has printed.
    fn hear(&mut self) {
        let Some(terminal) = &mut self.terminal else {
            return;
        };
        let mut chunk = [0; CHUNK];
        let mut bytes = Vec::new();
        while let Ok(count @ 1..) = terminal.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..count]);
        }
        if bytes.is_empty() {
            return;
        }
        let _ = self.output.write_all(&bytes);
        self.line.extend(bytes);
        // What was printed after a turn comes after what the turn did, which has been sent.
        if let Some(holder) = self.holder {
            self.listen(holder);
        }
        while let Some(end) = self.line.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if self.hears && !text.is_empty() {
                self.maker.mark(&text);
            }
        }
    }

    /// Takes what a caller says.
    fn listen(&mut self, index: usize) {
        let Some(caller) = &mut self.callers[index] else {
            return;
        };
        let mut chunk = [0; CHUNK];
        let mut is_gone = false;
        loop {
            match caller.stream.read(&mut chunk) {
                Ok(0) => is_gone = true,
                Ok(count) => {
                    caller.bytes.extend_from_slice(&chunk[..count]);
                    continue;
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => is_gone = true,
            }
            break;
        }
        if caller.makes_marks {
            self.take_marks(index);
        } else {
            self.take_messages(index);
        }
        if is_gone {
            self.callers[index] = None;
            self.queue.retain(|&waiting| waiting != index);
            // Killed in its turn.
            if self.holder == Some(index) {
                self.holder = None;
            }
        }
    }

    fn take_marks(&mut self, index: usize) {
        let Some(caller) = &mut self.callers[index] else {
            return;
        };
        while let Some(end) = caller.bytes.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = caller.bytes.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line[..end]).into_owned();
            if text != END_OF_RECORDING {
                self.maker.mark(&text);
            }
            let _ = caller.stream.write_all(b"ok\n");
        }
    }

    fn take_messages(&mut self, index: usize) {
        let Some(caller) = &mut self.callers[index] else {
            return;
        };
        while let Some(message) = take_message(&mut caller.bytes) {
            match message {
                Message::Begin => self.queue.push_back(index),
                Message::End(deeds) => {
                    deeds.into_iter().for_each(|deed| self.maker.add(deed));
                    self.holder = None;
                }
            }
        }
    }

    /// Gives the next turn, when what was printed before it is heard.
    fn grant(&mut self) {
        while self.holder.is_none()
            && let Some(index) = self.queue.pop_front()
        {
            self.hear();
            self.maker.look_at_streams();
            let Some(caller) = &mut self.callers[index] else {
                continue;
            };
            if caller.stream.write_all(&[1]).is_ok() {
                self.holder = Some(index);
            }
        }
    }
}
