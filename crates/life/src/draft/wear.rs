//! The table of wear.

use super::facts::{Cells, DraftClass};
use super::prior::PriorConstant;
use super::rules::{self, ArrayShape};
use super::writer::{ASSUMED, DERIVED, DraftWriter};

pub(super) fn wear(page: &mut DraftWriter<'_>, user: u64, array: &ArrayShape) {
    let f = page.facts;
    page.table("wear");
    let usual = match f.cells {
        Cells::Slc => 50_000.0,
        Cells::Mlc | Cells::Tlc => 3000.0,
        Cells::Qlc => 1000.0,
    };
    let rated = f.rated_writes.map(|bytes| bytes as f64).or_else(|| {
        let (dwpd, years) = (f.dwpd?, f.rated_years()?);
        Some(dwpd * f64::from(years) * 365.0 * user as f64)
    });
    let needed = rated.map_or(0.0, |bytes| {
        bytes * rules::uniform_waf(user, array).min(10.0) / array.raw() as f64
    });
    let enterprise = f.class() == DraftClass::Enterprise;
    if enterprise && needed > usual {
        let cycles = ((needed / 100.0).ceil() * 100.0).to_string();
        let source = "rated writes x write amplification of uniform writes / raw capacity";
        page.line("cycles", &cycles, DERIVED, source);
    } else if let Some(cycles) = page.constants.get(PriorConstant::Cycles) {
        let value = ((cycles.value / 100.0).round() * 100.0).max(100.0);
        page.line("cycles", &value.to_string(), ASSUMED, &cycles.source);
    } else {
        page.line("cycles", &usual.to_string(), ASSUMED, "usual for the cells")
    }
    let class = if enterprise {
        "\"enterprise\""
    } else {
        "\"client\""
    };
    page.line(
        "class",
        class,
        ASSUMED,
        "protected drives are of the enterprise class, or as given",
    );
    let code = "72 bits in 1 KiB, the hard limit of 3D TLC codes (Park, ASPLOS 2021, remembered)";
    page.line("ecc_bits", "72", ASSUMED, code);
    page.line("ecc_data", "\"1 KiB\"", ASSUMED, code);
    let reserve = "data sheets of NAND promise 98 % of the blocks over life";
    page.line("reserve_pct", "2.0", ASSUMED, reserve);
    let end = "drives stop writing when no reserve is left; not documented";
    page.line("end_of_life", "\"read-only\"", ASSUMED, end);
}
