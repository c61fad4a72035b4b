//! Verdicts on drives whose answer is known beforehand, and laws over every role and requirement.

use super::fixtures::{self, cliff, consumer, facts, liar, protected, virtio_file};
use super::readings::{MeasureReading, read};
use super::roles::{DurableMethod, QualifyMeasure, roles};
use super::{
    Evidence, EvidenceGrade, QualifyOutcome, RoleFinding, RoleVerdict, explain, judge, names, role,
};
use ssdlab_bench::device::TargetKind;

fn verdict(role_name: &str, e: &Evidence) -> RoleVerdict {
    judge(role(role_name).unwrap(), e)
}

fn finding<'a>(v: &'a RoleVerdict, id: &str) -> &'a RoleFinding {
    v.findings.iter().find(|f| f.id == id).unwrap()
}

fn mechanism_ids(e: &Evidence) -> Vec<String> {
    explain(e).into_iter().map(|m| m.id).collect()
}

#[test]
fn the_consumer_drive_is_no_log_device() {
    let v = verdict("slog", &consumer());
    assert_eq!(v.outcome, QualifyOutcome::Fail);
    assert_eq!(
        v.answer,
        "No: not a good choice as a ZFS log device: a durable 4 KiB write takes 15.2 ms on \
         average (66 a second) because the volatile buffer is forced to media on each one."
    );
    assert_eq!(finding(&v, "durability").outcome, QualifyOutcome::Unknown);
    assert_eq!(finding(&v, "endurance").value, "0.10 DWPD, 0.10 TB/day");
    assert_eq!(finding(&v, "endurance").limit, ">= 3 DWPD or >= 4 TB/day");
}

#[test]
fn the_consumer_drive_is_no_cache_device_and_the_reasons_are_named() {
    let v = verdict("s2d-cache", &consumer());
    assert_eq!(
        v.answer,
        "No: not a good choice as a Storage Spaces Direct cache device: it has no power-loss \
         protection, and a durable 4 KiB write takes 15.2 ms on average (66 a second) because \
         the volatile buffer is forced to media on each one."
    );
    let plp = finding(&v, "power_loss_protection");
    assert_eq!(
        (plp.outcome, plp.grade),
        (QualifyOutcome::Fail, EvidenceGrade::Documented)
    );
    assert_eq!(finding(&v, "write_through_penalty").value, "136x");
    // A dozen seconds without a cliff prove nothing; a drive that was overwritten does.
    assert_eq!(finding(&v, "write_cliff").outcome, QualifyOutcome::Pass);
    let mut short = consumer();
    short.overwrite = None;
    short.facts.kind = TargetKind::BlockDevice;
    let v = verdict("s2d-cache", &short);
    for id in ["write_cliff", "steady_state"] {
        assert_eq!(finding(&v, id).outcome, QualifyOutcome::Unknown, "{id}");
    }
}

/// A model that misses its own data sheet by some factor meets a limit only by more than that.
#[test]
fn a_model_that_is_off_passes_only_by_more_than_it_is_off() {
    let answer = |name: &str, rate: f64| {
        let mut e = protected();
        (e.facts.name, e.facts.kind) = (format!("drive:{name}"), TargetKind::Modelled);
        e.overwrite = Some(fixtures::overwritten(40.0, rate, rate));
        let v = verdict("slog", &e);
        (v.outcome, finding(&v, "sustained_durable_rate").clone())
    };
    let off = "intel-dc-p3700-800gb";
    let margin = ssdlab_drives::catalogue::DatasheetStanding::of(off).margin();
    assert!(margin > 1.05, "{off} is validated: take another drive");
    for (rate, outcome) in [
        (700.0 * margin * 1.01, QualifyOutcome::Pass),
        (700.0 * margin * 0.99, QualifyOutcome::Unknown),
        (699.0, QualifyOutcome::Fail),
    ] {
        let (whole, found) = answer(off, rate);
        assert_eq!((whole, found.outcome), (outcome, outcome), "{rate}");
        assert_eq!(
            found.why.contains("data sheet by up to"),
            outcome == QualifyOutcome::Unknown
        );
    }
    // A validated model, or a drive that is measured itself, is taken at its word.
    assert_eq!(
        answer("intel-dc-s3700-400gb", 701.0).0,
        QualifyOutcome::Pass
    );
}

/// A rate that was steady for a while and fell is no steady state.
#[test]
fn a_steady_state_that_was_left_does_not_hold() {
    let mut e = consumer();
    e.overwrite = None;
    e.facts.kind = TargetKind::BlockDevice;
    let of = |e: &Evidence| finding(&verdict("s2d-cache", e), "steady_state").clone();
    let mut steady = fixtures::steady(0.04, 0.01);
    for run in &mut e.sustained {
        run.steady = Some(steady.clone());
    }
    let before = of(&e);
    steady.left_for = Some(0.25);
    for run in &mut e.sustained {
        run.steady = Some(steady.clone());
    }
    let after = of(&e);
    assert_ne!(before.outcome, after.outcome);
    assert!(after.why.contains("It was left again"), "{}", after.why);
}

