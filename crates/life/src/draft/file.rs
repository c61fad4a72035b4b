//! Writes the drive file.

use super::facts::{Cells, DatasheetFacts, DraftClass, Interface, MapLocation};
use super::prior::{DraftPrior, EstimatedConstants, PriorClass, PriorConstant};
use super::rules::{self, ArrayShape, MovedSlot, has_slc};
use super::wear;
use super::writer::{ASSUMED, DERIVED, DraftWriter, SHEET, quoted};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_ssd::{Bytes, Nanos};
use ssdlab_view::units::decimal_bytes;

/// The drive file of `facts`, checked as `ssdlab drives check` does. Constants that no sheet gives
/// are the medians of measured drives of its class.
///
/// # Errors
/// When a fact that is needed is missing, or facts contradict each other.
pub fn draft(facts: &DatasheetFacts) -> Result<String, LabError> {
    let medians = DraftPrior::built_in().constants(PriorClass::of(facts), |_| 0.0);
    draft_with(facts, &medians)
}

/// The same with these constants.
///
/// # Errors
/// As [`draft`].
pub fn draft_with(
    facts: &DatasheetFacts,
    constants: &EstimatedConstants,
) -> Result<String, LabError> {
    for (key, missing) in [
        ("name", facts.name.is_empty()),
        ("source", facts.source.trim().is_empty()),
        ("capacity", facts.capacity == 0),
    ] {
        if missing {
            let hint = "`ssdlab drives new --help` lists the facts; at a terminal it asks for them";
            return Err(LabError::refused(format!("--{key} is missing"), hint));
        }
    }
    let (user, _) = rules::user_bytes(facts.capacity);
    let raw = facts.raw.unwrap_or_else(|| rules::usual_raw(user));
    let array = rules::array(facts, raw);
    let completed = rules::completed(facts, user, &array, constants);
    let unit = rules::mapping_unit(array.raw(), facts.cells).0;
    let user = user / unit * unit;
    let title = facts.title.clone().unwrap_or_else(|| facts.name.clone());
    let interface = match facts.interface {
        Interface::Sata => "sata",
        Interface::Sas => "sas",
        Interface::Pcie3 | Interface::Pcie4 | Interface::Pcie5 => "nvme",
    };
    let mut page = DraftWriter {
        facts,
        constants,
        text: format!(
            "# {title}. First draft by `ssdlab drives new` from the facts of a data sheet.\n\n\
             name = {}\ntitle = {}\ninterface = \"{interface}\"\n",
            quoted(&facts.name),
            quoted(&title)
        ),
    };
    documented(&mut page, user, has_slc(&completed));
    page.facts = &completed;
    capacity(&mut page, user);
    nand(&mut page, &array);
    ftl(&mut page, user, &array);
    buffer(&mut page, &array);
    host(&mut page, user, &array);
    wear::wear(&mut page, user, &array);
    let source = format!("{}.toml", facts.name);
    let drive =
        catalogue::parse(&page.text, &source).map_err(|error| too_much_slc(facts, error))?;
    catalogue::check(&drive, &page.text, &source)?;
    Ok(page.text)
}

/// Names the fact that leaves no room for the user's data: most sheets give the cache of an empty
/// drive, and `slc` is one that is always there.
fn too_much_slc(facts: &DatasheetFacts, error: LabError) -> LabError {
    match (&error, facts.slc) {
        (LabError::BadValue { option, .. }, Some(slc)) if option == "user capacity" => {
            let size = decimal_bytes(slc as f64);
            let message = format!(
                "slc: a cache of {size} that is always there leaves no room for the user capacity"
            );
            LabError::refused(
                message,
                "a cache that shrinks as the drive fills is given as slc-empty, not as slc",
            )
        }
        _ => error,
    }
}

