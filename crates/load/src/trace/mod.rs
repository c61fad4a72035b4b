//! Traces: commands that a real host sent, with the times at which it sent them.
//!
//! ```text
//! file -> format (one parser each) -> Reader (order of issue, times from 0) -> events
//!   events -> Describer -> Description -> text or JSON   (`ssdlab trace show`)
//!   events -> write::Writer -> file                      (`ssdlab trace convert`)
//!   events -> replay::Replay -> commands                 (`ssdlab run --trace`)
//! ```
//!
//! Nothing here grows with the length of a trace. Two access-pattern metrics of DTraceToolkit
//! are kept exactly, because published figures are stated in them: [`pattern::IoPattern`] and
//! [`pattern::SeekSize`].

pub mod blocks;
pub mod describe;
mod document;
mod event;
pub mod files;
pub mod format;
pub mod order;
pub mod pattern;
mod phase;
pub mod read;
pub mod replay;
mod runs;
pub mod show;
pub mod write;

pub use document::{BadLineDocument, TraceDocument};
pub use event::TraceEvent;
pub use format::TraceFormat;
pub use format::csv::WATCH_HEADER;
pub use pattern::{IoPattern, PatternRow, SeekSize};
pub use read::{ReadOptions, TraceReadStats, TraceReader};
pub use ssdlab_ssd::Op;
