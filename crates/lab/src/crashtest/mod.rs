//! Does an application survive power cuts? One run is recorded, played on a modelled drive, cut at
//! many instants, recovered, and checked.
//!
//! ```text
//!  application --Disk--> Stream --Player--> drive --fork at each cut--> recovery --> verdict
//!                                                                          |
//!                             History: what each sector may read as -------+--- the check
//! ```
//! A failed check is the application's fault when the drive kept its promises, and the drive's
//! when it did not; both are looked at after every cut. See `docs/crashtest.md`; the example
//! `wal` tests a write-ahead log in some sixty lines.
//!
//! ```
//! use ssdlab_lab::crashtest::{BlockDevice, Campaign, Cuts, Disk};
//!
//! let campaign = Campaign::new(ssdlab_ssd::DriveConfig::tiny()).cuts(Cuts::Exhaustive);
//! let mut disk = campaign.disk();
//! disk.write(0, &[7; 512], false).unwrap();
//! disk.flush().unwrap();
//! disk.mark("seven");
//! let report = campaign.run(&disk.into_stream(), |drive| {
//!     let mut sector = [0; 512];
//!     drive.read(0, &mut sector).map_err(|error| error.to_string())?;
//!     match (drive.marks().len(), sector[0]) {
//!         (1, 7) | (0, 0 | 7) => Ok(()),
//!         (marks, found) => Err(format!("{marks} marks, found {found}")),
//!     }
//! });
//! report.unwrap().assert_passed();
//! ```

mod cuts;
mod history;
mod minimise;
mod player;
mod report;
mod stream;

pub use cuts::{Cuts, Token};
pub use history::{BROKEN_MAX, History, Look, Piece, Reached};
pub use player::{Aftermath, CutPoint, Player, Span};
pub use report::{Breach, CutResult, LostWrite, Minimal, Report, Verdict, details, place};
pub use stream::{BlockDevice, Disk, Mark, Recorded, Stream};

use crate::LabError;
use minimise::Missing;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::{DataDrive, DataError, Fault, FaultKind, Power, PowerDrive};
use ssdlab_ssd::image::{Image, Writer};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use twox_hash::XxHash3_64;

/// Cuts that are blamed on single faults, and checks of the minimiser, unless told otherwise.
const BLAMED_MAX: usize = 3;
const CHECKS_MAX: usize = 500;

/// What a cut has left, for a check to look at, and to write to as a file system would.
#[derive(Debug)]
pub struct Recovered {
    drive: DataDrive,
    marks: Vec<String>,
}

impl Recovered {
    /// What the application took for acknowledged before the cut.
    pub fn marks(&self) -> &[String] {
        &self.marks
    }

    /// The last of them.
    pub fn last_mark(&self) -> Option<&str> {
        self.marks.last().map(String::as_str)
    }

    /// The drive.
    pub fn drive(&self) -> &DataDrive {
        &self.drive
    }

    /// The drive alone, and the marks.
    pub fn into_parts(self) -> (DataDrive, Vec<String>) {
        (self.drive, self.marks)
    }
}

impl BlockDevice for Recovered {
    fn capacity(&self) -> u64 {
        self.drive.capacity()
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DataError> {
        self.drive.read(offset, bytes).map(drop)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), DataError> {
        self.drive.write(offset, bytes, fua).map(drop)
    }

    fn flush(&mut self) -> Result<(), DataError> {
        self.drive.flush().map(drop)
    }

    fn trim(&mut self, offset: u64, len: u64) -> Result<(), DataError> {
        self.drive.trim(offset, len).map(drop)
    }

    fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<(), DataError> {
        self.drive.write_zeroes(offset, len, fua).map(drop)
    }
}

/// Which drive, which cuts, and how thoroughly failures are looked into.
#[derive(Clone, Debug)]
pub struct Campaign {
    config: DriveConfig,
    power: Power,
    cuts: Cuts,
    jobs: usize,
    checks_max: usize,
}

/// A check of a recovered drive; an error or a panic fails it.
pub trait Check: Fn(&mut Recovered) -> Result<(), String> + Sync {}
impl<F: Fn(&mut Recovered) -> Result<(), String> + Sync> Check for F {}

impl Campaign {
    /// On a factory-fresh, honest drive, 200 random cuts of seed 1, on all cores.
    pub fn new(config: DriveConfig) -> Campaign {
        Campaign {
            config,
            power: Power::default(),
            cuts: Cuts::Random {
                count: 200,
                seed: 1,
            },
            jobs: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            checks_max: CHECKS_MAX,
        }
    }

