//! How temperature speeds up the loss of charge: the Arrhenius law.
//!
//! Factor AF = exp[(Ea / k)(1/T_use - 1/T_stress)], T in kelvin. Intel application note
//! 325999-002US (June 2012): k = 8.617e-5 eV/K, Ea = 1.1 eV for intrinsic charge loss. Its second
//! mechanism (leakage through a stressed oxide, about 0.2 eV) must not be accelerated by a bake,
//! and baking 3D NAND is not the same as waiting (HotStorage 2021).

use ssdlab_base::LabError;

/// Boltzmann's constant as the application note prints it, eV/K.
pub const BOLTZMANN_EV: f64 = 8.617e-5;
/// Activation energy of intrinsic charge loss, eV.
pub const CHARGE_LOSS_EV: f64 = 1.1;
/// Celsius that a drive can be at, without power or in use, and not be beyond telling.
const CELSIUS: std::ops::RangeInclusive<f64> = -55.0..=150.0;

fn kelvin(celsius: f64) -> Result<f64, LabError> {
    if !CELSIUS.contains(&celsius) {
        return Err(LabError::refused(
            format!("{celsius} degrees Celsius is no temperature of a drive"),
            "between -55 and 150",
        ));
    }
    Ok(celsius + 273.15)
}

/// How many hours at `use_c` one hour at `stress_c` stands for, both Celsius.
///
/// # Errors
/// When a temperature is not one a drive can have, or the activation energy is not positive.
pub fn acceleration(activation_ev: f64, use_c: f64, stress_c: f64) -> Result<f64, LabError> {
    if !(activation_ev > 0.0 && activation_ev.is_finite()) {
        return Err(LabError::refused(
            format!("an activation energy of {activation_ev} eV cannot be"),
            "charge loss in NAND takes about 1.1 eV",
        ));
    }
    let (cool, hot) = (kelvin(use_c)?, kelvin(stress_c)?);
    Ok((activation_ev / BOLTZMANN_EV * (1.0 / cool - 1.0 / hot)).exp())
}

/// Hours at `stress_c` that age data as `hours` at `use_c` do.
///
/// # Errors
/// See [`acceleration`].
pub fn equivalent_hours(
    activation_ev: f64,
    hours: f64,
    use_c: f64,
    stress_c: f64,
) -> Result<f64, LabError> {
    Ok(hours / acceleration(activation_ev, use_c, stress_c)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(ev: f64, use_c: f64, stress_c: f64) -> f64 {
        acceleration(ev, use_c, stress_c).unwrap()
    }

    /// The application note's worked example, as printed: AF 22.76, 2,190 h at 40 C are 96 h at
    /// 66 C.
    #[test]
    fn the_published_worked_example() {
        assert_eq!(format!("{:.2}", factor(1.1, 40.0, 66.0)), "22.76");
        let bake = equivalent_hours(1.1, 2190.0, 40.0, 66.0).unwrap();
        assert_eq!(format!("{bake:.0}"), "96");
    }

    /// AERO (DATE 2024): one year at 30 C is 13 h at 85 C, for which Ea must be 1.108 eV.
    #[test]
    fn a_second_published_pair() {
        let bake = equivalent_hours(1.108, 8760.0, 30.0, 85.0).unwrap();
        assert_eq!(format!("{bake:.0}"), "13");
    }

    #[test]
    fn factors_of_the_reference_table() {
        assert_eq!(format!("{:.1}", factor(1.1, 30.0, 40.0)), "3.8");
        assert_eq!(format!("{:.1}", factor(1.1, 40.0, 55.0)), "6.4");
        // Noted as 1310 by hand arithmetic; the constants above give 1303.
        assert!((factor(1.1, 25.0, 85.0) / 1310.0 - 1.0).abs() < 0.01);
        assert_eq!(factor(1.1, 40.0, 40.0), 1.0);
    }

    #[test]
    fn nonsense_temperatures_are_refused() {
        for celsius in [-300.0, f64::NAN, 1e6, 273.15] {
            assert!(acceleration(1.1, 40.0, celsius).is_err(), "{celsius}");
            assert!(acceleration(1.1, celsius, 40.0).is_err(), "{celsius}");
        }
        assert!(acceleration(0.0, 40.0, 66.0).is_err());
    }
}
