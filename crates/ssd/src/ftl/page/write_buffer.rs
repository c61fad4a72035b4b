//! The write buffer: a queue of each stream's data, and the programs that free it.
//!
//! The map value of a buffered slot is [`BUFFERED`] plus its place here: the stream in the upper
//! bits, the index in its queue in the lower ones.

use super::{BUFFERED, GatherEntry};
use crate::ftl::gather::Gather;
use crate::ftl::translation::BookedUnit;
use crate::image::image_of;

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct WriteBuffer {
        gathers: Vec<Gather>,
        /// log2 of the entries of a queue.
        shift: u32,
        /// Units of host data booked since the drive last asked.
        launched: Vec<BookedUnit>,
    } afresh {
        /// Room for the batch being programmed.
        batch: Vec<GatherEntry>,
    }
}

impl WriteBuffer {
    /// Queues for `streams` streams of `slots` live entries each.
    pub fn new(streams: usize, slots: u32, unit: u32) -> WriteBuffer {
        let gather = Gather::new(slots);
        WriteBuffer {
            shift: gather.size().trailing_zeros(),
            gathers: vec![gather; streams],
            launched: Vec::new(),
            batch: Vec::with_capacity(unit as usize),
        }
    }

    pub fn clear(&mut self) {
        for gather in &mut self.gathers {
            gather.clear();
        }
        self.launched.clear();
    }

    /// Stream and index of a map value that points here.
    #[inline(always)]
    pub fn place(&self, value: u32) -> BufferPlace {
        let position = value - BUFFERED;
        BufferPlace {
            stream: (position >> self.shift) as usize,
            index: position & ((1 << self.shift) - 1),
        }
    }

    /// The map value of an entry.
    #[inline(always)]
    pub fn value_of(&self, place: BufferPlace) -> u32 {
        BUFFERED + ((place.stream as u32) << self.shift | place.index)
    }

    #[inline(always)]
    pub fn gather(&self, stream: usize) -> &Gather {
        &self.gathers[stream]
    }

    #[inline(always)]
    pub fn gather_mut(&mut self, stream: usize) -> &mut Gather {
        &mut self.gathers[stream]
    }

    /// The queues, one for each stream.
    pub fn gathers(&self) -> &[Gather] {
        &self.gathers
    }

    /// Live entries of all streams.
    pub fn live(&self) -> u32 {
        self.gathers.iter().map(Gather::live).sum()
    }

    /// Appends to a stream's queue; returns the map value.
    #[inline(always)]
    pub fn push(&mut self, stream: usize, entry: GatherEntry) -> u32 {
        let index = self.gathers[stream].push(entry);
        self.value_of(BufferPlace { stream, index })
    }

    /// Sets the weight of new data.
    #[inline(always)]
    pub fn reweigh(&mut self, value: u32, weight: u32) {
        let place = self.place(value);
        self.gathers[place.stream].reweigh(place.index, weight);
    }

    /// Removes an entry out of order; returns the map value of its older copy.
    pub fn kill(&mut self, value: u32) -> u32 {
        let place = self.place(value);
        self.gathers[place.stream].kill(place.index).old
    }

    /// Map value of the older copy of an entry's data.
    pub fn old(&self, value: u32) -> u32 {
        let place = self.place(value);
        self.gathers[place.stream].old(place.index)
    }

    /// Updates the map value of the older copy of an entry's data, which has been relocated.
    #[inline(always)]
    pub fn set_old(&mut self, value: u32, from: u32, to: u32) {
        let place = self.place(value);
        self.gathers[place.stream].set_old(place.index, from, to);
    }

    #[inline(always)]
    pub fn prefetch(&self, value: u32) {
        let place = self.place(value);
        self.gathers[place.stream].prefetch(place.index);
    }

    /// An empty batch, to be given back: its memory is used again.
    #[inline(always)]
    pub fn take_batch(&mut self) -> Vec<GatherEntry> {
        std::mem::take(&mut self.batch)
    }

    #[inline(always)]
    pub fn give_back(&mut self, mut batch: Vec<GatherEntry>) {
        batch.clear();
        self.batch = batch;
    }

    /// Units of host data booked since the list was last emptied.
    #[inline(always)]
    pub fn launched(&mut self) -> &mut Vec<BookedUnit> {
        &mut self.launched
    }
}

/// Place of an entry in the write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferPlace {
    pub stream: usize,
    pub index: u32,
}
