//! Many lives: a full grid of parameters, over all cores. A point's result depends on its plan
//! alone, and results come in the grid's order, so that the number of threads does not show.

use super::SimulationPlan;
use super::life::{NullLifeObserver, live};
use super::result::{LoadLatency, Simulation};
use comfy_table::{ContentArrangement, Table, presets};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_base::parallel;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::settings;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_view::units;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most points of a grid.
pub const POINTS_MAX: usize = 1_000_000;

/// A parameter and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    key: String,
    values: Vec<String>,
}

impl Dimension {
    /// Reads `key=value,value`.
    ///
    /// # Errors
    /// When there is no such parameter, or a value is of another form.
    pub fn parse(text: &str) -> Result<Dimension, LabError> {
        let bad = |allowed: &str| LabError::BadValue {
            option: "--sweep".into(),
            given: text.into(),
            allowed: allowed.into(),
            place: InputLocation::command_line(),
            hint: format!(
                "such as --sweep op=7%,28%; besides the drive's parameters: {}",
                SimulationPlan::KEYS.join(", ")
            ),
        };
        let (key, values) = text
            .split_once('=')
            .ok_or_else(|| bad("key=value,value,... is allowed"))?;
        let key = key.trim();
        let values: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) {
            return Err(bad("values that are not empty are allowed"));
        }
        if SimulationPlan::KEYS.contains(&key) {
            return Ok(Dimension {
                key: key.into(),
                values,
            });
        }
        let settings = values.iter().map(|value| DriveSetting::new(key, value));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        Ok(Dimension {
            key: settings[0].key().into(),
            values,
        })
    }
}

/// One point of the grid.
#[derive(Clone, Debug)]
pub struct LifeGridPoint {
    /// Value of each dimension, in their order.
    pub values: Vec<String>,
    /// Life at that point.
    pub plan: SimulationPlan,
}

/// A grid of lives.
#[derive(Clone, Debug)]
pub struct LifeGrid {
    /// Names of the dimensions.
    pub keys: Vec<String>,
    /// Points; the last dimension changes fastest.
    pub points: Vec<LifeGridPoint>,
}

/// Result of a point's life.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LifeGridRow {
    /// Value of each dimension.
    pub values: Vec<String>,
    /// Its result; `None` when it was stopped before its end.
    pub simulation: Option<Simulation>,
}

impl LifeGrid {
    /// Every combination of `dimensions`, on `drive` with `base` settings under it.
    ///
    /// # Errors
    /// When a point is impossible, with its values; nothing has run then.
    pub fn new(
        drive: &CatalogueDrive,
        base: &[DriveSetting],
        plan: &SimulationPlan,
        dimensions: &[Dimension],
    ) -> Result<LifeGrid, LabError> {
        let product = |n: usize, d: &Dimension| n.saturating_mul(d.values.len());
        let count = dimensions.iter().fold(1, product);
        if count > POINTS_MAX {
            return Err(LabError::refused(
                format!("a grid of {count} points: up to {POINTS_MAX} are allowed"),
                "sweep fewer values",
            ));
        }
        let mut points = Vec::with_capacity(count);
        for index in 0..count {
            let mut remainder = index;
            let mut values = Vec::with_capacity(dimensions.len());
            for dimension in dimensions.iter().rev() {
                values.push(dimension.values[remainder % dimension.values.len()].clone());
                remainder /= dimension.values.len();
            }
            values.reverse();
            points.push(point(drive, base, plan, dimensions, values)?);
        }
        Ok(LifeGrid {
            keys: dimensions.iter().map(|d| d.key.clone()).collect(),
            points,
        })
    }

