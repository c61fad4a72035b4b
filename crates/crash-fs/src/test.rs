//! A program, cut at its calls, and a check after each cut.

use crate::hooks::Hooks;
use crate::machine::{CrashFs, CrashFsBuilder};
use crate::recorder::{CutImage, CutRecorder, mixed, seed_of_cut};
use crate::replay::{ReplayToken, replay_command};
use ssdlab_crash::{Blame, CrashFiles, DriveConfig, FileSystemRules, RecoveryReport};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// What a program and a check answer: any error, by `?`.
pub type TestResult = Result<(), Box<dyn Error>>;

/// Cuts the power in a program's calls, and lets a check look at what is there.
///
/// The program runs on, and never sees a cut: at planned calls the disk is forked, and the fork is
/// cut just before the call or inside it. After the program, power returns to each fork, the
/// drive's promises are judged, and the check runs on the files as they were recovered. At every
/// other cut the check, in which a program recovers, is cut as well, and runs again on that.
///
/// ```
/// use ssdlab_crash_fs::{Blame, CrashTest, std::fs::{self, File}};
/// use std::io::Write;
///
/// let test = |syncs_directory: bool| {
///     CrashTest::new().run(
///         |program| {
///             let path = program.root().join("log");
///             let mut log = File::create(&path)?;
///             if syncs_directory {
///                 File::open(program.root())?.sync_all()?;
///             }
///             for n in 1..=5_u8 {
///                 log.write_all(&[n])?;
///                 log.sync_data()?;
///                 program.acknowledge(n);
///             }
///             Ok(())
///         },
///         |recovered| {
///             let bytes = fs::read(recovered.root().join("log")).unwrap_or_default();
///             assert!(bytes.starts_with(recovered.acknowledged()));
///             Ok(())
///         },
///     )
/// };
/// assert!(test(true).unwrap() > 10, "cuts, all of them passed");
/// let failure = test(false).unwrap_err();
/// assert_eq!(failure.blame, Blame::Program);
/// assert!(failure.pending.contains(&"the name `log`".to_owned()));
/// ```
#[derive(Debug)]
pub struct CrashTest {
    settings: CrashFsBuilder,
    seeds: u64,
    cuts: u64,
    cuts_checks: bool,
}

impl Default for CrashTest {
    fn default() -> CrashTest {
        CrashTest {
            settings: CrashFs::builder(),
            seeds: 4,
            cuts: 200,
            cuts_checks: true,
        }
    }
}

impl CrashTest {
    /// Four seeds of at most 200 cuts each, with the rules of POSIX.
    pub fn new() -> CrashTest {
        CrashTest::default()
    }

    /// Number of seeds, from 0 up. Each decides again what the file system had written back.
    pub fn seeds(mut self, seeds: u64) -> CrashTest {
        self.seeds = seeds;
        self
    }

    /// The most cuts of a seed. A program with fewer calls is cut at each of them; otherwise they
    /// are spread over all calls.
    pub fn cuts(mut self, cuts: u64) -> CrashTest {
        self.cuts = cuts;
        self
    }

    /// Whether the check is cut as well at every other cut, as it is by default: a program that
    /// recovers in it must bear that.
    pub fn cut_checks(mut self, cut_checks: bool) -> CrashTest {
        self.cuts_checks = cut_checks;
        self
    }

    /// As [`CrashFsBuilder::rules`].
    pub fn rules(mut self, rules: FileSystemRules) -> CrashTest {
        self.settings = self.settings.rules(rules);
        self
    }

    /// As [`CrashFsBuilder::capacity`].
    pub fn capacity(mut self, bytes: u64) -> CrashTest {
        self.settings = self.settings.capacity(bytes);
        self
    }

    /// As [`CrashFsBuilder::drive`].
    pub fn drive(mut self, drive: DriveConfig) -> CrashTest {
        self.settings = self.settings.drive(drive);
        self
    }

    /// As [`CrashFsBuilder::faults`].
    pub fn faults(mut self, faults: &[&str]) -> CrashTest {
        self.settings = self.settings.faults(faults);
        self
    }

