//! Modelled drives in one virtual time, and the queue that a host keeps in front of them.
//!
//! [`Devices::keep`] is the one loop that keeps a modelled drive at a queue depth: lives, hosts and
//! the experiments of the articles give it their commands as a [`CommandSource`]. With several
//! drives, the one whose event is earliest moves first, so a command that is submitted to one drive
//! when another completes is never late. Little's law and the number of commands served are checked
//! for each drive, whatever the host does.

use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos, Op};

/// Where the commands of [`Devices::keep`] come from, and what looks at their completions.
pub trait CommandSource {
    /// Whether [`CommandSource::next`] has a command, for a source that knows: without one,
    /// [`Devices::keep`] returns before it waits for a completion.
    fn has_next(&self) -> bool {
        true
    }

    /// The next command; `None` ends [`Devices::keep`].
    fn next(&mut self, drive: &Drive) -> Option<Command>;

    /// A command has completed.
    fn done(&mut self, _drive: &Drive, _done: &DeviceCompletion) {}
}

/// Commands from a closure, or from an iterator's `next`; completions are not looked at.
impl<F: FnMut() -> Option<Command>> CommandSource for F {
    fn next(&mut self, _: &Drive) -> Option<Command> {
        self()
    }
}

/// A completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCompletion {
    /// Which drive.
    pub device: usize,
    /// As given to [`Devices::submit`].
    pub token: u64,
    /// What it was.
    pub op: Op,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it completed.
    pub done: Nanos,
}

/// A drive and what is under way on it.
#[derive(Clone, Debug)]
struct Port {
    drive: Drive,
    free: Vec<u32>,
    /// By tag.
    under_way: Vec<(Op, u64)>,
    /// Integral of the number outstanding over time, and sum of latencies: equal by Little's law
    /// once nothing is outstanding. In ns.
    area: u128,
    latency_sum: u128,
    last: Nanos,
    submitted: u64,
    completed: u64,
    /// Commands that the drive had served when it came here.
    served_before: u64,
}

/// The drives.
#[derive(Clone, Debug)]
pub struct Devices {
    ports: Vec<Port>,
    now: Nanos,
}

fn served(drive: &Drive) -> u64 {
    let c = drive.counters();
    c.host_reads + c.host_writes + c.host_trims + c.host_flushes
}

/// A drive fresh from the factory.
///
/// # Errors
/// When the configuration is impossible.
pub fn new_drive(config: &DriveConfig) -> Result<Drive, LabError> {
    Drive::new(config.clone())
        .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))
}

impl Devices {
    /// Drives without outstanding commands; the clock starts at the latest of their times.
    pub fn new(drives: Vec<Drive>) -> Devices {
        let start = drives.iter().map(Drive::now).max().unwrap_or_default();
        let port = |drive: Drive| Port {
            served_before: served(&drive),
            drive,
            free: Vec::new(),
            under_way: Vec::new(),
            area: 0,
            latency_sum: 0,
            last: start,
            submitted: 0,
            completed: 0,
        };
        Devices {
            ports: drives.into_iter().map(port).collect(),
            now: start,
        }
    }

    /// One drive, without a command outstanding.
    pub fn one(drive: Drive) -> Devices {
        Devices::new(vec![drive])
    }

    /// Keeps `depth` commands of `source` outstanding on the first drive until `source` ends or the
    /// time is `until`. The next command is submitted at the moment one completes. Commands that
    /// are outstanding then stay so: [`Devices::keep`] goes on with them, [`Devices::settle`]
    /// waits.
    #[inline]
    pub fn keep<S: CommandSource>(&mut self, depth: u32, until: Nanos, source: &mut S) {
        while source.has_next() {
            if self.outstanding(0) >= u64::from(depth) {
                // A drive that loses commands is found by the self-check.
                let Some(completion) = self.next(until) else {
                    return;
                };
                source.done(&self.ports[0].drive, &completion);
            }
            let Some(command) = source.next(&self.ports[0].drive) else {
                return;
            };
            self.submit(0, &command, 0);
        }
    }

    /// Leaves the drives alone for `time`.
    pub fn rest(&mut self, time: Nanos) {
        let until = self.now.saturating_add(time);
        while self.next(until).is_some() {}
    }

    /// Commands given so far, to all drives.
    pub fn given(&self) -> u64 {
        self.ports.iter().map(|port| port.submitted).sum()
    }

