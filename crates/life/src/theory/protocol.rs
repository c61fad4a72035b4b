//! The protocol of a measurement: fill at random, warm up, then batches with their spread.

use super::load::{PagePattern, PageStream};
use super::reference::ReferenceDrive;

/// What can be measured: the reference, or a drive.
pub trait TheorySubject {
    /// The host writes a page.
    fn write(&mut self, lpn: usize);
    /// The host forgets a page.
    fn trim(&mut self, lpn: usize);
    /// Pages written by the host so far.
    fn host(&self) -> u64;
    /// Pages programmed so far, whatever for.
    fn programmed(&self) -> u64;
    /// Logical pages that hold data.
    fn in_use(&self) -> u64;
}

impl TheorySubject for ReferenceDrive {
    fn write(&mut self, lpn: usize) {
        ReferenceDrive::write(self, lpn);
    }
    fn trim(&mut self, lpn: usize) {
        ReferenceDrive::trim(self, lpn);
    }
    fn host(&self) -> u64 {
        self.host
    }
    fn programmed(&self) -> u64 {
        self.programmed
    }
    fn in_use(&self) -> u64 {
        self.in_use
    }
}

/// How long to measure. Lengths in requests per logical page.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Length of the warm-up.
    pub warm_up: f64,
    /// Batches at least, two or more.
    pub batches: usize,
    /// Batches at most: more are added while [`CI_MAX`] is not reached.
    pub batches_max: usize,
    /// Length of each batch.
    pub batch: f64,
    /// Percentage of requests that are trims.
    pub trims: u32,
    /// Seed of the load.
    pub seed: u64,
}

/// Uniform load.
pub const UNIFORM: Protocol = Protocol {
    warm_up: 6.0,
    batches: 10,
    batches_max: 200,
    batch: 0.5,
    trims: 0,
    seed: 1,
};

/// Load with hot and cold pages: the coldest must have been moved into place.
pub const SKEWED: Protocol = Protocol {
    warm_up: 30.0,
    ..UNIFORM
};

/// Result of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredWa {
    /// Pages programmed per page written by the host.
    pub wa: f64,
    /// Half the width of the 95 % confidence interval of `wa`, relative to it.
    pub ci: f64,
    /// Mean share of the logical pages in use.
    pub in_use: f64,
}

/// Confidence interval to reach, relative half width.
pub const CI_MAX: f64 = 0.0015;

/// Runs `load` over `pages` logical pages on an empty `subject`.
pub fn measure(
    subject: &mut impl TheorySubject,
    kind: PagePattern,
    pages: usize,
    how: Protocol,
) -> MeasuredWa {
    let mut load = PageStream::new(kind, pages, how.seed);
    if kind == PagePattern::Sequential {
        (0..pages).for_each(|lpn| subject.write(lpn));
    } else {
        load.shuffled()
            .into_iter()
            .for_each(|lpn| subject.write(lpn));
    }
    let mut in_use = 0_u64;
    let mut requests = |subject: &mut dyn TheorySubject, per_page: f64| {
        for _ in 0..(per_page * pages as f64) as u64 {
            let page = load.draw();
            if load.percent(how.trims) {
                subject.trim(page);
            } else {
                subject.write(page);
            }
            in_use += subject.in_use();
        }
        std::mem::take(&mut in_use)
    };
    requests(subject, how.warm_up);
    let (mut was, mut used) = (Vec::new(), 0);
    let (mut wa, mut ci) = (0.0, f64::INFINITY);
    while was.len() < how.batches || (ci > CI_MAX && was.len() < how.batches_max) {
        let (host, programmed) = (subject.host(), subject.programmed());
        used += requests(subject, how.batch);
        let programmed = subject.programmed() - programmed;
        was.push(programmed as f64 / (subject.host() - host) as f64);
        if was.len() >= how.batches {
            (wa, ci) = mean_and_ci(&was);
        }
    }
    let count = (was.len() as f64) * ((how.batch * pages as f64) as u64 * pages as u64) as f64;
    MeasuredWa {
        wa,
        ci,
        in_use: used as f64 / count,
    }
}

/// Student's t, 97.5 %, by degrees of freedom from 1.
const T_95: [f64; 19] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
];

/// The mean, and half its 95 % confidence interval relative to it.
fn mean_and_ci(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let t = T_95[(values.len() - 2).min(T_95.len() - 1)];
    (mean, t * (squares / (n - 1.0) / n).sqrt() / mean)
}
