//! Is a spare area that a fit states the drive's own? Drives drawn from seeds, so that it is known;
//! the whole form is `examples/self_test.rs`.

mod drawn;

use drawn::{Drawn, fitted};

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
