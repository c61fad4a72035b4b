//! A submitted request.

use super::entry::RingRequest;
use super::operation::Operation;
use crate::CrashFs;
use crate::paths::place;
use crate::std::fs::File;

/// A submitted request.
#[derive(Debug)]
pub(super) struct Request {
    pub entry: RingRequest,
    pub operation: Operation,
    /// The open file that it is about, held until it has completed.
    pub file: Option<File>,
    /// Number of its chain.
    pub chain: u64,
}

impl Request {
    /// The disk that it is about.
    pub fn disk(&self) -> Option<CrashFs> {
        match &self.file {
            Some(file) => Some(file.description().machine.clone()),
            None => place(&self.operation.path()?.path)
                .ok()
                .map(|place| place.machine),
        }
    }
}
