//! NBD requests on a drive: well-formed replies, and the values of a plain array of bytes.

use super::nbd::{DRIVE_BYTES, SECTOR_BYTES, drive, request_streams};
use crate::Target;
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{Executor, NbdSession, ReplyForm};
use ssdlab_serve::{Coverage, SessionNotes};

/// The first byte selects structured replies, contexts and extended headers, the rest are requests.
pub const TARGET: Target = Target {
    name: "nbd_requests",
    run,
    seeds: || {
        let with_session = |session: u8| {
            let streams = request_streams().into_iter();
            streams.map(move |stream| [vec![session], stream].concat())
        };
        let compact = [0, 1, 7].into_iter().flat_map(with_session);
        let extended = |stream: Vec<u8>| [vec![EXTENDED | 7], with_long_heads(&stream)].concat();
        compact
            .chain(request_streams().into_iter().map(extended))
            .collect()
    },
    words: &["\u{25}\u{60}", "!"],
};

/// Bit of the first byte: headers are extended.
const EXTENDED: u8 = 8;

/// The same requests with extended headers.
fn with_long_heads(mut stream: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some((head, tail)) = stream.split_first_chunk::<REQUEST_BYTES>() {
        let request = NbdRequest::parse(head).expect("a seed");
        let (payload, rest) = tail.split_at(request.payload() as usize);
        all.extend(ExtendedRequest::from(request).encode());
        all.extend(payload);
        stream = rest;
    }
    all
}

/// Takes the next request off the front, with its payload.
fn next<'a>(is_extended: bool, rest: &mut &'a [u8]) -> Option<(ExtendedRequest, &'a [u8])> {
    let (request, tail) = if is_extended {
        let (head, tail) = rest.split_first_chunk::<EXTENDED_REQUEST_BYTES>()?;
        let request = ExtendedRequest::parse(head)?;
        assert_eq!(request.encode(), *head);
        (request, tail)
    } else {
        let (head, tail) = rest.split_first_chunk::<REQUEST_BYTES>()?;
        let request = NbdRequest::parse(head)?;
        assert_eq!(request.encode(), *head);
        (request.into(), tail)
    };
    let (payload, after) = tail.split_at_checked(usize::try_from(request.payload()).ok()?)?;
    *rest = after;
    Some((request, payload))
}

fn run(input: &[u8]) {
    let Some((&session, mut rest)) = input.split_first() else {
        return;
    };
    let drive = drive();
    let extended = session & EXTENDED != 0;
    let structured = extended || session & 1 != 0;
    let mut executor = Executor {
        drive: &drive,
        session: NbdSession {
            structured,
            extended,
            contexts: [session & 3 == 3, session & 5 == 5],
        },
        notes: SessionNotes::new("fuzz".to_string(), true),
        coverage: &Coverage::default(),
    };
    let mut model = vec![0; DRIVE_BYTES as usize];
    while let Some((request, payload)) = next(extended, &mut rest) {
        let mut out = Vec::new();
        executor.run(&request, payload, &mut out);
        let outcome = reply(&request, executor.reply(&request).form, &out);
        if outcome.is_ok() {
            apply(&request, payload, &mut model);
        }
        if let (CMD_READ, Ok(bytes)) = (request.command, outcome) {
            let start = request.offset as usize;
            assert_eq!(bytes, model[start..start + bytes.len()], "{request:?}");
        }
    }
    let mut all = vec![0; model.len()];
    drive.read(0, &mut all).expect("power");
    assert!(all == model, "a failed command has changed the drive");
}

/// Does to the model what a successful request does to the drive.
fn apply(request: &ExtendedRequest, payload: &[u8], model: &mut [u8]) {
    let (start, end) = (request.offset, request.offset.wrapping_add(request.length));
    match request.command {
        CMD_WRITE => model[start as usize..end as usize].copy_from_slice(payload),
        CMD_WRITE_ZEROES => model[start as usize..end as usize].fill(0),
        CMD_TRIM => {
            let first = start.next_multiple_of(SECTOR_BYTES) as usize;
            let last = (end - end % SECTOR_BYTES) as usize;
            if first < last {
                model[first..last].fill(0);
            }
        }
        _ => {}
    }
}

