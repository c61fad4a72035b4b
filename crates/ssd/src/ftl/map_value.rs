//! Values of a map entry: nowhere, on media, or in the write buffer.

use crate::config::MEDIA_SLOTS_MAX;

/// The slot lies nowhere. Zero, so that a fresh map costs no memory until it is used; a slot on
/// media at `ppn` has the value `ppn + 1`.
pub(super) const UNMAPPED: u32 = 0;
/// Values from here up are positions in the write buffer.
pub(super) const BUFFERED: u32 = MEDIA_SLOTS_MAX as u32;
