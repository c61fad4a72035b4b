//! Events of the block layer, as its tracepoints report them.

use std::fmt;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockStep {
    /// A bio was handed to the block layer (`block_bio_queue`).
    Queued,
    /// A request was handed to the driver (`block_rq_issue`).
    Issued,
    /// The driver handed it back to wait (`block_rq_requeue`).
    Requeued,
    /// The driver reported it done (`block_rq_complete`).
    Completed {
        /// Whether it failed.
        failed: bool,
    },
}

/// Longest name of a process that the kernel keeps.
const NAME_BYTES: usize = 16;

/// The name of a process, as the kernel keeps it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessName([u8; NAME_BYTES]);

impl ProcessName {
    /// From bytes that may end with a zero.
    pub fn new(bytes: &[u8]) -> ProcessName {
        let mut name = [0; NAME_BYTES];
        let length = bytes.iter().position(|&byte| byte == 0);
        let length = length.unwrap_or(bytes.len()).min(NAME_BYTES);
        name[..length].copy_from_slice(&bytes[..length]);
        ProcessName(name)
    }
}

impl fmt::Display for ProcessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.0.iter().position(|&byte| byte == 0);
        let bytes = &self.0[..length.unwrap_or(NAME_BYTES)];
        f.write_str(&String::from_utf8_lossy(bytes))
    }
}

impl fmt::Debug for ProcessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Who handed a bio over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BioOrigin {
    /// Process number; 0 where it is not known.
    pub pid: u32,
    /// Its name at that time.
    pub name: ProcessName,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Makes earlier writes durable.
    Flush,
    /// Discards, securely or not, and zeroes without data.
    Discard,
}

impl RequestKind {
    /// All of them, in the order of tables.
    pub const ALL: [RequestKind; 4] = [
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::Flush,
        RequestKind::Discard,
    ];

    /// One of it.
    pub fn one(self) -> &'static str {
        match self {
            RequestKind::Read => "read",
            RequestKind::Write => "write",
            RequestKind::Flush => "flush",
            RequestKind::Discard => "discard",
        }
    }

    /// In the plural, for tables.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Read => "reads",
            RequestKind::Write => "writes",
            RequestKind::Flush => "flushes",
            RequestKind::Discard => "discards",
        }
    }
}

/// What the letters of `rwbs` say (Linux `blk_fill_rwbs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFlags {
    /// Its kind; `None` for commands that are not I/O.
    pub kind: Option<RequestKind>,
    /// Flush before it.
    pub preflush: bool,
    /// Force unit access.
    pub fua: bool,
    /// Somebody waits for it.
    pub sync: bool,
    /// It may be dropped: readahead.
    pub ahead: bool,
    /// Metadata of a file system.
    pub metadata: bool,
}

impl RequestFlags {
    /// From the letters, which may end with a zero.
    pub fn parse(rwbs: &[u8]) -> RequestFlags {
        let end = rwbs.iter().position(|&byte| byte == 0);
        let letters = &rwbs[..end.unwrap_or(rwbs.len())];
        // The first F before the operation is the flush before it; FF is a flush alone.
        let preflush = letters.len() > 1 && letters[0] == b'F';
        let rest = &letters[usize::from(preflush)..];
        let kind = match rest.first() {
            Some(b'R') => Some(RequestKind::Read),
            Some(b'W') => Some(RequestKind::Write),
            Some(b'F') => Some(RequestKind::Flush),
            Some(b'D') => Some(RequestKind::Discard),
            _ => None,
        };
        let later = rest.get(1..).unwrap_or_default();
        RequestFlags {
            kind,
            preflush: preflush && kind != Some(RequestKind::Flush),
            fua: later.contains(&b'F'),
            sync: later.contains(&b'S'),
            ahead: later.contains(&b'A'),
            metadata: later.contains(&b'M'),
        }
    }
}

/// An event of one device.
#[derive(Clone, Copy, Debug)]
pub struct BlockEvent {
    /// When, on the monotonic clock, ns.
    pub time_ns: u64,
    /// What.
    pub step: BlockStep,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Bytes.
    pub bytes: u64,
    /// What kind of request.
    pub flags: RequestFlags,
    /// Who, where the event says so.
    pub origin: BioOrigin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_the_kernel_are_understood() {
        let flags = RequestFlags::parse;
        assert_eq!(flags(b"FF\0\0").kind, Some(RequestKind::Flush));
        assert!(!flags(b"FF\0\0").preflush);
        let commit = flags(b"FWFSM");
        assert_eq!(commit.kind, Some(RequestKind::Write));
        assert!(commit.preflush && commit.fua && commit.sync && commit.metadata);
        let write = flags(b"WS");
        assert!(write.sync && !write.fua && !write.preflush);
        assert!(flags(b"WFS").fua);
        assert!(flags(b"RA").ahead);
        assert_eq!(flags(b"DE").kind, Some(RequestKind::Discard));
        assert_eq!(flags(b"N").kind, None);
        assert_eq!(flags(b"").kind, None);
    }

    #[test]
    fn a_name_ends_at_its_zero() {
        assert_eq!(ProcessName::new(b"fio\0xyz").to_string(), "fio");
        let long = ProcessName::new(b"abcdefghijklmnopqrstuvwxyz");
        assert_eq!(long.to_string(), "abcdefghijklmnop");
    }
}
