//! What JESD218 asks of a drive at the end of its rated life.
//!
//! JEDEC JESD218B.01 (2016), classes and limits as quoted by vendors' papers. Rated terabytes
//! written (TBW) is the most host data after which capacity, UBER, failures and retention still
//! hold, on the workload of JESD219.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Application class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApplicationClass {
    /// A person's machine.
    Client,
    /// A server.
    Enterprise,
}

/// The limits of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jesd218Limits {
    /// Most uncorrectable errors per bit read.
    pub uber_max: f64,
    /// Largest share of drives that fail functionally.
    pub failures_max: f64,
    /// Temperature in use, Celsius.
    pub active_c: f64,
    /// Hours of use a day.
    pub active_hours_a_day: f64,
    /// Temperature without power, Celsius.
    pub retention_c: f64,
    /// Hours that data must be kept without power then.
    pub retention_h: f64,
}

impl ApplicationClass {
    /// Both classes.
    pub const ALL: [ApplicationClass; 2] = [ApplicationClass::Client, ApplicationClass::Enterprise];

    /// Its limits.
    pub const fn limits(self) -> Jesd218Limits {
        match self {
            ApplicationClass::Client => Jesd218Limits {
                uber_max: 1e-15,
                failures_max: 0.03,
                active_c: 40.0,
                active_hours_a_day: 8.0,
                retention_c: 30.0,
                retention_h: 8760.0,
            },
            ApplicationClass::Enterprise => Jesd218Limits {
                uber_max: 1e-16,
                failures_max: 0.03,
                active_c: 55.0,
                active_hours_a_day: 24.0,
                retention_c: 40.0,
                retention_h: 2190.0,
            },
        }
    }

    /// Whether a drive with this UBER at its rated life is within the class.
    pub fn allows(self, uber: f64) -> bool {
        uber <= self.limits().uber_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::{Codeword, PowerLaw, Stress};

    #[test]
    fn the_limits_are_those_of_the_standard() {
        let [client, enterprise] = ApplicationClass::ALL.map(ApplicationClass::limits);
        assert_eq!((client.uber_max, enterprise.uber_max), (1e-15, 1e-16));
        assert_eq!((client.retention_h, client.retention_c), (8760.0, 30.0));
        assert_eq!(
            (enterprise.retention_h, enterprise.retention_c),
            (2190.0, 40.0)
        );
        assert!(
            ApplicationClass::Client.allows(1e-15) && !ApplicationClass::Enterprise.allows(1e-15)
        );
    }

    /// The published law starts at 1.48e-3: far above what codes of planar MLC correct. A code of
    /// its own time (72 bits in 1 KiB, Park, ASPLOS 2021) holds it when new, and not after 3,000
    /// cycles and three months: which is why such drives retry reads and refresh.
    #[test]
    fn the_law_and_the_codes_fit_together() {
        let code = Codeword::bch(1024, 72, 14);
        let law = PowerLaw::TLC_72_LAYERS;
        let uber = |stress| code.uber(law.rber(stress).unwrap()).unwrap();
        assert!(ApplicationClass::Enterprise.allows(uber(Stress::default())));
        let worn = Stress {
            cycles: 3000.0,
            retention_h: 2190.0,
            reads_per_page: 0.0,
        };
        assert!(!ApplicationClass::Enterprise.allows(uber(worn)));
    }
}
