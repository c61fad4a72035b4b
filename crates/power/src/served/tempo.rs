//! Real pace: when a command is done.
//!
//! A copy of the drive without its bytes lives in real time. It gets every command when it arrives,
//! so that commands wait for each other, for reclaim and for a full buffer as they do in the model;
//! the command is answered when the copy has done it. The drive that holds the bytes does commands
//! one after another, in a virtual time of its own, which is what a cut finds.

use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::PowerDrive;
use ssdlab_ssd::{Command, Nanos};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest sleep, in case nothing is to come.
const LONGEST: Duration = Duration::from_millis(100);
/// Shorter waits are spent awake: waking takes about as long.
const AWAKE: Duration = Duration::from_micros(20);
/// Longest command that moves bytes, and longest that only names them.
const MOVED_MAX: u64 = 1 << 20;
const NAMED_MAX: u64 = 1 << 31;

/// Virtual time beside real time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaceClock {
    began: (Instant, Nanos),
    slower: u32,
}

impl PaceClock {
    /// It is `time` now, and passes `slower` times slower.
    pub fn from(time: Nanos, slower: u32) -> PaceClock {
        PaceClock {
            began: (Instant::now(), time),
            slower: slower.max(1),
        }
    }

    /// The time at which it began.
    pub fn begins_at(&self) -> Nanos {
        self.began.1
    }

    pub fn at(&self, instant: Instant) -> Nanos {
        let (began, then) = self.began;
        let real = instant.saturating_duration_since(began).as_nanos();
        let passed = real / u128::from(self.slower);
        then.saturating_add(Nanos(passed.min(u128::from(u64::MAX / 2)) as u64))
    }

    /// Real time until it is `then`, at most `most`.
    fn until(&self, then: Nanos, most: Duration) -> Duration {
        let remaining = then.saturating_sub(self.at(Instant::now()));
        Duration::from_nanos(remaining.0.saturating_mul(self.slower.into())).min(most)
    }
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Tempo {
    inner: Mutex<TempoState>,
    slower: u32,
}

/// What waits for a command.
#[derive(Debug, Default)]
struct Waiter {
    signal: Arc<Condvar>,
    /// A command of this tag is with the drive, and whether it is done.
    command: Option<bool>,
}

#[derive(Debug, Default)]
struct TempoState {
    drive: Option<(PowerDrive, PaceClock)>,
    /// Counts the drives: commands of an earlier one are not waited for.
    run: u64,
    waiters: Vec<Waiter>,
    /// Who sleeps until the next event, and when that is.
    leader: Option<(usize, Nanos)>,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(super) struct TempoRequest {
    op: Op,
    fua: bool,
    offset: u64,
    len: u64,
}

impl TempoRequest {
    /// One for this range, or a flush.
    pub fn of(op: Op, offset: u64, len: u64) -> TempoRequest {
        TempoRequest {
            op,
            fua: false,
            offset,
            len,
        }
    }

    /// To be durable when it is answered, or not.
    pub fn with_fua(self, fua: bool) -> TempoRequest {
        TempoRequest { fua, ..self }
    }

    /// The drive's commands for it, one after another.
    pub fn commands(self) -> impl Iterator<Item = Command> {
        let most = match self.op {
            Op::Read | Op::Write | Op::Flush => MOVED_MAX,
            Op::Trim | Op::WriteZeroes => NAMED_MAX,
        };
        let end = self.offset + self.len;
        let command = move |at: u64| Command {
            op: self.op,
            fua: self.fua,
            ..Command::read(at, most.min(end - at) as u32)
        };
        let flush = (self.op == Op::Flush).then(Command::flush);
        let starts = (self.offset..end).step_by(most as usize);
        flush.into_iter().chain(starts.map(command))
    }
}

impl TempoState {
    /// Gives the drive a command that has arrived; returns its tag.
    fn submit(&mut self, command: &Command, arrived: Instant) -> Option<usize> {
        let (drive, clock) = self.drive.as_mut()?;
        let free = self.waiters.iter().position(|w| w.command.is_none());
        let tag = free.unwrap_or(self.waiters.len());
        if free.is_none() {
            self.waiters.push(Waiter::default());
        }
        let submit_time = clock.at(arrived).max(drive.now());
        drive.submit(tag as u32, command, None, submit_time);
        self.waiters[tag].command = Some(false);
        if let Some((leader, until)) = self.leader
            && drive.next_event() < until
        {
            self.waiters[leader].signal.notify_one();
        }
        Some(tag)
    }

