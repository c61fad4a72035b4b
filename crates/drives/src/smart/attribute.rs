//! One SMART attribute: identity, flags, normalized value, threshold, raw bytes.

/// Bits of an attribute's flags, with smartctl's letters.
pub mod flag {
    /// P: below threshold means that failure is near; otherwise only that it is old.
    pub const PREFAILURE: u16 = 1;
    /// O: updated while the drive works.
    pub const ONLINE: u16 = 2;
    /// S: about performance.
    pub const PERFORMANCE: u16 = 4;
    /// R: an error rate.
    pub const ERROR_RATE: u16 = 8;
    /// C: counts events.
    pub const EVENT_COUNT: u16 = 16;
    /// K: kept by the drive itself.
    pub const AUTO_KEEP: u16 = 32;
    /// What most counters of SSDs carry: `-O--CK`.
    pub const COUNTER: u16 = ONLINE | EVENT_COUNT | AUTO_KEEP;
    /// A counter whose threshold matters: `PO--CK`.
    pub const CRITICAL: u16 = COUNTER | PREFAILURE;
    /// A reading: `-O---K`.
    pub const READING: u16 = ONLINE | AUTO_KEEP;
}

/// drivedb.h of smartctl 7.3 for Intel's families before the data-centre drives.
fn older(family: &str, id: u8) -> Option<&'static str> {
    let timed = |id| match id {
        226 => "Workld_Media_Wear_Indic",
        227 => "Workld_Host_Reads_Perc",
        _ => "Workload_Minutes",
    };
    let (x25, x25e) = (family.contains("X25"), family.contains("X25-E"));
    Some(match id {
        192 => "Unsafe_Shutdown_Count",
        225 => "Host_Writes_32MiB",
        226..=228 if x25e => "Intel_Internal",
        226..=228 => timed(id),
        _ if x25 => return None,
        170 => "Reserve_Block_Count",
        171 => "Program_Fail_Count",
        172 => "Erase_Fail_Count",
        174 if family.contains("710") => "Unexpect_Power_Loss_Ct",
        183 => "SATA_Downshift_Count",
        199 if family.contains("320") => "CRC_Error_Count",
        241 => "Host_Writes_32MiB",
        242 => "Host_Reads_32MiB",
        _ => return None,
    })
}

/// How smartctl shows raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawFormat {
    /// One number of 48 bits.
    Plain,
    /// Hours in 24 bits, something else above.
    Hours,
    /// Three words; the upper two in brackets unless both are 0.
    Words,
    /// Word 0 now, word 1 lowest, word 2 highest Celsius.
    Temperature,
    /// Hours in 32 bits, milliseconds of the hour in 24 above.
    HoursAndMilliseconds,
    /// Byte 0, a slash, and the four bytes above it.
    Slash,
}

/// One row of the SMART data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Number, 1 to 255.
    pub id: u8,
    /// Name in smartctl's database for this family.
    pub name: &'static str,
    /// See [`flag`].
    pub flags: u16,
    /// Normalized value, 1 to 253, high is good.
    pub value: u8,
    /// Lowest so far.
    pub worst: u8,
    /// At or below this it has failed; 0 never.
    pub threshold: u8,
    /// Raw bytes, 7 with the reserved one.
    pub raw: u64,
    /// How they are shown.
    pub format: RawFormat,
}

impl Attribute {
    /// A counter with value 100 that never trips.
    pub fn counter(id: u8, name: &'static str, raw: u64) -> Attribute {
        Attribute {
            id,
            name,
            flags: flag::COUNTER,
            value: 100,
            worst: 100,
            threshold: 0,
            raw,
            format: RawFormat::Plain,
        }
    }

    /// With a normalized value that only falls.
    pub fn value(self, value: u8) -> Attribute {
        Attribute {
            value,
            worst: value,
            ..self
        }
    }

    /// With these flags and threshold.
    pub fn flags(self, flags: u16, threshold: u8) -> Attribute {
        Attribute {
            flags,
            threshold,
            ..self
        }
    }

    /// With raw bytes shown in this way.
    pub fn format(self, format: RawFormat) -> Attribute {
        Attribute { format, ..self }
    }

