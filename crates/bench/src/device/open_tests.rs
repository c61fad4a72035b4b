//! Are files prepared as promised, and what does not fit refused?

use super::*;
use crate::device::{PayloadContents, Target};
use crate::engine::tests::{job, plan};
use ssdlab_load::plan::Mix;
use std::os::unix::fs::MetadataExt;

const MIB: u64 = 1 << 20;

fn running() -> AtomicBool {
    AtomicBool::new(false)
}

fn needs() -> Needs {
    Needs::of(&plan(vec![job()])).unwrap()
}

fn sized(size: u64) -> OpenOptions {
    OpenOptions {
        size: Some(size),
        ..OpenOptions::default()
    }
}

/// `None`, with a word, where the temporary directory has no direct I/O.
fn opened(path: &Path, options: &OpenOptions) -> Option<FileTarget> {
    match open(path, &needs(), options, &mut |_, _| {}, &running()) {
        Ok(target) => Some(target),
        Err(error) if error.to_string().contains("no direct I/O") => {
            ssdlab_skips::skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn refusal(path: &Path, needs: &Needs, options: &OpenOptions) -> String {
    let result = open(path, needs, options, &mut |_, _| {}, &running());
    let error = result.err().expect("must be refused");
    assert!(!error.hint().is_empty(), "{error}: no hint");
    error.to_string()
}

#[test]
fn a_new_file_is_filled_with_data() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new");
    let mut last = (0, 0);
    let mut progress = |done, total| last = (done, total);
    let mut options = sized(6 * MIB);
    options.keep = true;
    let result = open(&path, &needs(), &options, &mut progress, &running());
    if result
        .as_ref()
        .is_err_and(|e| e.to_string().contains("no direct I/O"))
    {
        return ssdlab_skips::skip("no direct I/O in the temporary directory");
    }
    let mut target = result.unwrap();
    assert_eq!(last, (6 * MIB, 6 * MIB));
    assert_eq!(target.facts().capacity, 6 * MIB);
    assert_eq!(target.facts().kind, TargetKind::File);
    assert!(target.facts().file_system.is_some());
    let meta = std::fs::metadata(&path).unwrap();
    assert!(meta.blocks() * 512 >= 6 * MIB, "allocated");
    let bytes = std::fs::read(&path).unwrap();
    assert!(
        bytes
            .chunks(4096)
            .all(|block| block.iter().any(|&b| b != 0)),
        "written"
    );
    assert!(
        target
            .counters()
            .reads
            .is_none_or(|reads| reads < 1_000_000)
    );
}

#[test]
fn a_new_file_has_no_name_while_in_use_so_that_nothing_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new");
    let Some(target) = opened(&path, &sized(MIB)) else {
        return;
    };
    assert_eq!(target.facts().capacity, MIB);
    assert!(!path.exists());
}

#[test]
fn a_file_is_kept_when_asked_or_when_it_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut options = sized(MIB);
    options.keep = true;
    let Some(target) = opened(&path, &options) else {
        return;
    };
    drop(target);
    assert!(path.exists());
    assert!(refusal(&path, &needs(), &sized(MIB)).contains("exists and holds"));
    let mut options = sized(2 * MIB);
    options.write.allow_overwrite = true;
    let Some(target) = opened(&path, &options) else {
        return;
    };
    assert_eq!(target.facts().capacity, 2 * MIB);
    drop(target);
    assert_eq!(
        std::fs::metadata(&path).unwrap().len(),
        2 * MIB,
        "extended and kept"
    );
}

#[test]
fn reading_needs_no_leave_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let content = vec![7; 1 << 20];
    std::fs::write(&path, &content).unwrap();
    let mut spec = job();
    spec.mix = Mix::Read;
    let needs = Needs::of(&plan(vec![spec])).unwrap();
    assert!(!needs.changes);
    match open(
        &path,
        &needs,
        &OpenOptions::default(),
        &mut |_, _| {},
        &running(),
    ) {
        Ok(target) => assert_eq!(target.facts().capacity, MIB),
        Err(error) => assert!(error.to_string().contains("no direct I/O"), "{error}"),
    }
    assert_eq!(std::fs::read(&path).unwrap(), content);
}

