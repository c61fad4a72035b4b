//! The entries of both queues. Each is `Entry` in the module of its queue.

use std::fmt::{self, Debug};

pub(super) mod sealed {
    pub trait SealedRequest {
        fn request(self) -> super::RingRequest;
    }

    pub trait SealedCompletion {
        fn completed(entry: super::RingCompletion) -> Self;
    }
}

bitflags::bitflags! {
    /// Flags of a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Flags: u8 {
        /// It is for a registered file.
        #[doc(hidden)]
        const FIXED_FILE = 1;
        /// It begins when all earlier requests have completed, and later ones begin after it.
        const IO_DRAIN = 1 << 1;
        /// The next request of this submission begins when this one has completed, and is cancelled
        /// if this one fails or transfers less than it was to.
        const IO_LINK = 1 << 2;
        /// As `IO_LINK`, but the next one is not cancelled.
        const IO_HARDLINK = 1 << 3;
        /// Changes nothing here.
        const ASYNC = 1 << 4;
        /// No completion unless it fails.
        const SKIP_SUCCESS = 1 << 6;
    }
}

/// A request; [`Entry`](RingRequest) is the only one.
pub trait RequestMarker: Clone + Debug + From<RingRequest> + sealed::SealedRequest {
    /// Sets what its completion is to carry.
    fn set_user_data(&mut self, user_data: u64);

    /// What its completion is to carry.
    fn get_user_data(&self) -> u64;
}

/// A request, made by one of [`opcode`](super::opcode).
#[derive(Clone)]
pub struct RingRequest {
    pub(super) opcode: u8,
    pub(super) flags: Flags,
    /// A descriptor, or the number of a registered file.
    pub(super) fd: i32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) call_flags: u32,
    pub(super) buffer_index: u16,
    pub(super) user_data: u64,
}

impl RingRequest {
    pub(super) fn new(opcode: u8) -> RingRequest {
        RingRequest {
            opcode,
            flags: Flags::empty(),
            fd: -1,
            offset: 0,
            address: 0,
            length: 0,
            call_flags: 0,
            buffer_index: 0,
            user_data: 0,
        }
    }

    /// Adds flags.
    pub fn flags(mut self, flags: Flags) -> RingRequest {
        self.flags |= flags;
        self
    }

    /// Takes all flags away.
    pub fn clear_flags(mut self) -> RingRequest {
        self.flags = Flags::empty();
        self
    }

    /// Sets what its completion is to carry.
    pub fn user_data(mut self, user_data: u64) -> RingRequest {
        self.user_data = user_data;
        self
    }

    /// Sets what its completion is to carry.
    pub fn set_user_data(&mut self, user_data: u64) {
        self.user_data = user_data;
    }

    /// What its completion is to carry.
    pub fn get_user_data(&self) -> u64 {
        self.user_data
    }

    /// Number of its operation.
    pub fn get_opcode(&self) -> u32 {
        u32::from(self.opcode)
    }

    /// Changes nothing here: files have no owners.
    pub fn personality(self, _personality: u16) -> RingRequest {
        self
    }
}

impl Debug for RingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("op_code", &self.opcode)
            .field("flags", &self.flags.bits())
            .field("user_data", &self.user_data)
            .finish()
    }
}

impl sealed::SealedRequest for RingRequest {
    fn request(self) -> RingRequest {
        self
    }
}

impl RequestMarker for RingRequest {
    fn set_user_data(&mut self, user_data: u64) {
        self.user_data = user_data;
    }

    fn get_user_data(&self) -> u64 {
        self.user_data
    }
}

/// A completion; [`Entry`](RingCompletion) is the only one.
pub trait CompletionMarker:
    Clone + Debug + Into<RingCompletion> + sealed::SealedCompletion
{
    /// What the program has given the request.
    fn user_data(&self) -> u64;

    /// Replaces it.
    fn set_user_data(&mut self, user_data: u64);
}

/// A completed request.
#[derive(Clone, Debug)]
pub struct RingCompletion {
    pub(super) result: i32,
    pub(super) user_data: u64,
}

impl RingCompletion {
    /// What the system call would have returned, or the negative number of an error: -5 (`EIO`)
    /// when power is lost.
    pub fn result(&self) -> i32 {
        self.result
    }

    /// What the program has given the request.
    pub fn user_data(&self) -> u64 {
        self.user_data
    }

    /// Replaces it.
    pub fn set_user_data(&mut self, user_data: u64) {
        self.user_data = user_data;
    }

    /// Always 0.
    pub fn flags(&self) -> u32 {
        0
    }
}

impl sealed::SealedCompletion for RingCompletion {
    fn completed(entry: RingCompletion) -> RingCompletion {
        entry
    }
}

impl CompletionMarker for RingCompletion {
    fn user_data(&self) -> u64 {
        self.user_data
    }

    fn set_user_data(&mut self, user_data: u64) {
        self.user_data = user_data;
    }
}
