//! A server's months on drives that differ in one thing each.
//!
//! All start from the same flash, dies and link: the DC S3700's of 200 GB. The earlier drive has a
//! controller with the habits that the article blames; each remedy takes one away. What is
//! measured at each age, on a fork: the random read throughput under the mixed load.

use super::MythSettings;
use super::files::Files;
use crate::experiments::host::Host;
use crate::experiments::{Curve, Health, Span, scale};
use ssdlab_base::LabError;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::{Command, Op};
use std::sync::atomic::AtomicBool;

/// The drive whose flash, dies and link all have.
const FLASH: &str = "intel-dc-s3700-200gb";

/// What the earlier drive's controller does instead, as `--set` takes it. Map and DRAM are those
/// of the Intel 320 of the catalogue (a test holds them to it), with a tree in place of the table.
pub const EARLIER: [&str; 9] = [
    "op=7%",
    "ftl.pace=whole",
    "nand.read_first=false",
    "ftl.mapping=tree",
    "ftl.map_dram=64MiB",
    "ftl.map_entry=20 B",
    "ftl.map_leaf_programs=4",
    "ftl.map_serial_misses=true",
    "ftl.trim_queued=false",
];

/// One thing, or more, made better than on the earlier drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remedy {
    /// Name in results.
    pub name: &'static str,
    /// From the earlier drive; if not, from the DC S3700 as the catalogue has it.
    pub from_earlier: bool,
    /// Parameters changed.
    pub set: &'static [&'static str],
    /// The file system tells the drive of deletes.
    pub trim: bool,
    /// A published figure is held against it.
    pub published: bool,
}

const FLAT: &str = "ftl.mapping=flat";
const OP: &str = "op=32%";
const SPREAD: &str = "ftl.pace=spread";
const READ_FIRST: &str = "nand.read_first=true";

const fn from_earlier(name: &'static str, set: &'static [&'static str], trim: bool) -> Remedy {
    Remedy {
        name,
        from_earlier: true,
        set,
        trim,
        published: true,
    }
}

/// What explains the figures and is none.
const fn besides(remedy: Remedy) -> Remedy {
    Remedy {
        published: false,
        ..remedy
    }
}

/// The earlier drive, each remedy alone, some together, all together with and without one of them,
/// and the drive that the article's authors bought.
pub const REMEDIES: [Remedy; 13] = [
    from_earlier("earlier drive", &[], false),
    from_earlier("TRIM alone", &[], true),
    from_earlier("32 % spare alone", &[OP], false),
    from_earlier("flat map alone", &[FLAT], false),
    from_earlier("TRIM and flat map", &[FLAT], true),
    besides(from_earlier("32 % spare and flat map", &[OP, FLAT], false)),
    from_earlier("TRIM and 32 % spare and flat map", &[OP, FLAT], true),
    besides(from_earlier("paced reclaim alone", &[SPREAD], false)),
    besides(from_earlier("reads first alone", &[READ_FIRST], false)),
    from_earlier("all but the flat map", &[OP, SPREAD, READ_FIRST], true),
    from_earlier("all", &[OP, FLAT, SPREAD, READ_FIRST], true),
    Remedy {
        name: "DC S3700 without TRIM",
        from_earlier: false,
        set: &[],
        trim: false,
        published: true,
    },
    Remedy {
        name: "DC S3700 with TRIM",
        from_earlier: false,
        set: &[],
        trim: true,
        published: false,
    },
];

/// Commands outstanding.
const DEPTH: u32 = 32;
/// Of 100 commands of the mixed load, so many are reads. Assumed.
const READ_PCT: u32 = 90;
/// Looks per user capacity written.
const LOOKS: u32 = 4;

/// One look at a drive's performance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Age {
    /// User capacities written since installation.
    pub drive_writes: f64,
    /// Random reads in the mixed load, MB/s.
    pub read_mb_s: f64,
    /// Writes in the mixed load, MB/s.
    pub write_mb_s: f64,
    /// Random reads alone, MB/s.
    pub read_alone_mb_s: f64,
    /// Latency that 99.9 % of the reads in the mixed load do not exceed, ms.
    pub read_p999_ms: f64,
    /// Write amplification factor since the look before.
    pub waf: f64,
    /// Share of the dies' busy time that the map took since the look before.
    pub map_share: f64,
    /// Superblocks free.
    pub free_superblocks: usize,
    /// What the drive holds valid, its map included, in per cent of the user capacity.
    pub held_pct: f64,
}

