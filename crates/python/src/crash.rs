//! `ssdlab.CrashDisk`.
//!
//! Commands keep the interpreter's lock: they take microseconds, and giving it up and taking it
//! back costs as much. What depends on the size of the drive gives it up.

use crate::drives::NamedDrive;
use crate::errors::{crash, lab, refused};
use crate::report::PyReport;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use ssdlab_crash::{CrashDisk, CutAt, DriveConfig, Nanos, drawn_drive};
use ssdlab_crash::{HistoryStep, LostPart};

/// A crash disk: an in-process block device whose power is cut anywhere.
///
/// Below it is a software SSD with a real translation layer; beside it a ledger of promises,
/// against which the drive is held after every recovery. The same drive, seed and calls give the
/// same bytes. Offsets and lengths are in bytes, multiples of 512.
///
/// Parameters
/// ----------
/// drive : int, str, Drive or None, optional
///     A drive. A number draws one of many kinds of small drives (384 KiB); none is one of
///     1.75 MiB that is always the same.
/// seed : int, optional
///     Decides the exact instants of armed cuts.
/// faults : sequence of str, optional
///     How the drive misbehaves: `ignores-flush`, `ignores-fua:500` (per mille), `shorn-writes`,
///     `lost-writes`, ... A name that does not exist is refused with a list of all.
/// size : str, optional
///     Bytes that the drive offers, such as `64MiB`: more or fewer blocks of the same drive.
///
/// Examples
/// --------
/// >>> import ssdlab
/// >>> disk = ssdlab.CrashDisk()
/// >>> disk.write(0, b"\x07" * 4096)
/// >>> disk.flush()
/// >>> disk.cut()
/// >>> disk.power_on().assert_kept()
/// >>> disk.read(0, 4)
/// Traceback (most recent call last):
/// ...
/// ssdlab.Error: 4 bytes at 0: not in whole units of 512 bytes
/// hint: round offset and length to multiples of 512
/// >>> disk.read(0, 512)[:4]
/// b'\x07\x07\x07\x07'
#[pyclass(name = "CrashDisk", module = "ssdlab")]
pub struct PyCrashDisk {
    disk: CrashDisk,
}

fn nanos(seconds: f64) -> PyResult<Nanos> {
    if (0.0..=1e9).contains(&seconds) {
        Ok(Nanos((seconds * 1e9).round() as u64))
    } else {
        Err(refused(
            format!("{seconds} s"),
            "give seconds of virtual time, 0 to 1e9",
        ))
    }
}

/// The bytes of any object that has a buffer.
fn with_bytes<T>(data: &Bound<'_, PyAny>, run: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(run(bytes.as_bytes()));
    }
    let bytes = PyMemoryView::from(data)?.call_method0("tobytes")?;
    Ok(run(bytes.cast::<PyBytes>()?.as_bytes()))
}

#[pymethods]
impl PyCrashDisk {
    #[new]
    #[pyo3(signature = (drive=None, seed=1, faults=Vec::new(), size=None))]
    fn new(
        py: Python<'_>,
        drive: Option<Bound<'_, PyAny>>,
        seed: u64,
        faults: Vec<String>,
        size: Option<&str>,
    ) -> PyResult<PyCrashDisk> {
        let config = config(py, drive, size)?;
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        let disk = py.detach(|| CrashDisk::with_faults(config, seed, &faults));
        Ok(PyCrashDisk {
            disk: disk.map_err(crash)?,
        })
    }

