//! Is a write durable on every copy when it is acknowledged? Watched from outside the tier: from
//! what was handed to the devices and what completed, and nothing else.
//!
//! A write is durable on a device when it completed with FUA, or a flush that was submitted after
//! its completion has completed, or the device's buffer is protected.

/// How far a device is.
#[derive(Clone, Copy, Debug, Default)]
struct DeviceDurability {
    protected: bool,
    /// Host writes completed, each with its number from 0.
    completed: u64,
    /// Those below this number are durable by a flush.
    flushed: u64,
}

/// A completed copy of a write: its number on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedCopy {
    device: usize,
    number: u64,
    fua: bool,
}

/// Watches all devices.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    devices: Vec<DeviceDurability>,
    /// Writes acknowledged.
    pub acknowledged: u64,
    /// Of these, not durable on all their copies at that moment.
    pub not_durable: u64,
}

impl Promises {
    /// Devices, by whether their buffer is protected.
    pub fn new(protected: impl Iterator<Item = bool>) -> Promises {
        let device = |protected| DeviceDurability {
            protected,
            ..DeviceDurability::default()
        };
        Promises {
            devices: protected.map(device).collect(),
            ..Promises::default()
        }
    }

    /// A copy of a write completed.
    pub fn written(&mut self, device: usize, fua: bool) -> CompletedCopy {
        let number = self.devices[device].completed;
        self.devices[device].completed += 1;
        CompletedCopy {
            device,
            number,
            fua,
        }
    }

    /// A flush is submitted: the number of writes that it covers.
    pub fn flush_begins(&self, device: usize) -> u64 {
        self.devices[device].completed
    }

    /// A flush completed that covers the first `covers` writes.
    pub fn flushed(&mut self, device: usize, covers: u64) {
        let flushed = &mut self.devices[device].flushed;
        *flushed = covers.max(*flushed);
    }

    /// A write that must have `copies` copies is acknowledged.
    pub fn acknowledge(&mut self, copies: usize, completed: &[CompletedCopy]) {
        let durable = |copy: &CompletedCopy| {
            let device = &self.devices[copy.device];
            copy.fua || device.protected || copy.number < device.flushed
        };
        let mut on: Vec<usize> = completed
            .iter()
            .filter(|c| durable(c))
            .map(|c| c.device)
            .collect();
        on.sort_unstable();
        on.dedup();
        self.acknowledged += 1;
        self.not_durable += u64::from(on.len() < copies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flush_that_began_after_the_write_makes_it_durable() {
        let mut p = Promises::new([false, false].into_iter());
        let early = p.flush_begins(0);
        let copies = [p.written(0, false), p.written(1, true)];
        p.flushed(0, early);
        p.acknowledge(2, &copies);
        assert_eq!(p.not_durable, 1);
        let late = p.flush_begins(0);
        p.flushed(0, late);
        p.acknowledge(2, &copies);
        assert_eq!((p.not_durable, p.acknowledged), (1, 2));
    }

    #[test]
    fn a_missing_copy_and_two_on_one_device_are_found() {
        let mut p = Promises::new([true, true].into_iter());
        let (a, b) = (p.written(0, false), p.written(0, false));
        p.acknowledge(2, &[a]);
        p.acknowledge(2, &[a, b]);
        assert_eq!(p.not_durable, 2);
    }
}
