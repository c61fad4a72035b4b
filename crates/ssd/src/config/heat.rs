//! Heat: a lumped thermal model of a drive, its throttling, and power states.

use crate::image::image_of;
use crate::units::Nanos;

image_of! {
    /// Thermal model of a drive, and the temperatures at which it slows down.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct HeatConfig {
        /// Heat capacity of the whole drive, mJ/K.
        pub capacity_mj_per_k: u64,
        /// Thermal resistance between drive and ambient air, mK/W. Airflow lowers it.
        pub resistance_mk_per_w: u64,
        /// Temperature of the air, Celsius.
        pub ambient_c: u32,
        /// Throttling that costs little performance (NVMe: thermal management temperature 1).
        pub light: ThrottleStep,
        /// Throttling whatever performance it costs (NVMe: thermal management temperature 2).
        pub heavy: ThrottleStep,
        /// The drive's own protection: it nearly stops.
        pub critical: ThrottleStep,
        /// A step entered at T is left below T minus this, in K.
        pub hysteresis_k: u32,
        /// Temperature from which the drive warns, Celsius (NVMe: WCTEMP).
        pub warning_c: u32,
        /// Temperature from which the drive reports overheating, Celsius (NVMe: CCTEMP).
        pub overheated_c: u32,
    }
}

image_of! {
    /// A step of throttling and its two measures.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ThrottleStep {
        /// Temperature from which it applies, Celsius.
        pub at_c: u32,
        /// Dies that may program at once: what writes dissipate.
        pub programs_at_once: u32,
        /// Controller time that each command needs in addition: what reads dissipate.
        pub pause: Nanos,
    }
}

image_of! {
    /// A non-operational power state, entered when the drive has been idle for some time.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct PowerState {
        /// Idle time after which the drive enters it.
        pub after: Nanos,
        /// Time to enter it, which cannot be interrupted (NVMe: ENLAT).
        pub entry: Nanos,
        /// Time from a command until the drive is operational (NVMe: EXLAT).
        pub exit: Nanos,
        /// Power draw in it, mW.
        pub mw: u64,
    }
}

impl ThrottleStep {
    /// A step at this temperature that slows writes alone.
    pub fn new(at_c: u32, programs_at_once: u32) -> ThrottleStep {
        ThrottleStep {
            at_c,
            programs_at_once,
            pause: Nanos::ZERO,
        }
    }
}

impl PowerState {
    /// A state of this power draw, entered after this idle time, without delay either way.
    pub fn new(after: Nanos, mw: u64) -> PowerState {
        PowerState {
            after,
            entry: Nanos::ZERO,
            exit: Nanos::ZERO,
            mw,
        }
    }
}

impl HeatConfig {
    /// A drive in air of 25 C that leaves a step 3 K below its temperature, warns at the second
    /// step and reports overheating at the third. `steps` from the mildest on.
    pub fn new(
        capacity_mj_per_k: u64,
        resistance_mk_per_w: u64,
        steps: [ThrottleStep; 3],
    ) -> HeatConfig {
        let [light, heavy, critical] = steps;
        HeatConfig {
            capacity_mj_per_k,
            resistance_mk_per_w,
            ambient_c: 25,
            hysteresis_k: 3,
            warning_c: heavy.at_c,
            overheated_c: critical.at_c,
            light,
            heavy,
            critical,
        }
    }

    /// Time constant R C, ns: mK/W x mJ/K = us.
    pub fn time_constant(&self) -> Nanos {
        Nanos(self.capacity_mj_per_k * self.resistance_mk_per_w * 1000)
    }

    /// The steps from the mildest on.
    pub fn steps(&self) -> [&ThrottleStep; 3] {
        [&self.light, &self.heavy, &self.critical]
    }
}
