//! Is everything refused that must be, with the reason and a way out?
//!
//! Rules are tested on made-up `/sys` and `/proc` trees; the same rules against real loop
//! devices need root and are skipped, with a note, where there are no loop devices.

use super::*;
use std::process::Command;

fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn refusal(result: Result<WritePermission, LabError>) -> String {
    let error = result.expect_err("must be refused");
    assert!(!error.hint().is_empty(), "{error}: no hint");
    error.to_string()
}

fn typed(word: &str) -> WriteOptions {
    WriteOptions {
        confirmed_serial: Some(word.to_owned()),
        allow_overwrite: true,
    }
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
    let none = WriteOptions::default();
    let new = check_write_allowed(&dir.path().join("new"), &none).unwrap();
    assert_eq!(new.target(), PermittedTarget::NewFile);
    let path = dir.path().join("old");
    fs::write(&path, "").unwrap();
    assert!(check_write_allowed(&path, &none).is_ok());
    fs::write(&path, "precious").unwrap();
    assert!(refusal(check_write_allowed(&path, &none)).contains("holds 8 bytes"));
    let allowed = check_write_allowed(&path, &typed("")).unwrap();
    assert_eq!(allowed.target(), PermittedTarget::ExistingFile);
}

#[test]
fn what_is_not_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let any = typed("x");
    assert!(refusal(check_write_allowed(dir.path(), &any)).contains("is a directory"));
    let missing = dir.path().join("no/such/file");
    assert!(refusal(check_write_allowed(&missing, &any)).contains("no directory"));
    let null = Path::new("/dev/null");
    assert!(refusal(check_write_allowed(null, &any)).contains("neither a file nor"));
    let typo = Path::new("/dev/nvme99n99");
    assert!(refusal(check_write_allowed(typo, &any)).contains("no device"));
    let fifo = dir.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(refusal(check_write_allowed(&fifo, &any)).contains("neither a file nor"));
    }
}

#[test]
fn symbolic_links_are_resolved() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old");
    fs::write(&old, "x").unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&old, &link).unwrap();
    let permission = check_write_allowed(&link, &typed("")).unwrap();
    assert_eq!(permission.path(), fs::canonicalize(&old).unwrap());
    fs::remove_file(&old).unwrap();
    assert!(refusal(check_write_allowed(&link, &typed(""))).contains("link to nothing"));
}

#[test]
fn the_exact_serial_number_and_nothing_else_confirms() {
    let sda = disk(Path::new("/nowhere"), "sda");
    let ask = |word: Option<&str>, contents: &[String]| {
        let options = WriteOptions {
            confirmed_serial: word.map(str::to_owned),
            allow_overwrite: true,
        };
        confirm(
            "/dev/sda",
            &sda,
            Some(String::from("S3Z8NB0")),
            contents,
            &options,
        )
    };
    let ext4 = [String::from("ext4 file system")];
    assert!(ask(Some("S3Z8NB0"), &ext4).is_ok());
    assert!(
        ask(Some("S3Z8NB0\n"), &[]).is_ok(),
        "a trailing newline is no part of it"
    );
    for wrong in [
        None,
        Some(""),
        Some("s3z8nb0"),
        Some("S3Z8NB"),
        Some("sda"),
        Some("yes"),
    ] {
        assert!(ask(wrong, &[]).is_err(), "{wrong:?}");
        let why = ask(wrong, &ext4).unwrap_err().to_string();
        assert!(why.contains("ext4 file system"), "{why}");
    }
}

#[test]
fn without_a_serial_number_only_a_blank_device_can_be_confirmed() {
    let loop3 = disk(Path::new("/nowhere"), "loop3");
    let ask = |word: &str, contents: &[String]| {
        confirm("/dev/loop3", &loop3, None, contents, &typed(word))
    };
    assert!(ask("loop3", &[]).is_ok());
    assert!(ask("", &[]).is_err());
    let why = ask("loop3", &[String::from("swap")]).unwrap_err();
    assert!(why.hint().contains("wipefs"), "{}", why.hint());
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
    let nowhere = Path::new("/nonexistent");
    assert_eq!(in_use(&system, &sda, nowhere), None);
    let line = "36 35 8:1 / /data rw - ext4 /nonexistent rw\n";
    put(system.proc.join("self/mountinfo"), line);
    assert!(
        in_use(&system, &sda, nowhere)
            .unwrap()
            .contains("mounted at /data")
    );
    let other = "36 35 8:2 / /data rw - ext4 /nonexistent rw\n";
    put(system.proc.join("self/mountinfo"), other);
    assert_eq!(in_use(&system, &sda, nowhere), None);
}

