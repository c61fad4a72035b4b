//! Each format read from lines as its tool writes them; the expected events are from the tools'
//! own descriptions.

use super::number::decimal;
use super::*;
use crate::trace::{ReadOptions, TraceEvent, TraceReader};
use ssdlab_ssd::Op;

/// Everything in a trace of this content, with its format.
fn read(content: &[u8]) -> Result<(TraceFormat, Vec<TraceEvent>), ssdlab_base::LabError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    std::fs::write(&path, content).unwrap();
    let mut reader = TraceReader::open(&path, &ReadOptions::default())?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok((reader.reading().format, events))
}

fn event(issued_ns: u64, done_ns: Option<u64>, op: Op, offset: u64, len: u64) -> TraceEvent {
    TraceEvent {
        done_ns,
        ..TraceEvent::new(issued_ns, op, offset, len)
    }
}

#[test]
fn our_csv_with_and_without_flags() {
    let text = "t_us,op,offset,length,done_us\n0.0,read,0,512,49.0\n0.5,flush,0,0,\n";
    let (format, events) = read(text.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Csv);
    let expected = [
        event(0, Some(49_000), Op::Read, 0, 512),
        event(500, None, Op::Flush, 0, 0),
    ];
    assert_eq!(events, expected);
    let text = "t_us,op,offset,length,done_us,fua,preflush\n7,write,8192,4096,8,1,0\n";
    let (_, events) = read(text.as_bytes()).unwrap();
    assert!(events[0].fua && !events[0].preflush);
    assert_eq!(events[0].issued_ns, 0, "times count from the first command");
}

/// Found by fuzzing: a flush kept the address and length of its line, and its times went
/// unchecked, although all readers of events rely on them.
#[test]
fn a_flush_has_no_address_and_no_length_and_its_times_are_checked() {
    let head = "t_us,op,offset,length,done_us\n0,read,0,512,49\n";
    let (_, events) = read(format!("{head}1,flush,24576,96,2\n").as_bytes()).unwrap();
    assert_eq!(events[1], event(1000, Some(2000), Op::Flush, 0, 0));
    let error = read(format!("{head}5,flush,0,0,2\n").as_bytes()).unwrap_err();
    let reason = "it completes before it was issued";
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn blkparse_joins_issues_and_completions() {
    let text = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001000   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002000   697  D  WS 223490 + 8 [kjournald]
  8,0    3        4     0.000003000   697  D   R 16 + 16 [cat]
  8,0    3        5     0.000004000   697  D  FN [kworker/3:1H]
  8,0    3        6     0.000010000     0  C   R 16 + 16 [0]
  8,0    3        7     0.000012000     0  C  WS 223490 + 8 [0]
  8,0    3        8     0.000014000     0  C  FN 0 [0]
  8,0    3        9     0.000015000   697  D FWFS 800 + 8 [jbd2]
  8,0    3       10     0.000016000   697  D  DS 4096 + 2048 [fstrim]
CPU3 (sda):
 Reads Queued:           1,        4KiB\t Writes Queued:          1,        4KiB
Total (sda):
";
    let (format, events) = read(text.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Blkparse);
    let journal = TraceEvent {
        fua: true,
        preflush: true,
        ..event(13_000, None, Op::Write, 800 * 512, 4096)
    };
    let expected = [
        event(0, Some(10_000), Op::Write, 223_490 * 512, 4096),
        event(1000, Some(8000), Op::Read, 16 * 512, 8192),
        event(2000, Some(12_000), Op::Flush, 0, 0),
        journal,
        event(14_000, None, Op::Trim, 4096 * 512, 2048 * 512),
    ];
    assert_eq!(events, expected);
}

#[test]
fn blkparse_without_issues_starts_when_queued_and_requeued_commands_count_once() {
    let queued = "8,0 0 1 0.000001 1 Q R 8 + 8 [a]\n8,0 0 2 0.000005 1 C R 8 + 8 [0]\n";
    assert_eq!(
        read(queued.as_bytes()).unwrap().1,
        [event(0, Some(4000), Op::Read, 4096, 4096)]
    );
    let again = "8,0 0 1 0.000001 1 D R 8 + 8 [a]\n8,0 0 2 0.000005 1 R R 8 + 8 [a]\n\
                 8,0 0 3 0.000006 1 D R 8 + 8 [a]\n8,0 0 4 0.000009 1 C R 8 + 8 [0]\n";
    assert_eq!(
        read(again.as_bytes()).unwrap().1,
        [event(0, Some(3000), Op::Read, 4096, 4096)]
    );
}

/// A record of `struct blk_io_trace` in either byte order.
fn record(big: bool, at: u64, sector: u64, bytes: u32, action: u32, pdu: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |little: &[u8]| {
        let mut field = little.to_vec();
        if big {
            field.reverse();
        }
        out.extend(field);
    };
    put(&0x6561_7407u32.to_le_bytes());
    put(&1u32.to_le_bytes());
    put(&at.to_le_bytes());
    put(&sector.to_le_bytes());
    put(&bytes.to_le_bytes());
    put(&action.to_le_bytes());
    put(&42u32.to_le_bytes());
    put(&(8u32 << 20).to_le_bytes());
    put(&0u32.to_le_bytes());
    put(&0u16.to_le_bytes());
    put(&(pdu.len() as u16).to_le_bytes());
    out.extend(pdu);
    out
}

#[test]
fn blktrace_of_either_byte_order() {
    for big in [false, true] {
        let (write, flush, fua) = (1 << 17, 1 << 18, 1u32 << 31);
        let mut bytes = record(big, 5, 0, 0, (1 << 26) | 1, b"a process");
        bytes.extend(record(big, 100, 64, 4096, 7 | write | fua, b""));
        bytes.extend(record(big, 150, u64::MAX, 0, 7 | flush, b"x"));
        bytes.extend(record(big, 400, 64, 4096, 8 | write | fua, b""));
        bytes.extend(record(big, 500, 0, 0, 8 | flush, b""));
        bytes.extend(record(big, 600, 9, 512, 7 | (1 << 16), b""));
        let (format, events) = read(&bytes).unwrap();
        assert_eq!(format, TraceFormat::Blktrace);
        let written = TraceEvent {
            fua: true,
            ..event(0, Some(300), Op::Write, 64 * 512, 4096)
        };
        let expected = [
            written,
            event(50, Some(400), Op::Flush, 0, 0),
            event(500, None, Op::Read, 9 * 512, 512),
        ];
        assert_eq!(events, expected, "big endian: {big}");
        bytes.truncate(bytes.len() - 7);
        let error = read(&bytes).unwrap_err().to_string();
        assert!(
            error.contains("record 6: the file ends within it"),
            "{error}"
        );
        bytes[48 + 9] ^= 1;
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains("no record starts here"), "{error}");
    }
}