/// The bytes that a well-formed reply returns, or its error.
fn reply(request: &ExtendedRequest, form: ReplyForm, out: &[u8]) -> Result<Vec<u8>, u32> {
    let wanted = if request.command == CMD_READ {
        request.length as usize
    } else {
        0
    };
    let mut bytes = WireReader(out);
    if form == ReplyForm::Simple {
        assert_eq!(bytes.u32(), Some(SIMPLE_REPLY_MAGIC));
        let error = bytes.u32().expect("an error number");
        assert_eq!(bytes.u64(), Some(request.cookie));
        if error != 0 {
            assert!(bytes.0.is_empty(), "data behind an error");
            return Err(error);
        }
        assert_eq!(bytes.0.len(), wanted);
        return Ok(bytes.0.to_vec());
    }
    let mut data = Vec::new();
    loop {
        let is_extended = form == ReplyForm::Extended;
        let magic = match is_extended {
            true => EXTENDED_REPLY_MAGIC,
            false => STRUCTURED_REPLY_MAGIC,
        };
        assert_eq!(bytes.u32(), Some(magic));
        let flags = bytes.u16().expect("flags");
        let kind = bytes.u16().expect("a kind");
        assert_eq!(bytes.u64(), Some(request.cookie));
        let length = if is_extended {
            assert_eq!(bytes.u64(), Some(request.offset));
            bytes.u64().expect("a length") as usize
        } else {
            bytes.u32().expect("a length") as usize
        };
        let body = bytes.take(length).expect("a whole chunk");
        let error = chunk(kind, body, request, &mut data);
        if flags & CHUNK_DONE != 0 {
            assert!(bytes.0.is_empty(), "bytes behind the last chunk");
            let complete = error.is_some() || data.len() == wanted;
            assert!(complete, "{} of {wanted} bytes", data.len());
            return error.map_or(Ok(data), Err);
        }
        assert!(error.is_none(), "a chunk behind an error");
    }
}

/// Adds the content of a chunk to `data`; returns the error that it reports.
fn chunk(kind: u16, body: &[u8], request: &ExtendedRequest, data: &mut Vec<u8>) -> Option<u32> {
    let mut body = WireReader(body);
    match kind {
        CHUNK_NONE => assert!(body.0.is_empty()),
        CHUNK_ERROR => {
            let error = body.u32();
            let length = body.u16().expect("a length");
            assert_eq!(body.0.len(), usize::from(length));
            assert!(std::str::from_utf8(body.0).is_ok());
            return error;
        }
        CHUNK_OFFSET_DATA | CHUNK_OFFSET_HOLE => {
            let next = request.offset + data.len() as u64;
            assert_eq!(body.u64(), Some(next), "chunks out of order");
            if kind == CHUNK_OFFSET_DATA {
                data.extend_from_slice(body.0);
            } else {
                let length = body.u32().expect("a length") as usize;
                assert!(length <= request.length as usize);
                data.resize(data.len() + length, 0);
            }
        }
        CHUNK_BLOCK_STATUS | CHUNK_BLOCK_STATUS_EXT => {
            assert!((1..=2).contains(&body.u32().expect("a context")));
            let is_long = kind == CHUNK_BLOCK_STATUS_EXT;
            let count = is_long.then(|| body.u32().expect("a count"));
            let (mut covered, mut runs) = (0_u64, 0);
            while !body.0.is_empty() {
                let mut number = || {
                    if is_long {
                        body.u64().expect("a number")
                    } else {
                        u64::from(body.u32().expect("a number"))
                    }
                };
                covered += number();
                // The state.
                number();
                runs += 1;
            }
            assert!(count.is_none_or(|count| count == runs));
            assert!(
                (1..=request.length).contains(&covered),
                "{request:?}: {covered}"
            );
        }
        _ => panic!("a chunk of kind {kind}"),
    }
    None
}
