//! Where a job is carried out in another way than fio would.

use super::options;
use crate::plan::{JobSpec, WorkloadPlan, WriteAs};

/// What the reader of a result should know about how this plan was read: where fio would have
/// done something else with the same file.
pub fn notes(plan: &WorkloadPlan) -> Vec<String> {
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    // A trace of the command line is not a job of a file.
    let file_jobs = jobs.filter(|job| job.replay.is_none() || option(job, "read_iolog").is_some());
    file_jobs
        .flat_map(|job| {
            let notes = job_notes(job).into_iter();
            notes.map(|note| format!("job `{}`: {note}", job.name))
        })
        .collect()
}

/// The value of the option that stands last.
fn option<'a>(job: &'a JobSpec, wanted_name: &str) -> Option<&'a str> {
    let written = job.options.iter();
    let last_setting = written
        .rev()
        .find(|(name, _)| options::canonical(name) == wanted_name);
    last_setting.map(|(_, value)| value.as_str())
}

fn job_notes(job: &JobSpec) -> Vec<String> {
    let mut notes = Vec::new();
    match option(job, "ioengine") {
        Some("io_uring" | "io_uring_cmd") => {}
        Some(engine) => notes.push(format!(
            "ioengine={engine} is carried out with io_uring at depth {}{}",
            job.depth,
            match engine {
                "mmap" => ", without the page cache that it maps",
                _ => "",
            }
        )),
        None if job.depth > 1 => notes.push(format!(
            "without ioengine= fio would use psync at depth 1; this is io_uring at depth {}",
            job.depth
        )),
        None => {}
    }
    let names = job.options.iter().map(|(name, _)| name.as_str());
    let moot: Vec<&str> = names.filter(|name| options::is_moot(name)).collect();
    if !moot.is_empty() {
        notes.push(format!("without effect here: {}", moot.join(", ")));
    }
    if job.steps.several_files {
        notes.push("its files lie one after another on the target".to_owned());
    }
    if option(job, "randrepeat") == Some("0") {
        notes.push("randrepeat=0 still repeats; change randseed for another run".to_owned());
    }
    notes.extend(of_writes(job));
    notes.extend(of_ties(job));
    notes
}

fn of_writes(job: &JobSpec) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(method) = option(job, "verify").filter(|_| job.verify.is_some()) {
        notes.push(format!(
            "verify={method} is carried out by number, address and sum in each 512 bytes on a real \
             target, and by the drive's own stamps on a model"
        ));
        if job.time.time_based {
            notes.push("time_based: what is not read back when its time is up stays so".to_owned());
        }
    }
    if job.steps.pages {
        let size = job.block_sizes.iter().flatten().map(|block| block.bytes);
        let odd = size.filter(|bytes| !bytes.is_multiple_of(512)).max();
        notes.push(format!(
            "blocks of {} bytes go through the page cache: the drive gets the pages of 4096 bytes \
             that they touch, dirty ones at the latest before a flush; the pages are counted",
            odd.unwrap_or(0)
        ));
    }
    if option(job, "buffer_compress_chunk").is_some_and(|value| value != "512") {
        notes.push(
            "buffer_compress_chunk: only the share of buffer_compress_percentage counts here"
                .to_owned(),
        );
    }
    if option(job, "buffer_pattern").is_some() {
        notes.push(match job.pattern.len() {
            0 => "buffer_pattern has no effect beside verify, zero_buffers and dedupe".to_owned(),
            len => format!(
                "buffer_pattern: a real target gets these {len} bytes, repeated; a model stores \
                 what compresses by {} %",
                job.data.compress_pct
            ),
        });
    }
    if let Some(percent) = option(job, "dedupe_percentage").filter(|percent| *percent != "0") {
        notes.push(match job.dedupe {
            None => String::from("dedupe_percentage has no effect beside verify"),
            Some(dedupe) => format!(
                "dedupe_percentage={percent}: a real target gets {percent} % of its blocks of {} \
                 bytes again; no modelled drive finds equal blocks",
                dedupe.unit
            ),
        });
    }
    match job.steps.write_as {
        WriteAs::Read => notes.push(
            "its VERIFY commands are carried out and counted as reads; nothing is compared"
                .to_owned(),
        ),
        WriteAs::Zeroes => notes.push("its WRITE SAME commands write zeroes".to_owned()),
        WriteAs::WriteAndRead => {
            notes.push("WRITE AND VERIFY is a durable write and a read".to_owned());
        }
        WriteAs::Write | WriteAs::TrimAndWrite => {}
    }
    notes
}

fn of_ties(job: &JobSpec) -> Vec<String> {
    let mut notes = Vec::new();
    if job.time.run.is_none() && option(job, "time_based").is_some_and(|value| value != "0") {
        notes.push("time_based without runtime has no effect, as in fio".to_owned());
    }
    if option(job, "fill_device").is_some_and(|value| value != "0") {
        notes.push("fill_device: the target has all its blocks, and is written to its end".into());
    }
    notes
}
