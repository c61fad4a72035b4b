//! A volume in virtual time.
//!
//! A command arrives, waits in one queue until every account allows it (those of the volume, then
//! those of the instance), and then takes the time of the network and the storage behind it,
//! beside all others that were let pass. What is acknowledged is durable: the provider keeps
//! copies before it answers, so a flush only waits for writes that are outstanding.
//!
//! Left out: neighbours, the host's own queue, and what happens while the provider modifies or
//! moves a volume.

use crate::account::{Account, AccountPart, AccountRates};
use crate::latency::LatencyTail;
use crate::touch::FirstTouch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos, Op};

/// What an account counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountUnit {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
}

/// Whose account it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountOwner {
    /// The volume's.
    Volume,
    /// The instance's, for all its volumes together.
    Instance,
}

impl AccountOwner {
    /// As in counters.
    pub const fn name(self) -> &'static str {
        match self {
            AccountOwner::Volume => "volume",
            AccountOwner::Instance => "instance",
        }
    }
}

/// The limit that held a command back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct BindingLimit {
    /// Whose account.
    pub owner: AccountOwner,
    /// What it counts.
    pub unit: AccountUnit,
    /// Its ceiling, or that its credit was spent.
    pub part: AccountPart,
}

/// The accounts of a volume or of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct VolumeLimits {
    /// Operations a second.
    pub operations: AccountRates,
    /// Bytes a second.
    pub bytes: AccountRates,
}

/// When commands that follow each other on the volume count as one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// Never.
    Never,
    /// While the one before still waits.
    Queued,
    /// Always.
    Sequential,
}

/// Everything that a volume is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeConfig {
    /// As its user named it: `gp3,size=100`.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// A larger command counts as several operations.
    pub operation_bytes: u64,
    /// Each operation is charged all of `operation_bytes`, as on hard disks.
    pub charges_whole: bool,
    /// When commands merge into one operation.
    pub merge: MergeRule,
    /// The volume's accounts.
    pub volume: VolumeLimits,
    /// The instance's name and accounts.
    pub instance: Option<(String, VolumeLimits)>,
    /// The ceiling of an account passes this long's worth at once.
    pub window: Nanos,
    /// Reads, once let pass.
    pub read: LatencyTail,
    /// Writes, once let pass.
    pub write: LatencyTail,
    /// Flushes, once all writes are done.
    pub flush: LatencyTail,
    /// Transfer of one KiB.
    pub transfer_kib: Nanos,
    /// It was made from a snapshot: blocks are slow when first touched.
    pub first_touch: Option<FirstTouch>,
    /// Share of the credit that it begins with, in thousandths.
    pub credit_permille: u32,
    /// Seed of its latencies.
    pub seed: u64,
}

/// How a command fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeService {
    /// When every account allowed it.
    pub passed: Nanos,
    /// When it was acknowledged.
    pub done: Nanos,
    /// What held it back, if anything did.
    pub bound: Option<BindingLimit>,
}

/// Counts of a volume's life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeCounters {
    /// Commands by kind, in `Op` order.
    pub commands: [u64; Op::COUNT],
    /// Writes that were to be durable.
    pub fua_writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Operations charged.
    pub operations: u64,
    /// Commands that merged into an operation before them.
    pub merged: u64,
    /// Time in which a command was held back, ns.
    pub throttled_ns: u64,
    /// Blocks touched for the first time after a snapshot.
    pub first_touches: u64,
}

/// The operation that commands may still merge into.
#[derive(Clone, Copy, Debug)]
struct OpenOperation {
    op: Op,
    end: u64,
    room: u64,
}

/// A volume.
#[derive(Clone, Debug)]
pub struct Volume {
    config: VolumeConfig,
    accounts: Vec<(AccountOwner, AccountUnit, Account)>,
    rng: Rng,
    touched: Vec<u64>,
    open: Option<OpenOperation>,
    last_passed: Nanos,
    last_bound: Option<BindingLimit>,
    writes_done: Nanos,
    counters: VolumeCounters,
}

impl Volume {
    /// A new volume.
    pub fn new(config: VolumeConfig) -> Volume {
        let share = config.credit_permille;
        let volume = (AccountOwner::Volume, config.volume);
        let instance = config.instance.as_ref();
        let instance = instance.map(|(_, limits)| (AccountOwner::Instance, *limits));
        let accounts = std::iter::once(volume).chain(instance);
        let accounts = accounts.flat_map(|(owner, limits)| {
            [
                (AccountUnit::Operations, limits.operations),
                (AccountUnit::Bytes, limits.bytes),
            ]
            .map(|(unit, rates)| (owner, unit, Account::new(rates, config.window, share)))
        });
        let touch = config.first_touch;
        let words = touch.map_or(0, |touch| touch.words(config.bytes));
        Volume {
            accounts: accounts.collect(),
            rng: Rng::named(config.seed, "volume latency"),
            touched: vec![0; words],
            open: None,
            last_passed: Nanos::ZERO,
            last_bound: None,
            writes_done: Nanos::ZERO,
            counters: VolumeCounters::default(),
            config,
        }
    }

