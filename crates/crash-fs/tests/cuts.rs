//! What a program sees of a cut, and what a test finds.

use ssdlab_crash_fs::std::fs::{self, File, OpenOptions};
use ssdlab_crash_fs::std::os::unix::fs::{FileExt, OpenOptionsExt};
use ssdlab_crash_fs::{Blame, CrashFs, CrashFsError, CrashTest, FileSystemRules, TestFailure};
use std::io::{ErrorKind, Write};

fn inner(error: &std::io::Error) -> Option<&CrashFsError> {
    error.get_ref()?.downcast_ref()
}

#[test]
fn files_of_before_a_cut_are_stale_after_it() {
    let machine = CrashFs::posix(3).expect("a disk");
    let path = machine.root().join("log");
    let mut log = File::create(&path).expect("made");
    log.sync_all().expect("synced");
    File::open(machine.root())
        .expect("opens")
        .sync_all()
        .expect("synced");
    machine.cut().expect("cut");
    let error = log.write(b"one").expect_err("no power");
    assert!(inner(&error).is_some_and(CrashFsError::is_power), "{error}");
    assert!(fs::exists(&path).is_err(), "nothing is known without power");
    machine.power_on().expect("on").assert_kept();
    let error = log.write(b"one").expect_err("stale");
    assert_eq!(inner(&error), Some(&CrashFsError::Stale));
    assert!(error.to_string().contains("open it again"), "{error}");
    drop(log);
    File::options()
        .append(true)
        .open(&path)
        .expect("opens")
        .write_all(b"two")
        .expect("written");
    assert_eq!(fs::read(&path).expect("read"), b"two");
}

#[test]
fn a_cut_that_is_armed_strikes_in_the_nth_change() {
    let machine = CrashFs::posix(3).expect("a disk");
    machine.arm(2);
    fs::write(machine.root().join("a"), "1").expect("two changes");
    let error = fs::write(machine.root().join("b"), "1").expect_err("the third");
    assert!(inner(&error).is_some_and(CrashFsError::is_power));
    assert!(!machine.is_on());
}

#[test]
fn what_is_not_supported_says_so() {
    let machine = CrashFs::posix(1).expect("a disk");
    let path = machine.root().join("log");
    const O_DIRECT: i32 = 0o40000;
    let mut options = OpenOptions::new();
    let direct = options
        .write(true)
        .create(true)
        .custom_flags(O_DIRECT)
        .open(&path);
    let link = fs::soft_link(&path, machine.root().join("link"));
    let mode = fs::metadata(machine.root())
        .expect("is there")
        .permissions();
    let mode = fs::set_permissions(machine.root(), mode);
    let elsewhere = fs::read("/etc/hostname").map(drop);
    for error in [direct.map(drop), link, mode, elsewhere] {
        let error = error.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("hint: "), "{error}");
    }
}

#[test]
fn what_is_opened_with_o_dsync_is_durable_when_a_write_returns() {
    const O_DSYNC: i32 = 0o10000;
    let machine = CrashFs::posix(1).expect("a disk");
    let path = machine.root().join("log");
    let mut options = OpenOptions::new();
    let log = options
        .write(true)
        .create(true)
        .custom_flags(O_DSYNC)
        .open(&path)
        .expect("made");
    log.write_all_at(&[1; 100], 0).expect("written");
    assert_eq!(machine.pending(), ["the name `log`"]);
}

#[test]
fn locks_are_those_of_open_files() {
    let machine = CrashFs::posix(1).expect("a disk");
    let path = machine.root().join("log");
    let (first, second) = (
        File::create(&path).expect("made"),
        File::open(&path).expect("opens"),
    );
    assert!(first.try_lock().is_ok() && second.try_lock().is_err());
    drop(first);
    assert!(second.try_lock_shared().is_ok() && second.unlock().is_ok());
}

#[test]
fn a_full_disk_is_the_kernels_error() {
    let machine = CrashFs::builder()
        .capacity(1 << 20)
        .build()
        .expect("a disk");
    let mut log = File::create(machine.root().join("log")).expect("made");
    let mut result = Ok(());
    for _ in 0..20 {
        result = log.write_all(&[1; 100_000]).and_then(|()| log.sync_all());
        if result.is_err() {
            break;
        }
    }
    let error = result.expect_err("full");
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
}

/// Replaces a file by a rename, with or without a sync of the new one.
fn replaced(rules: FileSystemRules, syncs: bool) -> Result<u64, Box<TestFailure>> {
    CrashTest::new().seeds(2).rules(rules).run(
        |program| {
            let (new, name) = (program.root().join("conf.new"), program.root().join("conf"));
            for n in 1..=4_u8 {
                let mut file = File::create(&new)?;
                file.write_all(&[n; 6000])?;
                // Nothing waits for the first, which replaces nothing.
                if syncs || n == 1 {
                    file.sync_all()?;
                }
                fs::rename(&new, &name)?;
                File::open(program.root())?.sync_all()?;
                program.acknowledge(n);
            }
            Ok(())
        },
        |recovered| {
            let bytes = fs::read(recovered.root().join("conf")).unwrap_or_default();
            let last = recovered.acknowledged().last().copied().unwrap_or(0);
            let first = bytes.first().copied().unwrap_or(0);
            if last > 0 && bytes.len() != 6000 {
                return Err(format!("conf has {} bytes", bytes.len()).into());
            }
            if bytes.iter().any(|&byte| byte != first) || first < last {
                return Err(format!("{first} where {last} was acknowledged").into());
            }
            Ok(())
        },
    )
}

