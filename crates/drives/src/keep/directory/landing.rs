//! Places for the bytes of a write that is still on its way: they are received into the file, and
//! the drive learns of them when all are there.

use super::places::{DataPlaces, LANDING_MAX, runs};
use ssdlab_ssd::nand::media::{Payload, Shelf};
use std::io;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Where a directory receives writes without its drive's lock.
#[derive(Clone, Debug)]
pub struct WriteLandings(pub(super) Arc<DataPlaces>);

impl WriteLandings {
    /// Room for a write of `len` bytes at `offset`; `None`: it has parts of mapping units, is too
    /// long, or there is no such room in few pieces.
    pub fn begin(&self, offset: u64, len: usize) -> Option<WriteLanding> {
        let (size, _) = self.0.shape();
        let whole = size > 0 && offset.is_multiple_of(size as u64) && len.is_multiple_of(size);
        if !whole || len > LANDING_MAX {
            return None;
        }
        let taken_places = self.0.take_landing(len / size)?;
        let places = self.0.clone();
        Some(WriteLanding {
            places,
            taken: taken_places,
            at: 0,
        })
    }
}

/// Places that are filled in order. When it is dropped, others may have them.
#[derive(Debug)]
pub struct WriteLanding {
    places: Arc<DataPlaces>,
    taken: Vec<u32>,
    /// Bytes that are there.
    at: usize,
}

impl WriteLanding {
    /// Bytes of the whole write.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.taken.len() * self.places.shape().0
    }

    /// Bytes that are still to come.
    pub fn missing(&self) -> usize {
        self.len() - self.at
    }

    /// Where the next byte goes in the file, and how many may follow it there.
    fn next(&self) -> (u64, usize) {
        let (size, _) = self.places.shape();
        let (number, within) = (self.at / size, self.at % size);
        let Some(&place) = self.taken.get(number) else {
            return (0, 0);
        };
        let run = runs(&self.taken[number..]).next();
        let count = run.map_or(0, |run| run.len());
        let begins = self.places.begins(place) + within as u64;
        (begins, count * size - within)
    }

    /// Puts the next bytes.
    ///
    /// # Errors
    /// When they cannot be written.
    ///
    /// # Panics
    /// When there are more than are missing.
    pub fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        assert!(bytes.len() <= self.missing(), "more than was asked for");
        while !bytes.is_empty() {
            let (at, room) = self.next();
            let now = &bytes[..room.min(bytes.len())];
            self.places.write_at(now, at)?;
            self.at += now.len();
            bytes = &bytes[now.len()..];
        }
        Ok(())
    }

    /// Moves the next `count` bytes out of a pipe, which has them.
    ///
    /// # Errors
    /// When they cannot be written: some may be left in the pipe.
    ///
    /// # Panics
    /// When there are more than are missing.
    #[cfg(target_os = "linux")]
    pub fn splice(&mut self, pipe: std::os::fd::BorrowedFd<'_>, count: usize) -> io::Result<()> {
        assert!(count <= self.missing(), "more than was asked for");
        let mut left = count;
        while left > 0 {
            let (at, room) = self.next();
            let moved = self.places.splice_at(pipe, room.min(left), at)?;
            self.at += moved;
            left -= moved;
        }
        Ok(())
    }

    /// The first `count` bytes, or all.
    pub fn begins_with(&self, count: usize) -> Vec<u8> {
        let places = self.taken.iter();
        let mut bytes: Vec<u8> = Vec::new();
        for &place in places {
            if bytes.len() >= count.min(self.at) {
                break;
            }
            bytes.extend(self.places.bytes(place));
        }
        bytes.truncate(count.min(self.at));
        bytes
    }

    /// The bytes, once all are there.
    ///
    /// # Panics
    /// When some are missing.
    pub(super) fn end(mut self) -> Option<Payload> {
        assert_eq!(self.missing(), 0, "bytes that have not come");
        let taken_places = std::mem::take(&mut self.taken);
        self.places.has_landed(taken_places.len());
        for &place in &taken_places {
            let sum = XxHash3_64::oneshot(self.places.bytes(place));
            self.places.is_put(place, sum);
        }
        let shelf: Arc<dyn Shelf> = self.places.clone();
        Payload::in_places(&shelf, &taken_places, self.places.shape().0 as u32)
    }
}

impl Drop for WriteLanding {
    fn drop(&mut self) {
        if !self.taken.is_empty() {
            self.places.has_landed(self.taken.len());
            self.places.free().give_back(&self.taken);
        }
    }
}
