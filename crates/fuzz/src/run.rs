//! The engine for stable Rust: replays the corpus of a target, then mutates it.
//!
//! Before each execution the input is written to a file, so that it is at hand whatever ends the
//! process: a panic, an allocation beyond the limit, a stack overflow or a kill.

use crate::Target;
use crate::mutate::Mutator;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest execution; more is a finding.
const EXECUTION_MAX: Duration = Duration::from_secs(10);

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// Number of inputs in the corpus.
    pub corpus: usize,
    /// Number of executions, those of the corpus included.
    pub executions: u64,
    /// Time of the slowest execution.
    pub slowest: Duration,
}

/// An input that breaks the property of a target, in a file.
#[derive(Debug)]
pub struct Finding {
    /// File with the input.
    pub input: PathBuf,
    /// The way in which it breaks.
    pub reason: String,
}

/// Runs `target` on its corpus and then on mutations of it, until `time` has passed. The order of
/// inputs depends on `seed` alone. Inputs that break the target are left in `folder`.
///
/// # Errors
/// The first finding.
///
/// # Panics
/// When `folder` cannot be written.
pub fn fuzz(
    target: &Target,
    seed: u64,
    time: Duration,
    folder: &Path,
) -> Result<Executed, Finding> {
    let corpus = target.corpus();
    assert!(!corpus.is_empty(), "{} has no corpus", target.name);
    let begun = Instant::now();
    let mut execution = Execution::new(target, folder).expect("a folder that can be written");
    for input in &corpus {
        execution.run(input)?;
    }
    let mut mutator = Mutator::new(seed, target.words);
    while begun.elapsed() < time {
        let mut input = corpus[mutator.pick(corpus.len())].clone();
        let other = &corpus[mutator.pick(corpus.len())];
        mutator.mutate(&mut input, other);
        execution.run(&input)?;
    }
    execution.end().expect("a folder that can be written");
    Ok(Executed {
        corpus: corpus.len(),
        executions: execution.count,
        slowest: execution.slowest,
    })
}

/// Runs one input.
///
/// # Errors
/// The finding.
///
/// # Panics
/// When `folder` cannot be written.
pub fn replay(target: &Target, input: &[u8], folder: &Path) -> Result<(), Finding> {
    let mut execution = Execution::new(target, folder).expect("a folder that can be written");
    execution.run(input)?;
    execution.end().expect("a folder that can be written");
    Ok(())
}

struct Execution<'a> {
    target: &'a Target,
    path: PathBuf,
    file: File,
    count: u64,
    slowest: Duration,
}

impl<'a> Execution<'a> {
    fn new(target: &'a Target, folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}.input", target.name));
        let file = File::create(&path)?;
        Ok(Self {
            target,
            path,
            file,
            count: 0,
            slowest: Duration::ZERO,
        })
    }

    fn run(&mut self, input: &[u8]) -> Result<(), Finding> {
        let kept = self.file.write_all_at(input, 0);
        kept.and_then(|()| self.file.set_len(input.len() as u64))
            .expect("a file that can be written");
        self.count += 1;
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.target.run)(input)));
        let took = begun.elapsed();
        self.slowest = self.slowest.max(took);
        let reason = match outcome {
            Err(_) => format!("execution {} panicked", self.count),
            Ok(()) if took > EXECUTION_MAX => format!("one execution took {took:.1?}"),
            Ok(()) => return Ok(()),
        };
        Err(Finding {
            input: self.path.clone(),
            reason,
        })
    }

    fn end(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
