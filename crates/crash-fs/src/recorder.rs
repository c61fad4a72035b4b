//! Cuts of a program that runs on: the disk is forked at planned calls, and the fork is cut.

use ssdlab_crash::{CrashError, CrashFiles};
use std::collections::BTreeSet;
use std::fmt;

/// The disk after one cut, without power.
#[derive(Clone, Debug)]
pub(crate) struct CutImage {
    /// Number of the call that was cut; calls that change nothing are not counted.
    pub place: u64,
    /// The call.
    pub call: String,
    pub files: CrashFiles,
    /// Facts acknowledged before the call began.
    pub acknowledged: usize,
    /// What was not durable before the call.
    pub pending: Vec<String>,
}

pub(crate) struct CutRecorder {
    pub plan: BTreeSet<u64>,
    pub seed: u64,
    /// How many facts are acknowledged now.
    pub acknowledged: Box<dyn Fn() -> usize + Send>,
    pub images: Vec<CutImage>,
}

impl fmt::Debug for CutRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CutRecorder")
            .field(&self.images.len())
            .finish()
    }
}

/// The seed of a cut.
pub(crate) fn seed_of_cut(seed: u64, place: u64) -> u64 {
    seed << 32 | place
}

/// The finaliser of splitmix64.
pub(crate) fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl CutRecorder {
    /// Cuts a fork just before a call or inside it, as the seed has it.
    pub fn cut<T>(
        &mut self,
        place: u64,
        call: String,
        files: &CrashFiles,
        run: impl Fn(&mut CrashFiles) -> Result<T, CrashError>,
    ) {
        // Before the fork: what is acknowledged later is not in it.
        let acknowledged = (self.acknowledged)();
        let pending = files.pending();
        let mut files = files.fork();
        files.reseed(seed_of_cut(self.seed, place));
        files.arm_call(0);
        let _ = run(&mut files);
        if files.disk().is_on() {
            let _ = files.cut();
        }
        self.images.push(CutImage {
            place,
            call,
            files,
            acknowledged,
            pending,
        });
    }
}
