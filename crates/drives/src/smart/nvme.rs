//! The NVMe SMART / Health Information log page (log page 02h) and the two Identify structures that
//! lead a reader to it (NVM Express Base 1.4, figures 194, 245 and 247). All little endian.

use super::{Capacitor, Identity, SmartHealth};

/// The health page.
pub type HealthPage = [u8; 512];
/// An Identify structure.
pub type IdentifyPage = [u8; 4096];

/// Spare blocks left at which the drive warns, per cent.
pub const SPARE_THRESHOLD: u8 = 10;
/// Composite temperature from which it warns and from which it is critical, Celsius.
pub const TEMPERATURES_C: (u16, u16) = (70, 80);
/// A data unit: a thousand units of 512 bytes, rounded up.
pub const DATA_UNIT: u64 = 512_000;
const KELVIN: u16 = 273;
/// Version 1.4.0.
const VERSION: u32 = 0x0001_0400;

/// Bits of the critical warning.
pub mod warning {
    /// Spare below threshold.
    pub const SPARE: u8 = 1;
    /// Temperature beyond a threshold.
    pub const TEMPERATURE: u8 = 2;
    /// Reliability degraded by media errors.
    pub const RELIABILITY: u8 = 4;
    /// No more writes.
    pub const READ_ONLY: u8 = 8;
    /// The backup of the volatile memory failed.
    pub const BACKUP: u8 = 16;
}

/// Byte 0.
pub fn critical_warning(health: &SmartHealth) -> u8 {
    let (warm, _) = health.heat.limits_c.unwrap_or(TEMPERATURES_C);
    let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
    bit(health.reserve_percent() < SPARE_THRESHOLD, warning::SPARE)
        | bit(
            u16::from(health.temperature_c) >= warm,
            warning::TEMPERATURE,
        )
        | bit(health.read_only, warning::READ_ONLY)
        | bit(health.capacitor == Capacitor::Failed, warning::BACKUP)
}

/// The page. Counters are 128 bits wide there; ours fill the lower half.
pub fn health_page(health: &SmartHealth) -> HealthPage {
    let mut page = [0; 512];
    page[0] = critical_warning(health);
    put16(&mut page, 1, u16::from(health.temperature_c) + KELVIN);
    page[3] = health.reserve_percent();
    page[4] = SPARE_THRESHOLD;
    page[5] = health.percentage_used();
    for (offset, value) in [
        (32, health.host_bytes_read.div_ceil(DATA_UNIT)),
        (48, health.host_bytes_written.div_ceil(DATA_UNIT)),
        (64, health.read_commands),
        (80, health.write_commands),
        (96, health.busy_minutes),
        (112, health.power_cycles),
        (128, health.power_on_minutes / 60),
        (144, health.unsafe_shutdowns),
        (160, health.uncorrectable_errors),
        (176, health.uncorrectable_errors),
    ] {
        page[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    }
    put16(&mut page, 200, u16::from(health.temperature_c) + KELVIN);
    let heat = &health.heat;
    for (offset, value) in [
        (192, heat.warning_minutes),
        (196, heat.critical_minutes),
        (216, heat.throttles[0]),
        (220, heat.throttles[1]),
        (224, heat.throttled_seconds[0]),
        (228, heat.throttled_seconds[1]),
    ] {
        page[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    }
    page
}

/// Identify Controller.
pub fn identify_controller(identity: &Identity) -> IdentifyPage {
    let mut page = [0; 4096];
    text(&mut page[4..24], &identity.serial);
    text(&mut page[24..64], &identity.model);
    text(&mut page[64..72], &identity.firmware);
    let maker = identity.wwn.to_be_bytes();
    // IEEE number of the maker, least significant byte first.
    let oui = (u32::from_be_bytes([maker[0], maker[1], maker[2], maker[3]]) >> 4) & 0xff_ffff;
    page[73..76].copy_from_slice(&oui.to_le_bytes()[..3]);
    page[80..84].copy_from_slice(&VERSION.to_le_bytes());
    // 258: no optional admin command. 260: one firmware slot. 261: no log attributes.
    page[260] = 1 << 1;
    let (warning, critical) = identity.limits_c.unwrap_or(TEMPERATURES_C);
    put16(&mut page, 266, warning + KELVIN);
    put16(&mut page, 268, critical + KELVIN);
    page[280..288].copy_from_slice(&identity.user_bytes.to_le_bytes());
    (page[512], page[513]) = (0x66, 0x44);
    page[516] = 1;
    // 520: dataset management (trim), write zeroes. 525: volatile write cache.
    page[520] = u8::from(identity.trim) << 2 | 1 << 3;
    page[525] = 1;
    page
}

/// Identify Namespace, for namespace 1.
pub fn identify_namespace(identity: &Identity) -> IdentifyPage {
    let mut page = [0; 4096];
    let sector = identity.logical_sector.max(512);
    let sectors = identity.user_bytes / u64::from(sector);
    for offset in [0, 8, 16] {
        page[offset..offset + 8].copy_from_slice(&sectors.to_le_bytes());
    }
    // LBA format 0: no metadata, 2^n bytes.
    page[130] = sector.ilog2() as u8;
    page
}

fn put16(page: &mut [u8], offset: usize, value: u16) {
    page[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

fn text(field: &mut [u8], text: &str) {
    let printable = |c: char| {
        if (' '..='~').contains(&c) {
            c as u8
        } else {
            b'?'
        }
    };
    let bytes = text.chars().map(printable).chain(std::iter::repeat(b' '));
    field
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, byte)| *to = byte);
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn fields_lie_where_the_standard_puts_them() {
        let page = health_page(&sample::health());
        assert_eq!((page[0], page[3], page[4], page[5]), (0, 97, 10, 39));
        assert_eq!(page[1..3], (34_u16 + 273).to_le_bytes());
        let read = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().unwrap());
        assert_eq!(read(48), 527_343_750, "270 TB / 512,000");
        assert_eq!(read(32), 241_126_542, "rounded up");
        assert_eq!((read(112), read(128), read(144)), (186, 21_213, 67));
        assert!(page[202..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn warnings_have_their_bits() {
        let health = sample::health();
        let bits = |health: SmartHealth| critical_warning(&health);
        let with = |change: fn(&mut SmartHealth)| {
            let mut changed = health.clone();
            change(&mut changed);
            bits(changed)
        };
        assert_eq!(with(|_| ()), 0);
        assert_eq!(with(|h| h.reserve_left = 39), warning::SPARE);
        assert_eq!(with(|h| h.temperature_c = 70), warning::TEMPERATURE);
        assert_eq!(with(|h| h.read_only = true), warning::READ_ONLY);
        assert_eq!(with(|h| h.capacitor = Capacitor::Failed), warning::BACKUP);
    }

    #[test]
    fn the_controller_names_its_maker() {
        let page = identify_controller(&sample::identity("MODEL", None));
        assert_eq!(&page[24..30], b"MODEL ");
        assert_eq!(
            page[73..76],
            [0x20, 0x10, 0x00],
            "001020h from 5001_0203..."
        );
    }
}
