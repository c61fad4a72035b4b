//! What is held against theory: the cases, what each should give, and how they are run.

use super::buffered::BufferedReference;
use super::closed_form::{self, BufferedPages, FiniteDrive, PageClass};
use super::drive::DriveSubject;
use super::load::{PagePattern, PageStream};
use super::protocol::{MeasuredWa, Protocol, SKEWED, TheorySubject, UNIFORM, measure};
use super::reference::{ReferenceDrive, ReferencePolicy, ReferenceSetup};
use super::report::{ExpectationSource, FrontierSplit, TheoryRow};
use ssdlab_base::LabError;
use ssdlab_base::parallel::all;
use std::sync::atomic::{AtomicBool, Ordering};

/// Group of the settings that a seed drew.
pub const DRAWN: &str = "drawn";

/// Relative error allowed against a closed form.
const TOLERANCE: f64 = 0.005;
/// The same for random victims, whose counts spread most.
const TOLERANCE_RANDOM: f64 = 0.015;
/// Relative error allowed against the reference.
const TOLERANCE_REFERENCE: f64 = 0.01;

/// One case: a drive, a load, and how long to measure.
#[derive(Clone, Debug)]
pub struct TheoryCase {
    /// The part of the suite: `uniform`, `sequential`, `skew`, `trim`.
    pub group: &'static str,
    /// The drive, in the reference's terms.
    pub setup: ReferenceSetup,
    /// OP = (raw - user) / user, in per cent.
    pub op_percent: u32,
    /// The load.
    pub kind: PagePattern,
    /// Pages of the write buffer of each stream; 0: every write is written through.
    pub buffer: usize,
    /// How it is measured.
    pub protocol: Protocol,
}

/// What has a closed form under uniform load.
const WITH_LAW: [ReferencePolicy; 4] = [
    ReferencePolicy::Greedy,
    ReferencePolicy::Fifo,
    ReferencePolicy::Random,
    ReferencePolicy::DChoices(4),
];

/// The skewed loads.
const SKEWS: [PagePattern; 6] = [
    PagePattern::HotCold(80, 20),
    PagePattern::HotCold(90, 10),
    PagePattern::HotCold(95, 5),
    PagePattern::Zipf(0.8),
    PagePattern::Zipf(0.99),
    PagePattern::Zipf(1.2),
];

/// Policies under skew; the window is a twentieth of the drive.
const UNDER_SKEW: [ReferencePolicy; 6] = [
    ReferencePolicy::Fifo,
    ReferencePolicy::Greedy,
    ReferencePolicy::Random,
    ReferencePolicy::DChoices(4),
    ReferencePolicy::CostBenefit,
    ReferencePolicy::Windowed(50),
];

/// The cases, in order: a selection that takes a minute or so, or all.
pub fn cases(full: bool) -> Vec<TheoryCase> {
    let mut cases = Vec::new();
    let (nps, ops): (&[usize], &[u32]) = if full {
        (&[32, 64, 128, 256, 512], &[7, 12, 20, 28, 50])
    } else {
        (&[32, 128], &[7, 28])
    };
    for policy in WITH_LAW {
        for &np in nps {
            for &op in ops {
                for frontiers in [FrontierSplit::Shared, FrontierSplit::Separate] {
                    cases.push(case(
                        "uniform",
                        policy,
                        np,
                        op,
                        frontiers,
                        PagePattern::Uniform,
                    ));
                }
            }
        }
    }
    for policy in [
        ReferencePolicy::Greedy,
        ReferencePolicy::Fifo,
        ReferencePolicy::CostBenefit,
    ] {
        let kind = PagePattern::Sequential;
        let frontiers = FrontierSplit::Shared;
        cases.push(case("sequential", policy, nps[1], 7, frontiers, kind));
    }
    for &op in if full { ops } else { &[12] } {
        for policy in UNDER_SKEW {
            for kind in SKEWS {
                let frontiers: &[FrontierSplit] = match kind {
                    PagePattern::HotCold(..) => &[FrontierSplit::Shared, FrontierSplit::HotCold],
                    _ => &[FrontierSplit::Shared, FrontierSplit::Separate],
                };
                for &frontiers in if full { frontiers } else { &frontiers[..1] } {
                    cases.push(case("skew", policy, 32, op, frontiers, kind));
                }
            }
        }
    }
    for policy in WITH_LAW {
        for &op in if full { ops } else { &[7] } {
            for trims in [10, 30] {
                let frontiers = FrontierSplit::Separate;
                let mut case = case("trim", policy, 32, op, frontiers, PagePattern::Uniform);
                case.protocol.trims = trims;
                cases.push(case);
            }
        }
    }
    for case in &mut cases {
        case.protocol.batches_max = if full { 200 } else { 40 };
    }
    cases
}

