//! The columns of a run directory, where the build has the feature `parquet`.

#[cfg(feature = "parquet")]
use super::reader::RunDir;
use ssdlab_base::LabError;
use std::path::Path;

/// Writes `series.parquet` of the run directory at `path` from its `series.csv`. Nothing is written
/// by a build without the feature `parquet`.
///
/// # Errors
/// When it is no run directory, or the file cannot be written.
pub fn write_columns(path: &Path) -> Result<(), LabError> {
    #[cfg(feature = "parquet")]
    RunDir::open(path)?.write_parquet()?;
    #[cfg(not(feature = "parquet"))]
    let _ = path;
    Ok(())
}
