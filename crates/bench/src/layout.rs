//! Files that the workload's own tool makes and writes before they are read: fio lays out the file
//! of a job that reads, and DISKSPD's `-c` makes one.
//!
//! As in fio, a file is written only if the first job that names it reads it: the others find it in
//! its full length.

use crate::request::jobs;
use ssdlab_base::LabError;
use ssdlab_load::plan::{JobSpec, Language, Mix, PlanPhase, WorkloadPlan};
use ssdlab_load::stream::used_region;
use ssdlab_ssd::Bytes;
use std::ops::Range;

/// Bytes of each write.
const BLOCK: u32 = 1 << 20;

/// Writes before a plan runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLayout {
    /// In the order of the jobs, without overlaps.
    ranges: Vec<Range<u64>>,
    /// The jobs that read them.
    readers: Vec<String>,
    tool: &'static str,
}

impl FileLayout {
    /// The layout for `plan` on a target of `capacity` bytes.
    ///
    /// # Errors
    /// When a job does not fit the target.
    pub fn of(plan: &WorkloadPlan, capacity: u64) -> Result<FileLayout, LabError> {
        let mut layout = FileLayout {
            tool: match plan.language {
                Language::Diskspd { .. } => "DISKSPD -c",
                Language::Fio { .. } | Language::Ssdlab => "fio",
            },
            ..FileLayout::default()
        };
        let mut present: Vec<Range<u64>> = Vec::new();
        for job in jobs(plan).filter(|job| job.creates_file && job.replay.is_none()) {
            let reads = matches!(job.mix, Mix::Read | Mix::ReadWrite { .. });
            for copy in 0..job.copies {
                let region = used_region(job, copy, capacity)?;
                let missing = without(region.clone(), &present);
                if reads && !missing.is_empty() {
                    layout.ranges.extend(missing);
                    if layout.readers.last() != Some(&job.name) {
                        layout.readers.push(job.name.clone());
                    }
                }
                add(&mut present, region);
            }
        }
        Ok(layout)
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The writes, and a flush at their end.
    pub fn plan(&self) -> WorkloadPlan {
        let phase = |job| PlanPhase { jobs: vec![job] };
        let mut phases = Vec::new();
        for range in &self.ranges {
            let len = range.end - range.start;
            let rest = len % u64::from(BLOCK);
            if len > rest {
                phases.push(phase(write(range.start..range.end - rest, BLOCK)));
            }
            if rest > 0 {
                phases.push(phase(write(range.end - rest..range.end, rest as u32)));
            }
        }
        if let Some(last) = phases.last_mut() {
            last.jobs[0].end_flushes = 1;
        }
        WorkloadPlan {
            language: Language::Ssdlab,
            phases,
        }
    }

    /// The writes in words, for the reader of the result.
    pub fn note(&self) -> String {
        let len = |range: &Range<u64>| range.end - range.start;
        let bytes = Bytes(self.ranges.iter().map(len).sum());
        let tool = self.tool;
        let (job, first) = match &self.readers[..] {
            [one] => ("job", format!("`{one}`")),
            [first, others @ ..] => ("jobs", format!("`{first}` and {} more", others.len())),
            [] => ("job", String::new()),
        };
        format!(
            "Before the measurement, the files that {job} {first} reads were written, {bytes} in \
             order, as {tool} does (--no-layout leaves this out)."
        )
    }
}

fn write(range: Range<u64>, block: u32) -> JobSpec {
    JobSpec {
        offset: range.start,
        region: Some(range.end - range.start),
        ..JobSpec::sequential_writes("layout", block)
    }
}

/// The parts of `range` outside `present`, which is in order.
fn without(range: Range<u64>, present: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut start = range.start;
    let mut parts = Vec::new();
    for there in present
        .iter()
        .filter(|it| it.end > range.start && it.start < range.end)
    {
        if start < there.start {
            parts.push(start..there.start);
        }
        start = start.max(there.end);
    }
    if start < range.end {
        parts.push(start..range.end);
    }
    parts
}

/// Adds `range` to `present`, which stays in order and without overlaps.
fn add(present: &mut Vec<Range<u64>>, range: Range<u64>) {
    present.extend(without(range, present));
    present.sort_unstable_by_key(|range| range.start);
}

#[cfg(test)]
mod tests {
    use super::FileLayout;
    use ssdlab_load::{diskspd, fio};