    /// Whether it is at or below its threshold now.
    pub fn has_failed(&self) -> bool {
        self.threshold > 0 && self.value <= self.threshold
    }

    /// As smartctl shows it for a model that its database does not have.
    pub fn without_database(self) -> Attribute {
        let (name, format) = plain(self.id);
        Attribute {
            name,
            format,
            ..self
        }
    }

    /// As smartctl shows it for a model of one of Intel's older families: its database names
    /// only some of their attributes.
    pub fn of_family(self, family: &str) -> Attribute {
        let id = self.id;
        match older(family, id) {
            Some(name) => Attribute {
                name,
                format: RawFormat::Plain,
                ..self
            },
            None => self.without_database(),
        }
    }

    /// The raw value as smartctl's JSON has it: 48 bits, or 56 where the format uses them.
    pub fn raw_value(&self) -> u64 {
        match self.format {
            RawFormat::HoursAndMilliseconds => self.raw & 0x00ff_ffff_ffff_ffff,
            RawFormat::Slash => (self.raw & 0xff) << 32 | self.raw >> 8 & 0xffff_ffff,
            _ => self.raw & 0xffff_ffff_ffff,
        }
    }

    /// The raw value as smartctl shows it.
    pub fn raw_text(&self) -> String {
        let word = |n: u32| self.raw >> (16 * n) & 0xffff;
        let byte = |n: u32| self.raw >> (8 * n) & 0xff;
        let more = word(1) != 0 || word(2) != 0;
        match self.format {
            RawFormat::Slash => format!("{}/{}", byte(0), self.raw >> 8 & 0xffff_ffff),
            RawFormat::Hours => {
                let hours = self.raw & 0xff_ffff;
                match self.raw >> 24 & 0xff_ffff {
                    0 => hours.to_string(),
                    _ => format!("{hours} ({} {} {})", byte(5), byte(4), byte(3)),
                }
            }
            RawFormat::Words if more => format!("{} ({} {})", word(0), word(2), word(1)),
            RawFormat::Temperature if more => {
                format!("{} (Min/Max {}/{})", word(0), word(1), word(2))
            }
            RawFormat::Words | RawFormat::Temperature => word(0).to_string(),
            RawFormat::Plain => self.raw_value().to_string(),
            RawFormat::HoursAndMilliseconds => {
                let hours = self.raw & 0xffff_ffff;
                let ms = self.raw >> 32 & 0xff_ffff;
                let (minutes, s, ms) = (ms / 60_000, ms / 1000 % 60, ms % 1000);
                format!("{hours}h+{minutes:02}m+{s:02}.{ms:03}s")
            }
        }
    }
}

/// smartctl 7.3's name and raw format for drives that its database does not have (drivedb.h,
/// DEFAULT; a name meant for disks only becomes an unknown one on an SSD).
fn plain(id: u8) -> (&'static str, RawFormat) {
    use RawFormat::{Hours, Plain, Temperature, Words};
    let name = match id {
        1 => "Raw_Read_Error_Rate",
        5 => return ("Reallocated_Sector_Ct", Words),
        9 => return ("Power_On_Hours", Hours),
        12 => "Power_Cycle_Count",
        175 => "Program_Fail_Count_Chip",
        177 => "Wear_Leveling_Count",
        179 => "Used_Rsvd_Blk_Cnt_Tot",
        180 => "Unused_Rsvd_Blk_Cnt_Tot",
        181 => "Program_Fail_Cnt_Total",
        182 => "Erase_Fail_Count_Total",
        183 => "Runtime_Bad_Block",
        184 => "End-to-End_Error",
        187 => "Reported_Uncorrect",
        190 => return ("Airflow_Temperature_Cel", Temperature),
        192 => "Power-Off_Retract_Count",
        194 => return ("Temperature_Celsius", Temperature),
        197 => "Current_Pending_Sector",
        199 => "UDMA_CRC_Error_Count",
        228 => "Power-off_Retract_Count",
        232 => "Available_Reservd_Space",
        233 => "Media_Wearout_Indicator",
        241 => "Total_LBAs_Written",
        242 => "Total_LBAs_Read",
        225..=227 | 231 => "Unknown_SSD_Attribute",
        _ => "Unknown_Attribute",
    };
    (name, Plain)
}
