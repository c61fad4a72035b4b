//! Seeded series with known answers: how far off is the cliff, and how often is one seen where
//! there is no cliff? The rates in the module's text are these, printed by
//! `cargo test -p ssdlab-lab analysis::change -- --nocapture`.

use super::*;
use ssdlab_ssd::rng::Rng;

/// Kinds of noise, each with a robust standard deviation of about 1.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Normal,
    /// Student's t with 2 degrees of freedom: infinite variance.
    HeavyTails,
    /// First-order autoregression with this coefficient.
    Autocorrelated(f64),
    /// Most seconds quiet, one in ten stalls down to a fraction.
    Stalls,
}

const NOISES: [Noise; 5] = [
    Noise::Normal,
    Noise::HeavyTails,
    Noise::Autocorrelated(0.7),
    Noise::Autocorrelated(0.9),
    Noise::Stalls,
];

fn uniform(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(rng)).cos()
}

fn noise_of(kind: Noise, n: usize, rng: &mut Rng) -> Vec<f64> {
    let mut state = normal(rng);
    (0..n)
        .map(|_| match kind {
            Noise::Normal => normal(rng),
            Noise::HeavyTails => normal(rng) / (-(1.0 - uniform(rng)).ln()).sqrt().max(1e-3),
            Noise::Autocorrelated(phi) => {
                state = phi * state + (1.0 - phi * phi).sqrt() * normal(rng);
                state
            }
            Noise::Stalls if rng.percent(10) => -5.0 * uniform(rng),
            Noise::Stalls => normal(rng),
        })
        .collect()
}

/// `shape` in IOPS with noise of `sigma` relative to the shape.
fn series(shape: impl Fn(usize) -> f64, n: usize, kind: Noise, sigma: f64, seed: u64) -> Vec<f64> {
    let noise = noise_of(kind, n, &mut Rng::named(seed, "noise"));
    (0..n)
        .map(|i| (shape(i) * (1.0 + sigma * noise[i])).max(0.0))
        .collect()
}

fn step(at: usize, before: f64, after: f64) -> impl Fn(usize) -> f64 {
    move |i| if i < at { before } else { after }
}

fn draw(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * uniform(rng)
}

#[test]
fn stationary_noise_has_no_cliff() {
    let trials = 1000;
    for kind in NOISES {
        let mut wrong = 0;
        for seed in 0..trials {
            let mut rng = Rng::named(seed, "stationary");
            let n = 20 + rng.below(1000) as usize;
            let sigma = draw(&mut rng, 0.005, 0.3);
            let y = series(|_| 50_000.0, n, kind, sigma, seed);
            wrong += usize::from(drop_for_good(&y).is_some());
        }
        println!("false positives, {kind:?}: {wrong} of {trials}");
        assert!(wrong <= 5, "{kind:?}: {wrong}");
    }
}

#[test]
fn cliffs_are_found_where_they_are() {
    let trials = 1000;
    for kind in NOISES {
        let (mut missed, mut errors) = (0, Vec::new());
        for seed in 0..trials {
            let mut rng = Rng::named(seed, "cliff");
            let n = 60 + rng.below(1000) as usize;
            let at = (n as f64 * draw(&mut rng, 0.1, 0.9)) as usize;
            let at = at.clamp(12, n - 12);
            // Levels at least four robust standard deviations apart.
            let after = draw(&mut rng, 0.1, 0.85);
            let sigma = draw(&mut rng, 0.002, (1.0 - after) / 4.0);
            let y = series(step(at, 80_000.0, 80_000.0 * after), n, kind, sigma, seed);
            match drop_for_good(&y) {
                None => missed += 1,
                Some(found) => errors.push((found.at as f64 - at as f64).abs()),
            }
        }
        let far = errors.iter().filter(|e| **e > 5.0).count();
        let at = |share| stats::quantile(&errors, share);
        println!(
            "{kind:?}: missed {missed}, over 5 s off {far} of {trials}; error p50 {} p95 {} p99 {}",
            at(0.5),
            at(0.95),
            at(0.99),
        );
        assert!(missed <= 30 && far <= 5, "{kind:?}: {missed} {far}");
    }
}

#[test]
fn what_is_not_a_cliff() {
    let trials = 100;
    type Shape = fn(f64) -> f64;
    let shapes: [(&str, Shape); 8] = [
        ("slow decline", |x| 1.0 - 0.6 * x),
        ("slow rise", |x| 0.4 + 0.6 * x),
        ("dip", |x| if (0.4..0.5).contains(&x) { 0.2 } else { 1.0 }),
        ("late dip", |x| {
            if (0.75..0.87).contains(&x) { 0.2 } else { 1.0 }
        }),
        ("sawtooth", |x| 1.0 - 0.6 * (x * 7.3).fract()),
        ("fast sawtooth", |x| 1.0 - 0.6 * (x * 60.0).fract()),
        ("square wave", |x| {
            if (x * 5.0).fract() < 0.5 { 1.0 } else { 0.5 }
        }),
        ("step up", |x| if x < 0.5 { 0.3 } else { 1.0 }),
    ];
    for (name, shape) in shapes {
        let mut wrong = 0;
        for seed in 0..trials {
            let kind = NOISES[seed as usize % NOISES.len()];
            let mut rng = Rng::named(seed, "no cliff");
            let n = 60 + rng.below(1500) as usize;
            let sigma = draw(&mut rng, 0.002, 0.1);
            let y = series(|i| 5e4 * shape(i as f64 / n as f64), n, kind, sigma, seed);
            wrong += usize::from(drop_for_good(&y).is_some());
        }
        println!("{name}: {wrong} of {trials}");
        assert!(wrong <= 2, "{name}: {wrong}");
    }
}

