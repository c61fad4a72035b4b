//! The model's endurance beside the counters of such drives in service.

use ssdlab_ledger::Ledger;
use ssdlab_ledger::placing::FieldRank;
use ssdlab_life::endurance::{self, DriveEndurance};

/// The remarks on rows, and the writes of such drives for each per cent of their lives.
pub fn remarks(rows: &[DriveEndurance]) -> Vec<String> {
    let mut remarks = endurance::remarks(rows);
    for row in rows {
        for population in Ledger::open().populations_of_catalogue(&row.name) {
            let Some(spread) = population.tb_per_pct else {
                continue;
            };
            let per_percent = row.tbw / 1e12 / 100.0;
            let place = match spread.rank(per_percent) {
                FieldRank::LowestTenth => "less than 9 of 10",
                FieldRank::BelowMedian => "less than half",
                FieldRank::AboveMedian => "more than half",
                FieldRank::HighestTenth => "more than 9 of 10",
            };
            remarks.push(format!(
                "{}, {}: {per_percent:.2} TB for 1 % of its life, {place} of {} drives {} in \
                 service (median {:.2} TB)",
                row.name, row.work, spread.drives, population.model_code, spread.median
            ));
        }
    }
    remarks
}
