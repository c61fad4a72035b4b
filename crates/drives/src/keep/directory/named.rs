//! Which frames name which places: after a crash of the machine, frames behind the last sync may be
//! there without the bytes that they name.

use super::records::FrameRecord;
use ssdlab_ssd::nand::media::{Content, Event, SlotBytes};
use std::collections::HashMap;

/// Which frame of a log has last named each place.
#[derive(Debug, Default)]
pub(super) struct NamingFrames(HashMap<u32, u64>);

impl NamingFrames {
    /// A frame holds this record.
    pub fn note(&mut self, record: &FrameRecord, frame: u64) {
        let mut note = |content: &Content| {
            let bytes = content.as_ref().and_then(|content| content.bytes.as_ref());
            if let Some((_, place)) = bytes.and_then(SlotBytes::place) {
                self.0.insert(place, frame);
            }
        };
        match record {
            FrameRecord::Events(events) => {
                for event in events {
                    if let Event::Programmed { page, .. } = event {
                        page.slots.iter().for_each(|spare| note(&spare.content));
                    }
                }
            }
            FrameRecord::Saved(slots) => slots.iter().for_each(|(_, content)| note(content)),
            _ => {}
        }
    }

    /// Frames before the last that named a place.
    pub fn frame(&self, place: u32) -> Option<u64> {
        self.0.get(&place).copied()
    }
}
