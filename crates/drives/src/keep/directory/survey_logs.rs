//! The logs since a checkpoint: what they hold, where they end, and what is lost behind damage.

use super::end::LogEnd;
use super::file::{FrameFileId, FrameFileKind};
use super::frames::{ExpectedFrameFile, FrameFileEnd, FrameScan};
use super::places::DataPlaces;
use super::records::FrameRecord;
use super::stored::{file_bytes, log_path};
use super::survey::{DirectorySurvey, RecoveryBase, is_old, trailing_text};
use super::{frames, old};
use ssdlab_base::LabError;
use std::path::Path;
use std::sync::Arc;

impl DirectorySurvey {
    /// Reads the logs since a checkpoint, up to the first that is damaged.
    pub(super) fn read_logs(&mut self, mut base: RecoveryBase) -> Result<(), LabError> {
        let sound = self.check_against_end(&base);
        let end = self
            .end
            .map(|(_, end)| end)
            .filter(|_| !old::has(base.format) && sound);
        let mut number = base.number;
        loop {
            let has_next = self.logs.range(number + 1..).next().is_some();
            let needed = has_next || end.is_some_and(|end| end.needs(number));
            if !self.logs.contains(&number) {
                if needed {
                    self.log_is_missing(number, end);
                }
                break;
            }
            let scan = self.read_log(number, &mut base, end)?;
            let whole = self.judge_log(number, &scan, end, needed, has_next);
            base.last = number;
            base.chain = scan.chain;
            if !whole || !(has_next || end.is_some_and(|end| end.log > number)) {
                if whole {
                    let begun = scan.place.is_some() || old::has(base.format);
                    base.tail = begun.then_some(scan);
                } else {
                    self.count_lost(number, &scan, end)?;
                }
                break;
            }
            base.bytes_before += scan.bytes;
            number += 1;
        }
        self.base = Some(base);
        Ok(())
    }

    fn read_log(
        &mut self,
        number: u64,
        base: &mut RecoveryBase,
        end: Option<LogEnd>,
    ) -> Result<FrameScan, LabError> {
        let file = log_path(&self.path, number);
        let own_end = end.filter(|end| end.log == number);
        let unsure = own_end.is_some_and(|end| end.may_have_crashed(self.boot));
        let mut frame = 0;
        let (named, stored) = (&mut base.named, &mut base.stored);
        let take_record = |record: FrameRecord| {
            if unsure {
                named.note(&record, frame);
            }
            frame += 1;
            stored.take(record);
        };
        let scan = if old::has(base.format) {
            old::read(&file, &self.places, take_record)?
        } else {
            let expected = ExpectedFrameFile {
                kind: FrameFileKind::Log,
                directory: Some(base.directory),
                number: Some(number),
                begins: Some(base.chain),
                there: own_end.map_or(0, |end| end.bytes),
                frames_max: own_end.map_or(u64::MAX, |_| self.frames_max),
            };
            let mut scan = frames::read(&file, expected, &self.places, take_record)?;
            if scan.place.is_none() {
                scan.chain = base.chain;
            }
            scan
        };
        self.saw(&file, &scan);
        Ok(scan)
    }

    /// Whether a log is what it was when the last command was acknowledged.
    fn judge_log(
        &mut self,
        number: u64,
        scan: &FrameScan,
        end: Option<LogEnd>,
        needed: bool,
        has_next: bool,
    ) -> bool {
        let file = log_path(&self.path, number);
        let file_len = file_bytes(&file);
        let own_end = end.filter(|end| end.log == number);
        let crashed = own_end.filter(|end| end.may_have_crashed(self.boot));
        let certain = crashed.map(|end| end.synced.max(scan.synced));
        let (at, what) = match &scan.ended {
            // What was not on disk yet when the machine crashed.
            FrameFileEnd::Damaged(..) | FrameFileEnd::Torn
                if !has_next && certain.is_some_and(|certain| scan.bytes >= certain) =>
            {
                let (file, cut) = (file.display(), file_len - scan.bytes);
                self.notes.push(format!(
                    "{file}: byte {}: {cut} bytes behind the last sync are not whole: the \
                     machine has crashed, and what was not flushed is cut off",
                    scan.bytes
                ));
                return true;
            }
            FrameFileEnd::Damaged(what, behind) => {
                (scan.bytes, format!("{what}{}", trailing_text(behind)))
            }
            FrameFileEnd::Torn if needed && scan.place.is_none() && own_end.is_some() => {
                (0, "it is cut short".to_owned())
            }
            FrameFileEnd::Torn if has_next => (
                scan.bytes,
                "it is cut short, and another log follows".to_owned(),
            ),
            FrameFileEnd::Torn if !self.may_be_torn(&file, number, scan) => {
                (0, "its head is wrong and cut short".to_owned())
            }
            FrameFileEnd::Torn | FrameFileEnd::Whole => {
                if scan.ended == FrameFileEnd::Torn && file_len > scan.bytes {
                    let (file, torn) = (file.display(), file_len - scan.bytes);
                    self.notes.push(format!(
                        "{file}: byte {}: {torn} bytes of a frame that was not finished, by a \
                         kill or a full disk: nothing in it was acknowledged",
                        scan.bytes
                    ));
                }
                return self.reaches(&file, scan, own_end, certain);
            }
        };
        self.damaged(&file, Some(at), what);
        false
    }

