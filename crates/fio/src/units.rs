//! Numbers as fio spells them (parse.c: `__get_mult_bytes`, `get_mult_time`).

use crate::error::Error;
use crate::lines::JobOption;

/// A size, or a share of something that is known later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrPercent {
    /// In bytes.
    Bytes(u64),
    /// In per cent of that, 0 to 100.
    Percent(u8),
}

/// The unit of a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `runtime`, `startdelay` and most others.
    Seconds,
    /// `thinktime`, `latency_target` and other short ones.
    Micros,
}

/// One size of `bssplit` with its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizeShare {
    /// At least 1; a multiple of 512 unless the commands go through a page cache.
    pub bytes: u32,
    /// In per cent; those of a list sum to 100.
    pub percent: u8,
}

const SIZE: &str = "a size is a number with k, m, g, t or p, such as 4k or 10g";

/// A whole number with a size's suffix. `kib` and its like have the base that `k` has not:
/// fio's default `kb_base=1024` makes `k` 1024 and `kib` 1000.
pub fn number(text: &str, kb_base: u64) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    // Rust's parser takes a sign; fio's numbers have none here.
    let number = u64::from_str_radix(digits, radix).ok()?;
    let suffix = suffix.to_ascii_lowercase();
    let mut letters = suffix.chars();
    let power = match letters.next() {
        None => return Some(number),
        Some('b') if suffix == "b" => return Some(number),
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let base = match letters.as_str() {
        "" | "b" | "i" => kb_base,
        "ib" if kb_base == 1000 => 1024,
        "ib" => 1000,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(power)?)
}

/// The hint for a block of `bytes` that is not a multiple of 512.
pub fn nearest_blocks(bytes: u32) -> String {
    let below = bytes - bytes % 512;
    let nearest = match below.checked_add(512) {
        Some(above) if below == 0 || bytes - below >= 256 => above,
        _ => below,
    };
    format!("drives are addressed in blocks of 512 bytes: the nearest size is {nearest}")
}

