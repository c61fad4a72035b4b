//! The closed forms against values known without them, their limits, and one another.

use super::closed_form::*;

fn close(a: f64, b: f64, relative: f64) {
    assert!((a / b - 1.0).abs() <= relative, "{a} is not {b}");
}

const ALPHAS: [f64; 6] = [1.02, 1.07, 1.12, 1.28, 1.5, 3.0];

#[test]
fn lambert_w_is_the_inverse_of_w_e_w() {
    for w in [
        -0.999, -0.9, -0.5, -0.1, -1e-6, 1e-6, 0.3, 1.0, 2.0, 10.0, 300.0,
    ] {
        close(lambert_w0(w * f64::exp(w)), w, 1e-9);
    }
    // The omega constant, W(1); and W(e) = 1.
    close(lambert_w0(1.0), 0.567_143_290_409_783_8, 1e-15);
    close(lambert_w0(std::f64::consts::E), 1.0, 1e-15);
    assert_eq!(lambert_w0(0.0), 0.0);
    close(lambert_w0(-(-1.0_f64).exp()), -1.0, 1e-7);
    assert!(lambert_w0(-0.4).is_nan() && lambert_w0(f64::NAN).is_nan());
}

/// A share x left valid in victims belongs to rho = (x - 1) / ln x and WA = 1 / (1 - x).
#[test]
fn fifo_is_what_its_victims_say() {
    for x in [1e-6, 0.1, 0.5, 0.8, 0.95, 0.99_f64] {
        close(fifo(x.ln() / (x - 1.0)), 1.0 / (1.0 - x), 1e-9);
    }
    // alpha = 2 ln 2 leaves half of a victim valid.
    close(fifo(2.0 * 2.0_f64.ln()), 2.0, 1e-12);
}

#[test]
fn nothing_amplifies_with_boundless_spare_and_everything_without() {
    let laws: [fn(f64) -> f64; 4] = [fifo, random, |a| greedy(a, 64), |a| d_choices(a, 64, 3)];
    for law in laws {
        close(law(1e4), 1.0, 2e-4);
        for alpha in [1.0, 0.5] {
            assert_eq!(law(alpha), f64::INFINITY);
        }
        let falls = ALPHAS.windows(2).all(|pair| law(pair[0]) > law(pair[1]));
        assert!(falls);
    }
    // Near alpha = 1: FIFO 1 / (2 (alpha - 1)), random 1 / (alpha - 1).
    close(fifo(1.0001) * 2.0 * 0.0001, 1.0, 1e-3);
}

#[test]
fn one_choice_is_random() {
    for alpha in ALPHAS {
        for np in [1, 2, 32, 256] {
            close(d_choices(alpha, np, 1), random(alpha), 1e-7);
        }
    }
}

/// Blocks of one page: a victim holds it if all of d do, WA = 1 / (1 - rho^d).
#[test]
fn d_choices_of_one_page_is_known_exactly() {
    for alpha in ALPHAS {
        for d in [1, 2, 5, 30] {
            let expected = 1.0 / (1.0 - f64::powi(1.0 / alpha, d as i32));
            close(d_choices(alpha, 1, d), expected, 1e-7);
        }
    }
}

