//! Are accounts distinguished from drives, neighbours and heat, on made-up records?

use super::*;
use ssdlab_ssd::rng::Rng;

fn series(purpose: SeriesPurpose, reads: bool, block: u64, rates: Vec<f64>) -> RateSeries {
    RateSeries {
        purpose,
        reads,
        block,
        depth: 32,
        pause_s: 0.0,
        rates,
    }
}

fn early(read: f64, write: f64) -> Vec<RateSeries> {
    vec![
        series(SeriesPurpose::Early, true, 4096, vec![read; 6]),
        series(SeriesPurpose::Early, true, 4096, vec![read; 6]),
        series(SeriesPurpose::Early, false, 16 << 10, vec![write; 6]),
    ]
}

fn levels(parts: &[(f64, usize)]) -> Vec<f64> {
    let parts = parts.iter().map(|(rate, length)| vec![*rate; *length]);
    parts.collect::<Vec<_>>().concat()
}

fn recovery(pause_s: f64, rates: Vec<f64>) -> RateSeries {
    RateSeries {
        pause_s,
        ..series(SeriesPurpose::Recovery, false, 4096, rates)
    }
}

fn recorded(series: Vec<RateSeries>) -> AccountRecord {
    AccountRecord {
        series,
        began_late: false,
    }
}

/// 3,000 a second out of 5.4 million, then 300.
fn gp2() -> AccountRecord {
    let mut list = early(3000.0, 3000.0);
    // 18 s are spent already.
    list.push(series(
        SeriesPurpose::Drain,
        false,
        4096,
        levels(&[(3000.0, 1982), (300.0, 38)]),
    ));
    list.push(series(SeriesPurpose::Late, true, 4096, vec![300.0; 12]));
    // A pause of 30 s earns 9,000: 3.33 s of 2,700 more than the base.
    list.push(recovery(
        30.0,
        levels(&[(3000.0, 3), (1200.0, 1), (300.0, 11)]),
    ));
    list.push(recovery(90.0, levels(&[(3000.0, 10), (300.0, 12)])));
    list.push(series(
        SeriesPurpose::Late,
        false,
        16 << 10,
        vec![300.0; 12],
    ));
    recorded(list)
}

#[test]
fn the_account_of_gp2_is_read_off_its_record() {
    let finding = detect(&gp2());
    assert_eq!(finding.kind, SpeedKind::Account, "{:?}", finding.why);
    assert_eq!(finding.unit, Some(AccountUnit::Operations));
    let value = |estimate: Option<AccountEstimate>| estimate.expect("it is known").value;
    assert_eq!((value(finding.base), value(finding.burst)), (300.0, 3000.0));
    // The commands outstanding at the end of each of three early loads were served as well.
    let uncounted = 3.0 * 32.0 * 0.9;
    assert_eq!(value(finding.credit), 2700.0 * 2000.0 + uncounted);
    assert_eq!(value(finding.refill), 300.0);
    let lasts_s = finding.lasts_s(3000.0).expect("not for ever");
    assert!((lasts_s - 2000.0).abs() < 0.1, "{lasts_s}");
    assert_eq!(finding.lasts_s(300.0), None, "for ever");
    let credit = finding.credit.expect("it is known");
    assert!(credit.low <= 5_400_000.0 && credit.high >= 5_400_000.0);
}

#[test]
fn bytes_are_told_from_operations() {
    let mut record = gp2();
    // 16 KiB writes have a quarter of the rate: the same bytes.
    for series in record
        .series
        .iter_mut()
        .filter(|series| series.block == 16 << 10)
    {
        series.rates = series.rates.iter().map(|rate| rate / 4.0).collect();
    }
    let finding = detect(&record);
    assert_eq!(
        (finding.kind, finding.unit),
        (SpeedKind::Account, Some(AccountUnit::Bytes))
    );
    assert_eq!(finding.base.map(|base| base.value), Some(300.0 * 4096.0));
}

