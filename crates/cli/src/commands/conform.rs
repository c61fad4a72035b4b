//! `ssdlab conform`: what a hypervisor's guests are promised against what reaches the drive.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print_result;
use crate::progress::stop_on_signal;
use clap::Args;
use serde_json::json;
use ssdlab_base::LabError;
use ssdlab_conform::guest;
use ssdlab_conform::host::{ConformPlan, RouteVerdict, Transport, conform, layer_words};
use std::path::PathBuf;
use std::time::Duration;

/// `ssdlab conform`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab conform --kernel vmlinuz --modules modules/6.1.0 -- qemu-system-x86_64
  ssdlab conform --kernel vmlinuz --modules modules/6.1.0 \\
    --model nvme --cache none --file -- qemu-system-x86_64
  ssdlab conform --kernel vmlinux -- cloud-hypervisor --kernel {kernel} \\
    --initramfs {initrd} --cmdline {append} --console off --serial tty \\
    --memory size=1G,shared=on --disk vhost_user=on,socket={vhost-user}
  ssdlab conform --kernel vmlinuz --modules modules/6.12.0 --model virtio-blk \\
    --cache none --layer 'rublk add loop -f {disk}' --layer-module ublk_drv \\
    -- qemu-system-x86_64

The name of QEMU alone tests its device models with its cache modes. Otherwise,
the arguments have the places {kernel}, {initrd}, {append}, and {drive} (an NBD
URI; a path with --file) or {vhost-user} (a socket); the guest's serial line is
standard input and output. A layer is tested in place of the disk: a program of
this machine, copied into the guest, that makes a block device of {disk}.

Exit codes: 0 every promise kept, 1 some broken, 2 an error: what was seen until
then is printed.")]
pub struct Conform {
    /// Kernel of the guest.
    #[arg(long, value_name = "FILE")]
    pub kernel: PathBuf,
    /// Its modules (lib/modules/VERSION), where disks and ext4 are not built in.
    #[arg(long, value_name = "DIR")]
    pub modules: Option<PathBuf>,
    /// Only this device model of QEMU, or vhost-user-blk; may be repeated.
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only this cache mode of QEMU; may be repeated.
    #[arg(long, value_name = "MODE")]
    pub cache: Vec<String>,
    /// Give the drives to the hypervisor as files, under FUSE, in place of NBD.
    #[arg(long)]
    pub file: bool,
    /// Test the block device that this command makes of {disk} in the guest.
    #[arg(long, value_name = "COMMAND")]
    pub layer: Option<String>,
    /// A module that the layer needs; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub layer_module: Vec<String>,
    /// Seconds that one guest has.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
    /// As JSON, with the numbers of commands that reached the drive.
    #[arg(long)]
    pub json: bool,
    /// The hypervisor, and its arguments.
    #[arg(last = true, required = true, value_name = "HYPERVISOR")]
    pub command: Vec<String>,
}

/// Boots guests and judges what they were promised.
///
/// # Errors
/// When the plan cannot be carried out at all.
pub fn run(args: &Conform) -> Result<CommandExit, CliFailure> {
    let guest = std::env::current_exe().map_err(|error| {
        LabError::refused(
            format!("this program cannot be found: {error}"),
            "start it by its path",
        )
    })?;
    let plan = ConformPlan {
        command: args.command.clone(),
        kernel: args.kernel.clone(),
        modules: args.modules.clone(),
        guest,
        layer: layer_words(args.layer.as_deref())?,
        layer_modules: args.layer_module.clone(),
        models: args.model.clone(),
        cache_modes: args.cache.clone(),
        transport: if args.file {
            Transport::File
        } else {
            Transport::Nbd
        },
        timeout: Duration::from_secs(args.timeout),
    };
    let stop = stop_on_signal()?;
    let report = conform(&plan, &stop, &mut |line| tell!("{line}"))?;
    print_result(args.json, &json!(report), || report.render())?;
    if let Some(trouble) = &report.trouble {
        tell!("error: {trouble}");
        return Ok(CommandExit::Error);
    }
    Ok(match report.count(RouteVerdict::Broken) {
        0 => CommandExit::Good,
        _ => CommandExit::Fails,
    })
}

/// Runs as the guest, and does not return, if Linux has called this program for that.
pub fn guest_if_called() {
    let mut arguments = std::env::args().skip(1);
    if std::process::id() == 1 && arguments.next().as_deref() == Some(guest::ARGUMENT) {
        let count = arguments.next().and_then(|count| count.parse().ok());
        guest::run(count.unwrap_or(0));
    }
}
