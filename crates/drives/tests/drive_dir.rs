//! Does a drive directory keep what it holds: over a clean shutdown, over checkpoints, and when
//! its process is killed at any moment?
//!
//! For the kill, this test starts itself again as the writer: it writes pages that say which write
//! they come from, and tells on its standard output what a FLUSH has covered. It is killed with
//! SIGKILL at a random moment, the directory is opened, and every page must be what the last FLUSH
//! reported covered, or a newer write.

use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_drives::{catalogue, scaling};
use ssdlab_ssd::drive::power::{DataDrive, Power};
use ssdlab_ssd::nand::{WearConfig, WearCounters};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command as Request, Drive, DriveConfig, Nanos};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const PAGE: u64 = 4096;
const WRITER: &str = "SSDLAB_TEST_WRITER";

fn config(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.buffer.protected = protected;
    config
}

fn open(path: &Path) -> DriveDir {
    let opened = DriveDir::open(path, Power::default(), CrashSafety::Process);
    opened.expect("opens").0
}

fn page(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(PAGE as usize / 8)
}

/// The page that the `n`-th write goes to.
fn place(n: u64, pages: u64) -> u64 {
    Rng::named(n, "place").below(pages)
}

#[test]
fn what_is_written_is_there_after_a_clean_shutdown() {
    let folder = tempfile::tempdir().expect("a folder");
    for protected in [false, true] {
        let path = folder.path().join(format!("drive-{protected}"));
        DriveDir::create(&path, &config(protected), "tiny").expect("created");
        let mut dir = open(&path);
        dir.write(512, &[7; 1024], false).expect("written");
        dir.write(PAGE * 3, &page(9), false).expect("written");
        dir.write_zeroes(1024, 512, false).expect("zeroed");
        dir.trim(PAGE * 3, PAGE).expect("trimmed");
        let cycles = dir.drive().power_counters();
        dir.close().expect("closed");
        let mut dir = open(&path);
        let after = dir.drive().power_counters();
        assert_eq!(after.unsafe_shutdowns, cycles.unsafe_shutdowns);
        assert_eq!(after.power_cycles, cycles.power_cycles + 1);
        let mut bytes = vec![1; 4 * PAGE as usize];
        dir.read(0, &mut bytes).expect("read");
        assert_eq!((bytes[511], bytes[512], bytes[1023]), (0, 7, 7));
        assert!(bytes[1024..].iter().all(|&byte| byte == 0));
        dir.drive().check().expect("consistent");
    }
}

#[test]
fn a_directory_is_open_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(false), "tiny").expect("created");
    let again = DriveDir::create(&path, &config(false), "tiny").expect_err("exists");
    assert!(again.to_string().contains("exists"), "{again}");
    let first = open(&path);
    let second = DriveDir::open(&path, Power::default(), CrashSafety::Process);
    let error = second.expect_err("is open").to_string();
    assert!(error.contains("is open elsewhere"), "{error}");
    drop(first);
    drop(open(&path));
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(false), "tiny").expect("created");
    let file = path.join("checkpoint-0000000001");
    let mut bytes = std::fs::read(&file).expect("there");
    bytes[40] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    let error = DriveDir::open(&path, Power::default(), CrashSafety::Process).expect_err("damaged");
    let said = error.to_string();
    assert!(said.contains("checkpoint-0000000001: byte 0: "), "{said}");
    assert!(error.hint().contains("--repair"), "{error}");
}

/// The writer: not a test of its own.
#[test]
fn writer() {
    let Ok(path) = std::env::var(WRITER) else {
        return;
    };
    let mut dir = open(Path::new(&path));
    // So that it is killed while checkpoints are written, too.
    dir.set_log_bytes_max(200 << 10);
    let pages = dir.capacity() / PAGE;
    let mut out = std::io::stdout();
    let from: u64 = std::env::var("SSDLAB_TEST_FROM").map_or(1, |n| n.parse().expect("a number"));
    for n in from.. {
        let at = place(n, pages) * PAGE;
        dir.write(at, &page(n), n.is_multiple_of(7))
            .expect("written");
        writeln!(out, "W {n}").expect("reported");
        if n.is_multiple_of(5) {
            dir.flush().expect("flushed");
            writeln!(out, "F {n}").expect("reported");
        }
    }
}

