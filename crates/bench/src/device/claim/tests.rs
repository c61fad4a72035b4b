//! Is everything refused that must be, with the reason and what to type?
//!
//! Rules are tested on made-up `/sys` and `/proc` trees; the same rules against real loop
//! devices need root and are skipped, with a note, where there are no loop devices.

use super::*;
use std::process::Command;

fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn refusal(result: Result<WriteClaim, LabError>) -> String {
    let error = result.expect_err("must be refused");
    assert!(!error.hint().is_empty(), "{error}: no hint");
    error.to_string()
}

pub(super) fn typed(word: &str) -> OpenOptions {
    OpenOptions {
        write: WriteOptions {
            confirmed_serial: Some(word.to_owned()),
            allow_overwrite: true,
            destroy: None,
        },
        buffered: true,
        keep: true,
        ..OpenOptions::default()
    }
}

pub(super) fn destroying(word: &str) -> OpenOptions {
    let mut options = typed("");
    options.write.confirmed_serial = None;
    options.write.destroy = Some(word.to_owned());
    options
}

pub(super) fn nothing_typed() -> OpenOptions {
    let mut options = typed("");
    options.write = WriteOptions::default();
    options
}

fn disk(dir: &Path, name: &str) -> SysfsDevice {
    SysfsDevice {
        id: DevId { major: 8, minor: 0 },
        name: name.to_owned(),
        dir: dir.to_owned(),
        disk: dir.to_owned(),
    }
}

#[test]
fn files_new_empty_and_existing() {
    let dir = tempfile::tempdir().unwrap();
    let none = nothing_typed();
    let new = claim(&dir.path().join("new"), &none).unwrap();
    assert_eq!(new.kind(), ClaimedKind::NewFile);
    let path = dir.path().join("old");
    fs::write(&path, "").unwrap();
    assert!(claim(&path, &none).is_ok());
    fs::write(&path, "precious").unwrap();
    assert!(refusal(claim(&path, &none)).contains("holds 8 bytes"));
    let allowed = claim(&path, &typed("")).unwrap();
    assert_eq!(allowed.kind(), ClaimedKind::ExistingFile);
}

#[test]
fn what_is_not_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let any = typed("x");
    assert!(refusal(claim(dir.path(), &any)).contains("is a directory"));
    let missing = dir.path().join("no/such/file");
    assert!(refusal(claim(&missing, &any)).contains("no directory"));
    let null = Path::new("/dev/null");
    assert!(refusal(claim(null, &any)).contains("neither a file nor"));
    let typo = Path::new("/dev/nvme99n99");
    assert!(refusal(claim(typo, &any)).contains("no device"));
    let fifo = dir.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(refusal(claim(&fifo, &any)).contains("neither a file nor"));
    }
}

#[test]
fn symbolic_links_are_resolved() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old");
    fs::write(&old, "x").unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&old, &link).unwrap();
    let claimed = claim(&link, &typed("")).unwrap();
    assert_eq!(claimed.path(), fs::canonicalize(&old).unwrap());
    fs::remove_file(&old).unwrap();
    assert!(refusal(claim(&link, &typed(""))).contains("link to nothing"));
}

pub(super) fn identity(serial: Option<&str>) -> Identity {
    Identity {
        serial: serial.map(str::to_owned),
        kernel_name: "loop3".to_owned(),
        backing_file: Some("/srv/image ".to_owned()),
        mapper: Vec::new(),
        bytes: 64 << 20,
    }
}

fn ext4() -> TargetContents {
    TargetContents {
        formats: vec![FormatSignature {
            kind: "ext4".to_owned(),
            uuid: Some("0a1b-2c".to_owned()),
            label: None,
        }],
        ..TargetContents::default()
    }
}

#[test]
fn the_exact_serial_number_and_nothing_else_confirms() {
    let drive = identity(Some("S3Z8NB0"));
    let blank = TargetContents::default();
    let ask = |options: &OpenOptions, contents: &TargetContents| {
        drive.confirm("/dev/sda", contents, false, &options.write)
    };
    assert!(ask(&typed("S3Z8NB0"), &ext4()).is_ok());
    let with_newline = typed("S3Z8NB0\n");
    assert!(
        ask(&with_newline, &blank).is_ok(),
        "a trailing newline is no part of it"
    );
    for wrong in ["", "s3z8nb0", "S3Z8NB", "loop3", "sda", "yes", "0a1b-2c"] {
        for options in [typed(wrong), destroying(wrong), destroying("64MiB")] {
            assert!(ask(&options, &blank).is_err(), "{wrong:?}");
            let why = ask(&options, &ext4()).unwrap_err().to_string();
            assert!(why.contains("ext4 (UUID 0a1b-2c)"), "{why}");
        }
    }
    assert!(ask(&nothing_typed(), &ext4()).is_err());
}

