//! Which pulls prove what?

use super::super::record::{
    LedgerRecord, PowerCutSource, PullDurabilityMode, PullTestSetup, RECENT_NEEDED, Strike,
    WriterSession,
};
use super::super::stamp::UnexpectedContent;
use super::*;
use ssdlab_bench::device::TargetKind;

struct Test {
    cycles: Option<u64>,
    protected: Option<&'static str>,
    pull: Pull,
    pulls: u32,
}

/// Pulls of a writer at work that lost some unflushed writes.
fn usual() -> Test {
    let strike = Strike {
        by: PowerCutSource::Command,
        mode: PullDurabilityMode::Flush,
        noticed: true,
        at_ns: 5,
        promised_recently: RECENT_NEEDED,
        promised: 90,
        failed: 3,
    };
    Test {
        cycles: None,
        protected: None,
        pull: Pull {
            number: 0,
            strike,
            unpromised: 10,
            unpromised_lost: 4,
            lost: 0,
            power_cycles: None,
            at: String::new(),
        },
        pulls: PULLS_NEEDED,
    }
}

impl Test {
    fn book(&self) -> Book {
        let mut book = Book::new(PullTestSetup {
            run: 1,
            path: "target".into(),
            serial: None,
            model: None,
            is_file: true,
            bytes: 4096,
            sector_bytes: 512,
            seed: 1,
            at: String::new(),
        })
        .expect("a book");
        let session = WriterSession {
            boot: String::new(),
            at: String::new(),
            protected: self.protected.map(str::to_owned),
            power_cycles: self.cycles,
        };
        book.apply(&LedgerRecord::Session(session)).expect("fits");
        for number in 1..=self.pulls {
            let power_cycles = self.cycles.map(|from| from + u64::from(number));
            let pull = Pull {
                number,
                power_cycles,
                ..self.pull.clone()
            };
            book.apply(&LedgerRecord::Settled(Some(pull)))
                .expect("fits");
        }
        book
    }

    fn standing(&self) -> PullVerdict {
        verdict(&self.book()).standing
    }
}

#[test]
fn enough_pulls_without_a_loss_pass_and_one_fewer_does_not() {
    assert_eq!(usual().standing(), PullVerdict::Kept);
    let fewer = Test {
        pulls: PULLS_NEEDED - 1,
        ..usual()
    };
    let record = verdict(&fewer.book());
    assert_eq!(record.standing, PullVerdict::Undecided);
    assert!(record.why.contains("1 more"), "{}", record.why);
}

#[test]
fn pulls_in_idle_and_pulls_that_nobody_noticed_do_not_count() {
    let mut idle = usual();
    idle.pull.strike.promised_recently = RECENT_NEEDED - 1;
    assert_eq!(idle.standing(), PullVerdict::Undecided);
    let mut unnoticed = usual();
    unnoticed.pull.strike.noticed = false;
    let record = verdict(&unnoticed.book());
    assert_eq!((record.counted, record.unnoticed), (0, PULLS_NEEDED));
}

#[test]
fn a_broken_promise_fails_whatever_else() {
    let mut book = usual().book();
    let loss = Loss {
        sector: 7,
        expected: 90,
        maker: PromiseBasis::Flush,
        since_ns: 2_500_000_000,
        found: UnexpectedContent::Write(88),
    };
    book.apply(&LedgerRecord::Lost(loss)).expect("fits");
    book.apply(&LedgerRecord::Settled(None)).expect("fits");
    let record = verdict(&book);
    assert_eq!(record.standing, PullVerdict::Broken);
    let says = "sector 7: expected write 90 or newer (durable by a flush since 2.500 s), found \
                write 88";
    assert!(record.why.contains(says), "{}", record.why);
}

#[test]
fn without_any_loss_the_power_must_be_shown_to_have_gone() {
    let mut kept = usual();
    kept.pull.unpromised_lost = 0;
    assert_eq!(kept.standing(), PullVerdict::Undecided);
    kept.protected = Some("its data sheet");
    assert_eq!(kept.standing(), PullVerdict::Kept);
    kept.protected = None;
    kept.cycles = Some(100);
    assert_eq!(kept.standing(), PullVerdict::Kept);
    let mut stuck = kept.book();
    stuck.pulls[12].power_cycles = stuck.pulls[11].power_cycles;
    assert_eq!(verdict(&stuck).standing, PullVerdict::Undecided);
}

#[test]
fn a_record_is_of_one_drive() {
    let facts = |name: &str, serial: Option<&str>| TargetFacts {
        serial: serial.map(str::to_owned),
        ..TargetFacts::unknown(name.to_owned(), TargetKind::File)
    };
    let mut record = verdict(&usual().book());
    assert!(record.is_of(&facts("target", None)).is_ok());
    assert!(record.is_of(&facts("other", None)).is_err());
    record.serial = Some("S1".into());
    assert!(record.is_of(&facts("other", Some("S1"))).is_ok());
    assert!(record.is_of(&facts("target", Some("S2"))).is_err());
    assert!(record.is_of(&facts("target", None)).is_err());
}