/// Runs the writer for a while and kills it; returns the last write reported and the last flushed.
fn run_and_kill(path: &Path, from: u64, lines: u64) -> (u64, u64) {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, path)
        .env("SSDLAB_TEST_FROM", from.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let (mut written, mut flushed) = (from - 1, 0);
    let mut killed = false;
    for (count, line) in output.lines().enumerate() {
        let line = line.expect("text");
        if let Some(n) = line.strip_prefix("W ") {
            written = n.parse().unwrap_or(written);
        } else if let Some(n) = line.strip_prefix("F ") {
            flushed = n.parse().unwrap_or(flushed);
        }
        if count as u64 >= lines && !killed {
            child.kill().expect("killed");
            killed = true;
        }
    }
    child.wait().expect("ended");
    (written, flushed)
}

fn survives_kills(protected: bool, rounds: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(protected), "tiny").expect("created");
    let pages = config(protected).user_bytes / PAGE;
    let mut rng = Rng::named(1, "kills");
    let mut promised = vec![0; pages as usize];
    let mut from = 1;
    for round in 0..rounds {
        let (written, flushed) = run_and_kill(&path, from, 20 + rng.below(600));
        let mut last = promised.clone();
        // The write after the last one reported may have been done.
        for n in from..=written + 1 {
            let at = place(n, pages) as usize;
            if n <= flushed || (n <= written && (protected || n.is_multiple_of(7))) {
                promised[at] = n;
            }
            last[at] = n;
        }
        let mut dir = open(&path);
        assert_eq!(dir.drive().power_counters().unsafe_shutdowns, 2 * round + 1);
        dir.drive().check().expect("consistent");
        let mut bytes = vec![0; PAGE as usize];
        for at in 0..pages {
            dir.read(at * PAGE, &mut bytes).expect("read");
            let word = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
            assert_eq!(bytes, page(word), "round {round}: page {at} is torn");
            let range = promised[at as usize]..=last[at as usize];
            assert!(
                range.contains(&word),
                "round {round}: page {at} is {word}, not {range:?}"
            );
            promised[at as usize] = word;
        }
        from = written + 2;
        // Dropped without being closed: that, too, is a cut.
        drop(dir);
    }
}

#[test]
fn a_killed_process_is_a_power_cut() {
    let rounds = std::env::var("SSDLAB_KILLS").map_or(6, |n| n.parse().expect("a number"));
    survives_kills(false, rounds);
}

#[test]
fn a_killed_process_is_a_power_cut_on_a_protected_drive() {
    let rounds = std::env::var("SSDLAB_KILLS").map_or(4, |n| n.parse().expect("a number"));
    survives_kills(true, rounds);
}

/// Every drive of the catalogue can be made smaller, and survives a power cut.
#[test]
fn every_drive_of_the_catalogue_survives_a_cut() {
    for name in catalogue::names().expect("readable") {
        let found = catalogue::drive(&name).expect("readable");
        let config = scaling::sized(&found.config, 64 << 20);
        let config = config
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .config;
        let protected = config.buffer.protected;
        let data = DataDrive::new(config, Power::default());
        let mut data = data.expect("possible");
        for n in 1..400 {
            data.write(place(n, 1000) * PAGE, &page(n), false)
                .expect("written");
            if n == 300 {
                data.flush().expect("flushed");
            }
        }
        let cut = data.cut();
        let recovery = data.power_on();
        assert!(recovery.ready >= recovery.at, "{name}");
        assert_eq!(cut.saved > 0, protected && cut.buffered > 0, "{name}");
        data.drive()
            .check()
            .unwrap_or_else(|what| panic!("{name}: {what}"));
        let mut bytes = vec![0; PAGE as usize];
        for at in 0..1000 {
            let until = |last: u64| (1..=last).rev().find(|&n| place(n, 1000) == at);
            let durable = until(if protected { 399 } else { 300 }).unwrap_or(0);
            data.read(at * PAGE, &mut bytes).expect("read");
            let word = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
            assert!(
                word >= durable && word <= until(399).unwrap_or(0),
                "{name}: {word}"
            );
        }
    }
}

