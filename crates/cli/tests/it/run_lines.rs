//! Command lines of other programs after `--`, and files that are laid out before they are read.

use crate::run::ssdlab;

const TARGET: [&str; 4] = ["run", "--target", "drive:consumer-sata-1tb", "--no-layout"];

fn line(words: &str) -> crate::run::Outcome {
    let dir = tempfile::tempdir().expect("a directory");
    let mut args = TARGET.to_vec();
    args.push("--");
    args.extend(words.split(' '));
    ssdlab(dir.path(), &args)
}

#[test]
fn lines_of_other_programs_are_no_benchmark() {
    for (words, says) in [
        ("sysbench fileio run", "`sysbench` is not understood"),
        ("dd if=a of=b", "`dd` is not understood"),
        ("job.fio", "ssdlab run job.fio"),
        ("diskspd.exe /?", "ssdlab list options diskspd"),
        ("diskspd -?", "ssdlab list options diskspd"),
        ("diskspd \u{2013}b8K \u{2013}q x.dat", "an en dash (U+2013)"),
        ("fio --bs=4k", "--name=JOB"),
    ] {
        let outcome = line(words);
        assert_eq!(outcome.code, Some(2), "{words}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(says), "{words}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("hint:"),
            "{words}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn lines_of_fio_and_diskspd_run() {
    let etcd = "fio --rw=write --ioengine=sync --fdatasync=1 --directory=d --size=1m --bs=2300 \
                --name=mytest";
    let outcome = line(etcd);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("flush") && outcome.stdout.contains("2300"));
    let outcome = line("diskspd \u{2013}b8K \u{2013}w100 -d1 -W0 #2");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("an en dash (U+2013)"),
        "{}",
        outcome.stderr
    );
}

/// Reads of addresses never written cost no flash: fio writes the file first.
#[test]
fn a_file_that_is_read_is_laid_out_and_the_result_says_so_first() {
    let dir = tempfile::tempdir().expect("a directory");
    let output = |name: &str, more: &[&str]| {
        let text = format!("[r]\n{name}size=64m\nrw=randread\nio_size=4m\n");
        std::fs::write(dir.path().join("r.fio"), text).expect("written");
        let args = ["run", "r.fio", "--target", "drive:consumer-sata-1tb"];
        let outcome = ssdlab(dir.path(), &[&args, more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let above = |text: &str, line: &str| {
        let place = text
            .find(line)
            .unwrap_or_else(|| panic!("no {line} in {text}"));
        assert!(place < text.find("IOPS").expect("a table"), "{text}");
    };
    let laid_out = output("filename=f\n", &[]);
    above(&laid_out, "64 MiB in");
    assert!(!laid_out.contains("fresh drive"), "{laid_out}");
    let plain = output("filename=f\n", &["--no-layout"]);
    above(&plain, "Reads began on a fresh drive");
    above(
        &output("filename=/dev/nvme0n1\n", &[]),
        "Reads began on a fresh drive",
    );
    let filled = output("filename=f\n", &["--fill", "1"]);
    assert!(!filled.contains("Before the measurement"), "{filled}");
}
