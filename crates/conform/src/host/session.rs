//! One guest from its boot to its end.

use super::drive::{BlockDurability, CommandCounts, GuestDrive};
use super::image::BootImage;
use super::machine::GuestMachine;
use super::plan::{ConformPlan, Transport};
use super::report::{ConformReport, GuestDiskReport, RouteCell, RouteVerdict};
use crate::route::{RouteTarget, named};
use ssdlab_base::LabError;
use ssdlab_serve::fuse::FuseFile;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::vhost_user::VhostUserServer;
use ssdlab_serve::{Address, Lint, SharedDrive};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a line of the guest for us begins with.
const TAG: &str = "@conform ";
/// Time that a hypervisor has to end after its guest.
const END_WITHIN: Duration = Duration::from_secs(20);
/// How often it is looked whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(200);
/// Lines of others that are shown when a guest fails.
const LAST_LINES: usize = 12;

/// What serves a drive, until it is dropped.
#[expect(dead_code, reason = "servers stop when they are dropped")]
enum GuestFrontEnd {
    Nbd(NbdServer),
    File(FuseFile),
    VhostUser(VhostUserServer),
}

/// Boots `machine`, and adds what its guest was promised to `report`.
pub fn run(
    plan: &ConformPlan,
    machine: &GuestMachine,
    image: &BootImage,
    folder: &Path,
    stop: &AtomicBool,
    report: &mut ConformReport,
) -> Result<(), LabError> {
    let mut arguments = machine.arguments.clone();
    let append = image.command_line(machine.drives.len());
    let fill = |arguments: &mut Vec<String>, place: &str, text: &str| {
        for argument in arguments.iter_mut() {
            *argument = argument.replace(place, text);
        }
    };
    fill(&mut arguments, "{kernel}", &image.kernel.to_string_lossy());
    fill(&mut arguments, "{initrd}", &image.initrd.to_string_lossy());
    fill(&mut arguments, "{append}", &append);
    let (mut drives, mut fronts) = (Vec::new(), Vec::new());
    for (number, planned) in machine.drives.iter().enumerate() {
        let drive = Arc::new(GuestDrive::new(&planned.name(), &image.ext4));
        // A file is below a folder of that name, which stays.
        let kind = if planned.is_vhost_user {
            "disk"
        } else {
            "drive"
        };
        let place = folder.join(format!("{kind}{number}"));
        let transport = (!planned.is_vhost_user).then_some(plan.transport);
        let (front, at) = serve(drive.clone(), transport, &place)?;
        let name = if planned.is_vhost_user {
            "vhost-user"
        } else {
            "drive"
        };
        fill(&mut arguments, &format!("{{{name}{number}}}"), &at);
        fill(&mut arguments, &format!("{{{name}}}"), &at);
        drives.push(drive);
        fronts.push(front);
    }
    let mut guest = RunningGuest::boot(&arguments, plan.timeout, stop)?;
    let mut judge = Judge {
        machine,
        drives: &drives,
        report,
        disk: None,
        before: CommandCounts::default(),
    };
    let heard = judge.listen(&mut guest);
    guest.end();
    drop(fronts);
    heard
}

/// Serves a drive; returns how the hypervisor reaches it.
fn serve(
    drive: Arc<GuestDrive>,
    transport: Option<Transport>,
    place: &Path,
) -> Result<(GuestFrontEnd, String), LabError> {
    let shared = Arc::new(SharedDrive::new(drive));
    let lint = Arc::new(Lint::default());
    let text = place.display();
    let failed = |error: std::io::Error| LabError::File {
        action: "serving a drive at",
        path: place.to_owned(),
        source: error,
        hint: "--file needs /dev/fuse; sockets need a short TMPDIR".to_owned(),
    };
    match transport {
        Some(Transport::Nbd) => {
            let address = Address::Unix(place.to_owned());
            let server = NbdServer::start(shared, lint, &address, NbdOptions::default());
            let uri = format!("nbd+unix:///drive?socket={text}");
            Ok((GuestFrontEnd::Nbd(server.map_err(failed)?), uri))
        }
        Some(Transport::File) => {
            std::fs::create_dir_all(place).map_err(failed)?;
            let file = FuseFile::mount(shared, lint, place, "drive").map_err(failed)?;
            let path = file.path().display().to_string();
            Ok((GuestFrontEnd::File(file), path))
        }
        None => {
            let server = VhostUserServer::start(shared, lint, place, "ssdlab").map_err(failed)?;
            Ok((GuestFrontEnd::VhostUser(server), text.to_string()))
        }
    }
}

/// A hypervisor and its guest.
struct RunningGuest<'a> {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    until: Instant,
    last: Vec<String>,
    stop: &'a AtomicBool,
}