#[test]
fn the_files_of_several_cpus_are_one_trace() {
    let (read, issue, complete) = (1u32 << 16, 7, 8);
    let dir = tempfile::tempdir().unwrap();
    let name = |cpu: u32| dir.path().join(format!("sda.blktrace.{cpu}"));
    // Issued on CPU 0 and 2, completed on CPU 2; CPU 1 saw nothing.
    let mut first = record(false, 100, 8, 4096, issue | read, b"");
    first.extend(record(false, 300, 64, 4096, issue | read, b"with more"));
    let mut third = record(false, 200, 8, 4096, complete | read, b"");
    third.extend(record(false, 250, 16, 4096, issue | read, b""));
    third.extend(record(false, 400, 64, 4096, complete | read, b""));
    std::fs::write(name(0), &first).unwrap();
    std::fs::write(name(1), b"").unwrap();
    std::fs::write(name(2), &third).unwrap();
    let mut reader = TraceReader::open(&dir.path().join("sda"), &ReadOptions::default()).unwrap();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    let expected = [
        event(0, Some(100), Op::Read, 4096, 4096),
        event(150, None, Op::Read, 8192, 4096),
        event(200, Some(300), Op::Read, 32768, 4096),
    ];
    assert_eq!(events, expected);
    std::fs::write(name(2), &third[..third.len() - 5]).unwrap();
    let mut reader = TraceReader::open(&dir.path().join("sda"), &ReadOptions::default());
    let error = loop {
        match reader.as_mut().map(|reader| reader.next_event()) {
            Ok(Ok(Some(_))) => {}
            Ok(Ok(None)) => panic!("nothing was missed"),
            Ok(Err(error)) => break error.to_string(),
            Err(error) => break error.to_string(),
        }
    };
    assert!(
        error.contains("sda.blktrace.2 ends within a record"),
        "{error}"
    );
}

#[test]
fn fio_logs_of_both_versions() {
    let text = "fio version 3 iolog\n21 t.bin add\n126 t.bin open\n130 t.bin read 0 4096\n\
                397 t.bin write 45056 4096\n698 t.bin sync 61440 0\n700 t.bin trim 0 8192\n\
                900 t.bin close\n";
    let (format, events) = read(text.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::IologV3);
    let expected = [
        event(0, None, Op::Read, 0, 4096),
        event(267_000, None, Op::Write, 45056, 4096),
        event(568_000, None, Op::Flush, 0, 0),
        event(570_000, None, Op::Trim, 0, 8192),
    ];
    assert_eq!(events, expected);
    // fio 3.33 waits until that many ms after its start.
    let text = "fio version 2 iolog\nd add\nd open\nd read 0 512\nd wait 2000 0\n\
                d read 512 512\nd wait 3000 0\nd datasync 0 0\nd close\n";
    let (format, events) = read(text.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::IologV2);
    let times: Vec<u64> = events.iter().map(|e| e.issued_ns / 1_000_000).collect();
    assert_eq!(times, [0, 2000, 3000]);
}

