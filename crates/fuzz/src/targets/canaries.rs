//! Targets that break, to test the engine. A run of all targets leaves them out.

use crate::Target;

/// One canary for each way to break.
pub const CANARIES: &[Target] = &[
    Target {
        name: "canary-panic",
        run: |input| assert!(!input.starts_with(b"BUG"), "the canary sings"),
        seeds: || vec![b"BUF".to_vec()],
        words: &[],
    },
    Target {
        name: "canary-memory",
        run: |input| {
            let trusted = u32::from_le_bytes(input.first_chunk().copied().unwrap_or_default());
            drop(std::hint::black_box(vec![1_u8; trusted as usize]));
        },
        seeds: || vec![vec![9, 0, 0, 0]],
        words: &[],
    },
];