    const MIB: u64 = 1 << 20;

    /// Start and end of each range.
    fn limits(layout: &FileLayout) -> Vec<[u64; 2]> {
        layout
            .ranges
            .iter()
            .map(|range| [range.start, range.end])
            .collect()
    }

    fn ranges(text: &str) -> Vec<[u64; 2]> {
        let plan = fio::parse(text, "job.fio").unwrap();
        let layout = FileLayout::of(&plan, 1 << 30).unwrap();
        limits(&layout)
    }

    #[test]
    fn a_file_that_is_read_is_written_and_a_device_is_not() {
        assert_eq!(ranges("[r]\nsize=8m\noffset=1m"), [[MIB, 9 * MIB]]);
        assert_eq!(
            ranges("[r]\nfilename=f\nrw=randrw\nsize=8m"),
            [[0, 8 * MIB]]
        );
        assert_eq!(ranges("[r]\nfilename=/dev/shm/f\nsize=8m"), [[0, 8 * MIB]]);
        assert!(ranges("[r]\nfilename=/dev/nvme0n1\nsize=8m").is_empty());
        assert!(ranges("[w]\nfilename=f\nrw=write\nsize=8m").is_empty());
        assert!(ranges("[t]\nfilename=f\nrw=randtrim\nsize=8m").is_empty());
        // Without a size: all of the target.
        assert_eq!(ranges("[r]\nfilename=f"), [[0, 1 << 30]]);
    }

    /// fio's second job finds a file of the full length, and leaves it as it is.
    #[test]
    fn what_an_earlier_job_made_is_not_written() {
        let text = "[w]\nfilename=f\nrw=write\nsize=4m\n[r]\nfilename=f\nstonewall\nsize=4m";
        assert!(ranges(text).is_empty());
        let text = "[r]\nfilename=f\nsize=4m\n[r2]\nfilename=f\nsize=8m";
        assert_eq!(ranges(text), [[0, 4 * MIB], [4 * MIB, 8 * MIB]]);
    }

    #[test]
    fn each_copy_has_its_file() {
        let text = "[r]\ndirectory=d\nnumjobs=2\nsize=4m";
        assert_eq!(ranges(text), [[0, 4 * MIB], [4 * MIB, 8 * MIB]]);
        let same = "[r]\nfilename=f\nnumjobs=2\nsize=4m";
        assert_eq!(ranges(same), [[0, 4 * MIB]]);
    }

    #[test]
    fn every_byte_is_written_once() {
        let plan = fio::parse("[r]\nsize=2560k", "job.fio").unwrap();
        let writes = FileLayout::of(&plan, 1 << 30).unwrap().plan();
        let jobs = writes.phases.iter().flat_map(|phase| &phase.jobs);
        let sizes: Vec<_> = jobs.map(|job| (job.offset, job.region.unwrap())).collect();
        assert_eq!(sizes, [(0, 2 * MIB), (2 * MIB, MIB / 2)]);
        assert_eq!(writes.phases[1].jobs[0].end_flushes, 1);
    }

    #[test]
    fn diskspd_makes_a_file_with_c_only() {
        let ranges = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let plan = diskspd::parse(&words).unwrap();
            let layout = FileLayout::of(&plan, 1 << 30).unwrap();
            limits(&layout)
        };
        assert_eq!(ranges("-b4K -c8M -r x.dat"), [[0, 8 * MIB]]);
        assert!(ranges("-b4K -r x.dat").is_empty());
    }
}
