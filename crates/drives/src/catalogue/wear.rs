//! `[wear]` of a drive file: how its media wears. Everything may be left out; see
//! [`crate::media::Media`] for what is taken then, and `docs/wear-and-life.md` for units.

use super::Sourced;
use serde::{Deserialize, Serialize};

/// Declares the table: fields that may be left out, each with its text.
macro_rules! table {
    ($($(#[$doc:meta])+ $name:ident: $kind:ty,)*) => {
        /// `[wear]`.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct WearTable {
            $($(#[$doc])+
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<Sourced<$kind>>,)*
        }
    };
}

table! {
    /// Rated program and erase cycles; without it `documented.program_erase_cycles`.
    cycles: u32,
    /// Class of JESD218: `client` or `enterprise`.
    class: String,
    /// RBER = eps + alpha c^k + beta c^m t^n + gamma c^p r^q (c cycles, t hours at 40 C, r reads of
    /// the block / its pages): eps.
    rber_eps: f64,
    /// alpha of it.
    rber_alpha: f64,
    /// k of it.
    rber_k: f64,
    /// beta of it.
    rber_beta: f64,
    /// m of it.
    rber_m: f64,
    /// n of it.
    rber_n: f64,
    /// gamma of it.
    rber_gamma: f64,
    /// p of it.
    rber_p: f64,
    /// q of it.
    rber_q: f64,
    /// Bits of a code word that are corrected.
    ecc_bits: u32,
    /// User data of a code word, a size.
    ecc_data: String,
    /// Tries of a read beyond the first.
    retries: u32,
    /// How much higher an RBER each retry corrects than the try before.
    retry_gain: f64,
    /// Time of a retry besides sensing again.
    retry_time: String,
    /// Sigma of ln RBER between blocks.
    block_spread: f64,
    /// Sigma of ln RBER between the pages of a block.
    page_spread: f64,
    /// Median of the cycles at which blocks fail, in rated cycles.
    failure_median: f64,
    /// Sigma of its logarithm.
    failure_spread: f64,
    /// Per cent of the blocks that fail within the rated cycles.
    failure_early_pct: f64,
    /// Of 100 failures, so many are failed programs; the others are failed erases.
    failure_programs_pct: f64,
    /// Reserve blocks, per cent of a die's.
    reserve_pct: f64,
    /// By how many per cent programs are faster at the rated cycles.
    program_faster_pct: f64,
    /// By how many per cent erases are slower then.
    erase_slower_pct: f64,
    /// Whether data that has faded is written anew.
    refresh: bool,
    /// It has faded when it takes more than so many per cent of the tries.
    refresh_above_pct: f64,
    /// Pages of each full block that a patrol reads, others each time; 0: there are no patrols.
    patrol_pages: u32,
    /// Hours between two patrols; 0: none begins by itself.
    patrol_hours: u32,
    /// A block is retired when fresh data has more than so many per cent of the RBER that the last
    /// try corrects.
    retire_above_pct: f64,
    /// Whether the least worn free superblock is taken for the host's data.
    level_dynamic: bool,
    /// Erases by which the least worn full superblock is behind when its data is moved; 0: never.
    level_gap: u32,
    /// Superblocks freed between two looks for one.
    level_every: u32,
    /// When the reserve is used up: `read-only`, `failed` or `slow`.
    end_of_life: String,
}