#[test]
fn a_file_replaced_without_a_sync_is_lost_where_the_file_system_does_not_wait() {
    for rules in [
        FileSystemRules::posix(),
        FileSystemRules::ext4(),
        FileSystemRules::xfs(),
    ] {
        replaced(rules, true).expect("synced");
        let failure = replaced(rules, false).expect_err("not synced");
        assert_eq!(failure.blame, Blame::Program);
        assert!(failure.repeats);
        let text = format!("{failure:?}");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("\nreplay: SSDLAB_CUT="), "{text}");
        assert!(text.contains("a_file_replaced_without_a_sync"), "{text}");
    }
    let old = FileSystemRules::ext4_dioread_lock();
    replaced(old, false).expect("ext4 with dioread_lock waits");
}

#[test]
fn a_drive_that_lies_is_blamed_and_a_program_that_fails_by_itself_too() {
    let test = CrashTest::new().faults(&["ignores-flush"]);
    let failure = test.run(
        |program| {
            let mut log = File::create(program.root().join("log"))?;
            log.write_all(&[1; 100])?;
            log.sync_all()?;
            program.acknowledge(1);
            Ok(())
        },
        |recovered| {
            fs::read(recovered.root().join("log"))?;
            Ok(())
        },
    );
    assert_eq!(failure.expect_err("it lies").blame, Blame::Drive);
    let failure = CrashTest::new().run(
        |program| {
            program.acknowledge(1);
            fs::read(program.root().join("none"))?;
            Ok(())
        },
        |_| Ok(()),
    );
    let failure = failure.expect_err("no such file");
    assert_eq!(failure.blame, Blame::Call);
    assert!(
        failure.to_string().contains("without a cut: No such file"),
        "{failure}"
    );
}

#[test]
fn a_check_that_tests_nothing_or_cannot_pass_is_refused() {
    let write = |program: &ssdlab_crash_fs::CrashProgram<u8>| {
        fs::write(program.root().join("log"), "1")?;
        program.acknowledge(1);
        Ok(())
    };
    let failure = CrashTest::new()
        .run(write, |_| Ok(()))
        .expect_err("tests nothing");
    assert_eq!(failure.blame, Blame::Call);
    assert!(
        failure.message.contains("passes without its files"),
        "{failure}"
    );
    let failure = CrashTest::new().run(write, |recovered| {
        fs::read(recovered.root().join("another"))?;
        Ok(())
    });
    let failure = failure.expect_err("looks elsewhere");
    assert!(
        failure.message.contains("the check on its files"),
        "{failure}"
    );
}

/// A recovery that is not safe to be cut: it empties the log before it has written the table.
#[test]
fn a_cut_inside_the_check_is_found() {
    let recover = |root: &std::path::Path, is_careful: bool| -> std::io::Result<Vec<u8>> {
        let (log, table) = (root.join("log"), root.join("table"));
        let mut all = fs::read(&table).unwrap_or_default();
        let new = fs::read(&log).unwrap_or_default();
        let new: Vec<u8> = new
            .into_iter()
            .filter(|byte| !all.contains(byte) && *byte > 0)
            .collect();
        all.extend(&new);
        if new.is_empty() {
            return Ok(all);
        }
        let write = || -> std::io::Result<()> {
            let new_table = root.join("table.new");
            let mut file = File::create(&new_table)?;
            file.write_all(&all)?;
            file.sync_all()?;
            fs::rename(&new_table, &table)?;
            File::open(root)?.sync_all()
        };
        let empty = || -> std::io::Result<()> {
            let file = File::options().write(true).open(&log)?;
            file.set_len(0)?;
            file.sync_all()
        };
        if is_careful {
            write().and_then(|()| empty())?;
        } else {
            empty().and_then(|()| write())?;
        }
        Ok(all)
    };
    let test = |is_careful: bool| {
        CrashTest::new().run(
            |program| {
                let mut log = File::create(program.root().join("log"))?;
                File::open(program.root())?.sync_all()?;
                for n in 1..=6_u8 {
                    log.write_all(&[n])?;
                    log.sync_all()?;
                    program.acknowledge(n);
                }
                Ok(())
            },
            |recovered| {
                let found = recover(recovered.root(), is_careful)?;
                assert!(found.starts_with(recovered.acknowledged()), "{found:?}");
                Ok(())
            },
        )
    };
    test(true).expect("safe");
    let failure = test(false).expect_err("not safe");
    assert!(failure.nested.is_some(), "{failure}");
    assert!(failure.repeats, "{failure}");
}
