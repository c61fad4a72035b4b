//! A modelled drive in use: a kind of the catalogue with parameters of its own, a history, a load.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::config::SpareArea;
use ssdlab_ssd::{CountingDrive, Drive, DriveConfig, Nanos};
use ssdlab_watch::forecast::draw::EnsembleRng;
use ssdlab_watch::forecast::fill::FillLaw;
use ssdlab_watch::forecast::{ByteRange, ForecastEvidence, ForecastModel};

/// Sizes of the modelled drives: fewer blocks, all dies. A buffer does not shrink, so that a small
/// cache would not be much larger.
const CAPACITY: u64 = 4 << 30;
const CAPACITY_CACHED: u64 = 24 << 30;
/// Mapping unit of drives that are run for minutes, for their heat: larger, to be quick.
const WARM_SLOT: u32 = 16 << 10;
const CACHED: [&str; 8] = [
    "consumer-sata-1tb",
    "crucial-p1-1tb",
    "qlc-client-nvme-1tb",
    "samsung-980-1tb",
    "samsung-980-pro-1tb",
    "samsung-990-pro-1tb",
    "tlc-client-nvme-1tb",
    "wd-blue-sn550-1tb",
];
const UNCACHED: [&str; 11] = [
    "intel-320-300gb",
    "intel-dc-p3700-400gb",
    "intel-dc-p4500-2000gb",
    "intel-dc-s3500-480gb",
    "intel-dc-s3700-200gb",
    "intel-dc-s4500-3840gb",
    "micron-7450-max-800gb",
    "samsung-pm983-960gb",
    "samsung-pm9a3-m2-3840gb",
    "sk-hynix-pe8110-960gb",
    "tlc-enterprise-nvme-1920gb",
];
const BARE: &str = "tlc-client-nvme-1tb-no-fan";
const COOLED: &str = "tlc-client-nvme-1tb-fan";

/// What a drawn drive is meant to come to; whether it does is seen when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnClass {
    /// A cache that fills up.
    Cache,
    /// Free space that is used up.
    Spare,
    /// A warm drive.
    Heat,
    /// Neither: paced below what the cells take, in order, or cooled.
    Calm,
}

/// The commands of the host.
#[derive(Clone, Debug)]
pub struct DrawnLoad {
    /// Bytes of a command.
    pub bytes: u32,
    /// Commands under way at once.
    pub depth: u32,
    /// Percentage of reads.
    pub reads: u32,
    /// Whether writes go in order.
    pub in_order: bool,
    /// Where writes begin, and the bytes over which they go.
    pub begin: u64,
    /// The same.
    pub span: u64,
    /// Bytes of a burst and the pause behind it, s; `None`: without pauses.
    pub burst: Option<(u64, f64)>,
    /// Least time between two commands, ns; 0: as fast as the drive takes them.
    pub pace_ns: u64,
}

/// A drive in use, at the moment at which a watch begins.
pub struct DrawnDrive {
    pub class: DrawnClass,
    pub name: String,
    pub drive: Drive,
    /// The catalogue's entry, which is all that the forecaster has.
    pub model: ForecastModel,
    pub load: DrawnLoad,
    /// What a stranger knows at the beginning.
    pub evidence: ForecastEvidence,
    /// The same, complete and without error.
    pub beginning: ForecastEvidence,
    /// Bytes of the load to be written before the watch.
    pub run_up: u64,
}

fn spread(rng: &mut EnsembleRng, share: f64) -> f64 {
    rng.between(1.0 - share, 1.0 + share)
}