    /// With these instants.
    pub fn cuts(mut self, cuts: Cuts) -> Campaign {
        self.cuts = cuts;
        self
    }

    /// With this wrong with the drive.
    pub fn faults(mut self, faults: &[Fault]) -> Campaign {
        self.power.faults = faults.to_vec();
        self
    }

    /// With so many threads. Results are the same with any number.
    pub fn jobs(mut self, jobs: usize) -> Campaign {
        self.jobs = jobs.max(1);
        self
    }

    /// With at most so many checks for the smallest set of lost writes; 0: do not look for it.
    pub fn checks_max(mut self, checks: usize) -> Campaign {
        self.checks_max = checks;
        self
    }

    /// A device of the drive's size to record on.
    pub fn disk(&self) -> Disk {
        Disk::new(&self.config)
    }

    /// Runs `workload` on a device that records.
    ///
    /// # Errors
    /// As the workload.
    pub fn record<E>(
        &self,
        workload: impl FnOnce(&mut Disk) -> Result<(), E>,
    ) -> Result<Stream, E> {
        let mut disk = self.disk();
        workload(&mut disk)?;
        Ok(disk.into_stream())
    }

    /// Plays, cuts, recovers and checks, at every instant chosen.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn run(&self, stream: &Stream, check: impl Check) -> Result<Report, LabError> {
        let run = self.prepare(stream)?;
        let points = run.points(self.cuts);
        let results = run.judge_all(&points, &check, &|_| ());
        Ok(run.report(results, &check))
    }

    /// Runs one cut again, as its token says.
    ///
    /// # Errors
    /// When the token is of another stream, drive or faults, or the drive is impossible.
    pub fn replay(
        &self,
        stream: &Stream,
        token: &Token,
        check: impl Check,
    ) -> Result<CutResult, LabError> {
        let run = self.prepare(stream)?;
        run.replay(token, &check)
    }

    /// Makes what all cuts of a stream share.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn prepare<'a>(&'a self, stream: &'a Stream) -> Result<Prepared<'a>, LabError> {
        let base = self.drive(&self.power)?;
        let honest = self.drive(&Power::default())?;
        let history = History::new(stream, &base);
        Ok(Prepared {
            campaign: self,
            stream,
            base,
            honest,
            history,
            digest: self.digest(stream),
        })
    }

    fn drive(&self, power: &Power) -> Result<PowerDrive, LabError> {
        PowerDrive::new(self.config.clone(), power.clone())
            .map_err(|error| LabError::refused(error.to_string(), ""))
    }

    fn digest(&self, stream: &Stream) -> u32 {
        let mut bytes = Vec::new();
        let mut out = Writer::new(&mut bytes);
        // Writing to memory does not fail.
        let _ = self.config.save(&mut out).and_then(|()| out.flush());
        bytes.extend(format!("{:?}", self.power).bytes());
        bytes.extend(stream.digest().to_le_bytes());
        XxHash3_64::oneshot(&bytes) as u32
    }
}

/// A campaign and a stream, ready to be cut.
#[derive(Debug)]
pub struct Prepared<'a> {
    campaign: &'a Campaign,
    stream: &'a Stream,
    base: PowerDrive,
    honest: PowerDrive,
    history: History,
    digest: u32,
}

/// Where the next worker goes on.
struct Feed<'a> {
    player: Player<'a>,
    next: usize,
}

impl<'a> Prepared<'a> {
    /// The instants, in order.
    pub fn points(&self, cuts: Cuts) -> Vec<CutPoint> {
        let spans = player::timeline(self.stream, &self.base);
        cuts::choose(cuts, self.stream, &self.base, &spans)
    }

    /// How a cut is named.
    pub fn token(&self, point: CutPoint) -> Token {
        Token {
            point,
            missing: None,
            digest: self.digest,
        }
    }

