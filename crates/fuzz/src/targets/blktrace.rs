//! Binary records of `blktrace`, in either byte order.

use super::traces::{check, read, sample};
use crate::Target;
use ssdlab_load::trace::{ReadOptions, TraceFormat};

/// The first byte names the format to write, the rest are records.
pub const TARGET: Target = Target {
    name: "blktrace",
    run,
    seeds: || {
        let little = sample(TraceFormat::Blktrace);
        let mut big = little.clone();
        for record in big.chunks_exact_mut(48) {
            // Fields of 4, 4, 8, 8, 4, 4, 4, 4, 4, 2 and 2 bytes.
            let mut at = 0;
            for width in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
                record[at..at + width].reverse();
                at += width;
            }
        }
        let mut trailing = little.clone();
        trailing[46] = 3;
        trailing.splice(48..48, *b"pdu");
        [little, big, trailing]
            .map(|records| [vec![3], records].concat())
            .to_vec()
    },
    words: &["\u{7}tae", "eat\u{7}"],
};

fn run(input: &[u8]) {
    let Some((&to, records)) = input.split_first() else {
        return;
    };
    let mut options = ReadOptions::default();
    options.format = Some(TraceFormat::Blktrace);
    options.bad_share = 0.9;
    options.device = (to < 128).then(|| "all".to_owned());
    let format = TraceFormat::WRITTEN[usize::from(to) % TraceFormat::WRITTEN.len()];
    check(read(records, &options), format);
}