    /// Whether a file of less than a head is the beginning of this log.
    fn may_be_torn(&self, file: &Path, number: u64, scan: &FrameScan) -> bool {
        if scan.place.is_some() || scan.bytes > 0 {
            return true;
        }
        let Some((_, end)) = self.end else {
            // Of an old format, which has no heads.
            return true;
        };
        let place = FrameFileId {
            directory: end.directory,
            kind: FrameFileKind::Log,
            number,
        };
        std::fs::read(file).is_ok_and(|bytes| place.may_begin(&bytes))
    }

    /// Whether a log is as long as it was when the last command was acknowledged.
    fn reaches(
        &mut self,
        file: &Path,
        scan: &FrameScan,
        own_end: Option<LogEnd>,
        certain: Option<u64>,
    ) -> bool {
        let Some(end) = own_end else {
            return true;
        };
        let bytes = certain.unwrap_or(end.bytes);
        if scan.bytes < bytes {
            let problem = format!("it ends here, of {bytes} bytes that were acknowledged");
            self.damaged(file, Some(scan.bytes), problem);
            return false;
        }
        if certain.is_none() && bytes > 0 && scan.chain_there != Some(end.chain) {
            let problem = "the frames before it are not those that were acknowledged";
            self.damaged(file, Some(bytes), problem);
            return false;
        }
        true
    }

    fn log_is_missing(&mut self, number: u64, end: Option<LogEnd>) {
        let file = log_path(&self.path, number);
        self.damaged(&file, None, "the log is missing");
        if let Some(end) = end.filter(|end| end.log == number) {
            self.lost.frames += end.frames;
            self.lost.bytes += end.bytes;
        }
        let later: Vec<u64> = self.logs.range(number..).copied().collect();
        for later in later {
            self.lost.bytes += file_bytes(&log_path(&self.path, later));
        }
    }

    /// Counts what is behind the good frames of a log, and in the logs after it.
    fn count_lost(
        &mut self,
        number: u64,
        scan: &FrameScan,
        end: Option<LogEnd>,
    ) -> Result<(), LabError> {
        let file = log_path(&self.path, number);
        let acknowledged = end.filter(|end| end.log == number);
        let frames = acknowledged.map_or(0, |end| end.frames.saturating_sub(scan.count));
        let bytes = acknowledged
            .map_or(0, |end| end.bytes)
            .max(file_bytes(&file));
        let behind = match &scan.ended {
            FrameFileEnd::Damaged(_, behind) => behind.frames,
            _ => 0,
        };
        self.lost.frames += frames.max(behind);
        self.lost.bytes += bytes.saturating_sub(scan.bytes);
        let later: Vec<u64> = self.logs.range(number + 1..).copied().collect();
        for later in later {
            let file = log_path(&self.path, later);
            // Places of their own: what they name is not to be held.
            let places = Arc::new(DataPlaces::of(&self.path, false));
            if let Some(base) = &self.base {
                places.are_of(&base.stored.config)?;
            }
            let scan = if is_old(&file)? {
                old::read(&file, &places, drop)?
            } else {
                frames::read(
                    &file,
                    ExpectedFrameFile::any(FrameFileKind::Log),
                    &places,
                    drop,
                )?
            };
            self.lost.frames += scan.count;
            self.lost.bytes += file_bytes(&file);
        }
        Ok(())
    }
}
