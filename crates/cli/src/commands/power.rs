//! `ssdlab power`: the switch of a drive that is served.

use crate::failure::{Exit, Failure};
use clap::{ArgGroup, Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_power::served::switch;
use ssdlab_power::served::switch::{Answer, Ask, CutAt, FlushSide, PowerStatus};
use ssdlab_view::units;
use std::fmt::Write as _;
use std::io::Write as _;
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
    pub action: Action,
}

/// `ssdlab power ...`.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// Cut the power now.
    Off(Switch),
    /// Give power, and say what the drive's recovery did and found.
    On(Switch),
    /// Say what the drive is at.
    Status(Switch),
    /// Take back the cut that is armed.
    Disarm(Switch),
    /// Cut the power at a moment to come, once.
    CutWhen(CutWhen),
}

/// Which switch.
#[derive(Args, Debug)]
pub struct Switch {
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
    /// At the Nth flush from now: before it, nothing of it has happened.
    #[arg(long, value_name = "N", group = "moment")]
    pub flush: Option<u64>,
    /// With --flush: while the drive is at work on it.
    #[arg(long, requires = "flush")]
    pub inside: bool,
    /// Inside the Nth program or erase from now.
    #[arg(long, value_name = "N", group = "moment")]
    pub nand_op: Option<u64>,
    /// After the next write that touches so many bytes there (1MiB+4KiB), unacknowledged.
    #[arg(long, value_name = "OFFSET+LENGTH", group = "moment")]
    pub write_to: Option<String>,
    /// After the write with which so many bytes were written from now, unacknowledged.
    #[arg(long, value_name = "SIZE", group = "moment")]
    pub after_bytes: Option<String>,
    /// Instead of a write that begins with this text.
    #[arg(long, value_name = "TEXT", group = "moment")]
    pub magic: Option<String>,
    /// Return when the power was cut, not when the cut is armed.
    #[arg(long)]
    pub wait: bool,
    /// Which switch.
    #[command(flatten)]
    pub switch: Switch,
}

/// Asks the switch.
///
/// # Errors
/// When nobody listens, or the drive refuses.
pub fn power(args: &PowerArgs) -> Result<Exit, Failure> {
    let (ask, switch) = match &args.action {
        Action::Off(switch) => (Ask::Off {}, switch),
        Action::On(switch) => (Ask::On {}, switch),
        Action::Status(switch) => (Ask::Status {}, switch),
        Action::Disarm(switch) => (Ask::Disarm {}, switch),
        Action::CutWhen(when) => {
            let (at, wait) = (moment(when)?, when.wait);
            (Ask::CutWhen { at, wait }, &when.switch)
        }
    };
    let mut said = Ok(());
    switch::ask(&switch.control, &ask, |answer| {
        if said.is_ok() {
            said = say(&answer, switch.json);
        }
    })?;
    said.map(|()| Exit::Good)
}

fn moment(when: &CutWhen) -> Result<CutAt, LabError> {
    if let Some(nth) = when.flush {
        let side = if when.inside {
            FlushSide::Inside
        } else {
            FlushSide::Before
        };
        return Ok(CutAt::Flush { nth, side });
    }
    if let Some(nth) = when.nand_op {
        return Ok(CutAt::NandOp { nth });
    }
    if let Some(text) = &when.write_to {
        let (offset, length) = text.split_once('+').ok_or_else(|| {
            let what = format!("--write-to {text}: an offset and a length are needed");
            LabError::refused(what, "1MiB+4KiB: 4096 bytes from byte 1048576 on")
        })?;
        return Ok(CutAt::WriteTo {
            offset: parse_size(offset)?,
            length: parse_size(length)?,
        });
    }
    if let Some(text) = &when.after_bytes {
        let bytes = parse_size(text)?;
        return Ok(CutAt::AfterBytes { bytes });
    }
    let text = when.magic.clone().unwrap_or_default();
    Ok(CutAt::Magic { text })
}

