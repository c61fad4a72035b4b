//! Writing the files of a campaign.

use ssdlab_base::LabError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

pub(super) fn file_error(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.to_owned();
    move |error| LabError::file(action, path, error)
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut std::io::BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), LabError> {
    let part = path.with_extension("part");
    let file = File::create(&part).map_err(file_error("creating", &part))?;
    let mut out = std::io::BufWriter::new(file);
    write(&mut out)
        .and_then(|()| out.flush())
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(file_error("writing", path))
}
