//! Media whose bytes lie on a shelf, or nowhere.

use super::content::OnShelf;
use super::{Content, Media, Page, Shelf};
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

    /// Forgets the bytes of all contents, which stay what they are otherwise, and keeps no events.
    pub fn forget_bytes(&mut self) {
        self.events = None;
        self.shelf = OnShelf::default();
        for block in &mut self.blocks {
            for at in 0..block.pages.len() {
                if block.pages[at].has_bytes() {
                    Arc::make_mut(&mut Arc::make_mut(block).pages[at]).forget_bytes();
                }
            }
        }
        for page in self.pending.iter_mut().flatten() {
            if let Some(page) = page.page.as_mut().filter(|page| page.has_bytes()) {
                Arc::make_mut(page).forget_bytes();
            }
        }
        self.buffer.values_mut().for_each(forget);
        self.staged
            .values_mut()
            .for_each(|write| write.bytes = None);
    }
}

/// Forgets a content's bytes.
pub(crate) fn forget(content: &mut Content) {
    if let Some(content) = content {
        content.bytes = None;
    }
}

impl Page {
    fn forget_bytes(&mut self) {
        let contents = self.slots.iter_mut().map(|spare| &mut spare.content);
        contents.for_each(forget);
    }

    fn has_bytes(&self) -> bool {
        let mut contents = self.slots.iter().filter_map(|spare| spare.content.as_ref());
        contents.any(|content| content.bytes.is_some())
    }

    fn is_in_heap(&self) -> bool {
        let contents = self.slots.iter().filter_map(|spare| spare.content.as_ref());
        let mut bytes = contents.filter_map(|content| content.bytes.as_ref());
        bytes.any(|bytes| bytes.place().is_none())
    }
}
