//! What is held against theory: the cases, what each should give, and how they are run.

use super::closed_form::{self, Class, Finite};
use super::drive::DriveSubject;
use super::load::{Kind, Load};
use super::protocol::{Measured, Protocol, SKEWED, Subject, UNIFORM, measure};
use super::reference::{Policy, Reference, Setup};
use super::report::{Frontiers, Row, Source};
use ssdlab_base::LabError;
use ssdlab_base::parallel::all;
use std::sync::atomic::{AtomicBool, Ordering};

/// Relative error allowed against a closed form.
const TOLERANCE: f64 = 0.005;
/// The same for random victims, whose counts spread most.
const TOLERANCE_RANDOM: f64 = 0.015;
/// Relative error allowed against the reference.
const TOLERANCE_REFERENCE: f64 = 0.01;

/// One case: a drive, a load, and how long to measure.
#[derive(Clone, Debug)]
pub struct Case {
    /// The part of the suite: `uniform`, `sequential`, `skew`, `trim`.
    pub group: &'static str,
    /// The drive, in the reference's terms.
    pub setup: Setup,
    /// OP = (raw - user) / user, in per cent.
    pub op_percent: u32,
    /// The load.
    pub kind: Kind,
    /// How it is measured.
    pub protocol: Protocol,
}

/// What has a closed form under uniform load.
const WITH_LAW: [Policy; 4] = [
    Policy::Greedy,
    Policy::Fifo,
    Policy::Random,
    Policy::DChoices(4),
];

/// The skewed loads.
const SKEWS: [Kind; 6] = [
    Kind::HotCold(80, 20),
    Kind::HotCold(90, 10),
    Kind::HotCold(95, 5),
    Kind::Zipf(0.8),
    Kind::Zipf(0.99),
    Kind::Zipf(1.2),
];

/// Policies under skew; the window is a twentieth of the drive.
const UNDER_SKEW: [Policy; 6] = [
    Policy::Fifo,
    Policy::Greedy,
    Policy::Random,
    Policy::DChoices(4),
    Policy::CostBenefit,
    Policy::Windowed(50),
];

/// The cases, in order: a selection that takes a minute or so, or all.
pub fn cases(full: bool) -> Vec<Case> {
    let mut all = Vec::new();
    let (nps, ops): (&[usize], &[u32]) = if full {
        (&[32, 64, 128, 256, 512], &[7, 12, 20, 28, 50])
    } else {
        (&[32, 128], &[7, 28])
    };
    for policy in WITH_LAW {
        for &np in nps {
            for &op in ops {
                for frontiers in [Frontiers::Shared, Frontiers::Separate] {
                    all.push(case("uniform", policy, np, op, frontiers, Kind::Uniform));
                }
            }
        }
    }
    for policy in [Policy::Greedy, Policy::Fifo, Policy::CostBenefit] {
        let kind = Kind::Sequential;
        all.push(case(
            "sequential",
            policy,
            nps[1],
            7,
            Frontiers::Shared,
            kind,
        ));
    }
    for &op in if full { ops } else { &[12] } {
        for policy in UNDER_SKEW {
            for kind in SKEWS {
                let frontiers: &[Frontiers] = match kind {
                    Kind::HotCold(..) => &[Frontiers::Shared, Frontiers::HotCold],
                    _ => &[Frontiers::Shared, Frontiers::Separate],
                };
                for &frontiers in if full { frontiers } else { &frontiers[..1] } {
                    all.push(case("skew", policy, 32, op, frontiers, kind));
                }
            }
        }
    }
    for policy in WITH_LAW {
        for &op in if full { ops } else { &[7] } {
            for trims in [10, 30] {
                let mut case = case("trim", policy, 32, op, Frontiers::Separate, Kind::Uniform);
                case.protocol.trims = trims;
                all.push(case);
            }
        }
    }
    for case in &mut all {
        case.protocol.batches_max = if full { 200 } else { 40 };
    }
    all
}

fn case(
    group: &'static str,
    policy: Policy,
    np: usize,
    op_percent: u32,
    frontiers: Frontiers,
    kind: Kind,
) -> Case {
    let blocks = 1000;
    Case {
        group,
        setup: Setup {
            blocks,
            np,
            logical_pages: blocks * np * 100 / (100 + op_percent as usize),
            // The least that a drive with one stream, or with two, runs on.
            reserve: if frontiers == Frontiers::HotCold {
                5
            } else {
                3
            },
            open: 1,
            streams: if frontiers == Frontiers::HotCold {
                2
            } else {
                1
            },
            separate: frontiers != Frontiers::Shared,
            policy,
            seed: 1,
        },
        op_percent,
        kind,
        protocol: if group == "skew" { SKEWED } else { UNIFORM },
    }
}

/// What a case should give.
#[derive(Clone, Copy, Debug)]
struct Expected {
    alpha_eff: f64,
    wa: f64,
    source: Source,
    tolerance: f64,
}

impl Case {
    /// The reference for this case.
    pub fn reference(&self) -> Reference {
        let load = Load::new(self.kind, self.setup.logical_pages, 1);
        let streams = self.setup.streams;
        let stream = |lpn| if streams > 1 { load.is_cold(lpn) } else { 0 };
        Reference::new(self.setup.clone(), stream)
    }

    /// The modelled drive for this case, without time.
    ///
    /// # Errors
    /// When the drive model refuses the setup.
    pub fn drive(&self) -> Result<DriveSubject, LabError> {
        let load = Load::new(self.kind, self.setup.logical_pages, 1);
        let streams = self.setup.streams;
        let stream = |lpn| if streams > 1 { load.is_cold(lpn) } else { 0 };
        DriveSubject::new(&self.setup, stream)
    }

