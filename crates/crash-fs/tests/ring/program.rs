// A program over `uring` and `fs`, whichever the module that includes this file has: what is
// answered to its requests, batch by batch. Requests that are not linked have no order, so that
// none of a batch depends on another that it is not linked to.

use self::fs::File;
use self::uring::squeue::{Entry, Flags};
use self::uring::types::{self, Fd, Fixed, FsyncFlags};
use self::uring::{IoUring, Probe, opcode};
use std::cell::Cell;
use std::ffi::CString;
use std::fmt::Debug;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LINK: Flags = Flags::IO_LINK;
const HARD: Flags = Flags::IO_HARDLINK;
const BYTES: [u8; 13] = *b"one two three";
const CWD: Fd = Fd(libc::AT_FDCWD);
const NONE: Fd = Fd(987_654);

struct Program {
    ring: IoUring,
    root: PathBuf,
    file: File,
    folder: File,
    read_only: File,
    appended: File,
    /// Where reads go.
    room: Vec<Cell<u8>>,
    seen: Vec<String>,
}

pub fn run(root: &Path) -> std::io::Result<Vec<String>> {
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let path = root.join("file");
    let mut program = Program {
        ring: IoUring::new(32)?,
        root: root.to_owned(),
        file: options.open(&path)?,
        folder: File::open(root)?,
        read_only: File::open(&path)?,
        appended: File::options().append(true).open(&path)?,
        room: vec![Cell::new(0); 64],
        seen: Vec::new(),
    };
    program.chains();
    program.bytes();
    program.lengths();
    program.opens()?;
    program.names()?;
    program.registered()?;
    let bytes = fs::read(path)?;
    program.see("at the end", bytes);
    Ok(program.seen)
}

impl Program {
    fn see(&mut self, step: &str, answer: impl Debug) {
        self.seen.push(format!("{step}: {answer:?}"));
    }

    /// Submits requests, numbered by their place, and waits for completions.
    fn submit<const N: usize>(&mut self, entries: [Entry; N], count: usize) -> Vec<(u64, i32)> {
        let mut number = 0..;
        let entries = entries.map(|entry| entry.user_data(number.next().expect("endless")));
        // SAFETY: what the entries point to outlives the wait.
        unsafe { self.ring.submission().push_multiple(&entries) }.expect("room");
        let submitted = self.ring.submit_and_wait(count);
        assert_eq!(submitted.expect("submitted"), N);
        let completed = self.ring.completion();
        let mut results: Vec<_> = completed
            .map(|entry| (entry.user_data(), entry.result()))
            .collect();
        results.sort_unstable();
        results
    }

    fn batch<const N: usize>(&mut self, step: &str, entries: [Entry; N]) {
        let results = self.submit(entries, N);
        self.see(step, results);
    }

    fn fd(&self) -> Fd {
        Fd(self.file.as_raw_fd())
    }

    fn put(&self, length: u32) -> opcode::Write {
        opcode::Write::new(self.fd(), BYTES.as_ptr(), length)
    }

    fn get(&self, length: u32) -> opcode::Read {
        opcode::Read::new(self.fd(), self.room(), length)
    }

    fn room(&self) -> *mut u8 {
        self.room.as_ptr().cast_mut().cast()
    }

    fn path(&self, name: &str) -> CString {
        CString::new(self.root.join(name).as_os_str().as_bytes()).expect("no zero")
    }

    fn chains(&mut self) {
        let mut probe = Probe::new();
        self.ring
            .submitter()
            .register_probe(&mut probe)
            .expect("a probe");
        self.see("probe", probe.is_supported(opcode::Write::CODE));
        let fd = self.fd();
        let nop = || opcode::Nop::new().build();
        let sync = || opcode::Fsync::new(fd).build();
        let bad = || opcode::Fsync::new(NONE).build();
        let (put, short) = (self.put(13).build(), self.get(64).build());
        self.batch("nothing", [nop()]);
        self.batch(
            "links",
            [put.flags(LINK), sync().flags(LINK), short.clone()],
        );
        self.see("bytes", self.room.clone());
        self.batch(
            "a short read breaks",
            [short.clone().flags(LINK), nop().flags(LINK), nop()],
        );
        self.batch("not a hard link", [short.clone().flags(HARD), nop()]);
        self.batch(
            "an error breaks",
            [bad().flags(LINK), nop().flags(HARD), nop(), nop()],
        );
        let drain = sync().flags(Flags::IO_DRAIN);
        self.batch("a drain", [self.put(2).offset(100).build(), drain, nop()]);
        let skip = Flags::SKIP_SUCCESS;
        let results = self.submit([self.put(3).build().flags(skip | LINK), sync()], 1);
        self.see("no completion", results);
        let results = self.submit([nop().flags(skip), bad().flags(skip)], 1);
        self.see("of an error there is", results);
    }