#[test]
fn formats_of_one_row_a_command() {
    let msr = "128166372003061629,hm,1,Read,383496192,32768,413\n\
               128166372016382155,hm,1,Write,2822144,4096,5000\n";
    let (format, events) = read(msr.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Msr);
    assert_eq!(
        events[0],
        event(0, Some(41_300), Op::Read, 383_496_192, 32768)
    );
    assert_eq!(events[1].issued_ns, 1_332_052_600);

    let spc = "0,20941264,8192,W,0.551706\n0,20939840,8192,r,0.554041,7\n";
    let (format, events) = read(spc.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Spc);
    assert_eq!(
        events[1],
        event(2_335_000, None, Op::Read, 20_939_840 * 512, 8192)
    );

    let disksim = "0.000000 0 1000 8 1\n15.125 0 1008 8 0\n";
    let (format, events) = read(disksim.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Disksim);
    assert_eq!(
        events[1],
        event(15_125_000, None, Op::Write, 1008 * 512, 4096)
    );

    let mqsim = "48513000 0 1000 8 1\n48515000 0 1008 16 0\n";
    let (format, events) = read(mqsim.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Mqsim);
    assert_eq!(events[1], event(2000, None, Op::Write, 1008 * 512, 8192));
}

#[test]
fn biosnoop_with_blanks_in_names_and_a_queue_column() {
    let text = "\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)
0.000004    supervise      1950    xvda1     W 13092560   4096     0.01    0.74
0.000900    kworker/u8:1 x 22      xvda1     R 1024       8192     0.02    0.10
";
    let (format, events) = read(text.as_bytes()).unwrap();
    assert_eq!(format, TraceFormat::Biosnoop);
    // The first was issued before the tool's zero, which is taken for its time.
    assert_eq!(events[0].offset, 13_092_560 * 512);
    assert_eq!(
        events[1],
        event(800_000, Some(900_000), Op::Read, 512 << 10, 8192)
    );
}

/// The kernel's letters for a flush alone are FF: such lines used to be bad.
#[test]
fn a_flush_of_biosnoop_is_a_flush() {
    let text = "\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)
0.000004    jbd2/sda1-8    195     sda       FF 0         0         0.740
0.000900    jbd2/sda1-8    195     sda       FWFS 1024    8192      0.100
";
    let (_, events) = read(text.as_bytes()).unwrap();
    assert_eq!((events[0].op, events[0].len), (Op::Flush, 0));
    let write = events[1];
    assert_eq!(
        (write.op, write.fua, write.preflush),
        (Op::Write, true, true)
    );
}

#[test]
fn decimals_are_exact() {
    assert_eq!(decimal("95166910.0", 1000), Some(95_166_910_000));
    assert_eq!(decimal("0.0015", 1000), Some(2));
    assert_eq!(decimal("1.000000001", 1_000_000_000), Some(1_000_000_001));
    assert_eq!(
        decimal("18446744073.709551615", 1_000_000_000),
        Some(u64::MAX)
    );
    for bad in [
        "",
        ".5",
        "-1",
        "1e3",
        "1.2.3",
        "1.x",
        "99999999999999999999",
    ] {
        assert_eq!(decimal(bad, 1000), None, "{bad}");
    }
}

#[test]
fn blktrace_reads_as_blkparse_prints_it() {
    // Forty commands of a recorded trace as blktrace records, FUA and flushes added; the text is
    // what blkparse 1.2.0 makes of the little-endian file.
    let text = read(include_bytes!("samples/blkparse-1.2.0.txt")).unwrap();
    assert_eq!((text.0, text.1.len()), (TraceFormat::Blkparse, 40));
    assert!(text.1.iter().any(|event| event.fua) && text.1.iter().any(|event| event.preflush));
    assert!(text.1.iter().all(|event| event.done_ns.is_some()));
    for binary in [
        &include_bytes!("samples/little-endian.blktrace.0")[..],
        include_bytes!("samples/big-endian.blktrace.0"),
    ] {
        assert_eq!(
            read(binary).unwrap(),
            (TraceFormat::Blktrace, text.1.clone())
        );
    }
}
