use super::{Program, read};
use crate::diskspd::TargetNames;
use crate::fio::Surroundings;
use ssdlab_base::LabError;

fn line(text: &str, targets: TargetNames) -> Result<super::ForeignCommandLine, LabError> {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    read(&words, targets, &Surroundings::none())
}

#[test]
fn the_first_word_decides() {
    let program = |text: &str| line(text, TargetNames::Used).unwrap().program;
    assert_eq!(program("fio --name=x --size=1m"), Program::Fio);
    assert_eq!(program("/usr/bin/fio --name=x --size=1m"), Program::Fio);
    for text in [
        "diskspd -b4K x.dat",
        r"C:\tools\DiskSpd.exe -b4K x.dat",
        "-b4K x.dat",
        "/b4K x.dat",
    ] {
        assert_eq!(program(text), Program::Diskspd, "{text}");
    }
}

#[test]
fn other_programs_are_refused_with_a_way_on() {
    for (text, hint) in [
        ("dd if=/dev/zero of=x", "ssdlab run JOB.fio"),
        ("sysbench fileio run", "ssdlab run JOB.fio"),
        ("x.dat", "ssdlab run JOB.fio"),
        ("dir/a.fio", "`ssdlab run dir/a.fio`"),
        ("sudo fio --name=x", "ssdlab run -- fio ..."),
        ("--name=x --rw=read", "ssdlab run -- fio ..."),
        ("diskspd /?", "ssdlab list options diskspd"),
        ("diskspd.exe -?", "ssdlab list options diskspd"),
        ("diskspd -b4K /?", "ssdlab list options diskspd"),
    ] {
        let error = line(text, TargetNames::Replaced).map(|_| ()).unwrap_err();
        assert!(
            error.hint().contains(hint),
            "{text}: {error}: {}",
            error.hint()
        );
    }
}

#[test]
fn dashes_are_named_and_read_only_if_the_whole_line_can_be() {
    for dash in [
        '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}',
    ] {
        let read = line(
            &format!("diskspd {dash}b8K -w100 {dash}r x.dat"),
            TargetNames::Used,
        );
        let read = read.unwrap();
        assert_eq!(read.plan.phases[0].jobs[0].block_sizes[0][0].bytes, 8192);
        let code = format!("U+{:04X}", u32::from(dash));
        assert!(read.notes[0].contains(&code), "{:?}", read.notes);
        assert!(read.notes[0].contains("word 2") && read.notes[0].contains("word 4"));
    }
    // A word processor makes one dash of two hyphens.
    assert!(
        line(
            "fio \u{2014}name=x \u{2013}\u{2013}size=1m",
            TargetNames::Used
        )
        .is_ok()
    );
    let error = line("diskspd \u{2013}b8K \u{2013}q x.dat", TargetNames::Used);
    let error = error.map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("an en dash (U+2013)"), "{error}");
    assert!(error.hint().contains("hyphens (-)"), "{}", error.hint());
}

#[test]
fn names_of_windows_stand_for_nothing_under_another_target() {
    for target in ["#2", "E:", r"D:\x.dat"] {
        let text = format!("diskspd.exe -b256K -w100 {target}");
        assert!(line(&text, TargetNames::Replaced).is_ok(), "{target}");
    }
    let error = line("diskspd.exe -b256K #2", TargetNames::Used)
        .map(|_| ())
        .unwrap_err();
    assert!(error.hint().contains("--target"), "{}", error.hint());
}