fn documented(page: &mut DraftWriter<'_>, user: u64, has_cache: bool) {
    let f = page.facts;
    page.table("documented");
    page.sheet(
        "power_loss_protection",
        "protected",
        Some(f.protected.to_string()),
    );
    page.sheet("raw", "raw", f.raw.map(size));
    page.sheet("dram", "dram", f.dram.map(size));
    match (f.years, f.rated_years()) {
        (None, Some(years)) => {
            let source = "usual for drives that are rated in drive writes per day; not given";
            page.line("warranty_years", &years.to_string(), ASSUMED, source);
        }
        (years, _) => page.sheet("warranty_years", "years", years.map(|n| n.to_string())),
    }
    page.sheet("dwpd", "dwpd", f.dwpd.map(|n| format!("{n:?}")));
    page.sheet("rated_writes", "rated-writes", f.rated_writes.map(size));
    if let (None, Some(dwpd), Some(years)) = (f.rated_writes, f.dwpd, f.rated_years()) {
        let bytes = user as f64 * dwpd * f64::from(years) * 365.0;
        let tera = format!("\"{:.0} GB\"", bytes / 1e9);
        page.line(
            "rated_writes",
            &tera,
            DERIVED,
            "drive writes a day x years x 365 x capacity",
        );
    }
    page.sheet(
        "random_read_iops",
        "random-read",
        f.random_read.map(|n| n.to_string()),
    );
    page.sheet(
        "random_write_iops",
        "random-write",
        f.random_write.map(|n| n.to_string()),
    );
    page.sheet("mixed_iops", "mixed", f.mixed.map(|n| n.to_string()));
    page.sheet("random_depth", "depth", f.depth.map(|n| n.to_string()));
    page.sheet("random_span", "span", f.span.map(size));
    page.sheet(
        "sequential_read",
        "sequential-read",
        f.sequential_read.map(rate),
    );
    // What a sheet says of a drive with a pSLC cache is the rate into the cache, which no second
    // pass over the drive keeps.
    match f.direct_write {
        Some(bytes) => page.sheet("sequential_write", "direct-write", Some(rate(bytes))),
        None => {
            let sustained = f.sequential_write.filter(|_| !has_cache);
            page.sheet("sequential_write", "sequential-write", sustained.map(rate));
        }
    }
    page.sheet(
        "sequential_read_latency",
        "read-latency",
        f.read_latency.map(time),
    );
    page.sheet(
        "sequential_write_latency",
        "write-latency",
        f.write_latency.map(time),
    );
}

fn capacity(page: &mut DraftWriter<'_>, user: u64) {
    page.table("capacity");
    let value = format!("\"{user} B\"");
    let gb = page.facts.capacity / 1_000_000_000;
    if rules::user_bytes(page.facts.capacity).1 {
        let source = format!("{gb} GB by the IDEMA LBA1-03 count");
        page.line("user", &value, DERIVED, &source);
    } else {
        page.sheet("user", "capacity", Some(value))
    }
}

fn nand(page: &mut DraftWriter<'_>, array: &ArrayShape) {
    let f = page.facts;
    page.table("nand");
    let usual = "usual for the class";
    page.line("channels", &array.channels.to_string(), ASSUMED, usual);
    let (planes, dies) = if !array.planes_apart {
        ("usual", "raw capacity in dies of the usual size")
    } else {
        (
            "each plane of four is a die of the model: the sheet's random reads need planes that \
         read apart",
            "raw capacity in planes of dies of the usual size",
        )
    };
    let per_channel = (array.dies / array.channels).to_string();
    page.line("dies_per_channel", &per_channel, DERIVED, dies);
    page.line("planes_per_die", &array.planes.to_string(), ASSUMED, planes);
    let raw = match f.raw {
        Some(_) => "makes up the flash on the board",
        None => "makes up the usual raw capacity: the next power of two, or 3/4 of one",
    };
    page.line("blocks_per_plane", &array.blocks.to_string(), DERIVED, raw);
    let pages = "usual for cells of these bits";
    page.line("pages_per_block", &array.pages.to_string(), ASSUMED, pages);
    page.line("page", "\"16 KiB\"", ASSUMED, "usual");
    let known = match f.cells {
        Cells::Tlc => ASSUMED,
        _ => SHEET,
    };
    let cells = match known {
        ASSUMED => "usual since 2016; not asked of the sheet".to_owned(),
        _ => f.source.clone(),
    };
    page.line("bits_per_cell", &array.bits.to_string(), known, &cells);
    cell_times(page, array);
    let rate = format!("\"{} MB/s\"", rules::channel_rate(f));
    page.line(
        "channel_rate",
        &rate,
        ASSUMED,
        "usual for flash of the interface's time",
    );
    if f.class() == DraftClass::Enterprise && f.interface != Interface::Sata {
        let source = "programs and erases give way to reads, usual in the class";
        page.line("suspend", "\"50 us\"", ASSUMED, source);
        page.line("resume", "\"20 us\"", ASSUMED, source);
        page.line("suspends_max", "8", ASSUMED, source);
    }
}

