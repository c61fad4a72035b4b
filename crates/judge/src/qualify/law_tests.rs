//! The laws over the kept drives, over drives made of them, and over planted contradictions.

use super::super::{judge, names, references, role, roles};
use super::*;

/// The kept drives, and of each one half and one twice as fast in every respect.
fn drives() -> Vec<Evidence> {
    let kept = references::kept().unwrap();
    let kept = kept.into_iter().map(|drive| drive.evidence);
    kept.flat_map(|e| {
        let [slow, fast] = [0.5, 2.0].map(|factor| faster(&e, factor));
        [e, slow, fast]
    })
    .collect()
}

fn faster(e: &Evidence, factor: f64) -> Evidence {
    let mut e = e.clone();
    let time = |ns: &mut u64| *ns = (*ns as f64 / factor) as u64;
    e.facts.name = format!("{}, {factor} times as fast", e.facts.name);
    for p in &mut e.probes {
        p.per_second *= factor;
        p.mean_ns /= factor;
        p.flush_p99_ns.iter_mut().for_each(time);
        for ns in [
            &mut p.p50_ns,
            &mut p.p99_ns,
            &mut p.p999_ns,
            &mut p.p9999_ns,
            &mut p.max_ns,
        ] {
            time(ns);
        }
    }
    for run in &mut e.sustained {
        run.iops_end *= factor;
        time(&mut run.read_p50_ns);
        time(&mut run.read_p99_ns);
    }
    if let Some(o) = &mut e.overwrite {
        o.sustained *= factor;
        o.rates.iter_mut().for_each(|rate| *rate *= factor);
        for run in &mut o.durable {
            run.after *= factor;
            run.after_80_min.iter_mut().for_each(|rate| *rate *= factor);
            for ns in [
                &mut run.p50_ns,
                &mut run.p99_ns,
                &mut run.p999_ns,
                &mut run.p9999_ns,
                &mut run.max_ns,
            ] {
                time(ns);
            }
        }
        for run in &mut o.used {
            run.per_second *= factor;
            for ns in [&mut run.p50_ns, &mut run.p99_ns, &mut run.max_ns] {
                time(ns);
            }
        }
    }
    e
}

fn assessed(role: &Role, evidence: Evidence) -> Assessment {
    Assessment {
        verdict: judge(role, &evidence),
        evidence,
    }
}

#[test]
fn no_verdict_on_a_kept_drive_or_one_made_of_it_contradicts_a_law() {
    let drives = drives();
    assert!(drives.len() >= 3 * 20);
    for role in roles() {
        let all: Vec<Assessment> = drives.iter().map(|e| assessed(role, e.clone())).collect();
        let mut found = of_order(role, &all);
        found.extend(all.iter().flat_map(|drive| of_one(role, drive)));
        // What draws leave open has an order as well.
        let alone = drives.iter().map(|e| {
            let ensemble = None;
            assessed(
                role,
                Evidence {
                    ensemble,
                    ..e.clone()
                },
            )
        });
        found.extend(of_order(role, &alone.collect::<Vec<Assessment>>()));
        assert_eq!(found, [""; 0], "{}", role.name);
    }
}

fn kept(name: &str) -> Evidence {
    let mut kept = references::kept().unwrap().into_iter();
    let drive = kept.find(|drive| drive.evidence.facts.name.ends_with(name));
    drive.expect(name).evidence
}

fn planted(change: fn(&mut Assessment)) -> Vec<String> {
    let slog = role("slog").unwrap();
    let mut drive = assessed(slog, kept("samsung-980-1tb"));
    assert_eq!(of_one(slog, &drive), [""; 0]);
    change(&mut drive);
    of_one(slog, &drive)
}

#[track_caller]
fn assert_said(found: &[String], said: &str) {
    assert!(found.iter().any(|f| f.contains(said)), "{said}: {found:?}");
}

