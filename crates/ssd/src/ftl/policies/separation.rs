//! Separation: which of the open superblocks a host slot goes to.
//!
//! Data that dies together should lie together: a superblock of hot data empties itself.

use super::PolicyInfo;
use crate::image::image_of_choice;

/// Kinds of separation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Separation {
    /// All host data goes to stream 0.
    Single = 0,
    /// The stream that the host names with the command, modulo the drive's streams.
    Hint = 1,
    /// By the lifespan of what is overwritten: a slot whose last copy lived less than the mean
    /// lifespan of recent copies goes to stream 1, all others to stream 0.
    Lifespan = 2,
}

image_of_choice!(Separation {
    Single,
    Hint,
    Lifespan
});

/// Every kind of separation.
pub const SEPARATIONS: [(Separation, PolicyInfo); 3] = [
    (
        Separation::Single,
        PolicyInfo {
            name: "single",
            text: "all host data goes to one open superblock",
            source: "usual in client drives",
            parameter: None,
        },
    ),
    (
        Separation::Hint,
        PolicyInfo {
            name: "hint",
            text: "the host names the stream with each write (NVMe streams directive)",
            source: "J.-U. Kang et al. 2014 (multi-streamed SSD)",
            parameter: None,
        },
    ),
    (
        Separation::Lifespan,
        PolicyInfo {
            name: "lifespan",
            text: "data whose last copy lived less than the recent mean goes to a stream of its own",
            source: "after Q. Wang et al. 2022 (SepBIT), its rule for host writes alone",
            parameter: None,
        },
    ),
];

impl Separation {
    /// Reads a name.
    ///
    /// # Errors
    /// What was given and what is allowed, in a sentence.
    pub fn parse(text: &str) -> Result<Separation, String> {
        let found = SEPARATIONS.iter().find(|(_, info)| info.name == text);
        found.map(|&(kind, _)| kind).ok_or_else(|| {
            let names: Vec<&str> = SEPARATIONS.iter().map(|(_, info)| info.name).collect();
            format!(
                "there is no separation `{text}` (there are: {})",
                names.join(", ")
            )
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SEPARATIONS[self as usize].1.name
    }
}
