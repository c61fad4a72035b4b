//! Does the reference amplify as the closed forms say, at the alpha of a finite drive?
//!
//! `SSDLAB_THEORY=full` adds the whole grid of the suite.

use ssdlab_life::theory::closed_form;
use ssdlab_life::theory::closed_form::{FiniteDrive, PageClass, WaPrediction};
use ssdlab_life::theory::load::{PagePattern, PageStream};
use ssdlab_life::theory::protocol::{MeasuredWa, Protocol, SKEWED, UNIFORM, measure};
use ssdlab_life::theory::reference::{ReferenceDrive, ReferencePolicy, ReferenceSetup};

/// Relative distance from a closed form that is allowed.
const TOLERANCE: f64 = 0.005;
/// The same for random victims, whose counts spread most.
const TOLERANCE_RANDOM: f64 = 0.015;

/// A drive of `blocks` with over-provisioning OP = (raw - user) / user.
fn setup(
    policy: ReferencePolicy,
    blocks: usize,
    np: usize,
    op_percent: usize,
    separate: bool,
) -> ReferenceSetup {
    ReferenceSetup {
        blocks,
        np,
        logical_pages: blocks * np * 100 / (100 + op_percent),
        reserve: 2,
        open: 1,
        streams: 1,
        separate,
        policy,
        seed: 1,
    }
}

/// The drive as the closed forms see it, with a share `in_use` of it.
fn finite(setup: &ReferenceSetup, in_use: f64) -> FiniteDrive {
    FiniteDrive {
        blocks: setup.blocks as u32,
        np: setup.np as u32,
        logical_pages: (setup.logical_pages as f64 * in_use) as u64,
        reserve: setup.reserve as u32,
        open: setup.open as u32,
        separate: setup.separate,
    }
}

fn uniform_law(setup: &ReferenceSetup, in_use: f64) -> WaPrediction {
    let np = setup.np as u32;
    finite(setup, in_use).predict(|alpha| match setup.policy {
        ReferencePolicy::Greedy => closed_form::greedy(alpha, np),
        ReferencePolicy::Fifo => closed_form::fifo(alpha),
        ReferencePolicy::Random => closed_form::random(alpha),
        ReferencePolicy::DChoices(d) => closed_form::d_choices(alpha, np, d),
        policy => panic!("no closed form of {policy:?}"),
    })
}

fn run(setup: &ReferenceSetup, kind: PagePattern, how: Protocol) -> MeasuredWa {
    let how = Protocol {
        batches_max: if full() { 200 } else { 40 },
        ..how
    };
    let load = PageStream::new(kind, setup.logical_pages, 1);
    let stream = |lpn| {
        if setup.streams > 1 {
            load.is_cold(lpn)
        } else {
            0
        }
    };
    let mut drive = ReferenceDrive::new(setup.clone(), stream);
    measure(&mut drive, kind, setup.logical_pages, how)
}

fn compare(
    setup: &ReferenceSetup,
    kind: PagePattern,
    measured: MeasuredWa,
    expected: WaPrediction,
) {
    let error = measured.wa / expected.wa - 1.0;
    println!(
        "{:?} {kind:?} N {} Np {} U {} R {} K {} separate {}: alpha_eff {:.5} expected {:.4} \
         measured {:.4} {:+.3} % (ci {:.3} %, in use {:.4})",
        setup.policy,
        setup.blocks,
        setup.np,
        setup.logical_pages,
        setup.reserve,
        setup.open,
        setup.separate,
        expected.alpha_eff,
        expected.wa,
        measured.wa,
        100.0 * error,
        100.0 * measured.ci,
        measured.in_use
    );
    let tolerance = if setup.policy == ReferencePolicy::Random {
        TOLERANCE_RANDOM
    } else {
        TOLERANCE
    };
    assert!(error.abs() <= tolerance, "{setup:?} {kind:?}: {error}");
}

fn full() -> bool {
    std::env::var("SSDLAB_THEORY").is_ok_and(|value| value == "full")
}

const WITH_CLOSED_FORM: [ReferencePolicy; 4] = [
    ReferencePolicy::Greedy,
    ReferencePolicy::Fifo,
    ReferencePolicy::Random,
    ReferencePolicy::DChoices(4),
];