#[test]
fn a_held_partition_makes_its_disk_in_use() {
    let (_root, system, sda) = made_up();
    fs::create_dir_all(sda.dir.join("sda1/holders/dm-0")).unwrap();
    let why = in_use(&system, &sda, Path::new("/nonexistent")).unwrap();
    assert!(why.contains("sda1 belongs to dm-0"), "{why}");
}

#[test]
fn what_is_behind_a_loop_device_is_in_use() {
    let (root, system, sda) = made_up();
    put(
        system.sys.join("block/loop7/loop/backing_file"),
        "/dev/sda1\n",
    );
    let why = in_use(&system, &sda, Path::new("/nonexistent")).unwrap();
    assert!(why.contains("loop7"), "{why}");
    let file = root.path().join("image");
    fs::write(&file, "x").unwrap();
    let backing = file.to_str().unwrap();
    put(system.sys.join("block/loop7/loop/backing_file"), backing);
    assert!(refusal(check_on(&system, &file, &typed(""))).contains("loop7"));
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
    assert!(refusal(check_on(&system, &file, &typed(""))).contains("swap"));
}

/// A loop device on a sparse file, detached when dropped.
struct Loop {
    device: PathBuf,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    fn new() -> Option<Loop> {
        let file = tempfile::NamedTempFile::new().ok()?;
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

    fn name(&self) -> String {
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
    let none = WriteOptions::default();
    assert!(refusal(check_write_allowed(&blank.device, &none)).contains("nothing was confirmed"));
    assert!(refusal(check_write_allowed(&blank.device, &typed("yes"))).contains("yes"));
    let permission = check_write_allowed(&blank.device, &typed(&blank.name())).unwrap();
    assert!(matches!(permission.target(), PermittedTarget::BlockDevice(id) if id.major == 7));
}

#[test]
fn a_loop_device_with_a_file_system_is_refused_and_mounted_all_the_more() {
    let Some(device) = Loop::new() else { return };
    if !device.run("mkfs.ext4", &["-q", "-F"]) {
        return;
    }
    let word = typed(&device.name());
    assert!(refusal(check_write_allowed(&device.device, &word)).contains("ext4"));
    let point = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .arg(&device.device)
        .arg(point.path())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return ssdlab_skips::skip("cannot mount");
    }
    let why = refusal(check_write_allowed(&device.device, &word));
    let claimed = exclusive_owner(&device.device);
    let _ = Command::new("umount").arg(point.path()).status();
    assert!(why.contains("is mounted at"), "{why}");
    assert!(claimed.is_some(), "the kernel's own refusal is seen too");
}

#[test]
fn a_loop_device_used_as_swap_is_refused() {
    let Some(device) = Loop::new() else { return };
    if !device.run("mkswap", &[]) {
        return;
    }
    let word = typed(&device.name());
    assert!(refusal(check_write_allowed(&device.device, &word)).contains("swap"));
    if !device.run("swapon", &[]) {
        return;
    }
    let why = refusal(check_write_allowed(&device.device, &word));
    device.run("swapoff", &[]);
    assert!(why.contains("is swap space"), "{why}");
}

#[test]
fn the_backing_file_of_a_loop_device_is_refused() {
    let Some(device) = Loop::new() else { return };
    let why = refusal(check_write_allowed(device._file.path(), &typed("")));
    assert!(why.contains("loop"), "{why}");
}

#[test]
fn a_generic_device_is_never_written_as_a_file() {
    use crate::device::generic::tests::made_up;
    let (_root, system) = made_up("nvme97");
    let error = check_on(&system, Path::new("/dev/null"), &typed("S1")).unwrap_err();
    assert!(error.to_string().contains("NVMe generic device"), "{error}");
    assert!(error.hint().contains("/dev/nvme97n99"), "{}", error.hint());
}
