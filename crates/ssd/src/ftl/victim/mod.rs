//! Which superblock to reclaim next. One policy a file.

mod greedy;

pub use greedy::greedy;
