//! Laws of a forecast, and its reduced model against the full one.

use super::fill::{FillEvent, FillLaw, FillState, WritePressure};
use super::load::LoadSpan;
use super::warmth::TemperatureReading;
use super::{
    ForecastCause, ForecastEvidence, ForecastModel, ForecastOutlook, SAID_FROM, WatchForecast,
};
use crate::steps::{KindSecond, WatchedSecond};
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive};

fn model(name: &str) -> ForecastModel {
    ForecastModel::new(&catalogue::drive(name).expect("in the catalogue"))
}

/// Seconds of writes in order at this rate.
fn seconds(count: usize, rate: u64) -> Vec<WatchedSecond> {
    let second = WatchedSecond {
        writes: KindSecond {
            count: rate >> 17,
            bytes: rate,
            device_ns: 900_000_000,
            max_ns: 1_000_000,
        },
        ..WatchedSecond::default()
    };
    vec![second; count]
}

fn evidence(slices: Vec<WatchedSecond>) -> ForecastEvidence {
    ForecastEvidence {
        slices,
        slice_s: 1.0,
        used: Some(0.3),
        written_since_boot: Some(0),
        written_in_life: Some(300_000_000_000),
        pressure: Some(WritePressure {
            random: 1.0,
            span_bytes: Some(1e12),
        }),
        ..ForecastEvidence::default()
    }
}

fn span(rate: f64, random: bool) -> LoadSpan {
    LoadSpan {
        seconds: 1.0,
        written: rate,
        writes: rate / if random { 4096.0 } else { 131_072.0 },
        requests: 1.0,
        busy: 1.0,
        ..LoadSpan::default()
    }
}

fn empty(law: &FillLaw) -> FillState {
    FillState {
        static_room: law.static_bytes,
        free: law.native_bytes,
        dynamic_used: 0.0,
        valid: 0.0,
        rested: 0.0,
    }
}

const RANDOM: WritePressure = WritePressure {
    random: 1.0,
    span_bytes: None,
};

#[test]
fn more_free_space_puts_the_cliff_off() {
    for name in ["tlc-client-nvme-1tb", "tlc-enterprise-nvme-1920gb"] {
        let law = FillLaw::new(&model(name).config);
        let load = [span(3e9, true)];
        let when = |share: f64| {
            let state = FillState {
                free: share * law.native_bytes,
                valid: (1.0 - share) * law.native_bytes,
                ..empty(&law)
            };
            law.foretell(state, &load, &RANDOM)
                .expect("a cliff")
                .seconds
        };
        let times: Vec<f64> = [0.3, 0.5, 0.7, 0.9].map(when).to_vec();
        assert!(
            times.is_sorted() && times[0] < times[3],
            "{name}: {times:?}"
        );
    }
}

#[test]
fn a_faster_load_does_not_put_it_off() {
    let law = FillLaw::new(&model("crucial-p1-1tb").config);
    let when = |rate: f64| {
        let outcome = law.foretell(empty(&law), &[span(rate, false)], &RANDOM);
        outcome.map_or(f64::INFINITY, |outcome| outcome.seconds)
    };
    let times = [2e9, 1e9, 5e8, 3e8, 1e7].map(when);
    assert!(times.is_sorted(), "{times:?}");
    assert!(times[0] > 0.0 && times[0] < 1e3, "{times:?}");
    assert!(
        times[4].is_infinite(),
        "below what the cells take: {times:?}"
    );
}

#[test]
fn discarding_everything_and_a_pause_put_it_off() {
    let law = FillLaw::new(&model("tlc-client-nvme-1tb").config);
    let mut state = empty(&law);
    law.place(&mut state, 0.8 * law.cache_bytes(law.native_bytes));
    state.valid = 0.8 * law.user_bytes;
    state.free = 0.3 * law.native_bytes;
    let load = [span(3e9, false)];
    let when = |state| {
        law.foretell(state, &load, &RANDOM)
            .map_or(f64::INFINITY, |outcome| outcome.seconds)
    };
    let before = when(state);
    let discard = LoadSpan {
        seconds: 1.0,
        requests: 1.0,
        discarded: law.user_bytes,
        ..LoadSpan::default()
    };
    let rest = LoadSpan {
        seconds: 3600.0,
        ..LoadSpan::default()
    };
    law.replay(&mut state, &[discard, rest], &RANDOM);
    assert!(when(state) > 2.0 * before, "{} after {before}", when(state));
}

