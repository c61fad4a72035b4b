//! Write amplification in steady state, by formula. Standard library only.
//!
//! Words: N erase units ("blocks" here: whatever is reclaimed as one, a superblock in a drive) of
//! Np pages hold U logical pages; alpha = physical / logical pages = N Np / U, rho = 1 / alpha.
//! Over-provisioning OP = alpha - 1, spare factor = 1 - rho. WA = pages programmed / pages
//! written by the host, at least 1; infinite when alpha is 1 or less.
//!
//! Every law here is the limit of many blocks, for overwrites of single pages that do not depend
//! on one another. [`FiniteDrive`] says which alpha to give it for a finite number of blocks.

/// Where the continuous function `f` falls through zero between `low` and `high`, by the
/// Illinois variant of regula falsi. The nearer end when it does not.
fn root(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut a, mut b) = (low, high);
    let (mut fa, mut fb) = (f(a), f(b));
    if fa <= 0.0 {
        return a;
    }
    if fb >= 0.0 {
        return b;
    }
    for _ in 0..300 {
        let x = (a * fb - b * fa) / (fb - fa);
        let x = if x > a && x < b {
            x
        } else {
            f64::midpoint(a, b)
        };
        let fx = f(x);
        if fx == 0.0 || (b - a) < 1e-14 * b.abs() {
            return x;
        }
        // An end that stays gets half its weight, so that the other does not creep.
        if fx > 0.0 {
            (a, fa, fb) = (x, fx, fb / 2.0);
        } else {
            (b, fb, fa) = (x, fx, fa / 2.0);
        }
    }
    f64::midpoint(a, b)
}

/// W0, the principal branch of Lambert's function: W e^W = x. NaN below -1/e.
///
/// Halley's method from the series about the branch point or from the logarithm (R. Corless et
/// al., "On the Lambert W function", 1996). Near -1/e its accuracy is that of sqrt(x + 1/e).
pub fn lambert_w0(x: f64) -> f64 {
    let from_branch = (1.0 + std::f64::consts::E * x).max(0.0);
    if x.is_nan() || x < -(-1.0_f64).exp() * (1.0 + 1e-15) {
        return f64::NAN;
    }
    let mut w = if x < 1.0 {
        let p = (2.0 * from_branch).sqrt();
        -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p
    } else {
        x.ln_1p() * 0.8
    };
    for _ in 0..50 {
        let e = w.exp();
        let f = w * e - x;
        let step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        if !step.is_finite() {
            break;
        }
        w -= step;
        if step.abs() <= 1e-16 * w.abs() {
            break;
        }
    }
    w
}

/// Oldest block first, uniform load: alpha / (alpha + W0(-alpha e^-alpha)).
///
/// L. Xiang, B. Kurkoski, "An improved analytic expression for write amplification in NAND flash"
/// (2012, preprint 2011); P. Desnoyers, "Analytic modeling of SSD write performance" (2012), whose
/// LRU cleaning this is. Holds for any Np. It is not greedy's value, which depends on Np.
pub fn fifo(alpha: f64) -> f64 {
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    alpha / (alpha + lambert_w0(-alpha * (-alpha).exp()))
}

/// A block drawn at random: 1 / (1 - rho). Holds for any Np, any load and any frontiers, since
/// such a block is as full as the mean. The first case of [`d_choices`].
pub fn random(alpha: f64) -> f64 {
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    alpha / (alpha - 1.0)
}

/// The emptiest of `d` blocks drawn at random, uniform load, `np` pages a block.
///
/// M_k, the share of blocks with at least k valid pages, solves M_k^d + c k (M_k - M_{k+1}) = 1
/// for k = Np..1 with M_{Np+1} = 0 and sum of M_k = Np rho; WA = 1 / (c rho). After B. Van Houdt,
/// "A mean field model for a class of garbage collection algorithms in flash-based solid state
/// drives" (2013).
pub fn d_choices(alpha: f64, np: u32, d: u32) -> f64 {
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    let pages = f64::from(np) / alpha;
    // Between WA = 1 and random choice (d = 1), which is the worst.
    let (low, high) = ((alpha - 1.0) * (1.0 - 1e-9), alpha);
    alpha / root(low, high, |c| d_choices_pages(np, d, c) - pages)
}