impl RunningGuest<'_> {
    fn boot<'a>(
        arguments: &[String],
        timeout: Duration,
        stop: &'a AtomicBool,
    ) -> Result<RunningGuest<'a>, LabError> {
        let mut command = Command::new(&arguments[0]);
        command.args(&arguments[1..]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| LabError::File {
            action: "running",
            path: arguments[0].clone().into(),
            source: error,
            hint: "on Debian: apt-get install qemu-system-x86".to_owned(),
        })?;
        let (send, lines) = channel();
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        let readers: [Option<Box<dyn Read + Send>>; 2] = [
            out.map(|out| Box::new(out) as _),
            errors.map(|out| Box::new(out) as _),
        ];
        for reader in readers.into_iter().flatten() {
            let send = send.clone();
            std::thread::spawn(move || forward(reader, &send));
        }
        let input = child.stdin.take().expect("its input is piped");
        Ok(RunningGuest {
            child,
            input,
            lines,
            until: Instant::now() + timeout,
            last: Vec::new(),
            stop,
        })
    }

    /// The next line for us, without its tag. `None` when nothing more comes, time is over, or
    /// it is to stop.
    fn next(&mut self) -> Option<String> {
        loop {
            let remaining = self.until.saturating_duration_since(Instant::now());
            if remaining.is_zero() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let line = match self.lines.recv_timeout(remaining.min(STOP_CHECK)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            if let Some(at) = line.find(TAG) {
                return Some(line[at + TAG.len()..].trim_end().to_owned());
            }
            if !line.trim().is_empty() {
                self.last.push(line);
                self.last
                    .drain(..self.last.len().saturating_sub(LAST_LINES));
            }
        }
    }

    /// Lets the guest go on.
    fn go_on(&mut self) {
        // A hypervisor that has gone is noticed when its next line is read.
        let _ = self
            .input
            .write_all(b"\n")
            .and_then(|()| self.input.flush());
    }

    /// Waits for the hypervisor, and kills it if it stays.
    fn end(&mut self) {
        let until = Instant::now() + END_WITHIN;
        while Instant::now() < until && self.until > Instant::now() {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn failed(&self, what: &str) -> LabError {
        let last = self.last.join("\n  ");
        LabError::refused(format!("{what}; the last that was heard:\n  {last}"), "")
    }
}

impl Drop for RunningGuest<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(reader: impl Read, send: &std::sync::mpsc::Sender<String>) {
    for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
        if send
            .send(String::from_utf8_lossy(&line).into_owned())
            .is_err()
        {
            return;
        }
    }
}

/// Judges what a guest says.
struct Judge<'a> {
    machine: &'a GuestMachine,
    drives: &'a [Arc<GuestDrive>],
    report: &'a mut ConformReport,
    /// The drive at which the guest works: its number here, and in the report.
    disk: Option<(usize, usize)>,
    before: CommandCounts,
}

impl Judge<'_> {
    fn listen(&mut self, guest: &mut RunningGuest<'_>) -> Result<(), LabError> {
        loop {
            let Some(line) = guest.next() else {
                let name = &self.machine.name;
                if guest.stop.load(Ordering::Relaxed) {
                    return Err(LabError::refused(format!("{name}: stopped"), ""));
                }
                let problem = format!("{name}: the guest has not finished");
                return Err(guest.failed(&problem));
            };
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "disk" => self.disk(rest),
                "begin" => {
                    self.before = self.drive().map(|drive| drive.begin()).unwrap_or_default();
                    guest.go_on();
                }
                "done" | "none" => {
                    self.judge(word == "done", rest);
                    guest.go_on();
                }
                "fail" => self.report.trouble = Some(format!("{}: {rest}", self.machine.name)),
                "bye" => return Ok(()),
                _ => {}
            }
        }
    }

    fn drive(&self) -> Option<&Arc<GuestDrive>> {
        self.disk.map(|(number, _)| &self.drives[number])
    }

    fn disk(&mut self, text: &str) {
        let mut fields = text.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        let (name, device, kind, announces, fua) = (next(), next(), next(), next(), next());
        let found = self
            .machine
            .drives
            .iter()
            .position(|drive| drive.name() == name);
        let Some(number) = found else {
            return;
        };
        let planned = &self.machine.drives[number];
        self.report.disks.push(GuestDiskReport {
            model: planned.model.clone(),
            cache: planned.cache.clone(),
            device,
            kind,
            announces,
            fua: fua == "1",
            cells: Vec::new(),
        });
        self.disk = Some((number, self.report.disks.len() - 1));
    }

    fn judge(&mut self, is_done: bool, text: &str) {
        let mut fields = text.splitn(3, '\t');
        let mut next = || fields.next().unwrap_or_default();
        let (token, name, rest) = (next(), next(), next());
        let (Some(route), Some((number, at))) = (named(name), self.disk) else {
            return;
        };
        let drive = &self.drives[number];
        // A token that is no number is in no block.
        let token = token.parse().unwrap_or(0);
        let place = drive.whereabouts(token, route.on == RouteTarget::Ext4Metadata);
        let verdict = match (is_done, rest) {
            (false, _) => RouteVerdict::None,
            (true, "promised") if place == BlockDurability::Durable => RouteVerdict::Kept,
            (true, "promised") => RouteVerdict::Broken,
            (true, _) if place == BlockDurability::Durable => RouteVerdict::DurableUnasked,
            (true, _) => RouteVerdict::NoPromise,
        };
        let why = match (verdict, place) {
            (RouteVerdict::None, _) => rest.to_owned(),
            (RouteVerdict::Broken, BlockDurability::Cached) => {
                "in the drive's volatile cache".to_owned()
            }
            (RouteVerdict::Broken, BlockDurability::CommitCached) => {
                "the journal's commit is in the drive's volatile cache".to_owned()
            }
            (RouteVerdict::Broken, _) => "has not reached the drive".to_owned(),
            _ => String::new(),
        };
        self.report.disks[at].cells.push(RouteCell {
            route: route.name,
            verdict,
            why,
            commands: drive.counts().since(self.before),
        });
    }
}