    /// The present.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ports.len()
    }

    /// One of them.
    pub fn drive(&self, device: usize) -> &Drive {
        &self.ports[device].drive
    }

    /// Commands outstanding on one of them.
    pub fn outstanding(&self, device: usize) -> u64 {
        let port = &self.ports[device];
        port.submitted - port.completed
    }

    /// Hands a command over, now; `token` comes back with its completion.
    pub fn submit(&mut self, device: usize, command: &Command, token: u64) {
        let port = &mut self.ports[device];
        let tag = port.free.pop().unwrap_or_else(|| {
            port.under_way.push((command.op, token));
            port.under_way.len() as u32 - 1
        });
        port.under_way[tag as usize] = (command.op, token);
        port.advance(self.now);
        port.submitted += 1;
        port.drive.submit(tag, command, self.now);
    }

    /// The next completion by `until`. The clock moves to its time, or to `until` without one.
    pub fn next(&mut self, until: Nanos) -> Option<DeviceCompletion> {
        if let [port] = self.ports.as_mut_slice() {
            let completion = port.take(0, until);
            self.now = completion.map_or(self.now.max(until), |completion| completion.done);
            return completion;
        }
        loop {
            let event = |(device, port): (usize, &Port)| Some((port.drive.next_event()?, device));
            let first = self.ports.iter().enumerate().filter_map(event).min();
            let Some((time, device)) = first.filter(|(time, _)| *time <= until) else {
                self.now = self.now.max(until);
                return None;
            };
            let completion = self.ports[device].take(device, time);
            self.now = self.now.max(time);
            if completion.is_some() {
                return completion;
            }
        }
    }

    /// Waits for everything outstanding, without looking at it.
    pub fn settle(&mut self) {
        self.settle_with(|_, _| {});
    }

    /// Waits for everything outstanding and passes each completion to `on_completion`.
    pub fn settle_with(&mut self, mut on_completion: impl FnMut(&Drive, &DeviceCompletion)) {
        // Waiting for more than is outstanding would run the drives to the end of time.
        while self
            .ports
            .iter()
            .any(|port| port.submitted > port.completed)
        {
            // A drive that loses commands is found by the self-check.
            let Some(completed) = self.next(Nanos::MAX) else {
                return;
            };
            on_completion(&self.ports[completed.device].drive, &completed);
        }
    }

    /// The only drive, as it is. Call it when nothing is outstanding.
    pub fn into_drive(mut self) -> Drive {
        assert_eq!(self.ports.len(), 1, "one drive");
        self.ports.remove(0).drive
    }

    /// Self-checks. Call it when nothing is outstanding.
    pub fn checks(&self) -> Vec<SelfCheck> {
        let several = self.ports.len() > 1;
        let mut checks = Vec::new();
        for (device, port) in self.ports.iter().enumerate() {
            let name = |title: &str| {
                if several {
                    format!("device {device}: {title}")
                } else {
                    title.to_owned()
                }
            };
            let mut add = |title: &str, outcome: Result<(), String>| {
                checks.push(SelfCheck::new(name(title), outcome));
            };
            add("drive", port.drive.check());
            add("every command served", port.all_served());
            add("Little's law", port.littles_law());
        }
        checks
    }

    /// Whether the integral of the commands outstanding on the first drive equals the sum of their
    /// latencies and nothing is outstanding.
    ///
    /// # Errors
    /// Both numbers, in ns.
    pub fn littles_law(&self) -> Result<(), String> {
        self.ports[0].littles_law()
    }
}

impl Port {
    fn advance(&mut self, now: Nanos) {
        let outstanding = u128::from(self.submitted - self.completed);
        self.area += outstanding * u128::from(now.saturating_sub(self.last).0);
        self.last = self.last.max(now);
    }

    fn take(&mut self, device: usize, until: Nanos) -> Option<DeviceCompletion> {
        let completion = self.drive.pop_completion(until)?;
        self.advance(completion.done);
        self.completed += 1;
        self.latency_sum += u128::from(completion.done.0 - completion.submitted.0);
        self.free.push(completion.tag);
        let (op, token) = self.under_way[completion.tag as usize];
        Some(DeviceCompletion {
            device,
            token,
            op,
            submitted: completion.submitted,
            done: completion.done,
        })
    }

    fn all_served(&self) -> Result<(), String> {
        let served = served(&self.drive) - self.served_before;
        if served == self.submitted && self.completed == self.submitted {
            return Ok(());
        }
        Err(format!(
            "{} given, {served} served, {} completed",
            self.submitted, self.completed
        ))
    }

    fn littles_law(&self) -> Result<(), String> {
        let outstanding = self.submitted - self.completed;
        if outstanding == 0 && self.area == self.latency_sum {
            return Ok(());
        }
        Err(format!(
            "{outstanding} outstanding in the end; the integral of the number outstanding is {} \
             ns, the sum of latencies {} ns",
            self.area, self.latency_sum
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny(count: usize) -> Devices {
        let drive = Drive::new(DriveConfig::tiny()).unwrap();
        Devices::new(vec![drive; count])
    }

    /// A command on one drive, given at the completion of one on another, starts at that moment.
    #[test]
    fn time_is_one_for_all_drives() {
        let mut devices = tiny(3);
        for device in 0..3 {
            devices.submit(device, &Command::write_fua(0, 4096), device as u64);
        }
        let mut last = Nanos::ZERO;
        for step in 0..300 {
            let done = devices.next(Nanos::MAX).unwrap();
            assert!(done.done >= last && done.done == devices.now());
            last = done.done;
            if step < 270 {
                let next = (done.device + 1) % 3;
                devices.submit(next, &Command::write_fua((step % 400) * 4096, 4096), step);
                devices.submit(done.device, &Command::flush(), 0);
            }
        }
        devices.settle();
        for check in devices.checks() {
            assert_eq!(check.failure, None, "{}", check.name);
        }
    }

    #[test]
    fn one_of_three_gives_the_same_times_as_one_alone() {
        let times = |mut devices: Devices| -> Vec<DeviceCompletion> {
            let commands = (0..100).map(|n| (n * 37 % 448) * 4096);
            commands
                .map(|offset| {
                    devices.submit(0, &Command::write_fua(offset, 4096), offset);
                    devices.next(Nanos::MAX).unwrap()
                })
                .collect()
        };
        assert_eq!(times(tiny(1)), times(tiny(3)));
    }

    #[test]
    fn a_lost_command_is_found() {
        let mut devices = tiny(1);
        devices.submit(0, &Command::write(0, 4096), 0);
        devices.settle();
        assert!(devices.checks().iter().all(|c| c.failure.is_none()));
        devices.ports[0].submitted += 1;
        assert!(devices.checks().iter().any(|c| c.failure.is_some()));
    }
}
