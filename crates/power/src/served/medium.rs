//! Where a served drive lives: in memory, or in a drive directory.

use ssdlab_base::LabError;
use ssdlab_drives::keep::directory::{DriveDir, WriteLandings};
use ssdlab_ssd::drive::power::{DataDrive, PowerDrive, Recovery};

/// A drive that holds data, and what must be done so that it survives the process.
#[derive(Debug)]
pub(super) enum ServedMedium {
    Memory(Box<DataDrive>),
    Directory(Box<DriveDir>),
}

impl ServedMedium {
    pub fn drive(&self) -> &PowerDrive {
        match self {
            ServedMedium::Memory(data) => data.drive(),
            ServedMedium::Directory(dir) => dir.drive(),
        }
    }

    pub fn data(&mut self) -> &mut DataDrive {
        match self {
            ServedMedium::Memory(data) => data,
            ServedMedium::Directory(dir) => dir.data(),
        }
    }

    /// Where writes may be received before the drive takes them.
    pub fn landings(&self) -> Option<WriteLandings> {
        match self {
            ServedMedium::Memory(_) => None,
            ServedMedium::Directory(dir) => Some(dir.landings()),
        }
    }

    /// A command that changes nothing, or a FLUSH, was done.
    pub fn keep(&mut self, durable: bool) -> Result<(), LabError> {
        match self {
            ServedMedium::Memory(_) => Ok(()),
            ServedMedium::Directory(dir) => dir.keep(durable),
        }
    }

    /// Bytes were changed.
    pub fn keep_change(&mut self, offset: u64, len: u64, durable: bool) -> Result<(), LabError> {
        match self {
            ServedMedium::Memory(_) => Ok(()),
            ServedMedium::Directory(dir) => dir.keep_change(offset, len, durable),
        }
    }

    /// Called before any command is acknowledged.
    pub fn settle(&mut self) -> Result<(), LabError> {
        match self {
            ServedMedium::Memory(_) => Ok(()),
            ServedMedium::Directory(dir) => dir.settle(),
        }
    }

    /// Why a checkpoint was put off, if it was.
    pub fn put_off(&self) -> Option<&str> {
        match self {
            ServedMedium::Memory(_) => None,
            ServedMedium::Directory(dir) => dir.put_off(),
        }
    }

    /// The power was cut.
    pub fn keep_cut(&mut self) -> Result<(), LabError> {
        match self {
            ServedMedium::Memory(_) => Ok(()),
            ServedMedium::Directory(dir) => dir.keep_cut(),
        }
    }

    /// Shuts the drive down, if it has power.
    pub fn close(&mut self) -> Result<(), LabError> {
        match self {
            ServedMedium::Memory(data) => {
                if data.drive().is_on() && data.flush().is_ok() {
                    data.drive_mut().shut_down();
                }
                Ok(())
            }
            ServedMedium::Directory(dir) => dir.shut_down(),
        }
    }

    /// Switches power on; it may be off again, or the drive dead.
    pub fn power_on(&mut self) -> Result<Recovery, LabError> {
        match self {
            ServedMedium::Memory(data) => Ok(data.power_on()),
            ServedMedium::Directory(dir) => dir.power_on(),
        }
    }
}
