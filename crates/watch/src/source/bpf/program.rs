//! The programs that count requests in the kernel, made for one kernel and one disk.
//!
//! They do what [`crate::request::RequestAssembler`] does with events, without what needs all
//! requests at once. Between its two events a request is kept by its tag, which no other request
//! in the device has; a bio by its sector, in a table whose places are overwritten. A request whose
//! bio was overwritten waits from its allocation on, and is counted as such.

use super::btf::{FieldOffset, TracepointType};
use super::instruction::{Alu, Assembly, Helper, Jump, Label, Operand, Reg, Width};
use super::layout::KernelLayout;
use crate::source::histogram::{
    AWAITED_ROW, BUCKETS, DISCARD_ROW, FLUSH_ROW, SIZE_EDGES, SIZES, SUB_BUCKETS, TIME_BITS,
};
use ssdlab_bench::device::system::DevId;

/// Places for bios that wait: 2^16.
pub const BIO_BITS: u32 = 16;
/// A bio that waits: sector, time, bytes with [`PREFLUSH`].
pub const BIO_BYTES: u32 = 24;
/// A request in the device: address, queued, issued, bytes.
pub const REQUEST_BYTES: u32 = 32;
/// When somebody began to wait for a flush, and when the last one was done.
pub const FLUSH_STATE_BYTES: u32 = 16;
/// Counts of what could not be put together, by [`Missed`].
pub const MISSED_BYTES: u32 = 8 * Missed::COUNT as u32;
/// A row: count, bytes, failed, then for queue and device sum, longest, cells.
pub const ROW_BYTES: u32 = 24 + 2 * TIMES_BYTES as u32;
const TIMES_BYTES: i16 = 16 + 8 * BUCKETS as i16;
const QUEUE_TIMES: i16 = 24;
const DEVICE_TIMES: i16 = QUEUE_TIMES + TIMES_BYTES;

/// 2^64 divided by the golden ratio: spreads sectors over the table.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// In the bytes of a bio: it asks for a flush before it.
const PREFLUSH_BIT: i32 = 62;

/// What could not be put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// A completion without an issue.
    Completion = 0,
    /// A request whose bio was not found: it waits from its allocation on.
    Bio = 1,
    /// A request without a place.
    Place = 2,
}

impl Missed {
    /// How many there are.
    pub const COUNT: usize = 3;
}

/// Descriptors of the maps.
#[derive(Clone, Copy, Debug)]
pub struct ProgramMaps {
    pub bios: i32,
    pub requests: i32,
    pub flush_state: i32,
    pub missed: i32,
    pub rows: i32,
}

/// A program that is ready to be loaded.
#[derive(Debug)]
pub struct CountingProgram {
    pub name: &'static str,
    pub code: Vec<u64>,
    pub attach_btf_id: u32,
}

/// Makes the programs of one disk.
pub struct ProgramMaker<'a> {
    pub layout: &'a KernelLayout,
    pub maps: ProgramMaps,
    pub disk: DevId,
    /// Tags of a hardware queue.
    pub tags: u32,
}

/// Where values are kept on the stack.
const KEY: i16 = -4;
const NOW: i16 = -16;
const QUEUED: i16 = -24;
const DEVICE_NS: i16 = -32;
const QUEUE_NS: i16 = -40;
const FLAGS: i16 = -48;
const BYTES: i16 = -56;
const FAILED: i16 = -64;

const SECTOR_IN_BIO: i16 = 0;
const TIME_IN_BIO: i16 = 8;
const BYTES_IN_BIO: i16 = 16;

const ADDRESS_IN_REQUEST: i16 = 0;
const QUEUED_IN_REQUEST: i16 = 8;
const ISSUED_IN_REQUEST: i16 = 16;
const BYTES_IN_REQUEST: i16 = 24;

const ASKED_IN_STATE: i16 = 0;
const FLUSHED_IN_STATE: i16 = 8;

