//! Article zil: mirrored log devices, the media wear indicator, and rated endurance.

use super::mirror::{MirrorPairs, MirrorSettings, indicator, mirrors, percentile};
use crate::keys::keys;
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup,
};
use crate::plot::{chart, line};
use crate::story::ArticleSection;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::stats;
use ssdlab_drives::catalogue;
use ssdlab_life::endurance::work::WearWorkload;
use ssdlab_life::endurance::{CAPACITY_USUAL, EnduranceOptions, WARM_USUAL, worn_by};
use ssdlab_view::chart::{Chart, ChartAxis, Charts};

keys! {
    /// Mirrors of a 710 of 100 GB with another drive.
    pub(crate) enum MirrorSides {
        Equal = "equal",
        With200 = "with_200",
        With300 = "with_300",
    }

    pub(crate) enum MirrorGap {
        Least = "gap_pct_least",
        P10 = "gap_pct_p10",
        Median = "gap_pct_median",
        P90 = "gap_pct_p90",
        Most = "gap_pct_most",
        Rated = "rated_gap_pct",
        LifeTb0 = "life_tb_0",
        LifeTb1 = "life_tb_1",
    }

    pub(crate) enum MirrorMeasure {
        E9New = "e9_new",
        E9AtRating = "e9_at_rating",
        E9Rises = "e9_rises",
        ;
        Of((MirrorSides, MirrorGap)) = "{}",
    }

    pub(crate) enum MirrorCurve {
        E9 = "e9",
        ;
        Gaps(MirrorSides) = "{}_gaps",
    }
}

pub(crate) static MIRROR: Experiment<MirrorMeasure, MirrorCurve> = Experiment {
    about: ExperimentInfo {
        name: "mirror",
        what: "mirrors of two drives, made smaller in size and rated cycles, 4 KiB random writes \
               over the smaller side until both are dead, every page write played; each drive's \
               blocks drawn from a seed of its own",
        weight: 20,
    },
    run,
};

keys! {
    pub(crate) enum RatedDrive {
        I710x100 = "710_100",
        I710x200 = "710_200",
        I710x300 = "710_300",
        I320x300 = "320_300",
        Consumer = "consumer",
        S3700 = "s3700",
    }

    pub(crate) enum EnduranceMetric {
        Waf = "waf",
        Terabytes = "lasts_tb",
        OverRating = "over_rating",
        GbDay = "gb_day",
        Dwpd = "dwpd",
    }

    /// Terabytes of writes at random until the cycles of a 710 are used up.
    pub(crate) enum UniformEndurance {
        Of100By4k = "710_100_uniform_4k_tb",
        Of100By8k = "710_100_uniform_8k_tb",
        Of200By4k = "710_200_uniform_4k_tb",
        Of200By8k = "710_200_uniform_8k_tb",
        Of300By4k = "710_300_uniform_4k_tb",
        Of300By8k = "710_300_uniform_8k_tb",
    }

    pub(crate) enum EnduranceMeasure {
        Least710 = "710_over_rating_least",
        Client320 = "320_300_client_gb_day",
        S3700OverConsumer = "s3700_over_consumer",
        ;
        Of((RatedDrive, EnduranceMetric)) = "{}",
        Uniform(UniformEndurance) = "{}",
    }
}

pub(crate) static ENDURANCE: Experiment<EnduranceMeasure> = Experiment {
    about: ExperimentInfo {
        name: "endurance",
        what: "JESD219's enterprise writes on drives made smaller: filled, two drive writes, and \
               the write amplification of the third; life = rated cycles x raw capacity over that; \
               the 710s also under 4 and 8 KiB writes at random, the 320 under a client load",
        weight: 16,
    },
    run: endurance,
};

/// Pairs of equal drives.
const PAIRS: u32 = 24;
const MIRRORS: [(MirrorSides, &str); 3] = [
    (MirrorSides::Equal, "intel-710-100gb"),
    (MirrorSides::With200, "intel-710-200gb"),
    (MirrorSides::With300, "intel-710-300gb"),
];

