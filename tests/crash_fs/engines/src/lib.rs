//! What the engines' tests share: numbered commits, and a check that none acknowledged is missing.

use ssdlab_crash_fs::{CrashTest, FileSystemRules, TestFailure, TestResult};
use std::path::Path;

/// Values of a commit are as long as this.
pub const VALUE_BYTES: usize = 600;

/// An engine that commits numbers from 1 up.
pub trait Engine: Sized {
    /// Whether its recovery is cut too.
    const CHECKS_ARE_CUT: bool = true;
    /// Opens the database of a folder, or makes it.
    fn open(root: &Path) -> Result<Self, Box<dyn std::error::Error>>;
    /// Stores a number, and returns when it is durable by the engine's word.
    fn commit(&mut self, number: u64) -> TestResult;
    /// Whether a number is there, with its value.
    fn has(&self, number: u64) -> Result<bool, Box<dyn std::error::Error>>;
}

/// A value that belongs to a number.
pub fn value(number: u64) -> Vec<u8> {
    vec![number as u8 ^ 0x5a; VALUE_BYTES]
}

/// Cuts an engine that makes some commits.
pub fn cut<E: Engine>(
    rules: FileSystemRules,
    commits: u64,
    cuts: u64,
) -> Result<u64, Box<TestFailure>> {
    let test = CrashTest::new().rules(rules).seeds(2).cuts(cuts).capacity(16 << 20);
    let test = test.cut_checks(E::CHECKS_ARE_CUT);
    test.run(
        |program| {
            let mut engine = E::open(program.root())?;
            // What a cut while a database is made leaves is a question of its own.
            program.cut_from_here();
            for number in 1..=commits {
                engine.commit(number)?;
                program.acknowledge(number);
            }
            Ok(())
        },
        |recovered| {
            let engine = E::open(recovered.root())?;
            for &number in recovered.acknowledged() {
                if !engine.has(number)? {
                    let count = recovered.acknowledged().len();
                    return Err(format!("commit {number} of {count} acknowledged is gone").into());
                }
            }
            Ok(())
        },
    )
}

/// Says what was found, and whether it is what must be.
pub fn expect(what: &str, is_right: bool, result: Result<u64, Box<TestFailure>>) -> bool {
    match (&result, is_right) {
        (Ok(cuts), true) => println!("{what}: clean in {cuts} cuts"),
        (Err(failure), false) => println!("{what}: FOUND by {failure}"),
        (Ok(cuts), false) => println!("{what}: NOT FOUND in {cuts} cuts"),
        (Err(failure), true) => println!("{what}: FAILED: {failure}"),
    }
    result.is_ok() == is_right
}
