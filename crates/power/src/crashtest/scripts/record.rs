//! Recording the commands of a script.

use super::attach::{AttachedDrive, ScriptOptions};
use super::names::NameHistory;
use super::run::ScriptOutcome;
use crate::crashtest::log_writes::MARK_MAX;
use crate::crashtest::{CommandStream, RecordingDisk, SectorDevice};
use ssdlab_base::LabError;
use ssdlab_serve::{SectorDurability, Store, StoreError, StoreExtent, ZeroFlags};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::DataError;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, SystemTime};

/// How long a command stays in flight at least. A client submits everything that does not wait
/// for it in this time, however fast it would be answered: several commands are then in flight, as
/// on a drive that takes its time.
const IN_FLIGHT: Duration = Duration::from_micros(200);

/// A device that records, behind front ends. Commands of all connections are taken one after
/// another, so the stream has one order, and acknowledged when the front end lets it settle.
#[derive(Debug)]
pub struct RecordingStore {
    size: u64,
    slot: u64,
    recorder: Mutex<StreamRecorder>,
}

#[derive(Debug)]
struct StreamRecorder {
    disk: RecordingDisk,
    /// Commands in flight of each thread that serves a client.
    open: HashMap<ThreadId, Vec<u32>>,
    /// What was recorded when the recording was ended.
    ended: Option<CommandStream>,
    /// When each mark was made, in seconds of the wall clock.
    mark_times: Vec<f64>,
}

/// The file beside a workload's output that takes what its tracer sees.
pub(super) const TRACE_PART: &str = "trace.part";
/// The folder of a script's private folder in which a file system is mounted.
pub const MOUNT_FOLDER: &str = "mnt";
/// The variable that names the file for what a tracer of the workload sees.
pub const TRACE_FILE: &str = "SSDLAB_TRACE";
/// The variable that names a check's file of the names that a cut may take, under POSIX's rules.
pub const NAMES_FILE: &str = "SSDLAB_NAMES";

/// In place of a mark: what comes after it is not recorded.
pub const END_OF_RECORDING: &str = "\u{3}";

impl RecordingStore {
    /// As large as the drive that it stands for.
    pub fn new(config: &DriveConfig) -> RecordingStore {
        RecordingStore {
            size: config.user_bytes,
            slot: config.shape.slot_bytes.into(),
            recorder: Mutex::new(StreamRecorder {
                disk: RecordingDisk::new(config),
                open: HashMap::new(),
                ended: None,
                mark_times: Vec::new(),
            }),
        }
    }

    fn recorder(&self) -> MutexGuard<'_, StreamRecorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`RecordingDisk::mark`].
    pub fn mark(&self, text: &str) {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut recorder = self.recorder();
        recorder.disk.mark(text);
        recorder
            .mark_times
            .push(since.map_or(0.0, |time| time.as_secs_f64()));
    }

    /// What was recorded so far, or until the recording was ended.
    pub fn stream(&self) -> CommandStream {
        let recorder = self.recorder();
        let ended = recorder.ended.clone();
        ended.unwrap_or_else(|| recorder.disk.clone().into_stream())
    }

    /// All that was done, also after the recording was ended.
    fn whole_stream(&self) -> CommandStream {
        self.recorder().disk.clone().into_stream()
    }

    /// Records no more; the device works on.
    pub fn end(&self) {
        let mut recorder = self.recorder();
        if recorder.ended.is_none() {
            recorder.ended = Some(recorder.disk.clone().into_stream());
        }
    }

    /// Records commands, which stay in flight until this thread settles.
    fn record(
        &self,
        submit: impl FnOnce(&mut RecordingDisk) -> Result<(), DataError>,
    ) -> Result<(), StoreError> {
        let mut recorder = self.recorder();
        let from = recorder.disk.submitted();
        submit(&mut recorder.disk).map_err(refused)?;
        recorder.disk.leave_open(from);
        let until = recorder.disk.submitted();
        let open = recorder.open.entry(std::thread::current().id());
        open.or_default().extend(from..until);
        Ok(())
    }
}

fn refused(error: DataError) -> StoreError {
    StoreError::Io(error.to_string())
}

impl Store for RecordingStore {
    fn size(&self) -> u64 {
        self.size
    }

    fn sector_size(&self) -> u32 {
        512
    }

    fn is_powered(&self) -> bool {
        true
    }

    /// Several clients, and several commands of one, are in flight at once.
    fn takes_time(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.recorder().disk.read(offset, into).map_err(refused)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        self.record(|disk| disk.write(offset, from, fua))
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.record(RecordingDisk::flush)
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        if !fua {
            return self.record(|disk| disk.trim(offset, length));
        }
        // A drive has no such command. The flush covers only what has completed before it.
        let trimmed = self.recorder().disk.trim(offset, length);
        trimmed.map_err(refused)?;
        self.flush()
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.record(|disk| disk.write_zeroes(offset, length, flags.fua))
    }

    /// Completes this thread's commands.
    fn settle(&self) -> Result<(), StoreError> {
        let thread = std::thread::current().id();
        if !self.recorder().open.contains_key(&thread) {
            return Ok(());
        }
        std::thread::sleep(IN_FLIGHT);
        let mut recorder = self.recorder();
        for index in recorder.open.remove(&thread).unwrap_or_default() {
            recorder.disk.complete(index);
        }
        Ok(())
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        let disk = &self.recorder().disk;
        let mut extents: Vec<StoreExtent> = Vec::new();
        let (mut position, end) = (offset, offset + length);
        while position < end {
            let next = ((position / self.slot + 1) * self.slot).min(end);
            let is_allocated = disk.is_allocated(position);
            let count = extents.len();
            match extents.last_mut() {
                Some(last) if last.is_allocated == is_allocated => last.length += next - position,
                _ if count == max => break,
                _ => extents.push(StoreExtent {
                    length: next - position,
                    is_allocated,
                    is_zero: !is_allocated,
                    durability: if is_allocated {
                        SectorDurability::Durable
                    } else {
                        SectorDurability::NeverWritten
                    },
                }),
            }
            position = next;
        }
        Ok(extents)
    }
}

