//! Formats of one command a line, with fixed columns and no header.

use super::number::{TraceLineError, bytes_of, excerpt, time, whole};
use super::sink::{EventSink, Parser};
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

/// Which columns.
pub enum FixedColumnFormat {
    /// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; times in 100 ns (SNIA
    /// IOTTA, MSR Cambridge read me). The device is `Hostname.DiskNumber`.
    Msr,
    /// `ASU,LBA,Size,Opcode,Timestamp`, more columns allowed; LBA in sectors, size in bytes, time
    /// in s (SPC trace file format 1.0.1). The device is the ASU.
    Spc,
    /// `time device sector sectors flags`: ms, bit 0 of the flags set for a read (DiskSim 4.0
    /// manual, ascii traces).
    Disksim,
    /// The same in MQSim: ns, type 0 is a write and 1 a read (MQSim read me).
    Mqsim,
}

impl Parser for FixedColumnFormat {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            sink.skipped += 1;
            return Ok(());
        }
        match self {
            FixedColumnFormat::Msr => msr(line, sink),
            FixedColumnFormat::Spc => spc(line, sink),
            FixedColumnFormat::Disksim => disksim(line, 1_000_000, sink),
            FixedColumnFormat::Mqsim => disksim(line, 1, sink),
        }
    }
}

fn msr(line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
    let fields: Vec<&str> = line.split(',').collect();
    let [stamp, host, disk, kind, offset, size, response] = fields[..] else {
        return Err(format!("{} fields, 7 are expected", fields.len()));
    };
    let issued_ns = time(Some(stamp), 100, "time in 100 ns")?;
    let response = time(Some(response), 100, "response time in 100 ns")?;
    let op = match kind.trim() {
        "Read" | "read" => Op::Read,
        "Write" | "write" => Op::Write,
        other => return Err(format!("`{}` is neither Read nor Write", excerpt(other))),
    };
    let event = TraceEvent {
        done_ns: Some(issued_ns.saturating_add(response)),
        ..TraceEvent::new(
            issued_ns,
            op,
            whole(Some(offset), "offset")?,
            whole(Some(size), "size")?,
        )
    };
    if sink.admits(&format!("{}.{}", host.trim(), disk.trim())) {
        sink.take(event)?;
    }
    Ok(())
}

fn spc(line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
    let mut fields = line.split(',').map(str::trim);
    let asu = whole(fields.next(), "ASU")?;
    let sector = whole(fields.next(), "LBA")?;
    let len = whole(fields.next(), "size")?;
    let op = match fields.next() {
        Some("r" | "R") => Op::Read,
        Some("w" | "W") => Op::Write,
        letter => {
            let excerpted = excerpt(letter.unwrap_or_default());
            return Err(format!("`{excerpted}` is neither R nor W"));
        }
    };
    let issued_ns = time(fields.next(), 1_000_000_000, "time in s")?;
    if sink.admits(&asu.to_string()) {
        sink.take(TraceEvent::new(issued_ns, op, bytes_of(sector)?, len))?;
    }
    Ok(())
}

fn disksim(line: &str, unit: u64, sink: &mut EventSink) -> Result<(), TraceLineError> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [stamp, device, sector, sectors, flags] = words[..] else {
        return Err(format!("{} fields, 5 are expected", words.len()));
    };
    // DiskSim's times are floating point, MQSim's are not.
    if (unit == 1) == stamp.contains('.') {
        return Err(format!("`{}` is not a time of this format", excerpt(stamp)));
    }
    let issued_ns = time(Some(stamp), unit, "time")?;
    let device = whole(Some(device), "device")?;
    let (sector, sectors) = (
        whole(Some(sector), "sector")?,
        whole(Some(sectors), "number of sectors")?,
    );
    let flags = flags.strip_prefix("0x").map_or_else(
        || whole(Some(flags), "type"),
        |hex| {
            u64::from_str_radix(hex, 16)
                .map_err(|_| format!("`0x{}` is not a hexadecimal type", excerpt(hex)))
        },
    )?;
    let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
    if sink.admits(&device.to_string()) {
        sink.take(TraceEvent::new(
            issued_ns,
            op,
            bytes_of(sector)?,
            bytes_of(sectors)?,
        ))?;
    }
    Ok(())
}
