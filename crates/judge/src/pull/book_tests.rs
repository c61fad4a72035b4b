//! Which contents does a book allow after which records?

use super::*;

fn book() -> Book {
    let start = PullTestSetup {
        run: 1,
        path: "target".into(),
        serial: None,
        model: None,
        is_file: true,
        bytes: 8 * 512,
        sector_bytes: 512,
        seed: 1,
        at: String::new(),
    };
    Book::new(start).expect("a book")
}

fn issue(seq: u64, first: u64, fua: bool) -> LedgerRecord {
    LedgerRecord::Issued {
        seq,
        first,
        count: 1,
        fua,
    }
}

fn acked(seq: u64) -> LedgerRecord {
    LedgerRecord::Acked { seq, at_ns: seq }
}

fn after(records: &[LedgerRecord]) -> Book {
    let mut book = book();
    for record in records {
        book.apply(record).expect("fits");
    }
    book
}

fn lost(
    book: &Book,
    sector: u64,
    found: Result<u64, UnexpectedContent>,
) -> Option<(u64, PromiseBasis)> {
    match book.judge(sector, found).expect("known") {
        SectorVerdict::Lost(loss) => Some((loss.expected, loss.maker)),
        SectorVerdict::Holds(_) => None,
    }
}

const BEGIN: LedgerRecord = LedgerRecord::FlushBegun { flush: 1 };
const DONE: LedgerRecord = LedgerRecord::FlushDone { flush: 1, at_ns: 9 };

#[test]
fn a_flush_covers_what_was_acknowledged_before_it_was_sent() {
    let records = [
        issue(1, 0, false),
        issue(2, 1, false),
        acked(1),
        BEGIN,
        acked(2),
    ];
    let before = after(&records);
    assert_eq!(lost(&before, 0, Err(UnexpectedContent::Zeros)), None);
    let mut done = before;
    done.apply(&DONE).expect("fits");
    let flush = Some((1, PromiseBasis::Flush));
    assert_eq!(lost(&done, 0, Err(UnexpectedContent::Zeros)), flush);
    assert_eq!(
        lost(&done, 1, Err(UnexpectedContent::Zeros)),
        None,
        "acknowledged later"
    );
}

#[test]
fn a_fua_write_is_durable_when_it_completes_and_not_before() {
    let sent = after(&[issue(1, 0, true)]);
    assert_eq!(lost(&sent, 0, Err(UnexpectedContent::Foreign)), None);
    let done = after(&[issue(1, 0, true), acked(1), issue(2, 0, false), acked(2)]);
    for allowed in [1, 2] {
        assert_eq!(lost(&done, 0, Ok(allowed)), None);
    }
    assert_eq!(
        lost(&done, 0, Err(UnexpectedContent::Zeros)),
        Some((1, PromiseBasis::Fua))
    );
    let newer = after(&[issue(1, 0, true), acked(1), issue(2, 0, true), acked(2)]);
    assert_eq!(lost(&newer, 0, Ok(1)), Some((2, PromiseBasis::Fua)));
}

#[test]
fn a_flush_does_not_lower_what_a_fua_write_promised() {
    let records = [
        issue(1, 0, false),
        acked(1),
        BEGIN,
        issue(2, 0, true),
        acked(2),
        DONE,
    ];
    assert_eq!(
        lost(&after(&records), 0, Ok(1)),
        Some((2, PromiseBasis::Fua))
    );
}

#[test]
fn what_was_read_after_a_pull_is_durable_and_the_rest_is_gone() {
    let mut book = after(&[issue(1, 0, true), acked(1), issue(2, 0, false), acked(2)]);
    for record in [
        LedgerRecord::Holds {
            sector: 0,
            seq: Some(1),
        },
        LedgerRecord::Settled(None),
        issue(3, 1, false),
        issue(4, 0, false),
    ] {
        book.apply(&record).expect("fits");
    }
    assert_eq!(lost(&book, 0, Ok(1)), None);
    assert_eq!(lost(&book, 0, Ok(4)), None);
    let back = Some((1, PromiseBasis::ReadBack));
    assert_eq!(lost(&book, 0, Ok(2)), back, "a lost write came back");
}

#[test]
fn a_write_that_the_ledger_does_not_know_is_no_fault_of_the_drive() {
    let book = after(&[issue(1, 0, true), acked(1)]);
    let error = book.judge(0, Ok(5)).expect_err("unknown");
    assert!(error.hint().contains("lost its end"), "{error}");
}

#[test]
fn promises_count_as_recent_for_a_second() {
    let mut book = book();
    for seq in 1..=3 {
        book.apply(&issue(seq, 0, true)).expect("fits");
        let at_ns = seq * 600_000_000;
        book.apply(&LedgerRecord::Acked { seq, at_ns })
            .expect("fits");
    }
    let strike = book.strike(Some(1_900_000_000));
    assert_eq!((strike.promised_recently, strike.promised), (2, 3));
}

#[test]
fn contradictions_are_errors() {
    let mut book = after(&[issue(2, 0, true)]);
    assert!(book.apply(&issue(1, 0, true)).is_err(), "number used");
    assert!(book.apply(&issue(3, 8, true)).is_err(), "beyond the end");
    assert!(book.apply(&acked(9)).is_err(), "never sent");
    assert!(book.apply(&DONE).is_err(), "never sent");
}

#[test]
fn modes_come_in_turn_and_in_their_shares() {
    let mut book = book();
    let mut counts = [0; 3];
    for number in 1..=25 {
        let mut strike = book.strike(None);
        strike.promised_recently = 1000;
        let at = PullDurabilityMode::SHARES
            .iter()
            .position(|(mode, _)| *mode == strike.mode);
        counts[at.expect("a mode")] += 1;
        let pull = Pull {
            number,
            strike,
            unpromised: 0,
            unpromised_lost: 0,
            lost: 0,
            power_cycles: None,
            at: String::new(),
        };
        book.apply(&LedgerRecord::Settled(Some(pull)))
            .expect("fits");
    }
    assert_eq!(counts, [10, 10, 5]);
}
