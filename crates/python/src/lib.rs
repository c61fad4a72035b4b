//! The Python package `ssdlab`: wrappers over the calls that the command line makes.
//!
//! What is here is what only Rust can do: run a model, hold a disk, serve it, hand a table over
//! without copying. The rest of the package (`python/ssdlab`) is Python. Results cross as JSON, the
//! format of `result.json`, or as Arrow columns; errors cross as `ssdlab.Error` with its hint.

mod crash;
mod drives;
mod errors;
mod life;
mod long;
mod qualify;
mod report;
mod serve;
mod simulate;
mod table;
mod theory;
mod trace;

/// The native part of the package `ssdlab`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::crash::PyCrashDisk;
    #[pymodule_export]
    use crate::drives::{drive_facts, drive_names, drive_toml, settings_help};
    #[pymodule_export]
    use crate::life::{PyLife, age};
    #[pymodule_export]
    use crate::qualify::{PyQualification, qualify};
    #[pymodule_export]
    use crate::report::PyReport;
    #[pymodule_export]
    use crate::serve::{PyServed, create};
    #[pymodule_export]
    use crate::simulate::{PySimulation, check_points, simulate};
    #[pymodule_export]
    use crate::table::PyTable;
    #[pymodule_export]
    use crate::theory::{
        d_choices, effective_alpha, fifo, fifo_hot_cold, fifo_zipf, greedy, random, suite,
    };
    #[pymodule_export]
    use crate::trace::{convert_trace, describe_trace};

    use pyo3::prelude::*;

    /// The version of the package.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