/// A grid: every policy that has a closed form under uniform load.
fn uniform(blocks: usize, nps: &[usize], ops: &[usize]) {
    for policy in WITH_CLOSED_FORM {
        for &np in nps {
            for &op in ops {
                for separate in [false, true] {
                    let setup = setup(policy, blocks, np, op, separate);
                    let measured = run(&setup, PagePattern::Uniform, UNIFORM);
                    compare(
                        &setup,
                        PagePattern::Uniform,
                        measured,
                        uniform_law(&setup, 1.0),
                    );
                }
            }
        }
    }
}

#[test]
fn uniform_overwrites_amplify_as_the_closed_forms_say() {
    uniform(1000, &[32], &[7, 28]);
}

#[test]
fn the_whole_grid_amplifies_as_the_closed_forms_say() {
    if full() {
        uniform(1000, &[32, 64, 128, 256, 512], &[7, 12, 20, 28, 50]);
    }
}

/// N_eff: what is kept free and what is open are lost to the laws, both ways of opening.
#[test]
fn reserve_and_open_blocks_are_lost_as_the_formula_says() {
    for (reserve, open) in [(10, 1), (40, 1), (10, 10), (20, 20)] {
        for separate in [false, true] {
            let setup = ReferenceSetup {
                reserve,
                open,
                ..setup(ReferencePolicy::Fifo, 1000, 32, 12, separate)
            };
            let measured = run(&setup, PagePattern::Uniform, UNIFORM);
            compare(
                &setup,
                PagePattern::Uniform,
                measured,
                uniform_law(&setup, 1.0),
            );
        }
    }
}

#[test]
fn sequential_overwrites_amplify_not_at_all() {
    for policy in [
        ReferencePolicy::Greedy,
        ReferencePolicy::Fifo,
        ReferencePolicy::CostBenefit,
        ReferencePolicy::Windowed(8),
    ] {
        for separate in [false, true] {
            let setup = setup(policy, 1000, 32, 7, separate);
            let measured = run(&setup, PagePattern::Sequential, UNIFORM);
            assert_eq!((measured.wa, measured.ci), (1.0, 0.0), "{setup:?}");
        }
    }
}

/// Greedy's victims hold one of two successive counts, in the shares of the mean field.
#[test]
fn greedys_victims_hold_one_of_two_counts() {
    let setup = setup(ReferencePolicy::Greedy, 4000, 32, 12, false);
    let (mut drive, mut load) = filled(&setup, PagePattern::Uniform);
    for _ in 0..6 * setup.logical_pages {
        drive.write(load.draw());
    }
    let before = drive.victims.clone();
    for _ in 0..5 * setup.logical_pages {
        drive.write(load.draw());
    }
    let (count, share) = closed_form::greedy_victims(uniform_law(&setup, 1.0).alpha_eff, 32);
    let victims = |v: usize| (drive.victims[v] - before[v]) as f64;
    let all: f64 = (0..=32).map(victims).sum();
    let two = victims(count as usize) + victims(count as usize + 1);
    assert!(two / all > 0.97, "{}", two / all);
    let measured = victims(count as usize + 1) / two;
    assert!((measured - share).abs() < 0.02, "{measured}, not {share}");
}

fn filled(setup: &ReferenceSetup, kind: PagePattern) -> (ReferenceDrive, PageStream) {
    let mut load = PageStream::new(kind, setup.logical_pages, 1);
    let mut drive = ReferenceDrive::new(setup.clone(), |_| 0);
    load.shuffled().into_iter().for_each(|lpn| drive.write(lpn));
    (drive, load)
}

/// (Load, its classes) of the skewed part.
fn skews(pages: usize) -> Vec<(PagePattern, Vec<PageClass>)> {
    let hot_cold = |w: u32, p: u32| {
        let classes = closed_form::hot_cold(f64::from(w) / 100.0, f64::from(p) / 100.0);
        (PagePattern::HotCold(w, p), classes.to_vec())
    };
    let zipf = |theta| {
        (
            PagePattern::Zipf(theta),
            closed_form::zipf(pages as u64, theta),
        )
    };
    let mut all = vec![hot_cold(80, 20), hot_cold(90, 10), hot_cold(95, 5)];
    all.extend([0.8, 0.99, 1.2].map(zipf));
    all
}

fn skewed_fifo(np: usize, op: usize, cases: impl IntoIterator<Item = usize>) {
    let setup = setup(ReferencePolicy::Fifo, 1000, np, op, false);
    let skews = skews(setup.logical_pages);
    for case in cases {
        let (kind, classes) = &skews[case];
        let expected =
            finite(&setup, 1.0).predict(|alpha| closed_form::fifo_skewed(alpha, classes));
        compare(&setup, *kind, run(&setup, *kind, SKEWED), expected);
    }
}