    /// Lives all points on `jobs` threads; `done` hears of each that has ended. Rows come in the
    /// grid's order.
    ///
    /// # Errors
    /// When `jobs` lives at once do not fit in memory, or a point is impossible.
    pub fn run(
        &self,
        jobs: usize,
        stop: &AtomicBool,
        mut on_row: impl FnMut(&LifeGridRow),
    ) -> Result<Vec<LifeGridRow>, LabError> {
        let jobs = jobs.clamp(1, self.points.len().max(1));
        let needs = |p: &&LifeGridPoint| p.plan.config.memory_bytes();
        if let Some(largest) = self.points.iter().max_by_key(needs) {
            let needed = needs(&largest);
            refuse_if_too_big(&largest.plan.name, needed, jobs as u64)?;
        }
        let mut rows: Vec<Option<LifeGridRow>> = self.points.iter().map(|_| None).collect();
        let mut failed = None;
        let work = |point: &LifeGridPoint| simulated(point, stop);
        parallel::each(&self.points, jobs, work, |index, outcome| match outcome {
            Ok(None) => {}
            Ok(Some(simulation)) => {
                let values = self.points[index].values.clone();
                let simulation = (!simulation.stopped).then_some(*simulation);
                let row = LifeGridRow { values, simulation };
                on_row(&row);
                rows[index] = Some(row);
            }
            Err(error) => {
                failed = Some(error);
                stop.store(true, Ordering::Relaxed);
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let not_lived = |(point, row): (&LifeGridPoint, Option<LifeGridRow>)| {
            row.unwrap_or_else(|| LifeGridRow {
                values: point.values.clone(),
                simulation: None,
            })
        };
        Ok(self.points.iter().zip(rows).map(not_lived).collect())
    }
}

/// Simulates a point; `None` when all is to stop.
fn simulated(
    point: &LifeGridPoint,
    stop: &AtomicBool,
) -> Result<Option<Box<Simulation>>, LabError> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let lived = live(&point.plan, None, &mut NullLifeObserver, stop)?;
    Ok(Some(Box::new(lived.simulation)))
}

fn point(
    drive: &CatalogueDrive,
    base: &[DriveSetting],
    plan: &SimulationPlan,
    dimensions: &[Dimension],
    values: Vec<String>,
) -> Result<LifeGridPoint, LabError> {
    let mut overrides = base.to_vec();
    let mut plan = plan.clone();
    for (dimension, value) in dimensions.iter().zip(&values) {
        if SimulationPlan::KEYS.contains(&dimension.key.as_str()) {
            plan.set(&dimension.key, value)?;
        } else {
            overrides.push(DriveSetting::new(&dimension.key, value)?);
        }
    }
    let changed = settings::apply(drive, &overrides)?;
    plan.settings = overrides.iter().map(DriveSetting::to_string).collect();
    let plan = plan.on(&changed);
    plan.validate()?;
    Ok(LifeGridPoint { values, plan })
}

/// Columns of the CSV after the dimensions.
const COLUMNS: &str = "waf,waf_last_quarter,iops,iops_last_quarter,read_p50_ns,read_p99_ns,\
                       read_p999_ns,write_p50_ns,write_p99_ns,write_p999_ns,n,np,r,k,op_nominal,\
                       op_effective,spare_factor,erases_min,erases_mean,erases_max,host_bytes,\
                       virtual_s,self_check";

/// The rows as CSV, one line each; what was not measured is empty.
pub fn csv(keys: &[String], rows: &[LifeGridRow]) -> String {
    let mut text = format!("{},{COLUMNS}\n", keys.join(","));
    for row in rows {
        let mut cells = row.values.clone();
        match &row.simulation {
            Some(simulation) => cells.extend(columns(simulation)),
            None => cells.push(",".repeat(COLUMNS.matches(',').count())),
        }
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

fn of<'a>(s: &'a Simulation, op: &str) -> Option<&'a LoadLatency> {
    s.latency.iter().find(|l| l.op == op)
}

fn columns(s: &Simulation) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let three = |op: &str| {
        let l = of(s, op);
        let quantiles = [
            l.map(|l| l.p50_ns),
            l.map(|l| l.p99_ns),
            l.map(|l| l.p999_ns),
        ];
        quantiles.map(|ns| ns.map_or(String::new(), |ns| ns.to_string()))
    };
    let mut cells = vec![
        number(s.waf),
        number(s.waf_last_quarter),
        number(s.iops),
        number(s.iops_last_quarter),
    ];
    cells.extend(three("read"));
    cells.extend(three("write"));
    let d = &s.drive;
    let drive = [
        d.superblocks,
        d.slots_per_superblock,
        d.free_superblocks_low,
        d.open_superblocks,
    ];
    cells.extend(drive.map(|n| n.to_string()));
    cells.extend([d.op_nominal, d.op_effective, d.spare_factor].map(|x| x.to_string()));
    cells.push(s.erases.min.to_string());
    cells.push(s.erases.mean.to_string());
    cells.push(s.erases.max.to_string());
    cells.push(s.host_bytes.to_string());
    cells.push(number(s.virtual_s));
    let failures = s.failures();
    cells.push(
        if failures.is_empty() {
            "passed"
        } else {
            "failed"
        }
        .into(),
    );
    cells
}

/// The rows as a table of at most 80 columns. WAF and IOPS are of the load's last quarter.
pub fn table(keys: &[String], rows: &[LifeGridRow]) -> String {
    let timed = rows
        .iter()
        .filter_map(|row| row.simulation.as_ref())
        .any(|s| s.iops.is_some());
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(80);
    let short = |key: &String| key.rsplit('.').next().unwrap_or(key).to_owned();
    let mut head: Vec<String> = keys.iter().map(short).collect();
    head.extend(["WAF", "OP eff."].map(String::from));
    if timed {
        head.extend(["IOPS", "write p50", "p99.9"].map(String::from));
    }
    table.set_header(head);
    for row in rows {
        let mut cells = row.values.clone();
        let Some(s) = &row.simulation else {
            cells.push("not run".into());
            table.add_row(cells);
            continue;
        };
        let failed = if s.failures().is_empty() {
            ""
        } else {
            " FAILED"
        };
        let waf = s.waf_last_quarter.or(s.waf);
        cells.push(super::summary::waf(waf) + failed);
        cells.push(format!("{:.1} %", s.drive.op_effective * 100.0));
        if timed {
            let iops = s.iops_last_quarter.or(s.iops);
            let write = |ns: fn(&LoadLatency) -> u64| {
                of(s, "write").map_or(units::NOTHING.into(), |l| units::time(ns(l)))
            };
            cells.push(iops.map_or(units::NOTHING.into(), units::rate));
            cells.push(write(|l| l.p50_ns));
            cells.push(write(|l| l.p999_ns));
        }
        table.add_row(cells);
    }
    table.to_string()
}
