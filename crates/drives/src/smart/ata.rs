//! The two sectors of ATA SMART: data and thresholds (ATA8-ACS, SMART READ DATA).
//!
//! Both hold a revision, thirty rows of twelve bytes, and end in a checksum that makes the sum of
//! all 512 bytes 0.

use super::{AttributeSet, SmartHealth, attributes, sets};

/// A sector.
pub type SmartSector = [u8; 512];
/// Rows that fit.
pub const ROWS: usize = 30;
const ROW_BYTES: usize = 12;
const FIRST_ROW: usize = 2;

/// SMART READ DATA (B0h, D0h).
pub fn data(set: AttributeSet, health: &SmartHealth) -> SmartSector {
    let mut sector = [0; 512];
    sector[..2].copy_from_slice(&set.revision().to_le_bytes());
    for (n, row) in attributes(set, health).iter().take(ROWS).enumerate() {
        let offset = FIRST_ROW + n * ROW_BYTES;
        sector[offset] = row.id;
        sector[offset + 1..offset + 3].copy_from_slice(&row.flags.to_le_bytes());
        sector[offset + 3] = row.value;
        sector[offset + 4] = row.worst;
        // Six bytes of raw value; the seventh is the reserved one, which some formats use.
        sector[offset + 5..offset + 12].copy_from_slice(&row.raw.to_le_bytes()[..7]);
    }
    // 362: off-line data collection never started. 367: none is offered, nor self-tests.
    // 368: saves before power-down, saves by itself. 370: error log.
    sector[368] = 3;
    sector[370] = 1;
    seal(&mut sector);
    sector
}

/// SMART READ THRESHOLDS (B0h, D1h).
pub fn thresholds(set: AttributeSet, health: &SmartHealth) -> SmartSector {
    let mut sector = [0; 512];
    sector[..2].copy_from_slice(&set.revision().to_le_bytes());
    for (n, row) in attributes(set, health).iter().take(ROWS).enumerate() {
        let offset = FIRST_ROW + n * ROW_BYTES;
        sector[offset] = row.id;
        sector[offset + 1] = row.threshold;
    }
    seal(&mut sector);
    sector
}

/// Whether SMART RETURN STATUS (B0h, DAh) answers that a threshold was exceeded.
pub fn threshold_exceeded(set: AttributeSet, health: &SmartHealth) -> bool {
    sets::is_failing(set, health)
}

/// SMART READ LOG 00h: version 1, and one sector of log 01h.
pub fn log_directory() -> SmartSector {
    let mut sector = [0; 512];
    sector[0] = 1;
    sector[2] = 1;
    sector
}

/// SMART READ LOG 01h: summary error log, version 1, without entries.
pub fn error_log() -> SmartSector {
    let mut sector = [0; 512];
    sector[0] = 1;
    seal(&mut sector);
    sector
}

/// Sets the last byte so that all 512 add up to 0.
pub(super) fn seal(sector: &mut SmartSector) {
    let sum = sector[..511]
        .iter()
        .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    sector[511] = sum.wrapping_neg();
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    /// The layout by hand: byte 2 on holds id, flags, value, worst, raw.
    #[test]
    fn the_first_row_lies_where_the_standard_puts_it() {
        let sector = data(AttributeSet::Intel, &sample::health());
        assert_eq!(sector[..2], [1, 0]);
        assert_eq!(
            sector[2..14],
            [5, 0x32, 0, 100, 100, 12, 0, 0, 0, 0, 0, 0],
            "attribute 5: 12 blocks retired"
        );
        assert_eq!((sector[362], sector[368], sector[370]), (0, 3, 1));
        let limits = thresholds(AttributeSet::Intel, &sample::health());
        let row = FIRST_ROW + 3 * ROW_BYTES;
        assert_eq!(limits[row..row + 3], [170, 10, 0]);
        assert_eq!(sector[row], 170, "rows of both sectors agree");
    }

    #[test]
    fn every_sector_adds_up_to_nothing() {
        let health = sample::health();
        for set in [
            AttributeSet::Intel,
            AttributeSet::SandForce,
            AttributeSet::Generic,
        ] {
            for sector in [data(set, &health), thresholds(set, &health), error_log()] {
                let sum = sector.iter().fold(0_u8, |sum, b| sum.wrapping_add(*b));
                assert_eq!(sum, 0);
            }
        }
    }

    #[test]
    fn raw_values_are_little_endian_and_48_bits() {
        let health = SmartHealth {
            host_bytes_written: u64::MAX,
            ..sample::health()
        };
        let sector = data(AttributeSet::Generic, &health);
        let row = (0..ROWS)
            .map(|n| &sector[FIRST_ROW + n * ROW_BYTES..][..ROW_BYTES])
            .find(|row| row[0] == 241)
            .unwrap();
        let mut raw = [0; 8];
        raw[..7].copy_from_slice(&row[5..12]);
        assert_eq!(u64::from_le_bytes(raw), u64::MAX / 512);
    }
}
