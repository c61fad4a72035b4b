//! The histogram in which every run keeps its latencies.

use hdrhistogram::Histogram;

/// Latencies in ns, to two significant digits (1 %).
pub type Latencies = Histogram<u64>;

/// An empty histogram: 1 ns to 1 h.
pub fn latencies() -> Latencies {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 2).expect("constant bounds are valid")
}

/// Adds `from` to `to`.
pub fn merge_latencies(to: &mut Latencies, from: &Latencies) {
    to.add(from)
        .expect("every histogram of a run has the same bounds");
}
