//! Do commands do to a real file or block device what they say?

use super::*;
use crate::device::files::FileTarget;
use crate::device::open::open;
use crate::device::{Needs, OpenOptions, TargetKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;

/// A file of 4 MiB for every kind of command; `None`, with a word, without direct I/O.
fn file(dir: &Path, depth: u32) -> Option<FileTarget> {
    let options = OpenOptions {
        size: Some(4 * MIB),
        keep: true,
        ..OpenOptions::default()
    };
    match open(
        &dir.join("file"),
        &needs(depth),
        &options,
        &mut |_, _| {},
        &AtomicBool::new(false),
    ) {
        Ok(target) => Some(target),
        Err(error) if error.to_string().contains("no direct I/O") => {
            ssdlab_skips::skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn needs(depth: u32) -> Needs {
    Needs {
        depth,
        read_bytes: 1 << 16,
        write_bytes: 1 << 16,
        changes: true,
        data_only: false,
        granule: 4096,
        extent: None,
        ..Needs::default()
    }
}

/// A read after someone else has changed a bit of the file says that the block is another.
#[test]
fn a_verified_read_finds_a_flipped_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let needs = Needs {
        verify: true,
        ..needs(4)
    };
    let options = OpenOptions {
        size: Some(1 << 20),
        keep: true,
        ..OpenOptions::default()
    };
    let stop = AtomicBool::new(false);
    let mut target = match open(&path, &needs, &options, &mut |_, _| {}, &stop) {
        Ok(target) => target,
        Err(error) if error.to_string().contains("no direct I/O") => {
            return ssdlab_skips::skip(error);
        }
        Err(error) => panic!("{error}"),
    };
    let errnos =
        |done: Vec<TargetCompletion>| done.iter().map(|done| done.errno).collect::<Vec<_>>();
    let writes = [Command::write(0, 8192), Command::write(65536, 4096)];
    assert_eq!(errnos(carry_out(&mut target, &writes)), [0, 0]);
    let reads = [
        Command::read(0, 8192),
        Command::read(65536, 4096),
        // Nothing was written there.
        Command::read(1 << 19, 4096),
    ];
    assert_eq!(errnos(carry_out(&mut target, &reads)), [0, 0, 0]);
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 5000).unwrap();
    file.write_all_at(&[byte[0] ^ 4], 5000).unwrap();
    file.sync_all().unwrap();
    assert_eq!(errnos(carry_out(&mut target, &reads)), [84, 0, 0]);
    // Data written over it are as they should be.
    carry_out(&mut target, &[Command::write(4096, 4096)]);
    assert_eq!(errnos(carry_out(&mut target, &reads)), [0, 0, 0]);
}

/// Carries out `commands` one tag each and returns what completed, by tag.
fn carry_out(target: &mut FileTarget, commands: &[Command]) -> Vec<TargetCompletion> {
    for (tag, command) in commands.iter().enumerate() {
        target.submit(tag as u32, command).unwrap();
    }
    let mut done = Vec::new();
    while done.len() < commands.len() {
        target.reap(None, &mut done).unwrap();
    }
    done.sort_by_key(|done| done.tag);
    done
}

#[test]
fn every_kind_of_command_completes_and_does_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut target) = file(dir.path(), 8) else {
        return;
    };
    let before = std::fs::read(dir.path().join("file")).unwrap();
    let commands = [
        Command::write(0, 1 << 16),
        Command::write_fua(1 << 16, 4096),
        Command::read(1 << 20, 1 << 16),
        Command::flush(),
        Command::trim(2 << 20, 1 << 16),
        Command {
            op: Op::WriteZeroes,
            ..Command::write(3 << 20, 1 << 16)
        },
    ];
    let done = carry_out(&mut target, &commands);
    assert!(
        done.iter()
            .all(|done| done.errno == 0 && done.submitted < done.done),
        "{done:?}"
    );
    let after = std::fs::read(dir.path().join("file")).unwrap();
    assert_eq!(after.len(), before.len());
    for block in 0..17 {
        let at = block * 4096;
        assert_ne!(after[at..at + 4096], before[at..at + 4096]);
        assert_eq!(after[at + 8..at + 16], (at as u64).to_le_bytes(), "stamped");
    }
    assert_eq!(after[17 * 4096..2 << 20], before[17 * 4096..2 << 20]);
    for at in [2 << 20, 3 << 20] {
        assert!(after[at..at + (1 << 16)].iter().all(|&b| b == 0));
        assert_eq!(
            after[at + (1 << 16)..at + (1 << 20)],
            before[at + (1 << 16)..at + (1 << 20)]
        );
    }
}

