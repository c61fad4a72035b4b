//! A volume of a cloud behind front ends, at its own pace.
//!
//! Each command waits until the volume's accounts let it pass and its service is over. What is
//! acknowledged is durable: a power cut, as when an instance fails, loses nothing of it.

use super::front::ServedStore;
use super::tempo::wake_in_time;
use ssdlab_base::LabError;
use ssdlab_serve::{
    CutMoment, MemoryStore, PowerControl, PowerError, PowerStatus, Store, StoreError, StoreExtent,
    ZeroFlags,
};
use ssdlab_ssd::{Command, Nanos, Op};
use ssdlab_volume::{Volume, VolumeConfig};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const SECTOR: u32 = 512;

/// A served volume; its bytes are in memory, and nothing of it is kept.
pub struct ServedVolume {
    bytes: MemoryStore,
    volume: Mutex<Volume>,
    began: Instant,
}

impl ServedVolume {
    /// A new volume; its time begins now.
    pub fn new(config: VolumeConfig) -> ServedVolume {
        ServedVolume {
            bytes: MemoryStore::new(config.bytes, SECTOR),
            volume: Mutex::new(Volume::new(config)),
            began: Instant::now(),
        }
    }

    /// Waits as long as the volume takes for a command.
    fn wait(&self, op: Op, offset: u64, len: u64, fua: bool) -> Result<(), StoreError> {
        if !self.bytes.is_powered() {
            return Err(StoreError::Off);
        }
        wake_in_time();
        let command = Command {
            op,
            fua,
            ..Command::write(offset, u32::try_from(len).unwrap_or(u32::MAX))
        };
        let done_time = {
            let volume = self.volume.lock();
            let mut volume = volume.unwrap_or_else(PoisonError::into_inner);
            // Under the lock, so that arrivals never go back.
            let arrival = self.began.elapsed().as_nanos();
            let arrival = Nanos(u64::try_from(arrival).unwrap_or(u64::MAX));
            volume.submit(arrival, &command).done
        };
        let pause = Duration::from_nanos(done_time.0).saturating_sub(self.began.elapsed());
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        Ok(())
    }
}

impl Store for ServedVolume {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn sector_size(&self) -> u32 {
        SECTOR
    }

    fn is_powered(&self) -> bool {
        self.bytes.is_powered()
    }

    fn takes_time(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.wait(Op::Read, offset, into.len() as u64, false)?;
        self.bytes.read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        self.wait(Op::Write, offset, from.len() as u64, fua)?;
        self.bytes.write(offset, from, true)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.wait(Op::Flush, 0, 0, false)?;
        self.bytes.flush()
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.wait(Op::Trim, offset, length, fua)?;
        self.bytes.trim(offset, length, true)
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.wait(Op::WriteZeroes, offset, length, flags.fua)?;
        let flags = ZeroFlags { fua: true, ..flags };
        self.bytes.write_zeroes(offset, length, flags)
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.bytes.extents(offset, length, max)
    }
}

impl PowerControl for ServedVolume {
    fn off(&self) -> Result<PowerStatus, PowerError> {
        self.bytes.off()
    }

    fn on(&self) -> Result<PowerStatus, PowerError> {
        self.bytes.on()
    }

    fn status(&self) -> PowerStatus {
        self.bytes.status()
    }

    fn cut_when(&self, at: Option<CutMoment>) -> Result<PowerStatus, PowerError> {
        self.bytes.cut_when(at)
    }

    fn wait_for_cut(&self, cuts: u64, at_most: Duration) -> bool {
        self.bytes.wait_for_cut(cuts, at_most)
    }
}

impl ServedStore for ServedVolume {
    fn shut_down(&self) -> Result<(), LabError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_its_time_and_loses_nothing() {
        let config = ssdlab_volume::open("gp2,size=1,credit=0").expect("it is sold");
        let volume = ServedVolume::new(config);
        let began = Instant::now();
        // 100 a second, the first at once.
        for sector in 0..12_u64 {
            volume
                .write(sector * 4096, &[7; 4096], false)
                .expect("it is written");
        }
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(105), "{took:?}");
        volume.off().expect("it is switched off");
        assert_eq!(volume.flush(), Err(StoreError::Off));
        volume.on().expect("it is switched on");
        let mut bytes = [0; 4096];
        volume.read(11 * 4096, &mut bytes).expect("it is read");
        assert_eq!(bytes, [7; 4096], "never flushed, and kept");
    }
}