/// The sum of M_k for a given c; falls as c grows.
fn d_choices_pages(np: u32, d: u32, c: f64) -> f64 {
    let exponent = f64::from(d);
    let (mut next, mut sum) = (0.0_f64, 0.0);
    for k in (1..=np).rev() {
        let ck = c * f64::from(k);
        // Newton's method from the right on a convex, rising function: it never passes the root.
        let mut m = (next + 1.0 / ck).min(1.0);
        for _ in 0..200 {
            let power = m.powf(exponent - 1.0);
            let step = (power * m + ck * (m - next) - 1.0) / (exponent * power + ck);
            m -= step;
            if step <= 1e-15 * m {
                break;
            }
        }
        next = m.max(next);
        sum += next;
    }
    sum
}

/// The block with the fewest valid pages, uniform load, `np` pages a block.
///
/// The limit of [`d_choices`] for large d, which has a form of its own: M_k = min(1, (1/k +
/// 1/(k+1) + .. + 1/Np) / c), since victims have one of two successive counts
/// ([`greedy_victims`]). W. Bux, I. Iliadis, "Performance of greedy garbage collection in
/// flash-based solid-state drives" (2010).
pub fn greedy(alpha: f64, np: u32) -> f64 {
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    alpha / greedy_rate(alpha, np)
}

/// The c of greedy: how often a valid page is overwritten per block reclaimed.
fn greedy_rate(alpha: f64, np: u32) -> f64 {
    let pages = f64::from(np) / alpha;
    root((alpha - 1.0) * (1.0 - 1e-9), alpha, |c| {
        let (mut sum, mut share) = (0.0, 0.0_f64);
        for k in (1..=np).rev() {
            share = (share + 1.0 / (c * f64::from(k))).min(1.0);
            sum += share;
        }
        sum - pages
    })
}

/// What greedy's victims hold: `(m, p)` when a share `1 - p` of them holds m valid pages and a
/// share `p` holds m + 1. Mean m + p = Np (1 - 1/WA).
pub fn greedy_victims(alpha: f64, np: u32) -> (u32, f64) {
    if alpha <= 1.0 {
        return (np, 0.0);
    }
    let c = greedy_rate(alpha, np);
    let mut share = 0.0;
    for k in (1..=np).rev() {
        let with_k = share + 1.0 / (c * f64::from(k));
        if with_k >= 1.0 {
            return (k - 1, 1.0 - c * f64::from(k) * (1.0 - share));
        }
        share = with_k;
    }
    (0, 0.0)
}

/// Pages that are written equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageClass {
    /// Share of the host's writes that go to them. All classes add up to 1.
    pub writes: f64,
    /// Share of the logical pages that they are. All classes add up to 1.
    pub pages: f64,
}

/// Hot and cold pages: a share `writes` of the writes goes to a share `pages` of the pages
/// (80/20: 0.8 and 0.2).
pub fn hot_cold(writes: f64, pages: f64) -> [PageClass; 2] {
    let cold = PageClass {
        writes: 1.0 - writes,
        pages: 1.0 - pages,
    };
    [PageClass { writes, pages }, cold]
}

/// Zipf's law over `count` pages: the i-th is written in proportion to i^-theta.
///
/// The first thousand pages are classes of their own; further ones are put together where their
/// rates differ by less than 0.1 % x theta, which moves WA by less than 1e-6.
pub fn zipf(count: u64, theta: f64) -> Vec<PageClass> {
    let mut weights: Vec<(f64, f64)> = Vec::new();
    let mut first = 1_u64;
    while first <= count {
        let last = if first <= 1000 {
            first
        } else {
            (first + first / 1000).min(count)
        };
        weights.push((power_sum(first, last, theta), (last - first + 1) as f64));
        first = last + 1;
    }
    let total: f64 = weights.iter().map(|(writes, _)| writes).sum();
    let class = |&(writes, pages): &(f64, f64)| PageClass {
        writes: writes / total,
        pages: pages / count as f64,
    };
    weights.iter().map(class).collect()
}