    /// Runs the program, and the check after each cut; returns the number of cuts. A panic in
    /// either, such as that of `assert_eq!`, counts as its error. Before any cut the check must
    /// pass on the files of a whole run, and fail on an empty disk if something was acknowledged.
    ///
    /// With the environment variable `SSDLAB_CUT`, which a failure prints, only that cut is made.
    ///
    /// # Errors
    /// The first cut that fails.
    pub fn run<T: Send + 'static>(
        &self,
        program: impl Fn(&CrashProgram<T>) -> TestResult,
        check: impl Fn(&RecoveredFiles<T>) -> TestResult,
    ) -> Result<u64, Box<TestFailure>> {
        let trial = TestTrial {
            test: self,
            program: &program,
            check: &check,
            check_calls: 8,
            cuts: 0,
        };
        let mut trial = trial;
        let result = match ReplayToken::from_environment() {
            Some(token) => trial.one(token),
            None => trial.all(),
        };
        let cuts = trial.cuts;
        result.map(|()| cuts).map_err(|mut failure| {
            failure.repeats = trial.one(failure.token()).is_err();
            failure
        })
    }
}

/// What the program of a [`CrashTest`] runs on.
pub struct CrashProgram<T> {
    machine: CrashFs,
    facts: Arc<Mutex<Vec<T>>>,
}

impl<T> fmt::Debug for CrashProgram<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CrashProgram").field(&self.machine).finish()
    }
}

fn locked<T>(facts: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    facts.lock().unwrap_or_else(|error| error.into_inner())
}

impl<T> CrashProgram<T> {
    /// Where the program keeps its files.
    pub fn root(&self) -> &Path {
        self.machine.root()
    }

    /// The disk.
    pub fn machine(&self) -> &CrashFs {
        &self.machine
    }

    /// The calls until here are not cut, such as those that make an empty database. The last time
    /// that it is called counts.
    pub fn cut_from_here(&self) {
        let mut state = self.machine.lock();
        state.cut_from = state.calls;
    }

    /// Notes a fact that no later cut may undo. From any thread.
    pub fn acknowledge(&self, fact: T) {
        locked(&self.facts).push(fact);
    }
}

/// What the check of a [`CrashTest`] looks at.
#[derive(Debug)]
pub struct RecoveredFiles<'a, T> {
    machine: CrashFs,
    facts: &'a [T],
}

impl<T> RecoveredFiles<'_, T> {
    /// Where the files are. It is not the path that the program had.
    pub fn root(&self) -> &Path {
        self.machine.root()
    }

    /// The disk.
    pub fn machine(&self) -> &CrashFs {
        &self.machine
    }

    /// What the program had acknowledged when the call that was cut began.
    pub fn acknowledged(&self) -> &[T] {
        self.facts
    }
}

/// The first cut that failed. Its `Debug` is its `Display`: `unwrap` prints a line, and the command
/// that repeats this cut alone.
#[derive(Clone)]
pub struct TestFailure {
    /// Seed.
    pub seed: u64,
    /// Number of the call that was cut, of those that change something.
    pub place: u64,
    /// Number of the call of the check that was cut, if the check that ran again fails.
    pub nested: Option<u64>,
    /// The call that was cut.
    pub call: String,
    /// What no sync had made durable when that call began.
    pub pending: Vec<String>,
    /// Who is at fault.
    pub blame: Blame,
    /// Text of the check, or the broken promises.
    pub message: String,
    /// Report of the last recovery.
    pub report: RecoveryReport,
    /// Cuts until then, this one included.
    pub cuts: u64,
    /// Whether it fails again with the same seed and call. If not, the program is not
    /// deterministic.
    pub repeats: bool,
}

impl TestFailure {
    fn token(&self) -> ReplayToken {
        ReplayToken {
            seed: self.seed,
            place: self.place,
            nested: self.nested,
        }
    }
}

/// The most pending changes that a message shows.
const SHOWN: usize = 6;

impl fmt::Display for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blame = match self.blame {
            Blame::Program => "the drive kept its promises, the program fails",
            Blame::Drive => "the drive broke its promises",
            Blame::Call => "the program fails without a cut",
        };
        let lines: Vec<&str> = self.message.lines().map(str::trim_end).collect();
        let message = lines.join("; ");
        if self.blame == Blame::Call {
            return write!(f, "seed {}: {blame}: {message}", self.seed);
        }
        let (cuts, seed, place, call) = (self.cuts, self.seed, self.place, &self.call);
        write!(f, "cut {cuts} (seed {seed}, call {place}: {call}")?;
        if let Some(nested) = self.nested {
            write!(f, "; then call {nested} of the check")?;
        }
        write!(f, "): {blame}: {message}")?;
        if self.blame == Blame::Program && !self.pending.is_empty() {
            let shown = self.pending.iter().take(SHOWN);
            let shown: Vec<&str> = shown.map(String::as_str).collect();
            write!(f, "; not durable before that call: {}", shown.join(", "))?;
            if self.pending.len() > SHOWN {
                write!(f, " and {} more", self.pending.len() - SHOWN)?;
            }
        }
        if self.repeats {
            write!(f, "\nreplay: {}", replay_command(&self.token()))
        } else {
            let again = "it did not fail again with this seed: the program's calls differ from \
                run to run (threads, time, hash maps)";
            write!(f, "\n{again}; try: {}", replay_command(&self.token()))
        }
    }
}

