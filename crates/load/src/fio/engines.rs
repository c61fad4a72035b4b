//! fio's engines: which of them are block I/O, and what they mean here.

/// What an engine means for a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineClass {
    /// Several commands outstanding.
    Queued,
    /// One command at a time, whatever `iodepth` says.
    OneByOne,
    /// No commands to a drive, and why.
    NoBlocks(&'static str),
}

const MEMORY: &str = "it reads and writes persistent memory by the processor, without commands";
const PAGES: &str = "it touches memory, not a drive";
const NETWORK: &str = "it moves data over a network, not to a drive";
const CLUSTER: &str = "it talks to a storage cluster, not to a drive";
const OBJECTS: &str = "it reads and writes files or objects of a server by its library";
const METADATA: &str = "it measures operations of a file system, not of a drive";
const FILE_SYSTEM: &str = "it changes how a file system places a file";

/// Engine, and what it means.
static ENGINES: &[(&[&str], EngineClass)] = &[
    (
        &[
            "io_uring",
            "libaio",
            "posixaio",
            "solarisaio",
            "windowsaio",
            "io_uring_cmd",
            "libblkio",
            "xnvme",
            "null",
            "cpp_null",
        ],
        EngineClass::Queued,
    ),
    (
        &[
            "psync",
            "sync",
            "vsync",
            "pvsync",
            "pvsync2",
            "mmap",
            "sg",
            "libcufile",
        ],
        EngineClass::OneByOne,
    ),
    (
        &["libpmem", "dev-dax", "pmemblk"],
        EngineClass::NoBlocks(MEMORY),
    ),
    (
        &[
            "net",
            "netsplice",
            "rdma",
            "librpma_apm_client",
            "librpma_apm_server",
        ],
        EngineClass::NoBlocks(NETWORK),
    ),
    (
        &["librpma_gpspm_client", "librpma_gpspm_server"],
        EngineClass::NoBlocks(NETWORK),
    ),
    (&["rbd", "rados"], EngineClass::NoBlocks(CLUSTER)),
    (
        &["http", "nfs", "dfs", "gfapi", "gfapi_async", "libhdfs"],
        EngineClass::NoBlocks(OBJECTS),
    ),
    (
        &["ime_aio", "ime_psync", "ime_psyncv"],
        EngineClass::NoBlocks(OBJECTS),
    ),
    (
        &["nbd", "libiscsi"],
        EngineClass::NoBlocks("it is a network client: its target is a server"),
    ),
    (
        &[
            "filecreate",
            "filestat",
            "filedelete",
            "filexattr",
            "dircreate",
            "dirstat",
            "dirdelete",
        ],
        EngineClass::NoBlocks(METADATA),
    ),
    (
        &["ftruncate", "falloc", "e4defrag"],
        EngineClass::NoBlocks(FILE_SYSTEM),
    ),
    (&["page_fault"], EngineClass::NoBlocks(PAGES)),
    (&["cpuio"], EngineClass::NoBlocks("it burns processor time")),
    (&["exec"], EngineClass::NoBlocks("it runs a program")),
    (
        &["splice"],
        EngineClass::NoBlocks("it moves data by pipes through the page cache"),
    ),
    (
        &["mtd"],
        EngineClass::NoBlocks("it drives raw flash, whose commands are not a drive's"),
    ),
    (
        &["libzbc"],
        EngineClass::NoBlocks("it drives zoned devices, and there is no zoned drive here"),
    ),
    (
        &["external"],
        EngineClass::NoBlocks("it is a program of its own"),
    ),
];

/// What the engine called `name` means; `None` when fio has none of this name.
pub(super) fn meaning(name: &str) -> Option<EngineClass> {
    // fio takes `external:path` as the path of a library.
    let name = name.split(':').next().unwrap_or(name);
    let entry = ENGINES.iter().find(|(names, _)| names.contains(&name));
    entry.map(|(_, meaning)| *meaning)
}

/// The engines that are block I/O.
pub(super) fn block_engines() -> String {
    let blocks = ENGINES
        .iter()
        .filter(|(_, m)| !matches!(m, EngineClass::NoBlocks(_)));
    let names: Vec<&str> = blocks
        .flat_map(|(names, _)| names.iter().copied())
        .collect();
    names.join(" ")
}
