//! Bad input: every error says what, where and what to do; nothing is lost silently.

use super::super::write::TraceWriter;
use super::*;
use ssdlab_ssd::Op;
use ssdlab_ssd::rng::Rng;
use std::io::Write as _;

const HEADER: &str = "t_us,op,offset,length,done_us\n";

struct Outcome {
    events: Vec<TraceEvent>,
    reading: TraceReadStats,
    error: Option<String>,
}

fn read_with(content: &[u8], options: &ReadOptions) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    std::fs::write(&path, content).unwrap();
    let mut reader = TraceReader::open(&path, options).unwrap();
    let mut events = Vec::new();
    let error = loop {
        match reader.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => break None,
            Err(error) => break Some(format!("{error} hint: {}", error.hint())),
        }
    };
    Outcome {
        events,
        reading: reader.reading(),
        error,
    }
}

fn read(content: &str) -> Outcome {
    read_with(content.as_bytes(), &ReadOptions::default())
}

fn open_error(content: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    std::fs::write(&path, content).unwrap();
    let Err(error) = TraceReader::open(&path, &ReadOptions::default()) else {
        panic!("it opened");
    };
    format!("{error} hint: {}", error.hint())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn bad_lines_below_the_share_are_counted_and_the_first_ten_kept() {
    let mut text = HEADER.to_owned();
    for i in 0..2000 {
        text += &match i % 100 {
            50 => format!("{i},scrub,0,512,\n"),
            _ => format!("{i},write,{},512,{i}.5\n", i * 512),
        };
    }
    let outcome = read(&text);
    assert_eq!(outcome.error, None);
    assert_eq!((outcome.events.len(), outcome.reading.bad), (1980, 20));
    let shown = &outcome.reading.shown;
    assert_eq!(
        (shown.len(), shown[0].number, shown[9].number),
        (10, 52, 952)
    );
    assert!(
        outcome
            .reading
            .bad_lines()
            .contains("line 52: `scrub` is no kind of command")
    );
    let options = ReadOptions {
        bad_share: 0.005,
        ..ReadOptions::default()
    };
    let error = read_with(text.as_bytes(), &options).error.unwrap();
    assert!(error.contains("lines cannot be read as csv"), "{error}");
    assert!(error.contains("--bad-share"), "{error}");
}

#[test]
fn empty_binary_and_foreign_files_are_refused() {
    assert!(open_error(b"").contains("the file is empty"));
    assert!(open_error(&gzip(b"")).contains("the file is empty"));
    assert!(open_error(&[0, 1, 2, 0xff, 0]).contains("not a trace of a known format"));
    let error = open_error(b"Dear Sir or Madam,\nthis is no trace.\n");
    assert!(error.contains("it begins with `Dear Sir"), "{error}");
    assert!(error.contains("blkparse"), "{error}");
    let header_only = read(HEADER).error.unwrap();
    assert!(
        header_only.contains("there is no command in it"),
        "{header_only}"
    );
}

/// Programs on Windows mark texts: a header behind a mark was no header, and of a format without
/// one the first command was lost.
#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    for text in [
        "t_us,op,offset,length,done_us\n1.0,write,0,4096,2.0\n",
        "128166372003061629,hm,0,Write,0,4096,500\n",
    ] {
        let marked = format!("\u{feff}{text}");
        let (plain, marked) = (read(text), read(&marked));
        assert_eq!((marked.reading.bad, marked.error), (0, None));
        assert_eq!(marked.events, plain.events);
        assert_eq!(marked.events.len(), 1);
    }
    let utf_16: Vec<u8> = "\u{feff}t_us,op\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let error = open_error(&utf_16);
    assert!(
        error.contains("UTF-16") && error.contains("iconv"),
        "{error}"
    );
}

#[test]
fn a_file_cut_short_says_so() {
    let line = read("t_us,op,offset,length,done_us\n0,read,0,512,1\n5,wri");
    assert!(
        line.error
            .unwrap()
            .contains("line 3: 2 fields, 5 are expected")
    );
    let within = read("t_us,op,offset,length,done_us\n0,read,0,512,1\n5,read,0,512,12");
    assert!(within.reading.unended && within.error.is_none());
    let mut text = HEADER.to_owned();
    let mut rng = Rng::new(1);
    for i in 0..20_000u64 {
        text += &format!("{i},write,{},512,\n", rng.below(1 << 40) * 512);
    }
    let mut packed = gzip(text.as_bytes());
    packed.truncate(packed.len() / 2);
    let error = read_with(&packed, &ReadOptions::default()).error.unwrap();
    assert!(error.contains("cut short or damaged after line"), "{error}");
    let mut short = gzip(b"t_us,op,offset,length,done_us\n0,read,0,512,1\n");
    short.truncate(short.len() - 4);
    let error = read_with(&short, &ReadOptions::default()).error.unwrap();
    assert!(error.contains("cut short or damaged"), "{error}");
}

#[test]
fn offsets_no_drive_reaches_and_lengths_no_command_has_are_bad() {
    for (line, why) in [
        ("0,read,18446744073709551615,512,", "beyond 8 EiB"),
        ("0,read,9223372036854775808,512,", "beyond 8 EiB"),
        ("0,read,99999999999999999999,512,", "is no offset"),
        ("0,write,0,4294967297,", "no command is that long"),
        ("0,write,0,0,", "a write of 0 bytes"),
        ("-5,write,0,512,", "is no time"),
        ("5,write,0,512,4", "completes before it was issued"),
    ] {
        let error = read(&format!("{HEADER}{line}\n")).error.unwrap();
        assert!(error.contains(why), "{line}: {error}");
    }
    // A trim may be longer.
    assert_eq!(
        read(&format!("{HEADER}0,trim,0,1099511627776,\n"))
            .events
            .len(),
        1
    );
}

