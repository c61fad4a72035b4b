//! What a file system promises, and what it may do before anybody asks.

/// The promises of a file system.
///
/// All presets keep: after [`fsync`](super::Files::fsync) of a file, its bytes and size; after
/// [`sync_dir`](super::Files::sync_dir) of a directory, the creations, renames and unlinks in it;
/// a rename replaces its target atomically; a file that grew before its data came reads as zeroes
/// there, never as somebody else's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSystemRules {
    /// Changes of names reach the disk in the order in which they were made, as in one journal. If
    /// not, those that have no name in common may overtake each other.
    pub names_in_order: bool,
    /// The fsync of a file makes all earlier changes of names durable too: it commits the journal.
    pub fsync_commits_names: bool,
    /// A file does not grow on the disk before the data in the new part is there (XFS; ext4 with
    /// `data=ordered`, delayed allocation and `dioread_lock`).
    pub size_after_data: bool,
    /// A rename over an existing file does not reach the disk before the data of the new file
    /// (ext4 with `auto_da_alloc` and `dioread_lock`).
    pub replace_waits_for_data: bool,
}

impl FileSystemRules {
    /// What POSIX and Linux promise of every file system, and no more: fsync(2) says that "calling
    /// fsync() does not necessarily ensure that the entry in the directory containing the file has
    /// also reached disk. For that an explicit fsync() on a file descriptor for the directory is
    /// also needed." Programs that pass are portable. The persistence properties that differ
    /// between file systems are those of T. S. Pillai et al., "All File Systems Are Not Created
    /// Equal", OSDI 2014, table 1.
    pub const fn posix() -> FileSystemRules {
        FileSystemRules {
            names_in_order: false,
            fsync_commits_names: false,
            size_after_data: false,
            replace_waits_for_data: false,
        }
    }

    /// ext4 with its defaults since Linux 5.6 (`data=ordered`, delayed allocation, `auto_da_alloc`,
    /// `dioread_nolock`): one journal in order, so that every commit takes all earlier changes of
    /// names with it. Blocks are allocated as unwritten and converted when their data is there, in
    /// a later commit: a file that grew, or that replaced another by a rename without fsync, may
    /// read as zeroes. `tests/file_systems.sh` shows it; the rules allow more than it did, such as
    /// an empty file. A bug that it hides is there on other file systems.
    pub const fn ext4() -> FileSystemRules {
        FileSystemRules {
            names_in_order: true,
            fsync_commits_names: true,
            size_after_data: false,
            replace_waits_for_data: false,
        }
    }

    /// ext4 mounted with `dioread_lock`, the default before Linux 5.6 (ext4(5),
    /// Documentation/admin-guide/ext4.rst): a commit waits for the data of what it allocates. A
    /// rename over a file without fsync leaves the old file, or the new one whole.
    pub const fn ext4_dioread_lock() -> FileSystemRules {
        FileSystemRules {
            names_in_order: true,
            fsync_commits_names: true,
            size_after_data: true,
            replace_waits_for_data: true,
        }
    }

    /// ext4 mounted with `data=journal`: data goes through the journal, in order with the names.
    pub const fn ext4_data_journal() -> FileSystemRules {
        FileSystemRules::ext4_dioread_lock()
    }

    /// XFS: one log in order; the size on the disk follows the data. Nothing waits at a rename over
    /// a file: the new file may be empty.
    pub const fn xfs() -> FileSystemRules {
        FileSystemRules {
            names_in_order: true,
            fsync_commits_names: true,
            size_after_data: true,
            replace_waits_for_data: false,
        }
    }

    /// btrfs: an fsync writes a log of the one file, so that other names stay behind; the size
    /// follows the data. It does sync the name of a new file with the file, which these rules do
    /// not rely on.
    pub const fn btrfs() -> FileSystemRules {
        FileSystemRules {
            names_in_order: false,
            fsync_commits_names: false,
            size_after_data: true,
            replace_waits_for_data: false,
        }
    }
}
