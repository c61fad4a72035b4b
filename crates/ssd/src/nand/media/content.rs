//! Content of a slot: the numbers of the writes that its sectors come from, and its bytes.
//!
//! Both are kept small, as there is one for every programmed slot: sectors of one write share one
//! number, and slots of one command share its bytes. A copy shares both and is stored in the spare
//! area itself, where reclaim finds it without a further lookup.

use super::bytes::{Shelf, SlotBytes};
use std::fmt;
use std::ops::{Index, Range};
use std::sync::Arc;

/// A slot's content; `None` in pages of the map.
pub type Content = Option<SlotContent>;

/// Content of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotContent {
    /// Number of the write that each sector comes from; zero: none.
    pub numbers: Numbers,
    /// The bytes, where they are kept; `None`: zeroes.
    pub bytes: Option<SlotBytes>,
}

impl SlotContent {
    /// A copy to be written elsewhere, without the rest of a command's bytes once that is mostly
    /// overwritten.
    pub fn to_move(&self) -> SlotContent {
        match &self.bytes {
            Some(bytes) if bytes.wastes() => SlotContent {
                numbers: self.numbers.clone(),
                bytes: Some(bytes.own()),
            },
            _ => self.clone(),
        }
    }

    /// Prefetches the memory that [copying](SlotContent::to_move) needs.
    pub fn prefetch(&self) {
        if let Some(bytes) = &self.bytes {
            bytes.prefetch();
        }
    }

    /// Whether one was copied from the other and neither has changed since; does not read their
    /// bytes.
    pub fn is_copy_of(&self, other: &SlotContent) -> bool {
        let same_bytes = match (&self.bytes, &other.bytes) {
            (Some(bytes), Some(others)) => bytes.is_copy_of(others),
            (None, None) => true,
            _ => false,
        };
        same_bytes && self.numbers == other.numbers
    }
}

/// The shelf for new bytes. A fork begins with none: the places that it has stay as they are.
#[derive(Debug, Default)]
pub(super) struct OnShelf(Option<Arc<dyn Shelf>>);

impl Clone for OnShelf {
    fn clone(&self) -> OnShelf {
        OnShelf::default()
    }
}

impl OnShelf {
    pub fn of(shelf: Arc<dyn Shelf>) -> OnShelf {
        OnShelf(Some(shelf))
    }

    pub fn get(&self) -> Option<&Arc<dyn Shelf>> {
        self.0.as_ref()
    }

    /// Moves a content's bytes from the heap to the shelf, if there is one with room.
    pub fn take(&self, content: &mut SlotContent) {
        let (Some(shelf), Some(bytes)) = (&self.0, &content.bytes) else {
            return;
        };
        if bytes.place().is_none()
            && let Some(placed) = SlotBytes::put_on(shelf, bytes)
        {
            content.bytes = Some(placed);
        }
    }
}

/// A number for each sector of a slot.
#[derive(Clone)]
pub struct Numbers(SectorNumbers);

#[derive(Clone)]
enum SectorNumbers {
    /// Count of sectors, and the number that all of them have.
    Same(u32, u64),
    Each(Arc<Vec<u64>>),
}

impl Numbers {
    /// The same number for `count` sectors.
    pub fn same(number: u64, count: usize) -> Numbers {
        Numbers(SectorNumbers::Same(count as u32, number))
    }

    /// Number of sectors.
    pub fn count(&self) -> usize {
        match &self.0 {
            SectorNumbers::Same(count, _) => *count as usize,
            SectorNumbers::Each(all) => all.len(),
        }
    }

    /// The number of all sectors, if they have the same.
    pub fn one(&self) -> Option<u64> {
        match &self.0 {
            SectorNumbers::Same(_, number) => Some(*number),
            SectorNumbers::Each(all) => {
                let first = *all.first()?;
                all.iter().all(|&number| number == first).then_some(first)
            }
        }
    }

    /// The number of each sector, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.count()).map(|n| self[n])
    }

    /// The highest number.
    pub fn highest(&self) -> u64 {
        match &self.0 {
            SectorNumbers::Same(_, number) => *number,
            SectorNumbers::Each(all) => all.iter().copied().max().unwrap_or(0),
        }
    }

    /// Sets the number of a range of sectors.
    ///
    /// # Panics
    /// When there are no such sectors.
    pub fn set(&mut self, sectors: Range<usize>, number: u64) {
        let count = self.count();
        if sectors == (0..count) {
            self.0 = SectorNumbers::Same(count as u32, number);
            return;
        }
        if let SectorNumbers::Same(_, all) = self.0 {
            self.0 = SectorNumbers::Each(Arc::new(vec![all; count]));
        }
        if let SectorNumbers::Each(all) = &mut self.0 {
            Arc::make_mut(all)[sectors].fill(number);
        }
    }
}

impl From<Vec<u64>> for Numbers {
    fn from(all: Vec<u64>) -> Numbers {
        Numbers(SectorNumbers::Each(Arc::new(all)))
    }
}

impl Index<usize> for Numbers {
    type Output = u64;

    fn index(&self, sector: usize) -> &u64 {
        match &self.0 {
            SectorNumbers::Same(count, number) => {
                assert!(sector < *count as usize, "sector {sector} of {count}");
                number
            }
            SectorNumbers::Each(all) => &all[sector],
        }
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        match (&self.0, &other.0) {
            (SectorNumbers::Same(count, one), SectorNumbers::Same(others, other)) => {
                (count, one) == (others, other)
            }
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
        let all = SlotBytes::from(vec![1; 64]);
        let mut parts: Vec<SlotBytes> = (0..8).map(|n| all.part(8 * n..8 * n + 8)).collect();
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
        let all = SlotBytes::from(vec![1; 16]);
        let content = |range| SlotContent {
            numbers: Numbers::from(vec![7, 8]),
            bytes: Some(all.part(range)),
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
