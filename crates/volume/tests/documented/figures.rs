//! The providers' figures, each with what the model and the null give.

use super::measured::VolumeLoad;
use ssdlab_volume::catalogue::{VolumeSetting, limits, setting_range, volume};
use ssdlab_volume::{AccountRates, VolumeConfig, open};

/// A figure as a provider documents it.
#[derive(Debug)]
pub struct DocumentedFigure {
    /// What follows `volume:`.
    pub volume: String,
    /// What it is, with its unit.
    pub what: &'static str,
    /// As documented.
    pub documented: f64,
    /// By the model.
    pub model: f64,
    /// `measured` or `accounts`.
    pub how: &'static str,
    /// By a volume that holds its burst for ever.
    pub null: f64,
}

impl DocumentedFigure {
    /// Whether a value is the documented one, as precisely as that is given.
    pub fn is_met_by(&self, value: f64) -> bool {
        let tolerance = if self.what.contains("hours") {
            0.006_f64.max(0.0015 * self.documented)
        } else {
            0.5_f64.max(0.003 * self.documented)
        };
        (value - self.documented).abs() <= tolerance
    }
}

const MIB: f64 = 1_048_576.0;

fn accounts(volume: &str, what: &'static str, figures: [f64; 3]) -> DocumentedFigure {
    let [documented, model, null] = figures;
    DocumentedFigure {
        volume: volume.to_owned(),
        what,
        documented,
        model,
        how: "accounts",
        null,
    }
}

fn measured(volume: &str, what: &'static str, figures: [f64; 3]) -> DocumentedFigure {
    DocumentedFigure {
        how: "measured",
        ..accounts(volume, what, figures)
    }
}

fn config(text: &str) -> VolumeConfig {
    open(text).expect("it is sold")
}

/// How long a burst lasts on the model.
fn burst_s(config: &VolumeConfig, rates: AccountRates, len: u32, unit: f64) -> f64 {
    let half_way = (rates.base + rates.burst) as f64 / 2.0 / unit;
    let mut load = VolumeLoad::new(config.clone(), len);
    load.first_below(half_way, 20_000).unwrap_or(f64::INFINITY)
}

/// gp2: base, burst and refill by size, throughput, and 256 KiB at 250 MiB/s.
fn gp2(list: &mut Vec<DocumentedFigure>) {
    let rows = [
        (33, 100.0, 1862.0, 54_000.0),
        (100, 300.0, 2000.0, 18_000.0),
        (334, 1002.0, 2703.0, 5389.0),
        (750, 2250.0, 7200.0, 2400.0),
    ];
    for (gib, base, lasts, refill) in rows {
        let name = format!("gp2,size={gib}");
        let full = config(&name);
        let empty = config(&format!("{name},credit=0"));
        let rates = full.volume.operations;
        let model = VolumeLoad::new(empty, 4096).rate(10, 40);
        list.push(measured(
            &name,
            "baseline, operations/s",
            [base, model, 3000.0],
        ));
        let model = burst_s(&full, rates, 4096, 1.0);
        list.push(measured(&name, "burst, s", [lasts, model, f64::INFINITY]));
        let model = rates.refill_s().unwrap_or(0.0);
        list.push(accounts(&name, "refill, s", [refill, model, 0.0]));
        let model = VolumeLoad::new(full, 4096).rate(1, 11);
        list.push(measured(
            &name,
            "burst rate, operations/s",
            [3000.0, model, 3000.0],
        ));
    }
    for (gib, base) in [(1000, 3000.0), (5334, 16_000.0)] {
        let name = format!("gp2,size={gib}");
        let model = VolumeLoad::new(config(&name), 4096).rate(10, 40);
        list.push(measured(
            &name,
            "baseline, operations/s",
            [base, model, base],
        ));
    }
    for (gib, throughput) in [(170, 128.0), (334, 250.0)] {
        let name = format!("gp2,size={gib}");
        let model = VolumeLoad::new(config(&name), 256 << 10).rate(1, 31) / 4.0;
        list.push(measured(
            &name,
            "throughput, MiB/s",
            [throughput, model, throughput],
        ));
    }
    let model = VolumeLoad::new(config("gp2,size=500"), 256 << 10).rate(1, 31);
    list.push(measured(
        "gp2,size=500",
        "operations/s of 256 KiB",
        [1000.0, model, 1000.0],
    ));
}

