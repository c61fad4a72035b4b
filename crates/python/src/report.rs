//! The report of a recovery, for Python.

use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use ssdlab_crash::{RecoveryReport, SectorClass};

/// What a recovery brought back, held against the ledger of promises.
///
/// Attributes
/// ----------
/// is_kept : bool
///     Whether every promise was kept.
/// broken : list of tuple of (int, str, int, int)
///     Broken promises: sector, who promised, number of the promised write, number of the write
///     that is there. Sectors are of 512 bytes; write 0 is none.
/// lost : list of tuple of (int, int)
///     Writes whose effect is not there in full: number of the write, mapping unit. An honest
///     drive may lose writes that it has not promised.
/// recovery_ns : int
///     Virtual time of the recovery.
///
/// Examples
/// --------
/// >>> import ssdlab
/// >>> disk = ssdlab.CrashDisk()
/// >>> disk.write(0, bytes(4096))
/// >>> disk.cut()
/// >>> report = disk.power_on()
/// >>> report.is_kept, report.lost
/// (True, [(1, 0)])
#[pyclass(frozen, name = "Report", module = "ssdlab")]
pub struct PyReport {
    pub report: RecoveryReport,
}

#[pymethods]
impl PyReport {
    #[getter]
    fn is_kept(&self) -> bool {
        self.report.is_kept()
    }

    #[getter]
    fn broken(&self) -> Vec<(u64, String, u64, u64)> {
        let broken = self.report.broken.iter();
        broken
            .map(|b| (b.sector, b.by.to_string(), b.promised, b.found))
            .collect()
    }

    #[getter]
    fn lost(&self) -> Vec<(u64, u64)> {
        let lost = self.report.lost.iter();
        lost.map(|part| (part.number, part.unit)).collect()
    }

    #[getter]
    fn recovery_ns(&self) -> u64 {
        let recovery = &self.report.recovery;
        recovery.ready.0 - recovery.at.0
    }

    /// Number of sectors by the value that they hold after the recovery.
    ///
    /// Returns
    /// -------
    /// dict of str to int
    ///     `current`, `older`, `torn`, `lost`, `never_written`.
    fn sectors(&self) -> std::collections::BTreeMap<&'static str, usize> {
        let classes = [
            ("current", SectorClass::Current),
            ("older", SectorClass::Older),
            ("torn", SectorClass::Torn),
            ("lost", SectorClass::Lost),
            ("never_written", SectorClass::NeverWritten),
        ];
        let count = |(name, class)| (name, self.report.count(class));
        classes.into_iter().map(count).collect()
    }

    /// Raises when a promise was broken.
    ///
    /// Raises
    /// ------
    /// AssertionError
    ///     With every broken promise.
    fn assert_kept(&self) -> PyResult<()> {
        if self.report.is_kept() {
            Ok(())
        } else {
            Err(PyAssertionError::new_err(format!(
                "the drive broke its promises\n{}",
                self.report
            )))
        }
    }

    fn __str__(&self) -> String {
        self.report.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Report: {}>", self.report.to_string().trim_end())
    }
}