/// Every interval is in order and not negative, whatever is known, on every drive of the catalogue.
#[test]
fn intervals_are_in_order() {
    let mut said = 0;
    for name in catalogue::names().expect("readable").iter().step_by(4) {
        let model = model(name);
        for rate in [50_000_000, 3_000_000_000] {
            for used in [None, Some(0.9)] {
                let evidence = ForecastEvidence {
                    used,
                    ..evidence(seconds(5, rate))
                };
                let forecast = WatchForecast::new(Some(&model), &evidence);
                for outlook in [&forecast.cliff, &forecast.throttling, &forecast.life] {
                    let Some(event) = outlook.expected() else {
                        continue;
                    };
                    said += 1;
                    for interval in [event.seconds, event.bytes] {
                        let high = interval.high.unwrap_or(f64::INFINITY);
                        assert!(
                            0.0 <= interval.low
                                && interval.low <= interval.median
                                && interval.median <= high,
                            "{name}: {event:?}"
                        );
                    }
                    assert!(event.likelihood >= SAID_FROM, "{name}: {event:?}");
                }
            }
        }
    }
    assert!(said > 10, "{said}");
}

#[test]
fn without_a_model_it_says_which_fact_is_missing() {
    let forecast = WatchForecast::new(None, &evidence(seconds(5, 100_000_000)));
    for outlook in [&forecast.cliff, &forecast.throttling, &forecast.life] {
        let ForecastOutlook::Unknown { settled_by, .. } = outlook else {
            panic!("{outlook:?}");
        };
        assert!(settled_by.contains("--model"), "{settled_by}");
    }
    assert!((forecast.write_rate - 1e8).abs() < 1.0);
}

/// Bytes of the host until `is_past` says so, on a drive without time.
fn until(
    drive: &mut CountingDrive,
    mut next: impl FnMut() -> Command,
    is_past: impl Fn(&CountingDrive) -> bool,
) -> f64 {
    let mut bytes = 0;
    while !is_past(drive) {
        let command = next();
        bytes += u64::from(command.len);
        drive.apply(&command);
    }
    bytes as f64
}

/// The reduced model against the full one, in bytes: when the pSLC cache is full, and when reclaim
/// begins. The null, a fixed share of the capacity, would be off by factors between these drives.
#[test]
fn it_fills_as_the_full_model_does() {
    for (name, random) in [
        ("samsung-980-1tb", false),
        ("wd-blue-sn550-1tb", true),
        ("tlc-client-nvme-1tb", false),
        ("tlc-enterprise-nvme-1920gb", true),
    ] {
        let listed = catalogue::drive(name).expect("in the catalogue");
        let config = scaled(&listed.config, 4 << 30).expect("scaled").config;
        let law = FillLaw::new(&config);
        let size = if random { 4096 } else { 131_072 };
        let places = config.user_bytes / size;
        let (mut rng, mut place) = (Rng::named(1, "fill"), 0);
        let mut drive = CountingDrive::new(config).expect("a drive");
        let next = || {
            place = if random {
                rng.below(places)
            } else {
                (place + 1) % places
            };
            Command::write(place * size, size as u32)
        };
        let is_past = |drive: &CountingDrive| {
            let counters = drive.counters();
            let native = counters.slots_host + counters.slots_map > counters.slots_slc_mode;
            if law.has_cache() {
                native
            } else {
                counters.slots_relocated > 0
            }
        };
        let full = until(&mut drive, next, is_past);
        // Faster than any of them takes without its cache, or with reclaim.
        let load = span(4e9, random);
        let outcome = law
            .foretell(empty(&law), &[load], &RANDOM)
            .expect("a cliff");
        let ratio = outcome.bytes / full;
        assert!((0.94..1.06).contains(&ratio), "{name}: {ratio} of {full}");
        let cause = if law.has_cache() {
            FillEvent::CacheFull
        } else {
            FillEvent::SpareExhausted
        };
        assert_eq!(outcome.event, cause, "{name}");
    }
}

/// Readings of a body that warms up by the law, in whole degrees: when it throttles is foretold,
/// and a drive that settles below is not said to.
#[test]
fn warming_is_foretold_from_readings() {
    let model = model("tlc-client-nvme-1tb-no-fan");
    let limit = f64::from(model.config.heat.as_ref().expect("heat").light.at_c);
    for (end, tau) in [(110.0, 90.0), (95.0, 150.0), (60.0, 110.0)] {
        let celsius = |at_s: f64| end - (end - 40.0) * (-at_s / tau).exp();
        let readings = (0..=40).map(|at| TemperatureReading {
            at_s: f64::from(at),
            celsius: celsius(f64::from(at)).round(),
        });
        let evidence = ForecastEvidence {
            temperatures: readings.collect(),
            ..evidence(seconds(40, 2_000_000_000))
        };
        let outlook = WatchForecast::new(Some(&model), &evidence).throttling;
        let truth = tau * ((end - 40.0) / (end - limit)).ln() - 40.0;
        match outlook.expected() {
            Some(event) => {
                assert_eq!(event.cause, ForecastCause::Throttling);
                assert!(
                    event.seconds.covers(truth),
                    "{truth} in {:?}",
                    event.seconds
                );
            }
            None => assert!(end < limit, "{outlook:?} though it comes in {truth} s"),
        }
    }
}
