//! How large the next block of a log chain is to be, by age of the code.

/// Bytes of the chain header (or trailer, in the old format) in every log block.
pub const CHAIN_BYTES: u64 = 192;
/// Bytes of a write record before its data.
pub const RECORD_BYTES: u64 = 192;
/// Log blocks are multiples of this.
pub const BLOCK_MIN: u64 = 4096;
/// The largest log block.
pub const BLOCK_MAX: u64 = 128 << 10;
/// How many past choices the bucket rule remembers.
pub const CHOICES: usize = 16;

const KIB: u64 = 1 << 10;

/// Input of the rules, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SizeRuleInput {
    /// Records of the commit before this one.
    pub commit_before: u64,
    /// Records of this commit so far.
    pub commit: u64,
    /// Records that wait.
    pub waiting: u64,
}

/// A rule for the size of the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRule {
    /// OpenSolaris b121 to b134: the largest of what the last commit used, what this one uses and
    /// what waits, in whole 4 KiB.
    LargestUse,
    /// ZFS 2.1: the bucket that holds this commit, or the largest of the last 16 such choices.
    Buckets,
}

/// The rule with what it remembers.
#[derive(Clone, Debug)]
pub struct Sizer {
    rule: SizeRule,
    choices: [u64; CHOICES],
    rotor: usize,
}

impl Sizer {
    /// Nothing remembered.
    pub fn new(rule: SizeRule) -> Sizer {
        Sizer {
            rule,
            choices: [0; CHOICES],
            rotor: 0,
        }
    }

    /// Size of the next block.
    pub fn next(&mut self, used: &SizeRuleInput) -> u64 {
        match self.rule {
            SizeRule::LargestUse => {
                let commit_bytes = used.commit.max(used.waiting) + CHAIN_BYTES;
                let size = used.commit_before.max(commit_bytes);
                size.next_multiple_of(BLOCK_MIN).min(BLOCK_MAX)
            }
            SizeRule::Buckets => {
                self.choices[self.rotor] = bucket(used.commit + CHAIN_BYTES);
                self.rotor = (self.rotor + 1) % CHOICES;
                self.choices.iter().copied().max().unwrap_or(BLOCK_MIN)
            }
        }
    }
}

/// The bucket of ZFS 2.1 for a number of bytes: 132 KiB go into two blocks of 68 KiB.
fn bucket(bytes: u64) -> u64 {
    match bytes.next_multiple_of(BLOCK_MIN) / KIB {
        ..=4 => 4 * KIB,
        5..=12 => 12 * KIB,
        13..=36 => 36 * KIB,
        37..=68 => 68 * KIB,
        69..=128 => 128 * KIB,
        129..=132 => 68 * KIB,
        _ => BLOCK_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(commit_before: u64, commit: u64, waiting: u64) -> SizeRuleInput {
        SizeRuleInput {
            commit_before,
            commit,
            waiting,
        }
    }

    #[test]
    fn the_code_of_2010_takes_the_largest_of_three() {
        let next = |u| Sizer::new(SizeRule::LargestUse).next(&u);
        // A 4 KiB write with its record does not fit a 4 KiB block.
        assert_eq!(next(used(0, 4288, 0)), 8192);
        assert_eq!(next(used(0, 2240, 0)), 4096);
        assert_eq!(next(used(20_000, 4288, 0)), 20480);
        assert_eq!(next(used(0, 4288, 30_000)), 32768);
        // Exactly full, and one byte more.
        assert_eq!(next(used(0, 8192 - CHAIN_BYTES, 0)), 8192);
        assert_eq!(next(used(0, 8193 - CHAIN_BYTES, 0)), 12288);
        assert_eq!(next(used(0, 1 << 20, 0)), BLOCK_MAX);
    }

    #[test]
    fn the_code_of_2_1_has_buckets() {
        let next = |bytes| Sizer::new(SizeRule::Buckets).next(&used(0, bytes, 0)) / KIB;
        let sizes = [
            100, 4288, 8384, 16576, 32960, 65728, 100_000, 131_264, 200_000,
        ];
        assert_eq!(sizes.map(next), [4, 12, 12, 36, 36, 68, 128, 68, 128]);
    }

    #[test]
    fn a_large_choice_is_remembered_for_15_more() {
        let mut sizer = Sizer::new(SizeRule::Buckets);
        assert_eq!(sizer.next(&used(0, 65728, 0)), 68 * KIB);
        for _ in 0..CHOICES - 1 {
            assert_eq!(sizer.next(&used(0, 4288, 0)), 68 * KIB);
        }
        assert_eq!(sizer.next(&used(0, 4288, 0)), 12 * KIB);
    }
}