    fn bytes(&mut self) {
        let (fd, folder) = (self.fd(), Fd(self.folder.as_raw_fd()));
        let (appended, read_only) = (
            Fd(self.appended.as_raw_fd()),
            Fd(self.read_only.as_raw_fd()),
        );
        let room = self.room();
        self.batch(
            "not open for it",
            [
                opcode::Write::new(read_only, BYTES.as_ptr(), 3).build(),
                opcode::Read::new(appended, room, 3).build(),
                opcode::Ftruncate::new(read_only, 3).build(),
                opcode::Fallocate::new(read_only, 3).build(),
                opcode::Fsync::new(read_only).build(),
            ],
        );
        let append = opcode::Write::new(appended, BYTES.as_ptr(), 3)
            .offset(1)
            .build();
        self.batch(
            "appends",
            [
                append.flags(LINK),
                self.put(4).rw_flags(libc::RWF_APPEND).build().flags(LINK),
                self.put(4).offset(200).rw_flags(libc::RWF_DSYNC).build(),
            ],
        );
        self.batch(
            "positions",
            [
                self.put(5).offset(u64::MAX).build().flags(LINK),
                self.put(5).offset(u64::MAX).build().flags(LINK),
                self.get(3).offset(u64::MAX).build(),
            ],
        );
        self.batch(
            "flags that there are not",
            [self.put(5).rw_flags(0x4000_0000).build()],
        );
        self.batch(
            "a directory",
            [
                opcode::Fsync::new(folder).build(),
                opcode::Read::new(folder, room, 5).build(),
                opcode::Write::new(folder, BYTES.as_ptr(), 5).build(),
                opcode::SyncFileRange::new(folder, 0).flags(7).build(),
            ],
        );
        self.batch("nothing to do", [self.put(0).build(), self.get(0).build()]);
        let no_memory = opcode::Write::new(fd, std::ptr::null(), 5).build();
        self.batch("no memory", [no_memory]);
        let parts = [b"ab".as_slice(), b"", b"cdef"].map(std::io::IoSlice::new);
        let mut halves = [[0_u8; 4]; 2];
        let mut slices = halves.each_mut().map(|half| std::io::IoSliceMut::new(half));
        self.batch(
            "several buffers",
            [
                opcode::Writev::new(fd, parts.as_ptr().cast(), 3)
                    .offset(20)
                    .build()
                    .flags(LINK),
                opcode::Readv::new(fd, slices.as_mut_ptr().cast(), 2)
                    .offset(19)
                    .build(),
            ],
        );
        self.see("read", halves);
    }

    fn lengths(&mut self) {
        let fd = self.fd();
        self.batch(
            "syncs",
            [
                opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
                opcode::SyncFileRange::new(fd, 10)
                    .offset(5)
                    .flags(2)
                    .build(),
                opcode::SyncFileRange::new(fd, 10).flags(8).build(),
                opcode::Fadvise::new(fd, 10, libc::POSIX_FADV_DONTNEED).build(),
            ],
        );
        let kept_size = opcode::Fallocate::new(fd, 1000)
            .mode(libc::FALLOC_FL_KEEP_SIZE)
            .build();
        self.batch(
            "lengths",
            [
                opcode::Ftruncate::new(fd, 300).build().flags(LINK),
                opcode::Fallocate::new(fd, 100)
                    .offset(300)
                    .build()
                    .flags(LINK),
                kept_size.flags(LINK),
                opcode::Fallocate::new(fd, 10).build().flags(LINK),
                self.get(64).offset(390).build(),
            ],
        );
        self.batch(
            "bad lengths",
            [
                opcode::Ftruncate::new(fd, u64::MAX).build(),
                opcode::Fallocate::new(fd, 0).build(),
                opcode::Fallocate::new(fd, i64::MAX as u64)
                    .offset(9)
                    .build(),
            ],
        );
        let length = self.file.metadata().expect("known").len();
        self.see("length", length);
    }

    fn open(&mut self, directory: Fd, path: &CString, flags: i32) -> i32 {
        let entry = opcode::OpenAt::new(directory, path.as_ptr())
            .flags(flags)
            .mode(0o644)
            .build();
        let descriptor = self.submit([entry], 1)[0].1;
        self.see("opened", descriptor > 0);
        descriptor
    }

