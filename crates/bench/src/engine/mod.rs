//! The engine: keeps commands outstanding on a target or on modelled drives, and records.
//!
//! * [`run`] carries out a plan on any target, real or modelled. A *lane* is one copy of one job
//!   with its stream; the *ledger* counts per second and per job; [`PhaseEngine`](phase) moves
//!   commands between lanes and target. One thread; the loop is monomorphised per target. Its own
//!   cost on one core, stream included, is some tens of nanoseconds per command
//!   (`benches/against_fio.py`).
//! * [`Devices`] keeps one or several modelled drives busy for hosts whose next command depends on
//!   what has completed: lives, host models, experiments.
//!
//! Latency runs from the time the target reports a command as handed over until it reports it done.
//! A command counts when it completes within its job's counted part, whenever it was handed over;
//! commands still outstanding at the end are waited for but not counted. A rate-limited lane that
//! fell behind catches up at once, as fio does, so its latencies leave out the wait for the
//! schedule. Both loops check Little's law and that every command completed once.

mod cpu;
pub mod devices;
mod flows;
mod lane;
mod ledger;
mod logged;
#[cfg(test)]
mod logged_tests;
mod observer;
mod pace;
mod phase;
mod pools;
#[cfg(test)]
mod replay_tests;
mod run;
mod search;
mod steady;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod ties_tests;

pub use devices::{CommandSource, Devices};
pub use observer::{LoggedCommand, Observer, Unobserved};
pub use pace::exponential;
pub use run::{check, depth_needed, run};