    /// Cuts at every point, which must be in order, on all threads; `each` is told of every result
    /// as it comes. Results are in the order of points.
    pub fn judge_all(
        &self,
        points: &[CutPoint],
        check: &impl Check,
        each: &(impl Fn(&CutResult) + Sync),
    ) -> Vec<CutResult> {
        let feed = Mutex::new(Feed {
            player: Player::new(self.stream, self.base.clone()),
            next: 0,
        });
        let results: Vec<Mutex<Option<CutResult>>> =
            points.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some((index, fork)) = take(&feed, points) {
                let result = self.judge(fork, points[index], check);
                each(&result);
                *lock(&results[index]) = Some(result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.campaign.jobs.min(points.len()) {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_iter();
        results
            .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Cuts one fork, recovers it, and judges.
    fn judge(&self, fork: Player<'_>, point: CutPoint, check: &impl Check) -> CutResult {
        let after = fork.cut_at(point);
        let look = self.look(&after);
        let mut breach = self.breach(&after, &look);
        let marks = self.stream.marks_after(after.reached.completed);
        let mut message = None;
        if !after.recovery.dead {
            let mut recovered = Recovered {
                drive: DataDrive::of(after.drive),
                marks: marks.iter().map(|mark| mark.text.clone()).collect(),
            };
            message = run_check(check, &mut recovered).err();
        }
        if let Some(breach) = &mut breach
            && let [fault] = self.campaign.power.faults.as_slice()
        {
            breach.faults = vec![fault.kind];
        }
        let verdict = match (&breach, &message) {
            (Some(_), _) => Verdict::Drive,
            (None, Some(_)) => Verdict::Application,
            (None, None) => Verdict::Passed,
        };
        CutResult {
            point,
            token: self.token(point),
            verdict,
            message,
            breach,
            marks: marks.len(),
            lost: look.lost,
        }
    }

    /// Looks at every sector after a cut.
    pub fn look(&self, after: &Aftermath) -> Look {
        if after.recovery.dead {
            return Look::default();
        }
        let read = |unit| after.drive.content(unit);
        self.history.look(after.reached, read)
    }

    fn breach(&self, after: &Aftermath, look: &Look) -> Option<Breach> {
        let is_honest = self.campaign.power.faults.is_empty();
        let self_check = if is_honest && !after.recovery.dead {
            after.drive.check().err()
        } else {
            None
        };
        let broke = after.recovery.dead || look.broken_count > 0 || self_check.is_some();
        broke.then(|| Breach {
            dead: after.recovery.dead,
            sectors: look.broken_count,
            first: look.broken.clone(),
            self_check,
            faults: Vec::new(),
        })
    }

    /// The faults without which a cut keeps every promise. With several at once.
    fn blame(&self, point: CutPoint) -> Vec<FaultKind> {
        let faults = &self.campaign.power.faults;
        let mut blamed = Vec::new();
        for without in 0..faults.len() {
            let mut power = self.campaign.power.clone();
            let fault = power.faults.remove(without);
            let Ok(drive) = self.campaign.drive(&power) else {
                continue;
            };
            let after = Player::new(self.stream, drive).cut_at(point);
            if !after.recovery.dead && self.look(&after).broken_count == 0 {
                blamed.push(fault.kind);
            }
        }
        blamed
    }

    /// Looks into the failures of all results and puts the report together.
    pub fn report(&self, mut cuts: Vec<CutResult>, check: &impl Check) -> Report {
        if self.campaign.power.faults.len() > 1 {
            let broken = cuts.iter_mut().filter(|cut| cut.breach.is_some());
            for cut in broken.take(BLAMED_MAX) {
                let faults = self.blame(cut.point);
                cut.breach
                    .iter_mut()
                    .for_each(|b| b.faults.clone_from(&faults));
            }
        }
        let failed = |cut: &&CutResult| cut.verdict == Verdict::Application;
        let minimal = match cuts.iter().find(failed) {
            Some(cut) if self.campaign.checks_max > 0 => self.minimise(cut, check),
            _ => None,
        };
        let mut report = Report {
            cuts,
            minimal,
            stream: summary(self.stream),
            where_: String::new(),
        };
        if let Some(worst) = report.worst() {
            report.where_ = place(self.stream, worst.point);
        }
        report
    }

    fn reached(&self, point: CutPoint) -> Reached {
        let count = self.stream.commands.len();
        let begun = usize::from(point.inside.is_some() && point.command < count);
        Reached {
            completed: point.command,
            submitted: point.command + begun,
        }
    }

    /// The smallest set of lost writes that still fails; `None` when lost writes alone do not.
    pub fn minimise(&self, cut: &CutResult, check: &impl Check) -> Option<Minimal> {
        let reached = self.reached(cut.point);
        let missing = self.missing(&cut.lost, reached);
        let marks = self.mark_texts(reached);
        let found = minimise::smallest(
            &cut.lost,
            &missing.volatile(reached.completed),
            self.campaign.checks_max,
            |pieces| {
                let mut recovered = Recovered {
                    drive: missing.drive(pieces),
                    marks: marks.clone(),
                };
                run_check(check, &mut recovered)
            },
        )?;
        let token = Token {
            missing: Some(found.pieces.clone()),
            ..cut.token.clone()
        };
        Some(Minimal {
            lost: self.lost_writes(&found.pieces, reached),
            token,
            message: found.message,
            checks: found.checks,
            is_smallest: found.is_smallest,
        })
    }

    fn missing(&self, lost: &[Piece], reached: Reached) -> Missing<'_> {
        let player = Player::new(self.stream, self.honest.clone());
        Missing::new(self.stream, &self.history, player, lost, reached.submitted)
    }

    fn mark_texts(&self, reached: Reached) -> Vec<String> {
        let marks = self.stream.marks_after(reached.completed).iter();
        marks.map(|mark| mark.text.clone()).collect()
    }

    /// Pieces of one command that lie side by side are one.
    fn lost_writes(&self, pieces: &[Piece], reached: Reached) -> Vec<LostWrite> {
        let slot = u64::from(self.honest.config().shape.slot_bytes);
        let mut found: Vec<LostWrite> = Vec::new();
        for piece in pieces {
            let command = &self.stream.commands[piece.command as usize].command;
            let (begin, end) = (command.offset, command.offset + u64::from(command.len));
            let unit = u64::from(piece.unit) * slot;
            let (from, to) = (unit.max(begin), (unit + slot).min(end));
            match found.last_mut() {
                Some(last) if last.command == piece.command && last.offset + last.len == from => {
                    last.len += to - from;
                }
                _ => {
                    let (after, before) = self.history.flushes_around(piece.command);
                    let before = before.filter(|&flush| (flush as usize) < reached.submitted);
                    found.push(LostWrite {
                        command: piece.command,
                        offset: from,
                        len: to - from,
                        after_flush: after,
                        before_flush: before,
                    });
                }
            }
        }
        found
    }

    /// Runs one cut again, as its token says.
    ///
    /// # Errors
    /// When the token is of another stream, drive or faults.
    pub fn replay(&self, token: &Token, check: &impl Check) -> Result<CutResult, LabError> {
        let commands = self.stream.commands.len();
        if token.digest != self.digest || token.point.command > commands {
            return Err(LabError::refused(
                format!("{token} is of another stream, drive or faults"),
                format!("tokens of this campaign end in -{:08x}", self.digest),
            ));
        }
        let Some(pieces) = &token.missing else {
            let player = Player::new(self.stream, self.base.clone());
            return Ok(self.judge(player, token.point, check));
        };
        let reached = self.reached(token.point);
        let mut recovered = Recovered {
            drive: self.missing(pieces, reached).drive(pieces),
            marks: self.mark_texts(reached),
        };
        let marks = recovered.marks.len();
        let message = run_check(check, &mut recovered).err();
        Ok(CutResult {
            point: token.point,
            token: token.clone(),
            verdict: match message {
                Some(_) => Verdict::Application,
                None => Verdict::Passed,
            },
            message,
            breach: None,
            marks,
            lost: pieces.clone(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next point and the state before it.
fn take<'a>(feed: &Mutex<Feed<'a>>, points: &[CutPoint]) -> Option<(usize, Player<'a>)> {
    let mut feed = lock(feed);
    let index = feed.next;
    let point = points.get(index)?;
    feed.next += 1;
    feed.player.seek(point.command);
    Some((index, feed.player.fork()))
}

/// A check that panics has failed.
fn run_check(check: &impl Check, recovered: &mut Recovered) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(|| check(recovered))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(text.unwrap_or_else(|| "it panicked".into()))
        }
    }
}

fn summary(stream: &Stream) -> String {
    let count = |op| stream.count(op);
    format!(
        "{} commands: {} writes ({}), {} flushes, {} trims, {} write zeroes; {} marks",
        stream.commands.len(),
        count(Op::Write),
        ssdlab_ssd::Bytes(stream.bytes_written()),
        count(Op::Flush),
        count(Op::Trim),
        count(Op::WriteZeroes),
        stream.marks.len()
    )
}