fn cell_times(page: &mut DraftWriter<'_>, array: &ArrayShape) {
    let f = page.facts;
    let (read, shortened) = rules::read_ns(f, array);
    let (kind, source) = match (f.random_read_latency, shortened) {
        (_, true) => (
            DERIVED,
            "the dies together give the sheet's random reads at its depth; a single read of the \
             cells takes longer",
        ),
        (Some(_), _) => (
            DERIVED,
            "the sheet's random read, less controller, link, transfer, latency",
        ),
        (None, _) => (
            ASSUMED,
            "usual for cells of these bits, mean over the pages of a word line",
        ),
    };
    page.line("read", &times(read, array.bits), kind, source);
    match (rules::flash_limited(f), estimated_rate(f)) {
        (Some(rate), Some(source)) => {
            let ns = rules::native_program_ns(f, array, rate);
            page.line("program", &times(ns, array.bits), ASSUMED, source);
        }
        (Some(rate), None) => {
            let ns = rules::native_program_ns(f, array, rate);
            let source = "all dies together take the sheet's writes in order";
            page.fitted(
                "program",
                &times(ns, array.bits),
                DERIVED,
                "sequential_write",
                source,
            );
        }
        (None, _) => {
            let ns = rules::usual_program_ns(f.cells);
            let source = "usual for cells of these bits, mean over the pages of a word line";
            page.line("program", &times(ns, array.bits), ASSUMED, source);
        }
    }
    slc_times(page, array, read);
    page.line("erase", "\"3500 us\"", ASSUMED, "usual");
}

/// From what the rate of writes in order past any cache was estimated, if no sheet gives it.
fn estimated_rate(facts: &DatasheetFacts) -> Option<&str> {
    let by = |key| facts.is_estimated(key).then(|| facts.known(key).1);
    let by_cache = by("direct-write");
    by_cache.or_else(|| by("sequential-write").filter(|_| facts.protected))
}

fn slc_times(page: &mut DraftWriter<'_>, array: &ArrayShape, read: u64) {
    let f = page.facts;
    let half = time(Nanos(read / 2 / 1000 * 1000));
    page.line(
        "slc_read",
        &half,
        ASSUMED,
        "half the time of a read of more bits",
    );
    let slc = rules::slc_programs(f, array);
    match (f.sequential_write.filter(|_| has_slc(f)), slc.at_once) {
        (Some(rate), None) => {
            let source = format!(
                "all dies together take the {} of writes in order into the cache ({})",
                Bytes(rate),
                f.known("sequential-write").1
            );
            page.line("slc_program", &time(Nanos(slc.ns)), DERIVED, &source);
        }
        (rate, at_once) => {
            let source = "cells in SLC mode: 160 to 250 us";
            page.line("slc_program", &time(Nanos(slc.ns)), ASSUMED, source);
            if let (Some(rate), Some(at_once)) = (rate, at_once) {
                let source = format!(
                    "as many as take the {} of writes in order into the cache ({})",
                    Bytes(rate),
                    f.known("sequential-write").1
                );
                page.line("programs_at_once", &at_once.to_string(), DERIVED, &source);
            }
        }
    }
}

fn ftl(page: &mut DraftWriter<'_>, user: u64, array: &ArrayShape) {
    let f = page.facts;
    page.table("ftl");
    let (unit, why) = rules::mapping_unit(array.raw(), f.cells);
    let unit = format!("\"{} KiB\"", unit >> 10);
    page.line("mapping_unit", &unit, ASSUMED, why);
    let fewest = "the fewest that the model's reclaim needs";
    page.line("free_superblocks_low", "3", ASSUMED, fewest);
    let slc_superblock = array.superblock() / array.bits;
    match f.slc {
        Some(bytes) => {
            let count = bytes.div_ceil(slc_superblock).to_string();
            let source = format!("a cache of {} ({})", Bytes(bytes), f.known("slc").1);
            page.line("slc_superblocks", &count, DERIVED, &source);
        }
        None if f.is_estimated("slc-empty") => {
            let source = "none is documented; drives of the kind have one that shrinks";
            page.line("slc_superblocks", "0", ASSUMED, source);
        }
        None => page.line("slc_superblocks", "0", ASSUMED, "none is documented"),
    }
    dynamic_cache(page, user, array);
    if rules::commits_to_slc(f) {
        let source = "a commit completes in SLC mode whatever the fill: measured drives take less \
                      than a program of more bits";
        page.line("slc_commit_superblocks", "2", ASSUMED, source);
    }
    if has_slc(f) {
        let source = "host writes go past a full cache; overwritten parts of it are used again: a \
                      T500 writes 1 GiB for longer than its cache lasts, at one rate";
        page.line("slc_full", "\"recycle\"", ASSUMED, source);
    }
    page.line(
        "journal_entry",
        "\"8 B\"",
        ASSUMED,
        "a logical and a physical address",
    );
    commit(page);
    let idle = "drives start background work within a second";
    page.line("idle_after", "\"500 ms\"", ASSUMED, idle);
    match f.map {
        MapLocation::Dram => page.line("mapping", "\"flat\"", ASSUMED, "DRAM for the whole map"),
        MapLocation::Host => {
            let (kind, source) = f.known("map");
            page.line("mapping", "\"cached\"", kind.name(), source);
            let memory = (user >> 14).clamp(32 << 20, 64 << 20) >> 20;
            let source = "host memory buffer: 64 MiB for each TB, 32 to 64 MiB are usual";
            page.line("map_dram", &format!("\"{memory} MiB\""), ASSUMED, source);
            page.line("map_entry", "\"4 B\"", ASSUMED, "usual");
        }
    }
    page.line("parity", "false", ASSUMED, "not documented");
}

