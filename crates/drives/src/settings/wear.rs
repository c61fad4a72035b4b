//! `[wear]`: see [`crate::catalogue::WearTable`].

use super::Form::{self, Decimal, Flag, Number, Text};

/// Every parameter of it, with an example.
pub(super) const KEYS: [(&str, Form, &str); 34] = [
    ("wear.cycles", Number, "3000"),
    ("wear.class", Text, "enterprise"),
    ("wear.rber_eps", Decimal, "1.48e-3"),
    ("wear.rber_alpha", Decimal, "3.9e-10"),
    ("wear.rber_k", Decimal, "2.05"),
    ("wear.rber_beta", Decimal, "6.28e-5"),
    ("wear.rber_m", Decimal, "0.14"),
    ("wear.rber_n", Decimal, "0.54"),
    ("wear.rber_gamma", Decimal, "3.73e-9"),
    ("wear.rber_p", Decimal, "0.33"),
    ("wear.rber_q", Decimal, "1.71"),
    ("wear.ecc_bits", Number, "72"),
    ("wear.ecc_data", Text, "1KiB"),
    ("wear.retries", Number, "20"),
    ("wear.retry_gain", Decimal, "1.2"),
    ("wear.retry_time", Text, "20us"),
    ("wear.block_spread", Decimal, "0.15"),
    ("wear.page_spread", Decimal, "0.08"),
    ("wear.failure_median", Decimal, "3"),
    ("wear.failure_spread", Decimal, "0.25"),
    ("wear.failure_early_pct", Decimal, "1"),
    ("wear.failure_programs_pct", Decimal, "50"),
    ("wear.reserve_pct", Decimal, "2"),
    ("wear.program_faster_pct", Decimal, "10"),
    ("wear.erase_slower_pct", Decimal, "50"),
    ("wear.refresh", Flag, "true"),
    ("wear.refresh_above_pct", Decimal, "50"),
    ("wear.patrol_pages", Number, "4"),
    ("wear.patrol_hours", Number, "168"),
    ("wear.retire_above_pct", Decimal, "50"),
    ("wear.level_dynamic", Flag, "true"),
    ("wear.level_gap", Number, "60"),
    ("wear.level_every", Number, "16"),
    ("wear.end_of_life", Text, "read-only"),
];

#[cfg(test)]
mod tests {
    use super::KEYS;

    /// Every key stands in the guide's table.
    #[test]
    fn every_key_is_documented() {
        let guide = include_str!("../../../../docs/wear-and-life.md");
        for (key, _, _) in KEYS {
            let name = key.strip_prefix("wear.").unwrap();
            assert!(guide.contains(&format!("`{name}`")), "{key}");
        }
    }
}