    fn opens(&mut self) -> std::io::Result<()> {
        let folder = Fd(self.folder.as_raw_fd());
        let [new, none] = ["new", "none/log"].map(|name| self.path(name));
        let create = libc::O_RDWR | libc::O_CREAT;
        let descriptor = Fd(self.open(CWD, &new, create));
        let close = || opcode::Close::new(descriptor).build();
        let write = opcode::Write::new(descriptor, BYTES.as_ptr(), 7).build();
        self.batch(
            "a new file",
            [write.flags(LINK), close().flags(LINK), close()],
        );
        let refused = |path: &CString, flags: i32| {
            opcode::OpenAt::new(CWD, path.as_ptr()).flags(flags).build()
        };
        self.batch(
            "not opened",
            [
                refused(&none, create),
                refused(&new, create | libc::O_EXCL),
                refused(&new, libc::O_DIRECTORY),
                opcode::OpenAt::new(CWD, std::ptr::null()).build(),
            ],
        );
        let descriptor = self.open(folder, &c"new".to_owned(), libc::O_RDONLY);
        // SAFETY: nobody else has the descriptor.
        let opened = unsafe { File::from_raw_fd(descriptor) };
        self.see("reads", std::io::read_to_string(opened)?);
        Ok(())
    }

    fn names(&mut self) -> std::io::Result<()> {
        let folder = Fd(self.folder.as_raw_fd());
        let names = ["new", "moved", "below", "below/log", "none/log"];
        let [new, moved, below, log, none] = names.map(|name| self.path(name));
        let directory = || {
            opcode::UnlinkAt::new(CWD, below.as_ptr())
                .flags(libc::AT_REMOVEDIR)
                .build()
        };
        let (from, other) = (c"moved".as_ptr(), c"other".as_ptr());
        self.batch(
            "names",
            [
                opcode::MkDirAt::new(CWD, below.as_ptr())
                    .mode(0o755)
                    .build()
                    .flags(LINK),
                opcode::RenameAt::new(CWD, new.as_ptr(), CWD, moved.as_ptr())
                    .build()
                    .flags(LINK),
                opcode::LinkAt::new(CWD, moved.as_ptr(), CWD, log.as_ptr())
                    .build()
                    .flags(LINK),
                opcode::LinkAt::new(folder, from, folder, other)
                    .build()
                    .flags(LINK),
                directory().flags(HARD),
                opcode::UnlinkAt::new(CWD, log.as_ptr()).build().flags(LINK),
                directory(),
            ],
        );
        self.batch(
            "names that are refused",
            [
                opcode::RenameAt::new(CWD, new.as_ptr(), CWD, moved.as_ptr()).build(),
                opcode::UnlinkAt::new(CWD, none.as_ptr()).build(),
                opcode::MkDirAt::new(CWD, moved.as_ptr()).build(),
                opcode::UnlinkAt::new(NONE, other).build(),
            ],
        );
        let entries = fs::read_dir(&self.root)?;
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("is there").file_name())
            .collect();
        names.sort();
        self.see("left", names);
        Ok(())
    }

    fn registered(&mut self) -> std::io::Result<()> {
        let (fd, room) = (self.fd(), self.room());
        let refused = self
            .ring
            .submitter()
            .unregister_files()
            .map_err(|e| e.raw_os_error());
        self.see("no files", refused);
        let submitter = self.ring.submitter();
        submitter.register_files(&[-1, fd.0])?;
        let vector = libc::iovec {
            iov_base: room.cast(),
            iov_len: 32,
        };
        // SAFETY: the room outlives the ring.
        unsafe { submitter.register_buffers(&[vector])? };
        self.batch(
            "registered",
            [
                opcode::Read::new(Fixed(1), room, 3).build(),
                opcode::Read::new(Fixed(0), room, 3).build(),
                opcode::Read::new(Fixed(2), room, 3).build(),
                opcode::ReadFixed::new(Fixed(1), room, 33, 0).build(),
                opcode::ReadFixed::new(Fixed(1), room, 3, 1).build(),
            ],
        );
        self.batch(
            "a registered buffer",
            [opcode::WriteFixed::new(Fixed(1), room, 32, 0).build()],
        );
        let updated = self.ring.submitter().register_files_update(0, &[fd.0])?;
        self.see("updated", updated);
        let sync = || opcode::Fsync::new(Fixed(0)).build();
        let close = opcode::Close::new(Fixed(0)).build();
        self.batch("closed", [sync().flags(LINK), close.flags(HARD), sync()]);
        let limit = types::Timespec::new().nsec(1_000_000);
        let args = types::SubmitArgs::new().timespec(&limit);
        let waited = self.ring.submitter().submit_with_args(1, &args);
        self.see("waited", waited.map_err(|error| error.raw_os_error()));
        Ok(())
    }
}
