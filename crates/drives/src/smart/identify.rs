//! IDENTIFY DEVICE (ACS-3, 7.12.7), as much of it as smartctl and hdparm read.

use super::Identity;
use super::ata::SmartSector;

/// Words 80 and 81: ACS-3 and what came before; T13/2161-D revision 5.
const MAJOR: u16 = 0x07fc;
const MINOR: u16 = 0x006d;
/// Word 222: serial ATA, up to SATA 3.1.
const TRANSPORT: u16 = 0x107f;
/// Word 76: 1.5, 3 and 6 Gb/s, native command queuing. Word 77: now 6 Gb/s.
const SATA: [u16; 2] = [0x010e, 0x0006];
/// Bit of words 82 and 85: SMART.
const SMART: u16 = 1;
/// Bit of words 82 and 85: volatile write cache.
const WRITE_CACHE: u16 = 1 << 5;
/// Bit of words 82 and 85: look-ahead.
const LOOK_AHEAD: u16 = 1 << 6;
/// Words 83 and 86: 48-bit addresses, FLUSH CACHE, FLUSH CACHE EXT.
const FLUSHES: u16 = 1 << 10 | 1 << 12 | 1 << 13;
/// Words 84 and 87: SMART error log, WRITE DMA FUA EXT, world-wide name.
const MORE: u16 = 1 | 1 << 6 | 1 << 8;
/// In words 83, 84 and 87: the word is valid.
const VALID: u16 = 1 << 14;

/// The sector.
pub fn identify_device(identity: &Identity) -> SmartSector {
    let mut words = [0_u16; 256];
    let sectors = identity.user_bytes / u64::from(identity.logical_sector.max(512));
    words[0] = 0x0040;
    text(&mut words[10..20], &identity.serial);
    text(&mut words[23..27], &identity.firmware);
    text(&mut words[27..47], &identity.model);
    words[47] = 0x8010;
    words[49] = 0x2f00;
    words[50] = VALID;
    words[53] = 0x0006;
    let short = sectors.min(0x0fff_ffff);
    (words[60], words[61]) = (short as u16, (short >> 16) as u16);
    (words[63], words[64]) = (0x0007, 0x0003);
    words[65..69].fill(120);
    words[75] = 31;
    (words[76], words[77]) = (SATA[0], SATA[1]);
    (words[80], words[81]) = (MAJOR, MINOR);
    let cache = if identity.write_cache { WRITE_CACHE } else { 0 };
    words[82] = SMART | WRITE_CACHE | LOOK_AHEAD;
    words[83] = VALID | FLUSHES;
    words[84] = VALID | MORE;
    words[85] = SMART | LOOK_AHEAD | cache;
    words[86] = FLUSHES;
    words[87] = VALID | MORE;
    words[88] = 0x407f;
    for n in 0..4 {
        words[100 + n] = (sectors >> (16 * n)) as u16;
        words[108 + n] = (identity.wwn >> (48 - 16 * n)) as u16;
    }
    sector_size(&mut words, identity);
    if identity.trim {
        // Trimmed sectors read the same each time, and as zeros.
        words[69] = 1 << 14 | 1 << 5;
        words[169] = 1;
    }
    words[168] = 3;
    words[217] = 1;
    words[222] = TRANSPORT;
    seal(&words)
}

fn sector_size(words: &mut [u16; 256], identity: &Identity) {
    let ratio = (identity.physical_sector / identity.logical_sector.max(1)).max(1);
    words[106] = VALID;
    if ratio > 1 {
        words[106] |= 1 << 13 | ratio.ilog2() as u16;
    }
    if identity.logical_sector > 512 {
        words[106] |= 1 << 12;
        let in_words = identity.logical_sector / 2;
        (words[117], words[118]) = (in_words as u16, (in_words >> 16) as u16);
    }
}

/// ASCII, two characters a word, the first in the high byte, padded with blanks; anything that is
/// not printable ASCII becomes a question mark.
fn text(words: &mut [u16], text: &str) {
    let printable = |c: char| {
        if (' '..='~').contains(&c) {
            c as u8
        } else {
            b'?'
        }
    };
    let mut bytes = text.chars().map(printable).chain(std::iter::repeat(b' '));
    for word in words {
        let pair = [bytes.next().unwrap_or(b' '), bytes.next().unwrap_or(b' ')];
        *word = u16::from_be_bytes(pair);
    }
}

/// Word 255: A5h and a checksum over everything.
fn seal(words: &[u16; 256]) -> SmartSector {
    let mut sector = [0; 512];
    for (bytes, word) in sector.chunks_exact_mut(2).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    sector[510] = 0xa5;
    super::ata::seal(&mut sector);
    sector
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn strings_are_swapped_padded_and_cut() {
        let mut identity = sample::identity("AB", None);
        identity.serial = "x".repeat(50);
        identity.firmware = "a\u{7}é".into();
        let sector = identify_device(&identity);
        assert_eq!(&sector[54..58], b"BA  ");
        assert_eq!(&sector[20..40], [b'x'; 20]);
        assert_eq!(&sector[46..50], b"?a ?");
        assert_eq!(sector[510], 0xa5);
        assert_eq!(sector.iter().fold(0_u8, |sum, b| sum.wrapping_add(*b)), 0);
    }

    #[test]
    fn a_large_drive_is_counted_in_the_long_field_only() {
        let mut identity = sample::identity("A", None);
        identity.user_bytes = 20_000_000_000_000;
        let sector = identify_device(&identity);
        assert_eq!(sector[120..124], [0xff, 0xff, 0xff, 0x0f]);
        let mut long = [0; 8];
        long.copy_from_slice(&sector[200..208]);
        assert_eq!(u64::from_le_bytes(long), identity.user_bytes / 512);
    }
}
