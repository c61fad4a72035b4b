//! Whether the bytes that files name are there.

use super::survey::DirectorySurvey;

impl DirectorySurvey {
    /// The frames of the last log before the first whose bytes were not on disk when the machine
    /// crashed: what was synced is before it.
    pub(super) fn frames_without_bytes(&mut self) -> Option<u64> {
        let base = self.base.as_mut()?;
        base.not_whole = base.stored.places_in_use(&self.places);
        base.not_whole.retain(|&place| !self.places.is_whole(place));
        let frames = base.not_whole.iter();
        frames.filter_map(|place| base.named.frame(*place)).min()
    }

    pub(super) fn check_against_places(&mut self) {
        let Some(base) = &self.base else {
            return;
        };
        let Some(&first) = base.not_whole.first() else {
            return;
        };
        let (file, count) = (self.places.path().to_owned(), base.not_whole.len());
        let first_byte = self.places.begins(first);
        if file.exists() {
            let problem =
                format!("the bytes of {count} mapping units are not those that were written");
            self.damaged(&file, Some(first_byte), problem);
        } else {
            self.damaged(&file, None, "it is missing");
        }
    }
}
