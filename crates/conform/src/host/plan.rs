//! What to run.

use ssdlab_base::LabError;
use std::path::PathBuf;
use std::time::Duration;

/// Device models of QEMU.
pub const MODELS: &[&str] = &["virtio-blk", "virtio-scsi", "nvme", "ahci", "ide"];
/// Cache modes of QEMU (`-drive cache=`).
pub const CACHE_MODES: &[&str] = &["none", "writeback", "writethrough", "directsync", "unsafe"];
/// Our own device as a model, which has no cache mode of QEMU's.
pub const VHOST_USER: &str = "vhost-user-blk";

/// How a hypervisor reaches a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Over NBD.
    #[default]
    Nbd,
    /// As a file, under FUSE.
    File,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct ConformPlan {
    /// The hypervisor and its arguments; places in braces are filled in.
    pub command: Vec<String>,
    /// The kernel of the guest.
    pub kernel: PathBuf,
    /// Its modules: `lib/modules/VERSION`. `None` where all that is needed is built in.
    pub modules: Option<PathBuf>,
    /// The program that the guest runs: it calls [`crate::guest::run`] for
    /// [`crate::guest::ARGUMENT`]. With its libraries it goes into the image.
    pub guest: PathBuf,
    /// The words of a command that makes another block device of `{disk}` in the guest, which is
    /// tested in its place. Empty: the disks themselves are tested.
    pub layer: Vec<String>,
    /// Modules that the layer needs, by name.
    pub layer_modules: Vec<String>,
    /// Device models, of [`MODELS`] and [`VHOST_USER`]; all of them if empty. Used where `command`
    /// is only a program.
    pub models: Vec<String>,
    /// Cache modes, of [`CACHE_MODES`], likewise.
    pub cache_modes: Vec<String>,
    /// How hypervisors reach the drives.
    pub transport: Transport,
    /// Time that one guest has.
    pub timeout: Duration,
}

/// The words of the command of a layer, quoted as in a shell; no words without a command.
///
/// # Errors
/// When a quote is not closed, or there is nothing in it.
pub fn layer_words(command: Option<&str>) -> Result<Vec<String>, LabError> {
    let Some(text) = command else {
        return Ok(Vec::new());
    };
    let words = shlex::split(text).ok_or_else(|| {
        LabError::refused(format!("--layer {text}: a quote is not closed"), "close it")
    })?;
    if words.is_empty() {
        return Err(LabError::refused(
            "--layer names no command",
            "as in --layer 'rublk add loop -f {disk}'",
        ));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_a_command_as_in_a_shell() {
        let words = layer_words(Some("dmsetup create d --table '0 8 linear {disk} 0'"));
        assert_eq!(words.expect("good")[4], "0 8 linear {disk} 0");
        assert!(layer_words(None).expect("good").is_empty());
        for text in ["", "  ", "cat '{disk}"] {
            let error = layer_words(Some(text)).expect_err("refused");
            assert!(!error.hint().is_empty(), "{text}");
        }
    }
}
