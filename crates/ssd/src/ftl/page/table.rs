//! A large table with an entry per slot, zero for slots never written.

use crate::image::{Image, ImageError, Reader, Writer};
use std::ops::{Deref, DerefMut};

/// Entries tested together when a table is copied: 2 MiB of memory.
const PART: usize = 1 << 19;
/// Minimum number of entries for a sparse copy.
const SMALL: usize = 16 * PART;

/// An entry per slot. Fresh memory is zero without being touched, and a copy does not touch zero
/// parts: forks of a drive take memory only for the part of its capacity in use.
#[derive(Debug)]
pub(super) struct Table(Vec<u32>);

impl Table {
    /// A table of zeroes.
    pub fn new(entries: usize) -> Table {
        Table(vec![0; entries])
    }
}

impl Clone for Table {
    fn clone(&self) -> Table {
        if self.len() < SMALL {
            return Table(self.0.clone());
        }
        let mut copy = Table::new(self.len());
        for (to, from) in copy.chunks_mut(PART).zip(self.chunks(PART)) {
            if from.iter().any(|&entry| entry != 0) {
                to.copy_from_slice(from);
            }
        }
        copy
    }
}

impl Deref for Table {
    type Target = [u32];

    #[inline(always)]
    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl DerefMut for Table {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

impl Image for Table {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.0.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Table, ImageError> {
        Ok(Table(Vec::load(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that are full, empty and begun, in tables that are copied whole and by parts.
    #[test]
    fn a_copy_is_equal_whatever_parts_of_it_are_zero() {
        for len in [0, 1, PART, SMALL - 1, SMALL, SMALL + 4 * PART + 1] {
            let mut table = Table::new(len);
            for (index, entry) in table.iter_mut().enumerate() {
                let is_written = match index / PART % 3 {
                    0 => true,
                    1 => false,
                    _ => index % PART == PART / 2,
                };
                *entry = if is_written { index as u32 + 1 } else { 0 };
            }
            assert!(table.clone()[..] == table[..], "{len} entries");
        }
    }
}
