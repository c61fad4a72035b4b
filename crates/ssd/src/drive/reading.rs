//! Reads of the host: read-ahead, and data beyond correction.

use super::engine::Engine;
use crate::command::Command;
use crate::ftl::Translation;
use std::ops::Range;

impl<F: Translation> Engine<F> {
    /// Reads `slots` for the host from media that wears, or reads ahead; returns when they are in
    /// the controller.
    #[inline(never)]
    pub(super) fn read_with_care(
        &mut self,
        tag: u32,
        command: &Command,
        slots: Range<u32>,
        ready: u64,
    ) -> u64 {
        let Some(mut ahead) = self.ahead.take() else {
            return self.read_for_host(tag, ready, slots);
        };
        let bytes = command.offset..command.offset + u64::from(command.len);
        let end = slots.end;
        let hit = ahead.find(bytes, slots);
        let missing = self.read_for_host(tag, ready, hit.missing.clone());
        let depth = self.config.host.read_ahead;
        let geometry = &self.ftl.nand().geometry;
        let unit = (geometry.slots_per_unit / self.config.pack()).max(1);
        let user = self.config.user_slots() as u32;
        let more = ahead.wants(&hit, end, depth, unit, user);
        if !more.is_empty() {
            let lost = self.lost_reads();
            let ends = self.ftl.read(ready, more.clone());
            // What cannot be corrected is read again by the command that asks for it.
            if self.lost_reads() == lost {
                ahead.read(&hit, more, ends);
            }
        }
        self.ahead = Some(ahead);
        missing.max(hit.ready)
    }

    /// Reads mapping units and notes whether some of them are beyond correction.
    fn read_for_host(&mut self, tag: u32, ready: u64, slots: Range<u32>) -> u64 {
        let lost = self.lost_reads();
        let end = self.ftl.read(ready, slots);
        if lost.is_some() {
            self.unreadable.retain(|&other| other != tag);
            if self.lost_reads() != lost {
                self.unreadable.push(tag);
            }
        }
        end
    }

    /// Reads of the media beyond correction so far; `None` where it does not wear.
    fn lost_reads(&self) -> Option<u64> {
        let wear = self.ftl.nand().wear()?;
        Some(wear.counters().reads_uncorrectable)
    }

    /// Whether the last read of this tag met data beyond correction: an error to the host.
    pub fn take_unreadable(&mut self, tag: u32) -> bool {
        let position = self.unreadable.iter().position(|&other| other == tag);
        position.map(|at| self.unreadable.swap_remove(at)).is_some()
    }
}
