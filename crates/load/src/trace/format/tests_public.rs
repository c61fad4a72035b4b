//! Public traces and traces whose columns the user describes, read from lines as they come.

use super::TraceFormat;
use crate::trace::{ReadOptions, TraceEvent, TraceReadStats, TraceReader};
use ssdlab_base::LabError;
use ssdlab_ssd::Op;

fn read(
    content: &[u8],
    format: Option<&str>,
) -> Result<(TraceReadStats, Vec<TraceEvent>), LabError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    std::fs::write(&path, content).unwrap();
    let options = ReadOptions {
        format: format.map(TraceFormat::named).transpose()?,
        device: Some("all".to_owned()),
        ..ReadOptions::default()
    };
    let mut reader = TraceReader::open(&path, &options)?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok((reader.reading(), events))
}

fn event(issued_ns: u64, done_ns: Option<u64>, op: Op, offset: u64, len: u64) -> TraceEvent {
    TraceEvent {
        done_ns,
        ..TraceEvent::new(issued_ns, op, offset, len)
    }
}

#[test]
fn alibaba_tencent_and_systor_are_recognised_with_and_without_a_header() {
    let alibaba =
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,36864,1577808144360813\n";
    let of_alibaba = [
        event(0, None, Op::Write, 8_792_731_648, 16384),
        event(46_000, None, Op::Read, 59_110_326_272, 36864),
    ];
    let tencent = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n";
    let of_tencent = [
        event(0, None, Op::Read, 12_910_952 * 512, 65536),
        event(1_000_000_000, None, Op::Write, 6_338_688 * 512, 4096),
    ];
    let systor = "1455592157.158007000,0.000341000,R,2,17325580288,4096\n\
                  1455592157.168007000,,W,2,17325584384,8192\n";
    let of_systor = [
        event(0, Some(341_000), Op::Read, 17_325_580_288, 4096),
        event(10_000_000, None, Op::Write, 17_325_584_384, 8192),
    ];
    for (name, header, lines, expected, devices) in [
        (
            "alibaba",
            "device_id,opcode,offset,length,timestamp\n",
            alibaba,
            &of_alibaba,
            &["419", "725"][..],
        ),
        (
            "tencent",
            "Timestamp,Offset,Size,IOType,VolumeID\n",
            tencent,
            &of_tencent,
            &["1063", "1627"],
        ),
        (
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\n",
            systor,
            &of_systor,
            &["2"],
        ),
    ] {
        for text in [lines.to_owned(), format!("{header}{lines}")] {
            let (reading, events) = read(text.as_bytes(), None).unwrap();
            assert_eq!(reading.format.name(), name);
            assert_eq!((reading.bad, &events[..]), (0, &expected[..]));
            assert_eq!(reading.devices, devices);
        }
    }
}

/// Two records each, by the layouts' own offsets.
#[test]
fn cloudphysics_records_are_recognised_in_both_layouts() {
    let le = |number: u64, len: usize| number.to_le_bytes()[..len].to_vec();
    let one = |command: u64, bytes, block, us| {
        [
            le(7, 4),
            le(bytes, 4),
            le(1, 4),
            le(command, 2),
            le(0x0100, 2),
            le(block, 8),
            le(us, 8),
        ]
        .concat()
    };
    let two = |command: u64, bytes, block, us, response| {
        let head = [
            le(command, 2),
            le(0x0200, 2),
            le(7, 4),
            le(bytes, 4),
            le(1, 4),
        ]
        .concat();
        [head, le(block, 8), le(us, 8), le(response, 8)].concat()
    };
    let (reading, events) = read(
        &[one(0x28, 4096, 16, 1000), one(0x2a, 512, 1 << 40, 1500)].concat(),
        None,
    )
    .unwrap();
    assert_eq!(reading.format, TraceFormat::CloudPhysics);
    assert_eq!(
        events,
        [
            event(0, None, Op::Read, 16 * 512, 4096),
            event(500_000, None, Op::Write, 512 << 40, 512)
        ]
    );
    // INQUIRY is no command of the trace.
    let records = [
        two(0x8a, 8192, 8, 1000, 250),
        two(0x88, 4096, 0, 1100, 90),
        two(0x12, 36, 0, 1200, 5),
    ];
    let (reading, events) = read(&records.concat(), None).unwrap();
    assert_eq!((reading.bad, reading.skipped), (0, 1));
    assert_eq!(
        events,
        [
            event(0, Some(250_000), Op::Write, 4096, 8192),
            event(100_000, Some(190_000), Op::Read, 0, 4096)
        ]
    );
    let cut = &records.concat()[..100];
    assert!(
        read(cut, None)
            .unwrap_err()
            .to_string()
            .contains("ends within it")
    );
}

#[test]
fn columns_are_read_as_the_user_describes_them() {
    let text =
        "when;what;lba;sectors;who;phase\n1.5;WS;10;8;sda;D\n1.6;WS;10;8;sda;C\n2;rd;0;1;sdb;D\n";
    let format = "semicolon:time=ms,op,offset=sectors,length=sectors,device,only=D";
    let (reading, events) = read(text.as_bytes(), Some(format)).unwrap();
    assert_eq!(
        events,
        [
            event(0, None, Op::Write, 5120, 4096),
            event(500_000, None, Op::Read, 0, 512)
        ]
    );
    assert_eq!((reading.bad, reading.devices.len()), (0, 2));
    let text = "a 100 4 7 900 x\nb 150 9 1 950 x\n";
    let format = "blanks:op=a/b,time=100ns,length=512,offset=4096,done=100ns,-";
    let (_, events) = read(text.as_bytes(), Some(format)).unwrap();
    assert_eq!(events[0], event(0, Some(80_000), Op::Read, 7 * 4096, 2048));
    assert_eq!(
        events[1],
        event(5_000, Some(85_000), Op::Write, 4096, 9 * 512)
    );
}

#[test]
fn descriptions_of_columns_are_refused_with_their_syntax() {
    for (format, says) in [
        ("csv:time,op,offset", "has 0 columns `length`"),
        ("csv:time,time,op,offset,length", "has 2 columns `time`"),
        ("csv:time=h,op,offset,length", "`time=h` is no column"),
        ("csv:time,op=R,offset,length", "`op=R` is no column"),
        ("csv:time,op,offset=0,length", "`offset=0` is no column"),
        ("pipe:time,op,offset,length", "`pipe` separates no columns"),
        ("alibaba2", "is no trace format"),
    ] {
        let error = TraceFormat::named(format).unwrap_err();
        assert!(error.to_string().contains(says), "{format}: {error}");
        assert!(
            error.hint().contains("csv:time=us,op,offset,length"),
            "{}",
            error.hint()
        );
    }
}

#[test]
fn blkparse_f_is_named_and_what_to_do_is_said() {
    for text in [
        "    0.000000123, 4162, fio, D, 223490, 8, fio\n",
        "D 0.000000123 223490 8\nC 0.000100123 223490 8\n",
    ] {
        let error = read(text.as_bytes(), None).unwrap_err();
        assert!(error.hint().contains("blkparse -f"), "{}", error.hint());
    }
}
