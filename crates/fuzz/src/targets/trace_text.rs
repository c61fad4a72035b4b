//! Traces as text in all formats, detected or named.

use super::traces::{check, read};
use crate::{Target, samples};
use ssdlab_load::trace::{ReadOptions, TraceFormat};

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
    let format = |byte: u8| {
        TraceFormat::WRITTEN
            .get(usize::from(byte).wrapping_sub(1))
            .copied()
    };
    let mut options = ReadOptions::default();
    options.format = format(from);
    options.bad_share = 0.9;
    options.device = (from < 128).then(|| "all".to_owned());
    let target = format(to % 11).unwrap_or(TraceFormat::Csv);
    check(read(text, &options), target);
}

/// Traces as other programs write them.
const FOREIGN: [&str; 8] = [
    "8,0 3 1 0.000002000 697 D WS 223490 + 8 [kjournald]\n\
     8,0 3 7 0.000012000 0 C WS 223490 + 8 [0]\n",
    "fio version 2 iolog\n/dev/sda add\n/dev/sda write 4096 512\n/dev/sda sync 0 0\n",
    "fio version 3 iolog\n0 /dev/sda add\n12 /dev/sda write 4096 512\n",
    "128166372003061629,hm,1,Read,383496192,32768,413\n",
    "0,20941264,8192,W,0.551706\n",
    "15.125 0 1008 8 0\n",
    "15125 0 1008 8 0\n",
    "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.0009 kworker 22 xvda1 R 1024 8192 0.10\n",
];

/// Samples of the repository, foreign lines, and a short trace in every format.
fn seeds() -> Vec<Vec<u8>> {
    let foreign = FOREIGN.map(|text| [&[0, 1], text.as_bytes()].concat());
    let mut seeds = foreign.to_vec();
    for sample in samples("examples/traces") {
        let head = &sample[..sample.len().min(4096)];
        seeds.push([&[0, 1], head].concat());
    }
    for (number, format) in (1..).zip(TraceFormat::WRITTEN) {
        seeds.push([vec![0, number], super::traces::sample(format)].concat());
        seeds.push([vec![number, 1], super::traces::sample(format)].concat());
    }
    seeds
}