fn load(asm: &mut Assembly, field: FieldOffset, dst: Reg, src: Reg) {
    let width = Width::of_bytes(field.bytes).unwrap_or(Width::Double);
    asm.load(width, dst, src, field.offset);
}

/// `R0` = the element whose number is in the stack's key; to `absent` when there is none.
fn lookup(asm: &mut Assembly, map: i32, absent: Label) {
    asm.map(Reg::R1, map);
    asm.alu(Alu::Mov, Reg::R2, Reg::R10);
    asm.alu(Alu::Add, Reg::R2, i32::from(KEY));
    asm.call(Helper::MapLookup);
    asm.jump_if(Jump::Equal, Reg::R0, 0, absent);
}

fn lookup_number(asm: &mut Assembly, map: i32, number: i32, absent: Label) {
    asm.store(Width::Word, Reg::R10, KEY, number);
    lookup(asm, map, absent);
}

/// `*(R0 + offset) += value`.
fn add_to(asm: &mut Assembly, offset: i16, value: impl Into<Operand>) {
    asm.load(Width::Double, Reg::R1, Reg::R0, offset);
    asm.alu(Alu::Add, Reg::R1, value);
    asm.store(Width::Double, Reg::R0, offset, Reg::R1);
}

impl ProgramMaker<'_> {
    /// All programs, in the order in which they are to be attached. Attaching takes some 10 ms: the
    /// end of requests comes last, so that the beginning of each was seen.
    pub fn programs(&self) -> [CountingProgram; 4] {
        let layout = self.layout;
        let program = |name, code, tracepoint: TracepointType| CountingProgram {
            name,
            code,
            attach_btf_id: tracepoint.id,
        };
        [
            program("ssdlab_bio", self.queue(), layout.bio_queue),
            program("ssdlab_issue", self.issue(), layout.rq_issue),
            program("ssdlab_requeue", self.requeue(), layout.rq_requeue),
            program("ssdlab_done", self.complete(), layout.rq_complete),
        ]
    }

    /// To `other` unless what `R7` points to is of this disk.
    fn only_this_disk(&self, asm: &mut Assembly, path: &[FieldOffset], other: Label) {
        let mut from = Reg::R7;
        for field in path {
            load(asm, *field, Reg::R1, from);
            from = Reg::R1;
        }
        load(asm, self.layout.major, Reg::R2, Reg::R1);
        asm.jump_if(Jump::NotEqual, Reg::R2, self.disk.major as i32, other);
        load(asm, self.layout.first_minor, Reg::R2, Reg::R1);
        asm.jump_if(Jump::NotEqual, Reg::R2, self.disk.minor as i32, other);
    }

    fn count_missed(&self, asm: &mut Assembly, missed: Missed, end: Label) {
        lookup_number(asm, self.maps.missed, 0, end);
        add_to(asm, 8 * missed as i16, 1);
    }

    /// `R0` = the place of the bio that begins at the sector in `R8`.
    fn bio_place(&self, asm: &mut Assembly, absent: Label) {
        asm.wide(Reg::R1, GOLDEN);
        asm.alu(Alu::Mul, Reg::R1, Reg::R8);
        asm.alu(Alu::Rsh, Reg::R1, 64 - BIO_BITS as i32);
        asm.store(Width::Word, Reg::R10, KEY, Reg::R1);
        lookup(asm, self.maps.bios, absent);
    }

    /// `R0` = the place of the request in `R7`, by its tag; to `absent` when it has none.
    fn request_place(&self, asm: &mut Assembly, absent: Label) {
        load(asm, self.layout.rq_tag, Reg::R2, Reg::R7);
        asm.jump_if(Jump::AtLeast, Reg::R2, self.tags as i32, absent);
        load(asm, self.layout.rq_hardware, Reg::R1, Reg::R7);
        load(asm, self.layout.hardware_number, Reg::R1, Reg::R1);
        asm.alu(Alu::Mul, Reg::R1, self.tags as i32);
        asm.alu(Alu::Add, Reg::R1, Reg::R2);
        asm.store(Width::Word, Reg::R10, KEY, Reg::R1);
        lookup(asm, self.maps.requests, absent);
    }

    fn now(asm: &mut Assembly) {
        asm.call(Helper::KtimeNs);
        asm.store(Width::Double, Reg::R10, NOW, Reg::R0);
    }

    /// A bio was handed over.
    fn queue(&self) -> Vec<u64> {
        let layout = self.layout;
        let mut asm = Assembly::default();
        let (end, data) = (asm.label(), asm.label());
        asm.load(
            Width::Double,
            Reg::R7,
            Reg::R1,
            8 * layout.bio_queue.argument,
        );
        self.only_this_disk(&mut asm, &layout.bio_disk, end);
        Self::now(&mut asm);
        load(&mut asm, layout.bio_flags, Reg::R6, Reg::R7);
        load(&mut asm, layout.bio_bytes, Reg::R9, Reg::R7);
        load(&mut asm, layout.bio_sector, Reg::R8, Reg::R7);
        // Bytes, and whether it asks for a flush before it.
        asm.alu(Alu::And, Reg::R6, layout.ops.preflush);
        asm.jump_if(Jump::Equal, Reg::R6, 0, data);
        lookup_number(&mut asm, self.maps.flush_state, 0, end);
        asm.load(Width::Double, Reg::R1, Reg::R10, NOW);
        asm.load(Width::Double, Reg::R2, Reg::R0, ASKED_IN_STATE);
        let has_waiter = asm.label();
        asm.jump_if(Jump::NotEqual, Reg::R2, 0, has_waiter);
        asm.store(Width::Double, Reg::R0, ASKED_IN_STATE, Reg::R1);
        asm.place(has_waiter);
        asm.alu(Alu::Mov, Reg::R1, 1);
        asm.alu(Alu::Lsh, Reg::R1, PREFLUSH_BIT);
        asm.alu(Alu::Or, Reg::R9, Reg::R1);
        asm.place(data);
        // A flush without data is no request of its own.
        asm.alu(Alu::Mov, Reg::R1, Reg::R9);
        asm.alu(Alu::Lsh, Reg::R1, 64 - PREFLUSH_BIT);
        asm.jump_if(Jump::Equal, Reg::R1, 0, end);
        self.bio_place(&mut asm, end);
        asm.load(Width::Double, Reg::R1, Reg::R10, NOW);
        asm.store(Width::Double, Reg::R0, SECTOR_IN_BIO, Reg::R8);
        asm.store(Width::Double, Reg::R0, TIME_IN_BIO, Reg::R1);
        asm.store(Width::Double, Reg::R0, BYTES_IN_BIO, Reg::R9);
        asm.place(end);
        asm.exit();
        asm.finish()
    }

    /// A request was handed to the driver.
    fn issue(&self) -> Vec<u64> {
        let layout = self.layout;
        let ops = &layout.ops;
        let mut asm = Assembly::default();
        let (end, no_place, data, store) = (asm.label(), asm.label(), asm.label(), asm.label());
        asm.load(
            Width::Double,
            Reg::R7,
            Reg::R1,
            8 * layout.rq_issue.argument,
        );
        self.only_this_disk(&mut asm, &layout.rq_disk, end);
        load(&mut asm, layout.rq_flags, Reg::R6, Reg::R7);
        asm.alu(Alu::And, Reg::R6, 0xff);
        Self::now(&mut asm);
        asm.store(Width::Double, Reg::R10, QUEUED, Reg::R0);
        asm.jump_if(Jump::NotEqual, Reg::R6, ops.flush, data);
        // A flush: somebody waits for it since the first bio that asked for one.
        asm.alu(Alu::Mov, Reg::R9, 0);
        lookup_number(&mut asm, self.maps.flush_state, 0, end);
        asm.load(Width::Double, Reg::R1, Reg::R0, ASKED_IN_STATE);
        asm.jump_if(Jump::Equal, Reg::R1, 0, store);
        asm.store(Width::Double, Reg::R10, QUEUED, Reg::R1);
        asm.store(Width::Double, Reg::R0, ASKED_IN_STATE, 0);
        asm.jump(store);
        asm.place(data);
        let counted = asm.label();
        for op in [ops.read, ops.write, ops.discard, ops.secure_erase] {
            asm.jump_if(Jump::Equal, Reg::R6, op, counted);
        }
        asm.jump(end);
        asm.place(counted);
        load(&mut asm, layout.rq_bytes, Reg::R9, Reg::R7);
        load(&mut asm, layout.rq_sector, Reg::R8, Reg::R7);
        self.queued_since(&mut asm, store);
        asm.place(store);
        self.request_place(&mut asm, no_place);
        asm.load(Width::Double, Reg::R1, Reg::R10, QUEUED);
        asm.load(Width::Double, Reg::R2, Reg::R10, NOW);
        asm.store(Width::Double, Reg::R0, QUEUED_IN_REQUEST, Reg::R1);
        asm.store(Width::Double, Reg::R0, ISSUED_IN_REQUEST, Reg::R2);
        asm.store(Width::Double, Reg::R0, BYTES_IN_REQUEST, Reg::R9);
        // An address is kept to be compared, not followed.
        asm.store(Width::Double, Reg::R0, ADDRESS_IN_REQUEST, Reg::R7);
        asm.jump(end);
        asm.place(no_place);
        self.count_missed(&mut asm, Missed::Place, end);
        asm.place(end);
        asm.exit();
        asm.finish()
    }

    /// Since when the request in `R7` with sector `R8` and bytes `R9` waits.
    fn queued_since(&self, asm: &mut Assembly, store: Label) {
        let (absent, whole, not_behind) = (asm.label(), asm.label(), asm.label());
        self.bio_place(asm, absent);
        asm.load(Width::Double, Reg::R1, Reg::R0, SECTOR_IN_BIO);
        asm.jump_if(Jump::NotEqual, Reg::R1, Reg::R8, absent);
        asm.load(Width::Double, Reg::R2, Reg::R0, TIME_IN_BIO);
        asm.jump_if(Jump::Equal, Reg::R2, 0, absent);
        asm.load(Width::Double, Reg::R6, Reg::R0, BYTES_IN_BIO);
        asm.store(Width::Double, Reg::R0, TIME_IN_BIO, 0);
        asm.store(Width::Double, Reg::R10, QUEUED, Reg::R2);
        // A part of a bio that the kernel has split: the rest waits since the same time.
        asm.alu(Alu::Mov, Reg::R1, Reg::R6);
        asm.alu(Alu::Lsh, Reg::R1, 64 - PREFLUSH_BIT);
        asm.alu(Alu::Rsh, Reg::R1, 64 - PREFLUSH_BIT);
        asm.jump_if(Jump::AtLeast, Reg::R9, Reg::R1, whole);
        asm.alu(Alu::Sub, Reg::R6, Reg::R9);
        asm.alu(Alu::Mov, Reg::R1, Reg::R9);
        asm.alu(Alu::Rsh, Reg::R1, 9);
        asm.alu(Alu::Add, Reg::R8, Reg::R1);
        self.bio_place(asm, store);
        asm.load(Width::Double, Reg::R2, Reg::R10, QUEUED);
        asm.store(Width::Double, Reg::R0, SECTOR_IN_BIO, Reg::R8);
        asm.store(Width::Double, Reg::R0, TIME_IN_BIO, Reg::R2);
        asm.store(Width::Double, Reg::R0, BYTES_IN_BIO, Reg::R6);
        asm.place(whole);
        // Behind a flush that it asked for, a request waits from the flush's end on.
        asm.alu(Alu::Rsh, Reg::R6, PREFLUSH_BIT);
        asm.jump_if(Jump::Equal, Reg::R6, 0, store);
        lookup_number(asm, self.maps.flush_state, 0, store);
        asm.load(Width::Double, Reg::R1, Reg::R0, FLUSHED_IN_STATE);
        asm.load(Width::Double, Reg::R2, Reg::R10, QUEUED);
        asm.jump_if(Jump::AtLeast, Reg::R2, Reg::R1, not_behind);
        asm.store(Width::Double, Reg::R10, QUEUED, Reg::R1);
        asm.place(not_behind);
        asm.jump(store);
        asm.place(absent);
        self.count_missed(asm, Missed::Bio, store);
        load(asm, self.layout.rq_start, Reg::R1, Reg::R7);
        asm.jump_if(Jump::Equal, Reg::R1, 0, store);
        asm.load(Width::Double, Reg::R2, Reg::R10, NOW);
        asm.jump_if(Jump::Greater, Reg::R1, Reg::R2, store);
        asm.store(Width::Double, Reg::R10, QUEUED, Reg::R1);
    }

    /// The driver handed a request back: it waits in the host again.
    fn requeue(&self) -> Vec<u64> {
        let layout = self.layout;
        let mut asm = Assembly::default();
        let (end, no_tag, wait) = (asm.label(), asm.label(), asm.label());
        asm.load(
            Width::Double,
            Reg::R7,
            Reg::R1,
            8 * layout.rq_requeue.argument,
        );
        self.only_this_disk(&mut asm, &layout.rq_disk, end);
        load(&mut asm, layout.rq_sector, Reg::R8, Reg::R7);
        load(&mut asm, layout.rq_bytes, Reg::R9, Reg::R7);
        // The tag may have been handed back before.
        load(&mut asm, layout.rq_start, Reg::R6, Reg::R7);
        self.request_place(&mut asm, no_tag);
        asm.load(Width::Double, Reg::R1, Reg::R0, ADDRESS_IN_REQUEST);
        asm.alu(Alu::Mov, Reg::R2, Reg::R7);
        asm.jump_if(Jump::NotEqual, Reg::R1, Reg::R2, no_tag);
        asm.store(Width::Double, Reg::R0, ADDRESS_IN_REQUEST, 0);
        asm.load(Width::Double, Reg::R6, Reg::R0, QUEUED_IN_REQUEST);
        asm.jump(wait);
        asm.place(no_tag);
        asm.jump_if(Jump::Equal, Reg::R6, 0, end);
        asm.place(wait);
        self.bio_place(&mut asm, end);
        asm.store(Width::Double, Reg::R0, SECTOR_IN_BIO, Reg::R8);
        asm.store(Width::Double, Reg::R0, TIME_IN_BIO, Reg::R6);
        asm.store(Width::Double, Reg::R0, BYTES_IN_BIO, Reg::R9);
        asm.place(end);
        asm.exit();
        asm.finish()
    }

    /// The driver reported a request done.
    fn complete(&self) -> Vec<u64> {
        let layout = self.layout;
        let ops = &layout.ops;
        let mut asm = Assembly::default();
        let (end, unmatched) = (asm.label(), asm.label());
        let event = layout.rq_complete;
        asm.alu(Alu::Mov, Reg::R6, Reg::R1);
        asm.load(Width::Double, Reg::R7, Reg::R6, 8 * event.argument);
        self.only_this_disk(&mut asm, &layout.rq_disk, end);
        // The arguments behind the request: how it ended, and its bytes.
        asm.load(Width::Double, Reg::R1, Reg::R6, 8 * (event.argument + 1));
        asm.alu(Alu::And, Reg::R1, 0xff);
        asm.store(Width::Double, Reg::R10, FAILED, Reg::R1);
        asm.load(Width::Double, Reg::R8, Reg::R6, 8 * (event.argument + 2));
        load(&mut asm, layout.rq_flags, Reg::R9, Reg::R7);
        asm.store(Width::Double, Reg::R10, FLAGS, Reg::R9);
        asm.alu(Alu::And, Reg::R9, 0xff);
        self.request_place(&mut asm, unmatched);
        asm.load(Width::Double, Reg::R1, Reg::R0, ADDRESS_IN_REQUEST);
        asm.alu(Alu::Mov, Reg::R2, Reg::R7);
        asm.jump_if(Jump::NotEqual, Reg::R1, Reg::R2, unmatched);
        asm.store(Width::Double, Reg::R0, ADDRESS_IN_REQUEST, 0);
        asm.alu(Alu::Mov, Reg::R8, Reg::R0);
        Self::now(&mut asm);
        asm.load(Width::Double, Reg::R1, Reg::R8, ISSUED_IN_REQUEST);
        asm.alu(Alu::Sub, Reg::R0, Reg::R1);
        asm.store(Width::Double, Reg::R10, DEVICE_NS, Reg::R0);
        asm.load(Width::Double, Reg::R2, Reg::R8, QUEUED_IN_REQUEST);
        asm.alu(Alu::Sub, Reg::R1, Reg::R2);
        asm.store(Width::Double, Reg::R10, QUEUE_NS, Reg::R1);
        asm.load(Width::Double, Reg::R8, Reg::R8, BYTES_IN_REQUEST);
        asm.store(Width::Double, Reg::R10, BYTES, Reg::R8);
        self.count_in_rows(&mut asm, end);
        asm.jump(end);
        asm.place(unmatched);
        // The end of a write whose flush came after it: its data had been done before.
        let missed = asm.label();
        asm.jump_if(Jump::Equal, Reg::R9, ops.flush, missed);
        asm.jump_if(Jump::Equal, Reg::R8, 0, end);
        for op in [ops.read, ops.write, ops.discard, ops.secure_erase] {
            asm.jump_if(Jump::Equal, Reg::R9, op, missed);
        }
        asm.jump(end);
        asm.place(missed);
        self.count_missed(&mut asm, Missed::Completion, end);
        asm.place(end);
        asm.exit();
        asm.finish()
    }

    /// Counts the request whose operation is in `R9` and whose bytes are in `R8`.
    fn count_in_rows(&self, asm: &mut Assembly, end: Label) {
        let ops = &self.layout.ops;
        let (flush, discard, sized, count) = (asm.label(), asm.label(), asm.label(), asm.label());
        asm.jump_if(Jump::Equal, Reg::R9, ops.flush, flush);
        asm.jump_if(Jump::Equal, Reg::R9, ops.discard, discard);
        asm.jump_if(Jump::Equal, Reg::R9, ops.secure_erase, discard);
        asm.alu(Alu::Mov, Reg::R6, 0);
        asm.jump_if(Jump::Equal, Reg::R9, ops.read, sized);
        asm.alu(Alu::Mov, Reg::R6, SIZES as i32);
        asm.load(Width::Double, Reg::R1, Reg::R10, FLAGS);
        asm.alu(Alu::And, Reg::R1, ops.fua);
        asm.jump_if(Jump::Equal, Reg::R1, 0, sized);
        asm.alu(Alu::Add, Reg::R6, SIZES as i32);
        asm.place(sized);
        for edge in SIZE_EDGES {
            asm.jump_if(Jump::Less, Reg::R8, edge as i32 + 1, count);
            asm.alu(Alu::Add, Reg::R6, 1);
        }
        asm.jump(count);
        asm.place(flush);
        asm.alu(Alu::Mov, Reg::R6, FLUSH_ROW as i32);
        asm.jump(count);
        asm.place(discard);
        asm.alu(Alu::Mov, Reg::R6, DISCARD_ROW as i32);
        asm.place(count);
        self.count_row(asm, end);
        // Whether somebody waits for it: reads that are no readahead, writes marked so, flushes.
        let (awaited, read) = (asm.label(), asm.label());
        asm.load(Width::Double, Reg::R1, Reg::R10, FLAGS);
        asm.jump_if(Jump::Equal, Reg::R9, ops.flush, awaited);
        asm.jump_if(Jump::Equal, Reg::R9, ops.read, read);
        asm.jump_if(Jump::NotEqual, Reg::R9, ops.write, end);
        asm.jump_if(Jump::AnyBit, Reg::R1, ops.sync, awaited);
        asm.jump(end);
        asm.place(read);
        asm.jump_if(Jump::AnyBit, Reg::R1, ops.ahead, end);
        asm.place(awaited);
        asm.load(Width::Double, Reg::R1, Reg::R10, QUEUE_NS);
        asm.load(Width::Double, Reg::R2, Reg::R10, DEVICE_NS);
        asm.alu(Alu::Add, Reg::R2, Reg::R1);
        asm.store(Width::Double, Reg::R10, DEVICE_NS, Reg::R2);
        asm.alu(Alu::Mov, Reg::R6, AWAITED_ROW as i32);
        self.count_row(asm, end);
    }

    /// Counts in the row `R6`.
    fn count_row(&self, asm: &mut Assembly, end: Label) {
        asm.store(Width::Word, Reg::R10, KEY, Reg::R6);
        lookup(asm, self.maps.rows, end);
        let good = asm.label();
        add_to(asm, 0, 1);
        asm.load(Width::Double, Reg::R2, Reg::R10, BYTES);
        add_to(asm, 8, Reg::R2);
        asm.load(Width::Double, Reg::R2, Reg::R10, FAILED);
        asm.jump_if(Jump::Equal, Reg::R2, 0, good);
        add_to(asm, 16, 1);
        asm.place(good);
        for (place, times) in [(QUEUE_NS, QUEUE_TIMES), (DEVICE_NS, DEVICE_TIMES)] {
            asm.load(Width::Double, Reg::R2, Reg::R10, place);
            count_time(asm, times);
        }
    }
}

