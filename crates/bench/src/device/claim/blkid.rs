//! The system's libblkid, found when it is needed: what it recognises on a device.
//!
//! Loaded at run time, as a build should need no headers, and a statically linked program has no
//! library at hand. Without it nothing is named, and nothing is written the more for it: whether a
//! device is empty is decided by [`super::contents`] from its bytes.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;

/// One file system, partition table, member of an array, ... on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatSignature {
    /// As libblkid calls it: `ext4`, `LVM2_member`, `gpt`.
    pub kind: String,
    /// Its UUID, if it has one.
    pub uuid: Option<String>,
    /// The name that its owner gave it.
    pub label: Option<String>,
}

impl FormatSignature {
    /// Of a format without a name or UUID.
    pub(super) fn named(kind: &str) -> FormatSignature {
        FormatSignature {
            kind: kind.to_owned(),
            uuid: None,
            label: None,
        }
    }
}

/// Names under which the library is installed.
const LIBRARIES: [&str; 2] = ["libblkid.so.1", "libblkid.so"];
/// libblkid's `BLKID_SUBLKS_*`: label, UUID, type, and what has a wrong checksum, too.
const SUPERBLOCK_VALUES: c_int = (1 << 1) | (1 << 3) | (1 << 5) | (1 << 10);
/// More signatures than any device has.
const SIGNATURES_MAX: usize = 64;

type Probe = *mut c_void;
type SetFlags = unsafe extern "C" fn(Probe, c_int) -> c_int;

/// Every signature on `device`, of which `bytes` are looked at; `None` without the library.
pub(super) fn signatures(device: &File, bytes: u64) -> Option<Vec<FormatSignature>> {
    // SAFETY: libblkid's initialisers only set variables of its own.
    let library = LIBRARIES
        .iter()
        .find_map(|name| unsafe { Library::new(*name) }.ok())?;
    // SAFETY: the type is that of blkid.h; the pointer is used while `library` is loaded.
    let new = unsafe { library.get::<unsafe extern "C" fn() -> Probe>(b"blkid_new_probe\0") };
    // SAFETY: as above; it takes nothing and returns null or a probe of our own.
    let probe = unsafe { new.ok()?() };
    if probe.is_null() {
        return None;
    }
    let signatures = all_signatures(&library, probe, device, bytes);
    // SAFETY: the type is that of blkid.h; the probe is not used after it is freed.
    unsafe {
        let free = library.get::<unsafe extern "C" fn(Probe)>(b"blkid_free_probe\0");
        free.ok()?(probe);
    }
    signatures
}

fn all_signatures(
    library: &Library,
    probe: Probe,
    device: &File,
    bytes: u64,
) -> Option<Vec<FormatSignature>> {
    type SetDevice = unsafe extern "C" fn(Probe, c_int, i64, i64) -> c_int;
    type DoProbe = unsafe extern "C" fn(Probe) -> c_int;
    let bytes = i64::try_from(bytes).ok()?;
    let mut signatures = Vec::new();
    // SAFETY: the types are those of blkid.h; the probe is valid, and the device is open longer
    // than the probe lives.
    unsafe {
        let set_device = library.get::<SetDevice>(b"blkid_probe_set_device\0").ok()?;
        if set_device(probe, device.as_raw_fd(), 0, bytes) != 0 {
            return None;
        }
        for (name, value) in [
            (&b"blkid_probe_enable_superblocks\0"[..], 1),
            (b"blkid_probe_set_superblocks_flags\0", SUPERBLOCK_VALUES),
            (b"blkid_probe_enable_partitions\0", 1),
        ] {
            if library.get::<SetFlags>(name).ok()?(probe, value) != 0 {
                return None;
            }
        }
        let next = library.get::<DoProbe>(b"blkid_do_probe\0").ok()?;
        while signatures.len() < SIGNATURES_MAX && next(probe) == 0 {
            let value = |names: &[&CStr]| names.iter().find_map(|name| value(library, probe, name));
            let Some(kind) = value(&[c"TYPE", c"PTTYPE"]) else {
                continue;
            };
            signatures.push(FormatSignature {
                kind,
                uuid: value(&[c"UUID", c"PTUUID"]),
                label: value(&[c"LABEL"]),
            });
        }
    }
    signatures.dedup();
    Some(signatures)
}

/// What the last probe says of `name`.
///
/// # Safety
/// `probe` is a valid probe of `library`.
unsafe fn value(library: &Library, probe: Probe, name: &CStr) -> Option<String> {
    type Lookup =
        unsafe extern "C" fn(Probe, *const c_char, *mut *const c_char, *mut usize) -> c_int;
    let mut data = ptr::null();
    let mut len = 0;
    // SAFETY: the type is that of blkid.h; the name ends with 0, and both results are ours.
    let bytes = unsafe {
        let lookup = library.get::<Lookup>(b"blkid_probe_lookup_value\0").ok()?;
        if lookup(probe, name.as_ptr(), &mut data, &mut len) != 0 || data.is_null() {
            return None;
        }
        // The library keeps `len` bytes there until the next probe.
        std::slice::from_raw_parts(data.cast::<u8>(), len)
    };
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    (!text.is_empty()).then(|| text.to_owned())
}
