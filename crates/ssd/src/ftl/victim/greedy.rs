//! Greedy: the full superblock with the fewest valid slots.
//!
//! Optimises: slots relocated now. Optimal for uniform load (W. Bux, I. Iliadis, "Performance of
//! greedy garbage collection in flash-based solid-state drives", 2010). No parameters. Ties go
//! to the lowest number.

/// The candidate with the fewest valid slots; `None` when there is no candidate.
pub fn greedy(valid_count: &[u32], is_candidate: impl Fn(usize) -> bool) -> Option<u32> {
    let mut best = None;
    let mut fewest = u32::MAX;
    for (superblock, &valid) in valid_count.iter().enumerate() {
        if valid < fewest && is_candidate(superblock) {
            fewest = valid;
            best = Some(superblock as u32);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_the_emptiest_candidate_and_never_another() {
        let valid = [5, 0, 3, 3, 9];
        assert_eq!(greedy(&valid, |s| s != 1), Some(2));
        assert_eq!(greedy(&valid, |_| true), Some(1));
        assert_eq!(greedy(&valid, |_| false), None);
    }
}