#[test]
fn a_failing_command_tells_its_errno() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut target) = file(dir.path(), 2) else {
        return;
    };
    let commands = [Command::read(8 * MIB, 4096), Command::write(1, 4096)];
    let done = carry_out(&mut target, &commands);
    assert_eq!(done[0].errno, Errno::IO.raw_os_error(), "past the end");
    assert_eq!(done[1].errno, Errno::INVAL.raw_os_error(), "not aligned");
}

#[test]
fn a_full_ring_is_handed_over_at_once_and_comes_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut target) = file(dir.path(), 100) else {
        return;
    };
    let commands: Vec<Command> = (0..100)
        .map(|n| match n % 2 {
            0 => Command::write(n % 32 * 4096, 4096),
            _ => Command::read(n % 32 * 4096, 4096),
        })
        .collect();
    for _ in 0..20 {
        let done = carry_out(&mut target, &commands);
        assert!(
            done.iter()
                .enumerate()
                .all(|(n, done)| done.tag as usize == n)
        );
        assert!(done.iter().all(|done| done.errno == 0));
    }
}

#[test]
fn waiting_for_nothing_ends_on_time() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut target) = file(dir.path(), 1) else {
        return;
    };
    let until = target.now() + Nanos::from_millis(20);
    target.reap(Some(until), &mut Vec::new()).unwrap();
    let late = target.now().saturating_sub(until);
    assert!(
        target.now() >= until && late < Nanos::from_secs(5),
        "{late}"
    );
}

#[test]
fn a_block_device_is_opened_exclusively_written_and_trimmed() {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(16 * MIB).unwrap();
    let made = std::process::Command::new("losetup")
        .args(["--find", "--show"])
        .arg(image.path())
        .output();
    let Ok(made) = made.map_err(|_| ()).and_then(|output| {
        if output.status.success() {
            Ok(String::from_utf8(output.stdout).unwrap())
        } else {
            Err(())
        }
    }) else {
        return ssdlab_skips::skip("no loop device can be made (needs root)");
    };
    let path = Path::new(made.trim());
    let result = std::panic::catch_unwind(|| exercise_device(path));
    let _ = std::process::Command::new("losetup")
        .arg("-d")
        .arg(path)
        .status();
    result.unwrap();
}

fn exercise_device(path: &Path) {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut options = OpenOptions::default();
    options.write.confirmed_serial = Some(name);
    let open_it = || {
        open(
            path,
            &needs(4),
            &options,
            &mut |_, _| {},
            &AtomicBool::new(false),
        )
    };
    let mut target = open_it().unwrap();
    assert_eq!(target.facts().kind, TargetKind::BlockDevice);
    assert_eq!(target.facts().capacity, 16 * MIB);
    assert_eq!(target.facts().interface.as_deref(), Some("loop"));
    let second = open_it().err().expect("claimed by the first");
    assert!(second.to_string().contains("claimed"), "{second}");
    let commands = [
        Command::write_fua(0, 4096),
        Command::trim(MIB, 1 << 16),
        Command::read(2 * MIB, 4096),
        Command::flush(),
    ];
    let done = carry_out(&mut target, &commands);
    assert!(done.iter().all(|done| done.errno == 0), "{done:?}");
    let counters = target.counters();
    assert_eq!(counters.writes, Some(1));
    assert_eq!(counters.host_bytes_written, Some(4096));
    assert_eq!(counters.trims, Some(1));
    assert!(counters.flushes >= Some(1), "{counters:?}");
}
