//! The loop of a test: write, take the power away, bring it back, check, and again.
//!
//! Whatever ends the process, the next one continues from the ledger: it first checks all that
//! was promised. A pull whose check was not over is finished then.

use super::book::Book;
use super::check::{SectorCheckResult, check};
use super::ledger::LedgerStore;
use super::place::LedgerLocation;
use super::record::{
    LedgerRecord, PowerCutSource, Pull, PullTestSetup, RECENT_NEEDED, Strike, WriterSession,
};
use super::scribe::Scribe;
use super::streams::{STREAMS, StreamContext, StreamStatus};
use super::switch::PullSwitch;
use super::target::{is_same, own_account, reopen, start};
use super::verdict::{PullRecord, verdict};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::direct::DirectFile;
use ssdlab_ssd::rng::Rng;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pulls in a row that may not count before the run ends.
const VAIN_MAX: u32 = 3;
/// Time of calm before a switch takes the power away.
const CALM: Duration = Duration::from_millis(50);
const TICK: Duration = Duration::from_millis(5);

/// What to test, and how.
#[derive(Clone, Debug)]
pub struct PullPlan {
    /// A file or a block device.
    pub target: PathBuf,
    /// Where the ledger is kept.
    pub ledger: LedgerLocation,
    /// Size and leave to write.
    pub open: OpenOptions,
    /// Who takes the power away.
    pub switch: PullSwitch,
    /// Pulls that count, those of earlier runs included.
    pub pulls: u32,
    /// Go on after a broken promise.
    pub keep_going: bool,
    /// The session before ended because the host lost power.
    pub host_lost_power: bool,
    /// Mean time of writing before a pull.
    pub write_for: Duration,
    /// Time without power.
    pub settle: Duration,
    /// Longest time from the switch to the first error.
    pub gone: Duration,
    /// Longest time until the target is back.
    pub back: Duration,
    /// Seed of the streams.
    pub seed: u64,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
pub enum PullEvent<'a> {
    /// Sectors without a stamp are written: bytes, and all of them.
    Filling(u64, u64),
    /// Pull `number` is next; a person is to make it if `by_hand`.
    Writing {
        /// From 1.
        number: u32,
        /// By a person.
        by_hand: bool,
    },
    /// The target stopped to answer.
    Struck(&'a Strike),
    /// A person is to bring the power back.
    PlugIn,
    /// A check: bytes read, and all of them.
    Checking(u64, u64),
    /// A check without a pull is over.
    Checked(&'a SectorCheckResult),
    /// A pull is over.
    Pulled(&'a Pull, &'a SectorCheckResult),
}

/// Hears of a run.
pub type PullObserver<'a> = &'a mut dyn FnMut(PullEvent<'_>);

struct PullRun<'a> {
    plan: &'a PullPlan,
    scribe: Scribe,
    start: PullTestSetup,
    began: Instant,
    counts_cycles: bool,
}

/// The kernel's number of this start of the machine.
fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.unwrap_or_default().trim().to_owned()
}

/// Runs a test until enough pulls count, a promise is broken, or `stop`.
///
/// # Errors
/// When the target or the ledger cannot be used, or the switch does not work. The ledger can be
/// continued.
pub fn run(
    plan: &PullPlan,
    watch: PullObserver<'_>,
    stop: &AtomicBool,
) -> Result<PullRecord, LabError> {
    let (mut store, contents) = LedgerStore::open(&plan.ledger)?;
    let mut position = contents.end;
    let replayed = Book::replay(&contents.records, &plan.ledger.to_string())?;
    let (book, file) = match replayed {
        Some(book) => {
            if !book.ended || book.struck.is_some() {
                bring_back(plan, watch)?;
            }
            let limit = if book.ended && book.struck.is_none() {
                Duration::ZERO
            } else {
                plan.back
            };
            let file = reopen(&plan.target, &book.start, &plan.open, limit, true)?;
            (book, file)
        }
        None => {
            let file = DirectFile::open(&plan.target, &sized(plan))?;
            let book = Book::new(start(&file, plan.open.size, plan.seed)?)?;
            let mut payload = Vec::new();
            LedgerRecord::Start(book.start.clone()).encode(&mut payload);
            let frame = position.frame(&payload);
            store.append(&frame, position)?;
            position = position.after(&frame).unwrap_or(position);
            (book, file)
        }
    };
    let strike = interrupted(plan, &book)?;
    let own = own_account(Path::new(&file.facts().name));
    let run = PullRun {
        plan,
        start: book.start.clone(),
        scribe: Scribe::new(store, position, book),
        began: Instant::now(),
        counts_cycles: own.power_cycles.is_some(),
    };
    run.scribe.keep(LedgerRecord::Session(WriterSession {
        boot: boot(),
        at: Utc::now().rfc3339(),
        protected: own.protected,
        power_cycles: own.power_cycles,
    }))?;
    if let Some(strike) = strike {
        run.scribe.keep(LedgerRecord::Strike(strike))?;
    }
    run.session(file, watch, stop)?;
    run.scribe.keep(LedgerRecord::End)?;
    Ok(run.scribe.book(verdict))
}

/// A file that is made has the size that is used.
fn sized(plan: &PullPlan) -> OpenOptions {
    let size = plan.open.size.unwrap_or(super::target::USED_DEFAULT);
    OpenOptions {
        size: Some(size),
        ..plan.open.clone()
    }
}

/// Brings the power back that an earlier process may have taken away.
fn bring_back(plan: &PullPlan, watch: PullObserver<'_>) -> Result<(), LabError> {
    match &plan.switch {
        // The power may be on, and a switch that says so is no error; the check decides.
        PullSwitch::Commands { .. } => {
            let _ = plan.switch.on();
            Ok(())
        }
        PullSwitch::Hand if plan.host_lost_power => Ok(()),
        PullSwitch::Hand => {
            watch(PullEvent::PlugIn);
            plan.switch.on()
        }
    }
}

/// The strike of the session before, if it ended with the host's power.
fn interrupted(plan: &PullPlan, book: &Book) -> Result<Option<Strike>, LabError> {
    if !plan.host_lost_power {
        return Ok(None);
    }
    let before = book.sessions.last().map(|session| session.boot.as_str());
    let why = match before {
        None => "the ledger is new",
        Some(_) if book.ended => "the session before ended in order",
        Some(id) if id == boot() => "this machine has not been started since then",
        Some(_) => return Ok(Some(book.strike(None))),
    };
    Err(LabError::refused(
        format!("--host-lost-power: {why}"),
        "leave it out: what was promised is checked in any case",
    ))
}

impl PullRun<'_> {
    fn load<'b>(&'b self, file: &'b DirectFile, ended: &'b StreamStatus) -> StreamContext<'b> {
        let sector_bytes = u64::from(self.start.sector_bytes);
        StreamContext {
            file,
            scribe: &self.scribe,
            run: self.start.run,
            sector_bytes,
            sectors: self.start.bytes / sector_bytes,
            began: self.began,
            ended,
            mode: self.scribe.book(Book::next_mode),
            by_hand: self.plan.switch == PullSwitch::Hand,
        }
    }

    fn session(
        &self,
        mut file: DirectFile,
        watch: PullObserver<'_>,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        if self.scribe.book(|book| book.seq > 0) {
            self.check(&file, watch)?;
        }
        let mut vain = 0;
        loop {
            self.fill(&file, watch, stop)?;
            let record = self.scribe.book(verdict);
            let failed = record.lost > 0 && !self.plan.keep_going;
            if record.counted >= self.plan.pulls || failed || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if vain == VAIN_MAX {
                return Err(in_vain(&record));
            }
            let Some(strike) = self.pull(&file, record.pulls + 1, watch, stop)? else {
                return Ok(());
            };
            // An exclusive owner is in its own way.
            drop(file);
            self.scribe.keep(LedgerRecord::Strike(strike))?;
            watch(PullEvent::Struck(&strike));
            std::thread::sleep(self.plan.settle);
            if self.plan.switch == PullSwitch::Hand {
                watch(PullEvent::PlugIn);
            }
            self.plan.switch.on()?;
            let target = &self.plan.target;
            file = reopen(target, &self.start, &self.again(), self.plan.back, false)?;
            self.check(&file, watch)?;
            let counted = self.scribe.book(|book| verdict(book).counted);
            vain = if counted > record.counted {
                0
            } else {
                vain + 1
            };
        }
    }

    /// Leave to write, given for a file that this run has made.
    fn again(&self) -> OpenOptions {
        let mut options = self.plan.open.clone();
        options.write.allow_overwrite |= self.start.is_file;
        options
    }

    /// Stamps every sector that has no stamp.
    fn fill(
        &self,
        file: &DirectFile,
        watch: PullObserver<'_>,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let parts = self.scribe.book(|book| {
            let mut parts: Vec<std::ops::Range<u64>> = Vec::new();
            let empty = book.sectors.iter().enumerate();
            for (number, _) in empty.filter(|(_, sector)| sector.latest == 0) {
                let number = number as u64;
                match parts.last_mut() {
                    Some(part) if part.end == number => part.end += 1,
                    _ => parts.push(number..number + 1),
                }
            }
            parts
        });
        if parts.is_empty() {
            return Ok(());
        }
        let mut progress = |done, total| watch(PullEvent::Filling(done, total));
        let ended = StreamStatus::default();
        self.load(file, &ended).fill(&parts, &mut progress, stop)
    }

    /// Writes until the power is gone; `None`: stopped before.
    fn pull(
        &self,
        file: &DirectFile,
        number: u32,
        watch: PullObserver<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<Strike>, LabError> {
        let by = self.plan.switch.by();
        watch(PullEvent::Writing {
            number,
            by_hand: by == PowerCutSource::Hand,
        });
        let seed = Rng::named(self.start.seed, &format!("pull {number}")).next_u64();
        let ended = StreamStatus::default();
        let load = self.load(file, &ended);
        let off = std::thread::scope(|scope| {
            for stream in 0..STREAMS {
                let load = &load;
                scope.spawn(move || load.stream(stream, seed));
            }
            let off = self.take_away(seed, &ended, stop);
            ended.halt();
            off
        })?;
        if let Some(error) = ended.ledger_error() {
            return Err(error);
        }
        let struck = ended.struck();
        match (off, &struck) {
            (false, None) => return Ok(None),
            (false, Some((_, error))) if by == PowerCutSource::Command => {
                return Err(self.by_itself(error));
            }
            _ => {}
        }
        let at_ns = struck.as_ref().map_or_else(|| load.now(), |(at, _)| *at);
        Ok(Some(Strike {
            by,
            noticed: struck.is_some(),
            failed: ended.failed(),
            ..self.scribe.book(|book| book.strike(Some(at_ns)))
        }))
    }

    fn by_itself(&self, error: &str) -> LabError {
        LabError::refused(
            format!("{} failed before --off: {error}", self.start.path),
            "that is no pull; see that it works, and run this again: it continues",
        )
    }

    /// Lets the streams write for a while, then takes the power away and waits for an error.
    /// `false`: stopped before, or the target failed by itself.
    fn take_away(
        &self,
        seed: u64,
        ended: &StreamStatus,
        stop: &AtomicBool,
    ) -> Result<bool, LabError> {
        let mean = self.plan.write_for.as_millis() as u64;
        let share = Rng::named(seed, "when").below(mean.max(1)) + mean / 2;
        let wait = |time: Duration, stoppable: bool| {
            let until = Instant::now() + time;
            while Instant::now() < until && !ended.is_halted() {
                if stoppable && stop.load(Ordering::Relaxed) {
                    return false;
                }
                std::thread::sleep(TICK);
            }
            true
        };
        let by_hand = self.plan.switch == PullSwitch::Hand;
        if !by_hand && !wait(Duration::from_millis(share), true) || ended.is_halted() {
            return Ok(false);
        }
        if !by_hand {
            ended.calm();
            if !wait(CALM, true) || ended.is_halted() {
                return Ok(false);
            }
        }
        self.plan.switch.off()?;
        Ok(wait(self.plan.gone, by_hand))
    }

    /// Reads all, makes the contents durable, and settles the pull if there is one.
    fn check(&self, file: &DirectFile, watch: PullObserver<'_>) -> Result<(), LabError> {
        is_same(&self.start, file)?;
        let mut progress = |done, total| watch(PullEvent::Checking(done, total));
        let checked = self.scribe.book(|book| check(file, book, &mut progress))?;
        file.flush()
            .map_err(|error| LabError::file("flushing", &file.facts().name, error))?;
        let number = self.scribe.book(|book| book.pulls.len() as u32) + 1;
        let power_cycles = if self.counts_cycles {
            own_account(Path::new(&file.facts().name)).power_cycles
        } else {
            None
        };
        let pull = self.scribe.book(|book| book.struck).map(|strike| Pull {
            number,
            strike,
            unpromised: checked.unpromised,
            unpromised_lost: checked.unpromised_lost,
            lost: checked.losses.len() as u64,
            power_cycles,
            at: Utc::now().rfc3339(),
        });
        let mut records = checked.records();
        records.push(LedgerRecord::Settled(pull.clone()));
        let record_count = self.scribe.enter(|_| records)?;
        self.scribe.wait(record_count)?;
        match &pull {
            Some(pull) => watch(PullEvent::Pulled(pull, &checked)),
            None => watch(PullEvent::Checked(&checked)),
        }
        Ok(())
    }
}