fn run(
    setup: &ExperimentSetup<'_>,
) -> Result<ExperimentOutcome<MirrorMeasure, MirrorCurve>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    let mirror_settings = MIRRORS.map(|(sides, partner)| MirrorSettings {
        sides: ["intel-710-100gb", partner].map(str::to_owned),
        // A few unequal pairs are enough to see how little they vary.
        pairs: if sides == MirrorSides::Equal {
            PAIRS
        } else {
            PAIRS / 4
        },
        seed: setup.seed,
    });
    for ((sides, _), pairs) in MIRRORS.iter().zip(mirrors(&mirror_settings, setup.stop)?) {
        measure(&mut outcome, *sides, &pairs);
    }
    let e9 = indicator("intel-710-100gb", setup.seed, setup.stop)?;
    let at_rating = e9.iter().find(|point| point.0 >= 1.0);
    let rises = e9.windows(2).filter(|two| two[1].1 > two[0].1).count();
    outcome.value(MirrorMeasure::E9New, e9.first().map(|point| point.1));
    outcome.value(MirrorMeasure::E9AtRating, at_rating.map(|point| point.1));
    outcome.value(MirrorMeasure::E9Rises, rises as f64);
    outcome.curve(MirrorCurve::E9, e9);
    Ok(outcome)
}

fn measure(
    outcome: &mut ExperimentOutcome<MirrorMeasure, MirrorCurve>,
    sides: MirrorSides,
    pairs: &MirrorPairs,
) {
    let faults = pairs.faults.join("; ");
    let whole = if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    };
    let drives = 2 * pairs.pairs.len();
    outcome.check(format!("{drives} dead drives, {}", pairs.sides[1]), whole);
    let gaps = pairs.gaps_pct();
    let lives = pairs.mean_bytes();
    for (gap, value) in [
        (MirrorGap::Least, percentile(&gaps, 0)),
        (MirrorGap::P10, percentile(&gaps, 10)),
        (MirrorGap::Median, percentile(&gaps, 50)),
        (MirrorGap::P90, percentile(&gaps, 90)),
        (MirrorGap::Most, percentile(&gaps, 100)),
        (MirrorGap::Rated, stats::mean(&pairs.rated_gaps_pct())),
        (MirrorGap::LifeTb0, lives[0] / 1e12),
        (MirrorGap::LifeTb1, lives[1] / 1e12),
    ] {
        outcome.value(MirrorMeasure::Of((sides, gap)), value);
    }
    let count = gaps.len() as f64;
    let share = |n: usize| 100.0 * (n as f64 + 1.0) / count;
    let points = gaps.iter().enumerate().map(|(n, gap)| (*gap, share(n)));
    outcome.curve(MirrorCurve::Gaps(sides), points.collect());
}

/// Drives whose cells are held against their ratings.
const RATED: [(RatedDrive, &str); 6] = [
    (RatedDrive::I710x100, "intel-710-100gb"),
    (RatedDrive::I710x200, "intel-710-200gb"),
    (RatedDrive::I710x300, "intel-710-300gb"),
    (RatedDrive::I320x300, "intel-320-300gb"),
    (RatedDrive::Consumer, "consumer-sata-1tb"),
    (RatedDrive::S3700, "intel-dc-s3700-200gb"),
];

/// Ratings of writes at random over the whole drive, by their size in bytes.
const UNIFORM: [(UniformEndurance, &str, u32); 6] = [
    (UniformEndurance::Of100By4k, "intel-710-100gb", 4096),
    (UniformEndurance::Of100By8k, "intel-710-100gb", 8192),
    (UniformEndurance::Of200By4k, "intel-710-200gb", 4096),
    (UniformEndurance::Of200By8k, "intel-710-200gb", 8192),
    (UniformEndurance::Of300By4k, "intel-710-300gb", 4096),
    (UniformEndurance::Of300By8k, "intel-710-300gb", 8192),
];

