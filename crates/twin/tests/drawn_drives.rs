//! Is a spare area that a fit states the drive's own? Drives drawn from seeds, so that it is known;
//! the whole form is `examples/self_test.rs`.

mod drawn;

use drawn::{DEAR, Drawn, dear_scatter, fitted};

#[test]
fn intervals_hold_the_truth_and_nothing_stated_is_wrong() {
    let seeds: Vec<u64> = (0..3).collect();
    let work = |seed: &u64| fitted(&Drawn::new(*seed), true);
    let all = ssdlab_base::parallel::all(&seeds, 2, work).expect("fitted");
    let inside = all.iter().filter(|found| found.is_inside()).count();
    assert!(inside >= 2, "{inside} of 3");
    let wrong = all.iter().filter(|f| f.value.is_some() && !f.is_right());
    assert_eq!(wrong.count(), 0);
    // It is no use to be right because nothing is ever said.
    let narrow = drawn::median_width(&all);
    assert!(narrow < 1.6, "{narrow}");
}

/// Without the rate before the cliff, moves are made dearer to explain the rate, and loads that
/// move less are predicted too fast.
#[test]
fn the_rate_before_the_cliff_says_what_scattered_writes_cost() {
    let both = ssdlab_base::parallel::all(&[false, true], 2, |&before| dear_scatter(before));
    let [(without, _), (with, [low, high])] = both.expect("fitted")[..] else {
        panic!("two fits");
    };
    assert!((with - 1.0).abs() < 0.05, "{with}");
    assert!((without - 1.0).abs() > 0.08, "{without}");
    let clean = 1.0 / (1.0 + DEAR);
    assert!(low <= clean && clean <= high, "{low} {high}");
    assert!(high / low < 1.1, "{low} {high}");
}
