//! Several modelled drives in one virtual time.
//!
//! The drive whose event is earliest moves first, so a command that one drive's completion causes
//! on another is never late. Latencies, Little's law and the count of commands are kept per drive.

use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos, Op};

/// A completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
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
    /// Drives, none with a command outstanding; time goes on at the latest of theirs.
    pub fn new(drives: Vec<Drive>) -> Devices {
        let now = drives.iter().map(Drive::now).max().unwrap_or_default();
        let port = |drive: Drive| Port {
            served_before: served(&drive),
            drive,
            free: Vec::new(),
            under_way: Vec::new(),
            area: 0,
            latency_sum: 0,
            last: now,
            submitted: 0,
            completed: 0,
        };
        Devices {
            ports: drives.into_iter().map(port).collect(),
            now,
        }
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

    /// The next completion by `until`, and that time is the present; without one, `until` is.
    pub fn next(&mut self, until: Nanos) -> Option<Done> {
        if let [port] = self.ports.as_mut_slice() {
            let done = port.take(0, until);
            self.now = done.map_or(self.now.max(until), |done| done.done);
            return done;
        }
        loop {
            let event = |(device, port): (usize, &Port)| Some((port.drive.next_event()?, device));
            let first = self.ports.iter().enumerate().filter_map(event).min();
            let Some((time, device)) = first.filter(|(time, _)| *time <= until) else {
                self.now = self.now.max(until);
                return None;
            };
            let done = self.ports[device].take(device, time);
            self.now = self.now.max(time);
            if done.is_some() {
                return done;
            }
        }
    }

    /// Waits for everything outstanding, without looking at it.
    pub fn settle(&mut self) {
        // Asked for more than is outstanding, the drives would live on to the end of time.
        while self
            .ports
            .iter()
            .any(|port| port.submitted > port.completed)
        {
            if self.next(Nanos::MAX).is_none() {
                // A drive that loses commands is found by the self-check.
                return;
            }
        }
    }

    /// The drives as they are; to be asked for when nothing is outstanding.
    pub fn into_drives(self) -> Vec<Drive> {
        self.ports.into_iter().map(|port| port.drive).collect()
    }

    /// Self-checks, to be made when nothing is outstanding.
    pub fn checks(&self) -> Vec<Check> {
        let several = self.ports.len() > 1;
        let mut checks = Vec::new();
        for (device, port) in self.ports.iter().enumerate() {
            let name = |what: &str| match several {
                true => format!("device {device}: {what}"),
                false => what.to_owned(),
            };
            let mut add = |what: &str, outcome: Result<(), String>| {
                checks.push(Check {
                    name: name(what),
                    failure: outcome.err(),
                });
            };
            add("drive", port.drive.check());
            add("every command served", port.all_served());
            add("Little's law", port.littles_law());
        }
        checks
    }
}

impl Port {
    fn advance(&mut self, now: Nanos) {
        let outstanding = u128::from(self.submitted - self.completed);
        self.area += outstanding * u128::from(now.saturating_sub(self.last).0);
        self.last = self.last.max(now);
    }

    fn take(&mut self, device: usize, until: Nanos) -> Option<Done> {
        let done = self.drive.pop_completion(until)?;
        self.advance(done.done);
        self.completed += 1;
        self.latency_sum += u128::from(done.done.0 - done.submitted.0);
        self.free.push(done.tag);
        let (op, token) = self.under_way[done.tag as usize];
        Some(Done {
            device,
            token,
            op,
            submitted: done.submitted,
            done: done.done,
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
        if self.area == self.latency_sum {
            return Ok(());
        }
        Err(format!(
            "the integral of the number outstanding is {} ns, the sum of latencies {} ns",
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
        let times = |mut devices: Devices| -> Vec<Done> {
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