#[test]
fn stopping_while_filling_removes_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let stop = AtomicBool::new(true);
    assert!(open(&path, &needs(), &sized(64 * MIB), &mut |_, _| {}, &stop).is_err());
    assert!(!path.exists());
}

#[test]
fn a_file_in_memory_is_refused_unless_buffered() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return ssdlab_skips::skip("there is no /dev/shm");
    };
    let path = dir.path().join("file");
    assert!(refusal(&path, &needs(), &sized(MIB)).contains("no direct I/O"));
    assert!(!path.exists(), "nothing is left behind");
    let mut options = sized(MIB);
    options.buffered = true;
    let target = opened(&path, &options).unwrap();
    assert!(
        target
            .facts()
            .notes
            .iter()
            .any(|note| note.starts_with("buffered"))
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let mut spec = job();
    spec.direct = false;
    let buffered = Needs::of(&plan(vec![spec])).unwrap();
    assert!(refusal(&path, &buffered, &sized(MIB)).contains("page cache"));
    assert!(refusal(&path, &needs(), &sized(MIB + 512)).contains("bytes"));
    let mut odd = needs();
    odd.granule = 256;
    let why = refusal(&path, &odd, &sized(MIB));
    assert!(
        why.contains("multiples of") || why.contains("no direct I/O"),
        "{why}"
    );
    let mut deep = job();
    deep.depth = 40_000;
    assert!(Needs::of(&plan(vec![deep])).is_err());
    assert!(!path.exists(), "nothing is left behind");
}

#[test]
fn needs_are_the_largest_of_all_jobs() {
    let mut reader = job();
    reader.mix = Mix::Read;
    reader.depth = 7;
    reader.copies = 3;
    reader.offset = 512;
    let mut writer = job();
    writer.block_sizes[1][0].bytes = 128 << 10;
    writer.durability.flush_every = 1;
    let needs = Needs::of(&plan(vec![reader, writer])).unwrap();
    let expected = Needs {
        depth: 22,
        read_bytes: 4096,
        write_bytes: 128 << 10,
        longest: Some(128 << 10),
        changes: true,
        data_only: false,
        refill: false,
        verify: false,
        verify_all: false,
        direct: true,
        passthrough: false,
        contents: vec![PayloadContents::default()],
        granule: 512,
        extent: Some(MIB + 512),
    };
    assert_eq!(needs, expected);
}

/// Buffers of a replay are for any command that it may hold; the drive is asked for what it holds.
#[test]
fn the_longest_command_of_a_replay_is_the_one_in_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let text = "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n\
                /dev/x trim 0 2097152\n/dev/x read 512 12288\n/dev/x close\n";
    std::fs::write(&log, text).unwrap();
    let job = format!("[j]\nfilename=/dev/x\nread_iolog={}\n", log.display());
    let surroundings = ssdlab_load::fio::Surroundings::here();
    let plan = ssdlab_load::fio::parse_in(&job, "job.fio", &surroundings).unwrap();
    let mut needs = Needs::of(&plan).unwrap();
    assert_eq!((needs.read_bytes, needs.len_max()), (1 << 20, 12288));
    needs.fill(1 << 16);
    assert_eq!(needs.len_max(), 1 << 16);
    assert_eq!(self::needs().len_max(), 4096);
}

#[test]
fn a_real_target_holds_the_bytes_of_the_pattern() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("patterned");
    let mut writer = job();
    writer.mix = Mix::Write;
    writer.pattern = b"pattern".to_vec();
    let plan = plan(vec![writer]);
    let needs = Needs::of(&plan).unwrap();
    let mut options = sized(2 * MIB);
    options.keep = true;
    let opened = open(&path, &needs, &options, &mut |_, _| {}, &running());
    let mut target = match opened {
        Ok(target) => target,
        Err(error) => return ssdlab_skips::skip(error),
    };
    let unobserved = &mut crate::engine::Unobserved;
    let record = crate::engine::run(&plan, &mut target, unobserved, &running()).unwrap();
    assert!(record.jobs[0].ops[1].count > 0);
    let bytes = std::fs::read(&path).unwrap();
    let repeated: Vec<u8> = b"pattern".iter().copied().cycle().take(4096).collect();
    let written = bytes.chunks(4096).filter(|block| *block == repeated);
    assert!(written.count() > 0);
}

