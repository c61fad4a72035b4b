//! The head of a request, compact or extended.

use super::wire::*;

/// The head of the next request.
pub(super) enum RequestHead<'a> {
    Compact(&'a [u8; REQUEST_BYTES]),
    Extended(&'a [u8; EXTENDED_REQUEST_BYTES]),
}

impl<'a> RequestHead<'a> {
    /// Its length in bytes.
    pub fn bytes(is_extended: bool) -> usize {
        if is_extended {
            EXTENDED_REQUEST_BYTES
        } else {
            REQUEST_BYTES
        }
    }

    /// The head at the front of `ready`, if all of it is there.
    pub fn next(is_extended: bool, ready: &'a [u8]) -> Option<RequestHead<'a>> {
        if is_extended {
            ready.first_chunk().map(RequestHead::Extended)
        } else {
            ready.first_chunk().map(RequestHead::Compact)
        }
    }

    /// The request and the bytes of its head; `None` if it is none, or has a payload of 4 GiB or
    /// more, which no client may send.
    pub fn request(self) -> Option<(ExtendedRequest, usize)> {
        let (request, bytes) = match self {
            RequestHead::Compact(head) => (NbdRequest::parse(head)?.into(), head.len()),
            RequestHead::Extended(head) => (ExtendedRequest::parse(head)?, head.len()),
        };
        (request.payload() <= u64::from(u32::MAX)).then_some((request, bytes))
    }
}
