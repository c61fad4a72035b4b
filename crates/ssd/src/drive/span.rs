//! Mapping units and link time of a command, and whether it is possible.

use crate::command::{Command, Op};
use crate::nand::EndOfLife;
use std::ops::Range;

/// Whether a drive at its end of life refuses a command, which then completes without effect.
#[inline(always)]
pub fn refuses(ended: Option<EndOfLife>, op: Op) -> bool {
    match ended {
        None | Some(EndOfLife::Slow) => false,
        Some(EndOfLife::Failed) => true,
        Some(EndOfLife::ReadOnly) => !matches!(op, Op::Read | Op::Flush),
    }
}

/// Checks that a command lies within the drive and is in whole blocks.
///
/// # Panics
/// When it is not.
#[inline(always)]
pub fn assert_possible(command: &Command, user_bytes: u64) {
    let end = command.offset + u64::from(command.len);
    assert!(end <= user_bytes, "command ends at {end}, beyond the drive");
    assert!(
        (command.offset | u64::from(command.len)).is_multiple_of(512),
        "not in whole blocks"
    );
}

/// Mapping units that a command touches.
#[inline(always)]
pub fn slots_touched(command: &Command, slot_shift: u32) -> Range<u32> {
    let first = command.offset >> slot_shift;
    let end = command.offset + u64::from(command.len);
    let last = (end + (1 << slot_shift) - 1) >> slot_shift;
    first as u32..last as u32
}

/// Mapping units that lie entirely within a command: only these can be trimmed.
pub fn slots_within(command: &Command, slot_shift: u32) -> Range<u32> {
    let first = command.offset.next_multiple_of(1 << slot_shift) >> slot_shift;
    let last = (command.offset + u64::from(command.len)) >> slot_shift;
    first as u32..last.max(first) as u32
}

/// Mapping units that a write covers partly.
pub fn edges(command: &Command, slots: &Range<u32>, slot_shift: u32) -> impl Iterator<Item = u32> {
    let within = (1 << slot_shift) - 1;
    let last = command.offset + u64::from(command.len);
    let some = command.len > 0;
    let head = (some && command.offset & within != 0).then_some(slots.start);
    let tail = (some && last & within != 0).then_some(slots.end.wrapping_sub(1));
    head.into_iter().chain(tail.filter(move |_| tail != head))
}

/// Time that `bytes` take on a link, ns, rounded up once.
pub fn transfer_ns(bytes: u64, bytes_per_second: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second)) as u64
}