/// The most that can be provisioned.
fn most(kind: &str, gib: u64, operations: Option<f64>) -> f64 {
    let file = volume(kind).expect("in the catalogue");
    let table = if operations.is_some() {
        &file.throughput
    } else {
        &file.operations
    };
    setting_range(table, gib, operations).1
}

/// What is provisioned, and how much of it can be.
fn provisioned(list: &mut Vec<DocumentedFigure>) {
    let model = VolumeLoad::new(config("gp3"), 4096).rate(1, 31);
    list.push(measured(
        "gp3",
        "default, operations/s",
        [3000.0, model, 3000.0],
    ));
    let model = VolumeLoad::new(config("gp3"), 256 << 10).rate(1, 31) / 4.0;
    list.push(measured(
        "gp3",
        "default throughput, MiB/s",
        [125.0, model, 125.0],
    ));
    for (kind, gib, documented) in [
        ("gp3", 32, 16_000.0),
        ("io1", 100, 5000.0),
        ("io1", 1280, 64_000.0),
        ("io2", 256, 256_000.0),
        ("premium-ssd-v2", 8, 4000.0),
        ("premium-ssd-v2", 10, 5000.0),
        ("premium-ssd-v2", 160, 80_000.0),
        ("ultra", 4, 4000.0),
        ("ultra", 64, 64_000.0),
        ("ultra", 256, 256_000.0),
        ("ultra", 512, 400_000.0),
    ] {
        let name = format!("{kind},size={gib}");
        let figures = [documented, most(kind, gib, None), f64::INFINITY];
        list.push(accounts(&name, "most operations/s", figures));
    }
    provisioned_throughput(list);
}

/// Throughput by provisioned operations.
fn provisioned_throughput(list: &mut Vec<DocumentedFigure>) {
    for (kind, operations, documented) in [
        ("gp3", 4000.0, 1000.0),
        ("premium-ssd-v2", 3000.0, 750.0),
        ("premium-ssd-v2", 4000.0, 1000.0),
        ("premium-ssd-v2", 8000.0, 2000.0),
        ("ultra", 4000.0, 1000.0),
        ("ultra", 32_000.0, 8000.0),
        ("ultra", 64_000.0, 10_000.0),
    ] {
        let name = format!("{kind},iops={operations}");
        let figures = [
            documented,
            most(kind, 1024, Some(operations)),
            f64::INFINITY,
        ];
        list.push(accounts(&name, "most throughput", figures));
    }
    for (kind, operations, documented) in [
        ("io1", 2000, 500.0),
        ("io1", 32_000, 500.0),
        ("io1", 48_000, 750.0),
        ("io1", 64_000, 1000.0),
        ("io2", 16_000, 4000.0),
        ("hyperdisk-extreme", 1000, 250.0),
        ("hyperdisk-extreme", 350_000, 5000.0),
    ] {
        let name = format!("{kind},size=2000,iops={operations}");
        let setting = VolumeSetting {
            gib: 2000,
            operations: Some(operations),
            throughput: None,
        };
        let file = volume(kind).expect("in the catalogue");
        let model = limits(&file, &setting).expect("it is sold").bytes.base as f64 / MIB;
        list.push(accounts(
            &name,
            "throughput, MiB/s",
            [documented, model, f64::INFINITY],
        ));
    }
}