/// Counts the time in `R2` in the times at `R0 + times`.
fn count_time(asm: &mut Assembly, times: i16) {
    let (shorter, found, in_range) = (asm.label(), asm.label(), asm.label());
    add_to(asm, times, Reg::R2);
    asm.load(Width::Double, Reg::R1, Reg::R0, times + 8);
    asm.jump_if(Jump::AtLeast, Reg::R1, Reg::R2, shorter);
    asm.store(Width::Double, Reg::R0, times + 8, Reg::R2);
    asm.place(shorter);
    // R3 becomes the cell: below 8 the time itself.
    asm.alu(Alu::Mov, Reg::R3, Reg::R2);
    asm.jump_if(Jump::Less, Reg::R2, SUB_BUCKETS as i32, found);
    asm.alu(Alu::Mov, Reg::R3, BUCKETS as i32 - 1);
    asm.alu(Alu::Mov, Reg::R1, Reg::R2);
    asm.alu(Alu::Rsh, Reg::R1, TIME_BITS as i32);
    asm.jump_if(Jump::NotEqual, Reg::R1, 0, found);
    // Else halved until below 16: cells of as many powers come before, 8 + the rest of the last.
    asm.alu(Alu::Mov, Reg::R3, 0);
    for bits in [32, 16, 8, 4, 2, 1] {
        let small = asm.label();
        asm.alu(Alu::Mov, Reg::R1, Reg::R2);
        asm.alu(
            Alu::Rsh,
            Reg::R1,
            bits + SUB_BUCKETS.trailing_zeros() as i32,
        );
        asm.jump_if(Jump::Equal, Reg::R1, 0, small);
        asm.alu(Alu::Rsh, Reg::R2, bits);
        asm.alu(Alu::Add, Reg::R3, bits * SUB_BUCKETS as i32);
        asm.place(small);
    }
    asm.alu(Alu::Add, Reg::R3, Reg::R2);
    asm.place(found);
    // The verifier wants to see that it is within the row.
    asm.jump_if(Jump::Less, Reg::R3, BUCKETS as i32, in_range);
    asm.alu(Alu::Mov, Reg::R3, BUCKETS as i32 - 1);
    asm.place(in_range);
    asm.alu(Alu::Lsh, Reg::R3, 3);
    asm.alu(Alu::Add, Reg::R3, Reg::R0);
    asm.load(Width::Double, Reg::R1, Reg::R3, times + 16);
    asm.alu(Alu::Add, Reg::R1, 1);
    asm.store(Width::Double, Reg::R3, times + 16, Reg::R1);
}