impl fmt::Debug for TestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for TestFailure {}

/// Runs what may panic.
fn caught(run: impl FnOnce() -> TestResult) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(text.unwrap_or("a panic").to_owned())
        }
    }
}

/// Cuts of one program.
struct TestTrial<'a, T> {
    test: &'a CrashTest,
    program: &'a dyn Fn(&CrashProgram<T>) -> TestResult,
    check: &'a dyn Fn(&RecoveredFiles<T>) -> TestResult,
    /// Calls of an earlier check.
    check_calls: u64,
    cuts: u64,
}

/// A program's run, with its cuts.
struct ProgramRun<T> {
    images: Vec<CutImage>,
    /// The calls that may be cut.
    calls: Range<u64>,
    facts: Vec<T>,
    /// The files at the end, with everything that the program has written.
    uncut: CrashFiles,
}

/// Why an image failed.
struct ImageFailure {
    blame: Blame,
    message: String,
    report: RecoveryReport,
    nested: Option<u64>,
}

type ImageResult<T> = Result<T, Box<ImageFailure>>;

/// Numbers of calls: all, or as many as asked for, one from each of as many equal parts.
fn plan(calls: &Range<u64>, cuts: u64, seed: u64) -> BTreeSet<u64> {
    // The end is a place as well.
    let count = calls.end + 1 - calls.start;
    if count <= cuts {
        return (calls.start..=calls.end).collect();
    }
    let place = |part: u64| {
        let (begin, end) = (part * count / cuts, (part + 1) * count / cuts);
        calls.start + begin + mixed(seed_of_cut(seed, part)) % (end - begin).max(1)
    };
    (0..cuts).map(place).collect()
}

impl<T: Send + 'static> TestTrial<'_, T> {
    fn all(&mut self) -> Result<(), Box<TestFailure>> {
        let run = self.run(0, BTreeSet::new())?;
        self.control(&run)?;
        let mut calls = run.calls;
        for seed in 0..self.test.seeds {
            let run = self.run(seed, plan(&calls, self.test.cuts, seed))?;
            calls = run.calls.clone();
            self.check_images(seed, run, None)?;
        }
        Ok(())
    }

    /// The check must pass on what the program leaves without a cut, and fail without its files if
    /// it acknowledged something: a check that tests nothing must not pass.
    fn control(&self, run: &ProgramRun<T>) -> Result<(), Box<TestFailure>> {
        let failed = |message: String| self.failed(0, None, message);
        let check = |files: CrashFiles| -> Result<Result<(), String>, Box<TestFailure>> {
            let machine = CrashFs::mount(files, 0, Hooks::default());
            let machine = machine.map_err(|error| failed(error.to_string()))?;
            let facts = &run.facts;
            let recovered = RecoveredFiles { machine, facts };
            Ok(caught(|| (self.check)(&recovered)))
        };
        if let Err(message) = check(run.uncut.fork())? {
            return Err(failed(format!("the check on its files: {message}")));
        }
        let empty = self.test.settings.files(0);
        let empty = empty.map_err(|error| failed(error.to_string()))?;
        if !run.facts.is_empty() && check(empty)?.is_ok() {
            let count = run.facts.len();
            let message = format!(
                "the check passes without its files: it does not look for the \
                 {count} facts that were acknowledged"
            );
            return Err(failed(message));
        }
        Ok(())
    }

    fn one(&mut self, token: ReplayToken) -> Result<(), Box<TestFailure>> {
        let run = self.run(token.seed, BTreeSet::from([token.place]))?;
        self.check_images(token.seed, run, Some(token.nested))
    }

