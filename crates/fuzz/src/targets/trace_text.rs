//! Traces as text in all formats, detected or named.

use super::traces::{check, read};
use crate::{Target, samples};
use ssdlab_load::trace::{Format, ReadOptions};

/// The first byte names the format to read, or 0 to detect it; the second the one to write.
pub const TARGET: Target = Target {
    name: "trace_text",
    run,
    seeds,
    words: &[
        "read",
        "write",
        "trim",
        "flush",
        ",",
        ",,",
        " D ",
        " C ",
        " Q ",
        " RWBS ",
        "FWFS",
        "WFS",
        "\t",
        "0.000001",
        "fio version 3 iolog\n",
        "t_us,op,offset,length,done_us\n",
        "wait",
        "8,0",
        "+",
        "\n",
        "\r\n",
    ],
};

fn run(input: &[u8]) {
    let Some((&[from, to], text)) = input.split_first_chunk() else {
        return;
    };
    let format = |byte: u8| Format::ALL.get(usize::from(byte).wrapping_sub(1)).copied();
    let options = ReadOptions {
        format: format(from),
        bad_share: 0.9,
        device: (from < 128).then(|| "all".to_owned()),
    };
    let target = format(to % 11).unwrap_or(Format::Csv);
    check(read(text, &options), target);
}

/// Samples of the repository, and one of them in every format.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for sample in samples("examples/traces") {
        let head = &sample[..sample.len().min(4096)];
        seeds.push([&[0, 1], head].concat());
    }
    for (number, format) in (1..).zip(Format::ALL) {
        seeds.push([vec![0, number], super::traces::sample(format)].concat());
        seeds.push([vec![number, 1], super::traces::sample(format)].concat());
    }
    seeds
}
