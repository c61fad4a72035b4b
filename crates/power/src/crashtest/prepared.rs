//! A campaign and a stream together: every cut judged, failures looked into.

use super::campaign::Campaign;
use super::cuts::{self, ChosenCut, CutToken, Cuts, Occasion};
use super::history::{CommandPiece, RecoveryFindings, StreamProgress, UnitHistory};
use super::minimise::LossyReplay;
use super::player::{Aftermath, CutPoint, Player, SecondCut};
use super::recovered::{RecoveredDrive, RecoveryCheck};
use super::report::{Breach, CampaignReport, CutResult, CutVerdict, LostWrite, MinimalLoss, place};
use super::stream::{CommandStream, Mark};
use super::timeline::StreamTimeline;
use ssdlab_base::LabError;
use ssdlab_ssd::command::Op;
use ssdlab_ssd::drive::power::{DataDrive, FaultKind, Power, PowerDrive};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Cuts that are blamed on single faults.
const BLAMED_MAX: usize = 3;

/// A campaign and a stream, ready to be cut.
#[derive(Debug)]
pub struct PreparedCampaign<'a> {
    campaign: &'a Campaign,
    stream: &'a CommandStream,
    base: PowerDrive,
    honest: PowerDrive,
    history: UnitHistory,
    timeline: StreamTimeline,
    digest: u32,
}

/// Where the next worker goes on.
struct CutFeed<'a> {
    player: Player<'a>,
    next: usize,
}

impl Campaign {
    /// Plays, cuts, recovers and checks, at every instant chosen.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn run(
        &self,
        stream: &CommandStream,
        check: impl RecoveryCheck,
    ) -> Result<CampaignReport, LabError> {
        let run = self.prepare(stream)?;
        let points = run.points(self.cuts);
        let results = run.judge_all(&points, &check, &|_| (), &|| false);
        Ok(run.report(results, &check))
    }

    /// Runs one cut again, as its token says.
    ///
    /// # Errors
    /// When the token is of another stream, drive or faults, or the drive is impossible.
    pub fn replay(
        &self,
        stream: &CommandStream,
        token: &CutToken,
        check: impl RecoveryCheck,
    ) -> Result<CutResult, LabError> {
        let run = self.prepare(stream)?;
        run.replay(token, &check)
    }

    /// Prepares the parts that all cuts of a stream share.
    ///
    /// # Errors
    /// When the drive is impossible.
    pub fn prepare<'a>(
        &'a self,
        stream: &'a CommandStream,
    ) -> Result<PreparedCampaign<'a>, LabError> {
        let base = self.drive(&self.power)?;
        let honest = self.drive(&Power::default())?;
        let history = UnitHistory::new(stream, &base);
        Ok(PreparedCampaign {
            campaign: self,
            stream,
            timeline: StreamTimeline::new(stream, &base),
            base,
            honest,
            history,
            digest: self.digest(stream),
        })
    }
}

impl<'a> PreparedCampaign<'a> {
    /// The instants, in order.
    pub fn points(&self, cuts: Cuts) -> Vec<ChosenCut> {
        let Campaign {
            occasions, from, ..
        } = self.campaign;
        cuts::choose(
            cuts,
            occasions,
            *from,
            self.stream,
            &self.base,
            &self.timeline,
        )
    }

    /// Whether a token is of this campaign.
    pub fn has(&self, token: &CutToken) -> bool {
        token.digest == self.digest && token.point.command <= self.stream.commands.len()
    }

    /// How a cut is named.
    pub fn token(&self, point: CutPoint) -> CutToken {
        CutToken {
            point,
            missing: None,
            digest: self.digest,
        }
    }

