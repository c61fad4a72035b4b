//! What a slot holds: the numbers of the writes that its sectors come from, and its bytes.
//!
//! Both are kept small, as there is one for every slot that was ever programmed and is not erased:
//! sectors of one write share one number, and slots of one command share its bytes. A copy shares
//! both, and lies in the spare area itself: reclaim finds it there without a further look.

use crate::prefetch::prefetch;
use std::fmt;
use std::ops::{Deref, Index, Range};
use std::sync::Arc;

/// A slot's content; `None` where there is none (pages of the map).
pub type Content = Option<SlotContent>;

/// What a slot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotContent {
    /// The number of the write that each sector comes from; zero: none.
    pub numbers: Numbers,
    /// The bytes, where they are kept; `None`: zeroes.
    pub bytes: Option<SlotBytes>,
}

impl SlotContent {
    /// Whether one was copied from the other, and neither was changed since: known without a look
    /// at their bytes.
    pub fn is_copy_of(&self, other: &SlotContent) -> bool {
        let same_bytes = match (&self.bytes, &other.bytes) {
            (Some(bytes), Some(others)) => bytes.is_copy_of(others),
            (None, None) => true,
            _ => false,
        };
        same_bytes && self.numbers == other.numbers
    }
}

/// A number for each sector of a slot.
#[derive(Clone)]
pub struct Numbers {
    count: u32,
    kept: Kept,
}

#[derive(Clone)]
enum Kept {
    /// All are this.
    Same(u64),
    Each(Arc<[u64]>),
}

impl Numbers {
    /// So many, all the same.
    pub fn same(number: u64, count: usize) -> Numbers {
        Numbers {
            count: count as u32,
            kept: Kept::Same(number),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The number of all of them, if it is one.
    pub fn one(&self) -> Option<u64> {
        match &self.kept {
            Kept::Same(number) => Some(*number),
            Kept::Each(all) => {
                let first = *all.first()?;
                all.iter().all(|&number| number == first).then_some(first)
            }
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.count()).map(|n| self[n])
    }

    /// The highest.
    pub fn highest(&self) -> u64 {
        match &self.kept {
            Kept::Same(number) => *number,
            Kept::Each(all) => all.iter().copied().max().unwrap_or(0),
        }
    }

    /// Sectors of this range have another number now.
    ///
    /// # Panics
    /// When there are no such sectors.
    pub fn set(&mut self, sectors: Range<usize>, number: u64) {
        if sectors == (0..self.count()) {
            self.kept = Kept::Same(number);
            return;
        }
        if let Kept::Same(all) = self.kept {
            self.kept = Kept::Each(vec![all; self.count()].into());
        }
        if let Kept::Each(all) = &mut self.kept {
            Arc::make_mut(all)[sectors].fill(number);
        }
    }
}

impl From<Vec<u64>> for Numbers {
    fn from(all: Vec<u64>) -> Numbers {
        Numbers {
            count: all.len() as u32,
            kept: Kept::Each(all.into()),
        }
    }
}

impl Index<usize> for Numbers {
    type Output = u64;

    fn index(&self, sector: usize) -> &u64 {
        match &self.kept {
            Kept::Same(number) => {
                assert!(sector < self.count(), "sector {sector} of {}", self.count);
                number
            }
            Kept::Each(all) => &all[sector],
        }
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        self.count == other.count
            && match (&self.kept, &other.kept) {
                (Kept::Same(one), Kept::Same(other)) => one == other,
                _ => self.iter().eq(other.iter()),
            }
    }
}

impl Eq for Numbers {}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A slot's bytes: a part of what a command brought, which other slots of it share.
#[derive(Clone)]
pub struct SlotBytes {
    all: Arc<[u8]>,
    start: u32,
    len: u32,
}

impl SlotBytes {
    /// A part of a command's bytes.
    ///
    /// # Panics
    /// When it does not lie in them.
    pub fn part(all: &Arc<[u8]>, range: Range<usize>) -> SlotBytes {
        assert!(range.end <= all.len(), "{range:?} of {} bytes", all.len());
        SlotBytes {
            all: all.clone(),
            start: range.start as u32,
            len: range.len() as u32,
        }
    }

    /// Changes them: in a copy of their own.
    pub fn change(&mut self, change: impl FnOnce(&mut [u8])) {
        *self = self.own();
        if let Some(bytes) = Arc::get_mut(&mut self.all) {
            change(bytes);
        }
    }

    /// The same bytes, shared with nobody.
    pub fn own(&self) -> SlotBytes {
        SlotBytes {
            start: 0,
            len: self.len,
            all: Arc::from(&**self),
        }
    }

    /// Fetches the count of who shares them early: counting up and down lets nothing overtake, so
    /// that slots done one after another would wait for memory each by itself.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.all, 0);
    }

    /// Whether they are the same part of the same command's bytes.
    fn is_copy_of(&self, other: &SlotBytes) -> bool {
        let part = |bytes: &SlotBytes| (bytes.start, bytes.len);
        part(self) == part(other) && Arc::ptr_eq(&self.all, &other.all)
    }

    /// Whether most of what they share with others is not used by anybody any more.
    pub fn wastes(&self) -> bool {
        let used = Arc::strong_count(&self.all).saturating_mul(self.len as usize);
        used.saturating_mul(4) < self.all.len()
    }
}

impl Deref for SlotBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.all[self.start as usize..(self.start + self.len) as usize]
    }
}

