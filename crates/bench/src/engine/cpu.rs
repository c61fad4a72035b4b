//! CPU time of this process, kernel workers of its rings included.

#[cfg(target_os = "linux")]
use rustix::time::{ClockId, clock_gettime};

/// Not measured on other systems: zero.
#[cfg(not(target_os = "linux"))]
pub(super) fn process_time_ns() -> (u64, u64) {
    (0, 0)
}

/// User and system CPU time of this process so far, ns.
///
/// The sum is exact (`CLOCK_PROCESS_CPUTIME_ID`); how it splits comes from `/proc/self/stat`,
/// which counts in ticks of 10 ms. Without `/proc` all of it is called user time.
#[cfg(target_os = "linux")]
pub(super) fn process_time_ns() -> (u64, u64) {
    let spec = clock_gettime(ClockId::ProcessCPUTime);
    let total = spec.tv_sec as u64 * 1_000_000_000 + spec.tv_nsec as u64;
    let system = ticks().map_or(0, |(user, system)| {
        let total_ticks = u128::from(user + system).max(1);
        (u128::from(total) * u128::from(system) / total_ticks) as u64
    });
    (total - system, system)
}

/// User and system time since `start`, ns.
pub(super) fn since(start: (u64, u64)) -> (u64, u64) {
    let end = process_time_ns();
    let total = (end.0 + end.1).saturating_sub(start.0 + start.1);
    let system = end.1.saturating_sub(start.1).min(total);
    (total - system, system)
}

/// Fields 14 and 15 of `/proc/self/stat` (proc_pid_stat(5)).
#[cfg(target_os = "linux")]
fn ticks() -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name, field 2, may hold blanks; it ends at the last parenthesis.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn burning_time_shows() {
        let start = super::process_time_ns();
        let mut x = 1u64;
        let wall = std::time::Instant::now();
        while wall.elapsed().as_millis() < 30 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        let (user, system) = super::since(start);
        assert!(user + system > 1_000_000, "{user} + {system}");
    }
}