/// Everything that the drive holds.
fn everything(dir: &mut DriveDir) -> Vec<u8> {
    let mut bytes = vec![0; dir.capacity() as usize];
    dir.read(0, &mut bytes).expect("read");
    bytes
}

#[test]
fn what_is_found_after_a_cut_is_found_when_the_directory_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, protected) in [false, true].into_iter().enumerate() {
        let path = folder.path().join(format!("drive-{n}"));
        DriveDir::create(&path, &config(protected), "tiny").expect("created");
        let mut rng = Rng::named(n as u64, "cuts in a directory");
        for round in 0..30 {
            let mut dir = open(&path);
            let pages = dir.capacity() / PAGE;
            for _ in 0..rng.below(300) {
                let at = rng.below(pages) * PAGE;
                if rng.percent(10) {
                    dir.trim(at, PAGE).expect("trimmed");
                } else {
                    dir.write(at, &page(rng.below(1 << 40)), rng.percent(10))
                        .expect("written");
                }
            }
            let acknowledged = everything(&mut dir);
            let cut = dir.cut().expect("cut");
            assert!(dir.read(0, &mut [0; 512]).is_err(), "no power");
            let off = round % 3 == 0;
            let mut found = None;
            if !off {
                dir.power_on().expect("on");
                found = Some(everything(&mut dir));
            }
            let unsafe_shutdowns = dir.drive().power_counters().unsafe_shutdowns;
            // A drive without power has nothing to lose with its process.
            drop(dir);
            let mut dir = open(&path);
            dir.drive().check().expect("consistent");
            let more = u64::from(!off);
            let after = dir.drive().power_counters().unsafe_shutdowns;
            assert_eq!(after, unsafe_shutdowns + more, "round {round}");
            let holds = everything(&mut dir);
            if protected {
                assert!(holds == acknowledged, "round {round}: {cut:?}");
            }
            if let Some(found) = found {
                assert!(holds == found, "round {round}: what was found is durable");
            }
        }
    }
}

#[test]
fn what_reclaim_moves_is_not_logged_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(false), "tiny").expect("created");
    let mut dir = open(&path);
    let pages = dir.capacity() / PAGE;
    let mut rng = Rng::named(1, "log");
    for n in 0..8 * pages {
        let at = rng.below(pages) * PAGE;
        dir.write(at, &page(n), false).expect("written");
    }
    let counters = dir.drive().counters();
    let (host, moved) = (counters.slots_host, counters.slots_relocated);
    assert!(moved > host / 6, "{moved} of {host} units moved");
    let log = std::fs::metadata(path.join("log-0000000001")).expect("there");
    let most = (host + host / 8) * PAGE;
    assert!(
        log.len() < most,
        "{} bytes of log for {host} units",
        log.len()
    );
}

#[test]
fn a_log_that_cannot_be_written_ends_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(false), "tiny").expect("created");
    drop(open(&path));
    // A log that is a full device.
    let log = path.join("log-0000000001");
    std::fs::remove_file(&log).expect("removed");
    std::os::unix::fs::symlink("/dev/full", &log).expect("linked");
    let error = DriveDir::open(&path, Power::default(), CrashSafety::Process);
    let error = error.expect_err("full").to_string();
    assert!(error.contains("log-0000000001"), "{error}");
}

/// A drive of which blocks fail after some cycles.
fn wearing() -> DriveConfig {
    let mut config = config(false);
    config.shape.planes_per_die = 1;
    config.shape.pages_per_block = 12;
    config.user_bytes = 340 * PAGE;
    config.ftl.slc.superblocks = 0;
    config.ftl.reclaim.free_superblocks_low = 4;
    config.ftl.journal.entry_bytes = 0;
    config.ftl.journal.commit_map_programs = 0;
    config.ftl.journal.commit_closes_word_lines = false;
    config.wear = Some(WearConfig::tiny());
    config
}

/// Cycles of the blocks in use, and what wear has done, but for reads: recovery reads.
fn wear(dir: &DriveDir) -> (Vec<u32>, WearCounters) {
    let wear = dir.drive().reliability().expect("wears");
    let counters = WearCounters {
        reads_by_rber: Vec::new(),
        read_retries: 0,
        reads_uncorrectable: 0,
        ..wear.counters().clone()
    };
    (wear.cycles_in_use().collect(), counters)
}