    /// Advances the drive to the present; wakes the threads whose commands are done.
    fn advance(&mut self) {
        let Some((drive, clock)) = &mut self.drive else {
            return;
        };
        let drive_time = clock.at(Instant::now());
        while let Some(done) = drive.pop_completion(drive_time) {
            if let Some(waiter) = self.waiters.get_mut(done.tag as usize) {
                waiter.command = Some(true);
                waiter.signal.notify_one();
            }
        }
    }

    /// How long nothing happens.
    fn quiet(&mut self, leader: usize) -> Duration {
        let Some((drive, clock)) = &self.drive else {
            return LONGEST;
        };
        let next = drive.next_event();
        self.leader = Some((leader, next));
        clock.until(next, LONGEST)
    }

    /// A command is answered; unless somebody does, another watches the time.
    fn end(&mut self, tag: usize) {
        self.waiters[tag].command = None;
        if self.leader.is_none_or(|(leader, _)| leader == tag) {
            self.leader = None;
            let next = self.waiters.iter().find(|w| w.command == Some(false));
            if let Some(next) = next {
                next.signal.notify_one();
            }
        }
    }
}

impl Tempo {
    /// Without a drive yet; virtual time will pass `slower` times slower than real time.
    pub fn slower(slower: u32) -> Tempo {
        Tempo {
            inner: Mutex::default(),
            slower,
        }
    }

    fn lock(&self) -> MutexGuard<'_, TempoState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time goes on from here with this drive; `None`: it has no power. Commands of the one before
    /// are over.
    pub fn restart(&self, drive: Option<&PowerDrive>) {
        let drive = drive.map(PowerDrive::without_bytes);
        let mut inner = self.lock();
        inner.drive = drive.map(|drive| {
            let from = drive.now().max(drive.ready());
            (drive, PaceClock::from(from, self.slower))
        });
        inner.run += 1;
        inner.leader = None;
        for waiter in inner.waiters.drain(..) {
            waiter.signal.notify_all();
        }
    }

    /// Waits until the commands, one after another, are done; the first has `arrived` then.
    pub fn wait(&self, arrived: Instant, commands: impl Iterator<Item = Command>) {
        wake_in_time();
        let (mut inner, mut arrived) = (self.lock(), arrived);
        let run = inner.run;
        for command in commands {
            let Some(tag) = inner.submit(&command, arrived) else {
                return;
            };
            loop {
                inner.advance();
                if inner.waiters[tag].command == Some(true) {
                    break;
                }
                inner = self.sleep(inner, tag);
                if inner.run != run {
                    return;
                }
            }
            inner.end(tag);
            arrived = Instant::now();
        }
    }

    /// Sleeps until something may have happened.
    fn sleep<'a>(
        &'a self,
        mut inner: MutexGuard<'a, TempoState>,
        tag: usize,
    ) -> MutexGuard<'a, TempoState> {
        let signal = inner.waiters[tag].signal.clone();
        if inner.leader.is_some_and(|(leader, _)| leader != tag) {
            let woken = signal.wait(inner);
            return woken.unwrap_or_else(PoisonError::into_inner);
        }
        let quiet = inner.quiet(tag);
        if quiet < AWAKE {
            drop(inner);
            std::thread::yield_now();
            return self.lock();
        }
        let woken = signal.wait_timeout(inner, quiet);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A sleeping thread is woken up to 50 us late, unless it asks not to be.
pub(super) fn wake_in_time() {
    #[cfg(target_os = "linux")]
    {
        thread_local! {
            static ASKED: () = {
                let slack_ns = std::num::NonZeroU64::new(1);
                // It is later without, and nothing else.
                let _ = rustix::thread::set_current_timer_slack(slack_ns);
            };
        }
        ASKED.with(|()| ());
    }
}
