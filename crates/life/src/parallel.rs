//! Independent jobs on several threads.

use ssdlab_base::LabError;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does every job on `count` threads; results in the order of the jobs.
pub(crate) fn all<J: Sync, T: Send>(
    jobs: &[J],
    count: usize,
    each: impl Fn(&J) -> Result<T, LabError> + Sync,
) -> Result<Vec<T>, LabError> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<T, LabError>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..count.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(n) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < jobs.len())
                {
                    let result = each(&jobs[n]);
                    if let Ok(mut place) = done[n].lock() {
                        *place = Some(result);
                    }
                }
            });
        }
    });
    let lost = || Err(LabError::SelfCheck("a job was lost".into()));
    done.into_iter()
        .map(|place| place.into_inner().ok().flatten().unwrap_or_else(lost))
        .collect()
}
