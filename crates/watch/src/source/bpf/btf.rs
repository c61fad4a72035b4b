//! Types of the running kernel: where fields of its structures lie, and what its constants are.
//!
//! The kernel describes itself in `/sys/kernel/btf/vmlinux`. Source: Linux
//! `Documentation/bpf/btf.rst`.

const MAGIC: u32 = 0xeb9f;
const HEADER_BYTES: usize = 24;
/// Types within types that are followed, at most: descriptions may be broken.
const DEPTH_MAX: usize = 16;

const INT: u32 = 1;
const PTR: u32 = 2;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const VOLATILE: u32 = 9;
const CONST: u32 = 10;
const RESTRICT: u32 = 11;
const FUNC_PROTO: u32 = 13;
const VAR: u32 = 14;
const DATASEC: u32 = 15;
const FLOAT: u32 = 16;
const DECL_TAG: u32 = 17;
const TYPE_TAG: u32 = 18;
const ENUM64: u32 = 19;

/// Where a field lies in a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOffset {
    /// Bytes from the structure's beginning.
    pub offset: i16,
    /// Bytes of it.
    pub bytes: u32,
}

/// One type's fixed part.
#[derive(Clone, Copy, Debug)]
struct TypeHeader {
    name: u32,
    kind: u32,
    members: usize,
    has_bit_fields: bool,
    /// Bytes, or the number of the type that it points to.
    size_or_type: u32,
    /// Where what follows it begins.
    rest: usize,
}

/// The kernel's types.
#[derive(Debug)]
pub struct KernelTypes {
    bytes: Vec<u8>,
    /// Where each type begins; number 1 comes first.
    places: Vec<usize>,
    strings: usize,
}