    /// What it is made of.
    pub fn config(&self) -> &VolumeConfig {
        &self.config
    }

    /// What it has counted.
    pub fn counters(&self) -> &VolumeCounters {
        &self.counters
    }

    /// Credit left at `time`, by owner and unit.
    pub fn credits(&self, time: Nanos) -> Vec<(AccountOwner, AccountUnit, u64)> {
        let credits = self.accounts.iter().filter_map(|(owner, unit, account)| {
            let credit = account.credit(time)?;
            Some((*owner, *unit, credit))
        });
        credits.collect()
    }

    /// Hands over a command at `arrival`, which never goes back.
    pub fn submit(&mut self, arrival: Nanos, command: &Command) -> VolumeService {
        let counters = &mut self.counters;
        counters.commands[command.op as usize] += 1;
        if command.op == Op::Write {
            counters.fua_writes += u64::from(command.fua);
            counters.bytes_written += u64::from(command.len);
        }
        if command.op == Op::Flush {
            let from = arrival.max(self.writes_done);
            let took = self.config.flush.draw(&mut self.rng);
            return VolumeService {
                passed: from,
                done: from + took,
                bound: None,
            };
        }
        let (operations, bytes) = self.charge(arrival, command);
        let (passed, bound) = self.pass(arrival, operations, bytes);
        let finished = passed + self.service(command);
        if command.op != Op::Read {
            self.writes_done = self.writes_done.max(finished);
        }
        VolumeService {
            passed,
            done: finished,
            bound,
        }
    }

    /// The operations and bytes that a command is charged.
    fn charge(&mut self, arrival: Nanos, command: &Command) -> (u64, u64) {
        let len = match command.op {
            Op::Read | Op::Write => u64::from(command.len),
            Op::Trim | Op::WriteZeroes | Op::Flush => 0,
        };
        let size = self.config.operation_bytes;
        let may_merge = match self.config.merge {
            MergeRule::Never => false,
            MergeRule::Queued => arrival < self.last_passed,
            MergeRule::Sequential => true,
        };
        if let Some(open) = self.open
            && may_merge
            && len > 0
            && open.op == command.op
            && open.end == command.offset
            && open.room >= len
        {
            self.open = Some(OpenOperation {
                end: open.end + len,
                room: open.room - len,
                ..open
            });
            self.counters.merged += 1;
            return (0, if self.config.charges_whole { 0 } else { len });
        }
        let operations = len.div_ceil(size).max(1);
        self.open = Some(OpenOperation {
            op: command.op,
            end: command.offset + len,
            room: operations * size - len,
        });
        self.counters.operations += operations;
        let charges_whole = self.config.charges_whole && len > 0;
        let bytes = if charges_whole {
            operations * size
        } else {
            len
        };
        (operations, bytes)
    }

    /// Waits until all accounts allow it, behind the command before.
    fn pass(
        &mut self,
        arrival: Nanos,
        operations: u64,
        bytes: u64,
    ) -> (Nanos, Option<BindingLimit>) {
        let units = |unit| match unit {
            AccountUnit::Operations => operations,
            AccountUnit::Bytes => bytes,
        };
        let mut passed = arrival.max(self.last_passed);
        let mut bound = (passed > arrival).then_some(self.last_bound).flatten();
        for (owner, unit, account) in &self.accounts {
            let (earliest, part) = account.earliest(passed, units(*unit));
            if let Some(part) = part {
                passed = earliest;
                bound = Some(BindingLimit {
                    owner: *owner,
                    unit: *unit,
                    part,
                });
            }
        }
        for (_, unit, account) in &mut self.accounts {
            account.take(passed, units(*unit));
        }
        let waits_from = arrival.max(self.last_passed);
        self.counters.throttled_ns += passed.0 - waits_from.0;
        self.last_passed = passed;
        self.last_bound = bound;
        (passed, bound)
    }

    fn service(&mut self, command: &Command) -> Nanos {
        let tail = match command.op {
            Op::Read => self.config.read,
            Op::Write | Op::Trim | Op::WriteZeroes | Op::Flush => self.config.write,
        };
        let base = tail.draw(&mut self.rng);
        let transfer = match command.op {
            Op::Read | Op::Write => self.config.transfer_kib.0 * u64::from(command.len) / 1024,
            Op::Trim | Op::WriteZeroes | Op::Flush => 0,
        };
        base + Nanos(transfer) + self.touch(command)
    }

    /// The extra time of blocks that have not been fetched from the snapshot yet.
    fn touch(&mut self, command: &Command) -> Nanos {
        let Some(touch) = self.config.first_touch else {
            return Nanos::ZERO;
        };
        let fetched = touch.fetch(&mut self.touched, command);
        self.counters.first_touches += fetched;
        // Blocks of one command are fetched together.
        if fetched > 0 {
            touch.extra
        } else {
            Nanos::ZERO
        }
    }
}

#[cfg(test)]
#[path = "volume_tests.rs"]
mod tests;
