//! Media whose bytes lie on a shelf.

use super::{Media, Page, Shelf, SlotBytes, SlotContent};
use std::sync::Arc;

/// The shelf for new bytes. A fork begins with none: the places that it has stay as they are.
#[derive(Debug, Default)]
pub(super) struct OnShelf(Option<Arc<dyn Shelf>>);

impl Clone for OnShelf {
    fn clone(&self) -> OnShelf {
        OnShelf::default()
    }
}

impl OnShelf {
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

impl Media {
    /// The shelf that takes the bytes of new contents.
    pub fn shelf(&self) -> Option<&Arc<dyn Shelf>> {
        self.shelf.0.as_ref()
    }

    /// Puts the bytes of all programmed slots, and of those to come, on a shelf of slots of this
    /// size; where it has no room they stay in the heap.
    pub fn put_on_shelf(&mut self, shelf: Arc<dyn Shelf>) {
        self.shelf = OnShelf(Some(shelf));
        for block in &mut self.blocks {
            for at in 0..block.pages.len() {
                if block.pages[at].is_in_heap() {
                    let page = Arc::make_mut(&mut Arc::make_mut(block).pages[at]);
                    let contents = page.slots.iter_mut().filter_map(|s| s.content.as_mut());
                    contents.for_each(|content| self.shelf.take(content));
                }
            }
        }
    }
}

impl Page {
    fn is_in_heap(&self) -> bool {
        let contents = self.slots.iter().filter_map(|spare| spare.content.as_ref());
        let mut bytes = contents.filter_map(|content| content.bytes.as_ref());
        bytes.any(|bytes| bytes.place().is_none())
    }
}
