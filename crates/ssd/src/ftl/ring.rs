//! The write buffer's contents, as the map sees them: host data not yet given to media.
//!
//! Oldest first. The map of a buffered slot points here, so a lookup, an overwrite in place
//! (coalescing) and a read hit cost no search. The copy on media that the buffered data will
//! replace stays valid until then: after a power cut it is what is left.

/// The logical slot of a dead entry.
const DEAD: u32 = u32::MAX;

/// One buffered slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Logical slot, or [`DEAD`] when trimmed or taken out of turn.
    pub lpn: u32,
    /// The map's value before: where its older copy is on media, if anywhere.
    pub old: u32,
}

/// A queue of entries that can also be reached by index.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    entries: Vec<Entry>,
    head: u64,
    tail: u64,
    live: u32,
}

impl Ring {
    /// Room for at least `slots` entries.
    pub fn new(slots: usize) -> Ring {
        let size = slots.next_power_of_two();
        Ring {
            entries: vec![Entry { lpn: DEAD, old: 0 }; size],
            head: 0,
            tail: 0,
            live: 0,
        }
    }

    fn index(&self, position: u64) -> usize {
        position as usize & (self.entries.len() - 1)
    }

    /// Entries with data.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Entries, dead ones included.
    pub fn len(&self) -> u32 {
        (self.tail - self.head) as u32
    }

    /// Appends; returns the entry's index.
    #[inline]
    pub fn push(&mut self, lpn: u32, old: u32) -> u32 {
        assert!(
            (self.len() as usize) < self.entries.len(),
            "write buffer overrun"
        );
        let index = self.index(self.tail);
        self.entries[index] = Entry { lpn, old };
        self.tail += 1;
        self.live += 1;
        index as u32
    }

    /// Takes the oldest live entry; dead ones before it are dropped.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        while self.head < self.tail {
            let entry = self.entries[self.index(self.head)];
            self.head += 1;
            if entry.lpn != DEAD {
                self.live -= 1;
                return Some(entry);
            }
        }
        None
    }

    /// Drops dead entries at the head; returns how many.
    pub fn purge(&mut self) -> u32 {
        let before = self.head;
        while self.head < self.tail && self.entries[self.index(self.head)].lpn == DEAD {
            self.head += 1;
        }
        (self.head - before) as u32
    }

    /// Takes an entry out of turn; its place stays dead until its turn.
    pub fn kill(&mut self, index: u32) -> Entry {
        let entry = self.entries[index as usize];
        assert_ne!(entry.lpn, DEAD, "buffer entry {index} is dead");
        self.entries[index as usize].lpn = DEAD;
        self.live -= 1;
        entry
    }

    /// Where the older copy of an entry's data is, as a map value.
    pub fn old(&self, index: u32) -> u32 {
        self.entries[index as usize].old
    }

    /// The older copy of an entry's data has been relocated.
    pub fn set_old(&mut self, index: u32, from: u32, to: u32) {
        let entry = &mut self.entries[index as usize];
        assert_eq!(entry.old, from, "buffer entry {index}: older copy");
        entry.old = to;
    }

    /// Live entries with their indices, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Entry)> + '_ {
        (self.head..self.tail)
            .map(|position| {
                (
                    self.index(position) as u32,
                    self.entries[self.index(position)],
                )
            })
            .filter(|(_, entry)| entry.lpn != DEAD)
    }
}