#[test]
fn a_little_disorder_is_sorted_and_a_lot_is_bad() {
    let swapped = read(&format!("{HEADER}9,read,0,512,\n3,read,512,512,\n"));
    let times: Vec<u64> = swapped.events.iter().map(|e| e.issued_ns).collect();
    assert_eq!(times, [0, 6000]);
    let mut text = HEADER.to_owned();
    for i in 0..=2 * WINDOW as u64 {
        text += &format!("{},read,0,512,\n", i + 10);
    }
    text += "3,read,0,512,\n";
    let outcome = read(&text);
    assert_eq!(outcome.reading.bad, 1);
    let why = &outcome.reading.shown[0].why;
    assert!(why.starts_with("the time goes back by"), "{why}");
}

#[test]
fn several_devices_are_refused_until_one_is_chosen() {
    let text = "0,0,512,r,0.0\n1,8,512,w,1.0\n0,16,512,r,2.0\n";
    let error = read(text).error.unwrap();
    assert!(error.contains("several devices: 0, 1"), "{error}");
    let count = |device: &str| {
        let options = ReadOptions {
            device: Some(device.to_owned()),
            ..ReadOptions::default()
        };
        read_with(text.as_bytes(), &options).events.len()
    };
    assert_eq!((count("0"), count("1"), count("all")), (2, 1, 3));
}

#[test]
fn compressed_files_read_alike_and_blank_lines_at_the_end_of_text_do_not_count() {
    let text = format!("{HEADER}0,read,0,512,1\n2,flush,0,0,3\n");
    let plain = read(&text);
    let packed = read_with(&gzip(text.as_bytes()), &ReadOptions::default());
    assert_eq!(plain.events, packed.events);
}

/// An event as a format gives it back.
fn as_held(event: &TraceEvent, format: TraceFormat, unit: u64) -> Option<TraceEvent> {
    let mut held = *event;
    held.issued_ns -= held.issued_ns % unit;
    let keeps = match format {
        TraceFormat::Csv => true,
        TraceFormat::Msr | TraceFormat::Spc | TraceFormat::Disksim | TraceFormat::Mqsim => {
            matches!(event.op, Op::Read | Op::Write)
        }
        _ => event.op != Op::WriteZeroes,
    };
    let kinds = [
        TraceFormat::Csv,
        TraceFormat::Blkparse,
        TraceFormat::Blktrace,
        TraceFormat::Biosnoop,
    ];
    if !kinds.contains(&format) {
        (held.fua, held.preflush) = (false, false);
    }
    held.done_ns = match format {
        TraceFormat::IologV2 | TraceFormat::IologV3 => None,
        TraceFormat::Spc | TraceFormat::Disksim | TraceFormat::Mqsim => None,
        TraceFormat::Biosnoop => Some(event.done_or_issued_ns()),
        TraceFormat::Msr => {
            let latency = event.done_or_issued_ns() - event.issued_ns;
            Some(held.issued_ns + latency / unit * unit)
        }
        _ => held.done_ns,
    };
    keeps.then_some(held)
}

proptest::proptest! {
    #[test]
    fn what_is_written_is_read_back(seed: u64, count in 1usize..60) {
        let mut rng = Rng::new(seed);
        let mut now = 0;
        let events: Vec<TraceEvent> = (0..count).map(|i| {
            let op = if i == 0 { Op::Read } else { Op::ALL[rng.below(5) as usize] };
            let flags = op == Op::Write;
            let transfers = op != Op::Flush;
            let event = TraceEvent {
                issued_ns: now,
                done_ns: (rng.below(4) > 0).then(|| now + rng.below(3_000_000)),
                op,
                offset: if transfers { rng.below(1 << 20) * 512 } else { 0 },
                len: if transfers { (1 + rng.below(64)) * 512 } else { 0 },
                fua: flags && rng.below(2) == 0,
                preflush: flags && rng.below(3) == 0,
            };
            now += rng.below(2_000_000);
            event
        }).collect();
        for format in TraceFormat::WRITTEN {
            let mut bytes = Vec::new();
            let mut writer = TraceWriter::new(format, &mut bytes).unwrap();
            for event in &events {
                writer.event(event).unwrap();
            }
            let lost = writer.finish().unwrap();
            let held = |e: &TraceEvent| as_held(e, format, lost.unit_ns);
            let expected: Vec<TraceEvent> = events.iter().filter_map(held).collect();
            proptest::prop_assert_eq!(lost.commands as usize, events.len() - expected.len());
            let found = read_with(&bytes, &ReadOptions {
                format: Some(format),
                ..ReadOptions::default()
            });
            proptest::prop_assert_eq!(found.error, None);
            // Two commands of one kind at one place may swap their completions in a format
            // that does not number them: compare what they have together then.
            let places = |e: &TraceEvent| (e.op as u8, e.offset);
            let mut unique: Vec<_> = expected.iter().map(places).collect();
            unique.sort_unstable();
            unique.dedup();
            // biosnoop's lines are in order of completion: so are those issued at one time.
            let ordered = match format {
                TraceFormat::Blkparse | TraceFormat::Blktrace => false,
                TraceFormat::Biosnoop => expected.is_sorted_by(|a, b| a.issued_ns < b.issued_ns),
                _ => true,
            };
            if ordered || unique.len() == expected.len() {
                proptest::prop_assert_eq!(&found.events, &expected);
            } else {
                proptest::prop_assert_eq!(found.events.len(), expected.len());
            }
        }
    }
}
