//! `ssdlab.theory`: closed forms, and the modelled drive beside them.

use crate::errors::json;
use crate::long::whole;
use pyo3::prelude::*;
use ssdlab_life::theory::closed_form::{self, FiniteDrive};
use ssdlab_life::theory::suite::{TheoryCase, cases, run};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Greedy victims.
#[pyfunction]
pub fn greedy(alpha: f64, pages_per_block: u32) -> f64 {
    closed_form::greedy(alpha, pages_per_block)
}

/// The oldest block first.
#[pyfunction]
pub fn fifo(alpha: f64) -> f64 {
    closed_form::fifo(alpha)
}

/// A block drawn at random.
#[pyfunction]
pub fn random(alpha: f64) -> f64 {
    closed_form::random(alpha)
}

/// The emptiest of `d` blocks drawn at random.
#[pyfunction]
pub fn d_choices(alpha: f64, pages_per_block: u32, d: u32) -> f64 {
    closed_form::d_choices(alpha, pages_per_block, d)
}

/// The oldest block first, under hot and cold pages.
#[pyfunction]
pub fn fifo_hot_cold(alpha: f64, writes: f64, pages: f64) -> f64 {
    closed_form::fifo_skewed(alpha, &closed_form::hot_cold(writes, pages))
}

/// The oldest block first, under Zipf's law over `count` pages.
#[pyfunction]
pub fn fifo_zipf(alpha: f64, count: u64, theta: f64) -> f64 {
    closed_form::fifo_skewed(alpha, &closed_form::zipf(count, theta))
}

/// alpha as a drive of finite size has it, for a write amplification.
#[pyfunction]
pub fn effective_alpha(
    blocks: u32,
    pages_per_block: u32,
    logical_pages: u64,
    reserve: u32,
    open: u32,
    separate: bool,
    waf: f64,
) -> f64 {
    let drive = FiniteDrive {
        blocks,
        np: pages_per_block,
        logical_pages,
        reserve,
        open,
        separate,
    };
    drive.alpha_eff(waf)
}

/// The rows of `ssdlab theory`, as JSON.
#[pyfunction]
#[pyo3(signature = (full, threads, progress=None))]
pub fn suite(
    py: Python<'_>,
    full: bool,
    threads: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let cases = cases(full);
    let rows = whole(py, progress.as_ref(), |stop, reached| {
        let points_done = AtomicUsize::new(0);
        run(&cases, threads, stop, TheoryCase::measure_drive, |row| {
            let share =
                (points_done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / cases.len() as f64;
            reached.note(share, || format!("{} {}", row.policy, row.load));
        })
    })?;
    serde_json::to_string(&rows).map_err(json)
}
