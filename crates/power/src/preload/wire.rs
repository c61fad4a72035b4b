//! What the library sends: messages of a length and, of a turn that ends, its deeds.

/// What a call of the program did; the numbers are those of `crates/preload/src/turn.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Create {
        inode: u64,
        path: String,
    },
    MakeDirectory {
        path: String,
    },
    Unlink {
        path: String,
    },
    RemoveDirectory {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Link {
        inode: u64,
        path: String,
    },
    Write {
        inode: u64,
        offset: u64,
        len: u64,
    },
    SetLength {
        inode: u64,
        len: u64,
    },
    Sync {
        inode: u64,
    },
    /// The flag: of a mapping alone.
    SyncData {
        inode: u64,
        of_mapping: bool,
    },
    SyncDirectory {
        path: String,
    },
    SyncAll,
    Content {
        inode: u64,
        offset: u64,
        len: u64,
    },
    Streamed {
        inode: u64,
    },
    Mapped {
        inode: u64,
    },
    Unsupported {
        what: String,
    },
}

/// A message of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// It asks for a turn.
    Begin,
    /// Its turn is over.
    End(Vec<Deed>),
}

/// Takes the first whole message from the bytes of a connection.
pub fn take_message(bytes: &mut Vec<u8>) -> Option<Message> {
    let length: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    let length = u32::from_le_bytes(length) as usize;
    let end = 4 + length;
    let body = bytes.get(4..end)?.to_vec();
    bytes.drain(..end);
    let Some((_, deeds)) = body.split_first() else {
        return Some(Message::Begin);
    };
    Some(Message::End(decoded(deeds)))
}

fn decoded(mut bytes: &[u8]) -> Vec<Deed> {
    let mut deeds = Vec::new();
    while let Some(deed) = deed(&mut bytes) {
        deeds.push(deed);
    }
    deeds
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*first))
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    let (first, rest) = bytes.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*first) as usize;
    let (path, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(String::from_utf8_lossy(path).into_owned())
}

fn deed(bytes: &mut &[u8]) -> Option<Deed> {
    let (&kind, rest) = bytes.split_first()?;
    *bytes = rest;
    let (inode, offset, len) = (number(bytes)?, number(bytes)?, number(bytes)?);
    let (path, to) = (text(bytes)?, text(bytes)?);
    Some(match kind {
        1 => Deed::Create { inode, path },
        2 => Deed::MakeDirectory { path },
        3 => Deed::Unlink { path },
        4 => Deed::RemoveDirectory { path },
        5 => Deed::Rename { from: path, to },
        6 => Deed::Link { inode, path },
        7 => Deed::Write { inode, offset, len },
        8 => Deed::SetLength { inode, len: offset },
        9 => Deed::Sync { inode },
        10 => Deed::SyncData {
            inode,
            of_mapping: offset == 1,
        },
        11 => Deed::SyncDirectory { path },
        12 => Deed::SyncAll,
        13 => Deed::Content { inode, offset, len },
        14 => Deed::Streamed { inode },
        15 => Deed::Mapped { inode },
        _ => Deed::Unsupported { what: path },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> Vec<u8> {
        let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
        bytes.extend(body);
        bytes
    }

    #[test]
    fn messages_are_taken_whole_in_order() {
        let mut body = vec![0, 7];
        for number in [3_u64, 4096, 5] {
            body.extend(number.to_le_bytes());
        }
        body.extend([0; 8]);
        let write = Deed::Write {
            inode: 3,
            offset: 4096,
            len: 5,
        };
        let mut bytes = [message(&[]), message(&body)].concat();
        let whole = bytes.clone();
        bytes.truncate(whole.len() - 1);
        assert_eq!(take_message(&mut bytes), Some(Message::Begin));
        assert_eq!(take_message(&mut bytes), None);
        bytes.push(whole[whole.len() - 1]);
        assert_eq!(take_message(&mut bytes), Some(Message::End(vec![write])));
        assert!(bytes.is_empty());
    }
}