/// Writes at random until `blocks` are retired.
fn wear_out(dir: &mut DriveDir, blocks: u64) {
    let mut rng = Rng::named(blocks, "wear out");
    let pages = dir.capacity() / PAGE;
    for n in 1..100_000 {
        let retired = dir.drive().reliability().expect("wears").counters();
        if retired.blocks_retired >= blocks {
            return;
        }
        let at = rng.below(pages) * PAGE;
        dir.write(at, &page(n), false).expect("written");
    }
    panic!("no {blocks} blocks retired");
}

#[test]
fn wear_is_kept_over_a_shutdown_and_over_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &wearing(), "wearing").expect("created");
    let mut dir = open(&path);
    wear_out(&mut dir, 1);
    dir.flush().expect("flushed");
    let (worn, mut counters) = (wear(&dir), dir.drive().counters().clone());
    // That of the shutdown.
    counters.host_flushes += 1;
    let erases = dir.drive().smart().array;
    dir.close().expect("closed");
    let mut dir = open(&path);
    assert_eq!(wear(&dir), worn);
    assert_eq!(dir.drive().counters(), &counters);
    assert_eq!(dir.drive().smart().array.erases(), erases.erases());
    // Until superblocks are given up, with kills on the way: nothing is closed, only opened.
    for blocks in 2..=9 {
        wear_out(&mut dir, blocks);
        let before = wear(&dir);
        drop(dir);
        dir = open(&path);
        dir.drive().check().expect("consistent");
        let after = wear(&dir);
        let sum = |cycles: &[u32]| cycles.iter().map(|&c| u64::from(c)).sum::<u64>();
        // An erase under way when the drive was last asked may be missing, or be counted twice.
        let (sum_before, sum_after) = (sum(&before.0), sum(&after.0));
        let near = sum_before.abs_diff(sum_after) <= sum_before / 16;
        assert!(near, "{sum_before} cycles, after a kill {sum_after}");
        let (was, is) = (before.1.blocks_retired, after.1.blocks_retired);
        assert!(is <= was && was - is <= 2, "{was} retired, {is} after");
    }
    dir.close().expect("closed");
    let ended = open(&path);
    assert!(ended.drive().worn_out().0 >= 8);
}

#[test]
fn a_used_drive_goes_on_in_a_directory_as_worn_as_it_was() {
    let mut used = Drive::new(wearing()).expect("valid");
    let slots = used.config().user_slots();
    let mut rng = Rng::named(1, "used");
    for _ in 0..12 * slots {
        let write = Request::write(rng.below(slots) * PAGE, PAGE as u32);
        used.submit(0, &write, used.now());
        used.pop_completion(Nanos::MAX).expect("done");
    }
    let cycles: Vec<u32> = used.reliability().expect("wears").cycles_in_use().collect();
    assert!(cycles.iter().all(|&cycles| cycles > 1), "{cycles:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create_used(&path, &used, "used").expect("created");
    let mut dir = open(&path);
    assert_eq!(wear(&dir).0, cycles);
    assert_eq!(
        dir.drive().counters().nand_erases,
        used.counters().nand_erases
    );
    dir.write(PAGE, &page(5), true).expect("written");
    dir.cut().expect("cut");
    dir.power_on().expect("on");
    let mut bytes = page(0);
    dir.read(PAGE, &mut bytes).expect("read");
    assert_eq!(bytes, page(5));
    dir.drive().check().expect("consistent");
}

#[test]
fn what_a_killed_checkpoint_left_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(false), "tiny").expect("created");
    open(&path).close().expect("closed");
    // Killed before the rename, and one before it after that.
    let left = [
        "checkpoint-0000000002.part",
        "log-0000000000",
        "checkpoint-0000000000",
    ];
    let foreign = ["notes.part", "checkpoint-of-mine.part", "log-book", "log-7"];
    let second = "log-0000000002";
    for name in left.iter().chain(&foreign).chain(&[second]) {
        // The beginning of a log's head, too.
        std::fs::write(path.join(name), "s").expect("written");
    }
    open(&path).close().expect("closed");
    for name in left {
        assert!(!path.join(name).exists(), "{name}");
    }
    let own = ["checkpoint-0000000001", "log-0000000001", second];
    for name in foreign.iter().chain(&own) {
        assert!(path.join(name).exists(), "{name}");
    }
    // A log that another follows was whole.
    let mut first = std::fs::read(path.join(own[1])).expect("there");
    first.pop();
    std::fs::write(path.join(own[1]), first).expect("written");
    let opened = DriveDir::open(&path, Power::default(), CrashSafety::Process);
    let error = opened.expect_err("damaged").to_string();
    assert!(error.contains("log-0000000001: byte "), "{error}");
    assert!(path.join(second).exists());
}

