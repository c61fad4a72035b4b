//! Programmed pages and their spare areas.

use super::content::{Content, SlotContent};
use crate::image::image_of;
use crate::nand::operation::{Mode, Purpose};
use std::sync::Arc;

/// One slot's part of a spare area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Slot within the unit.
    pub offset: u32,
    /// Slots that it takes.
    pub weight: u32,
    /// The address that the layer above gave it.
    pub address: u32,
    /// Content.
    pub content: Content,
}

image_of! {
    /// Record in pages of the map.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MapRecord {
        /// The map is on media up to this sequence number.
        pub covers: u64,
        /// Trimmed addresses with their sequence numbers.
        pub forgotten: Vec<(u32, u64)>,
    }
}

/// A programmed unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Order of programming, over the whole array.
    pub seq: u64,
    /// Purpose of the program.
    pub purpose: Purpose,
    /// Mode of its cells.
    pub mode: Mode,
    /// Use of its superblock by the layer above.
    pub tag: u32,
    /// Generation of its superblock: blocks of an earlier one are stale.
    pub generation: u32,
    /// The page cannot be read.
    pub torn: bool,
    /// Its slots.
    pub slots: Vec<Spare>,
    /// Map record, if it is a page of the map.
    pub map: Option<Arc<MapRecord>>,
}

impl Page {
    /// The content of the slot at this offset of the unit.
    pub(super) fn content_of(&self, offset: u32) -> Option<&SlotContent> {
        // Slots of one each, the usual case, lie where their numbers say.
        let spare = self.slots.get(offset as usize);
        let direct = spare.filter(|spare| spare.offset == offset);
        let match_spare = direct.or_else(|| self.slots.iter().find(|spare| spare.offset == offset));
        match_spare.and_then(|spare| spare.content.as_ref())
    }
}

/// A block of every plane of a die.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its programmed rows, torn ones included.
    pub pages: Vec<Arc<Page>>,
    /// An erase was interrupted: the block must be erased before use.
    pub unstable: bool,
}