/// A drive's months.
#[derive(Clone, Debug, PartialEq)]
pub struct Aged {
    /// The remedy's name.
    pub name: &'static str,
    /// What it changes.
    pub remedy: Remedy,
    /// OP = (raw - user) / user.
    pub op: f64,
    /// Looks, the first just after installation.
    pub ages: Vec<Age>,
}

impl Aged {
    /// At installation.
    pub fn new_read_mb_s(&self) -> f64 {
        self.ages.first().map_or(0.0, |age| age.read_mb_s)
    }

    /// Mean of the looks during the last user capacity written.
    pub fn old_read_mb_s(&self) -> f64 {
        self.mean(|age| age.read_mb_s)
    }

    /// The same of random reads alone.
    pub fn old_read_alone_mb_s(&self) -> f64 {
        self.mean(|age| age.read_alone_mb_s)
    }

    /// The same of the write amplification factor.
    pub fn old_waf(&self) -> f64 {
        self.mean(|age| age.waf)
    }

    fn mean(&self, of: impl Fn(&Age) -> f64) -> f64 {
        self.curve(of).level(LOOKS as usize).unwrap_or(0.0)
    }

    /// Random reads in the mixed load, MB/s, over user capacities written.
    pub fn throughput(&self) -> Curve {
        self.curve(|age| age.read_mb_s)
    }

    /// The map's share of the dies' busy time, per cent, over user capacities written.
    pub fn map_upkeep(&self) -> Curve {
        self.curve(|age| 100.0 * age.map_share)
    }

    fn curve(&self, of: impl Fn(&Age) -> f64) -> Curve {
        Curve {
            name: self.name.into(),
            points: self
                .ages
                .iter()
                .map(|age| (age.drive_writes, of(age)))
                .collect(),
        }
    }
}

/// A drive's end under another condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swept {
    /// The condition, per cent: of capacity used, or OP.
    pub at_pct: u32,
    /// Random reads in the mixed load after installation, MB/s.
    pub new_read_mb_s: f64,
    /// The same in the end, MB/s.
    pub old_read_mb_s: f64,
    /// Write amplification factor in the end.
    pub waf: f64,
    /// What the drive holds valid in the end, its map included, in per cent of the user capacity.
    pub held_pct: f64,
}

struct Server<'a> {
    host: Host<'a>,
    files: Files,
}

