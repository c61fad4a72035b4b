//! Whether the next request is worth looking for before sleeping.
//!
//! To sleep until a request comes and be woken costs more than a request of 4 KiB does. A front
//! end that has replied looks for the next one for a while, if the last ones came that soon.

/// Hope is high when so many more waits were short than long, weighed.
const ENOUGH: i32 = 16;
/// More count for nothing.
const MOST: i32 = 64;

/// Whether the next request is expected soon, by how long the last ones let themselves be waited
/// for.
#[derive(Debug)]
pub(crate) struct Hope {
    /// Short waits less long ones, weighed.
    height: i32,
    /// What a long wait counts: looking in vain takes as long as several requests.
    long: i32,
}

impl Hope {
    /// Low. A long wait will count as so many short ones.
    pub fn new(long: i32) -> Self {
        Self { height: 0, long }
    }

    /// As high as it gets.
    #[cfg(test)]
    pub fn highest(self) -> Self {
        Self {
            height: MOST,
            ..self
        }
    }

    pub fn is_high(&self) -> bool {
        self.height >= ENOUGH
    }

    /// A request was waited for, a short or a long time.
    pub fn waited(&mut self, soon: bool) {
        let by = if soon { 1 } else { -self.long };
        self.height = (self.height + by).clamp(-MOST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hope_comes_with_short_waits_and_goes_sooner_with_long_ones() {
        let mut hope = Hope::new(64);
        for _ in 0..ENOUGH {
            assert!(!hope.is_high());
            hope.waited(true);
        }
        assert!(hope.is_high());
        hope.waited(false);
        assert!(!hope.is_high());
        for _ in 0..10 * MOST {
            hope.waited(true);
        }
        hope.waited(false);
        assert!(!hope.is_high(), "one pause ends it");
        for _ in 0..10 {
            hope.waited(false);
        }
        let short = (0..).take_while(|_| {
            hope.waited(true);
            !hope.is_high()
        });
        assert_eq!(short.count() as i32, MOST + ENOUGH - 1, "however many");
    }
}
