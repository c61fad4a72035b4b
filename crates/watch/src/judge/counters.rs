//! Causes that counters of the host and of the drive settle.

use super::{Certainty, FACTOR_MAX, Finding, JudgedWindow, LiveFinding};
use crate::cause::{CauseLayer, LiveCause};
use crate::spread::ENOUGH;
use ssdlab_judge::ablate::FAULT;
use ssdlab_view::units;

/// NAND bytes for each host byte from which reclaim takes most of a drive's writes.
const HEAVY_AMPLIFICATION: f64 = 3.0;
/// Share of what reaches the drive from which an array's own work counts.
const ARRAY_SHARE: f64 = 0.3;
/// ns of a commit of ext4's journal that nobody notices.
const COMMIT: f64 = 5e6;

impl JudgedWindow<'_> {
    /// What counters show, the strongest first.
    pub(super) fn settled(&self) -> Finding {
        let findings = [
            self.counted_throttling(),
            self.array_work(),
            self.cache_switched_off(),
            self.counted_reclaim(),
            self.slow_commits(),
        ];
        let factor = |finding: &LiveFinding| finding.factor.unwrap_or(FAULT);
        let findings = findings.into_iter().flatten();
        findings.max_by(|a, b| factor(a).total_cmp(&factor(b)))
    }

    /// Minutes above the drive's own limit, or its sensor's alarm.
    fn counted_throttling(&self) -> Finding {
        let minutes = self
            .counters
            .drive
            .as_ref()
            .and_then(|drive| drive.too_warm_minutes);
        let alarm = self.counters.thermal.filter(|thermal| thermal.alarm);
        let why = match (minutes, alarm) {
            (Some(minutes), _) if minutes >= 1.0 => format!(
                "the drive counted {minutes:.0} more minutes above its own limit of temperature"
            ),
            (_, Some(thermal)) => format!(
                "the drive's sensor raises its alarm{}",
                thermal
                    .celsius
                    .map_or(String::new(), |celsius| format!(" at {celsius:.0} C"))
            ),
            _ => return None,
        };
        let excess = self.slow_data_ns();
        self.finding(LiveCause::Throttling, Certainty::Shown, excess, why)
    }

    /// An array above that reads or writes the whole drive for itself.
    fn array_work(&self) -> Finding {
        let figures = self.figures;
        let busy = self
            .counters
            .arrays
            .iter()
            .find(|array| array.action != "idle")?;
        let rate = (figures.reads.bytes + figures.writes.bytes) as f64 / figures.seconds.max(1e-3);
        let own = busy.action_rate? as f64;
        let share = (own / rate.max(own)).min(1.0);
        if share < ARRAY_SHARE {
            return None;
        }
        Some(LiveFinding {
            cause: LiveCause::Neighbour,
            layer: CauseLayer::Host,
            factor: Some((1.0 / (1.0 - share).max(1.0 / FACTOR_MAX)).max(FAULT)),
            certainty: Certainty::Shown,
            why: format!(
                "{} ({}) does a {} at {}, {:.0} % of what reaches the drive",
                busy.name,
                busy.level,
                busy.action,
                units::throughput(own),
                100.0 * share
            ),
        })
    }

    /// The drive itself says that its write cache is off.
    fn cache_switched_off(&self) -> Finding {
        let writes = &self.figures.writes;
        let is_off = self.counters.drive.as_ref()?.write_cache == Some(false);
        let healthy = self.way(writes.mean_bytes()) + COMMIT / 10.0;
        if !is_off || writes.count() < ENOUGH || writes.device.mean_ns() < 1.5 * healthy {
            return None;
        }
        self.finding(
            LiveCause::WriteCacheOff,
            Certainty::Shown,
            writes.device.sum_ns as f64 - writes.count() as f64 * healthy,
            format!(
                "the drive says that its write cache is off; a write takes {} (mean)",
                units::time_mean(writes.device.mean_ns())
            ),
        )
    }

    /// The drive counts what it programs.
    fn counted_reclaim(&self) -> Finding {
        let figures = self.figures;
        let drive = self.counters.drive.as_ref()?;
        let amplification = drive.write_amplification()?;
        let writes = &figures.writes;
        if amplification < HEAVY_AMPLIFICATION || writes.count() < ENOUGH {
            return None;
        }
        let excess = writes.device.sum_ns as f64 - writes.count() as f64 * self.healthy_write_ns();
        self.finding(
            LiveCause::Reclaim,
            Certainty::Shown,
            excess,
            format!(
                "in {} the drive programmed {amplification:.1} bytes for each byte written",
                units::clock(drive.seconds)
            ),
        )
    }

    /// Commits of ext4's journal, where single flushes were not seen: two flushes each.
    fn slow_commits(&self) -> Finding {
        let figures = self.figures;
        let journals = self.counters.journals.iter();
        let slowest = journals.max_by_key(|journal| journal.commit_ns)?;
        let flushes = &figures.flushes;
        let commits = slowest.transactions as f64;
        let in_flushes = 2.0 * flushes.device.mean_ns();
        let commit_ns = slowest.commit_ns as f64;
        // With single requests the flushes themselves are judged.
        if !figures.only_means
            || slowest.transactions < ENOUGH
            || commit_ns < COMMIT
            || in_flushes < 0.5 * commit_ns
        {
            return None;
        }
        self.finding(
            LiveCause::VolatileBuffer,
            Certainty::Shown,
            commits * in_flushes,
            format!(
                "a commit of ext4's journal on {} takes {} (mean), its two flushes {}",
                slowest.device,
                units::time_mean(commit_ns),
                units::time_mean(in_flushes)
            ),
        )
    }

    /// Of several findings of one cause the one that is surest stays; they come in that order.
    pub(super) fn one_of_each(findings: &mut Vec<LiveFinding>) {
        let mut causes = Vec::new();
        findings.retain(|finding| {
            let is_first = !causes.contains(&finding.cause);
            causes.push(finding.cause);
            is_first
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::WatchFigures;
    use crate::figures::tests::request;
    use crate::judge::LiveAnswer;
    use crate::source::counters::DiskStat;
    use crate::source::host_counters::{
        ArrayState, DriveCounters, GroupBytes, HostCounters, JournalCounters, ProcessBytes,
        ThermalState,
    };
    use crate::source::settings::HostSettings;

    const MS: u64 = 1_000_000;

    /// 200 writes of 4 KiB, one after the other, each taking this long.
    fn writes(device_ns: u64) -> WatchFigures {
        let requests: Vec<_> = (0..200)
            .map(|i| request("WS", 800 * i, 4096, i * device_ns, 0, device_ns))
            .collect();
        WatchFigures::new(&requests, 200.0 * device_ns as f64 / 1e9)
    }

    fn findings(figures: &WatchFigures, counters: &HostCounters) -> Vec<LiveFinding> {
        let settings = HostSettings {
            interface: "nvme".to_owned(),
            ..HostSettings::default()
        };
        let answer = JudgedWindow {
            figures,
            settings: &settings,
            layers: &[],
            step: None,
            seconds: &[],
            model: None,
            counters,
        }
        .judge();
        match answer {
            LiveAnswer::Causes { findings } => findings,
            _ => Vec::new(),
        }
    }

    fn shown(figures: &WatchFigures, counters: &HostCounters, cause: LiveCause) -> bool {
        findings(figures, counters)
            .iter()
            .any(|finding| finding.cause == cause && finding.certainty == Certainty::Shown)
    }

    #[test]
    fn minutes_above_the_limit_show_throttling() {
        let counters = |minutes| HostCounters {
            drive: Some(DriveCounters {
                too_warm_minutes: Some(minutes),
                ..DriveCounters::default()
            }),
            ..HostCounters::default()
        };
        let slow = writes(20 * MS);
        assert!(shown(&slow, &counters(2.0), LiveCause::Throttling));
        assert!(!shown(&slow, &counters(0.0), LiveCause::Throttling));
        let alarm = HostCounters {
            thermal: Some(ThermalState {
                celsius: Some(85.0),
                alarm: true,
                ..ThermalState::default()
            }),
            ..HostCounters::default()
        };
        assert!(shown(&slow, &alarm, LiveCause::Throttling));
        // A warm drive that is as fast as a healthy one is not accused.
        assert!(!shown(&writes(30_000), &alarm, LiveCause::Throttling));
    }

    #[test]
    fn an_array_that_checks_itself_is_the_other_process() {
        let array = |action: &str, rate| HostCounters {
            arrays: vec![ArrayState {
                name: "md0".to_owned(),
                level: "raid1".to_owned(),
                action: action.to_owned(),
                action_rate: Some(rate),
                degraded: 0,
            }],
            ..HostCounters::default()
        };
        let figures = writes(MS);
        assert!(shown(
            &figures,
            &array("check", 200_000_000),
            LiveCause::Neighbour
        ));
        assert!(!shown(
            &figures,
            &array("idle", 200_000_000),
            LiveCause::Neighbour
        ));
        assert!(!shown(
            &figures,
            &array("check", 1000),
            LiveCause::Neighbour
        ));
    }

    #[test]
    fn a_drives_own_word_settles_cache_and_reclaim() {
        let drive = |drive| HostCounters {
            drive: Some(drive),
            ..HostCounters::default()
        };
        let off = drive(DriveCounters {
            write_cache: Some(false),
            ..DriveCounters::default()
        });
        assert!(shown(&writes(8 * MS), &off, LiveCause::WriteCacheOff));
        assert!(!shown(&writes(30_000), &off, LiveCause::WriteCacheOff));
        let amplified = |nand| {
            drive(DriveCounters {
                seconds: 60.0,
                host_bytes_written: Some(1e9),
                nand_bytes_written: Some(nand),
                resolution: 1e6,
                ..DriveCounters::default()
            })
        };
        assert!(shown(&writes(8 * MS), &amplified(6e9), LiveCause::Reclaim));
        assert!(!shown(
            &writes(8 * MS),
            &amplified(1.1e9),
            LiveCause::Reclaim
        ));
    }

    /// With counters alone, the journal says how long a commit takes.
    #[test]
    fn commits_that_wait_for_flushes_show_a_volatile_buffer() {
        let mut figures = writes(MS);
        figures.only_means = true;
        figures.flushes.device = crate::spread::TimeSpread {
            count: 200,
            sum_ns: 200 * 4 * MS,
            median_ns: 4 * MS,
            p99_ns: 4 * MS,
            max_ns: 4 * MS,
        };
        let counters = |commit_ns| HostCounters {
            journals: vec![JournalCounters {
                device: "sdz1".to_owned(),
                transactions: 100,
                commit_ns,
                ..JournalCounters::default()
            }],
            ..HostCounters::default()
        };
        let found = |commit_ns| {
            let findings = findings(&figures, &counters(commit_ns));
            let mut reasons = findings.into_iter().map(|finding| finding.why);
            reasons.any(|why| why.contains("a commit of ext4's journal on sdz1"))
        };
        assert!(found(10 * MS));
        assert!(!found(60 * MS), "the flushes are not what takes the time");
    }

    /// Ten seconds of a disk: requests, KiB and ms of reads, of writes, then flushes and their ms.
    fn counted(reads: [u64; 3], writes: [u64; 3], flushes: [u64; 2], busy_ms: u64) -> WatchFigures {
        let [r, r_kib, r_ms] = reads;
        let [w, w_kib, w_ms] = writes;
        let [f, f_ms] = flushes;
        let line = format!(
            "{r} 0 {} {r_ms} {w} 0 {} {w_ms} 0 {busy_ms} {} 0 0 0 0 {f} {f_ms}",
            2 * r_kib,
            2 * w_kib,
            r_ms + w_ms + f_ms
        );
        DiskStat::parse(&line).expect("a line").figures(10.0)
    }

    fn first(figures: &WatchFigures, processes: &[(&str, u64)]) -> Option<LiveCause> {
        let bytes = processes.iter().map(|&(name, read)| ProcessBytes {
            name: name.to_owned(),
            read,
            ..ProcessBytes::default()
        });
        let counters = HostCounters {
            processes: bytes.collect(),
            ..HostCounters::default()
        };
        findings(figures, &counters)
            .first()
            .map(|finding| finding.cause)
    }

    /// Programs that commit on a Samsung 980: the time of a write has its flush's in it.
    #[test]
    fn writes_that_wait_for_flushes_are_not_taken_for_reclaim() {
        let figures = counted([0; 3], [4078, 52_884, 18_220], [2035, 9616], 9908);
        assert_eq!(first(&figures, &[]), Some(LiveCause::VolatileBuffer));
    }

    /// A PM983 whose program syncs three times for each write.
    #[test]
    fn flushes_that_no_write_asked_for_are_doubled() {
        let figures = counted([0; 3], [83_920, 83_920, 8140], [62_940, 5910], 7626);
        assert_eq!(first(&figures, &[]), Some(LiveCause::DoubledFlushes));
        let twice = counted([0; 3], [124_107, 181_856, 7873], [82_735, 4986], 7393);
        assert_eq!(first(&twice, &[]), Some(LiveCause::DoubledFlushes));
        let once = counted([0; 3], [41_960, 83_920, 4070], [20_980, 1970], 3800);
        assert_ne!(first(&once, &[]), Some(LiveCause::DoubledFlushes));
    }

    #[test]
    fn reads_that_take_longer_than_the_writes_among_them_wait_for_these() {
        let slow = counted(
            [22_292, 89_168, 61_676],
            [51_791, 207_164, 15_996],
            [0; 2],
            9976,
        );
        assert_eq!(first(&slow, &[]), Some(LiveCause::ReadsBehindWrites));
        let healthy = counted(
            [22_292, 89_168, 4500],
            [51_791, 207_164, 3000],
            [0; 2],
            5000,
        );
        assert_ne!(first(&healthy, &[]), Some(LiveCause::ReadsBehindWrites));
    }

    /// Bytes of processes say who moves most; without others nobody waits for it.
    #[test]
    fn a_process_that_moves_most_bytes_holds_others_up() {
        let figures = counted([9115, 3_528_452, 56_811], [0; 3], [0; 2], 6924);
        let backup = ("backup", 3_605_000_000);
        let cause = Some(LiveCause::Neighbour);
        assert_eq!(first(&figures, &[backup, ("app", 4_800_000)]), cause);
        assert_ne!(first(&figures, &[backup]), cause);
        let of_another_drive = ("backup", 30_000_000_000);
        assert_ne!(
            first(&figures, &[of_another_drive, ("app", 4_800_000)]),
            cause
        );
        let group = |name: &str, bytes| GroupBytes {
            group: name.to_owned(),
            bytes,
        };
        let counters = HostCounters {
            groups: vec![
                group("/backup.service", 3_500_000_000),
                group("/db", 5_000_000),
            ],
            ..HostCounters::default()
        };
        let found = findings(&figures, &counters);
        assert_eq!(found.first().map(|finding| finding.cause), cause);
        assert!(found[0].why.starts_with("control group /backup.service"));
    }

    #[test]
    fn a_cause_is_named_once() {
        let finding = |cause, certainty| LiveFinding {
            cause,
            layer: CauseLayer::Drive,
            factor: None,
            certainty,
            why: String::new(),
        };
        let mut findings = vec![
            finding(LiveCause::Throttling, Certainty::Shown),
            finding(LiveCause::Map, Certainty::Likely),
            finding(LiveCause::Throttling, Certainty::Likely),
        ];
        JudgedWindow::one_of_each(&mut findings);
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].certainty, Certainty::Shown);
    }
}