    /// Runs the case on `subject`, which is empty.
    pub fn measure(&self, subject: &mut impl Subject) -> Measured {
        measure(subject, self.kind, self.setup.logical_pages, self.protocol)
    }

    /// Runs the case on the modelled drive, which checks itself afterwards.
    ///
    /// # Errors
    /// When the drive model refuses the setup, or the self-check fails.
    pub fn measure_drive(&self) -> Result<Measured, LabError> {
        let mut drive = self.drive()?;
        let measured = self.measure(&mut drive);
        drive.drive().check().map_err(LabError::SelfCheck)?;
        Ok(measured)
    }

    /// Whether a law gives the expected value; otherwise the reference simulator does.
    pub fn has_law(&self) -> bool {
        let one_frontier = !self.setup.separate && self.setup.streams == 1;
        match (self.kind, self.setup.policy) {
            (Kind::Sequential, _) | (_, Policy::Random) => true,
            (Kind::Uniform, policy) => WITH_LAW.contains(&policy),
            (_, policy) => policy == Policy::Fifo && one_frontier,
        }
    }

    /// The row of what was measured.
    pub fn row(&self, measured: Measured) -> Row {
        let expected = self.expected(measured.in_use);
        let setup = &self.setup;
        Row {
            group: self.group.to_owned(),
            policy: policy_title(setup.policy),
            load: self.load_title(),
            frontiers: match (setup.streams, setup.separate) {
                (1, false) => Frontiers::Shared,
                (1, true) => Frontiers::Separate,
                _ => Frontiers::HotCold,
            },
            op: f64::from(self.op_percent),
            np: setup.np as u32,
            n: setup.blocks as u32,
            r: setup.reserve as u32,
            k: setup.open as u32,
            alpha_eff: expected.alpha_eff,
            expected: expected.wa,
            source: expected.source,
            measured: measured.wa,
            tolerance: expected.tolerance,
            ci: measured.ci,
        }
    }

    fn expected(&self, in_use: f64) -> Expected {
        let drive = self.finite(in_use);
        if self.kind == Kind::Sequential {
            return Expected {
                alpha_eff: drive.alpha_eff(1.0),
                wa: 1.0,
                source: Source::Exact,
                tolerance: 0.0,
            };
        }
        if !self.has_law() {
            let wa = self.measure(&mut self.reference()).wa;
            return Expected {
                alpha_eff: drive.alpha_eff(wa),
                wa,
                source: Source::Reference,
                tolerance: TOLERANCE_REFERENCE,
            };
        }
        let classes = self.classes();
        let np = drive.np;
        let prediction = drive.predict(|alpha| match self.setup.policy {
            Policy::Greedy => closed_form::greedy(alpha, np),
            Policy::Random => closed_form::random(alpha),
            Policy::DChoices(d) => closed_form::d_choices(alpha, np, d),
            _ => closed_form::fifo_skewed(alpha, &classes),
        });
        let random = self.setup.policy == Policy::Random;
        Expected {
            alpha_eff: prediction.alpha_eff,
            wa: prediction.wa,
            source: Source::ClosedForm,
            tolerance: if random { TOLERANCE_RANDOM } else { TOLERANCE },
        }
    }

    /// The load as FIFO's law sees it.
    fn classes(&self) -> Vec<Class> {
        let share = |percent: u32| f64::from(percent) / 100.0;
        match self.kind {
            Kind::HotCold(writes, pages) => {
                closed_form::hot_cold(share(writes), share(pages)).to_vec()
            }
            Kind::Zipf(theta) => closed_form::zipf(self.setup.logical_pages as u64, theta),
            Kind::Uniform | Kind::Sequential => vec![Class {
                writes: 1.0,
                pages: 1.0,
            }],
        }
    }

    fn finite(&self, in_use: f64) -> Finite {
        Finite {
            blocks: self.setup.blocks as u32,
            np: self.setup.np as u32,
            logical_pages: (self.setup.logical_pages as f64 * in_use).round() as u64,
            reserve: self.setup.reserve as u32,
            open: (self.setup.open * self.setup.streams) as u32,
            separate: self.setup.separate,
        }
    }

    fn load_title(&self) -> String {
        match self.kind {
            Kind::Uniform if self.protocol.trims > 0 => format!("{} % trims", self.protocol.trims),
            Kind::Uniform => "uniform".to_owned(),
            Kind::HotCold(writes, pages) => format!("{writes}/{pages}"),
            Kind::Zipf(theta) => format!("Zipf {theta}"),
            Kind::Sequential => "sequential".to_owned(),
        }
    }
}

/// A policy's name with its parameter.
fn policy_title(policy: Policy) -> String {
    match policy {
        Policy::Greedy => "greedy".to_owned(),
        Policy::Fifo => "FIFO".to_owned(),
        Policy::Random => "random".to_owned(),
        Policy::DChoices(d) => format!("d-choices {d}"),
        Policy::CostBenefit => "cost-benefit".to_owned(),
        Policy::Windowed(w) => format!("windowed greedy {w}"),
    }
}

/// Measures every case with `measure` on `threads` threads; rows in the order of the cases, those
/// not begun when `stop` was set left out. `done` gets each row as it comes.
///
/// # Errors
/// The first error of `measure`, a failed self-check among them.
pub fn run(
    cases: &[Case],
    threads: usize,
    stop: &AtomicBool,
    measure: impl Fn(&Case) -> Result<Measured, LabError> + Sync,
    done: impl Fn(&Row) + Sync,
) -> Result<Vec<Row>, LabError> {
    let rows = all(cases, threads.max(1), |case| {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let row = case.row(measure(case)?);
        done(&row);
        Ok(Some(row))
    })?;
    Ok(rows.into_iter().flatten().collect())
}
