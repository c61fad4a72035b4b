//! A client of the tests' own, which can also say wrong things.

use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::{Address, SocketStream};
use std::io::{Read, Write};

/// A connection in transmission.
pub struct Client {
    pub stream: SocketStream,
    pub flags: u16,
    structured: bool,
    cookie: u64,
}

fn read<const N: usize>(stream: &mut SocketStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Sends an option and returns the kinds and bodies of its replies.
pub fn haggle(stream: &mut SocketStream, number: u32, body: &[u8]) -> Vec<(u32, Vec<u8>)> {
    stream.write_all(&option(number, body)).unwrap();
    let mut found = Vec::new();
    loop {
        let head: [u8; 20] = read(stream);
        let mut head = WireReader(&head);
        assert_eq!(head.u64(), Some(OPTION_REPLY_MAGIC));
        assert_eq!(head.u32(), Some(number));
        let (kind, length) = (head.u32().unwrap(), head.u32().unwrap());
        let mut body = vec![0; length as usize];
        stream.read_exact(&mut body).unwrap();
        found.push((kind, body));
        if kind == REP_ACK || kind >= REP_ERR_UNSUP {
            return found;
        }
    }
}

/// Connects and exchanges greetings.
pub fn greet(address: &Address) -> SocketStream {
    let mut stream = SocketStream::connect(address).unwrap();
    let greeting: [u8; 18] = read(&mut stream);
    assert_eq!(greeting[..8], MAGIC.to_be_bytes());
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
    stream
}

impl Client {
    /// Connects and begins transmission.
    pub fn go(address: &Address, structured: bool) -> Self {
        Self::go_with(address, structured, &[])
    }

    fn go_with(address: &Address, structured: bool, queries: &[&str]) -> Self {
        let mut stream = greet(address);
        if structured {
            assert_eq!(haggle(&mut stream, OPT_STRUCTURED_REPLY, &[])[0].0, REP_ACK);
        }
        if !queries.is_empty() {
            let found = haggle(
                &mut stream,
                OPT_SET_META_CONTEXT,
                &context_queries("", queries),
            );
            assert_eq!(found.len(), queries.len() + 1);
        }
        let found = haggle(&mut stream, OPT_GO, &[0; 6]);
        assert_eq!(found.last().unwrap().0, REP_ACK);
        let flags = u16::from_be_bytes(found[0].1[10..12].try_into().unwrap());
        Self {
            stream,
            flags,
            structured,
            cookie: 100,
        }
    }

    /// A new connection that has chosen both contexts.
    pub fn choose_contexts_again(&mut self, address: &Address) {
        *self = Self::go_with(address, true, &CONTEXTS);
    }

    fn send(&mut self, flags: u16, command: u16, offset: u64, length: u32, payload: &[u8]) {
        self.cookie += 1;
        let request = NbdRequest {
            flags,
            command,
            cookie: self.cookie,
            offset,
            length,
        };
        let mut bytes = request.encode().to_vec();
        bytes.extend(payload);
        self.stream.write_all(&bytes).unwrap();
    }

    /// A command without data either way; the error number.
    pub fn ask(&mut self, flags: u16, command: u16, offset: u64, length: u32) -> u32 {
        self.send(flags, command, offset, length, &[]);
        self.reply(0, 0).err().unwrap_or(0)
    }

    /// A write; the error number.
    pub fn write(&mut self, flags: u16, offset: u64, from: &[u8]) -> u32 {
        self.send(flags, CMD_WRITE, offset, from.len() as u32, from);
        self.reply(0, 0).err().unwrap_or(0)
    }

    /// A read.
    pub fn read(&mut self, flags: u16, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        self.send(flags, CMD_READ, offset, length, &[]);
        self.reply(offset, length)
    }

    /// States by context.
    pub fn block_status(
        &mut self,
        flags: u16,
        offset: u64,
        length: u32,
    ) -> Vec<(u32, Vec<(u32, u32)>)> {
        self.send(flags, CMD_BLOCK_STATUS, offset, length, &[]);
        let mut found = Vec::new();
        loop {
            let (flags, kind, body) = self.chunk();
            assert_eq!(kind, CHUNK_BLOCK_STATUS);
            let mut body = WireReader(&body);
            let context = body.u32().unwrap();
            let mut runs = Vec::new();
            while let (Some(bytes), Some(state)) = (body.u32(), body.u32()) {
                runs.push((bytes, state));
            }
            found.push((context, runs));
            if flags & CHUNK_DONE != 0 {
                return found;
            }
        }
    }

    fn chunk(&mut self) -> (u16, u16, Vec<u8>) {
        let head: [u8; 20] = read(&mut self.stream);
        let mut head = WireReader(&head);
        assert_eq!(head.u32(), Some(STRUCTURED_REPLY_MAGIC));
        let (flags, kind) = (head.u16().unwrap(), head.u16().unwrap());
        assert_eq!(head.u64(), Some(self.cookie));
        let mut body = vec![0; head.u32().unwrap() as usize];
        self.stream.read_exact(&mut body).unwrap();
        (flags, kind, body)
    }

    fn reply(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        if !self.structured {
            let head: [u8; 16] = read(&mut self.stream);
            let mut head = WireReader(&head);
            assert_eq!(head.u32(), Some(SIMPLE_REPLY_MAGIC));
            let error = head.u32().unwrap();
            assert_eq!(head.u64(), Some(self.cookie));
            if error != 0 {
                return Err(error);
            }
            let mut bytes = vec![0; length as usize];
            self.stream.read_exact(&mut bytes).unwrap();
            return Ok(bytes);
        }
        let mut bytes = vec![0xee; length as usize];
        let mut covered = 0;
        loop {
            let (flags, kind, body) = self.chunk();
            let mut body = WireReader(&body);
            match kind {
                CHUNK_NONE => {}
                CHUNK_ERROR => return Err(body.u32().unwrap()),
                CHUNK_OFFSET_DATA => {
                    let at = (body.u64().unwrap() - offset) as usize;
                    bytes[at..at + body.0.len()].copy_from_slice(body.0);
                    covered += body.0.len();
                }
                CHUNK_OFFSET_HOLE => {
                    let at = (body.u64().unwrap() - offset) as usize;
                    let count = body.u32().unwrap() as usize;
                    bytes[at..at + count].fill(0);
                    covered += count;
                }
                _ => panic!("chunk {kind}"),
            }
            if flags & CHUNK_DONE != 0 {
                assert_eq!(covered, length as usize);
                return Ok(bytes);
            }
        }
    }
}
