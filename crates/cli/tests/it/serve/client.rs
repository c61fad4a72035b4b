//! A small NBD client: one request at a time, simple replies.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
const EXPORT_NAME: u32 = 1;
const READ: u16 = 0;
const WRITE: u16 = 1;
const GOODBYE: u16 = 2;
const FLUSH: u16 = 3;
const FUA: u16 = 1;

pub struct Client {
    stream: UnixStream,
    pub size: u64,
}

fn number<const N: usize>(stream: &mut UnixStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

impl Client {
    pub fn connect(socket: &Path) -> io::Result<Client> {
        let mut stream = UnixStream::connect(socket)?;
        let greeting: [u8; 18] = number(&mut stream)?;
        assert_eq!(greeting[..8], *b"NBDMAGIC");
        // Fixed newstyle, and no zeroes behind the answer.
        stream.write_all(&3_u32.to_be_bytes())?;
        stream.write_all(b"IHAVEOPT")?;
        stream.write_all(&EXPORT_NAME.to_be_bytes())?;
        stream.write_all(&5_u32.to_be_bytes())?;
        stream.write_all(b"drive")?;
        let size = u64::from_be_bytes(number(&mut stream)?);
        let _flags: [u8; 2] = number(&mut stream)?;
        Ok(Client { stream, size })
    }

    fn ask(&mut self, flags: u16, kind: u16, offset: u64, length: u32) -> io::Result<()> {
        let mut bytes = REQUEST.to_be_bytes().to_vec();
        bytes.extend(flags.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(7_u64.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        self.stream.write_all(&bytes)
    }

    fn answer(&mut self) -> io::Result<()> {
        let reply: [u8; 16] = number(&mut self.stream)?;
        assert_eq!(reply[..4], REPLY.to_be_bytes());
        match reply[4..8] {
            [0, 0, 0, 0] => Ok(()),
            [_, _, _, error] => Err(io::Error::from_raw_os_error(error.into())),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> io::Result<()> {
        let flags = if fua { FUA } else { 0 };
        self.ask(flags, WRITE, offset, bytes.len() as u32)?;
        self.stream.write_all(bytes)?;
        self.answer()
    }

    pub fn read(&mut self, offset: u64, length: u32) -> io::Result<Vec<u8>> {
        self.ask(0, READ, offset, length)?;
        self.answer()?;
        let mut bytes = vec![0; length as usize];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.ask(0, FLUSH, 0, 0)?;
        self.answer()
    }

    pub fn goodbye(mut self) {
        let _ = self.ask(0, GOODBYE, 0, 0);
    }
}
