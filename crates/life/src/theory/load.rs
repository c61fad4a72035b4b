//! The loads of the theory: independent draws of single pages.

use ssdlab_ssd::rng::Rng;

/// Which pages the host writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PagePattern {
    /// All alike.
    Uniform,
    /// Percentage of the writes that go to the first pages, and percentage of those pages.
    HotCold(u32, u32),
    /// The i-th page in proportion to i^-theta.
    Zipf(f64),
    /// One after another, round and round.
    Sequential,
}

/// A stream of pages to write.
pub struct PageStream {
    kind: PagePattern,
    pages: u64,
    hot: u64,
    next: u64,
    /// Zipf: the sum of the weights up to each page.
    sums: Vec<f64>,
    rng: Rng,
}

impl PageStream {
    /// Over `pages` pages, the numbers of `seed`.
    pub fn new(kind: PagePattern, pages: usize, seed: u64) -> PageStream {
        let pages = pages as u64;
        let (mut hot, mut sums) = (0, Vec::new());
        match kind {
            PagePattern::HotCold(_, percent) => hot = pages * u64::from(percent) / 100,
            PagePattern::Zipf(theta) => {
                let mut sum = 0.0;
                sums.extend((1..=pages).map(|i| {
                    sum += (i as f64).powf(-theta);
                    sum
                }));
            }
            PagePattern::Uniform | PagePattern::Sequential => {}
        }
        let rng = Rng::named(seed, "load");
        PageStream {
            kind,
            pages,
            hot,
            next: 0,
            sums,
            rng,
        }
    }

    /// The page to write next.
    pub fn draw(&mut self) -> usize {
        let page = match self.kind {
            PagePattern::Uniform => self.rng.below(self.pages),
            PagePattern::HotCold(percent, _) if self.rng.percent(percent) => {
                self.rng.below(self.hot)
            }
            PagePattern::HotCold(..) => self.hot + self.rng.below(self.pages - self.hot),
            PagePattern::Zipf(_) => {
                let total = self.sums[self.sums.len() - 1];
                let draw = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * total;
                self.sums.partition_point(|&sum| sum <= draw) as u64
            }
            PagePattern::Sequential => {
                self.next += 1;
                (self.next - 1) % self.pages
            }
        };
        page as usize
    }

    /// True in `percent` of 100 draws: whether a request is a trim.
    pub fn percent(&mut self, percent: u32) -> bool {
        percent > 0 && self.rng.percent(percent)
    }

    /// The oracle: 0 for hot pages, 1 for cold ones.
    pub fn is_cold(&self, page: usize) -> usize {
        usize::from(page as u64 >= self.hot)
    }

    /// Every page once, in random order (Fisher and Yates).
    pub fn shuffled(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pages as usize).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
        order
    }
}