/// Other parameters than the catalogue's: uniform, where the forecaster's own draws are normal.
fn perturbed(config: &DriveConfig, cache_sigma: f64, rng: &mut EnsembleRng) -> DriveConfig {
    let mut own = config.clone();
    let blocks = f64::from(config.shape.blocks_per_plane);
    own.shape.blocks_per_plane = (blocks * rng.between(0.995, 1.02)).round() as u32;
    let cache = spread(rng, 1.5 * cache_sigma);
    let slc = &mut own.ftl.slc;
    slc.superblocks = (f64::from(slc.superblocks) * cache).round() as u32;
    if slc.dynamic_above_free > 0 {
        let room = (blocks - f64::from(slc.dynamic_above_free)) * cache;
        slc.dynamic_above_free = (blocks - room).max(12.0) as u32;
    }
    let scale = |time: &mut Nanos, factor: f64| *time = Nanos((time.0 as f64 * factor) as u64);
    let program = spread(rng, 0.15);
    for time in &mut own.nand.timing.program {
        scale(time, program);
    }
    scale(&mut own.nand.timing.slc_program, spread(rng, 0.15));
    scale(&mut own.ftl.idle_after, spread(rng, 0.4));
    scale(&mut own.host.moved_slot, spread(rng, 0.3));
    if rng.uniform() < 0.3 {
        own.ftl.reclaim.idle_free_superblocks = (blocks * 0.05) as u32;
    }
    let energy = &mut own.energy;
    let power = spread(rng, 0.2);
    for operation_nj in energy.program_nj.iter_mut().chain(&mut energy.read_nj) {
        *operation_nj = (*operation_nj as f64 * power) as u64;
    }
    energy.active_mw = (energy.active_mw as f64 * spread(rng, 0.2)) as u64;
    if let Some(heat) = &mut own.heat {
        let share = |value: u64, factor: f64| (value as f64 * factor) as u64;
        heat.capacity_mj_per_k = share(heat.capacity_mj_per_k, spread(rng, 0.35));
        heat.resistance_mk_per_w = share(heat.resistance_mk_per_w, spread(rng, 0.35));
        heat.ambient_c = rng.between(25.0, 45.0) as u32;
        heat.light.at_c = (f64::from(heat.light.at_c) + rng.between(-2.9, 2.9)).round() as u32;
    }
    own
}

fn choose<'a>(names: &[&'a str], rng: &mut EnsembleRng) -> &'a str {
    names[(rng.uniform() * names.len() as f64) as usize]
}

fn drawn_load(
    class: DrawnClass,
    law: &FillLaw,
    used: f64,
    user: u64,
    rng: &mut EnsembleRng,
) -> DrawnLoad {
    let aligned = |share: f64| (share * user as f64) as u64 / (1 << 20) * (1 << 20);
    let is_calm = class == DrawnClass::Calm;
    let in_order = match class {
        DrawnClass::Cache => rng.uniform() < 0.6,
        DrawnClass::Spare => false,
        DrawnClass::Heat | DrawnClass::Calm => true,
    };
    let bytes = match (in_order, rng.uniform() < 0.5) {
        (true, true) => 128 << 10,
        (true, false) => 512 << 10,
        (false, true) => 4 << 10,
        (false, false) => 16 << 10,
    };
    let depth = 1 << rng.between(if in_order { 2.0 } else { 4.0 }, 6.0) as u32;
    let reads = if rng.uniform() < 0.25 && !is_calm {
        30
    } else {
        0
    };
    let burst = (rng.uniform() < 0.35).then(|| match class {
        DrawnClass::Heat => {
            let bytes = law.native_rate * rng.between(8.0, 20.0);
            (bytes as u64, rng.between(0.5, 4.0))
        }
        _ => {
            let room = law.static_bytes + law.native_bytes * 0.05;
            ((room * rng.between(0.1, 0.4)) as u64, rng.between(0.2, 1.5))
        }
    });
    // Paced at a share of what the cells take without a cache.
    let rate = law.native_rate / law.cost * rng.between(0.3, 0.7);
    DrawnLoad {
        bytes,
        depth,
        reads,
        in_order,
        begin: if in_order { aligned(used) } else { 0 },
        span: if in_order {
            user / (1 << 20) * (1 << 20)
        } else {
            aligned(used.max(0.5))
        },
        burst,
        pace_ns: if is_calm {
            (f64::from(bytes) / rate * 1e9) as u64
        } else {
            0
        },
    }
}

/// Writes of the past, without time: files in order, some of them written over, and rest behind.
fn aged(config: &DriveConfig, used: f64, over: f64) -> Result<(Drive, u64), LabError> {
    let mut past = CountingDrive::new(config.clone())
        .map_err(|error| LabError::refused(error.to_string(), "another seed"))?;
    let bytes = |share: f64| (share * config.user_bytes as f64) as u64 / (1 << 20) * (1 << 20);
    let mut written = 0;
    for part in [bytes(used), bytes(over * used)] {
        let command = 128 << 10;
        past.write_run(0, part, command);
        written += part;
    }
    past.idle();
    let drive = past
        .into_timed()
        .map_err(|error| LabError::refused(error.to_string(), "another seed"))?;
    Ok((drive, written))
}

