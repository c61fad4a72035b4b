use super::*;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos};

fn lived(drive: &mut Drive, seed: u64, count: u32) {
    let mut rng = Rng::new(seed);
    let slots = drive.config().user_slots();
    for tag in 0..count {
        let command = Command::write(rng.below(slots) * 4096, 4096);
        drive.submit(tag, &command, drive.now());
        drive.pop_completion(Nanos::MAX).unwrap();
    }
}

fn drive() -> Drive {
    let mut drive = Drive::new(DriveConfig::tiny()).unwrap();
    lived(&mut drive, 1, 3000);
    drive
}

fn about() -> SavedDriveInfo {
    SavedDriveInfo {
        name: "tiny".into(),
        history: vec!["3000 writes".into()],
        ..SavedDriveInfo::default()
    }
}

fn message(path: &Path) -> String {
    let error = load(path).map(|_| ()).unwrap_err();
    assert!(!error.hint().is_empty(), "{error}");
    error.to_string()
}

#[test]
fn a_drive_goes_on_as_if_it_had_never_been_saved() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    let mut original = drive();
    let bytes = save(&path, OverwritePolicy::Refuse, &original, &about()).unwrap();
    assert_eq!(bytes, path.metadata().unwrap().len());
    let (mut loaded, told) = load(&path).unwrap();
    assert_eq!(told, about());
    lived(&mut original, 2, 2000);
    lived(&mut loaded, 2, 2000);
    assert_eq!(loaded.counters(), original.counters());
    assert_eq!(loaded.now(), original.now());
    loaded.check().unwrap();
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "the temporary file is gone");
}

#[test]
fn an_existing_file_is_replaced_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    std::fs::write(&path, "mine").unwrap();
    let error = save(&path, OverwritePolicy::Refuse, &drive(), &about()).unwrap_err();
    assert!(error.hint().contains("--replace"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    save(&path, OverwritePolicy::Replace, &drive(), &about()).unwrap();
    load(&path).unwrap();
}

#[test]
fn a_file_that_appears_meanwhile_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    let place = SaveTarget::reserve(&path, OverwritePolicy::Refuse).unwrap();
    std::fs::write(&path, "mine").unwrap();
    place.save(&drive(), &about()).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    save(&path, OverwritePolicy::Refuse, &drive(), &about()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let mut rng = Rng::new(3);
    let header = 0..HEADER * 8;
    let anywhere = (0..100).map(|_| rng.below(whole.len() as u64 * 8) as usize);
    for bit in header.chain(anywhere) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        message(&path);
    }
}

#[test]
fn a_file_cut_anywhere_or_longer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    save(&path, OverwritePolicy::Refuse, &drive(), &about()).unwrap();
    let mut whole = std::fs::read(&path).unwrap();
    let last = whole.len() - 1;
    for cut in [0, 4, 8, 20, HEADER, HEADER + 10, last / 2, last] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let said = message(&path);
        assert!(
            said.contains("cut short") || said.contains("no saved drive"),
            "{cut}: {said}"
        );
    }
    whole.push(0);
    std::fs::write(&path, &whole).unwrap();
    assert!(message(&path).contains("it should have"));
}

#[test]
fn what_it_does_not_know_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d");
    std::fs::write(&path, "{\"a\": \"text file, longer than the header\"}").unwrap();
    assert!(message(&path).contains("it is no saved drive"));
    save(&path, OverwritePolicy::Replace, &drive(), &about()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[8] = 9;
    std::fs::write(&path, &bytes).unwrap();
    assert!(message(&path).contains("version 9, this build knows version 2"));
    assert!(message(dir.path()).contains("no regular file"));
}