#[test]
fn the_consumer_drive_fails_etcd_by_its_flush_tail_yet_serves_a_desk() {
    let v = verdict("db-wal", &consumer());
    assert_eq!(v.outcome, QualifyOutcome::Fail);
    assert!(v.answer.contains("one flush in a hundred"), "{}", v.answer);
    assert_eq!(
        verdict("general", &consumer()).outcome,
        QualifyOutcome::Pass
    );
}

#[test]
fn its_protected_twin_passes_every_role() {
    for role in roles() {
        let v = judge(role, &protected());
        assert_eq!(
            v.outcome,
            QualifyOutcome::Pass,
            "{}: {}",
            role.name,
            v.answer
        );
        let met = |f: &RoleFinding| f.outcome == QualifyOutcome::Pass;
        assert!(
            v.findings.iter().all(met),
            "{}: {:?}",
            role.name,
            v.findings
        );
        assert!(v.mechanisms.is_empty(), "{:?}", v.mechanisms);
    }
    assert_eq!(
        verdict("slog", &protected()).answer,
        "Yes: a good choice as a ZFS log device: a durable 4 KiB write takes 41.7 us on average \
         (24,000 a second) and the buffer is power-protected."
    );
}

#[test]
fn timing_never_proves_durability_on_a_virtual_disk() {
    let e = virtio_file();
    for name in ["slog", "s2d-cache", "ceph-wal", "db-wal"] {
        let v = verdict(name, &e);
        assert_eq!(v.outcome, QualifyOutcome::Unknown, "{name}: {}", v.answer);
    }
    let v = verdict("s2d-cache", &e);
    let plp = finding(&v, "power_loss_protection");
    assert_eq!(plp.value, "unknown");
    assert_eq!(plp.grade, EvidenceGrade::Behavioural);
    assert!(plp.why.contains("virtual machine"), "{}", plp.why);
    assert!(plp.why.contains("only power cuts"), "{}", plp.why);
    // Not even when the virtual disk claims protection.
    let mut claims = e;
    claims.facts.power_loss_protection = Some(true);
    let v = verdict("s2d-cache", &claims);
    assert_eq!(v.outcome, QualifyOutcome::Unknown);
}

#[test]
fn timing_condemns_a_virtual_disk_that_is_slow() {
    let mut e = virtio_file();
    e.probes[2] = fixtures::probe(names::WRITE_FLUSH, 1, 1_900.0, 519.0);
    let v = verdict("slog", &e);
    assert_eq!(v.outcome, QualifyOutcome::Fail);
    let forced = "volatile_buffer_forced_to_media";
    let m = v.mechanisms.iter().find(|m| m.id == forced).unwrap();
    assert!(m.sentence.contains("hypervisor"), "{}", m.sentence);
}

#[test]
fn a_flush_too_fast_to_be_true_is_called_suspicious() {
    let v = verdict("slog", &liar());
    assert_eq!(v.outcome, QualifyOutcome::Unknown);
    assert!(v.answer.contains("suspiciously fast"), "{}", v.answer);
    assert!(finding(&v, "durability").why.contains("suspiciously fast"));
    assert_eq!(mechanism_ids(&liar()), ["implausibly_fast_flush"]);
    // 10 us is not below 10 us.
    let mut at_limit = liar();
    at_limit.probes[1].p50_ns = 10_000;
    at_limit.probes[2].p50_ns = 10_000;
    assert!(mechanism_ids(&at_limit).is_empty());
    // Without a flush on its way to the device there is nothing to lie about.
    let mut through = liar();
    through.facts.write_cache = Some("write through".into());
    assert!(mechanism_ids(&through).is_empty());
    let why = finding(&verdict("slog", &through), "durability")
        .why
        .clone();
    assert!(why.contains("sends no flush at all"), "{why}");
}

