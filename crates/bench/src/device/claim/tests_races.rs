//! Who comes between the question and the write is never overwritten.
//!
//! A loop device is claimed and its start overwritten while, at a moment drawn at random, mkfs or
//! mount takes the same device. Whenever mkfs or mount has succeeded, the file system must be there
//! afterwards: the claim then was refused, or over before. `SSDLAB_RACES` is the number of rounds.

use super::tests::{Loop, destroying, typed};
use super::*;
use ssdlab_ssd::rng::Rng;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

fn rounds() -> u64 {
    let rounds = std::env::var("SSDLAB_RACES").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(40)
}

/// Claims the device and overwrites its first MiB; whether it was allowed to.
fn overwrite(device: &Path, options: &OpenOptions) -> bool {
    let Ok(claimed) = claim(device, options) else {
        return false;
    };
    let file = claimed.into_file();
    file.write_all_at(&vec![0xa5; 1 << 20], 0).unwrap();
    file.sync_all().unwrap();
    true
}

fn holds_ext4(device: &Path) -> bool {
    let mut magic = [0; 2];
    let file = File::open(device).unwrap();
    file.read_exact_at(&mut magic, 0x438).unwrap();
    magic == *b"\x53\xef"
}

fn succeeds(program: &str, arguments: &[&Path]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

fn make_ext4(device: &Path) -> bool {
    succeeds("mkfs.ext4", &[Path::new("-q"), Path::new("-F"), device])
}

/// Makes a file system while no test claims the device. A child that another test has just forked
/// may still have the last claim's descriptor.
fn make_ext4_at_rest(device: &Path) {
    let made = (0..100).any(|_| {
        let made = make_ext4(device);
        if !made {
            thread::sleep(Duration::from_millis(5));
        }
        made
    });
    assert!(made, "mkfs.ext4 fails on a device at rest");
}

/// Runs `other` beside an overwriting claim, a random time before or after it. Returns whether the
/// claim was granted and whether `other` succeeded.
fn race(rng: &mut Rng, device: &Path, word: &OpenOptions, other: fn(&Path) -> bool) -> [bool; 2] {
    let (first, second) = (rng.below(12_000), rng.below(12_000));
    thread::scope(|scope| {
        let claim = scope.spawn(move || {
            thread::sleep(Duration::from_micros(first));
            overwrite(device, word)
        });
        thread::sleep(Duration::from_micros(second));
        let other = other(device);
        [claim.join().unwrap(), other]
    })
}

#[test]
fn a_file_system_that_mkfs_has_made_is_never_overwritten() {
    let Some(device) = Loop::new() else { return };
    if !make_ext4(&device.device) {
        return ssdlab_skips::skip("mkfs.ext4 does not work");
    }
    let mut rng = Rng::named(1, "races with mkfs");
    let (mut granted, mut neither) = (0, 0);
    for round in 0..rounds() {
        let file = File::options().write(true).open(&device.device).unwrap();
        file.write_all_at(&vec![0; 64 << 20], 0).unwrap();
        drop(file);
        let word = typed(&device.name());
        let [claimed, made] = race(&mut rng, &device.device, &word, make_ext4);
        assert!(!made || holds_ext4(&device.device), "round {round}");
        granted += u64::from(claimed);
        neither += u64::from(!claimed && !made);
    }
    println!("{granted} of {} claims were granted", rounds());
    assert!(
        neither * 50 <= rounds(),
        "{neither} rounds without a winner"
    );
}

/// Mounts the device, in this mount namespace, and unmounts it at once.
fn mount_shortly(device: &Path) -> bool {
    let point = tempfile::tempdir().unwrap();
    let mounted = succeeds("mount", &[device, point.path()]);
    if mounted {
        thread::sleep(Duration::from_millis(3));
        assert!(succeeds("umount", &[point.path()]));
    }
    mounted
}

#[test]
fn a_mounted_file_system_is_never_overwritten() {
    let Some(device) = Loop::new() else { return };
    if !make_ext4(&device.device) || !mount_shortly(&device.device) {
        return ssdlab_skips::skip("cannot make or mount a file system");
    }
    let mut rng = Rng::named(1, "races with mount");
    let mut granted = 0;
    for round in 0..rounds() {
        make_ext4_at_rest(&device.device);
        let word = destroying("64MiB");
        let [claimed, mounted] = race(&mut rng, &device.device, &word, mount_shortly);
        let destroyed = !holds_ext4(&device.device);
        assert!(claimed == destroyed, "round {round}");
        // A mount that succeeded was there before or over: its own unmount found it whole.
        granted += u64::from(claimed && !mounted);
    }
    println!("{granted} of {} claims came before the mount", rounds());
}
