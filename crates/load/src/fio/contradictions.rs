//! Options that contradict each other.

use super::draft::{FioJobDraft, RwDirection};
use crate::plan::WriteAs;
use ssdlab_fio::{Error, JobFileSection, SizeOrPercent};
use ssdlab_ssd::Nanos;

/// Files of a job, over all copies.
const FILES_MAX: u64 = 65_536;

impl FioJobDraft {
    /// What cannot be meant together.
    pub(super) fn contradiction(&self, section: &JobFileSection) -> Option<Error> {
        let files = u64::from(self.files.in_turn()) * u64::from(self.copies);
        if let Some(setting) = &self.zbd {
            return Some(super::zbd::refused(setting, self.zones.bytes > 0));
        }
        if let Some(error) = self.odd_block_refused() {
            return Some(error);
        }
        let (what, hint) = if self.fsync > 0 && self.fdatasync > 0 {
            ("both fsync and fdatasync", "use one of them")
        } else if let Some(contradiction) = self.contradiction_of_bindings() {
            contradiction
        } else if let Some(contradiction) =
            (self.dedupe).contradiction(self.size.is_some(), self.files.in_turn())
        {
            contradiction
        } else if self.replayed.log.is_some() && self.shapes_commands() {
            let problem =
                "read_iolog with a rate, thinktime, flow, latency_target, verify or zones";
            (
                problem,
                "leave the others out: the log says what is sent when",
            )
        } else if files > FILES_MAX {
            ("more than 65,536 files", "use fewer copies or files")
        } else if self.after_colon < 0 && !self.random && self.offset != SizeOrPercent::Bytes(0) {
            (
                "backwards from an offset, where fio leaves the region",
                "write offset=0",
            )
        } else {
            return None;
        };
        Some(refuse(section, what, hint))
    }

    /// The page cache takes blocks of any size, a drive does not.
    fn odd_block_refused(&self) -> Option<Error> {
        let (setting, bytes) = (self.submission.block_option.as_ref()?, self.odd_block()?);
        let past_cache = self.direct || self.passthrough;
        let why = if past_cache {
            "past the page cache"
        } else if self.direction == RwDirection::Trim {
            "for trims"
        } else if self.verifies || self.write_as != WriteAs::Write {
            "beside verify= or another kind of write"
        } else if self.files.in_turn() > 1 || self.strided {
            "in several files or zones"
        } else {
            return None;
        };
        let cached = if past_cache {
            ", or write direct=0"
        } else {
            ""
        };
        Some(setting.bad(
            &format!("{why}, a block is a multiple of 512 bytes"),
            format!("{}{cached}", ssdlab_fio::nearest_blocks(bytes)),
        ))
    }

    /// Whether options other than a log shape the stream.
    fn shapes_commands(&self) -> bool {
        let pace = &self.pace;
        let limited = pace.rate_bytes != [0; 3] || pace.rate_iops != [0; 3];
        let held = limited || pace.think.0 > 0 || self.flow > 0 || self.latency.limit.0 > 0;
        held || self.verifies || self.strided
    }

    fn contradiction_of_bindings(&self) -> Option<(&'static str, &'static str)> {
        let zone = self.zones.bytes > 0;
        Some(if self.strided && !zone {
            (
                "zonemode=strided without zones",
                "say how large with zonesize=",
            )
        } else if zone && !self.strided {
            ("zones without a zonemode", "write zonemode=strided")
        } else if self.strided && (self.files.in_turn() > 1 || self.after_colon != 0) {
            (
                "zones with several files, or with a number after rw's colon",
                "give it one file, or leave the number out",
            )
        } else if self.ends_steady && self.steady.window_s == 0 {
            (
                "steadystate without a window",
                "say over what time with steadystate_duration=",
            )
        } else if self.latency.limit > Nanos::ZERO && self.latency.window == Nanos::ZERO {
            (
                "latency_target without a window",
                "say over what time a depth is judged with latency_window=",
            )
        } else if self.write_as == WriteAs::TrimAndWrite && self.split.is_some() {
            ("trimwrite with several sizes", "use one block size")
        } else if self.verifies && self.write_as != WriteAs::Write {
            (
                "verify with writes that are something else to the drive",
                "leave verify= out",
            )
        } else {
            return None;
        })
    }
}

pub(super) fn refuse(section: &JobFileSection, problem: &str, hint: &str) -> Error {
    Error::refused(
        format!("{}: job `{}`: {problem}", section.place, section.name),
        hint,
    )
}
