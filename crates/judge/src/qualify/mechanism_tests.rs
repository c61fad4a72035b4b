//! Each mechanism at its threshold, and not on a drive that has nothing to explain.

use super::fixtures::{self, consumer, protected, virtio_file};
use super::{Evidence, Mechanism, explain, names};
use ssdlab_bench::device::TargetKind;

fn shown(e: &Evidence, id: &str) -> Option<Mechanism> {
    explain(e).into_iter().find(|m| m.id == id)
}

#[test]
fn forced_to_media_needs_program_time_and_a_ratio() {
    let id = "volatile_buffer_forced_to_media";
    let m = shown(&consumer(), id).unwrap();
    assert!(m.sentence.contains("30.0 us"), "{}", m.sentence);
    assert!(m.sentence.contains("15.2 ms"), "{}", m.sentence);
    assert!(m.sentence.contains("507 times"), "{}", m.sentence);
    let durable_us = |us: f64| {
        let mut e = consumer();
        e.probes = vec![
            fixtures::probe(names::PLAIN, 1, 40.0, 25_000.0),
            fixtures::probe(names::WRITE_FLUSH, 1, us, 1e6 / us),
        ];
        shown(&e, id).is_some()
    };
    assert!(durable_us(200.0));
    assert!(!durable_us(199.0));
    let mut e = consumer();
    e.facts.power_loss_protection = Some(true);
    assert!(shown(&e, id).is_none());
}

#[test]
fn durable_writes_that_program_twice_the_bytes_wear_the_drive() {
    let waf = |plain, durable| {
        let mut e = consumer();
        e.probes[0].waf = plain;
        e.probes[1].waf = durable;
        shown(&e, "durable_write_amplification")
    };
    let m = waf(Some(1.0), Some(72.0)).unwrap();
    assert!(m.sentence.contains("72 times"), "{}", m.sentence);
    assert!(waf(Some(1.5), Some(2.9)).is_none());
    assert!(waf(None, Some(72.0)).is_none());
}

#[test]
fn two_flushes_per_write_are_doubling() {
    let flushes = |n| {
        let mut e = protected();
        e.probes[1].device_flushes = Some(n);
        shown(&e, "flush_doubling").is_some()
    };
    assert!(flushes(1.8));
    assert!(!flushes(1.79));
    let mut e = protected();
    e.probes.iter_mut().for_each(|p| p.device_flushes = None);
    assert!(shown(&e, "flush_doubling").is_none());
}

#[test]
fn shared_flushes_are_merging_only_when_one_writer_flushes() {
    let mut e = protected();
    e.probes[3].device_flushes = Some(0.13);
    let m = shown(&e, "flush_merging").unwrap();
    assert!(m.sentence.contains("8 writers"), "{}", m.sentence);
    e.probes[1].device_flushes = Some(0.0);
    assert!(shown(&e, "flush_merging").is_none());
}

/// The requirement reads eight writers; four that merge other numbers of flushes stay out of it.
#[test]
fn merging_is_said_of_the_writers_that_the_requirement_reads() {
    let mut e = protected();
    e.probes[3].device_flushes = Some(0.13);
    let four = super::WriteProbe {
        writers: 4,
        device_flushes: Some(0.44),
        ..e.probes[3].clone()
    };
    e.probes.insert(0, four);
    let m = shown(&e, "flush_merging").unwrap();
    assert!(m.sentence.contains("8 writers") && m.sentence.contains("0.13"));
    assert!(!m.sentence.contains("0.44"), "{}", m.sentence);
}

#[test]
fn extra_device_writes_are_the_file_systems_only_on_a_file() {
    let mut e = virtio_file();
    e.probes[2].device_writes = Some(2.0);
    let m = shown(&e, "host_file_system_overhead").unwrap();
    assert!(m.sentence.contains("ext4"), "{}", m.sentence);
    e.facts.kind = TargetKind::BlockDevice;
    assert!(shown(&e, "host_file_system_overhead").is_none());
}

#[test]
fn group_commit_is_absent_when_eight_writers_gain_nothing() {
    let m = shown(&consumer(), "group_commit_absent").unwrap();
    assert!(m.sentence.contains("68") && m.sentence.contains("66"));
    let mut e = consumer();
    for p in e.probes.iter_mut().filter(|p| p.writers == 8) {
        p.per_second = 99.0;
    }
    assert!(shown(&e, "group_commit_absent").is_none());
}

#[test]
fn a_drain_below_100_mb_per_second_is_slow() {
    let m = shown(&consumer(), "slow_drain").unwrap();
    assert!(m.sentence.contains("44 MB/s"), "{}", m.sentence);
    let mut e = consumer();
    e.flush_by_dirty[1] = fixtures::flush(16 << 20, 15_000.0 + 167_000.0);
    assert!(shown(&e, "slow_drain").is_none());
}

#[test]
fn reads_wait_behind_writes_when_their_tail_grows() {
    let m = shown(&consumer(), "read_behind_programs").unwrap();
    assert!(m.sentence.contains("5.00 ms"), "{}", m.sentence);
    assert!(shown(&protected(), "read_behind_programs").is_none());
}

#[test]
fn no_steady_state_gives_both_shares() {
    let mut e = protected();
    e.sustained[4].steady = Some(fixtures::steady(0.25, 0.02));
    let m = shown(&e, "no_steady_state").unwrap();
    assert!(m.sentence.contains("25 %"), "{}", m.sentence);
}

#[test]
fn the_table_names_what_the_functions_return() {
    let mut e = consumer();
    e.probes[1].device_flushes = Some(2.0);
    e.sustained[4].steady = Some(fixtures::steady(0.9, 0.4));
    for m in explain(&e) {
        let named = super::mechanisms::MECHANISMS
            .iter()
            .any(|(id, _)| *id == m.id);
        assert!(named, "{}", m.id);
        assert!(m.sentence.ends_with('.'), "{}", m.sentence);
    }
    let named = |(id, test): &(&str, super::mechanisms::MechanismTest)| {
        test(&e).is_none_or(|m| m.id == *id)
    };
    assert!(super::mechanisms::MECHANISMS.iter().all(named));
}
