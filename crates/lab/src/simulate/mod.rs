//! A drive's life under a load: `ssdlab simulate`.

pub mod load;
pub mod settings;
