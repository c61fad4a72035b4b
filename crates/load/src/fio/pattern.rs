//! The bytes of `buffer_pattern`.

use ssdlab_fio::Error;
use ssdlab_fio::JobOption;

/// fio's MAX_PATTERN_SIZE.
const BYTES_MAX: usize = 512;
/// The unit over which a repeated pattern is taken to compress: a drive's mapping unit.
const UNIT_BYTES: usize = 4096;

const FORMS: &str = "it is made of texts in double quotes, numbers and 0x with hexadecimal digits";
const EXAMPLE: &str = "for example 0xdeadface, -12 or \"abcd\"-12";

/// The bytes of a pattern as fio 3.33 writes them: a text as it is; `0x` byte by byte from the
/// left; a positive number in as few bytes as it needs and a negative one in four, lowest first.
pub(super) fn bytes(s: &JobOption) -> Result<Vec<u8>, Error> {
    let mut remaining = s.text();
    let mut bytes = Vec::new();
    while !remaining.is_empty() {
        remaining = item(s, remaining, &mut bytes)?;
    }
    if bytes.is_empty() || bytes.len() > BYTES_MAX {
        let problem = format!(
            "it has {} bytes, and 1 to {BYTES_MAX} are allowed",
            bytes.len()
        );
        return Err(s.bad(&problem, EXAMPLE));
    }
    Ok(bytes)
}

/// Per cent that a compressor removes of a pattern of `len` bytes, repeated: all but the first.
pub(super) fn compress_pct(len: usize) -> u8 {
    let kept_pct = (len * 100 + UNIT_BYTES / 2) / UNIT_BYTES;
    100u8.saturating_sub(kept_pct as u8)
}

/// Appends the bytes of the first item of `text`; the text after it.
fn item<'a>(s: &JobOption, text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Error> {
    if let Some(inner) = text.strip_prefix('"') {
        let (words, rest) = inner
            .split_once('"')
            .ok_or_else(|| s.bad("its quote is not closed", "end it as it begins"))?;
        bytes.extend(words.as_bytes());
        return Ok(rest);
    }
    if text.starts_with('\'') {
        let hint = "write the file's bytes as 0x and hexadecimal digits";
        return Err(s.bad("a pattern from a file is not supported", hint));
    }
    if text.starts_with('%') {
        let problem = "fio has the formats %o only in verify_pattern";
        return Err(s.bad(problem, "leave it out"));
    }
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let (digits, rest) = split(digits, |c| c.is_ascii_hexdigit());
        let odd = if digits.len() % 2 == 1 { "0" } else { "" };
        let whole = format!("{odd}{digits}");
        let pairs = whole.as_bytes().chunks(2);
        let pairs = pairs.filter_map(|pair| std::str::from_utf8(pair).ok());
        bytes.extend(pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()));
        return match digits {
            "" => Err(s.bad(FORMS, EXAMPLE)),
            _ => Ok(rest),
        };
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, rest) = split(unsigned, |c| c.is_ascii_digit());
    let number = &text[..text.len() - rest.len()];
    let value = number.parse().ok().filter(|_| !digits.is_empty());
    let value: i64 = value.ok_or_else(|| s.bad(FORMS, EXAMPLE))?;
    match i32::try_from(value) {
        Ok(negative) if value < 0 => bytes.extend(negative.to_le_bytes()),
        Err(_) if value < 0 => return Err(s.bad("a negative number has 32 bits", EXAMPLE)),
        _ => {
            let le_bytes = value.to_le_bytes();
            let used = le_bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0);
            bytes.extend(&le_bytes[..=used]);
        }
    }
    Ok(rest)
}

fn split(text: &str, is: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is(c)).unwrap_or(text.len()))
}