/// st1: base and burst by size, and the time of a whole scan.
fn st1(list: &mut Vec<DocumentedFigure>) {
    let bursts = [
        (0.125, 31.0),
        (0.5, 125.0),
        (1.0, 250.0),
        (2.0, 500.0),
        (12.5, 500.0),
    ];
    for (tib, burst) in bursts {
        let name = format!("st1,size={}", (tib * 1024.0) as u64);
        let rates = config(&name).volume.bytes;
        let base = f64::min(tib * 40.0, 500.0);
        let model = [rates.base as f64 / MIB, rates.burst as f64 / MIB];
        list.push(accounts(&name, "base, MiB/s", [base, model[0], burst]));
        list.push(accounts(&name, "burst, MiB/s", [burst, model[1], burst]));
    }
    for (tib, hours) in [(1, 1.17), (2, 1.17), (3, 1.75), (5, 2.91)] {
        let name = format!("st1,size={}", tib * 1024);
        let mut load = VolumeLoad::new(config(&name), 1 << 20);
        let model = load.seconds_of(tib << 20) / 3600.0;
        let null = (tib as f64 * 1024.0 * 1024.0) / f64::min(tib as f64 * 250.0, 500.0) / 3600.0;
        list.push(measured(&name, "whole scan, hours", [hours, model, null]));
    }
}

/// Azure's sizes, their credit of 30 minutes, and what an idle disk accrues.
fn premium(list: &mut Vec<DocumentedFigure>) {
    let rows = [
        (4, 120.0, 25.0),
        (32, 120.0, 25.0),
        (64, 240.0, 50.0),
        (128, 500.0, 100.0),
        (256, 1100.0, 125.0),
        (512, 2300.0, 150.0),
    ];
    for (gib, operations, throughput) in rows {
        let name = format!("premium-ssd,size={gib}");
        let full = config(&name);
        let empty = config(&format!("{name},credit=0"));
        let rates = full.volume.operations;
        let model = VolumeLoad::new(empty.clone(), 4096).rate(10, 40);
        list.push(measured(
            &name,
            "provisioned, operations/s",
            [operations, model, 3500.0],
        ));
        let model = VolumeLoad::new(full.clone(), 4096).rate(1, 11);
        list.push(measured(
            &name,
            "burst, operations/s",
            [3500.0, model, 3500.0],
        ));
        let model = burst_s(&full, rates, 4096, 1.0);
        list.push(measured(&name, "burst, s", [1800.0, model, f64::INFINITY]));
        let len = 256 << 10;
        let unit = f64::from(len);
        let model = VolumeLoad::new(empty, len).rate(10, 40) * unit / 1e6;
        list.push(measured(
            &name,
            "provisioned, MB/s",
            [throughput, model, 170.0],
        ));
        let model = burst_s(&full, full.volume.bytes, len, unit);
        list.push(measured(
            &name,
            "burst of throughput, s",
            [1800.0, model, f64::INFINITY],
        ));
        let model = rates.base as f64;
        list.push(accounts(
            &name,
            "accrued idle, operations/s",
            [operations, model, 0.0],
        ));
    }
    for (gib, operations) in [(1024, 5000.0), (4096, 7500.0), (32_767, 20_000.0)] {
        let name = format!("premium-ssd,size={gib}");
        let model = VolumeLoad::new(config(&name), 4096).rate(1, 11);
        list.push(measured(
            &name,
            "provisioned, operations/s",
            [operations, model, operations],
        ));
    }
}

/// Instances of Azure under a disk that has more: what they give for ever, and for 30 minutes.
/// Persistent Disk by size: what each disk has, and for each GiB; the null is a disk of any size.
fn gcp_disks(list: &mut Vec<DocumentedFigure>) {
    for (kind, gib, operations, mib) in [
        ("pd-ssd", 100, 9000.0, 288.0),
        ("pd-ssd", 500, 21_000.0, 480.0),
        ("pd-balanced", 100, 3600.0, 168.0),
        ("pd-balanced", 500, 6000.0, 280.0),
    ] {
        let name = format!("{kind},size={gib}");
        let (limits, most) = (config(&name), config(&format!("{kind},size=60000")));
        let (limits, most) = (limits.volume, most.volume);
        let model = limits.operations.base as f64;
        let null = most.operations.base as f64;
        list.push(accounts(&name, "operations/s", [operations, model, null]));
        let (model, null) = (limits.bytes.base as f64, most.bytes.base as f64);
        list.push(accounts(&name, "MiB/s", [mib, model / MIB, null / MIB]));
    }
}

