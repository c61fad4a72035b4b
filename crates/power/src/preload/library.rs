//! Where the library is that reports a program's calls.

use ssdlab_base::LabError;
use std::path::PathBuf;

/// Its file.
const NAME: &str = "libssdlab_preload.so";
/// A variable that names it.
const VARIABLE: &str = "SSDLAB_PRELOAD";

/// Finds the library: what the variable names, beside this program, or where a package puts it.
///
/// # Errors
/// When it is nowhere.
pub fn find_library() -> Result<PathBuf, LabError> {
    if let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        return path
            .canonicalize()
            .map_err(|error| LabError::file("finding", &path, error));
    }
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let folder = program
        .ok()
        .and_then(|path| path.parent().map(PathBuf::from));
    let folder = folder.unwrap_or_default();
    let places = [
        folder.join(NAME),
        folder.join("..").join(NAME),
        folder.join("../lib/ssdlab").join(NAME),
        PathBuf::from("/usr/lib/ssdlab").join(NAME),
    ];
    let present = places.iter().find_map(|path| path.canonicalize().ok());
    present.ok_or_else(|| {
        LabError::refused(
            format!("--way preload needs {NAME}, which is not beside this program"),
            format!(
                "`cargo build -p ssdlab-preload` makes it; {VARIABLE}=/path/{NAME} names it; --way \
                 kernel needs none"
            ),
        )
    })
}