#[test]
fn without_a_serial_number_a_kernel_name_confirms_only_what_is_blank() {
    let loop3 = identity(None);
    let blank = TargetContents::default();
    let ask = |options: &OpenOptions, contents: &TargetContents| {
        loop3.confirm("/dev/loop3", contents, false, &options.write)
    };
    assert!(ask(&typed("loop3"), &blank).is_ok());
    assert!(ask(&typed(""), &blank).is_err());
    let why = ask(&typed("loop3"), &ext4()).unwrap_err();
    let hint = why.hint();
    for word in ["0a1b-2c", "/srv/image", "64MiB", "67108864"] {
        assert!(ask(&destroying(word), &ext4()).is_ok(), "{word}");
        assert!(word == "64MiB" || hint.contains(word), "{hint}");
    }
    for wrong in ["loop3", "64MB", "65MiB", "0a1b", "ext4", ""] {
        assert!(ask(&destroying(wrong), &ext4()).is_err(), "{wrong}");
    }
    assert!(
        ask(&typed("64MiB"), &ext4()).is_err(),
        "a size is no serial number"
    );
}

/// A disk sda with partition sda1 in a made-up tree.
fn made_up() -> (tempfile::TempDir, SystemPaths, SysfsDevice) {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("sys/devices/block/sda");
    put(dir.join("sda1/partition"), "1");
    put(dir.join("sda1/dev"), "8:1\n");
    let system = SystemPaths {
        sys: root.path().join("sys"),
        proc: root.path().join("proc"),
        udev: root.path().join("udev"),
    };
    let sda = disk(&dir, "sda");
    (root, system, sda)
}

#[test]
fn a_mounted_partition_makes_its_disk_in_use() {
    let (_root, system, sda) = made_up();
    assert_eq!(users::of_device(&system, &sda), None);
    let line = "36 35 8:1 / /data rw - ext4 /nonexistent rw\n";
    put(system.proc.join("self/mountinfo"), line);
    assert!(
        users::of_device(&system, &sda)
            .unwrap()
            .contains("mounted at /data")
    );
    let other = "36 35 8:2 / /data rw - ext4 /nonexistent rw\n";
    put(system.proc.join("self/mountinfo"), other);
    assert_eq!(users::of_device(&system, &sda), None);
}

#[test]
fn a_held_partition_makes_its_disk_in_use() {
    let (_root, system, sda) = made_up();
    fs::create_dir_all(sda.dir.join("sda1/holders/dm-0")).unwrap();
    let why = users::of_device(&system, &sda).unwrap();
    assert!(why.contains("sda1 belongs to dm-0"), "{why}");
}

#[test]
fn what_is_behind_a_loop_device_is_in_use() {
    let (root, system, sda) = made_up();
    put(
        system.sys.join("block/loop7/loop/backing_file"),
        "/dev/sda1\n",
    );
    let why = users::of_device(&system, &sda).unwrap();
    assert!(why.contains("loop7"), "{why}");
    let file = root.path().join("image");
    fs::write(&file, "x").unwrap();
    let backing = file.to_str().unwrap();
    put(system.sys.join("block/loop7/loop/backing_file"), backing);
    assert!(refusal(claim_on(&system, &file, &typed(""))).contains("loop7"));
}

#[test]
fn a_swap_file_is_in_use() {
    let (root, system, _) = made_up();
    let file = root.path().join("swapfile");
    fs::write(&file, "x").unwrap();
    let table = format!(
        "Filename Type Size Used Priority\n{} file 1 0 -2\n",
        file.display()
    );
    put(system.proc.join("swaps"), &table);
    assert!(refusal(claim_on(&system, &file, &typed(""))).contains("swap"));
}

/// A loop device on a sparse file, detached when dropped.
pub(super) struct Loop {
    pub(super) device: PathBuf,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    pub(super) fn new() -> Option<Loop> {
        Loop::on(tempfile::NamedTempFile::new().ok()?)
    }