/// The cache that shrinks: as large as on an empty drive until the free space of the user is less.
fn dynamic_cache(page: &mut DraftWriter<'_>, user: u64, array: &ArrayShape) {
    let f = page.facts;
    let Some(bytes) = f.slc_empty else {
        return;
    };
    let slc_superblock = array.superblock() / array.bits;
    let fixed = f.slc.unwrap_or(0).div_ceil(slc_superblock);
    let most = bytes.saturating_sub(f.slc.unwrap_or(0)) / slc_superblock;
    let native = array.blocks.saturating_sub(fixed);
    let spare = native.saturating_sub(user.div_ceil(array.superblock()));
    let above = spare.min(native.saturating_sub(most)).max(8).to_string();
    let source = "the spare area of a full drive is no cache";
    page.line("slc_dynamic_above_free", &above, ASSUMED, source);
    let (_, known) = f.known("slc-empty");
    let source = format!("{} on an empty drive ({known})", Bytes(bytes));
    let kind = if f.is_estimated("slc-empty") {
        ASSUMED
    } else {
        DERIVED
    };
    let most = most.max(1).to_string();
    page.line("slc_dynamic_superblocks", &most, kind, &source);
}

/// What a commit programs besides its data: nothing where its time is estimated.
fn commit(page: &mut DraftWriter<'_>) {
    if page.constants.get(PriorConstant::FlushTime).is_some() && !page.facts.protected {
        let map = "the spare area of a page says what is in it";
        page.line("commit_map_programs", "0", ASSUMED, map);
        let word_line = "a commit is rewritten or padded in the background, not waited for";
        page.line("commit_closes_word_lines", "false", ASSUMED, word_line);
        return;
    }
    let map = "the map page and the page that leads to it";
    page.line("commit_map_programs", "2", ASSUMED, map);
    let word_line = "a word line is safe when its last page is in";
    page.line("commit_closes_word_lines", "true", ASSUMED, word_line);
}

fn commit_times(page: &mut DraftWriter<'_>) {
    let f = page.facts;
    let estimate = |constant| page.constants.get(constant).cloned();
    let time_of = |value: f64| time(Nanos(value.round() as u64));
    // Over SATA hosts send a flush to protected drives too; over NVMe none.
    let takes_flushes = !f.protected || f.interface == Interface::Sata;
    if let Some(flush) = estimate(PriorConstant::FlushTime).filter(|_| takes_flushes) {
        page.line("flush_time", &time_of(flush.value), ASSUMED, &flush.source);
    }
    if f.interface == Interface::Sata {
        return;
    }
    if let Some(fua) = estimate(PriorConstant::FuaTime) {
        page.line("fua_time", &time_of(fua.value), ASSUMED, &fua.source);
    }
    let at_once = estimate(PriorConstant::FuaAtOnce).filter(|_| !f.protected);
    if let Some(at_once) = at_once {
        let count = at_once.value.round().clamp(1.0, 127.0);
        page.line("fua_at_once", &count.to_string(), ASSUMED, &at_once.source);
    }
}

fn buffer(page: &mut DraftWriter<'_>, array: &ArrayShape) {
    let f = page.facts;
    page.table("buffer");
    let (usual, source) = match (f.protected, f.map) {
        (true, _) => (16, "bounded by the energy of its capacitors"),
        (false, MapLocation::Dram) => (4, "usual"),
        (false, MapLocation::Host) => (1, "SRAM of the controller"),
    };
    // A word line of every die is in flight, or dies would wait for each other.
    let needed = (array.dies * array.unit() * array.bits).div_ceil(1 << 20);
    let value = format!("\"{} MiB\"", needed.max(usual));
    page.line("size", &value, ASSUMED, source);
    page.sheet("protected", "protected", Some(f.protected.to_string()));
    commit_times(page);
}

