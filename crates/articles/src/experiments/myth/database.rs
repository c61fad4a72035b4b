//! A database that is offered 15,000 transactions a second, on the earlier drive.

use super::settings::{EARLIER, FLASH};
use crate::keys::keys;
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup, stopped,
};
use crate::plot::curves;
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_hosts::oltp::OltpSpec;
use ssdlab_hosts::{HostDrive, oltp};
use ssdlab_view::chart::{ChartAxis, ChartUnit, Charts};

keys! {
    pub(crate) enum DatabaseMeasure {
        TpsNew = "tps_new",
        TpsKept = "tps_kept",
    }

    pub(crate) enum DatabaseCurve {
        Tps = "tps",
    }
}

pub(crate) static DATABASE: Experiment<DatabaseMeasure, DatabaseCurve> = Experiment {
    about: ExperimentInfo {
        name: "myth.database",
        what: "a database that is offered 15,000 transactions a second, for six months, on the \
               earlier drive",
        weight: 10,
    },
    run,
};

fn run(
    setup: &ExperimentSetup<'_>,
) -> Result<ExperimentOutcome<DatabaseMeasure, DatabaseCurve>, LabError> {
    let set: Result<Vec<DriveSetting>, LabError> =
        EARLIER.iter().map(|s| DriveSetting::parse(s)).collect();
    let drive = HostDrive::open(FLASH, &set?, Some(4 << 30))?;
    let spec = OltpSpec {
        seed: setup.seed,
        ..OltpSpec::default()
    };
    let result = oltp::run_until(&spec, &drive.config, setup.stop)?;
    if result.stopped {
        return Err(stopped());
    }
    let mut outcome = ExperimentOutcome::new();
    for check in result.checks {
        outcome.check(check.name, check.failure.map_or(Ok(()), Err));
    }
    let first = result.windows.first().map(|window| window.tps);
    let last = result.windows.last().map(|window| window.tps);
    outcome.value(DatabaseMeasure::TpsNew, first);
    let tps_kept = first.zip(last).map(|(first, last)| last / first);
    outcome.value(DatabaseMeasure::TpsKept, tps_kept);
    let months = result.windows.iter().map(|w| (f64::from(w.month), w.tps));
    outcome.curve(DatabaseCurve::Tps, months.collect());
    Ok(outcome)
}

pub(crate) static TPS: ArticleSection = ArticleSection {
    anchor: "tps",
    title: "What the database saw",
    text: &[
        "15,000 transactions a second are offered to a database on the earlier drive, twice its \
         capacity is written each month.",
    ],
    ids: &["myth.tps"],
    plots,
};

fn plots(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    let labels = [(DatabaseCurve::Tps, "transactions a second")];
    let title = "Transactions a second over months";
    let chart = curves(
        records,
        &DATABASE,
        title,
        ChartAxis::Months,
        ChartUnit::Rate,
        &labels,
    );
    html! { (charts.add(chart)) }
}
