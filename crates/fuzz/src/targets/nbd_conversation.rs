//! A whole NBD connection: the same replies however the network splits the client's bytes.

use super::nbd::{drive, export, handshakes, request_streams};
use crate::Target;
use ssdlab_serve::Lint;
use ssdlab_serve::nbd::{Conversation, Encryption, HandshakeResult, PayloadBudget};
use ssdlab_ssd::rng::Rng;
use std::io::{self, Read, Write};

/// The first byte selects the split, the rest comes from the client.
pub const TARGET: Target = Target {
    name: "nbd_conversation",
    run,
    seeds: || {
        let handshakes = handshakes().into_iter().zip(1..);
        let with_requests = |(handshake, split): (Vec<u8>, u8)| {
            let streams = request_streams().into_iter();
            streams.map(move |requests| [vec![split], handshake.clone(), requests].concat())
        };
        handshakes.flat_map(with_requests).collect()
    },
    words: &["IHAVEOPT", "drive", "base:allocation"],
};

fn run(input: &[u8]) {
    let Some((&split, bytes)) = input.split_first() else {
        return;
    };
    let whole = converse(bytes, None);
    let in_pieces = converse(bytes, Some(Rng::named(split.into(), "split")));
    assert!(in_pieces == whole, "split {split} changes the replies");
}

/// The outcome of a connection, and the bytes that the server sent.
fn converse(bytes: &[u8], split: Option<Rng>) -> (Result<(), io::ErrorKind>, Vec<u8>) {
    let mut wire = Wire {
        bytes,
        split,
        sent: Vec::new(),
    };
    let (drive, lint) = (drive(), Lint::default());
    let budget = PayloadBudget::default();
    let mut conversation = Conversation::new(&drive, &lint, &budget, export(), Encryption::Off);
    let outcome = match conversation.shake_hands(&mut wire, || Ok(())) {
        Ok(HandshakeResult::Transmit(session)) => {
            conversation.transmit(session, "fuzz".to_string(), &mut wire)
        }
        other => other.map(|_| ()),
    };
    (outcome.map_err(|error| error.kind()), wire.sent)
}

/// A connection whose client has sent everything and reads nothing.
struct Wire<'a> {
    bytes: &'a [u8],
    split: Option<Rng>,
    sent: Vec<u8>,
}

impl Read for Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = match &mut self.split {
            None => usize::MAX,
            Some(rng) => {
                let bits = rng.below(12);
                1 + rng.below(2 << bits) as usize
            }
        };
        let count = into.len().min(most);
        self.bytes.read(&mut into[..count])
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.sent.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
