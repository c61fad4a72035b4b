//! `verify_pattern=`: numbers, strings and the offset of the block, one behind the other.
//!
//! ```text
//! 0xdeadbeef   the bytes as they are written    "text"   its bytes
//! -3           a number of 32 bits, the lowest byte first, without leading zeroes
//! %o           the offset of the block, eight bytes
//! ```
//! Source: fio's lib/pattern.c. Left out: patterns from a file.

/// Most bytes of a pattern, as in fio.
const BYTES_MAX: usize = 512;

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPattern {
    bytes: Vec<u8>,
    /// Where the offset of the block stands.
    offsets: Vec<usize>,
    text: String,
}

impl VerifyPattern {
    /// The pattern of an option's value; `None` when it cannot be read.
    pub fn parse(text: &str) -> Option<VerifyPattern> {
        let mut pattern = VerifyPattern {
            bytes: Vec::new(),
            offsets: Vec::new(),
            text: text.to_owned(),
        };
        let mut rest = text;
        while !rest.is_empty() {
            rest = pattern.part(rest)?;
        }
        (1..=BYTES_MAX)
            .contains(&pattern.bytes.len())
            .then_some(pattern)
    }

    /// The value of the option.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads one part, and returns what follows it.
    fn part<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if let Some(string) = text.strip_prefix('"') {
            let (string, rest) = string.split_once('"')?;
            self.bytes.extend(string.as_bytes());
            return (!string.is_empty()).then_some(rest);
        }
        if let Some(rest) = text.strip_prefix("%o") {
            self.offsets.push(self.bytes.len());
            self.bytes.extend([0; 8]);
            return Some(rest);
        }
        if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            return self.hexadecimal(digits);
        }
        let sign = usize::from(text.starts_with('-'));
        let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
        // In `10xab`, the 0 belongs to the number behind it.
        let is_prefix = text[sign + digits..].starts_with(['x', 'X']);
        let end = sign + digits - usize::from(is_prefix && digits > 0);
        let number: i32 = text[..end].parse().ok()?;
        let bytes = number.to_le_bytes();
        let length = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(1, |at| at + 1);
        self.bytes.extend(&bytes[..length]);
        Some(&text[end..])
    }

    fn hexadecimal<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
        let is_prefix = text[digits..].starts_with(['x', 'X']) && text[..digits].ends_with('0');
        let end = digits - usize::from(is_prefix);
        let digits = &text[..end];
        // Of an odd number of digits, fio takes the first one alone and then once more.
        if digits.is_empty() || digits.len() % 2 == 1 {
            return None;
        }
        for pair in digits.as_bytes().chunks(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            self.bytes.push(u8::from_str_radix(pair, 16).ok()?);
        }
        Some(&text[end..])
    }

    /// Fills `block`, which is at `offset`.
    pub fn fill(&self, block: &mut [u8], offset: u64) {
        let mut bytes = self.bytes.clone();
        for at in &self.offsets {
            bytes[*at..*at + 8].copy_from_slice(&offset.to_le_bytes());
        }
        for part in block.chunks_mut(bytes.len()) {
            part.copy_from_slice(&bytes[..part.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of fio's lib/pattern.c.
    #[test]
    fn patterns_are_read_as_fio_reads_them() {
        let bytes = |text: &str| VerifyPattern::parse(text).map(|pattern| pattern.bytes);
        assert_eq!(bytes("\"abcd\""), Some(b"abcd".to_vec()));
        assert_eq!(bytes("-1024"), Some(vec![0, 0xfc, 0xff, 0xff]));
        assert_eq!(bytes("66"), Some(vec![0x42]));
        assert_eq!(bytes("0xFF0X14"), Some(vec![0xff, 0x14]));
        assert_eq!(bytes("\"123\"0xFFeeCC"), Some(b"123\xff\xee\xcc".to_vec()));
        let whole = bytes("-100xab\"1\"%o\"2\"").expect("a pattern");
        assert_eq!(whole[..6], [0xf6, 0xff, 0xff, 0xff, 0xab, b'1']);
        assert_eq!(whole[6..], [0, 0, 0, 0, 0, 0, 0, 0, b'2']);
        assert_eq!(bytes("0"), Some(vec![0]));
        for bad in ["", "0x", "abc", "\"abc", "0xabc", "'file'", "%x"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }
}
