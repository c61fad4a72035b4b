//! Media whose bytes lie on a shelf.

use super::content::OnShelf;
use super::{Media, Page, Shelf};
use std::sync::Arc;

impl Media {
    /// The shelf that takes the bytes of new contents.
    pub fn shelf(&self) -> Option<&Arc<dyn Shelf>> {
        self.shelf.get()
    }

    /// Puts the bytes of all programmed slots, and of those to come, on a shelf of slots of this
    /// size; where it has no room they stay in the heap.
    pub fn put_on_shelf(&mut self, shelf: Arc<dyn Shelf>) {
        self.shelf = OnShelf::of(shelf);
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
