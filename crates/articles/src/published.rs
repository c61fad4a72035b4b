//! Every published figure, and how ours is held against it: a file for each article, two for the
//! long ones. The keys of a row:
//!
//! ```text
//! id         as in published.txt; one id may have several rows
//! what       what this row is of, where the id does not say it all
//! published  the number, or
//! text       what was published where it is no single number, or how the number was worded
//! unit       of both
//! kind       calibrated (the drive or host was fitted to it), predicted, shape (a claim without
//!            a number), arithmetic (follows from other published numbers), documented (a fact of
//!            the catalogue), not-wear, hypothesis (a mechanism that no source confirms, off in
//!            every drive)
//! ours       experiment/measure, or =name for what follows from several experiments in `needs`;
//!            a name that does not exist is an error when the file is read
//! rule       relative: share of the published number; absolute: in its unit; between; at_most;
//!            at_least
//! null       what a model that knows nothing of the mechanism would say: its name, and its value
//!            or the measure that has it; every predicted figure has one. Where the rule holds of
//!            it too, the row is not a test and counts as no prediction
//! reason     the likely reason, shown where the figure is missed
//! note       shown always
//! contradicted  where another source, or the article itself, contradicts the figure: its `source`,
//!            and the `arithmetic` with numbers of both sides; the row counts neither as met nor as
//!            a prediction
//! pending    what must exist before ours can be measured
//! ```

/// Names and contents of the files, in the order of the articles.
pub(crate) const FILES: [(&str, &str); 7] = [
    ("s2d", include_str!("published/s2d.toml")),
    ("zil-load", include_str!("published/zil-load.toml")),
    ("zil-flash", include_str!("published/zil-flash.toml")),
    ("spare", include_str!("published/spare.toml")),
    ("myth", include_str!("published/myth.toml")),
    ("worn-rates", include_str!("published/worn-rates.toml")),
    ("worn-loads", include_str!("published/worn-loads.toml")),
];
