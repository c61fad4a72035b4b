//! A database under transactions, as MySQL with InnoDB loads a drive, over months.
//!
//! ```text
//! arrivals -> connection -> page reads (not in the buffer pool), one after another -> CPU
//!          -> pages made dirty, log record -> group commit: log write, flush -> committed
//! page cleaner: a batch of the oldest dirty pages -> doublewrite area -> flush -> in place
//!          -> flush
//! other files (binary logs, dumps, temporary tables): written in turn, the oldest deleted
//! ```
//! A window of transactions is measured on a new drive and then once a month; between windows the
//! month's writing is made up for at full speed (page writes in place and other files, in the
//! shares of the spec), since what ages a drive is what was written and not the time.
//!
//! Left out: the server's locks and its CPUs, changes of the tables' size, skew of the pages (the
//! buffer pool takes the hottest), checkpoints, backups' reads.

mod age;
mod engine;
mod layout;
mod result;
pub mod show;
mod spec;
#[cfg(test)]
mod tests;

pub use age::{run, run_until};
pub use result::{Oltp, Second, Window};
pub use spec::OltpSpec;
