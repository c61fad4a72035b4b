//! Drives kept in files: saved ones, and directories of drives that are served.

pub mod directory;
pub mod manner;
pub mod saved;