/// A socket that takes marks: one line each, answered when it is in the stream.
struct MarkSocket {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MarkSocket {
    fn start(path: PathBuf, store: Arc<RecordingStore>) -> io::Result<MarkSocket> {
        let listener = UnixListener::bind(&path)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            for client in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let store = store.clone();
                // A client that keeps its connection must not keep others from theirs.
                std::thread::spawn(move || client.map(|client| take_marks(client, &store)));
            }
        });
        Ok(MarkSocket {
            path,
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for MarkSocket {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = UnixStream::connect(&self.path);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn take_marks(client: UnixStream, store: &RecordingStore) -> io::Result<()> {
    let mut answers = client.try_clone()?;
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    loop {
        line.clear();
        let most = MARK_MAX as u64 + 2;
        if (&mut reader).take(most).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let text = line.trim_end_matches('\n');
        if text.len() > MARK_MAX {
            return answers.write_all(format!("no: at most {MARK_MAX} bytes\n").as_bytes());
        }
        match text {
            END_OF_RECORDING => store.end(),
            text => store.mark(text),
        }
        answers.write_all(b"ok\n")?;
    }
}

/// Makes a mark, from within a workload script: `socket` is its `SSDLAB_MARK`.
///
/// # Errors
/// When no campaign listens at `socket`, or the text is too long.
pub fn mark(socket: &Path, text: &str) -> Result<(), LabError> {
    let failed = |error| LabError::file("writing to", socket, error);
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    let line = format!("{}\n", text.replace('\n', " "));
    stream.write_all(line.as_bytes()).map_err(failed)?;
    let mut answer = String::new();
    let mut reader = BufReader::new(stream);
    reader.read_line(&mut answer).map_err(failed)?;
    match answer.trim() {
        "ok" => Ok(()),
        other => Err(LabError::refused(
            format!("the mark was refused: {}", other.trim_start_matches("no: ")),
            "a mark is one short line of text",
        )),
    }
}

/// Recording of a workload script.
#[derive(Debug)]
pub struct Recording {
    /// Its commands.
    pub stream: CommandStream,
    /// Those after the end of the recording, such as of an unmount, among them.
    pub whole: CommandStream,
    /// How it ended.
    pub outcome: ScriptOutcome,
    /// Notes on the clients' use of flushes.
    pub lint: String,
    /// The names that a program in a file system made; `None`: the script does not look.
    pub names: Option<NameHistory>,
}

/// Runs a workload script on a device that records.
///
/// # Errors
/// When the device cannot be offered, or the script not be started.
pub fn record(
    config: &DriveConfig,
    script: &str,
    options: &ScriptOptions,
    output: &Path,
) -> Result<Recording, LabError> {
    let store = Arc::new(RecordingStore::new(config));
    let attached = AttachedDrive::new(store.clone(), options)?;
    let path = attached.folder().join("mark");
    let marks = MarkSocket::start(path.clone(), store.clone());
    let marks = marks.map_err(|error| LabError::file("creating", &path, error))?;
    let trace = std::path::absolute(output.with_file_name(TRACE_PART))
        .map_err(|error| LabError::file("finding", output, error))?;
    let env = [
        ("SSDLAB_MARK", path.display().to_string()),
        (TRACE_FILE, trace.display().to_string()),
    ];
    let root = attached.folder().join(MOUNT_FOLDER);
    let outcome = attached.run(script, &env, output, options)?;
    drop(marks);
    // A name that is not UTF-8 is left out of what is compared, not the whole trace.
    let names = std::fs::read(&trace).ok().map(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        NameHistory::read(&text, &root, &store.recorder().mark_times)
    });
    let _ = std::fs::remove_file(&trace);
    let lint = attached.finish();
    Ok(Recording {
        stream: store.stream(),
        whole: store.whole_stream(),
        outcome,
        lint,
        names,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A front end settles before it answers: until then its commands are in flight, whatever
    /// other threads do.
    #[test]
    fn commands_are_in_flight_until_their_thread_settles() {
        let store = RecordingStore::new(&DriveConfig::tiny());
        let write = |at: u64| store.write(at * 4096, &[1; 4096], false).unwrap();
        write(0);
        write(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                write(2);
                store.settle().unwrap();
            });
        });
        store.mark("two are open");
        store.settle().unwrap();
        store.mark("none is");
        store.trim(0, 4096, true).unwrap();
        store.settle().unwrap();
        let stream = store.stream();
        assert_eq!(stream.depth(), 3);
        let open: Vec<&[u32]> = stream
            .marks
            .iter()
            .map(|mark| mark.open.as_slice())
            .collect();
        assert_eq!(open, [&[0, 1][..], &[]]);
        // The flush that makes a trim durable covers it.
        assert_eq!(stream.done_before(3), 4);
        store.end();
        write(7);
        store.settle().unwrap();
        // The first end counts.
        store.end();
        assert_eq!(store.stream().commands.len(), stream.commands.len());
    }
}