    /// Bytes that the host may address.
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.disk.capacity()
    }

    /// Virtual time in nanoseconds.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.disk.now().0
    }

    /// Whether the disk has power.
    #[getter]
    fn is_on(&self) -> bool {
        self.disk.is_on()
    }

    /// Read bytes: zeroes where nothing was written.
    ///
    /// Parameters
    /// ----------
    /// offset, length : int
    ///     Bytes, multiples of 512.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// PowerLost
    ///     When the power is off, or an armed cut strikes.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        offset: u64,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.disk.read(offset, length).map_err(crash)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Write bytes; they are acknowledged, not durable.
    ///
    /// Parameters
    /// ----------
    /// offset : int
    ///     First byte, a multiple of 512.
    /// data : bytes-like
    ///     Whole sectors of 512 bytes.
    /// fua : bool, optional
    ///     With FUA: these bytes are durable when this returns. Other writes are not.
    #[pyo3(signature = (offset, data, *, fua=false))]
    fn write(&mut self, offset: u64, data: &Bound<'_, PyAny>, fua: bool) -> PyResult<()> {
        let disk = &mut self.disk;
        let done = with_bytes(data, |bytes| {
            if fua {
                disk.fua(offset, bytes)
            } else {
                disk.write(offset, bytes)
            }
        })?;
        done.map_err(crash)
    }

    /// Make every acknowledged write durable.
    fn flush(&mut self) -> PyResult<()> {
        self.disk.flush().map_err(crash)
    }

    /// Trim bytes: whole mapping units read as zeroes. Until a flush, a cut may bring them back.
    ///
    /// Parameters
    /// ----------
    /// offset, length : int
    ///     Bytes, multiples of 512.
    fn trim(&mut self, offset: u64, length: u64) -> PyResult<()> {
        self.disk.trim(offset, length).map_err(crash)
    }

    /// Let virtual time pass; the drive works on.
    ///
    /// Parameters
    /// ----------
    /// seconds : float
    ///     Virtual seconds.
    fn rest(&mut self, seconds: f64) -> PyResult<()> {
        self.disk.rest(nanos(seconds)?).map_err(crash)
    }

    /// Cut the power now: what the drive has not acknowledged is open.
    fn cut(&mut self) -> PyResult<()> {
        self.disk.cut().map(drop).map_err(crash)
    }

    /// Arm a cut, in place of an earlier one. The call in which it strikes raises `PowerLost`.
    ///
    /// Parameters
    /// ----------
    /// after_events : int, optional
    ///     After this many completions, ends of NAND operations and internal events.
    /// in_program : int, optional
    ///     In the middle of the nth NAND program or erase from now, from 1.
    /// after_s : float, optional
    ///     After this virtual time in seconds.
    /// in_recovery : float, optional
    ///     Inside the next recovery, after this share of it, 0 to 1.
    ///
    /// Examples
    /// --------
    /// >>> import ssdlab
    /// >>> disk = ssdlab.CrashDisk()
    /// >>> disk.arm(after_events=2)
    /// >>> disk.write(0, bytes(4096), fua=True)
    /// Traceback (most recent call last):
    /// ...
    /// ssdlab.PowerLost: power was cut at 699 us
    /// hint: power_on() first
    #[pyo3(signature = (*, after_events=None, in_program=None, after_s=None, in_recovery=None))]
    fn arm(
        &mut self,
        after_events: Option<u64>,
        in_program: Option<u64>,
        after_s: Option<f64>,
        in_recovery: Option<f64>,
    ) -> PyResult<()> {
        let place = match (after_events, in_program, after_s, in_recovery) {
            (Some(count), None, None, None) => CutAt::Event(count),
            (None, Some(nth), None, None) => CutAt::Program(nth),
            (None, None, Some(seconds), None) => CutAt::After(nanos(seconds)?),
            (None, None, None, Some(share)) if (0.0..1.0).contains(&share) => {
                CutAt::Recovery((share * 1000.0) as u16)
            }
            _ => {
                return Err(refused(
                    "a cut is armed at one place",
                    "arm(after_events=3), arm(in_program=1), arm(after_s=1e-4) or \
                     arm(in_recovery=0.5)",
                ));
            }
        };
        self.disk.arm(place);
        Ok(())
    }

    /// Take back an armed cut that has not struck.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether there was one.
    fn disarm(&mut self) -> bool {
        self.disk.disarm()
    }

    /// Switch the power on, wait for the recovery, and hold the drive against its promises.
    ///
    /// Returns
    /// -------
    /// Report
    ///
    /// Raises
    /// ------
    /// PowerLost
    ///     When a cut armed for the recovery strikes.
    /// Error
    ///     When the power is on, or the drive is dead.
    fn power_on(&mut self, py: Python<'_>) -> PyResult<PyReport> {
        let report = py.detach(|| self.disk.power_on()).map_err(crash)?;
        Ok(PyReport { report })
    }

    /// A disk in the same state, which goes its own way from here. Bytes are shared until they
    /// change: a small drive forks in microseconds.
    ///
    /// Parameters
    /// ----------
    /// seed : int, optional
    ///     Another seed for the fork.
    ///
    /// Returns
    /// -------
    /// CrashDisk
    #[pyo3(signature = (seed=None))]
    fn fork(&self, seed: Option<u64>) -> PyCrashDisk {
        let mut disk = self.disk.fork();
        if let Some(seed) = seed {
            disk.reseed(seed);
        }
        PyCrashDisk { disk }
    }

    /// Start the history here: what is minimised begins in this state.
    fn start_history(&mut self) {
        self.disk.start_history();
    }

    /// What was done since the history was started.
    ///
    /// Returns
    /// -------
    /// list of str
    ///     A step each: `#1 write 4 KiB at 0`.
    fn history(&self) -> PyResult<Vec<String>> {
        let history = self.disk.history().map_err(crash)?;
        Ok(history.steps().map(HistoryStep::to_string).collect())
    }

    /// Look for the smallest part of the history that still breaks a promise.
    ///
    /// Parameters
    /// ----------
    /// replays_max : int, optional
    ///     Most replays.
    ///
    /// Returns
    /// -------
    /// tuple of (list of str, str) or None
    ///     The steps, all of them needed, and how they fail; None: every promise is kept.
    ///
    /// Examples
    /// --------
    /// >>> import ssdlab
    /// >>> disk = ssdlab.CrashDisk(faults=["ignores-flush"])
    /// >>> for page in range(50):
    /// ...     disk.write(page * 4096, b"\x07" * 4096)
    /// ...     disk.flush()
    /// >>> disk.cut()
    /// >>> disk.power_on().is_kept
    /// False
    /// >>> steps, message = disk.minimise()
    /// >>> len(steps)  # a write, a flush, the cut, power on
    /// 4
    #[pyo3(signature = (replays_max=1000))]
    fn minimise(
        &self,
        py: Python<'_>,
        replays_max: usize,
    ) -> PyResult<Option<(Vec<String>, String)>> {
        let history = self.disk.history().map_err(crash)?;
        let minimal = py.detach(|| history.minimise(replays_max, |again| again.kept()));
        Ok(minimal.map(|m| {
            (
                m.steps.iter().map(HistoryStep::to_string).collect(),
                m.message,
            )
        }))
    }

    /// Look for the fewest lost writes without which a check of a program fails.
    ///
    /// Parameters
    /// ----------
    /// report : Report
    ///     Of the last recovery: its lost writes are tried.
    /// check : callable
    ///     Called with a disk; any exception is a failure.
    /// checks_max : int, optional
    ///     Most calls of `check`.
    ///
    /// Returns
    /// -------
    /// tuple of (list of str, str) or None
    ///     The writes, and how the check fails without them; None: it fails for another reason.
    #[pyo3(signature = (report, check, checks_max=500))]
    fn smallest_loss(
        &self,
        py: Python<'_>,
        report: &PyReport,
        check: &Bound<'_, PyAny>,
        checks_max: usize,
    ) -> PyResult<Option<(Vec<String>, String)>> {
        let history = self.disk.history().map_err(crash)?;
        let mut raised = None;
        let lost: &[LostPart] = &report.report.lost;
        let loss = history.smallest_loss(lost, checks_max, |disk| {
            if raised.is_some() {
                return Ok(());
            }
            let fork = PyCrashDisk { disk: disk.fork() };
            match check.call1((fork,)) {
                Ok(_) => Ok(()),
                Err(error) if error.is_instance_of::<PyException>(py) => {
                    Err(error.value(py).to_string())
                }
                Err(error) => {
                    raised = Some(error);
                    Ok(())
                }
            }
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let mut numbers = Vec::new();
        let Some(loss) = loss else { return Ok(None) };
        for part in &loss.pieces {
            if !numbers.contains(&part.number) {
                numbers.push(part.number);
            }
        }
        let in_words = |number: &u64| {
            let words = history.command(*number).unwrap_or_default();
            format!("#{number} {words}")
        };
        Ok(Some((numbers.iter().map(in_words).collect(), loss.message)))
    }

    /// The ledger: the writes of which a sector may hold one after a cut now; 0 is no write.
    ///
    /// Parameters
    /// ----------
    /// sector : int
    ///     Number of a sector of 512 bytes.
    ///
    /// Returns
    /// -------
    /// list of int
    fn may_read(&self, sector: u64) -> Vec<u64> {
        self.disk.may_read(sector)
    }

    /// The ledger: the oldest write that a sector may hold after a cut now, and who promised it.
    ///
    /// Parameters
    /// ----------
    /// sector : int
    ///     Number of a sector of 512 bytes.
    ///
    /// Returns
    /// -------
    /// tuple of (int, str)
    fn promised(&self, sector: u64) -> (u64, String) {
        let (number, by) = self.disk.promised(sector);
        (number, by.to_string())
    }

    fn __repr__(&self) -> String {
        let power = if self.disk.is_on() { "on" } else { "off" };
        let bytes = ssdlab_ssd::Bytes(self.disk.capacity());
        format!("<CrashDisk: {bytes}, power {power}>")
    }
}

fn config(
    py: Python<'_>,
    drive: Option<Bound<'_, PyAny>>,
    size: Option<&str>,
) -> PyResult<DriveConfig> {
    let Some(drive) = drive else {
        return match size {
            None => Ok(DriveConfig::tiny()),
            Some(_) => Err(refused("a size without a drive", "name a drive")),
        };
    };
    if let Ok(seed) = drive.extract::<u64>() {
        return match size {
            None => Ok(drawn_drive(seed)),
            Some(_) => Err(refused("a drawn drive has its size", "name a drive")),
        };
    }
    let named: NamedDrive = py
        .import("ssdlab._drives")?
        .call_method1("_named", (drive,))?
        .extract()?;
    named.config(size).map_err(lab)
}