/// What the kernel and SMART say when the watch begins.
fn known(used: f64, written: u64, run_up: u64, rng: &mut EnsembleRng) -> ForecastEvidence {
    let says = |share: f64, rng: &mut EnsembleRng| rng.uniform() < share;
    let since_boot = run_up as f64 + rng.uniform() * written as f64;
    let used = (used + rng.between(-0.02, 0.02)).clamp(0.0, 1.0);
    let run_up_seen = run_up as f64 * rng.between(0.85, 1.15);
    ForecastEvidence {
        used: says(0.8, rng).then_some(used),
        written_since_boot: Some(since_boot as u64),
        run_up: says(0.6, rng).then_some(ByteRange {
            low: 0.8 * run_up_seen,
            high: 1.2 * run_up_seen,
        }),
        written_in_life: says(0.6, rng).then_some(written + run_up),
        ..ForecastEvidence::default()
    }
}

/// What a kernel and SMART say at best when the watch begins.
fn exact(used: f64, written: u64, run_up: u64) -> ForecastEvidence {
    let range = ByteRange {
        low: run_up as f64,
        high: run_up as f64,
    };
    ForecastEvidence {
        used: Some(used),
        written_since_boot: Some(run_up),
        run_up: Some(range),
        written_in_life: Some(written + run_up),
        ..ForecastEvidence::default()
    }
}

impl DrawnDrive {
    /// The drive of a seed.
    ///
    /// # Errors
    /// When a drive of the catalogue cannot be read or built.
    pub fn new(seed: u64) -> Result<DrawnDrive, LabError> {
        let rng = &mut EnsembleRng::new(seed, "drive in use");
        let class = match rng.uniform() {
            u if u < 0.4 => DrawnClass::Cache,
            u if u < 0.62 => DrawnClass::Spare,
            u if u < 0.88 => DrawnClass::Heat,
            _ => DrawnClass::Calm,
        };
        let name = match class {
            DrawnClass::Cache => choose(&CACHED, rng),
            DrawnClass::Spare => choose(&UNCACHED, rng),
            DrawnClass::Heat => BARE,
            DrawnClass::Calm if rng.uniform() < 0.4 => COOLED,
            DrawnClass::Calm => choose(&CACHED, rng),
        };
        let listed = catalogue::drive(name)?;
        let mut model = ForecastModel::new(&listed);
        let capacity = match class {
            DrawnClass::Cache => CAPACITY_CACHED,
            DrawnClass::Spare | DrawnClass::Heat | DrawnClass::Calm => CAPACITY,
        };
        model.config = scaled(&listed.config, capacity)?.config;
        if model.config.heat.is_some() {
            model.config.shape.slot_bytes = WARM_SLOT;
            model.config.user_bytes -= model.config.user_bytes % u64::from(WARM_SLOT);
        }
        assert_eq!(model.config.ftl.reclaim.spare, SpareArea::Dynamic, "{name}");
        let mut config = perturbed(&model.config, model.cache_sigma, rng);
        while config.validate().is_err() {
            config = perturbed(&model.config, model.cache_sigma, rng);
        }
        let law = FillLaw::new(&config);
        let used = match class {
            DrawnClass::Cache | DrawnClass::Calm => rng.between(0.05, 0.5),
            DrawnClass::Spare => rng.between(0.3, 0.95),
            DrawnClass::Heat => 0.98,
        };
        let over = if class == DrawnClass::Heat {
            0.5
        } else {
            (rng.uniform() - 0.6).max(0.0)
        };
        let (mut drive, written) = aged(&config, used, over)?;
        let load = drawn_load(class, &law, used, config.user_bytes, rng);
        let room = match class {
            DrawnClass::Cache => law.cache_bytes(law.native_bytes - written as f64),
            DrawnClass::Spare => law.native_bytes - written as f64,
            DrawnClass::Heat | DrawnClass::Calm => 0.0,
        };
        let run_up = if rng.uniform() < 0.5 {
            (room.max(0.0) * rng.between(0.05, 0.6)) as u64 / (1 << 20) * (1 << 20)
        } else {
            0
        };
        if let Some(heat) = &config.heat {
            drive.warm_to(u64::from(heat.ambient_c) * 1000 + (rng.uniform() * 25e3) as u64);
        }
        Ok(DrawnDrive {
            class,
            name: name.to_owned(),
            drive,
            model,
            evidence: known(used, written, run_up, rng),
            beginning: exact(used, written, run_up),
            load,
            run_up,
        })
    }
}