impl<'a> Server<'a> {
    fn new(
        remedy: &Remedy,
        extra: &[&str],
        settings: &MythSettings,
        stop: &'a AtomicBool,
    ) -> Result<Server<'a>, LabError> {
        let mut set: Vec<&str> = Vec::new();
        if remedy.from_earlier {
            set.extend(EARLIER);
        }
        set.extend(remedy.set);
        set.extend(extra);
        let config = settings.scale.apply(&scale::with(FLASH, &set)?.config);
        let mut host = Host::new(config)?.watching(stop);
        let user = host.config().user_bytes;
        let files = Files::new(user, settings.used_pct, remedy.trim, settings.seed);
        host.run(DEPTH, files.install());
        Ok(Server { host, files })
    }

    /// The server's writes, until it has written so much; what the drive did.
    fn write(&mut self, bytes: u64) -> Span {
        let mut written = 0;
        let files = &mut self.files;
        let commands = std::iter::from_fn(|| {
            let command = (written < bytes).then(|| files.write())?;
            if command.op == Op::Write {
                written += u64::from(command.len);
            }
            Some(command)
        });
        self.host.run(DEPTH, commands)
    }

    fn look(&self, drive_writes: f64, past: Option<&Span>, probe: u32, health: &mut Health) -> Age {
        let mut fork = self.host.clone();
        let mut files = self.files.clone();
        // The first quarter lets the mixed load settle.
        fork.run(DEPTH, files.mixed(probe / 4, READ_PCT));
        let mixed = fork.run(DEPTH, files.mixed(probe, READ_PCT));
        let reads: Vec<Command> = (0..probe / 4).map(|_| files.read()).collect();
        let alone = fork.run(DEPTH, reads);
        health.add("production", &fork);
        Age {
            drive_writes,
            read_mb_s: mixed.read_mb_s(),
            write_mb_s: mixed.write_mb_s(),
            read_alone_mb_s: alone.read_mb_s(),
            read_p999_ms: mixed.read_ms(99.9),
            waf: past.and_then(|span| span.waf).unwrap_or(1.0),
            map_share: past.map_or(0.0, |span| span.die_share[Purpose::Map as usize]),
            free_superblocks: self.host.free_superblocks(),
            held_pct: self.held_pct(),
        }
    }

    fn held_pct(&self) -> f64 {
        let config = self.host.config();
        let held = self.host.valid_slots().0 * u64::from(config.shape.slot_bytes);
        100.0 * held as f64 / config.user_bytes as f64
    }

    /// Looks at installation and after each share of the writes, the last `last` only.
    fn live(&mut self, settings: &MythSettings, last: u32, health: &mut Health) -> Vec<Age> {
        let probe = settings.probe_commands;
        let mut ages = vec![self.look(0.0, None, probe, health)];
        let all = settings.drive_writes * LOOKS;
        let share = self.host.config().user_bytes / u64::from(LOOKS);
        for n in 1..=all {
            let span = self.write(share);
            if n + last > all {
                let drive_writes = f64::from(n) / f64::from(LOOKS);
                ages.push(self.look(drive_writes, Some(&span), probe, health));
            }
        }
        health.add("production", &self.host);
        ages
    }
}

pub(super) fn age(
    remedy: &Remedy,
    settings: &MythSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Aged, LabError> {
    let mut server = Server::new(remedy, &[], settings, stop)?;
    Ok(Aged {
        name: remedy.name,
        remedy: *remedy,
        op: server.host.config().nominal_op(),
        ages: server.live(settings, u32::MAX / 2, health),
    })
}

fn swept(
    at_pct: u32,
    mut server: Server<'_>,
    settings: &MythSettings,
    health: &mut Health,
) -> Option<Swept> {
    let ages = server.live(settings, 2, health);
    summed(at_pct, &ages)
}

/// The last two looks, and the first.
fn summed(at_pct: u32, ages: &[Age]) -> Option<Swept> {
    let ([new, ..], [.., before, last]) = (ages, ages) else {
        return None;
    };
    Some(Swept {
        at_pct,
        new_read_mb_s: new.read_mb_s,
        old_read_mb_s: (before.read_mb_s + last.read_mb_s) / 2.0,
        waf: (before.waf + last.waf) / 2.0,
        held_pct: last.held_pct,
    })
}

/// The earlier drive, with or without TRIM, fuller and fuller. `aged` is the same drive as it was
/// lived with the settings' own share in use.
pub(super) fn by_used(
    aged: &Aged,
    used: &[u32],
    settings: &MythSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Vec<Swept>, LabError> {
    let mut all = Vec::new();
    for &used_pct in used {
        if used_pct == settings.used_pct {
            all.extend(summed(used_pct, &aged.ages));
            continue;
        }
        let settings = MythSettings {
            used_pct,
            ..settings.clone()
        };
        let server = Server::new(&aged.remedy, &[], &settings, stop)?;
        all.extend(swept(used_pct, server, &settings, health));
    }
    Ok(all)
}

/// The earlier drive without TRIM, with more and more kept back.
pub(super) fn by_op(
    settings: &MythSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Vec<Swept>, LabError> {
    let mut all = Vec::new();
    for op in [12, 20, 28, 42, 60] {
        let set = format!("op={op}%");
        let server = Server::new(&REMEDIES[0], &[&set], settings, stop)?;
        all.extend(swept(op, server, settings, health));
    }
    Ok(all)
}
