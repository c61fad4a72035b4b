//! Commands that follow from a stream's own: reads that verify earlier writes, trims before
//! writes, and writes that are something else to the drive.
//!
//! A stream is repeatable, so earlier writes need not be remembered: a copy of it, some
//! commands behind, says it again. Only where fio reads back by address, each block once, the
//! blocks are kept in a map.
//!
//! The commands and their order are those of fio 3.33 at depth 1 (`tests/fio_verify.rs`). At a
//! larger depth, fio reads a block back as soon as its write has completed; here the reads wait
//! until all writes before them have ([`FollowUpStream::waits`]), which keeps the order.

use crate::plan::{JobSpec, Mix, Verify, WriteAs};
use crate::stream::JobStream;
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Op};
use std::collections::BTreeMap;

/// A stream with the commands that follow from its own.
#[derive(Clone, Debug)]
pub struct FollowUpStream {
    stream: JobStream,
    write_as: WriteAs,
    /// Comes after a trim or a durable write of the same blocks.
    second: Option<Command>,
    verifying: Option<Box<VerifyBacklog>>,
    waits: bool,
    /// Passes that end with a flush and have not ended.
    end_flushes: u64,
    writes: bool,
    /// The last command was a flush.
    flushed: bool,
    pages: Option<PageCache>,
}

/// What is still to be read back.
#[derive(Clone, Debug)]
struct VerifyBacklog {
    spec: Verify,
    behind: VerifyOrder,
    /// Writes not read back yet.
    open: u64,
    /// Reads left of this batch.
    batch: u64,
    /// The last command was a read that verifies.
    read_last: bool,
    passes_left: u64,
    /// The stream at the start of the pass.
    pass_over: bool,
}

#[derive(Clone, Debug)]
enum VerifyOrder {
    /// The same commands again.
    Again(Box<JobStream>),
    /// Lengths by offset.
    ByAddress(BTreeMap<u64, u32>),
}

impl FollowUpStream {
    /// Whether commands of `job` have others that follow from them.
    pub fn has_any(job: &JobSpec) -> bool {
        job.verify.is_some()
            || job.steps.write_as != WriteAs::Write
            || job.end_flushes > 0
            || job.steps.pages
    }

    /// As [`JobStream::new`].
    ///
    /// # Errors
    /// As [`JobStream::new`].
    pub fn new(job: &JobSpec, copy: u32, capacity: u64) -> Result<FollowUpStream, LabError> {
        let stream = JobStream::new(job, copy, capacity)?;
        let verifying = job.verify.map(|spec| {
            Box::new(VerifyBacklog {
                spec,
                behind: if spec.sorted {
                    VerifyOrder::ByAddress(BTreeMap::new())
                } else {
                    VerifyOrder::Again(Box::new(stream.clone()))
                },
                open: 0,
                batch: 0,
                read_last: false,
                passes_left: spec.passes.max(1),
                pass_over: false,
            })
        });
        Ok(FollowUpStream {
            stream,
            write_as: job.steps.write_as,
            second: None,
            verifying,
            waits: false,
            end_flushes: job.end_flushes,
            writes: matches!(job.mix, Mix::Write | Mix::ReadWrite { .. }),
            flushed: false,
            pages: job.steps.pages.then(|| PageCache::new(job, capacity)),
        })
    }

    /// The next command; `None` when all is done.
    pub fn next_command(&mut self) -> Option<Command> {
        let command = self.next_or_end();
        self.flushed = command.is_some_and(|command| command.op == Op::Flush);
        command
    }

    /// The flush that is due when a time limit ends the stream, if one is.
    pub fn closing_flush(&self) -> Option<Command> {
        (self.end_flushes > 0 && self.writes && !self.flushed).then(Command::flush)
    }

    fn next_or_end(&mut self) -> Option<Command> {
        self.waits = false;
        if let Some(second) = self.second.take() {
            self.waits = second.op == Op::Read;
            return Some(second);
        }
        if self.verifying.is_none() {
            return self.next_unverified();
        }
        self.next_verified()
    }

