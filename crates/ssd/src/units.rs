//! Time and size as types, so that nanoseconds and bytes are never mixed up.

use crate::image::{Image, ImageError, Reader, Writer};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in, or a length of, virtual time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Image for Nanos {
    const BYTES_MIN: u64 = 8;

    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.0.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Nanos, ImageError> {
        u64::load(from).map(Nanos)
    }
}

impl Nanos {
    /// Zero; also the instant at which a drive is powered on for the first time.
    pub const ZERO: Nanos = Nanos(0);
    /// The maximum: later than any event.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// A time in whole seconds.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    /// A time in whole milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds * 1_000_000)
    }

    /// A time in whole microseconds.
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds * 1_000)
    }

    /// The time in seconds, for reports and plots, never for decisions.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The difference, or zero when `earlier` is later.
    pub fn saturating_sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// The sum, or [`Nanos::MAX`] when it would overflow.
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    /// Three significant places in the largest fitting unit: `15.2 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            n if n >= 1_000_000_000 => (n as f64 / 1e9, "s"),
            n if n >= 1_000_000 => (n as f64 / 1e6, "ms"),
            n if n >= 1_000 => (n as f64 / 1e3, "us"),
            n => return write!(f, "{n} ns"),
        };
        let places = if value >= 100.0 {
            0
        } else if value >= 10.0 {
            1
        } else {
            2
        };
        write!(f, "{value:.places$} {unit}")
    }
}

/// A size or an offset in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// One kibibyte, 2^10.
    pub const KIB: u64 = 1 << 10;
    /// One mebibyte, 2^20.
    pub const MIB: u64 = 1 << 20;
    /// One gibibyte, 2^30.
    pub const GIB: u64 = 1 << 30;
}

impl fmt::Display for Bytes {
    /// Binary units, exact when the value is: `4 KiB`, `931.5 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let step = ((63 - self.0.leading_zeros()) / 10).min(5);
        let value = self.0 as f64 / (1u64 << (10 * step)) as f64;
        let unit = UNITS[step as usize - 1];
        if value.fract() == 0.0 {
            write!(f, "{value:.0} {unit}")
        } else {
            write!(f, "{value:.1} {unit}")
        }
    }
}
