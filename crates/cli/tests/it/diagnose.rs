//! `ssdlab diagnose` through the block interface: does it spare what is not its own, and does it
//! say what it did not try?

use crate::run::ssdlab;
use std::fs;

#[test]
fn a_file_that_is_not_its_own_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("mine");
    fs::write(&file, vec![7; 1 << 20]).expect("written");
    let outcome = ssdlab(dir.path(), &["diagnose", "./mine", "--all-loads", "-q"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--overwrite"), "{}", outcome.stderr);
    assert_eq!(fs::read(&file).expect("readable"), vec![7; 1 << 20]);
}

#[test]
fn a_hypothesis_whose_experiment_is_not_allowed_stays_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let drive = ["diagnose", "drive:intel-dc-s3700-400gb", "--black-box"];
    let args = [&drive[..], &["--all-loads", "--writes", "1MiB", "-q"]].concat();
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stdout);
    for text in ["open: reclaim", "1401057280", "Not\n        everything"] {
        assert!(outcome.stdout.contains(text), "{text}: {}", outcome.stdout);
    }
}

/// One write each millisecond, each completed after 20 us.
fn paced(done: bool) -> String {
    let header = "t_us,op,offset,length,done_us\n".to_owned();
    (0..500).fold(header, |text, number| {
        let (at, offset) = (number * 1000, number * 4096);
        let end = if done {
            format!("{}", at + 20)
        } else {
            String::new()
        };
        text + &format!("{at},write,{offset},4096,{end}\n")
    })
}

#[test]
fn a_host_that_pauses_is_named_from_its_trace() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("host.csv"), paced(true)).expect("written");
    let drive = ["diagnose", "drive:intel-dc-s3700-400gb", "--trace"];
    let args = [&drive[..], &["host.csv", "--capacity", "256MiB", "-q"]].concat();
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let named = outcome.stdout.contains("1. pauses of the host: the trace");
    assert!(
        named && !outcome.stdout.contains("\n2."),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_trace_without_completions_or_for_a_real_drive_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("host.csv"), paced(false)).expect("written");
    let drive = [
        "diagnose",
        "drive:intel-dc-s3700-400gb",
        "--trace",
        "host.csv",
    ];
    for (args, said) in [
        (&drive[..], "does not say when its commands completed"),
        (
            &["diagnose", "./new", "--trace", "host.csv"],
            "only a model",
        ),
    ] {
        let outcome = ssdlab(dir.path(), args);
        assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    assert!(!dir.path().join("new").exists());
}

#[test]
fn without_a_symptom_and_a_terminal_the_symptoms_are_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    for target in [&[][..], &["drive:intel-dc-s3700-400gb"]] {
        let outcome = ssdlab(dir.path(), &[&["diagnose"], target].concat());
        assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
        for symptom in ["slow-durable-writes", "spikes", "slower-than-before"] {
            assert!(outcome.stdout.contains(symptom), "{}", outcome.stdout);
        }
    }
    let outcome = ssdlab(dir.path(), &["diagnose", "drive:x", "--symptom", "slow"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("slows-down"), "{}", outcome.stderr);
}

/// The same drive, two symptoms, two answers, each with its page and document.
#[test]
fn the_answer_concerns_the_symptom_and_stands_on_screen_page_and_in_json() {
    let dir = tempfile::tempdir().expect("a directory");
    let drive = [
        "diagnose",
        "drive:consumer-sata-1tb",
        "--capacity",
        "512MiB",
    ];
    let ask = |symptom: &str| {
        let more = ["--symptom", symptom, "--out", symptom, "-q"];
        ssdlab(dir.path(), &[&drive[..], &more].concat())
    };
    let durable = ask("slow-durable-writes");
    assert_eq!(durable.code, Some(0), "{}", durable.stderr);
    let reads = ask("slow-reads");
    let screen = &durable.stdout;
    assert!(screen.contains("Normal for this kind"), "{screen}");
    assert!(screen.contains("buffer is volatile"), "{screen}");
    assert!(screen.contains("power-loss protection"), "{screen}");
    assert!(!reads.stdout.contains("volatile"), "{}", reads.stdout);
    let of = |file| fs::read_to_string(dir.path().join("slow-durable-writes").join(file));
    let document = of("diagnosis.json").expect("a document");
    assert!(document.contains("\"volatile_buffer\""), "{document}");
    let page = of("report.html").expect("a page");
    assert!(page.contains("What to do"), "{page}");
}