    /// The next command where nothing is read back.
    fn next_unverified(&mut self) -> Option<Command> {
        loop {
            if let Some(command) = self.stream.next_command() {
                let Some(pages) = &mut self.pages else {
                    return Some(self.changed(command));
                };
                let (first, second) = pages.after(command);
                self.second = second;
                match first {
                    Some(command) => return Some(command),
                    None => continue,
                }
            }
            if let Some(page) = self.pages.as_mut().and_then(PageCache::rest) {
                return Some(page);
            }
            self.end_flushes = self.end_flushes.checked_sub(1)?;
            if self.end_flushes > 0 {
                self.stream.again();
            }
            if self.writes && !self.flushed {
                self.waits = true;
                return Some(Command::flush());
            }
        }
    }

    /// The next command where writes are read back.
    fn next_verified(&mut self) -> Option<Command> {
        let verifying = self.verifying.as_mut()?;
        loop {
            if verifying.is_due() {
                let read = verifying.read();
                self.waits = read.is_some() && !verifying.read_last;
                verifying.read_last = true;
                return read;
            }
            if !verifying.pass_over {
                if let Some(command) = self.stream.next_command() {
                    verifying.issued(&command);
                    return Some(self.changed(command));
                }
                verifying.pass_over = true;
                if self.end_flushes > 0 && self.writes && !self.flushed {
                    self.waits = true;
                    return Some(Command::flush());
                }
                continue;
            }
            verifying.passes_left -= 1;
            if verifying.passes_left == 0 {
                self.end_flushes = 0;
                return None;
            }
            verifying.pass_over = false;
            self.stream.again();
            verifying.restart(&self.stream);
        }
    }

    /// Whether the command that came last must not be issued before all earlier ones of this
    /// stream have completed.
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// A command of the stream as the drive gets it.
    fn changed(&mut self, command: Command) -> Command {
        if command.op != Op::Write {
            return command;
        }
        let (offset, len) = (command.offset, command.len);
        match self.write_as {
            WriteAs::Write => command,
            WriteAs::TrimAndWrite => {
                self.second = Some(command);
                Command::trim(offset, len)
            }
            WriteAs::Zeroes => Command {
                op: Op::WriteZeroes,
                compress_pct: 0,
                ..command
            },
            WriteAs::Read => Command::read(offset, len),
            WriteAs::WriteAndRead => {
                self.second = Some(Command::read(offset, len));
                Command {
                    fua: true,
                    ..command
                }
            }
        }
    }
}

/// A page, in bytes.
const PAGE: u64 = 4096;

/// The page cache that the commands of a job go through, as far as the drive sees it: a page that
/// writes fill one after another is written once, at the latest before a flush.
#[derive(Clone, Debug)]
struct PageCache {
    /// Each write is flushed on its own, or is durable.
    each: bool,
    /// Start of the page that the last write left unfinished.
    dirty: Option<u64>,
    /// The target's end.
    capacity: u64,
    compress_pct: u8,
}

impl PageCache {
    fn new(job: &JobSpec, capacity: u64) -> PageCache {
        PageCache {
            each: job.durability.fua || job.durability.flush_every == 1,
            dirty: None,
            capacity,
            compress_pct: job.data.compress_pct.min(100),
        }
    }

    /// `command`, for the bytes from `start` to `end`.
    fn on(&self, command: Command, start: u64, end: u64) -> Command {
        let len = end.min(self.capacity) - start;
        Command {
            offset: start,
            len: u32::try_from(len).unwrap_or(u32::MAX - 511),
            ..command
        }
    }

    /// What the drive gets after `command`: up to two commands.
    fn after(&mut self, command: Command) -> (Option<Command>, Option<Command>) {
        let first = command.offset - command.offset % PAGE;
        let end = command.offset + u64::from(command.len);
        match command.op {
            Op::Flush => match self.rest() {
                Some(page) => (Some(page), Some(command)),
                None => (Some(command), None),
            },
            Op::Write if !self.each => {
                let stale = self.dirty.take_if(|page| *page != first);
                let stale = stale.map(|page| self.on(command, page, page + PAGE));
                let full = end - end % PAGE;
                let filled = (full > first).then(|| self.on(command, first, full));
                if full < end {
                    self.dirty = Some(full);
                } else if filled.is_some() {
                    self.dirty = None;
                }
                match stale {
                    Some(_) => (stale, filled),
                    None => (filled, None),
                }
            }
            _ => (
                Some(self.on(command, first, end.next_multiple_of(PAGE))),
                None,
            ),
        }
    }

