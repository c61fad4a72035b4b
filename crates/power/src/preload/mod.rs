//! Campaigns without a kernel's file system: a program runs once on a plain folder under a library
//! that reports its calls, and these are replayed on files of a crash disk and cut.
//!
//! ```text
//!  program --calls--> library (LD_PRELOAD) --turns--> recorder --> tape of calls and marks
//!  tape --> files on a crash disk --cut at call n--> recovery --> folder --> check
//! ```
//! The program sees its own page cache, locks and mappings: the folder is real. What a cut leaves
//! is decided by the rules of the file system that is asked for, and by the modelled drive below.

mod campaign;
mod check;
mod control;
mod course;
mod describe;
mod library;
mod recorder;
mod tape;
mod wire;

pub use campaign::PreloadCampaign;
pub use library::find_library;
pub use tape::{CallTape, TapeCall};

pub use crate::crashtest::scripts::PreloadSettings;