/// As Google's own gcpdiag has them: operations a second and MiB/s, the lower of reads and writes.
fn gcp_instances(list: &mut Vec<DocumentedFigure>) {
    let rows = [
        ("pd-ssd", "n2-standard-4", 15_000.0, 240.0),
        ("pd-ssd", "n2-highmem-16", 25_000.0, 1200.0),
        ("pd-ssd", "n1-standard-1", 15_000.0, 204.0),
        ("pd-ssd", "e2-medium", 10_000.0, 200.0),
        ("pd-balanced", "c2-standard-30", 8000.0, 480.0),
        ("pd-balanced", "c2d-standard-112", 15_300.0, 408.0),
        ("pd-balanced", "c3-standard-22-lssd", 20_000.0, 800.0),
        ("pd-balanced", "n2-custom-6-20480", 15_000.0, 240.0),
        ("pd-ssd", "a2-ultragpu-2g", 25_000.0, 1200.0),
        ("pd-ssd", "t2a-standard-8", 25_000.0, 800.0),
    ];
    for (volume, instance, operations, mib) in rows {
        let name = format!("{volume},size=30000,instance={instance}");
        let on_instance = config(&name);
        // The null is the volume by itself.
        let alone = config(&format!("{volume},size=30000")).volume;
        let model = VolumeLoad::new(on_instance.clone(), 4096).rate(10, 12);
        let null = alone.operations.burst as f64;
        list.push(measured(
            &name,
            "on the instance, operations/s",
            [operations, model, null],
        ));
        let len = 256 << 10;
        let model = VolumeLoad::new(on_instance, len).rate(10, 20) * f64::from(len) / MIB;
        let null = alone.bytes.burst as f64 / MIB;
        list.push(measured(
            &name,
            "on the instance, MiB/s",
            [mib, model, null],
        ));
    }
}

fn azure_instances(list: &mut Vec<DocumentedFigure>) {
    let rows = [
        ("Standard_D2s_v3", 3200.0, 48.0, 4000.0),
        ("Standard_B2s_v2", 3750.0, 85.0, 10_000.0),
        ("Standard_D2as_v5", 3750.0, 82.0, 10_000.0),
        ("Standard_E4s_v5", 6400.0, 145.0, 20_000.0),
        ("Standard_L8s_v3", 12_800.0, 290.0, 20_000.0),
    ];
    for (instance, operations, throughput, burst) in rows {
        let name = format!("premium-ssd,size=32767,instance={instance}");
        let full = config(&name);
        let empty = config(&format!("{name},credit=0"));
        let limits = full.instance.as_ref().expect("it was named").1;
        let model = VolumeLoad::new(empty.clone(), 4096).rate(10, 20);
        list.push(measured(
            &name,
            "uncached, operations/s",
            [operations, model, burst],
        ));
        let len = 256 << 10;
        let model = VolumeLoad::new(empty, len).rate(10, 40) * f64::from(len) / 1e6;
        list.push(measured(
            &name,
            "uncached, MB/s",
            [throughput, model, limits.bytes.burst as f64 / 1e6],
        ));
        let model = VolumeLoad::new(full.clone(), 4096).rate(1, 6);
        list.push(measured(
            &name,
            "uncached burst, operations/s",
            [burst, model, burst],
        ));
        if burst <= 10_000.0 {
            let model = burst_s(&full, limits.operations, 4096, 1.0);
            let figures = [1800.0, model, f64::INFINITY];
            list.push(measured(&name, "uncached burst, s", figures));
        }
    }
}

/// Every figure.
pub fn figures() -> Vec<DocumentedFigure> {
    let mut list = Vec::new();
    gp2(&mut list);
    provisioned(&mut list);
    st1(&mut list);
    premium(&mut list);
    azure_instances(&mut list);
    gcp_disks(&mut list);
    gcp_instances(&mut list);
    list
}
