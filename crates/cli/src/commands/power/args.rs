//! Arguments of `ssdlab power`.

use clap::{ArgGroup, Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::served::switch::{CutMoment, FlushSide};
use std::path::PathBuf;

/// `ssdlab power`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab power off --control switch.sock
  ssdlab power on --control switch.sock
  ssdlab power cut-when --flush 3 --inside --wait --control switch.sock
  ssdlab power cut-when --write-to 1MiB+4KiB --control switch.sock

While the power is off every command of a client fails at once. Each call
returns when it has happened.")]
pub struct PowerArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: PowerAction,
}

/// `ssdlab power ...`.
#[derive(Subcommand, Debug)]
pub enum PowerAction {
    /// Cut the power now.
    Off(SwitchArgs),
    /// Switch the power on; print the recovery's steps and findings.
    On(SwitchArgs),
    /// Print the state of the drive.
    Status(SwitchArgs),
    /// Cancel the armed cut.
    Disarm(SwitchArgs),
    /// Cut the power once, at a future moment.
    CutWhen(CutWhen),
}

/// Which switch.
#[derive(Args, Debug)]
pub struct SwitchArgs {
    /// The socket that `ssdlab serve --control` listens at.
    #[arg(long, value_name = "SOCKET")]
    pub control: PathBuf,
    /// As JSON, one line for each answer.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab power cut-when`.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("moment").required(true),
    override_usage = "ssdlab power cut-when <MOMENT> --control <SOCKET> [--wait] [--json]",
    after_help = "\
The moment is one of --flush, --nand-op, --write-to, --after-bytes and --magic."
)]
pub struct CutWhen {
    /// Before the Nth flush from now has any effect.
    #[arg(long, value_name = "N", group = "moment")]
    pub flush: Option<u64>,
    /// With --flush: while the drive executes it.
    #[arg(long, requires = "flush")]
    pub inside: bool,
    /// Inside the Nth program or erase from now.
    #[arg(long, value_name = "N", group = "moment")]
    pub nand_op: Option<u64>,
    /// After the next write to this range (1MiB+4KiB), before it is acknowledged.
    #[arg(long, value_name = "OFFSET+LENGTH", group = "moment")]
    pub write_to: Option<String>,
    /// Once this many more bytes have been written, before the last write is acknowledged.
    #[arg(long, value_name = "SIZE", group = "moment")]
    pub after_bytes: Option<String>,
    /// In place of a write that begins with this text.
    #[arg(long, value_name = "TEXT", group = "moment")]
    pub magic: Option<String>,
    /// Return when the power has been cut, not when the cut is armed.
    #[arg(long)]
    pub wait: bool,
    /// Which switch.
    #[command(flatten)]
    pub switch: SwitchArgs,
}

impl CutWhen {
    /// The moment of the cut.
    ///
    /// # Errors
    /// When a size cannot be read.
    pub fn moment(&self) -> Result<CutMoment, LabError> {
        if let Some(nth) = self.flush {
            let side = if self.inside {
                FlushSide::Inside
            } else {
                FlushSide::Before
            };
            return Ok(CutMoment::Flush { nth, side });
        }
        if let Some(nth) = self.nand_op {
            return Ok(CutMoment::NandOp { nth });
        }
        if let Some(text) = &self.write_to {
            let (offset, length) = text.split_once('+').ok_or_else(|| {
                let message = format!("--write-to {text}: an offset and a length are needed");
                LabError::refused(message, "1MiB+4KiB: 4096 bytes from byte 1048576 on")
            })?;
            return Ok(CutMoment::WriteTo {
                offset: parse_size(offset)?,
                length: parse_size(length)?,
            });
        }
        if let Some(text) = &self.after_bytes {
            return parse_size(text).map(|bytes| CutMoment::AfterBytes { bytes });
        }
        let text = self.magic.clone().unwrap_or_default();
        Ok(CutMoment::Magic { text })
    }
}
