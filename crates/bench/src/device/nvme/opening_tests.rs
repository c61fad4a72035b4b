//! Is everything refused that must be, before a command is sent?
//!
//! On made-up trees of sysfs in which `/dev/null` is an NVMe generic device; that they hold with a
//! real driver is shown by `tests/vm/passthrough.py`.

use super::*;
use crate::device::generic::tests::{BLOCK, NULL, made_up, put};

const NODE: &str = "/dev/null";

fn null() -> &'static Path {
    Path::new(NODE)
}

fn found(system: &SystemPaths) -> Namespace {
    Namespace::find(system, null()).unwrap()
}

fn refusal<T>(result: Result<T, LabError>) -> String {
    let error = result.err().expect("must be refused");
    assert!(!error.hint().is_empty(), "{error}: no hint");
    error.to_string()
}

/// The format that the made-up tree shows.
const FORMAT: NamespaceFormat = NamespaceFormat {
    blocks: 65_536,
    block_shift: 12,
    metadata_bytes: 0,
    write_protected: false,
};

#[test]
fn a_namespace_is_known_by_its_block_device() {
    let (_root, system) = made_up("nvme97");
    let namespace = found(&system);
    assert_eq!((namespace.id, namespace.block.id), (NULL, BLOCK));
    let facts = namespace.facts(&system, null(), &FORMAT);
    assert_eq!((facts.name.as_str(), facts.capacity), (NODE, 256 << 20));
    assert_eq!(facts.serial.as_deref(), Some("S1"));
    assert_eq!(facts.interface.as_deref(), Some("nvme"));
    let notes = facts.notes.join("\n");
    assert!(notes.contains("generic device of nvme97n99"), "{notes}");
    assert!(!notes.contains("device counters"), "{notes}");
}

#[test]
fn a_namespace_without_a_block_device_is_left_alone() {
    let (_root, system) = made_up("nvme97");
    std::fs::remove_dir_all(system.sys.join("devices/nvme97/nvme97n99")).unwrap();
    let why = refusal(Namespace::find(&system, null()));
    assert!(why.contains("has no block device"), "{why}");
    let why = refusal(Namespace::find(&system, Path::new("/dev/zero")));
    assert!(why.contains("another character device"), "{why}");
}

#[test]
fn formats_that_are_not_understood_are_refused() {
    let (_root, system) = made_up("nvme97");
    let namespace = found(&system);
    let writes = Needs {
        changes: true,
        ..Needs::default()
    };
    let ask =
        |format: NamespaceFormat, needs: &Needs| namespace.refuse_format(null(), &format, needs);
    assert!(ask(FORMAT, &writes).is_ok());
    let metadata = NamespaceFormat {
        metadata_bytes: 8,
        ..FORMAT
    };
    let why = refusal(ask(metadata, &Needs::default()));
    assert!(why.contains("8 bytes of metadata"), "{why}");
    for (blocks, block_shift) in [(65_535, 12), (524_288, 9), (u64::MAX, 12)] {
        let other = NamespaceFormat {
            blocks,
            block_shift,
            ..FORMAT
        };
        assert!(refusal(ask(other, &writes)).contains("another size"));
    }
    let protected = NamespaceFormat {
        write_protected: true,
        ..FORMAT
    };
    assert!(refusal(ask(protected, &writes)).contains("write-protected"));
    assert!(ask(protected, &Needs::default()).is_ok(), "it can be read");
}

#[test]
fn commands_that_the_drive_does_not_take_are_refused() {
    let (_root, system) = made_up("nvme97");
    let ask = |read_bytes, write_bytes| {
        let needs = Needs {
            read_bytes,
            write_bytes,
            ..Needs::default()
        };
        found(&system).limits(null(), &needs)
    };
    assert_eq!(ask(4096, 127 * 4096).unwrap(), None);
    let scattered = ask(4096, 1 << 20).unwrap().unwrap();
    assert!(scattered.contains("more than 127 places"), "{scattered}");
    let why = refusal(ask((1 << 20) + 4096, 4096));
    assert!(why.contains("commands of 1 MiB at most"), "{why}");
    let queue = system.sys.join("devices/nvme97/nvme97n99/queue");
    std::fs::remove_file(queue.join("max_hw_sectors_kb")).unwrap();
    assert!(refusal(ask(4096, 0)).contains("not in sysfs"));
}

/// The guard is asked for the block device, whatever the generic one is.
#[test]
fn leave_to_write_is_that_of_the_block_device() {
    let (_root, system) = made_up("nvme97");
    let why = refusal(found(&system).claim(&system, null(), &OpenOptions::default()));
    assert!(why.contains("there is no device /dev/nvme97n99"), "{why}");
    assert!(why.starts_with(NODE), "{why}");
}

#[test]
fn what_has_changed_in_between_is_refused() {
    let (_root, system) = made_up("nvme97");
    let namespace = found(&system);
    let ask = |system: &SystemPaths, path: &str| {
        let file = File::open(path).unwrap();
        namespace.refuse_changed(system, null(), &file, 1, None)
    };
    assert!(ask(&system, NODE).is_ok());
    assert!(refusal(ask(&system, "/dev/zero")).contains("no longer"));
    assert!(refusal(ask(&system, "/proc/self/stat")).contains("no longer"));
    let claim = File::open(NODE).unwrap();
    let file = File::open(NODE).unwrap();
    // A device that does not say which namespace it is is not believed to be the same.
    assert!(
        namespace
            .refuse_changed(&system, null(), &file, 1, Some(&claim))
            .is_err()
    );
    put(system.sys.join("devices/nvme97/nvme97n99/dev"), "259:8\n");
    assert!(refusal(ask(&system, NODE)).contains("no longer"));
}