fn host(page: &mut DraftWriter<'_>, user: u64, array: &ArrayShape) {
    let f = page.facts;
    page.table("host");
    let (depth, duplex, source) = match f.interface {
        Interface::Sata => ("32", "false", "SATA: 32 commands, one way at a time"),
        Interface::Sas => (
            "254",
            "true",
            "SAS: a queue for each port, both ways at a time",
        ),
        _ => (
            "256",
            "true",
            "deeper than the loads of the articles; PCIe carries both ways",
        ),
    };
    page.line("queue_depth", depth, ASSUMED, source);
    let link = rules::link_rate(f) * 1_000_000;
    let into_slc = f.sequential_write.unwrap_or(0);
    match f
        .sequential_read
        .map(|read| read.max(into_slc))
        .filter(|most| *most < link)
    {
        Some(most) => {
            let source = "what the controller moves; the link itself carries more";
            page.fitted("link_rate", &rate(most), DERIVED, "sequential_read", source);
        }
        None => page.line(
            "link_rate",
            &rate(link),
            DERIVED,
            "the interface less its framing",
        ),
    }
    page.line("full_duplex", duplex, SHEET, "the interface");
    per_command(page);
    match rules::latency_ns(f) {
        Some(ns) => {
            let source = "the sheet's single write, less controller and link";
            let from = "sequential_write_latency";
            page.fitted("latency", &time(Nanos(ns)), DERIVED, from, source);
        }
        None => page.line("latency", "\"10 us\"", ASSUMED, "firmware"),
    }
    moved_slot(page, user, array);
    if f.read_latency
        .is_some_and(|read| read.0 < rules::read_ns(f, array).0)
    {
        let source = "reads in order take less than a read of the cells: read ahead";
        page.line("read_ahead", "\"64 KiB\"", ASSUMED, source);
    }
}

fn per_command(page: &mut DraftWriter<'_>) {
    let f = page.facts;
    let overhead = match f.random_read {
        Some(iops) => {
            let ns = rules::per_command(iops);
            let source = "the sheet's random reads, less 3 % for queueing";
            let value = time(Nanos(ns));
            page.fitted(
                "command_overhead",
                &value,
                DERIVED,
                "random_read_iops",
                source,
            );
            ns
        }
        None => {
            let ns = rules::usual_per_command(f);
            let source = "usual for the interface";
            page.line("command_overhead", &time(Nanos(ns)), ASSUMED, source);
            ns
        }
    };
    if let Some(writes) = f.random_write.filter(|_| has_slc(f) || f.span.is_some()) {
        let ns = rules::per_command(writes).min(overhead.max(1) * 4);
        let source = "the sheet's random writes into a nearly empty drive, less 3 %";
        page.fitted(
            "write_overhead",
            &time(Nanos(ns)),
            DERIVED,
            "random_write_iops",
            source,
        );
    }
}

fn moved_slot(page: &mut DraftWriter<'_>, user: u64, array: &ArrayShape) {
    let f = page.facts;
    match rules::moved_slot(f, user, array, page.constants) {
        MovedSlot::Sheet(ns) => {
            let source = "the sheet's random writes, less the write itself, over the slots moved";
            let value = time(Nanos(ns));
            page.fitted("moved_slot", &value, DERIVED, "random_write_iops", source);
        }
        MovedSlot::Estimated(ns, source) => {
            page.line("moved_slot", &time(Nanos(ns)), ASSUMED, &source);
        }
        MovedSlot::Usual(ns) => {
            let source = "1.94 times a command, the mean of the fitted families; flash or cache \
                          limits the sheet's random writes, or it gives none";
            page.line("moved_slot", &time(Nanos(ns)), ASSUMED, source);
        }
    }
}

fn times(ns: u64, bits: u64) -> String {
    let latency = time(Nanos(ns));
    format!("[{}]", vec![latency; bits as usize].join(", "))
}

/// Tenths of microseconds, as data sheets have them; below a microsecond, ns.
fn time(time: Nanos) -> String {
    match time.0 {
        ns if ns % 1000 == 0 && ns > 0 => format!("\"{} us\"", ns / 1000),
        ns => format!("\"{}.{:03} us\"", ns / 1000, ns % 1000),
    }
}

/// In decimal units as sheets give them, where the number is whole.
fn size(bytes: u64) -> String {
    format!("\"{}\"", decimal(bytes))
}

fn rate(bytes: u64) -> String {
    format!("\"{}/s\"", decimal(bytes))
}

fn decimal(bytes: u64) -> String {
    let units = [
        (1_000_000_000_000, "TB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
    ];
    let whole_unit = units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    whole_unit.map_or(format!("{bytes} B"), |(unit, name)| {
        format!("{} {name}", bytes / unit)
    })
}