    /// Cuts at every point, which must be in order, on all threads; `each` gets every result
    /// as it comes, and no further point is taken once `stop` says so. Results are in the order of
    /// points.
    pub fn judge_all(
        &self,
        points: &[ChosenCut],
        check: &impl RecoveryCheck,
        each: &(impl Fn(&CutResult) + Sync),
        stop: &(impl Fn() -> bool + Sync),
    ) -> Vec<CutResult> {
        let feed = Mutex::new(CutFeed {
            player: Player::new(self.stream, self.base.clone()),
            next: 0,
        });
        let results: Vec<Mutex<Option<CutResult>>> =
            points.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while !stop()
                && let Some((index, fork)) = take(&feed, points)
            {
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
    fn judge(&self, fork: Player<'_>, chosen: ChosenCut, check: &impl RecoveryCheck) -> CutResult {
        let ChosenCut { point, occasion } = chosen;
        let after = fork.cut_at(point);
        let look = self.look(&after);
        let mut breach = self.breach(&after, &look);
        let marks = self.marks_made(&after.reached);
        let depth = after
            .reached
            .done
            .iter()
            .filter(|done| done.is_none())
            .count();
        let struck = after.drive.struck_faults().to_vec();
        let mut message = None;
        if !after.recovery.dead {
            let mut recovered = RecoveredDrive {
                drive: DataDrive::of(after.drive),
                marks: marks.iter().map(|mark| mark.text.clone()).collect(),
                token: self.token(point),
            };
            message = run_check(check, &mut recovered).err();
        }
        if let Some(breach) = &mut breach
            && let [fault] = self.campaign.power.faults.as_slice()
        {
            breach.faults = vec![fault.kind];
        }
        let verdict = match (&breach, &message) {
            (Some(_), _) => CutVerdict::Drive,
            (None, Some(_)) => CutVerdict::Application,
            (None, None) => CutVerdict::Passed,
        };
        CutResult {
            point,
            occasion,
            in_flight: depth,
            token: self.token(point),
            verdict,
            message,
            breach,
            marks: marks.len(),
            lost: look.lost,
            struck,
        }
    }

    /// Looks at every sector after a cut.
    pub fn look(&self, after: &Aftermath) -> RecoveryFindings {
        if after.recovery.dead {
            return RecoveryFindings::default();
        }
        let read = |unit| after.drive.content(unit);
        let mut look = self.history.look(&after.reached, read);
        if let Some(held) = &after.held {
            self.history.look_again(held, read, &mut look);
        }
        look
    }

    fn breach(&self, after: &Aftermath, look: &RecoveryFindings) -> Option<Breach> {
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
    pub fn report(&self, mut cuts: Vec<CutResult>, check: &impl RecoveryCheck) -> CampaignReport {
        if self.campaign.power.faults.len() > 1 {
            let broken = cuts.iter_mut().filter(|cut| cut.breach.is_some());
            for cut in broken.take(BLAMED_MAX) {
                let faults = self.blame(cut.point);
                cut.breach
                    .iter_mut()
                    .for_each(|b| b.faults.clone_from(&faults));
            }
        }
        let failed = |cut: &&CutResult| cut.verdict == CutVerdict::Application;
        let minimal = match cuts.iter().find(failed) {
            Some(cut) if self.campaign.checks_max > 0 => self.minimise(cut, check),
            _ => None,
        };
        let mut report = CampaignReport {
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

    /// How far the stream had come at an instant.
    fn reached(&self, point: CutPoint) -> StreamProgress {
        let player = Player::new(self.stream, self.base.clone());
        let point = CutPoint {
            again: None,
            ..point
        };
        player.cut_at(point).reached
    }

    fn marks_made(&self, reached: &StreamProgress) -> &[Mark] {
        let is_done = |index| reached.is_done(index);
        self.stream.marks_made(reached.submitted(), is_done)
    }

    /// The smallest set of lost writes that still fails; `None` when lost writes alone do not.
    pub fn minimise(&self, cut: &CutResult, check: &impl RecoveryCheck) -> Option<MinimalLoss> {
        let reached = self.reached(cut.point);
        let missing = self.missing(&cut.lost, &reached);
        let marks = self.mark_texts(&reached);
        let minimal = ssdlab_crash::smallest(
            &cut.lost,
            &missing.volatile(&reached),
            self.campaign.checks_max,
            |pieces| {
                let mut recovered = RecoveredDrive {
                    drive: missing.drive(pieces),
                    marks: marks.clone(),
                    token: CutToken {
                        missing: Some(pieces.to_vec()),
                        ..cut.token.clone()
                    },
                };
                run_check(check, &mut recovered)
            },
        )?;
        let token = CutToken {
            missing: Some(minimal.pieces.clone()),
            ..cut.token.clone()
        };
        Some(MinimalLoss {
            lost: self.lost_writes(&minimal.pieces, &reached),
            token,
            message: minimal.message,
            checks: minimal.checks,
            is_smallest: minimal.is_smallest,
        })
    }

    fn missing(&self, lost: &[CommandPiece], reached: &StreamProgress) -> LossyReplay<'_> {
        let player = Player::new(self.stream, self.honest.clone());
        LossyReplay::new(
            self.stream,
            &self.history,
            player,
            lost,
            reached.submitted(),
        )
    }

    fn mark_texts(&self, reached: &StreamProgress) -> Vec<String> {
        let marks = self.marks_made(reached).iter();
        marks.map(|mark| mark.text.clone()).collect()
    }

    /// Pieces of one command that lie side by side are one.
    fn lost_writes(&self, pieces: &[CommandPiece], reached: &StreamProgress) -> Vec<LostWrite> {
        let slot = u64::from(self.honest.config().shape.slot_bytes);
        let mut writes: Vec<LostWrite> = Vec::new();
        for piece in pieces {
            let command = &self.stream.commands[piece.command as usize].command;
            let (begin, end) = (command.offset, command.offset + u64::from(command.len));
            let unit = u64::from(piece.unit) * slot;
            let (from, to) = (unit.max(begin), (unit + slot).min(end));
            match writes.last_mut() {
                Some(last) if last.command == piece.command && last.offset + last.len == from => {
                    last.len += to - from;
                }
                _ => {
                    let (after, before) = self.history.flushes_around(piece.command);
                    let before = before.filter(|&flush| (flush as usize) < reached.submitted());
                    writes.push(LostWrite {
                        command: piece.command,
                        offset: from,
                        len: to - from,
                        after_flush: after,
                        before_flush: before,
                    });
                }
            }
        }
        writes
    }

    /// Runs one cut again, as its token says.
    ///
    /// # Errors
    /// When the token is of another stream, drive or faults.
    pub fn replay(
        &self,
        token: &CutToken,
        check: &impl RecoveryCheck,
    ) -> Result<CutResult, LabError> {
        if !self.has(token) {
            return Err(LabError::refused(
                format!("{token} is of another stream, drive or faults"),
                format!("tokens of this campaign end in -{:08x}", self.digest),
            ));
        }
        let Some(pieces) = &token.missing else {
            let player = Player::new(self.stream, self.base.clone());
            let chosen = ChosenCut {
                point: token.point,
                occasion: occasion(token.point),
            };
            return Ok(self.judge(player, chosen, check));
        };
        let reached = self.reached(token.point);
        let mut recovered = RecoveredDrive {
            drive: self.missing(pieces, &reached).drive(pieces),
            marks: self.mark_texts(&reached),
            token: token.clone(),
        };
        let marks = recovered.marks.len();
        let message = run_check(check, &mut recovered).err();
        Ok(CutResult {
            point: token.point,
            occasion: occasion(token.point),
            in_flight: reached.done.iter().filter(|done| done.is_none()).count(),
            token: token.clone(),
            verdict: match message {
                Some(_) => CutVerdict::Application,
                None => CutVerdict::Passed,
            },
            message,
            breach: None,
            marks,
            lost: pieces.clone(),
            struck: Vec::new(),
        })
    }
}

/// What a cut is meant to strike, as far as a token says it.
fn occasion(point: CutPoint) -> Occasion {
    match point.again {
        None => Occasion::Any,
        Some(SecondCut::InRecovery(_)) => Occasion::Recovery,
        Some(SecondCut::After(_)) => Occasion::AfterRecovery,
        Some(SecondCut::InCheck(_)) => Occasion::Check,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next point and the state before it.
fn take<'a>(feed: &Mutex<CutFeed<'a>>, points: &[ChosenCut]) -> Option<(usize, Player<'a>)> {
    let mut feed = lock(feed);
    let index = feed.next;
    let point = points.get(index)?;
    feed.next += 1;
    feed.player.seek(point.point.command);
    Some((index, feed.player.fork()))
}

/// A check that panics has failed.
fn run_check(check: &impl RecoveryCheck, recovered: &mut RecoveredDrive) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(|| check(recovered))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(text.unwrap_or_else(|| "it panicked".into()))
        }
    }
}

/// A stream in a line.
pub(super) fn summary(stream: &CommandStream) -> String {
    let count = |op| stream.count(op);
    format!(
        "{} commands: {} writes ({}), {} flushes, {} trims, {} write zeroes; {} marks; \
         queue depth {}",
        stream.commands.len(),
        count(Op::Write),
        ssdlab_ssd::Bytes(stream.bytes_written()),
        count(Op::Flush),
        count(Op::Trim),
        count(Op::WriteZeroes),
        stream.marks.len(),
        stream.depth()
    )
}