impl From<Vec<u8>> for SlotBytes {
    fn from(own: Vec<u8>) -> SlotBytes {
        SlotBytes {
            start: 0,
            len: own.len() as u32,
            all: own.into(),
        }
    }
}

impl PartialEq for SlotBytes {
    fn eq(&self, other: &SlotBytes) -> bool {
        **self == **other
    }
}

impl Eq for SlotBytes {}

impl fmt::Debug for SlotBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_kept() {
        let mut numbers = Numbers::same(7, 4);
        assert_eq!(numbers, Numbers::from(vec![7; 4]));
        numbers.set(1..3, 9);
        assert_eq!(numbers, Numbers::from(vec![7, 9, 9, 7]));
        assert_eq!((numbers.one(), numbers.highest(), numbers[2]), (None, 9, 9));
        numbers.set(0..4, 3);
        assert_eq!(numbers, Numbers::same(3, 4));
        assert_ne!(numbers, Numbers::same(3, 8));
        assert_eq!(Numbers::from(vec![5; 3]).one(), Some(5));
    }

    #[test]
    fn parts_of_a_command_share_its_bytes_until_one_changes() {
        let all: Arc<[u8]> = vec![1; 64].into();
        let mut parts: Vec<SlotBytes> = (0..8)
            .map(|n| SlotBytes::part(&all, 8 * n..8 * n + 8))
            .collect();
        drop(all);
        parts[3].change(|bytes| bytes[0] = 2);
        assert_eq!(*parts[3], [2, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(*parts[2], [1; 8]);
        assert!(!parts[0].wastes(), "seven use it");
        parts.truncate(1);
        assert!(parts[0].wastes(), "one of eight");
    }

    #[test]
    fn a_copy_is_known_until_one_is_changed() {
        let all: Arc<[u8]> = vec![1; 16].into();
        let content = |range| SlotContent {
            numbers: Numbers::from(vec![7, 8]),
            bytes: Some(SlotBytes::part(&all, range)),
        };
        let one = content(0..8);
        let mut copy = one.clone();
        assert!(copy.is_copy_of(&one) && !copy.is_copy_of(&content(8..16)));
        copy.numbers.set(0..1, 9);
        assert!(
            !copy.is_copy_of(&one) && one.numbers[0] == 7,
            "shared until changed"
        );
        let mut copy = one.clone();
        if let Some(bytes) = &mut copy.bytes {
            bytes.change(|bytes| bytes[0] = 1);
        }
        assert!(
            copy == one && !copy.is_copy_of(&one),
            "equal, in bytes of its own"
        );
    }
}
