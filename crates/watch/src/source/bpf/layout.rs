//! What differs between kernels: offsets of fields, numbers of operations, types of tracepoints.

use super::btf::{FieldOffset, KernelTypes, TracepointType};

/// What differs between kernels.
#[derive(Debug)]
pub struct KernelLayout {
    pub bio_queue: TracepointType,
    pub rq_issue: TracepointType,
    pub rq_requeue: TracepointType,
    pub rq_complete: TracepointType,
    /// From a request to its disk.
    pub rq_disk: Vec<FieldOffset>,
    /// From a bio to its disk.
    pub bio_disk: Vec<FieldOffset>,
    pub major: FieldOffset,
    pub first_minor: FieldOffset,
    pub bio_flags: FieldOffset,
    pub bio_sector: FieldOffset,
    pub bio_bytes: FieldOffset,
    pub rq_flags: FieldOffset,
    pub rq_sector: FieldOffset,
    pub rq_bytes: FieldOffset,
    pub rq_start: FieldOffset,
    pub rq_tag: FieldOffset,
    pub rq_hardware: FieldOffset,
    pub hardware_number: FieldOffset,
    pub ops: BlockOps,
}

/// Numbers of operations, and bits of flags.
#[derive(Debug)]
pub struct BlockOps {
    pub read: i32,
    pub write: i32,
    pub flush: i32,
    pub discard: i32,
    pub secure_erase: i32,
    pub fua: i32,
    pub preflush: i32,
    pub sync: i32,
    pub ahead: i32,
}

impl KernelLayout {
    /// Of the running kernel.
    ///
    /// # Errors
    /// What this kernel's types lack.
    pub fn live() -> Result<KernelLayout, String> {
        let types = KernelTypes::live()?;
        let lacks = |what: &str| format!("this kernel has no {what}");
        let field = |structure: &str, path: &str| {
            let place = types.field(structure, path);
            place.ok_or_else(|| lacks(&format!("{structure}.{path}")))
        };
        let event = |name: &str, structure: &str| {
            let place = types.tracepoint(name, structure);
            place.ok_or_else(|| lacks(&format!("type of the tracepoint {name}")))
        };
        let constant = |name: &str| {
            let value = types
                .constant(name)
                .and_then(|value| i32::try_from(value).ok());
            value.ok_or_else(|| lacks(name))
        };
        let bit = |name: &str| match constant(name)? {
            place @ 0..=30 => Ok(1 << place),
            _ => Err(lacks(name)),
        };
        // Before 5.17 a request had its disk, before 5.12 a bio.
        let rq_disk = match types.field("request", "rq_disk") {
            Some(disk) => vec![disk],
            None => vec![field("request", "q")?, field("request_queue", "disk")?],
        };
        let bio_disk = match types.field("bio", "bi_disk") {
            Some(disk) => vec![disk],
            None => vec![field("bio", "bi_bdev")?, field("block_device", "bd_disk")?],
        };
        let rq_complete = event("block_rq_complete", "request")?;
        if rq_complete.arguments < rq_complete.argument + 3 {
            return Err(lacks("count of bytes at block_rq_complete"));
        }
        Ok(KernelLayout {
            bio_queue: event("block_bio_queue", "bio")?,
            rq_issue: event("block_rq_issue", "request")?,
            rq_requeue: event("block_rq_requeue", "request")?,
            rq_complete,
            rq_disk,
            bio_disk,
            major: field("gendisk", "major")?,
            first_minor: field("gendisk", "first_minor")?,
            bio_flags: field("bio", "bi_opf")?,
            bio_sector: field("bio", "bi_iter.bi_sector")?,
            bio_bytes: field("bio", "bi_iter.bi_size")?,
            rq_flags: field("request", "cmd_flags")?,
            rq_sector: field("request", "__sector")?,
            rq_bytes: field("request", "__data_len")?,
            rq_start: field("request", "start_time_ns")?,
            rq_tag: field("request", "tag")?,
            rq_hardware: field("request", "mq_hctx")?,
            hardware_number: field("blk_mq_hw_ctx", "queue_num")?,
            ops: BlockOps {
                read: constant("REQ_OP_READ")?,
                write: constant("REQ_OP_WRITE")?,
                flush: constant("REQ_OP_FLUSH")?,
                discard: constant("REQ_OP_DISCARD")?,
                secure_erase: constant("REQ_OP_SECURE_ERASE")?,
                fua: bit("__REQ_FUA")?,
                preflush: bit("__REQ_PREFLUSH")?,
                sync: bit("__REQ_SYNC")?,
                ahead: bit("__REQ_RAHEAD")?,
            },
        })
    }
}
