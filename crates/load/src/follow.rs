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

use crate::plan::{JobSpec, Verify, WriteAs};
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
        job.verify.is_some() || job.steps.write_as != WriteAs::Write
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
        })
    }

    /// The next command; `None` when all is done.
    pub fn next_command(&mut self) -> Option<Command> {
        self.waits = false;
        if let Some(second) = self.second.take() {
            self.waits = second.op == Op::Read;
            return Some(second);
        }
        let Some(verifying) = &mut self.verifying else {
            let command = self.stream.next_command()?;
            return Some(self.changed(command));
        };
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
                continue;
            }
            verifying.passes_left -= 1;
            if verifying.passes_left == 0 {
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