#[test]
fn a_cliff_is_named_in_verdict_and_mechanisms() {
    let of = |worst: f64| {
        let mut e = cliff();
        e.overwrite = Some(fixtures::overwritten(40.0, 29_000.0, worst));
        verdict("s2d-cache", &e)
    };
    // Half of enough several times over is enough: a drive ten times above its limit was
    // condemned by its drop, and one that never had more passed.
    let v = of(3_625.0);
    assert_eq!(v.outcome, QualifyOutcome::Pass);
    assert_eq!(finding(&v, "write_cliff").value, "88 %");
    assert_eq!(finding(&v, "write_cliff").outcome, QualifyOutcome::Pass);
    let why = &finding(&v, "write_cliff").why;
    assert!(why.contains("3,625 /s is 5.2 times"), "{why}");
    let v = of(1_500.0);
    assert_eq!(v.outcome, QualifyOutcome::Pass);
    assert_eq!(finding(&v, "write_cliff").outcome, QualifyOutcome::Fail);
    assert!(v.answer.contains("usable"), "{}", v.answer);
    let v = of(600.0);
    assert_eq!(v.outcome, QualifyOutcome::Fail);
    let said = "a server completes 29,000 durable 4 KiB writes a second fresh, 600 writes used, \
                and 600 writes in the worst case";
    assert!(v.answer.contains(said), "{}", v.answer);
    assert_eq!(mechanism_ids(&cliff()), ["write_cliff", "no_steady_state"]);
}

#[test]
fn law_no_evidence_gives_unknown_and_no_number() {
    for kind in [
        TargetKind::File,
        TargetKind::BlockDevice,
        TargetKind::Modelled,
    ] {
        let e = Evidence::none(facts(kind));
        assert!(explain(&e).is_empty());
        for role in roles() {
            let v = judge(role, &e);
            assert_eq!(v.outcome, QualifyOutcome::Unknown, "{}", role.name);
            for f in &v.findings {
                assert_eq!(f.outcome, QualifyOutcome::Unknown, "{} {}", role.name, f.id);
                assert_eq!(
                    (f.value.as_str(), f.grade),
                    ("unknown", EvidenceGrade::None)
                );
                assert!(!f.why.is_empty());
            }
        }
    }
}

#[test]
fn law_every_measure_is_read_off_full_evidence() {
    for method in [DurableMethod::Fua, DurableMethod::WriteFlush] {
        for measure in QualifyMeasure::ALL {
            let reading = read(measure, method, &protected());
            let (why, said) = match &reading {
                MeasureReading::Number { why, value, .. }
                | MeasureReading::Falling { why, value, .. } => (why, value.is_finite()),
                MeasureReading::Fact { why, .. } => (why, true),
                MeasureReading::Unknown { why, .. } | MeasureReading::Partial { why, .. } => {
                    (why, false)
                }
            };
            assert!(said, "{measure:?}: {reading:?}");
            assert!(why.ends_with('.') && why.len() > 10, "{measure:?}: {why}");
        }
    }
}

#[test]
fn law_findings_have_sources_and_answers_end() {
    for e in [consumer(), protected(), virtio_file(), liar(), cliff()] {
        for role in roles() {
            let v = judge(role, &e);
            assert!(v.answer.ends_with('.') && v.answer.contains(&role.as_a));
            assert_eq!(v.findings.len(), role.requirements.len());
            for f in &v.findings {
                assert!(!f.source.is_empty() && !f.limit.is_empty() && !f.why.is_empty());
                assert!(!f.why.contains("NaN") && !f.value.contains("inf"));
            }
        }
    }
}

#[test]
fn a_percentile_needs_enough_measurements() {
    let mut e = protected();
    e.overwrite = None;
    for p in &mut e.probes {
        p.count = 99;
    }
    let p99 = |e: &Evidence| read(QualifyMeasure::DurableWriteP99, DurableMethod::Fua, e);
    assert!(matches!(p99(&e), MeasureReading::Unknown { .. }));
    for p in &mut e.probes {
        p.count = 100;
    }
    assert!(matches!(p99(&e), MeasureReading::Number { .. }));
}

#[test]
fn a_files_size_is_not_the_drives_capacity() {
    let mut e = protected();
    e.facts.kind = TargetKind::File;
    let dwpd = read(QualifyMeasure::EnduranceDwpd, DurableMethod::Fua, &e);
    assert!(matches!(dwpd, MeasureReading::Unknown { .. }));
    // The alternative, TB per day, still decides.
    let v = verdict("s2d-cache", &e);
    assert_eq!(finding(&v, "endurance").outcome, QualifyOutcome::Pass);
}

/// Five minutes at a good rate were called sustained, and PASS, on drives that fall later.
#[test]
fn time_that_ended_a_run_can_condemn_a_drive_and_never_pass_it() {
    let mut e = protected();
    e.overwrite = None;
    e.facts.kind = TargetKind::BlockDevice;
    let of = |role, e: &Evidence| finding(&verdict(role, e), "sustained_durable_rate").clone();
    let good = of("s2d-cache", &e);
    assert_eq!(good.outcome, QualifyOutcome::Unknown);
    assert_eq!(good.value, "29,000 /s so far");
    for said in ["of the 2.7 TiB needed", "the rest takes"] {
        assert!(good.why.contains(said), "{}", good.why);
    }
    for run in &mut e.sustained {
        run.iops_end = 66.0;
    }
    assert_eq!(of("s2d-cache", &e).outcome, QualifyOutcome::Fail);
    // A log flushes after its writes: written-through ones do not decide.
    assert_eq!(of("slog", &e).outcome, QualifyOutcome::Unknown);
}

