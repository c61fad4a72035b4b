//! Is a generic device matched with its namespace's block device, and with nothing else?
//!
//! On made-up trees of sysfs in which `/dev/null` (1:3) is an NVMe generic device.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// The number of `/dev/null`.
pub const NULL: DevId = DevId { major: 1, minor: 3 };
/// The number of the block device.
pub const BLOCK: DevId = DevId {
    major: 259,
    minor: 7,
};

pub fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes `dir` known under `number` in `sys/dev/KIND`.
fn numbered(system: &SystemPaths, kind: &str, dir: &Path, number: DevId) {
    put(dir.join("dev"), &format!("{number}\n"));
    let numbers = system.sys.join("dev").join(kind);
    fs::create_dir_all(&numbers).unwrap();
    symlink(dir, numbers.join(number.to_string())).unwrap();
}

/// A drive nvme97 below `parent` with namespace 99: 256 MiB in blocks of 4 KiB.
pub fn made_up(parent: &str) -> (TempDir, SystemPaths) {
    let root = tempfile::tempdir().unwrap();
    let sys = root.path().join("sys");
    let system = SystemPaths {
        proc: root.path().join("proc"),
        udev: root.path().join("udev"),
        sys,
    };
    let drive = system.sys.join("devices").join(parent);
    let (generic, block) = (drive.join("ng97n99"), drive.join("nvme97n99"));
    let class = system.sys.join("class").join(CLASS);
    fs::create_dir_all(&class).unwrap();
    numbered(&system, "char", &generic, NULL);
    symlink(&class, generic.join("subsystem")).unwrap();
    numbered(&system, "block", &block, BLOCK);
    put(block.join("size"), "524288\n");
    put(block.join("queue/logical_block_size"), "4096\n");
    put(block.join("queue/max_hw_sectors_kb"), "1024\n");
    put(block.join("queue/max_segments"), "127\n");
    put(drive.join("serial"), "S1\n");
    symlink(&drive, block.join("device")).unwrap();
    (root, system)
}

#[test]
fn the_block_device_of_the_same_namespace_is_found() {
    // One path, below the controller; several, below the subsystem.
    for parent in [
        "pci0000:00/0000:00:04.0/nvme/nvme97",
        "virtual/nvme-subsystem/nvme-subsys97",
    ] {
        let (_root, system) = made_up(parent);
        let (generic, id) = NvmeGenericDevice::at(&system, Path::new("/dev/null")).unwrap();
        assert_eq!((generic.name.as_str(), id), ("ng97n99", NULL));
        let block = generic.block_device(&system).unwrap();
        assert_eq!((block.name.as_str(), block.id), ("nvme97n99", BLOCK));
        assert_eq!(block.serial(&system).as_deref(), Some("S1"));
        assert_eq!(generic_of(&block).as_deref(), Some("ng97n99"));
        let path = block_path(&system, Path::new("/dev/null"));
        assert_eq!(path, Path::new("/dev/nvme97n99"));
    }
}

#[test]
fn the_number_counts_and_not_the_name() {
    let (root, system) = made_up("nvme97");
    let link = root.path().join("ng5n5");
    symlink("/dev/null", &link).unwrap();
    assert_eq!(
        NvmeGenericDevice::at(&system, &link).unwrap().0.name,
        "ng97n99"
    );
    let zero = Path::new("/dev/zero");
    assert!(NvmeGenericDevice::at(&system, zero).is_none());
    assert_eq!(block_path(&system, zero), zero);
    assert!(NvmeGenericDevice::at(&system, &root.path().join("none")).is_none());
    let file = root.path().join("ng97n99");
    put(file.clone(), "");
    assert!(NvmeGenericDevice::at(&system, &file).is_none());
}

#[test]
fn another_class_is_no_generic_device() {
    let (_root, system) = made_up("nvme97");
    let generic = system.sys.join("devices/nvme97/ng97n99");
    fs::remove_file(generic.join("subsystem")).unwrap();
    assert!(
        NvmeGenericDevice::numbered(&system, NULL).is_none(),
        "no class"
    );
    let class = system.sys.join("class/mem");
    fs::create_dir_all(&class).unwrap();
    symlink(class, generic.join("subsystem")).unwrap();
    assert!(
        NvmeGenericDevice::numbered(&system, NULL).is_none(),
        "another class"
    );
}

#[test]
fn a_block_device_that_is_another_or_gone_is_not_taken() {
    let (_root, system) = made_up("nvme97");
    let generic = NvmeGenericDevice::numbered(&system, NULL).unwrap();
    let block = system.sys.join("devices/nvme97/nvme97n99");
    // Its number leads elsewhere.
    let other = system.sys.join("devices/nvme98/nvme98n99");
    numbered(&system, "block", &other, DevId { major: 8, minor: 0 });
    put(block.join("dev"), "8:0\n");
    assert!(generic.block_device(&system).is_none());
    put(block.join("dev"), "nonsense\n");
    assert!(generic.block_device(&system).is_none());
    fs::remove_dir_all(&block).unwrap();
    assert!(generic.block_device(&system).is_none());
}

#[test]
fn what_is_no_generic_device_is_refused_with_a_way_out() {
    let (root, system) = made_up("nvme97");
    let said = |path: &Path| {
        let error = refuse_passthrough(&system, path);
        assert!(error.hint().contains("ioengine=io_uring"), "{error}");
        error.to_string()
    };
    let why = said(Path::new("/dev/zero"));
    assert!(
        why.contains("and this is another character device"),
        "{why}"
    );
    let why = said(&root.path().join("new"));
    assert!(why.contains("and this is none"), "{why}");
}
