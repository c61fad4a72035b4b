//! A rising or falling function of a whole number, as a table: values computed once in floating
//! point, outside this crate, are looked up and interpolated here in whole numbers.
//!
//! The table has 64 points to each doubling of the argument and straight lines between them. For a
//! power law with an exponent up to 2 the line is at most 0.01 % above the curve.

use crate::image::image_of;

/// Points to each doubling, as a power of two.
const STEPS_LOG: u32 = 6;
const STEPS: u64 = 1 << STEPS_LOG;

image_of! {
    /// Values at 0, 1, 2 ... 127, 128, 130 ...; beyond the last point the last value holds.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Curve {
        values: Vec<u64>,
    }
}

impl Curve {
    /// A constant.
    pub fn flat(value: u64) -> Curve {
        Curve {
            values: vec![value],
        }
    }

    /// Tabulates `f` at each point up to the first that is at least `last`.
    pub fn new(last: u64, f: impl FnMut(u64) -> u64) -> Curve {
        let points = (0..).map(point).take_while({
            let mut before = 0;
            move |&at| {
                let go_on = at == 0 || before < last;
                before = at;
                go_on
            }
        });
        Curve {
            values: points.map(f).collect(),
        }
    }

    /// The value at `x`; zero for a curve without points.
    #[inline]
    pub fn at(&self, x: u64) -> u64 {
        let index = index_of(x);
        let Some(&low) = self.values.get(index) else {
            return self.values.last().copied().unwrap_or(0);
        };
        let from = point(index as u64);
        let Some(&high) = self.values.get(index + 1).filter(|_| x > from) else {
            return low;
        };
        let (wide, along) = (point(index as u64 + 1) - from, x - from);
        let between = |difference: u64| {
            (u128::from(difference) * u128::from(along) / u128::from(wide)) as u64
        };
        if high >= low {
            low + between(high - low)
        } else {
            low - between(low - high)
        }
    }

    /// The least argument up to `most` whose value is above `value`, on a curve that never falls.
    pub fn first_above(&self, value: u64, most: u64) -> Option<u64> {
        if self.at(most) <= value {
            return None;
        }
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle) > value {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }
}

/// The argument of a point.
fn point(index: u64) -> u64 {
    if index < 2 * STEPS {
        return index;
    }
    let octave = (index >> STEPS_LOG) - 1;
    (STEPS + (index & (STEPS - 1))) << octave.min(60)
}

/// The last point at or before `x`.
#[inline]
fn index_of(x: u64) -> usize {
    if x < 2 * STEPS {
        return x as usize;
    }
    let octave = u64::from(x.ilog2() - STEPS_LOG);
    (((octave + 1) << STEPS_LOG) + ((x >> octave) & (STEPS - 1))) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_their_indices_belong_together() {
        for x in (0..4096).chain([1 << 20, (1 << 20) + 12_345, 1 << 40]) {
            let index = index_of(x) as u64;
            assert!(point(index) <= x && x < point(index + 1), "{x}");
        }
    }

    #[test]
    fn points_are_exact_and_the_lines_between_close() {
        let square = Curve::new(100_000, |x| x * x);
        for x in [0, 1, 7, 64, 127, 128, 130, 1024, 65_536] {
            assert_eq!(square.at(x), x * x);
        }
        for x in (16..100_000).step_by(17) {
            let (line, curve) = (square.at(x), x * x);
            assert!(line >= curve && (line - curve) * 10_000 <= curve, "{x}");
        }
    }

    #[test]
    fn falling_curves_and_the_end_hold() {
        let falling = Curve::new(1000, |x| 5000 - x);
        assert_eq!(falling.at(133), 4867);
        assert_eq!(falling.at(u64::MAX), falling.at(1024));
        assert_eq!(Curve::flat(7).at(123), 7);
    }

    #[test]
    fn the_first_argument_above_a_value_is_found() {
        let square = Curve::new(5000, |x| x * x);
        for value in [0, 1, 99, 100, 10_000, 1_000_000] {
            let first = square.first_above(value, 5000).expect("reached");
            assert!(square.at(first) > value && square.at(first - 1) <= value);
        }
        assert_eq!(square.first_above(u64::MAX, 5000), None);
    }
}