#[test]
fn a_model_that_still_moves_is_not_sustained() {
    let mut e = protected();
    for still in ["rate", "write amplification", "map", "bytes"] {
        let o = e.overwrite.as_mut().expect("overwritten");
        *o = fixtures::overwritten(40.0, 29_000.0, 29_000.0);
        match still {
            "rate" => o.rate_steady = false,
            "map" => o.map_steady = false,
            "bytes" => o.written = o.needed - 1,
            _ => o.waf_steady = false,
        }
        let v = verdict("slog", &e);
        assert_eq!(v.outcome, QualifyOutcome::Unknown, "{still}: {}", v.answer);
    }
}

/// The 320 of 160 GB had 26, then 4.5 durable writes a second, as it was written to more or less
/// before it was given up; 80 minutes of them give 670.
#[test]
fn a_drive_that_never_settles_is_shown_after_80_minutes_and_is_never_usable() {
    let mut e = protected();
    let o = e.overwrite.as_mut().expect("overwritten");
    *o = fixtures::overwritten(1.0, 5_000.0, 4.5);
    o.written_80_min = Some(60_000_000_000);
    for (rate, last, outcome) in [
        (670.0, 4.5, QualifyOutcome::Fail),
        (900.0, 4.5, QualifyOutcome::Fail),
        (900.0, 800.0, QualifyOutcome::Unknown),
    ] {
        for run in &mut e.overwrite.as_mut().expect("overwritten").durable {
            (run.after_80_min, run.after) = (Some(rate), last);
        }
        let v = verdict("slog", &e);
        let f = finding(&v, "sustained_durable_rate");
        assert_eq!(f.outcome, outcome, "{rate} {last}");
        assert!(v.outcome != QualifyOutcome::Pass, "{}", v.answer);
        assert!(
            f.value
                .starts_with(&format!("{rate:.0} /s after 80 min, then")),
            "{}",
            f.value
        );
        let said = format!("in the worst case {rate:.0} after 80 min, then");
        assert!(v.consequence.contains(&said), "{}", v.consequence);
        assert!(f.why.contains("after 80 minutes and 55.9 GiB"), "{}", f.why);
    }
}

/// An S3700 aged past its rating was "a good choice".
#[test]
fn health_decides() {
    use ssdlab_bench::device::health::{DriveHealth, ReportedValue};
    let well = DriveHealth {
        protection_grade: EvidenceGrade::Documented,
        passed: Some(true),
        warnings: Vec::new(),
        used_percent: Some(ReportedValue {
            value: 99.0,
            resolution: 1.0,
            source: "a counter".into(),
        }),
        uncorrectable: Some(0),
        retired: Some(3),
        spare_percent: Some(10.0),
        read_only: Some(false),
        host_bytes_written: Some(184_000_000_000_000),
        temperature_c: Some(70.0),
        too_warm_minutes: None,
    };
    let of = |health: DriveHealth| {
        let mut e = protected();
        e.facts.health = Some(health);
        verdict("slog", &e)
    };
    assert_eq!(of(well.clone()).outcome, QualifyOutcome::Pass);
    type Harm = fn(&mut DriveHealth);
    let sick: [(Harm, &str); 6] = [
        (
            |h| h.used_percent.as_mut().expect("some").value = 100.0,
            "worn out",
        ),
        (
            |h| h.host_bytes_written = Some(7_300_000_000_000_000),
            "worn beyond its rating",
        ),
        (|h| h.uncorrectable = Some(1), "1 reads were uncorrectable"),
        (|h| h.spare_percent = Some(9.0), "3 blocks retired"),
        (|h| h.read_only = Some(true), "refuses writes"),
        (|h| h.temperature_c = Some(71.0), "71 C"),
    ];
    for (make, said) in sick {
        let mut health = well.clone();
        make(&mut health);
        let v = of(health);
        assert_eq!(v.outcome, QualifyOutcome::Fail, "{said}");
        assert!(v.answer.contains(said), "{}", v.answer);
        // What gives names it first, and was silent of a worn drive.
        let first = &v.mechanisms[0];
        assert_eq!(first.id, "drive_reports_trouble");
        assert!(first.sentence.contains(said), "{}", first.sentence);
    }
    let is_named = |v: RoleVerdict| v.mechanisms.iter().any(|m| m.id == "drive_reports_trouble");
    assert!(!is_named(of(well)));
}