    pub(super) fn on(file: tempfile::NamedTempFile) -> Option<Loop> {
        file.as_file().set_len(64 << 20).ok()?;
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file.path())
            .output();
        match made {
            Ok(output) if output.status.success() => {
                let name = String::from_utf8(output.stdout).ok()?;
                Some(Loop {
                    device: PathBuf::from(name.trim()),
                    _file: file,
                })
            }
            _ => {
                ssdlab_skips::skip("no loop device can be made (needs root)");
                None
            }
        }
    }

    pub(super) fn name(&self) -> String {
        self.device
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    fn run(&self, program: &str, args: &[&str]) -> bool {
        let status = Command::new(program).args(args).arg(&self.device).output();
        let done = status.is_ok_and(|output| output.status.success());
        if !done {
            ssdlab_skips::skip(format_args!("{program} does not work"));
        }
        done
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
    }
}

#[test]
fn a_blank_loop_device_needs_the_owners_word() {
    let Some(blank) = Loop::new() else { return };
    let none = nothing_typed();
    assert!(refusal(claim(&blank.device, &none)).contains("nothing was confirmed"));
    assert!(refusal(claim(&blank.device, &typed("yes"))).contains("yes"));
    let claimed = claim(&blank.device, &typed(&blank.name())).unwrap();
    assert!(matches!(claimed.kind(), ClaimedKind::BlockDevice(id) if id.major == 7));
}

#[test]
fn a_loop_device_with_a_file_system_is_refused_and_mounted_all_the_more() {
    let Some(device) = Loop::new() else { return };
    if !device.run("mkfs.ext4", &["-q", "-F"]) {
        return;
    }
    let word = typed(&device.name());
    let refused = claim(&device.device, &word).unwrap_err();
    assert!(refused.to_string().contains("ext4"), "{refused}");
    let uuid = refused.hint().split("UUID on it, ").nth(1).unwrap();
    let uuid = uuid.split(';').next().unwrap();
    assert!(claim(&device.device, &destroying(uuid)).is_ok(), "{uuid}");
    let point = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .arg(&device.device)
        .arg(point.path())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return ssdlab_skips::skip("cannot mount");
    }
    let why = refusal(claim(&device.device, &word));
    let flags = OFlags::RDONLY | OFlags::EXCL;
    let exclusive = rustix::fs::open(&device.device, flags, Mode::empty());
    let _ = Command::new("umount").arg(point.path()).status();
    assert!(why.contains("is mounted at"), "{why}");
    assert!(exclusive.is_err(), "the kernel's own refusal is seen too");
}

#[test]
fn a_loop_device_used_as_swap_is_refused() {
    let Some(device) = Loop::new() else { return };
    if !device.run("mkswap", &[]) {
        return;
    }
    let word = typed(&device.name());
    assert!(refusal(claim(&device.device, &word)).contains("swap"));
    if !device.run("swapon", &[]) {
        return;
    }
    let why = refusal(claim(&device.device, &word));
    device.run("swapoff", &[]);
    assert!(why.contains("is swap space"), "{why}");
}

#[test]
fn the_backing_file_of_a_loop_device_is_refused() {
    let Some(device) = Loop::new() else { return };
    let why = refusal(claim(device._file.path(), &typed("")));
    assert!(why.contains("loop"), "{why}");
}

#[test]
fn a_generic_device_is_never_written_as_a_file() {
    use crate::device::generic::tests::made_up;
    let (_root, system) = made_up("nvme97");
    let error = claim_on(&system, Path::new("/dev/null"), &typed("S1")).unwrap_err();
    assert!(error.to_string().contains("NVMe generic device"), "{error}");
    assert!(error.hint().contains("/dev/nvme97n99"), "{}", error.hint());
}

#[test]
fn a_hard_link_of_a_loop_device_s_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // A name that ends with a blank, as people make them.
    let file = dir.path().join("image ");
    fs::write(&file, "x").unwrap();
    let link = dir.path().join("link");
    fs::hard_link(&file, &link).unwrap();
    let made = tempfile::NamedTempFile::from_parts(
        File::options().write(true).open(&file).unwrap(),
        tempfile::TempPath::try_from_path(&file).unwrap(),
    );
    let Some(_device) = Loop::on(made) else {
        return;
    };
    for name in [&file, &link] {
        let why = refusal(claim(name, &typed("")));
        assert!(why.contains("loop"), "{why}");
    }
    fs::remove_file(&file).unwrap();
    let why = refusal(claim(&link, &typed("")));
    assert!(why.contains("loop"), "a name that is gone: {why}");
}

#[test]
fn a_file_that_another_program_writes_to_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "log").unwrap();
    let why = refusal(claim(file.path(), &typed("")));
    assert!(why.contains("open to write"), "{why}");
    let path = file.into_temp_path();
    claim(&path, &typed("")).expect("it is closed now");
    let reader = File::open(&path).unwrap();
    assert!(claim(&path, &typed("")).is_ok(), "readers lose nothing");
    drop(reader);
}
