//! Independent jobs on several threads.

use crate::LabError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Number of threads that this machine runs at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for every job on up to `threads` threads. `on_result` gets the index and result of
/// each job on the caller's thread, in the order in which jobs end.
pub fn each<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> T + Sync,
    mut on_result: impl FnMut(usize, T),
) {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            let (next, work, send) = (&next, &work, send.clone());
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { return };
                    if send.send((index, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        receive
            .iter()
            .for_each(|(index, result)| on_result(index, result));
    });
}

/// Does `work` for every job on up to `threads` threads; results in the order of the jobs.
///
/// # Errors
/// The first error in that order.
pub fn all<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> Result<T, LabError> + Sync,
) -> Result<Vec<T>, LabError> {
    let mut results: Vec<_> = jobs.iter().map(|_| None).collect();
    each(jobs, threads, work, |index, result| {
        results[index] = Some(result);
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_jobs_and_errors_arrive() {
        let jobs: Vec<u32> = (0..50).collect();
        for threads in [0, 1, 3, 80] {
            let square = |job: &u32| Ok(job * job);
            let squares: Vec<u32> = jobs.iter().map(|job| job * job).collect();
            assert_eq!(all(&jobs, threads, square).unwrap(), squares);
            let odd = |job: &u32| match job % 7 {
                3 => Err(LabError::refused(format!("job {job}"), "")),
                _ => Ok(()),
            };
            let error = all(&jobs, threads, odd).unwrap_err().to_string();
            assert!(error.contains("job 3"), "{error}");
        }
        assert_eq!(
            all(&[] as &[u32], 2, |job| Ok(*job)).unwrap(),
            Vec::<u32>::new()
        );
    }
}