type Shape = fn(f64) -> f64;

/// A fall beside something else: the shape as a function of the second, where
/// the cliff is, and by how much the result may be off.
const FALLS_IN_COMPANY: [(&str, Shape, f64, f64); 5] = [
    (
        "start-up ramp",
        |t| if t < 250.0 { (t / 20.0).min(1.0) } else { 0.3 },
        250.0,
        1.0,
    ),
    (
        "dip before",
        |t| {
            if (50.0..65.0).contains(&t) || t >= 400.0 {
                0.2
            } else {
                1.0
            }
        },
        400.0,
        1.0,
    ),
    (
        "gradual over 40 s",
        |t| 1.0 - 0.7 * ((t - 280.0) / 40.0).clamp(0.0, 1.0),
        300.0,
        4.0,
    ),
    (
        "sawtooth after",
        |t| {
            if t < 200.0 {
                1.0
            } else {
                0.3 - 0.2 * (t / 37.0).fract()
            }
        },
        200.0,
        3.0,
    ),
    (
        "sawtooth before",
        |t| {
            if t < 300.0 {
                1.0 - 0.2 * (t / 37.0).fract()
            } else {
                0.3
            }
        },
        300.0,
        3.0,
    ),
];

/// Seconds from which a level holds, and the level.
type Levels = [(f64, f64); 3];

/// Levels, and the second at which the larger fall begins.
const STAIRS: [(&str, Levels, f64); 3] = [
    ("staircase", [(0.0, 1.0), (150.0, 0.9), (350.0, 0.3)], 350.0),
    (
        "staircase, big first",
        [(0.0, 1.0), (150.0, 0.4), (350.0, 0.3)],
        150.0,
    ),
    (
        "recovers in part",
        [(0.0, 1.0), (200.0, 0.1), (300.0, 0.4)],
        200.0,
    ),
];

/// Finds the fall of `shape` at second `at`, under every kind of noise.
fn finds_fall(name: &str, shape: impl Fn(f64) -> f64, at: f64, tolerance: f64) {
    for seed in 0..50 {
        let kind = NOISES[seed as usize % NOISES.len()];
        let y = series(|i| 5e4 * shape(i as f64), 600, kind, 0.03, seed);
        let found = drop_for_good(&y);
        let error = found.map(|f| (f.at as f64 - at).abs());
        assert!(
            error.is_some_and(|e| e <= tolerance),
            "{name} {kind:?}: {found:?}"
        );
    }
}

#[test]
fn cliffs_in_company() {
    for (name, shape, at, tolerance) in FALLS_IN_COMPANY {
        finds_fall(name, shape, at, tolerance);
    }
    for (name, stairs, at) in STAIRS {
        let level = |t: f64| stairs.iter().rfind(|(from, _)| t >= *from).unwrap().1;
        finds_fall(name, level, at, 1.0);
    }
}

#[test]
fn levels_are_medians_and_noiseless_is_finite() {
    let y: Vec<f64> = (0..100).map(step(40, 1000.0, 250.0)).collect();
    let found = drop_for_good(&y).unwrap();
    assert_eq!((found.at, found.before, found.after), (40, 1000.0, 250.0));
    assert_eq!(found.signal_to_noise, 750.0);
    let to_zero: Vec<f64> = (0..100).map(step(40, 1000.0, 0.0)).collect();
    assert_eq!(drop_for_good(&to_zero).unwrap().after, 0.0);
}

#[test]
fn five_per_cent_is_the_least_drop() {
    let at = |after: f64| drop_for_good(&(0..100).map(step(50, 1e5, after)).collect::<Vec<_>>());
    assert!(at(95_000.0).is_some());
    assert!(at(95_001.0).is_none());
}

#[test]
fn too_short_or_no_rates() {
    assert_eq!(drop_for_good(&[]), None);
    assert_eq!(drop_for_good(&[1.0; 19]), None);
    assert_eq!(drop_for_good(&[0.0; 500]), None);
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        let mut y: Vec<f64> = (0..100).map(step(40, 1000.0, 250.0)).collect();
        y[7] = bad;
        assert_eq!(drop_for_good(&y), None);
    }
}

#[test]
fn a_day_of_seconds() {
    let n = 100_000;
    let y = series(step(61_234, 9e4, 2e4), n, Noise::Normal, 0.1, 1);
    let found = drop_for_good(&y).unwrap();
    assert!(found.at.abs_diff(61_234) <= 2, "{found:?}");
}

#[test]
fn cut_off_seconds_do_not_count() {
    let second = |t_s: i64, count: u64, length_s: f64| {
        let mut ops = [crate::record::OpSecond::default(); Op::COUNT];
        ops[Op::Write as usize].count = count;
        ops[Op::Write as usize].bytes = count * 4096;
        Second {
            phase: 0,
            t_s,
            length_s,
            ops,
            nand_bytes_written: None,
            device_flushes: None,
        }
    };
    let mut seconds: Vec<Second> = (-5..100)
        .map(|t| second(t, if t < 30 { 1000 } else { 100 }, 1.0))
        .collect();
    seconds.push(second(100, 3, 0.01));
    seconds.push(Second {
        phase: 1,
        ..second(0, 5, 1.0)
    });
    let cliff = write_cliff(&seconds, 0).unwrap();
    assert_eq!(
        (cliff.at_s, cliff.before, cliff.after),
        (30.0, 1000.0, 100.0)
    );
    assert_eq!(cliff.after_bytes, 35 * 1000 * 4096);
    assert_eq!(write_cliff(&seconds, 1), None);
    assert_eq!(write_cliff(&seconds, 2), None);
}