/// Distinct blocks of 4 KiB in a file that a job of this text wrote, by us or by fio.
fn distinct_blocks(text: &str, path: &Path, by_fio: bool) -> Option<usize> {
    let job = path.with_extension("fio");
    std::fs::write(&job, format!("{text}filename={}\n", path.display())).unwrap();
    if by_fio {
        let run = std::process::Command::new("fio").arg(&job).output().ok()?;
        assert!(run.status.success(), "{run:?}");
    } else {
        let plan = ssdlab_load::fio::parse(text, "job.fio").unwrap();
        let needs = Needs::of(&plan).unwrap();
        let mut options = sized(16 * MIB);
        options.keep = true;
        let opened = open(path, &needs, &options, &mut |_, _| {}, &running());
        let mut target = opened.ok()?;
        let unobserved = &mut crate::engine::Unobserved;
        crate::engine::run(&plan, &mut target, unobserved, &running()).unwrap();
    }
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len() as u64, 16 * MIB);
    let blocks: std::collections::HashSet<&[u8]> = bytes.chunks(4096).collect();
    Some(blocks.len())
}

/// As many blocks equal others as in a file that fio wrote: of the last one, of a working set, and
/// in writes of several blocks.
#[test]
fn blocks_repeat_as_often_as_in_a_file_of_fio() {
    let dir = tempfile::tempdir().unwrap();
    for (name, options) in [
        ("last", "bs=4k dedupe_percentage=60"),
        ("all", "bs=4k dedupe_percentage=100"),
        (
            "set",
            "bs=4k dedupe_percentage=80 dedupe_mode=working_set dedupe_working_set_percentage=10",
        ),
        ("large", "bssplit=4k/50:16k/50 dedupe_percentage=30"),
        (
            "squeezed",
            "bs=4k dedupe_percentage=50 buffer_compress_percentage=50",
        ),
    ] {
        let options = options.replace(' ', "\n");
        let text = format!("[j]\nioengine=psync\ndirect=1\nrw=write\nsize=16m\n{options}\n");
        let Some(ours) = distinct_blocks(&text, &dir.path().join(name), false) else {
            return ssdlab_skips::skip("io_uring or direct I/O is not to be had");
        };
        let file = dir.path().join(format!("{name}-fio"));
        let Some(theirs) = distinct_blocks(&text, &file, true) else {
            return ssdlab_skips::skip("fio is not installed");
        };
        // Two binomials of 4096 draws: five standard deviations of their difference are 226.
        assert!(
            ours.abs_diff(theirs) < 230,
            "{name}: {ours} against fio's {theirs}"
        );
        assert!(ours < 4096, "{name}: {ours}");
    }
}

#[test]
fn contents_and_commands_that_only_a_model_takes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none");
    let mut through = job();
    through.passthrough = true;
    let needs = Needs::of(&plan(vec![through])).unwrap();
    let why = refusal(&path, &needs, &sized(MIB));
    assert!(
        why.contains("such as /dev/ng0n1, and this is none"),
        "{why}"
    );
    let why = refusal(Path::new("/dev/null"), &needs, &sized(MIB));
    assert!(why.contains("this is another character device"), "{why}");
    let mut writers = vec![job(), job()];
    writers[0].mix = Mix::Write;
    writers[1].mix = Mix::Write;
    writers[1].pattern = vec![7];
    let needs = Needs::of(&plan(writers)).unwrap();
    let why = refusal(&path, &needs, &sized(MIB));
    assert!(why.contains("different contents"), "{why}");
    assert!(!path.exists());
}
