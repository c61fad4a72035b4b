//! Delta debugging: the smallest part of a set that still fails a check.
//!
//! A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2),
//! 2002: parts are taken away until every one left is needed; then single elements are tried, as a
//! smaller set may be another.

/// A set that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingSet<P> {
    /// Its elements.
    pub pieces: Vec<P>,
    /// Text of the check.
    pub message: String,
    /// Checks run.
    pub checks: usize,
    /// No smaller set fails.
    pub is_smallest: bool,
}

/// Looks for the smallest failing part of `all`, with at most `budget` checks. `single`: elements
/// that may fail alone. `check` says why a set fails. `None`: `all` does not fail.
///
/// ```
/// let numbers: Vec<u32> = (0..100).collect();
/// let found = ssdlab_crash::smallest(&numbers, &[], 1000, |set| {
///     let fails = set.contains(&17) && set.contains(&80);
///     if fails { Err("17 and 80".into()) } else { Ok(()) }
/// });
/// assert_eq!(found.unwrap().pieces, [17, 80]);
/// ```
pub fn smallest<P: Clone>(
    all: &[P],
    single: &[P],
    budget: usize,
    check: impl FnMut(&[P]) -> Result<(), String>,
) -> Option<FailingSet<P>> {
    let mut search = DdminSearch {
        check,
        checks: 0,
        budget,
        message: String::new(),
    };
    if search.fails(&[]) {
        return Some(search.found(Vec::new(), true));
    }
    if !search.fails(all) {
        return None;
    }
    let mut pieces = search.reduce(all.to_vec());
    let mut is_smallest = pieces.len() == 1;
    if pieces.len() > 1 {
        let alone = single
            .iter()
            .find(|piece| search.fails(std::slice::from_ref(piece)));
        if let Some(piece) = alone {
            pieces = vec![piece.clone()];
        }
        let all_tried = search.checks < search.budget;
        is_smallest = pieces.len() == 1 || (pieces.len() == 2 && all_tried);
    }
    Some(search.found(pieces, is_smallest))
}

struct DdminSearch<C> {
    check: C,
    checks: usize,
    budget: usize,
    /// Of the last set that failed.
    message: String,
}

impl<C> DdminSearch<C> {
    fn found<P>(self, pieces: Vec<P>, is_smallest: bool) -> FailingSet<P> {
        FailingSet {
            pieces,
            message: self.message,
            checks: self.checks,
            is_smallest,
        }
    }

    /// Out of budget nothing fails any more.
    fn fails<P>(&mut self, set: &[P]) -> bool
    where
        C: FnMut(&[P]) -> Result<(), String>,
    {
        if self.checks >= self.budget {
            return false;
        }
        self.checks += 1;
        match (self.check)(set) {
            Ok(()) => false,
            Err(message) => {
                self.message = message;
                true
            }
        }
    }

    /// A failing set to which every element is needed.
    fn reduce<P: Clone>(&mut self, mut set: Vec<P>) -> Vec<P>
    where
        C: FnMut(&[P]) -> Result<(), String>,
    {
        let mut parts = 2;
        while set.len() > 1 {
            let size = set.len().div_ceil(parts);
            let chunks: Vec<Vec<P>> = set.chunks(size).map(<[P]>::to_vec).collect();
            let failing_chunk = chunks.iter().find(|chunk| self.fails(chunk)).cloned();
            if let Some(chunk) = failing_chunk {
                set = chunk;
                parts = 2;
                continue;
            }
            let skips = if chunks.len() > 2 { chunks.len() } else { 0 };
            let without = |skip: usize| -> Vec<P> {
                let others = (0..).zip(&chunks).filter(|&(index, _)| index != skip);
                others.flat_map(|(_, chunk)| chunk.clone()).collect()
            };
            let smaller = (0..skips).map(without).find(|others| self.fails(others));
            match smaller {
                Some(others) => {
                    set = others;
                    parts = (parts - 1).max(2);
                }
                None if size == 1 => break,
                None => parts = (parts * 2).min(set.len()),
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check fails when all of `needed` are there, or the one piece `alone`.
    fn search(needed: &[u32], alone: Option<u32>, budget: usize) -> Option<FailingSet<u32>> {
        let (all, single): (Vec<u32>, Vec<u32>) = ((10..60).collect(), (0..60).collect());
        smallest(&all, &single, budget, |set| {
            let fails = needed.iter().all(|n| set.contains(n));
            if fails || alone.is_some_and(|alone| set.contains(&alone)) {
                Err("lost".into())
            } else {
                Ok(())
            }
        })
    }

    #[test]
    fn what_does_not_matter_is_taken_away() {
        for needed in [&[17][..], &[11, 59], &[12, 13, 40]] {
            let found = search(needed, None, 10_000).unwrap();
            assert_eq!(found.pieces, needed);
            assert_eq!(found.is_smallest, needed.len() < 3);
        }
    }

    #[test]
    fn a_smaller_set_of_others_is_found() {
        let found = search(&[12, 40], Some(3), 10_000).unwrap();
        assert_eq!(found.pieces, [3]);
        assert!(found.is_smallest);
    }

    #[test]
    fn nothing_needed_and_nothing_failing_differ() {
        let found = search(&[], None, 10).unwrap();
        assert!(found.pieces.is_empty() && found.checks == 1);
        assert_eq!(search(&[99], None, 1000), None);
    }

    #[test]
    fn the_budget_is_kept() {
        let found = search(&[12, 40], None, 5).unwrap();
        assert!(found.checks <= 5 && !found.is_smallest, "{found:?}");
    }
}
