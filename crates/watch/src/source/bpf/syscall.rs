//! The bpf(2) call: maps, programs, and their attachment. Descriptors close what they opened, also
//! when this program is killed.
//!
//! Source: Linux include/uapi/linux/bpf.h.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP_ELEM: libc::c_long = 1;
const PROG_LOAD: libc::c_long = 5;
const OBJ_GET_INFO_BY_FD: libc::c_long = 15;
const RAW_TRACEPOINT_OPEN: libc::c_long = 17;

const PROG_TYPE_TRACING: u32 = 26;
const TRACE_RAW_TP: u32 = 23;

/// Kinds of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// One set of elements.
    Array = 2,
    /// A set for each processor.
    PerProcessorArray = 6,
}

/// What a map holds.
#[derive(Clone, Copy, Debug)]
pub struct MapShape {
    pub kind: MapKind,
    /// Bytes of an element, a multiple of 8.
    pub value_bytes: u32,
    pub elements: u32,
}

/// Counters of a program that the kernel keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramCounters {
    /// Time in it, ns; counted only while `kernel.bpf_stats_enabled` is set.
    pub run_ns: u64,
    /// Runs, likewise.
    pub runs: u64,
    /// Times that it was not run because it ran already on that processor.
    pub misses: u64,
}

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
    inner_map_fd: u32,
    numa_node: u32,
    map_name: [u8; 16],
}

#[repr(C)]
#[derive(Default)]
struct MapElement {
    map_fd: u32,
    _pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct ProgLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
    prog_btf_fd: u32,
    func_info_rec_size: u32,
    func_info: u64,
    func_info_cnt: u32,
    line_info_rec_size: u32,
    line_info: u64,
    line_info_cnt: u32,
    attach_btf_id: u32,
}

#[repr(C)]
#[derive(Default)]
struct RawTracepoint {
    name: u64,
    prog_fd: u32,
    _pad: u32,
}

#[repr(C)]
#[derive(Default)]
struct ObjectInfo {
    bpf_fd: u32,
    info_len: u32,
    info: u64,
}

/// Bytes of `struct bpf_prog_info` up to its recursion misses, and where its counters stand.
const INFO_WORDS: usize = 27;
const INFO_RUN_NS: usize = 24;
const INFO_RUNS: usize = 25;
const INFO_MISSES: usize = 26;

/// Of the verifier's explanation, at most.
const LOG_BYTES: usize = 1 << 16;

fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: `attributes` is a structure of the layout that the command takes, of the size that is
    // passed; every address in it is that of memory that its caller holds until this has returned.
    let code = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attributes),
            size_of::<T>(),
        )
    };
    if code < 0 {
        return Err(io::Error::last_os_error());
    }
    i32::try_from(code).map_err(io::Error::other)
}

fn owned(descriptor: i32) -> OwnedFd {
    // SAFETY: the kernel has just opened it for this call, and nothing else knows its number.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

fn raw(descriptor: &OwnedFd) -> u32 {
    descriptor.as_raw_fd() as u32
}

fn name_bytes(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().zip(name.bytes().take(15)) {
        *place = byte;
    }
    bytes
}

/// A map.
#[derive(Debug)]
pub struct BpfMap {
    descriptor: OwnedFd,
    value_words: usize,
}

impl BpfMap {
    /// Makes a map.
    ///
    /// # Errors
    /// The kernel's: no rights, no memory.
    pub fn create(name: &str, shape: MapShape, processors: usize) -> io::Result<BpfMap> {
        let mut attributes = MapCreate {
            map_type: shape.kind as u32,
            key_size: 4,
            value_size: shape.value_bytes,
            max_entries: shape.elements,
            map_name: name_bytes(name),
            ..MapCreate::default()
        };
        let copies = match shape.kind {
            MapKind::Array => 1,
            MapKind::PerProcessorArray => processors,
        };
        Ok(BpfMap {
            descriptor: owned(bpf(MAP_CREATE, &mut attributes)?),
            value_words: shape.value_bytes as usize / 8 * copies,
        })
    }

    /// Its number, for programs.
    pub fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Reads an element: of a map for each processor, one after the other.
    ///
    /// # Errors
    /// The kernel's, when there is no such element.
    pub fn read(&self, element: u32, words: &mut Vec<u64>) -> io::Result<()> {
        words.resize(self.value_words, 0);
        let key = [element];
        let mut attributes = MapElement {
            map_fd: raw(&self.descriptor),
            key: key.as_ptr() as u64,
            value: words.as_mut_ptr() as u64,
            ..MapElement::default()
        };
        bpf(MAP_LOOKUP_ELEM, &mut attributes).map(drop)
    }
}

/// A program at its tracepoint.
#[derive(Debug)]
pub struct AttachedProgram {
    program: OwnedFd,
    _attachment: OwnedFd,
}

impl AttachedProgram {
    /// Lets the kernel check the instructions, and runs them at the tracepoint whose type in BTF
    /// is `attach_btf_id` from now on.
    ///
    /// # Errors
    /// Why the kernel does not take it; with the last line of its explanation.
    pub fn load(name: &str, code: &[u64], attach_btf_id: u32) -> Result<AttachedProgram, String> {
        // The kernel shows its structures to programs alone that may be used under the GPL, as
        // what is under MIT may.
        let license = c"Dual MIT/GPL";
        let mut attributes = ProgLoad {
            prog_type: PROG_TYPE_TRACING,
            insn_cnt: code.len() as u32,
            insns: code.as_ptr() as u64,
            license: license.as_ptr() as u64,
            prog_name: name_bytes(name),
            expected_attach_type: TRACE_RAW_TP,
            attach_btf_id,
            ..ProgLoad::default()
        };
        let program = match bpf(PROG_LOAD, &mut attributes) {
            Ok(descriptor) => owned(descriptor),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(error.to_string());
            }
            Err(error) => {
                let mut log = vec![0_u8; LOG_BYTES];
                attributes.log_level = 1;
                attributes.log_size = LOG_BYTES as u32;
                attributes.log_buf = log.as_mut_ptr() as u64;
                let again = bpf(PROG_LOAD, &mut attributes);
                drop(again.map(owned));
                return Err(format!("{name}: {error}: {}", last_line(&log)));
            }
        };
        let mut attributes = RawTracepoint {
            prog_fd: raw(&program),
            ..RawTracepoint::default()
        };
        let attachment = bpf(RAW_TRACEPOINT_OPEN, &mut attributes)
            .map_err(|error| format!("{name}: attaching: {error}"))?;
        Ok(AttachedProgram {
            program,
            _attachment: owned(attachment),
        })
    }

    /// What the kernel counted of it; zeros where it does not.
    pub fn counters(&self) -> ProgramCounters {
        let mut info = [0_u64; INFO_WORDS];
        let mut attributes = ObjectInfo {
            bpf_fd: raw(&self.program),
            info_len: size_of_val(&info) as u32,
            info: info.as_mut_ptr() as u64,
        };
        match bpf(OBJ_GET_INFO_BY_FD, &mut attributes) {
            Ok(_) => ProgramCounters {
                run_ns: info[INFO_RUN_NS],
                runs: info[INFO_RUNS],
                misses: info[INFO_MISSES],
            },
            Err(_) => ProgramCounters::default(),
        }
    }
}

/// The last line of the verifier's log before its statistics.
fn last_line(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let mut lines = text.lines().rev();
    let line = lines.find(|line| !line.trim().is_empty() && !line.starts_with("processed "));
    line.unwrap_or("no explanation").to_owned()
}