    /// Runs the program on a new disk.
    fn run(&self, seed: u64, plan: BTreeSet<u64>) -> Result<ProgramRun<T>, Box<TestFailure>> {
        let failed = |message: String| self.failed(seed, None, message);
        let files = self.test.settings.files(seed);
        let files = files.map_err(|error| failed(error.to_string()))?;
        let machine = CrashFs::mount(files, seed, Hooks::default());
        let machine = machine.map_err(|error| failed(error.to_string()))?;
        let facts: Arc<Mutex<Vec<T>>> = Arc::default();
        let counted = Arc::clone(&facts);
        let takes_end = |calls: u64| plan.last().is_some_and(|&last| last >= calls);
        machine.lock().recorder = Some(CutRecorder {
            plan: plan.clone(),
            seed,
            acknowledged: Box::new(move || locked(&counted).len()),
            images: Vec::new(),
        });
        let program = CrashProgram { machine, facts };
        caught(|| (self.program)(&program)).map_err(failed)?;
        let mut state = program.machine.lock();
        let calls = state.calls;
        let recorder = state.recorder.take();
        let mut recorder = recorder.ok_or_else(|| failed("the recorder is gone".into()))?;
        if takes_end(calls) {
            recorder.cut(calls, "after the last".into(), &state.files, |_| Ok(()));
        }
        let calls = state.cut_from..calls;
        let uncut = state.files.fork();
        drop(state);
        recorder.images.retain(|image| image.place >= calls.start);
        let facts = std::mem::take(&mut *locked(&program.facts));
        Ok(ProgramRun {
            images: recorder.images,
            calls,
            facts,
            uncut,
        })
    }

    fn check_images(
        &mut self,
        seed: u64,
        run: ProgramRun<T>,
        nested: Option<Option<u64>>,
    ) -> Result<(), Box<TestFailure>> {
        for image in run.images {
            self.cuts += 1;
            let drawn = mixed(seed_of_cut(seed, image.place)) % self.check_calls.max(1);
            let is_nested = self.test.cuts_checks && image.place % 2 == 1;
            let nested = nested.unwrap_or(is_nested.then_some(drawn));
            let facts = &run.facts[..image.acknowledged.min(run.facts.len())];
            if let Err(failure) = self.check_image(seed, image.clone(), facts, nested) {
                let mut test_failure = self.failed(seed, Some(&image), failure.message);
                test_failure.blame = failure.blame;
                test_failure.report = failure.report;
                test_failure.nested = failure.nested;
                return Err(test_failure);
            }
        }
        Ok(())
    }

    fn check_image(
        &mut self,
        seed: u64,
        image: CutImage,
        facts: &[T],
        nested: Option<u64>,
    ) -> ImageResult<()> {
        let second = self.recover(seed, image, facts, nested, None)?;
        match second {
            None => Ok(()),
            Some(image) => self.recover(seed, image, facts, None, nested).map(drop),
        }
    }

    /// Power returns, and the check runs; `cut` is the call of it that is cut on a fork, which is
    /// returned.
    fn recover(
        &mut self,
        seed: u64,
        image: CutImage,
        facts: &[T],
        cut: Option<u64>,
        nested: Option<u64>,
    ) -> ImageResult<Option<CutImage>> {
        let mut files = image.files;
        let failed = |blame: Blame, message: String, report: RecoveryReport| {
            Box::new(ImageFailure {
                blame,
                message,
                report,
                nested,
            })
        };
        let report = files.power_on().map_err(|error| {
            let report = RecoveryReport::default();
            failed(Blame::Drive, error.to_string(), report)
        })?;
        if !report.is_kept() {
            return Err(failed(Blame::Drive, report.to_string(), report));
        }
        let machine = CrashFs::mount(files, seed, Hooks::default())
            .map_err(|error| failed(Blame::Call, error.to_string(), report.clone()))?;
        machine.lock().recorder = cut.map(|place| CutRecorder {
            plan: BTreeSet::from([place]),
            seed,
            acknowledged: Box::new(|| 0),
            images: Vec::new(),
        });
        let recovered = RecoveredFiles { machine, facts };
        caught(|| (self.check)(&recovered))
            .map_err(|message| failed(Blame::Program, message, report))?;
        let mut state = recovered.machine.lock();
        self.check_calls = state.calls;
        let recorder = state.recorder.take();
        Ok(recorder.and_then(|recorder| recorder.images.into_iter().next()))
    }

    fn failed(&self, seed: u64, image: Option<&CutImage>, message: String) -> Box<TestFailure> {
        Box::new(TestFailure {
            seed,
            place: image.map_or(0, |image| image.place),
            nested: None,
            call: image.map_or(String::new(), |image| image.call.clone()),
            pending: image.map_or(Vec::new(), |image| image.pending.clone()),
            blame: Blame::Call,
            message,
            report: RecoveryReport::default(),
            cuts: self.cuts,
            repeats: false,
        })
    }
}