fn say(answer: &Answer, json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    if json {
        let line = serde_json::to_string(answer).map_err(std::io::Error::other)?;
        writeln!(out, "{line}")?;
    }
    if !answer.ok {
        return Err(refusal(answer.error.as_deref().unwrap_or("refused")).into());
    }
    if !json && let Some(status) = &answer.status {
        let event = answer.event.as_deref().unwrap_or_default();
        write!(out, "{}", describe(event, status))?;
    }
    Ok(())
}

/// The switch's words, with their hint.
fn refusal(text: &str) -> LabError {
    match text.split_once("\nhint: ") {
        Some((what, hint)) => LabError::refused(what, hint),
        None => LabError::refused(text, ""),
    }
}

/// What happened, for people.
fn describe(event: &str, status: &PowerStatus) -> String {
    let mut text = String::new();
    let cuts = status.cuts;
    let _ = match (status.powered, event, &status.last_cut) {
        (true, "armed", _) => writeln!(text, "armed"),
        (true, ..) => writeln!(text, "power is on"),
        (false, _, Some(why)) => writeln!(text, "power is off: cut {cuts}, {}", at_what(why)),
        (false, ..) => writeln!(text, "power is off"),
    };
    if !status.powered
        && let Some(cut) = &status.cut
    {
        let _ = writeln!(
            text,
            "  units only in the controller {}, saved {}; torn programs {}, torn erases {}, \
             not begun {}",
            cut.buffered, cut.saved, cut.torn_programs, cut.torn_erases, cut.not_begun
        );
    }
    if event == "on" {
        describe_recovery(&mut text, status);
    }
    if event == "status" {
        let nand = status.nand_ops.unwrap_or(0);
        let _ = writeln!(
            text,
            "  {cuts} cuts, {} flushes, {} written, {} programs and erases",
            units::count(status.flushes),
            units::bytes(status.bytes_written),
            units::count(nand),
        );
        if cuts > 0 {
            let (broken, after) = (status.promises_broken, status.cuts_with_broken);
            let _ = writeln!(
                text,
                "  promises broken {broken}, after {after} of the cuts"
            );
        }
    }
    if let Some(at) = &status.armed {
        let _ = writeln!(text, "  the next cut: {}", when(at));
    }
    text
}

fn describe_recovery(text: &mut String, status: &PowerStatus) {
    if let Some(ns) = status.recovery_ns {
        let _ = writeln!(text, "  recovered in {} of virtual time", units::time(ns));
    }
    for step in &status.recovery_steps {
        let (name, count) = (&step.name, units::count(step.operations));
        let _ = writeln!(
            text,
            "    {name:24} {count:>9}  {:>9}",
            units::time(step.ns)
        );
    }
    if let Some(found) = &status.found {
        let _ = writeln!(
            text,
            "  sectors older {}, torn {}, lost {}; promises broken {}",
            found.older, found.torn, found.lost, found.broken
        );
        if let Some(first) = found.broken_sectors.first() {
            let _ = writeln!(text, "  the first of them is sector {first}");
        }
    }
}

fn at_what(why: &str) -> &str {
    if why == "switch" {
        "by the switch"
    } else {
        why
    }
}

fn when(at: &CutAt) -> String {
    match at {
        CutAt::Flush { nth, side } => {
            let side = match side {
                FlushSide::Before => "before",
                FlushSide::Inside => "inside",
            };
            format!("{side} flush {nth} from when it was armed")
        }
        CutAt::NandOp { nth } => format!("inside program or erase {nth} from when it was armed"),
        CutAt::WriteTo { offset, length } => {
            format!("after a write to bytes {offset}..+{length}")
        }
        CutAt::AfterBytes { bytes } => format!("after {} more written", units::bytes(*bytes)),
        CutAt::Magic { text } => format!("instead of a write that begins with {text:?}"),
    }
}
