use super::*;
use crate::figures::tests::request;
use ssdlab_judge::qualify::roles::role;

/// `count` appends of an etcd member, one in `slow_every` of them slow.
fn appends(count: u64, slow_every: u64) -> RoleCheck {
    let mut preflight = Preflight::new(role("etcd").expect("a role"));
    let mut now_ns = 0;
    for i in 0..count {
        let flush_ns = if i % slow_every == slow_every - 1 {
            30_000_000
        } else {
            2_000_000
        };
        let write = request("WS", 8 * i, 4096, now_ns, 0, 60_000);
        let flush = request("FF", 0, 0, write.done_ns + 5_000, 0, flush_ns);
        now_ns = flush.done_ns + 10_000;
        preflight.request(&write);
        preflight.request(&flush);
    }
    preflight.check(&[], false)
}

fn state(check: &RoleCheck, id: &str) -> LimitState {
    let limit = check.limits.iter().find(|limit| limit.id == id);
    limit.expect("a limit").state
}

#[test]
fn a_member_that_keeps_the_limits_passes_and_one_that_does_not_fails() {
    let fast = appends(1000, 500);
    assert_eq!(fast.outcome, RoleOutcome::Pass, "{fast:?}");
    let p99 = fast
        .limits
        .iter()
        .find(|limit| limit.id == "append_tail")
        .expect("a limit");
    assert!((p99.value.expect("a value") - 2.07).abs() < 0.05, "{p99:?}");
    assert_eq!(state(&fast, "durable_write_p9999"), LimitState::TooFew);
    let slow = appends(1000, 50);
    assert_eq!(slow.outcome, RoleOutcome::Fail, "{slow:?}");
    assert_eq!(state(&slow, "append_tail"), LimitState::Missed);
    let text = text(&slow).replace("\n  ", " ");
    assert!(
        text.contains("30.1 ms") && text.contains("at most 10 ms") && text.contains("✗ FAIL"),
        "{text}"
    );
}

/// A few requests do not pass, and do fail where they are bad enough.
#[test]
fn few_requests_do_not_pass() {
    assert_eq!(appends(0, 2).outcome, RoleOutcome::Unknown);
    assert_eq!(appends(100, 1000).outcome, RoleOutcome::Unknown);
    assert_eq!(appends(100, 10).outcome, RoleOutcome::Fail);
}

/// What a watch cannot see is never counted as met.
#[test]
fn what_is_not_seen_is_listed_with_what_settles_it() {
    let check = appends(1000, 500);
    let durable = check.not_seen.iter().find(|limit| limit.must);
    let durable = durable.expect("durability is a must");
    assert!(durable.settled_by.contains("ssdlab pull"), "{durable:?}");
    for role in ssdlab_judge::qualify::roles::roles() {
        let preflight = Preflight::new(role);
        let check = preflight.check(&[], false);
        assert_eq!(check.outcome, RoleOutcome::Unknown, "{}", role.name);
        assert_eq!(
            check.limits.len() + check.not_seen.len(),
            role.requirements.len(),
            "{}",
            role.name
        );
        assert_eq!(check.ceph.is_some(), role.name == "ceph-wal");
    }
}