impl JobOption {
    /// A size in bytes.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn size(&self, kb_base: u64) -> Result<u64, Error> {
        number(self.text(), kb_base).ok_or_else(|| self.bad(SIZE, ""))
    }

    /// A size in bytes or in per cent.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn size_or_percent(&self, kb_base: u64) -> Result<SizeOrPercent, Error> {
        match self.text().strip_suffix('%') {
            Some(percent) => match percent.parse() {
                Ok(percent @ 0..=100) => Ok(SizeOrPercent::Percent(percent)),
                _ => Err(self.bad("a share is 0% to 100%", "")),
            },
            None => self.size(kb_base).map(SizeOrPercent::Bytes),
        }
    }

    /// A block size: a size that drives can address.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn block(&self, text: &str, kb_base: u64) -> Result<u32, Error> {
        let bytes = self.block_of_page_cache(text, kb_base)?;
        if !bytes.is_multiple_of(512) {
            return Err(self.bad_block(nearest_blocks(bytes)));
        }
        Ok(bytes)
    }

    /// A block size of commands that may go through a page cache: it need not be a multiple of
    /// 512.
    ///
    /// # Errors
    /// When the value has another form, or is one that fio takes for something else than it looks
    /// like: [`Error::BadValue`].
    pub fn block_of_page_cache(&self, text: &str, kb_base: u64) -> Result<u32, Error> {
        let bytes = number(text, kb_base).ok_or_else(|| self.bad(SIZE, ""))?;
        let lower = text.to_ascii_lowercase();
        if kb_base == 1024 && lower.ends_with("ib") && !bytes.is_multiple_of(512) {
            return Err(self.bad_block(format!(
                "fio reads {text} as {bytes} bytes; write {}",
                &text[..text.len() - 2]
            )));
        }
        match u32::try_from(bytes) {
            Ok(bytes @ 1..) => Ok(bytes),
            _ => Err(self.bad_block("drives are addressed in blocks of 512 bytes".to_owned())),
        }
    }

    fn bad_block(&self, hint: String) -> Error {
        self.bad(
            "a block is a multiple of 512 bytes and less than 4 GiB",
            hint,
        )
    }

    /// A whole number in a range.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn count(&self, kb_base: u64, range: std::ops::RangeInclusive<u64>) -> Result<u64, Error> {
        match number(self.text(), kb_base) {
            Some(n) if range.contains(&n) => Ok(n),
            _ => {
                let (low, high) = (range.start(), range.end());
                Err(self.bad(&format!("it is a whole number from {low} to {high}"), ""))
            }
        }
    }

    /// 0 or 1; an option without a value is 1.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn flag(&self) -> Result<bool, Error> {
        match self.text() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.bad("it is 0 or 1", "")),
        }
    }

    /// 0 to 100, with or without a per cent sign.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn percent(&self) -> Result<u8, Error> {
        self.percent_in(self.text())
    }

    /// As [`JobOption::percent`], for reads, writes and trims.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn percent_per_kind(&self, default: u8) -> Result<[u8; 3], Error> {
        self.per_kind(default, |text| self.percent_in(text))
    }

    fn percent_in(&self, text: &str) -> Result<u8, Error> {
        match number(text.strip_suffix('%').unwrap_or(text), 1024) {
            Some(percent @ 0..=100) => Ok(percent as u8),
            _ => Err(self.bad("it is a whole number from 0 to 100", "")),
        }
    }

    /// A time in ns; plain numbers are in `unit`.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn time_ns(&self, unit: TimeUnit) -> Result<u64, Error> {
        let text = self.text();
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let micros: u64 = match (suffix.to_ascii_lowercase().as_str(), unit) {
            ("us" | "usec", _) | ("", TimeUnit::Micros) => 1,
            ("ms" | "msec", _) => 1_000,
            ("s", _) | ("", TimeUnit::Seconds) => 1_000_000,
            ("m", _) => 60_000_000,
            ("h", _) => 3_600_000_000,
            ("d", _) => 86_400_000_000,
            _ => return Err(self.bad_time(unit)),
        };
        let number: u64 = digits.parse().map_err(|_| self.bad_time(unit))?;
        let nanos = number
            .checked_mul(micros)
            .and_then(|us| us.checked_mul(1_000));
        nanos.ok_or_else(|| self.bad("it is at most 584 years", ""))
    }

    fn bad_time(&self, unit: TimeUnit) -> Error {
        let plain = match unit {
            TimeUnit::Seconds => "seconds",
            TimeUnit::Micros => "microseconds",
        };
        self.bad(
            &format!("a time is a whole number of {plain}, or one with d, h, m, s, ms or us"),
            "",
        )
    }

    /// The comma form: `all`, `read,write` (trims follow writes) or `read,write,trim`; a part
    /// that is empty, or missing after a final comma, takes its default.
    ///
    /// # Errors
    /// When there are more than three parts, or `parse` refuses one.
    pub fn per_kind<T: Copy>(
        &self,
        default: T,
        parse: impl Fn(&str) -> Result<T, Error>,
    ) -> Result<[T; 3], Error> {
        let part = |text: &str| {
            if text.is_empty() {
                Ok(default)
            } else {
                parse(text)
            }
        };
        let parts: Vec<&str> = self.text().split(',').map(str::trim).collect();
        match parts[..] {
            [all] => Ok([parse(all)?; 3]),
            [read, write_and_trim] => {
                let write_and_trim = part(write_and_trim)?;
                Ok([part(read)?, write_and_trim, write_and_trim])
            }
            [read, write, trim] => Ok([part(read)?, part(write)?, part(trim)?]),
            _ => Err(self.bad("at most three values: read,write,trim", "")),
        }
    }

    /// The lists of `bssplit`.
    ///
    /// # Errors
    /// When the value has another form: [`Error::BadValue`].
    pub fn splits(&self, kb_base: u64) -> Result<[Vec<BlockSizeShare>; 3], Error> {
        let lists: Result<Vec<_>, _> = self
            .text()
            .split(',')
            .map(|list| self.split_list(list, kb_base))
            .collect();
        match &lists?[..] {
            [all] => Ok([all.clone(), all.clone(), all.clone()]),
            [read, rest] => Ok([read.clone(), rest.clone(), rest.clone()]),
            [read, write, trim] => Ok([read.clone(), write.clone(), trim.clone()]),
            _ => Err(self.bad("at most three lists: read,write,trim", "")),
        }
    }

    fn split_list(&self, list: &str, kb_base: u64) -> Result<Vec<BlockSizeShare>, Error> {
        let mut entries: Vec<(u32, Option<u8>)> = Vec::new();
        for entry in list.split(':') {
            let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
            let percent =
                match percent.strip_suffix('%').unwrap_or(percent) {
                    "" => None,
                    number => {
                        Some(number.parse().ok().filter(|p| *p <= 100).ok_or_else(|| {
                            self.bad("a share is a whole number from 0 to 100", "")
                        })?)
                    }
                };
            entries.push((self.block_of_page_cache(size.trim(), kb_base)?, percent));
        }
        let assigned_pct: u32 = entries.iter().filter_map(|e| e.1).map(u32::from).sum();
        let open = entries.iter().filter(|e| e.1.is_none()).count() as u32;
        if assigned_pct > 100 || (assigned_pct < 100 && open == 0) {
            let hint = "leave one share empty to give it the rest: 4k/60:64k/";
            return Err(self.bad(
                &format!("its shares add up to {assigned_pct} %, not 100"),
                hint,
            ));
        }
        // What does not divide evenly goes to the last of the open ones, as fio's lookup has it.
        let mut opened = 0;
        let shares = entries.into_iter().map(|(bytes, percent)| {
            let percent = percent.unwrap_or_else(|| {
                opened += 1;
                let equal_share = (100 - assigned_pct) / open;
                let last = if opened == open {
                    (100 - assigned_pct) % open
                } else {
                    0
                };
                (equal_share + last) as u8
            });
            BlockSizeShare { bytes, percent }
        });
        Ok(shares.filter(|b| b.percent > 0).collect())
    }
}