#[test]
fn skewed_overwrites_amplify_fifo_as_the_closed_form_says() {
    skewed_fifo(32, 12, [0, 2, 4]);
}

#[test]
fn the_whole_skewed_grid_amplifies_fifo_as_the_closed_form_says() {
    if full() {
        for np in [32, 128, 512] {
            for op in [7, 12, 28, 50] {
                skewed_fifo(np, op, 0..6);
            }
        }
    }
}

fn trimmed(policies: &[ReferencePolicy], np: usize, ops: &[usize], shares: &[u32]) {
    for &policy in policies {
        for &op in ops {
            for &trims in shares {
                let setup = setup(policy, 1000, np, op, true);
                let how = Protocol { trims, ..UNIFORM };
                let measured = run(&setup, PagePattern::Uniform, how);
                // In the steady state a share 1 - q is in use; the law takes what was measured.
                assert!((measured.in_use + f64::from(trims) / 100.0 - 1.0).abs() < 0.005);
                let expected = uniform_law(&setup, measured.in_use);
                compare(&setup, PagePattern::Uniform, measured, expected);
            }
        }
    }
}

#[test]
fn trimmed_pages_are_spare_pages() {
    trimmed(
        &[ReferencePolicy::Greedy, ReferencePolicy::Fifo],
        32,
        &[7],
        &[10, 30],
    );
}

#[test]
fn the_whole_trim_grid_shows_that_trimmed_pages_are_spare() {
    if full() {
        trimmed(&WITH_CLOSED_FORM, 128, &[7, 28], &[5, 10, 20, 30]);
    }
}

/// What the issue says of cost-benefit, and what must hold between policies.
#[test]
fn cost_benefit_pays_only_where_hot_and_cold_are_apart() {
    let wa = |policy, kind, how, streams| {
        let setup = ReferenceSetup {
            streams,
            ..setup(policy, 1000, 32, 12, true)
        };
        run(&setup, kind, how).wa
    };
    let greedy = wa(ReferencePolicy::Greedy, PagePattern::Uniform, UNIFORM, 1);
    let benefit = wa(
        ReferencePolicy::CostBenefit,
        PagePattern::Uniform,
        UNIFORM,
        1,
    );
    println!("uniform: greedy {greedy:.3}, cost-benefit {benefit:.3}");
    assert!(benefit > greedy);
    let skew = PagePattern::HotCold(90, 10);
    let mixed = wa(ReferencePolicy::Greedy, skew, SKEWED, 1);
    let apart = wa(ReferencePolicy::CostBenefit, skew, SKEWED, 2);
    let greedy_apart = wa(ReferencePolicy::Greedy, skew, SKEWED, 2);
    let benefit_mixed = wa(ReferencePolicy::CostBenefit, skew, SKEWED, 1);
    println!(
        "90/10: greedy mixed {mixed:.3}, apart {greedy_apart:.3}; cost-benefit mixed \
         {benefit_mixed:.3}, apart {apart:.3}"
    );
    assert!(apart < 0.8 * mixed && apart < greedy_apart && benefit_mixed < mixed);
}

/// The ends of the windowed policy, page for page.
#[test]
fn a_window_of_one_is_fifo_and_of_all_is_greedy() {
    for (window, policy) in [(1, ReferencePolicy::Fifo), (1000, ReferencePolicy::Greedy)] {
        let victims = |policy| {
            let (mut drive, mut load) = filled(
                &setup(policy, 200, 32, 12, true),
                PagePattern::HotCold(80, 20),
            );
            (0..50_000).for_each(|_| drive.write(load.draw()));
            drive.victims
        };
        assert_eq!(victims(ReferencePolicy::Windowed(window)), victims(policy));
    }
}

/// Canary: one block more or less, or the other law, would fail.
#[test]
fn the_tolerance_tells_one_block_and_one_law() {
    let setup = setup(ReferencePolicy::Greedy, 1000, 32, 7, false);
    let expected = uniform_law(&setup, 1.0);
    for reserve in [1, 3] {
        let other = uniform_law(
            &ReferenceSetup {
                reserve,
                ..setup.clone()
            },
            1.0,
        );
        assert!((other.wa / expected.wa - 1.0).abs() > 2.0 * TOLERANCE);
    }
    let fifo = closed_form::fifo(expected.alpha_eff);
    assert!((fifo / expected.wa - 1.0).abs() > 2.0 * TOLERANCE);
}
