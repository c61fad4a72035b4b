//! A file that rows are written into, and never over another.

use ssdlab_base::LabError;
use std::fs::File;
use std::path::Path;

/// The file that the rows go into, made before anything is read.
pub fn created(path: &Path) -> Result<File, LabError> {
    File::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::refused(
            format!("{} exists", path.display()),
            "name another file; rows are appended by hand, so that somebody looks at them",
        ),
        _ => LabError::file("creating", path, error),
    })
}

/// Removes the file that was made, where no rows came of it.
pub fn discard(path: Option<&Path>) {
    if let Some(path) = path {
        // The file is empty and ours; what matters was said before.
        let _ = std::fs::remove_file(path);
    }
}
