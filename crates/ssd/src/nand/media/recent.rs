//! Short-lived contents by address, and recycled pages.

use super::content::SlotContent;
use super::page::Page;
use crate::caches::prefetch;
use std::sync::Arc;

/// A hash table by address for values that are removed about as often as inserted: open addressing
/// with linear probing.
#[derive(Clone, Debug)]
pub(super) struct ByAddress<T> {
    /// A power of two of places, at most half of them in use.
    places: Vec<Option<(u32, T)>>,
    count: usize,
}

impl<T> Default for ByAddress<T> {
    fn default() -> ByAddress<T> {
        ByAddress {
            places: empty(16),
            count: 0,
        }
    }
}

fn empty<T>(places: usize) -> Vec<Option<T>> {
    (0..places).map(|_| None).collect()
}

impl<T> ByAddress<T> {
    /// Home place of an address; neighbours lie apart (Fibonacci hashing).
    fn home(&self, address: u32) -> usize {
        let spread = u64::from(address).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.places.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    /// Place of an address, or the free place where it would go.
    fn place(&self, address: u32) -> usize {
        let mut place = self.home(address);
        while let Some((other, _)) = &self.places[place]
            && *other != address
        {
            place = self.after(place);
        }
        place
    }

    pub fn get(&self, address: u32) -> Option<&T> {
        self.places[self.place(address)].as_ref().map(|(_, t)| t)
    }

    pub fn insert(&mut self, address: u32, thing: T) {
        if 2 * (self.count + 1) > self.places.len() {
            let larger = empty(2 * self.places.len());
            for (address, thing) in std::mem::replace(&mut self.places, larger)
                .into_iter()
                .flatten()
            {
                let place = self.place(address);
                self.places[place] = Some((address, thing));
            }
        }
        let place = self.place(address);
        self.count += usize::from(self.places[place].is_none());
        self.places[place] = Some((address, thing));
    }

    pub fn remove(&mut self, address: u32) -> Option<T> {
        let mut free = self.place(address);
        let (_, thing) = self.places[free].take()?;
        self.count -= 1;
        // Entries displaced by it move up.
        let mut next = self.after(free);
        while let Some((other, _)) = &self.places[next] {
            let home = self.home(*other);
            let mask = self.places.len() - 1;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(free) & mask) {
                self.places.swap(free, next);
                free = next;
            }
            next = self.after(next);
        }
        Some(thing)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|(_, thing)| thing)
    }

    pub fn clear(&mut self) {
        *self = ByAddress::default();
    }
}

/// Maximum number of pages kept.
const FREE_MAX: usize = 4096;
/// Pages of an erased block that are prefetched together.
const TOGETHER: usize = 16;

/// Erased, unshared pages with their allocations, for the programs to come. A fork begins with
/// none.
#[derive(Debug, Default)]
pub(super) struct FreePages(Vec<Arc<Page>>);

impl Clone for FreePages {
    fn clone(&self) -> FreePages {
        FreePages::default()
    }
}

impl FreePages {
    /// Places `page`, which has no slots, in the allocation of an erased page if there is one.
    pub fn renew(&mut self, page: Page) -> Arc<Page> {
        let Some(mut free) = self.0.pop() else {
            return Arc::new(page);
        };
        if let Some(old) = Arc::get_mut(&mut free) {
            let slots = std::mem::take(&mut old.slots);
            *old = Page { slots, ..page };
        }
        free
    }

    /// Takes the pages of a block that was erased.
    pub fn erased(&mut self, pages: &mut Vec<Arc<Page>>) {
        for some in pages.chunks(TOGETHER) {
            fetch(some);
        }
        for mut page in pages.drain(..) {
            if self.0.len() < FREE_MAX
                && let Some(own) = Arc::get_mut(&mut page)
            {
                own.slots.clear();
                own.map = None;
                self.0.push(page);
            }
        }
    }
}

/// Prefetches the contents of these pages: each step reads what the step before has prefetched.
fn fetch(pages: &[Arc<Page>]) {
    for page in pages {
        prefetch(std::slice::from_ref(&**page), 0);
    }
    for page in pages {
        (0..page.slots.len()).for_each(|n| prefetch(&page.slots, n));
    }
    let slots = pages.iter().flat_map(|page| &page.slots);
    let contents = slots.filter_map(|spare| spare.content.as_ref());
    contents.for_each(SlotContent::prefetch);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeMap;

    /// Compares with a plain map: few addresses, so that many collide, and more at a time than the
    /// initial table has room for.
    #[test]
    fn what_is_put_in_is_found_until_it_is_taken_out() {
        let mut rng = Rng::new(1);
        let (mut table, mut plain) = (ByAddress::default(), BTreeMap::new());
        for n in 0..200_000_u64 {
            let range = if n / 20_000 % 2 == 0 { 40 } else { 3000 };
            let address = rng.below(range) as u32;
            if rng.below(2) == 0 {
                table.insert(address, n);
                plain.insert(address, n);
            } else {
                assert_eq!(table.remove(address), plain.remove(&address), "{address}");
            }
            let other = rng.below(range) as u32;
            assert_eq!(table.get(other), plain.get(&other), "{other}");
            assert_eq!(table.count, plain.len());
        }
        table.clear();
        assert_eq!(table.get(0), None);
    }
}
