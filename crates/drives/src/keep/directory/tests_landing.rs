//! Writes that are received into places.
#![cfg(target_os = "linux")]

use super::tests::{PAGE, config, open};
use super::*;
use ssdlab_ssd::rng::Rng;
use std::io::Write;
use std::os::fd::AsFd;

/// A drive that is larger than those of other tests, and uses places again at once.
fn drive(path: &Path, safety: CrashSafety) -> DriveDir {
    if !path.exists() {
        let mut config = DriveConfig::tiny();
        config.user_bytes = 400 * PAGE as u64;
        DriveDir::create(path, &config, "title").expect("created");
    }
    let mut dir = open(path, safety).expect("opens");
    dir.set_kept_bytes(0);
    dir
}

/// Fills it in pieces of any length, some through a pipe.
fn fill(landing: &mut WriteLanding, mut bytes: &[u8], rng: &mut Rng) {
    while !bytes.is_empty() {
        let count = (1 + rng.below(40_000) as usize).min(bytes.len());
        if rng.percent(50) {
            landing.put(&bytes[..count]).expect("put");
        } else {
            let (from, mut into) = std::io::pipe().expect("a pipe");
            into.write_all(&bytes[..count]).expect("room in it");
            landing.splice(from.as_fd(), count).expect("moved");
        }
        bytes = &bytes[count..];
    }
    assert_eq!(landing.missing(), 0);
}

fn all(dir: &mut DriveDir) -> Vec<u8> {
    let mut bytes = vec![0; dir.capacity() as usize];
    dir.read(0, &mut bytes).expect("read");
    bytes
}

/// Against a plain array: received in any pieces, while others are on their way, given up or
/// written, and small writes go on; and what a kill leaves is the same.
#[test]
fn what_was_received_is_what_is_read_also_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    for safety in [CrashSafety::Process, CrashSafety::Host] {
        let path = folder.path().join(format!("{safety:?}"));
        let mut rng = Rng::named(5, "landings");
        let mut plain = vec![0; 400 * PAGE];
        let mut landed = 0;
        for _ in 0..4 {
            let mut dir = drive(&path, safety);
            assert!(all(&mut dir) == plain);
            let landings = dir.landings();
            let mut under_way: Vec<(u64, Vec<u8>, WriteLanding)> = Vec::new();
            for n in 0..150_u32 {
                let count = 8 + rng.below(32);
                let at = rng.below(400 - count) * PAGE as u64;
                let len = count as usize * PAGE;
                let value = |k: usize| (k as u32 * 31 + n * 7 + k as u32 / 4096) as u8 | 1;
                let bytes: Vec<u8> = (0..len).map(value).collect();
                if let Some(mut landing) = landings.begin(at, len) {
                    fill(&mut landing, &bytes, &mut rng);
                    assert!(landing.begins_with(5000) == bytes[..5000]);
                    under_way.push((at, bytes, landing));
                } else {
                    dir.write(at, &bytes, false).expect("written");
                    plain[at as usize..][..len].copy_from_slice(&bytes);
                }
                let one = rng.below(400) as usize * PAGE;
                dir.write(one as u64, &[n as u8; PAGE], false)
                    .expect("written");
                plain[one..one + PAGE].fill(n as u8);
                if under_way.len() > 3 {
                    let chosen = rng.below(4) as usize;
                    let (at, bytes, landing) = under_way.swap_remove(chosen);
                    if rng.percent(80) {
                        dir.write_landed(at, landing, false).expect("written");
                        dir.keep_change(at, bytes.len() as u64, false)
                            .expect("kept");
                        dir.settle().expect("settled");
                        plain[at as usize..][..bytes.len()].copy_from_slice(&bytes);
                        landed += 1;
                    }
                }
            }
            dir.flush().expect("flushed");
            drop(under_way);
            // Dropped without being closed: that is a cut.
        }
        assert!(landed > 100, "{landed} of some 450");
        assert!(check(&path).expect("readable").damages.is_empty());
    }
}

#[test]
fn parts_of_units_and_too_much_at_once_are_not_received() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dir = drive(&folder.path().join("drive"), CrashSafety::Process);
    let landings = dir.landings();
    assert!(landings.begin(512, 16 * PAGE).is_none());
    assert!(landings.begin(0, 16 * PAGE + 512).is_none());
    assert!(landings.begin(0, (1 << 20) + PAGE).is_none());
    let many: Vec<WriteLanding> = (0..).map_while(|_| landings.begin(0, 1 << 20)).collect();
    assert_eq!(many.len(), 16, "16 MiB are on their way");
    let before = dir.places.fresh();
    drop(many);
    let again: Vec<WriteLanding> = (0..).map_while(|_| landings.begin(0, 1 << 20)).collect();
    assert_eq!((again.len(), dir.places.fresh()), (16, before));
    dir.write(0, &[1; PAGE], true).expect("written");
    assert_eq!(config().shape.slot_bytes as usize, PAGE);
}