fn word(bytes: &[u8], place: usize) -> Option<u32> {
    let word = bytes.get(place..place.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

/// Bytes that follow the fixed part of a type.
fn rest_bytes(kind: u32, members: usize) -> usize {
    match kind {
        INT | VAR | DECL_TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => 12 * members,
        ENUM | FUNC_PROTO => 8 * members,
        _ => 0,
    }
}

impl KernelTypes {
    /// Of the running kernel.
    ///
    /// # Errors
    /// Why it has none.
    pub fn live() -> Result<KernelTypes, String> {
        let path = "/sys/kernel/btf/vmlinux";
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        KernelTypes::parse(bytes).ok_or_else(|| format!("{path}: not understood"))
    }

    fn parse(bytes: Vec<u8>) -> Option<KernelTypes> {
        if word(&bytes, 0)? & 0xffff != MAGIC {
            return None;
        }
        let header = word(&bytes, 4)? as usize;
        if header < HEADER_BYTES {
            return None;
        }
        let place = |field| header.checked_add(word(&bytes, field)? as usize);
        let (types, strings) = (place(8)?, place(16)?);
        let end = types.checked_add(word(&bytes, 12)? as usize)?;
        let mut kernel = KernelTypes {
            bytes,
            places: Vec::new(),
            strings,
        };
        let mut next = types;
        while next < end {
            let header = kernel.header_at(next)?;
            kernel.places.push(next);
            next = header.rest + rest_bytes(header.kind, header.members);
        }
        Some(kernel)
    }

    fn header_at(&self, place: usize) -> Option<TypeHeader> {
        let info = word(&self.bytes, place + 4)?;
        Some(TypeHeader {
            name: word(&self.bytes, place)?,
            kind: (info >> 24) & 0x1f,
            members: (info & 0xffff) as usize,
            has_bit_fields: info >> 31 == 1,
            size_or_type: word(&self.bytes, place + 8)?,
            rest: place + 12,
        })
    }

    fn header(&self, id: u32) -> Option<TypeHeader> {
        let place = self.places.get((id as usize).checked_sub(1)?)?;
        self.header_at(*place)
    }

    fn has_name(&self, name_offset: u32, name: &str) -> bool {
        let begin = self.strings + name_offset as usize;
        let end = begin + name.len();
        self.bytes.get(begin..end) == Some(name.as_bytes()) && self.bytes.get(end) == Some(&0)
    }

    fn find(&self, kind: u32, name: &str) -> Option<u32> {
        let ids = 1..=u32::try_from(self.places.len()).ok()?;
        let mut matches = ids.filter(|&id| {
            self.header(id)
                .is_some_and(|header| header.kind == kind && self.has_name(header.name, name))
        });
        matches.next()
    }

    /// The type behind names and qualifiers.
    fn resolved(&self, id: u32) -> Option<(u32, TypeHeader)> {
        let mut id = id;
        for _ in 0..DEPTH_MAX {
            let header = self.header(id)?;
            match header.kind {
                TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG => id = header.size_or_type,
                _ => return Some((id, header)),
            }
        }
        None
    }

    fn bytes_of(&self, id: u32) -> Option<u32> {
        let (_, header) = self.resolved(id)?;
        match header.kind {
            PTR => Some(8),
            INT | ENUM | ENUM64 | FLOAT | STRUCT | UNION => Some(header.size_or_type),
            _ => None,
        }
    }

    /// A field of a structure; `bi_iter.bi_size` is one of a structure within it.
    pub fn field(&self, structure: &str, path: &str) -> Option<FieldOffset> {
        let mut id = self.find(STRUCT, structure)?;
        let mut bits = 0;
        for name in path.split('.') {
            let (offset, member) = self.member(id, name, DEPTH_MAX)?;
            bits += offset;
            id = member;
        }
        Some(FieldOffset {
            offset: i16::try_from(bits / 8).ok()?,
            bytes: self.bytes_of(id)?,
        })
    }

    /// Offset in bits and type of a member, also of one in members without a name.
    fn member(&self, id: u32, name: &str, depth: usize) -> Option<(u32, u32)> {
        let (_, header) = self.resolved(id)?;
        if !matches!(header.kind, STRUCT | UNION) || depth == 0 {
            return None;
        }
        (0..header.members).find_map(|member| {
            let place = header.rest + 12 * member;
            let kind = word(&self.bytes, place + 4)?;
            let mut offset = word(&self.bytes, place + 8)?;
            if header.has_bit_fields {
                offset &= 0x00ff_ffff;
            }
            let name_offset = word(&self.bytes, place)?;
            if self.has_name(name_offset, name) {
                return Some((offset, kind));
            }
            if self.has_name(name_offset, "") {
                let (inner, kind) = self.member(kind, name, depth - 1)?;
                return Some((offset + inner, kind));
            }
            None
        })
    }

    /// The value of a constant of any enumeration.
    pub fn constant(&self, name: &str) -> Option<u32> {
        self.places.iter().find_map(|&place| {
            let header = self.header_at(place)?;
            let step = match header.kind {
                ENUM => 8,
                ENUM64 => 12,
                _ => return None,
            };
            let mut places = (0..header.members).map(|member| header.rest + step * member);
            let place = places.find(|&place| {
                word(&self.bytes, place).is_some_and(|offset| self.has_name(offset, name))
            })?;
            word(&self.bytes, place + 4)
        })
    }

    /// The type by which a program attaches to a raw tracepoint, and which of the tracepoint's
    /// arguments is a pointer to this structure.
    pub fn tracepoint(&self, name: &str, structure: &str) -> Option<TracepointType> {
        let id = self.find(TYPEDEF, &format!("btf_trace_{name}"))?;
        let (_, pointer) = self.resolved(id)?;
        let (_, function) = self.resolved(pointer.size_or_type)?;
        if pointer.kind != PTR || function.kind != FUNC_PROTO {
            return None;
        }
        // The first one is the tracepoint's own, which programs are not given.
        let argument = (1..function.members).position(|argument| {
            let target = word(&self.bytes, function.rest + 8 * argument + 4)
                .and_then(|kind| self.resolved(kind))
                .filter(|(_, header)| header.kind == PTR)
                .and_then(|(_, header)| self.resolved(header.size_or_type));
            target.is_some_and(|(_, header)| {
                header.kind == STRUCT && self.has_name(header.name, structure)
            })
        })?;
        Some(TracepointType {
            id,
            argument: i16::try_from(argument).ok()?,
            arguments: i16::try_from(function.members - 1).ok()?,
        })
    }
}

/// How a program attaches to a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracepointType {
    /// The type's number.
    pub id: u32,
    /// Which argument has the structure.
    pub argument: i16,
    /// How many arguments there are.
    pub arguments: i16,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct s { int a; struct { long b; }; }; enum { RED = 7 };
    /// typedef void (*btf_trace_t)(void *, int, struct s *);`
    fn small() -> Vec<u8> {
        let strings = b"\0int\0long\0s\0a\0b\0RED\0btf_trace_t\0";
        let at = |name: &str| {
            let text = String::from_utf8_lossy(strings);
            text.find(&format!("\0{name}\0")).expect("there") as u32 + 1
        };
        let info = |kind: u32, members: u32| kind << 24 | members;
        let types: Vec<u32> = [
            &[at("int"), info(INT, 0), 4, 32][..],                    // 1
            &[at("long"), info(INT, 0), 8, 64],                       // 2
            &[0, info(STRUCT, 1), 8, at("b"), 2, 0],                  // 3
            &[at("s"), info(STRUCT, 2), 16, at("a"), 1, 0, 0, 3, 64], // 4
            &[0, info(ENUM, 1), 4, at("RED"), 7],                     // 5
            &[0, info(PTR, 0), 4],                                    // 6
            &[0, info(FUNC_PROTO, 3), 0, 0, 8, 0, 1, 0, 6],           // 7
            &[0, info(PTR, 0), 0],                                    // 8
            &[0, info(PTR, 0), 7],                                    // 9
            &[at("btf_trace_t"), info(TYPEDEF, 0), 9],                // 10
        ]
        .concat();
        let length = 4 * types.len() as u32;
        let header = [MAGIC | 1 << 16, 24, 0, length, length, strings.len() as u32];
        let words = header.iter().chain(&types);
        let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn fields_constants_and_tracepoints_are_found_by_name() {
        let kernel = KernelTypes::parse(small()).expect("types");
        let field = |path| kernel.field("s", path);
        let place = |offset, bytes| Some(FieldOffset { offset, bytes });
        assert_eq!(field("a"), place(0, 4));
        assert_eq!(field("b"), place(8, 8), "in a member without a name");
        assert_eq!(field("absent"), None);
        assert_eq!(kernel.constant("RED"), Some(7));
        let tracepoint = kernel.tracepoint("t", "s");
        let expected = TracepointType {
            id: 10,
            argument: 1,
            arguments: 2,
        };
        assert_eq!(tracepoint, Some(expected));
        assert_eq!(kernel.tracepoint("t", "other"), None);
    }

    #[test]
    fn broken_descriptions_are_refused() {
        let whole = small();
        for length in 0..whole.len() - 34 {
            assert!(
                KernelTypes::parse(whole[..length].to_vec()).is_none(),
                "cut to {length} bytes"
            );
        }
        for byte in 0..whole.len() {
            let mut broken = whole.clone();
            broken[byte] ^= 0xff;
            // Whatever comes out, it ends and does not panic.
            if let Some(kernel) = KernelTypes::parse(broken) {
                let _ = (kernel.field("s", "b"), kernel.tracepoint("t", "s"));
            }
        }
    }
}