/// The sum of i^-theta from `first` to `last`; beyond the first thousand by the midpoint rule,
/// whose relative error is below theta (theta + 1) / (24 first^2).
fn power_sum(first: u64, last: u64, theta: f64) -> f64 {
    if first == last {
        return (first as f64).powf(-theta);
    }
    let (low, high) = (first as f64 - 0.5, last as f64 + 0.5);
    if (theta - 1.0).abs() < 1e-9 {
        return (high / low).ln();
    }
    (high.powf(1.0 - theta) - low.powf(1.0 - theta)) / (1.0 - theta)
}

/// Oldest block first, one frontier for everything, any load of independent writes:
/// WA = sum of r / (1 - exp(-(r/s) alpha / WA)) over classes with a share r of the writes and s
/// of the pages. With one class this is [`fifo`].
///
/// P. Desnoyers, "Analytic models of SSD write performance" (2014). Exact for many blocks, any
/// Np. Skew makes it worse, up to [`random`].
pub fn fifo_skewed(alpha: f64, classes: &[PageClass]) -> f64 {
    if alpha <= 1.0 {
        return f64::INFINITY;
    }
    root(1.0, random(alpha), |wa| {
        let programs = |class: &PageClass| {
            if class.pages <= 0.0 {
                return class.writes;
            }
            let overwrites = class.writes / class.pages * alpha / wa;
            if overwrites < 1e-12 {
                return class.pages * wa / alpha;
            }
            class.writes / -(-overwrites).exp_m1()
        };
        classes.iter().map(programs).sum::<f64>() - wa
    })
}

/// Pages by way of a write buffer that places them in the order in which they came and coalesces
/// pages that come again meanwhile: what reaches the media, and for how long it stays valid.
///
/// Of `slots` pages of buffer, a page that is written l times per request holds l T / (1 + l T), T
/// the time for which a page waits, in requests: such a buffer is a cache that replaces first in,
/// first out, and all its pages fill it (E. Gelenbe, "A unified approach to the evaluation of a
/// class of replacement algorithms", 1973, for the hit ratio; C. Fricker, P. Robert, J. Roberts, "A
/// versatile and accurate approximation for LRU cache performance", 2012, for the one time T). So
/// it is placed l / (1 + l T) times per request, and its copy stays valid for T and the time until
/// it is written again. Within 0.1 % from 16 pages of buffer.
#[derive(Clone, Debug)]
pub struct BufferedPages {
    /// Pages, and how often each is written per request.
    classes: Vec<(f64, f64)>,
    pages: f64,
    /// T, in requests.
    wait: f64,
    /// Pages placed per request.
    placed: f64,
}

impl BufferedPages {
    /// `pages` of these classes behind a buffer of `slots`; none: all is written through.
    pub fn new(classes: &[PageClass], pages: u64, slots: usize) -> BufferedPages {
        let pages = pages as f64;
        let rate = |class: &PageClass| {
            let count = class.pages * pages;
            (count, class.writes / count)
        };
        let has_pages = |class: &&PageClass| class.pages > 0.0;
        let classes: Vec<(f64, f64)> = classes.iter().filter(has_pages).map(rate).collect();
        let held = |wait: f64| {
            let held = classes
                .iter()
                .map(|(count, rate)| count * rate * wait / (1.0 + rate * wait));
            held.sum::<f64>()
        };
        let slots = slots as f64;
        let wait = if slots > 0.0 {
            // It waits longer than `slots` requests, and the longer the more coalesces.
            let mut most = 2.0 * slots;
            while held(most) < slots && most < 1e18 {
                most *= 2.0;
            }
            root(slots, most, |wait| slots - held(wait))
        } else {
            0.0
        };
        let placed = classes
            .iter()
            .map(|(count, rate)| count * rate / (1.0 + rate * wait))
            .sum();
        BufferedPages {
            classes,
            pages,
            wait,
            placed,
        }
    }