#[test]
fn a_drive_whose_reads_are_as_fast_as_ever_is_no_account() {
    let mut record = gp2();
    for series in record.series.iter_mut().filter(|series| series.reads) {
        series.rates = vec![80_000.0; 12];
    }
    assert_eq!(detect(&record).kind, SpeedKind::DriveFall);
}

#[test]
fn a_cache_that_refills_by_itself_is_no_account() {
    let mut record = gp2();
    // A pause of any length gives the whole cache back.
    for series in &mut record.series {
        if series.purpose == SeriesPurpose::Recovery {
            series.rates = levels(&[(3000.0, 200), (300.0, 12)]);
        }
    }
    let kind = detect(&record).kind;
    assert!(
        matches!(kind, SpeedKind::Unknown | SpeedKind::DriveFall),
        "{kind:?}"
    );
}

#[test]
fn a_neighbour_and_heat_are_no_constants() {
    let mut rng = Rng::new(5);
    let mut wander = |rate: f64, length: usize| -> Vec<f64> {
        let mut level = rate;
        let step = (0..length).map(|_| {
            level += rate * 0.03 * (rng.below(2001) as f64 / 1000.0 - 1.0);
            level.max(rate / 4.0)
        });
        step.collect()
    };
    let mut list = early(3000.0, 3000.0);
    list.push(series(
        SeriesPurpose::Drain,
        false,
        4096,
        wander(3000.0, 600),
    ));
    let kind = detect(&recorded(list)).kind;
    assert!(
        matches!(
            kind,
            SpeedKind::Unsteady | SpeedKind::Unknown | SpeedKind::DriveFall
        ),
        "{kind:?}"
    );
    // Heat: a sawtooth between two speeds.
    let saw: Vec<f64> = (0..600)
        .map(|s| if s / 40 % 2 == 0 { 9000.0 } else { 4000.0 })
        .collect();
    let mut list = early(9000.0, 9000.0);
    list.push(series(SeriesPurpose::Drain, false, 4096, saw));
    let finding = detect(&recorded(list));
    assert!(
        !matches!(finding.kind, SpeedKind::Account | SpeedKind::Limit),
        "{finding:?}"
    );
}

#[test]
fn a_limit_is_the_same_for_every_load_and_a_drive_is_not() {
    let with = |read: f64, write: f64| {
        let mut list = early(read, write);
        list.push(series(SeriesPurpose::Drain, false, 4096, vec![3000.0; 60]));
        detect(&recorded(list))
    };
    let limit = with(3000.0, 3000.0);
    assert_eq!(
        (limit.kind, limit.unit),
        (SpeedKind::Limit, Some(AccountUnit::Operations))
    );
    assert_eq!(with(3000.0, 750.0).unit, Some(AccountUnit::Bytes));
    assert_eq!(with(90_000.0, 3000.0).kind, SpeedKind::NoLimit);
}

/// As on a volume whose credit another program has nearly used up: the loads before the drain have
/// the burst, the drain has not.
#[test]
fn credit_that_ends_before_the_drain_is_an_account_all_the_same() {
    let mut record = gp2();
    for series in &mut record.series {
        if series.purpose == SeriesPurpose::Drain {
            series.rates = levels(&[(840.0, 1), (300.0, 38)]);
        }
    }
    let finding = detect(&record);
    assert_eq!(finding.kind, SpeedKind::Account, "{:?}", finding.why);
    let value = |estimate: Option<AccountEstimate>| estimate.expect("it is known").value;
    assert_eq!((value(finding.base), value(finding.burst)), (300.0, 3000.0));
    let uncounted = 3.0 * 32.0 * 0.9;
    assert_eq!(value(finding.credit), 18.0 * 2700.0 + 540.0 + uncounted);
}

/// Recorded of a served gp3: its 3,330 operations bind small commands, 125 MiB/s large ones.
#[test]
fn another_limit_of_larger_commands_is_no_drop() {
    let mut list = early(3330.0, 3330.0);
    list.push(series(SeriesPurpose::Drain, false, 4096, vec![3330.0; 30]));
    let large = |purpose, reads, block, rate| series(purpose, reads, block, vec![rate; 10]);
    list.push(large(SeriesPurpose::Drain, false, 256 << 10, 500.0));
    let finding = detect(&recorded(list));
    assert_eq!(finding.kind, SpeedKind::Limit, "{:?}", finding.why);
    assert_eq!(finding.unit, Some(AccountUnit::Operations));
}