/// Life of the cells under JESD219's enterprise writes, over the ratings.
fn endurance(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<EnduranceMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    let options = EnduranceOptions {
        capacity: Some(CAPACITY_USUAL),
        warm: WARM_USUAL,
        seed: setup.seed,
    };
    let mut least = f64::MAX;
    for (rated, name) in RATED {
        let drive = catalogue::drive(name)?;
        let endurance = worn_by(&drive, &WearWorkload::Enterprise, &options, setup.stop)?;
        outcome.found.rests_on.extend(endurance.rests_on.clone());
        let over_rating = endurance.rated_bytes.map(|rated| endurance.bytes / rated);
        let days = 5.0 * 365.0;
        let user = drive.config.user_bytes as f64;
        for (lasts, value) in [
            (EnduranceMetric::Waf, Some(endurance.waf)),
            (EnduranceMetric::Terabytes, Some(endurance.bytes / 1e12)),
            (EnduranceMetric::OverRating, over_rating),
            (EnduranceMetric::GbDay, Some(endurance.bytes / days / 1e9)),
            (EnduranceMetric::Dwpd, Some(endurance.bytes / days / user)),
        ] {
            outcome.value(EnduranceMeasure::Of((rated, lasts)), value);
        }
        if name.starts_with("intel-710") {
            least = least.min(over_rating.unwrap_or(f64::NAN));
        }
    }
    outcome.value(EnduranceMeasure::Least710, least);
    // The 320's rating is of typical client loads, not of JESD219's enterprise stream.
    let client = catalogue::drive("intel-320-300gb")?;
    let client = worn_by(&client, &WearWorkload::Client, &options, setup.stop)?;
    let per_day = client.bytes / (5.0 * 365.0) / 1e9;
    outcome.value(EnduranceMeasure::Client320, per_day);
    for (uniform, name, block) in UNIFORM {
        let work = WearWorkload::parse("uniform", block, setup.seed)?;
        let endurance = worn_by(&catalogue::drive(name)?, &work, &options, setup.stop)?;
        outcome.value(EnduranceMeasure::Uniform(uniform), endurance.bytes / 1e12);
    }
    let dwpd = |rated| EnduranceMeasure::Of((rated, EnduranceMetric::Dwpd));
    let over = outcome.ratio(dwpd(RatedDrive::S3700), dwpd(RatedDrive::Consumer));
    outcome.value(EnduranceMeasure::S3700OverConsumer, over);
    Ok(outcome)
}

pub(crate) static WEAR: ArticleSection = ArticleSection {
    anchor: "mirror",
    title: "Mirrored log devices, and the wear indicator",
    text: &[
        "Both sides of a mirror are written alike. Equal drives use up their cells at the same \
         rate and differ only in which blocks fail when; a larger one has more cells for the same \
         writes, and more spare area.",
    ],
    ids: &["zil.mwi", "zil.mirror"],
    plots,
};

/// The gaps between the deaths of mirrored drives, and E9 over a life.
fn plots(records: &ExperimentRecords, charts: &mut Charts) -> Markup {
    if records.record(&MIRROR).is_none() {
        return html! {};
    }
    let labels = [
        (MirrorSides::Equal, "100 GB with 100 GB"),
        (MirrorSides::With200, "100 GB with 200 GB"),
        (MirrorSides::With300, "100 GB with 300 GB"),
    ];
    let lines = labels.iter().enumerate().map(|(i, (sides, label))| {
        let mut points = records.curve(&MIRROR, MirrorCurve::Gaps(*sides));
        // A distribution begins at nothing.
        if let Some(&(least, _)) = points.first() {
            points.insert(0, (least, 0.0));
        }
        line(*label, i, points)
    });
    let percent_chart = |title, group, lines| Chart {
        axis: ChartAxis::Percent,
        ..chart(title, group, lines)
    };
    let gaps = percent_chart(
        "Mirrors whose drives die within this gap, %, over the gap in % of the shorter life",
        "gaps",
        lines.collect(),
    );
    let e9 = records.curve(&MIRROR, MirrorCurve::E9).into_iter();
    let e9 = percent_chart(
        "Media wear indicator (E9) over host writes, % of what uses up the rated cycles",
        "e9",
        vec![line("E9", 0, e9.map(|(share, e9)| (100.0 * share, e9)))],
    );
    html! { div .pair { (charts.add(gaps)) (charts.add(e9)) } }
}