#[test]
fn many_choices_are_greedy() {
    for alpha in ALPHAS {
        for np in [1, 2, 8, 64, 256] {
            close(d_choices(alpha, np, 1 << 24), greedy(alpha, np), 1e-5);
        }
        // Ten choices come close, and more are never worse.
        let by_d: Vec<f64> = [1, 2, 3, 5, 10, 100]
            .map(|d| d_choices(alpha, 64, d))
            .into();
        assert!(by_d.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(by_d[4] / greedy(alpha, 64) < 1.1, "{by_d:?}");
        assert!(by_d[5] >= greedy(alpha, 64) * (1.0 - 1e-9));
    }
}

/// Blocks of two pages: WA = 1 while rho < 2/3, then 2 (2 rho - 1) / rho.
#[test]
fn greedy_of_small_blocks_is_known_exactly() {
    for alpha in ALPHAS {
        close(greedy(alpha, 1), 1.0, 1e-9);
        let rho = 1.0 / alpha;
        let expected = if rho < 2.0 / 3.0 {
            1.0
        } else {
            2.0 * (2.0 * rho - 1.0) / rho
        };
        close(greedy(alpha, 2), expected, 1e-9);
    }
}

#[test]
fn greedy_of_large_blocks_is_fifo_from_below() {
    for alpha in [1.07, 1.28, 2.0] {
        let by_np: Vec<f64> = [16, 64, 256, 1024, 4096].map(|np| greedy(alpha, np)).into();
        assert!(by_np.windows(2).all(|pair| pair[0] < pair[1]));
        close(by_np[4], fifo(alpha), 3e-3);
        assert!(by_np[4] < fifo(alpha));
    }
}

#[test]
fn greedys_victims_balance_its_write_amplification() {
    for alpha in ALPHAS {
        for np in [2, 32, 100, 512] {
            let (count, share) = greedy_victims(alpha, np);
            assert!((0.0..=1.0).contains(&share), "{share}");
            let valid = (f64::from(count) + share) / f64::from(np);
            close(1.0 / (1.0 - valid), greedy(alpha, np), 1e-7);
        }
    }
}

#[test]
fn one_class_is_the_uniform_law() {
    let one = [PageClass {
        writes: 1.0,
        pages: 1.0,
    }];
    for alpha in ALPHAS {
        close(fifo_skewed(alpha, &one), fifo(alpha), 1e-9);
        close(fifo_skewed(alpha, &hot_cold(0.3, 0.3)), fifo(alpha), 1e-9);
        close(fifo_skewed(alpha, &zipf(10_000, 0.0)), fifo(alpha), 1e-9);
    }
}

/// Cold pages that are never written again are carried round for ever.
#[test]
fn pages_never_written_are_carried_round() {
    for alpha in ALPHAS {
        // A hot page among endless cold ones: WA -> 1 / (1 - cold / alpha).
        let classes = hot_cold(1.0, 0.001);
        close(
            fifo_skewed(alpha, &classes),
            1.0 / (1.0 - 0.999 / alpha),
            1e-6,
        );
    }
}

#[test]
fn skew_makes_fifo_worse_up_to_random() {
    for alpha in ALPHAS {
        let skews = [(0.2, 0.2), (0.8, 0.2), (0.9, 0.1), (0.95, 0.05)];
        let mut was: Vec<f64> = skews
            .map(|(w, p)| fifo_skewed(alpha, &hot_cold(w, p)))
            .into();
        was.push(random(alpha));
        assert!(was.windows(2).all(|pair| pair[0] < pair[1]), "{was:?}");
    }
}

/// Grouping against each page as a class of its own.
#[test]
fn zipf_in_groups_is_zipf_page_by_page() {
    for theta in [0.8, 0.99, 1.0, 1.2] {
        let pages = 60_000_u32;
        let weight = |i: u32| f64::from(i).powf(-theta);
        let total: f64 = (1..=pages).map(weight).sum();
        let class = |i| PageClass {
            writes: weight(i) / total,
            pages: 1.0 / f64::from(pages),
        };
        let all: Vec<PageClass> = (1..=pages).map(class).collect();
        let grouped = zipf(u64::from(pages), theta);
        assert!(grouped.len() < 7000);
        close(grouped.iter().map(|c| c.writes).sum(), 1.0, 1e-12);
        close(grouped.iter().map(|c| c.pages).sum(), 1.0, 1e-12);
        close(fifo_skewed(1.12, &grouped), fifo_skewed(1.12, &all), 1e-6);
    }
    // A drive of 300 GB is no more work.
    assert!(zipf(75_000_000, 0.99).len() < 20_000);
}

#[test]
fn a_finite_drive_meets_its_own_alpha() {
    let drive = FiniteDrive {
        blocks: 1000,
        np: 64,
        logical_pages: 57_142,
        reserve: 10,
        open: 4,
        separate: true,
    };
    let prediction = drive.predict(fifo);
    close(fifo(prediction.alpha_eff), prediction.wa, 1e-10);
    let blocks = 1000.0 - 10.0 - 2.0 - 2.0 / prediction.wa;
    close(prediction.alpha_eff, blocks * 64.0 / 57_142.0, 1e-10);
    let shared = FiniteDrive {
        separate: false,
        ..drive
    };
    assert!(shared.predict(fifo).wa < prediction.wa);
    let endless = FiniteDrive {
        blocks: 100_000_000,
        logical_pages: 5_000_000_000,
        ..drive
    };
    close(endless.predict(fifo).wa, fifo(1.28), 1e-5);
    let full = FiniteDrive {
        logical_pages: 64_000,
        ..drive
    };
    assert_eq!(full.predict(fifo).wa, f64::INFINITY);
}

/// Two decimals of FIFO's curve as it is quoted for drives of these alphas.
#[test]
fn fifo_has_the_quoted_values() {
    let quoted = [
        (1.07, 7.82),
        (1.145, 4.13),
        (1.20, 3.19),
        (1.28, 2.48),
        (1.50, 1.72),
        (2.0, 1.26),
    ];
    for (alpha, wa) in quoted {
        assert!(
            (fifo(alpha) - wa).abs() < 0.0051,
            "{alpha}: {}",
            fifo(alpha)
        );
    }
}

#[test]
fn pages_without_a_buffer_are_those_of_the_law_and_uniform_ones_lose_nothing_by_one() {
    for alpha in ALPHAS {
        for classes in [zipf(10_000, 1.1), hot_cold(0.9, 0.1).to_vec()] {
            let through = BufferedPages::new(&classes, 10_000, 0).fifo(alpha);
            close(through, fifo_skewed(alpha, &classes), 1e-9);
        }
        let uniform = hot_cold(0.5, 0.5);
        // A copy stays valid while its successor waits: a hundredth of the drive's pages wait.
        let buffered = BufferedPages::new(&uniform, 100_000, 100).fifo(alpha);
        close(buffered, fifo(alpha), 5e-3);
    }
}

/// The pages that reach the media, counted behind a buffer of the plainest kind.
#[test]
fn a_buffer_places_what_the_law_says() {
    use super::buffered::BufferedReference;
    use super::load::{PagePattern, PageStream};
    use super::protocol::TheorySubject;
    use super::reference::{ReferenceDrive, ReferencePolicy, ReferenceSetup};
    for (theta, slots) in [(0.8, 200), (1.1, 16), (1.1, 200), (1.3, 64)] {
        let pages = 20_000;
        let setup = ReferenceSetup {
            blocks: 500,
            np: 64,
            logical_pages: pages,
            reserve: 3,
            open: 1,
            streams: 1,
            separate: false,
            policy: ReferencePolicy::Fifo,
            seed: 1,
        };
        let drive = ReferenceDrive::new(setup, |_| 0);
        let mut buffered = BufferedReference::new(drive, vec![0; pages], slots);
        let mut load = PageStream::new(PagePattern::Zipf(theta), pages, 3);
        let requests = 400_000;
        for _ in 0..requests {
            buffered.write(load.draw());
        }
        let placed = buffered.host() as f64 / f64::from(requests);
        let law = BufferedPages::new(&zipf(pages as u64, theta), pages as u64, slots);
        close(placed, law.placed(), 5e-3);
    }
}