    /// The page that is not written yet.
    fn rest(&mut self) -> Option<Command> {
        let page = self.dirty.take()?;
        let write = Command {
            compress_pct: self.compress_pct,
            ..Command::write(page, 0)
        };
        Some(self.on(write, page, page + PAGE))
    }
}

impl VerifyBacklog {
    /// Whether the next command reads back: fio's `check_get_verify`, and its pass at the end.
    fn is_due(&mut self) -> bool {
        if self.open == 0 {
            self.batch = 0;
            return false;
        }
        if self.pass_over {
            return self.spec.after;
        }
        let (backlog, batch) = (u64::from(self.spec.backlog), u64::from(self.spec.batch));
        if self.batch == 0 && backlog > 0 && self.open.is_multiple_of(backlog) && !self.read_last {
            self.batch = if batch > 0 { batch } else { backlog };
        }
        self.batch > 0
    }

    /// The oldest write, or the lowest block, as a read.
    fn read(&mut self) -> Option<Command> {
        self.open -= 1;
        self.batch = self.batch.saturating_sub(1);
        match &mut self.behind {
            VerifyOrder::Again(stream) => loop {
                let command = stream.next_command()?;
                if command.op == Op::Write {
                    return Some(Command::read(command.offset, command.len));
                }
            },
            VerifyOrder::ByAddress(blocks) => {
                let (offset, len) = blocks.pop_first()?;
                Some(Command::read(offset, len))
            }
        }
    }

    /// `command` of the stream was issued.
    fn issued(&mut self, command: &Command) {
        self.read_last = false;
        if command.op != Op::Write {
            return;
        }
        self.open += 1;
        let VerifyOrder::ByAddress(blocks) = &mut self.behind else {
            return;
        };
        // What the new block overlaps is no longer there to be read back.
        let end = command.offset + u64::from(command.len);
        while let Some((offset, len)) = blocks.range(..end).next_back().map(|(o, l)| (*o, *l)) {
            if offset + u64::from(len) <= command.offset {
                break;
            }
            blocks.remove(&offset);
            self.open -= 1;
        }
        blocks.insert(command.offset, command.len);
    }

    /// Another pass begins.
    fn restart(&mut self, stream: &JobStream) {
        self.open = 0;
        self.batch = 0;
        match &mut self.behind {
            VerifyOrder::Again(behind) => **behind = stream.clone(),
            VerifyOrder::ByAddress(blocks) => blocks.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FollowUpStream;
    use crate::fio;

    /// Commands, and whether each waits for all before it.
    fn commands(options: &str) -> Vec<(String, bool)> {
        let text = format!("[j]\nbs=4k\n{}\n", options.replace(' ', "\n"));
        let plan = fio::parse(&text, "job.fio").unwrap();
        let mut followed = FollowUpStream::new(&plan.phases[0].jobs[0], 0, 1 << 30).unwrap();
        let mut commands = Vec::new();
        while let Some(command) = followed.next_command() {
            let kind = command.op.name();
            let what = format!("{kind} {}", command.offset / 4096);
            commands.push((what, followed.waits()));
        }
        commands
    }

    /// A read that verifies must not overtake the write it verifies.
    #[test]
    fn the_first_read_after_writes_waits_and_the_others_do_not() {
        let found = commands("rw=write size=16k verify=md5 verify_backlog=2 iodepth=8");
        let waits: Vec<bool> = found.iter().map(|(_, waits)| *waits).collect();
        let kinds: String = found.iter().map(|(what, _)| &what[..1]).collect();
        assert_eq!(kinds, "wwrrwwrr");
        assert_eq!(
            waits,
            [false, false, true, false, false, false, true, false]
        );
    }

    #[test]
    fn scsi_verifies_are_reads_and_zeroes_have_their_own_command() {
        let found = commands("rw=write size=8k ioengine=sg sg_write_mode=verify_bytchk_01");
        assert_eq!(found[1].0, "read 1");
        let found = commands("rw=write size=8k ioengine=sg sg_write_mode=write_same_ndob");
        assert_eq!(found[1].0, "write_zeroes 1");
        let found = commands("rw=write size=8k ioengine=sg sg_write_mode=write_and_verify");
        let kinds: Vec<&str> = found.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(kinds, ["write 0", "read 0", "write 1", "read 1"]);
    }
}
