//! Text and pages: tables, charts, units and the page shell. Knows no drive and no run.

pub mod bars;
pub mod chart;
pub mod line;
pub mod page;
pub mod parts;
pub mod spark;
pub mod text;
pub mod units;
