//! The experiments of articles `spare` and `myth`, on modelled drives.
//!
//! Each experiment is a function of its settings: it makes drives from the catalogue, lives the
//! article's protocol on them in virtual time, lets every drive check itself, and returns every
//! number and curve that `ssdlab reproduce` puts beside what was published. What each run assumes
//! is in `docs/experiments.md`. Ids are those of the list of published figures.

mod host;
pub mod mirror;
pub mod myth;
mod scale;
pub mod spare;
pub mod worn;

pub use host::{Health, Span};
pub use scale::Scale;

/// A curve of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows, for the legend.
    pub name: String,
    /// (x, y), in the units that the field holding the curve names.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// An empty curve.
    pub(super) fn new(name: impl Into<String>) -> Curve {
        Curve {
            name: name.into(),
            points: Vec::new(),
        }
    }

    /// Mean of the y of its last `count` points; `None` of an empty curve.
    pub fn level(&self, count: usize) -> Option<f64> {
        let last = &self.points[self.points.len().saturating_sub(count)..];
        let sum: f64 = last.iter().map(|(_, y)| y).sum();
        (!last.is_empty()).then(|| sum / last.len() as f64)
    }
}
