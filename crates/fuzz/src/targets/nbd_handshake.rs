//! The NBD handshake: the same replies however the client's bytes are split, all well formed.

use super::nbd::{export, handshakes};
use crate::Target;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{Encryption, Handshake, HandshakeStep};

/// The first byte is the length of the pieces, the rest comes from the client.
pub const TARGET: Target = Target {
    name: "nbd_handshake",
    run,
    seeds: || {
        let streams = handshakes().into_iter().zip([1, 7, 16, 64, 3, 255]);
        let with_piece = |(stream, piece): (Vec<u8>, u8)| [vec![piece], stream].concat();
        streams.map(with_piece).collect()
    },
    words: &[
        "IHAVEOPT",
        "drive",
        "base:",
        "base:allocation",
        "ssdlab:durability",
    ],
};

/// Replies are short, whatever the client asks: bytes of replies for each byte received.
const AMPLIFICATION_MAX: usize = 16;

fn run(input: &[u8]) {
    let Some((&piece, stream)) = input.split_first() else {
        return;
    };
    for encryption in [Encryption::Off, Encryption::Offered, Encryption::Required] {
        run_with(piece, stream, encryption);
    }
}

fn run_with(piece: u8, stream: &[u8], encryption: Encryption) {
    let at_once = shake(stream, stream.len().max(1), encryption);
    let in_pieces = shake(stream, usize::from(piece).max(1), encryption);
    assert_eq!(
        in_pieces, at_once,
        "pieces of {piece} bytes change the outcome"
    );
    let (taken, replies, step) = at_once;
    assert!(taken <= stream.len());
    assert!(replies.len() <= 256 + AMPLIFICATION_MAX * stream.len());
    check(&replies, &step);
}

/// Feeds the stream in pieces; bytes taken, replies and last step.
fn shake(stream: &[u8], piece: usize, encryption: Encryption) -> (usize, Vec<u8>, HandshakeStep) {
    let mut handshake = Handshake::new(export(), encryption);
    let (mut start, mut end) = (0, 0);
    loop {
        let (taken, step) = handshake.feed(&stream[start..end]);
        start += taken;
        if step != HandshakeStep::More || end == stream.len() {
            return (start, handshake.out, step);
        }
        end = (end + piece).min(stream.len());
    }
}

/// The greeting, then whole replies, then the export's properties if it was chosen by name.
fn check(replies: &[u8], step: &HandshakeStep) {
    let mut bytes = WireReader(replies);
    assert_eq!(bytes.u64(), Some(MAGIC));
    assert_eq!(bytes.u64(), Some(OPTION_MAGIC));
    assert_eq!(bytes.u16(), Some(FIXED_NEWSTYLE | NO_ZEROES));
    loop {
        let rest = bytes.0.len();
        if rest == 0 {
            return;
        }
        if bytes.u64() != Some(OPTION_REPLY_MAGIC) {
            let by_name = matches!(step, HandshakeStep::Transmit(_)) && (rest == 10 || rest == 134);
            assert!(by_name, "{rest} bytes that are no reply before {step:?}");
            return;
        }
        let (_, kind) = (bytes.u32(), bytes.u32().expect("a kind"));
        let length = bytes.u32().expect("a length");
        let body = bytes.take(length as usize).expect("a whole reply");
        let is_error = kind >= REP_ERR_UNSUP;
        assert!(!is_error || std::str::from_utf8(body).is_ok());
    }
}