/// Pages at random places, each with a number of its own; `all` receives them.
fn write_some(dir: &mut DriveDir, rng: &mut Rng, all: &mut [u64], count: u64) {
    for _ in 0..count {
        let (at, number) = (rng.below(all.len() as u64), rng.below(1 << 40));
        dir.write(at * PAGE, &page(number), false).expect("written");
        all[at as usize] = number;
    }
    dir.flush().expect("flushed");
}

fn assert_holds(dir: &mut DriveDir, all: &[u64]) {
    dir.drive().check().expect("consistent");
    let mut bytes = vec![0; PAGE as usize];
    for (at, &number) in (0..).zip(all) {
        dir.read(at * PAGE, &mut bytes).expect("read");
        assert!(bytes == page(number), "page {at}");
    }
}

fn files(path: &Path, kind: &str) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("there");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(kind)).collect();
    found.sort_unstable();
    found
}

/// A checkpoint took as long as all data took to be written, and nothing was done meanwhile.
#[test]
fn checkpoints_are_written_beside_the_work_and_take_the_logs_before_them_away() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, protected) in [false, true].into_iter().enumerate() {
        let path = folder.path().join(format!("drive-{n}"));
        DriveDir::create(&path, &config(protected), "tiny").expect("created");
        let mut rng = Rng::named(n as u64, "beside");
        let mut all = vec![0; (config(protected).user_bytes / PAGE) as usize];
        for round in 0..30 {
            let mut dir = open(&path);
            assert_holds(&mut dir, &all);
            // As soon as one is whole the next begins.
            dir.set_log_bytes_max(0);
            let count = rng.below(500);
            write_some(&mut dir, &mut rng, &mut all, count);
            if round % 3 == 0 {
                dir.close().expect("closed");
                assert_eq!(files(&path, "log-").len(), 1);
                assert_eq!(files(&path, "checkpoint-").len(), 1);
            }
        }
        let newest = files(&path, "checkpoint-").pop().expect("one");
        assert!(newest.as_str() > "checkpoint-0000000010", "{newest}");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    for protected in [false, true] {
        let path = folder.path().join(format!("drive-{protected}"));
        DriveDir::create(&path, &config(protected), "tiny").expect("created");
        let mut dir = open(&path);
        let mut rng = Rng::named(3, "no checkpoint");
        let mut all = vec![0; (dir.capacity() / PAGE) as usize];
        write_some(&mut dir, &mut rng, &mut all, 100);
        // Where it would be written there is something else.
        let part = path.join("checkpoint-0000000002.part");
        std::fs::create_dir(&part).expect("made");
        dir.set_log_bytes_max(0);
        let mut n = 0;
        let error = loop {
            // Numbers of their own, as the last may be there or not.
            match dir.write(0, &page(n), true) {
                Ok(_) => all[0] = n,
                Err(error) => break error.to_string(),
            }
            n += 1;
        };
        assert!(error.contains("checkpoint-0000000002.part"), "{error}");
        let again = dir.write(0, &page(n), true);
        let again = again.expect_err("given up").to_string();
        assert!(again.contains("checkpoint-0000000002.part"), "{again}");
        drop(dir);
        assert_eq!(files(&path, "log-").len(), 2);
        std::fs::remove_dir(&part).expect("removed");
        let mut dir = open(&path);
        let mut bytes = vec![0; PAGE as usize];
        dir.read(0, &mut bytes).expect("read");
        if bytes == page(n) {
            all[0] = n;
        }
        assert_holds(&mut dir, &all);
    }
}