/// Recorded of nbdkit's rate filter: twelve large commands a second, more or less by two thirds.
#[test]
fn few_large_commands_swing_under_a_limit_of_bytes() {
    let mut list = early(757.0, 189.0);
    list.push(series(SeriesPurpose::Drain, false, 4096, vec![757.0; 30]));
    let swinging = [
        8, 6, 12, 21, 3, 12, 15, 14, 6, 15, 14, 9, 11, 18, 6, 13, 17, 13, 4, 12, 10, 16, 9, 19, 9,
        7, 17, 15, 10, 8,
    ];
    let swinging = swinging.map(f64::from).to_vec();
    list.push(series(SeriesPurpose::Drain, false, 256 << 10, swinging));
    let finding = detect(&recorded(list));
    assert_eq!(finding.kind, SpeedKind::Limit, "{:?}", finding.why);
    assert_eq!(finding.unit, Some(AccountUnit::Bytes));
}

/// Recorded of a loop device behind blkio.throttle at 2,456 a second on a busy host: the deeper of
/// two reads was held back for its whole length.
#[test]
fn a_busy_host_hides_no_limit() {
    let deep = vec![1481.0, 1386.0, 1813.0, 1651.0, 1764.0];
    let with = |deep: Vec<f64>| {
        let reads = |rates| series(SeriesPurpose::Early, true, 4096, rates);
        let writes = |purpose, block| series(purpose, false, block, vec![2450.0; 30]);
        let list = vec![
            reads(vec![2451.0, 2450.0, 2450.0, 2450.0, 2450.0]),
            reads(deep),
            writes(SeriesPurpose::Early, 16 << 10),
            writes(SeriesPurpose::Drain, 4096),
        ];
        detect(&recorded(list))
    };
    let finding = with(deep);
    assert_eq!(finding.kind, SpeedKind::Limit, "{:?}", finding.why);
    assert_eq!(finding.unit, Some(AccountUnit::Operations));
    // Reads that grow with the queue are a drive's.
    assert_ne!(with(vec![4900.0; 5]).kind, SpeedKind::Limit);
}

/// The reads of `qualify` had the burst; its random writes had the base from the beginning.
#[test]
fn the_credit_of_a_record_that_began_late_is_not_known() {
    let mut record = gp2();
    record.series.retain(|series| {
        series.purpose != SeriesPurpose::Early || (series.reads && series.block == 4096)
    });
    for series in &mut record.series {
        if series.purpose == SeriesPurpose::Drain {
            series.rates = vec![300.0; 38];
        }
    }
    record.began_late = true;
    assert!(record.has_step());
    let finding = detect(&record);
    assert_eq!(finding.kind, SpeedKind::Account, "{:?}", finding.why);
    assert_eq!((finding.credit, finding.burst_s), (None, None));
    let value = |estimate: Option<AccountEstimate>| estimate.expect("it is known").value;
    assert_eq!((value(finding.base), value(finding.burst)), (300.0, 3000.0));
}

/// Recorded of `qualify volume:gp2,size=100,credit=2`: the credit ended in the load before the
/// drain.
#[test]
fn credit_that_ends_in_another_load_is_an_account_all_the_same() {
    let mut record = gp2();
    for series in &mut record.series {
        match series.purpose {
            SeriesPurpose::Early if !series.reads => {
                series.rates = levels(&[(3000.0, 1), (1234.0, 1), (300.0, 4)]);
            }
            SeriesPurpose::Drain => series.rates = vec![300.0; 38],
            _ => {}
        }
    }
    let finding = detect(&record);
    assert_eq!(finding.kind, SpeedKind::Account, "{:?}", finding.why);
    let value = |estimate: Option<AccountEstimate>| estimate.expect("it is known").value;
    assert_eq!((value(finding.base), value(finding.burst)), (300.0, 3000.0));
}