#[test]
fn a_planted_contradiction_of_each_kind_is_found() {
    let said = planted(|d| d.verdict.consequence = "A pool commits 12,345 writes.".into());
    assert_said(&said, "no finding holds the 12,345");
    // A median with the rate of the mean.
    let said = planted(|d| d.verdict.answer = "It takes 97.8 us (9,990 a second).".into());
    assert_said(&said, "is not the rate of the time before it");
    let said =
        planted(|d| d.verdict.answer = "It takes 97.8 us on average (9,990 a second).".into());
    assert_said(&said, "is not the rate of the time before it");
    // 471 in the answer, 26 in the sentence.
    let said = planted(|d| {
        d.verdict.consequence = "A pool commits 26 durable 4 KiB writes a second fresh.".into();
    });
    assert_said(&said, "fresh: 471 /s, but it is said");
    let said = planted(|d| {
        for p in &mut d.evidence.probes {
            p.per_second = 777.0;
        }
    });
    assert_said(&said, "is 471 /s here and 777 /s there");
    let said = planted(|d| d.verdict.outcome = QualifyOutcome::Pass);
    assert_said(&said, "PASS, but its findings make it FAIL");
    let said = planted(|d| {
        let f = d.verdict.findings.iter_mut();
        for f in f.filter(|f| f.id == "endurance") {
            f.value = "3.00 DWPD, 2.40 TB/day".into();
        }
    });
    assert_said(&said, "3.00 DWPD, 2.40 TB/day misses >= 3 DWPD");
}

/// "PASS, decided by: survive a power cut: unknown" was the worst finding of all.
#[test]
fn a_finding_of_another_outcome_that_decides_is_found() {
    for name in ["samsung-980-1tb", "intel-dc-s3700-400gb"] {
        let drive = assessed(role("slog").unwrap(), kept(name));
        let other = |f: &&RoleFinding| f.outcome != drive.verdict.outcome || !f.hard;
        let findings = &drive.verdict.findings;
        let said = decided(&drive.verdict, findings.iter().find(other));
        assert_said(&said, "decided by");
    }
    let drive = assessed(role("slog").unwrap(), kept("samsung-980-1tb"));
    assert_said(&decided(&drive.verdict, None), "FAIL decided by nothing");
}

/// The SN550 failed `general`, and slower drives passed.
#[test]
fn a_better_drive_with_a_worse_verdict_is_found() {
    let general = role("general").unwrap();
    let mut better = assessed(general, faster(&kept("samsung-980-1tb"), 2.0));
    let worse = assessed(general, kept("samsung-980-1tb"));
    assert_eq!(of_order(general, &[better.clone(), worse.clone()]), [""; 0]);
    better.verdict.outcome = QualifyOutcome::Fail;
    let said = of_order(general, &[better.clone(), worse.clone()]);
    assert_said(&said, "at least as good as");
    for f in &mut better.verdict.findings {
        f.outcome = QualifyOutcome::Fail;
    }
    let said = of_order(general, &[better, worse]);
    assert_said(&said, "is met by 471 /s and missed by 942 /s");
}

/// A new Micron 7450 MAX, 3 drive writes a day by its sheet, fell short of 3.
#[test]
fn a_rating_is_held_against_its_limit_as_it_is_meant() {
    let slog = role("slog").unwrap();
    let drive = assessed(slog, kept("micron-7450-max-800gb"));
    let of = |drive: &Assessment| {
        let mut findings = drive.verdict.findings.iter();
        findings.find(|f| f.id == "endurance").unwrap().clone()
    };
    assert_eq!(of(&drive).outcome, QualifyOutcome::Pass, "{:?}", of(&drive));
    let mut short = drive.evidence.clone();
    short.facts.rated_bytes_written = Some(4_379_000_000_000_000);
    let found = of(&assessed(slog, short));
    assert_eq!(found.outcome, QualifyOutcome::Fail);
    assert_eq!(found.value, "2.999 DWPD, 2.40 TB/day");
}

/// A real drive's screen obeys them too, and a drive on which nothing was measured.
#[test]
fn evidence_that_is_made_up_obeys_the_laws() {
    use super::super::fixtures::{cliff, consumer, liar, protected, virtio_file};
    let none = Evidence::none(protected().facts);
    for e in [
        cliff(),
        consumer(),
        liar(),
        protected(),
        virtio_file(),
        none,
    ] {
        for role in roles() {
            let found = of_one(role, &assessed(role, e.clone()));
            assert_eq!(found, [""; 0], "{}", role.name);
        }
    }
    let probe = protected();
    assert!(probe.probe(names::FUA, 1).is_some());
}
