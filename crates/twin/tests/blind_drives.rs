//! Are the values of a fingerprint those of the drive? Drives drawn from seeds, hidden behind the
//! block interface; the whole form is `examples/blind`.

#[path = "../examples/blind/drives.rs"]
mod drives;
#[path = "../examples/blind/look.rs"]
mod look;

use look::{is_right, look, truth};

#[test]
fn what_is_stated_of_a_hidden_drive_is_true_and_enough_is_stated() {
    // A dynamic cache; a cached map; shared frontiers twice.
    let seeds = [1, 7, 14, 16];
    let all = ssdlab_base::parallel::all(&seeds, 2, |seed| look(*seed)).expect("probed");
    for found in &all {
        for value in &found.values {
            let (Some(known), Some(true_value)) = (value.value, truth(&found.truth, value.key))
            else {
                continue;
            };
            let seed = found.truth.seed;
            let right = is_right(value, known, true_value, &found.truth);
            assert!(
                right,
                "{seed}: {} {known} for {true_value}: {}",
                value.key, value.why
            );
        }
        assert!(found.cost < 4.0 && found.seconds > 60.0, "{}", found.cost);
    }
    // It is no use to be right because nothing is ever said.
    let states = |key: &str| {
        let with = all.iter().filter(|found| {
            let of = found.values.iter().find(|value| value.key == key);
            of.is_some_and(|value| value.value.is_some())
        });
        with.count()
    };
    for (key, least) in [
        ("buffer.protected", 4),
        ("host.latency", 3),
        ("buffer.size", 2),
        ("spare", 2),
        ("superblock", 2),
        ("ftl.shared_frontier", 2),
        ("pSLC", 1),
    ] {
        assert!(states(key) >= least, "{key}: {}", states(key));
    }
}