    /// Pages placed per request: the rest coalesces.
    pub fn placed(&self) -> f64 {
        self.placed
    }

    /// Oldest block first, one frontier for everything: WA per page placed. A block is reclaimed
    /// A = alpha U / (m WA) requests after it was written, m the pages placed per request, and a
    /// page is then moved, and again after each further A, until the host writes it:
    /// WA = 1 + (1/m) sum of l / (1 + l T) e^(l T) / (e^(l A) - 1). Without a buffer it is
    /// [`fifo_skewed`].
    pub fn fifo(&self, alpha: f64) -> f64 {
        if alpha <= 1.0 {
            return f64::INFINITY;
        }
        root(1.0, random(alpha), |wa| {
            let age = alpha * self.pages / (self.placed * wa);
            let moves = |&(count, rate): &(f64, f64)| {
                let placed = count * rate / (1.0 + rate * self.wait);
                // Beyond these ages nothing is left to move.
                let older = rate * (age - self.wait);
                if older > 700.0 {
                    return 0.0;
                }
                placed * (-older).exp() / -(-rate * age).exp_m1()
            };
            1.0 + self.classes.iter().map(moves).sum::<f64>() / self.placed - wa
        })
    }
}

/// A drive of a finite number of blocks. It behaves as one of N_eff of them that are always full:
///
/// ```text
///   shared frontier       N_eff = N - R - K / (2 WA)
///   separate frontiers    N_eff = N - R - K / 2 - K / (2 WA)
/// ```
/// Where the terms come from: when the host's frontier is full and R blocks or fewer are free,
/// whole victims are reclaimed until it can go on, so R stay free for good. A host frontier of
/// its own is half empty in the mean. The frontier that takes relocated pages is refilled to
/// Np (1 - 1/WA) at each victim; of the rest, half is empty in the mean. First order in K / N:
/// good to 0.5 % of WA up to K = N / 50.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiniteDrive {
    /// N: erase units, whatever is collected as one.
    pub blocks: u32,
    /// Np: pages of an erase unit.
    pub np: u32,
    /// U: logical pages in use.
    pub logical_pages: u64,
    /// R: blocks kept free.
    pub reserve: u32,
    /// K: blocks open per stream, filled in turn.
    pub open: u32,
    /// Whether relocated pages have a frontier of their own.
    pub separate: bool,
}

/// What a law says of a [`FiniteDrive`] drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaPrediction {
    /// The alpha at which the law was taken.
    pub alpha_eff: f64,
    /// The law's write amplification there.
    pub wa: f64,
}

impl FiniteDrive {
    /// N_eff Np / U for a write amplification of `wa`.
    pub fn alpha_eff(&self, wa: f64) -> f64 {
        let open = f64::from(self.open);
        let host = if self.separate { open / 2.0 } else { 0.0 };
        let blocks = f64::from(self.blocks) - f64::from(self.reserve) - host - open / (2.0 * wa);
        blocks * f64::from(self.np) / self.logical_pages as f64
    }

    /// The `law` (WA as a function of alpha, falling) at the alpha that its own value leads to.
    /// Infinite when there is no room.
    pub fn predict(&self, law: impl Fn(f64) -> f64) -> WaPrediction {
        let most = self.alpha_eff(f64::INFINITY);
        // The smallest WA = 1 leaves the least room and so gives the largest WA.
        let highest = law(self.alpha_eff(1.0));
        let wa = if highest.is_finite() {
            root(law(most), highest, |wa| law(self.alpha_eff(wa)) - wa)
        } else {
            f64::INFINITY
        };
        WaPrediction {
            alpha_eff: self.alpha_eff(wa),
            wa,
        }
    }
}