fn in_vain(record: &PullRecord) -> LabError {
    LabError::refused(
        format!(
            "the last {VAIN_MAX} pulls do not count: {} of {} were not noticed by the target, or \
             it had made fewer than {} durable writes in the second before",
            record.unnoticed, record.pulls, RECENT_NEEDED
        ),
        "does --off take the power of this very target away? Does --write-for give it time to \
         write (and is the ledger fast enough)?",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> PullPlan {
        PullPlan {
            target: "target".into(),
            ledger: LedgerLocation::File("ledger".into()),
            open: OpenOptions::default(),
            switch: PullSwitch::Hand,
            pulls: 25,
            keep_going: false,
            host_lost_power: true,
            write_for: Duration::ZERO,
            settle: Duration::ZERO,
            gone: Duration::ZERO,
            back: Duration::ZERO,
            seed: 1,
        }
    }

    /// A session of another start of the machine that was writing when it ended.
    fn book(boot: &str, ended: bool) -> Book {
        let start = PullTestSetup {
            run: 1,
            path: "target".into(),
            serial: None,
            model: None,
            is_file: true,
            bytes: 4096,
            sector_bytes: 512,
            seed: 1,
            at: String::new(),
        };
        let mut book = Book::new(start).expect("a book");
        let mut records = vec![LedgerRecord::Session(WriterSession {
            boot: boot.to_owned(),
            at: String::new(),
            protected: None,
            power_cycles: None,
        })];
        for seq in 1..=20 {
            records.push(LedgerRecord::Issued {
                seq,
                first: 0,
                count: 1,
                fua: true,
            });
            let at_ns = seq * 1000;
            records.push(LedgerRecord::Acked { seq, at_ns });
        }
        records.extend(ended.then_some(LedgerRecord::End));
        for record in &records {
            book.apply(record).expect("fits");
        }
        book
    }

    #[test]
    fn a_hosts_loss_of_power_is_a_pull_only_if_the_machine_was_started_since() {
        let strike = interrupted(&plan(), &book("another", false)).expect("a pull");
        let strike = strike.expect("a strike");
        assert_eq!(
            (strike.by, strike.promised_recently),
            (PowerCutSource::Host, 20)
        );
        let same = interrupted(&plan(), &book(&boot(), false));
        let said = same.expect_err("no restart").to_string();
        assert!(said.contains("has not been started"), "{said}");
        assert!(interrupted(&plan(), &book("another", true)).is_err());
    }
}