fn case(
    group: &'static str,
    policy: ReferencePolicy,
    np: usize,
    op_percent: u32,
    frontiers: FrontierSplit,
    kind: PagePattern,
) -> TheoryCase {
    let blocks = 1000;
    TheoryCase {
        group,
        setup: ReferenceSetup {
            blocks,
            np,
            logical_pages: blocks * np * 100 / (100 + op_percent as usize),
            // The least that a drive with one stream, or with two, runs on.
            reserve: if frontiers == FrontierSplit::HotCold {
                5
            } else {
                3
            },
            open: 1,
            streams: if frontiers == FrontierSplit::HotCold {
                2
            } else {
                1
            },
            separate: frontiers != FrontierSplit::Shared,
            policy,
            seed: 1,
        },
        op_percent,
        kind,
        buffer: 0,
        protocol: if group == "skew" { SKEWED } else { UNIFORM },
    }
}

/// What a case should give.
#[derive(Clone, Copy, Debug)]
struct TheoryExpectation {
    alpha_eff: f64,
    wa: f64,
    source: ExpectationSource,
    tolerance: f64,
}

impl TheoryCase {
    /// The reference for this case.
    pub fn reference(&self) -> ReferenceDrive {
        let load = PageStream::new(self.kind, self.setup.logical_pages, 1);
        let streams = self.setup.streams;
        let stream = |lpn| if streams > 1 { load.is_cold(lpn) } else { 0 };
        ReferenceDrive::new(self.setup.clone(), stream)
    }

    /// Runs the case on the reference, behind a buffer where the case has one.
    fn measure_reference(&self) -> MeasuredWa {
        if self.buffer == 0 {
            return self.measure(&mut self.reference());
        }
        let pages = self.setup.logical_pages;
        let load = PageStream::new(self.kind, pages, 1);
        let stream = |lpn| match self.setup.streams {
            1 => 0,
            _ => load.is_cold(lpn),
        };
        let streams = (0..pages).map(stream).collect();
        let drive = self.reference();
        self.measure(&mut BufferedReference::new(drive, streams, self.buffer))
    }

    /// The modelled drive for this case, without time.
    ///
    /// # Errors
    /// When the drive model refuses the setup.
    pub fn drive(&self) -> Result<DriveSubject, LabError> {
        let load = PageStream::new(self.kind, self.setup.logical_pages, 1);
        let streams = self.setup.streams;
        let stream = |lpn| if streams > 1 { load.is_cold(lpn) } else { 0 };
        DriveSubject::new(&self.setup, self.buffer, stream)
    }

    /// Runs the case on `subject`, which is empty.
    pub fn measure(&self, subject: &mut impl TheorySubject) -> MeasuredWa {
        measure(subject, self.kind, self.setup.logical_pages, self.protocol)
    }

    /// Runs the case on the modelled drive, which checks itself afterwards.
    ///
    /// # Errors
    /// When the drive model refuses the setup, or the self-check fails.
    pub fn measure_drive(&self) -> Result<MeasuredWa, LabError> {
        let mut drive = self.drive()?;
        let measured = self.measure(&mut drive);
        drive.drive().check().map_err(LabError::SelfCheck)?;
        Ok(measured)
    }

    /// Whether a law gives the expected value; otherwise the reference simulator does.
    pub fn has_law(&self) -> bool {
        let one_frontier = !self.setup.separate && self.setup.streams == 1;
        match (self.kind, self.setup.policy) {
            (PagePattern::Sequential, _) | (_, ReferencePolicy::Random) => true,
            // Behind a buffer a copy stays valid while its successor waits: lifetimes have a
            // memory, which only the law of FIFO knows of.
            (PagePattern::Uniform, policy) if self.buffer == 0 => WITH_LAW.contains(&policy),
            (PagePattern::Uniform, policy) => policy == ReferencePolicy::Fifo,
            (_, policy) => policy == ReferencePolicy::Fifo && one_frontier,
        }
    }

    /// The row of what was measured.
    pub fn row(&self, measured: MeasuredWa) -> TheoryRow {
        let expected = self.expected(measured.in_use);
        let setup = &self.setup;
        TheoryRow {
            group: self.group.to_owned(),
            policy: policy_title(setup.policy),
            load: self.load_title(),
            frontiers: match (setup.streams, setup.separate) {
                (1, false) => FrontierSplit::Shared,
                (1, true) => FrontierSplit::Separate,
                _ => FrontierSplit::HotCold,
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

    fn expected(&self, in_use: f64) -> TheoryExpectation {
        let drive = self.finite(in_use);
        if self.kind == PagePattern::Sequential {
            return TheoryExpectation {
                alpha_eff: drive.alpha_eff(1.0),
                wa: 1.0,
                source: ExpectationSource::Exact,
                tolerance: 0.0,
            };
        }
        if !self.has_law() {
            let wa = self.measure_reference().wa;
            return TheoryExpectation {
                alpha_eff: drive.alpha_eff(wa),
                wa,
                source: ExpectationSource::Reference,
                tolerance: if self.group == DRAWN {
                    TOLERANCE
                } else {
                    TOLERANCE_REFERENCE
                },
            };
        }
        let classes = self.classes();
        let pages = BufferedPages::new(&classes, drive.logical_pages, self.buffer);
        let np = drive.np;
        let prediction = drive.predict(|alpha| match self.setup.policy {
            ReferencePolicy::Greedy => closed_form::greedy(alpha, np),
            ReferencePolicy::Random => closed_form::random(alpha),
            ReferencePolicy::DChoices(d) => closed_form::d_choices(alpha, np, d),
            _ if self.buffer == 0 => closed_form::fifo_skewed(alpha, &classes),
            _ => pages.fifo(alpha),
        });
        let random = self.setup.policy == ReferencePolicy::Random;
        TheoryExpectation {
            alpha_eff: prediction.alpha_eff,
            wa: prediction.wa,
            source: ExpectationSource::ClosedForm,
            tolerance: if random && self.group != DRAWN {
                TOLERANCE_RANDOM
            } else {
                TOLERANCE
            },
        }
    }

    /// The load as FIFO's law sees it.
    fn classes(&self) -> Vec<PageClass> {
        let share = |percent: u32| f64::from(percent) / 100.0;
        match self.kind {
            PagePattern::HotCold(writes, pages) => {
                closed_form::hot_cold(share(writes), share(pages)).to_vec()
            }
            PagePattern::Zipf(theta) => closed_form::zipf(self.setup.logical_pages as u64, theta),
            PagePattern::Uniform | PagePattern::Sequential => vec![PageClass {
                writes: 1.0,
                pages: 1.0,
            }],
        }
    }

    fn finite(&self, in_use: f64) -> FiniteDrive {
        FiniteDrive {
            blocks: self.setup.blocks as u32,
            np: self.setup.np as u32,
            logical_pages: (self.setup.logical_pages as f64 * in_use).round() as u64,
            reserve: self.setup.reserve as u32,
            open: (self.setup.open * self.setup.streams) as u32,
            separate: self.setup.separate,
        }
    }

    fn load_title(&self) -> String {
        let buffer = match self.buffer {
            0 => String::new(),
            pages => format!(", buffer {pages}"),
        };
        self.pattern_title() + &buffer
    }

    fn pattern_title(&self) -> String {
        match self.kind {
            PagePattern::Uniform if self.protocol.trims > 0 => {
                format!("{} % trims", self.protocol.trims)
            }
            PagePattern::Uniform => "uniform".to_owned(),
            PagePattern::HotCold(writes, pages) => format!("{writes}/{pages}"),
            PagePattern::Zipf(theta) => format!("Zipf {theta}"),
            PagePattern::Sequential => "sequential".to_owned(),
        }
    }
}

/// A policy's name with its parameter.
fn policy_title(policy: ReferencePolicy) -> String {
    match policy {
        ReferencePolicy::Greedy => "greedy".to_owned(),
        ReferencePolicy::Fifo => "FIFO".to_owned(),
        ReferencePolicy::Random => "random".to_owned(),
        ReferencePolicy::DChoices(d) => format!("d-choices {d}"),
        ReferencePolicy::CostBenefit => "cost-benefit".to_owned(),
        ReferencePolicy::Windowed(w) => format!("windowed greedy {w}"),
    }
}

/// Measures every case with `measure` on `threads` threads; rows in the order of the cases, those
/// not begun when `stop` was set left out. `done` gets each row as it comes.
///
/// # Errors
/// The first error of `measure`, a failed self-check among them.
pub fn run(
    cases: &[TheoryCase],
    threads: usize,
    stop: &AtomicBool,
    measure: impl Fn(&TheoryCase) -> Result<MeasuredWa, LabError> + Sync,
    on_row: impl Fn(&TheoryRow) + Sync,
) -> Result<Vec<TheoryRow>, LabError> {
    let rows = all(cases, threads.max(1), |case| {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let row = case.row(measure(case)?);
        on_row(&row);
        Ok(Some(row))
    })?;
    Ok(rows.into_iter().flatten().collect())
}
