//! Every drive of the catalogue: does its file pass the check, its family obey the rule, and the
//! drive made of it run and stay consistent?

use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, Nanos};
use std::collections::BTreeMap;

/// Drives whose tables are larger than this are only loaded: checking one takes long.
const MEMORY_MAX: u64 = 1 << 30;

fn all() -> Vec<CatalogueDrive> {
    let names = catalogue::names().unwrap();
    names
        .iter()
        .map(|name| catalogue::drive(name).unwrap())
        .collect()
}

#[test]
fn every_drive_passes_the_check() {
    for (file, text) in catalogue::files() {
        let drive = catalogue::parse(text, file).unwrap();
        if let Err(error) = catalogue::check(&drive, text, file) {
            panic!("{error}");
        }
    }
}

/// A member of 64 GB that inherited the dies of 1 TB was called good, with an OP of 1,617 %.
#[test]
fn a_member_without_dies_of_its_own_is_not_called_good() {
    let member = |user: &str| {
        let text = format!(
            "name = \"m\"\ntitle = \"m\"\nbase = \"qlc-client-nvme-1tb\"\n[capacity]\nuser = {{ \
             value = \"{user}\", kind = \"assumed\", source = \"a test\" }}\n"
        );
        let drive = catalogue::parse(&text, "m.toml").unwrap();
        catalogue::check(&drive, &text, "m.toml").map(|found| found.op)
    };
    let error = member("64 GB").unwrap_err().to_string();
    assert!(
        error.contains("capacity.user") && error.contains("dies"),
        "{error}"
    );
    assert!(member("960 GB").unwrap() < 0.2);
}

#[test]
fn no_family_has_more_than_three_calibrated_constants() {
    let drives = all();
    let mut families: BTreeMap<&str, Vec<&CatalogueDrive>> = BTreeMap::new();
    for drive in &drives {
        families.entry(drive.family()).or_default().push(drive);
    }
    for (family, members) in families {
        catalogue::check_family(family, &members).unwrap();
    }
}

#[test]
fn every_drive_runs_and_stays_consistent() {
    for drive in all() {
        if drive.config.memory_bytes() > MEMORY_MAX {
            continue;
        }
        let mut modelled = Drive::new(drive.config.clone()).unwrap();
        run(&mut modelled, 3000);
        if let Err(error) = modelled.check() {
            panic!("{}: {error}", drive.file.name);
        }
    }
}

/// Writes, reads, TRIMs and flushes, eight outstanding.
fn run(drive: &mut Drive, commands: u32) {
    let units = drive.config().user_bytes / 4096;
    let mut rng = Rng::named(1, "catalogue");
    let mut next = |n: u32| {
        let offset = rng.below(units) * 4096;
        match n % 10 {
            0..=5 => Command::write(offset, 4096),
            6 | 7 => Command::read(offset, 4096),
            8 => Command::trim(offset, 4096),
            _ => Command::flush(),
        }
    };
    for tag in 0..8 {
        drive.submit(tag, &next(tag), Nanos(0));
    }
    let mut done = 0;
    while let Some(completion) = drive.pop_completion(Nanos::from_secs(3600)) {
        done += 1;
        if done + 7 < commands {
            drive.submit(completion.tag, &next(done + 7), completion.done);
        }
    }
    assert_eq!(done, commands, "every command completes");
}

/// Media that is written in place, and DRAM with a battery, are a buffer as large as the drive.
#[test]
fn a_protected_buffer_as_large_as_the_drive_never_touches_its_flash() {
    for name in ["ddrdrive-x1", "intel-optane-dc-p4800x-375gb"] {
        let mut whole = catalogue::drive(name).unwrap().config;
        let mut drive = Drive::new(whole.clone()).unwrap();
        run(&mut drive, 20_000);
        assert_eq!(drive.counters().nand_programs, 0, "{name}");
        // Large writes over a buffer that is full: a small drive is full at once.
        let small = (64 << 20).min(whole.user_bytes);
        whole.buffer.bytes = whole.buffer.bytes - whole.buffer.hold_bytes + small;
        (whole.buffer.hold_bytes, whole.user_bytes) = (small, small);
        let mut counting = CountingDrive::new(whole).unwrap();
        for n in 0..1000 {
            counting.apply(&Command::write((n % 64) << 20, 1 << 20));
        }
        assert_eq!(counting.counters().nand_programs, 0, "{name}");
    }
}

#[test]
fn a_member_may_differ_in_nothing_but_what_its_base_names() {
    let (file, text) = catalogue::files()
        .iter()
        .find(|(file, _)| *file == "intel-320-40gb.toml")
        .unwrap();
    let latency = "latency = { value = \"1 us\", kind = \"assumed\", source = \"why not\" }";
    let other = format!("{text}\n[host]\n{latency}\n");
    let drive = catalogue::parse(&other, file).unwrap();
    let error = catalogue::check(&drive, &other, file).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("`host.latency`"), "{shown}");
    assert!(shown.contains("members of intel-320 differ in"), "{shown}");
}

/// `[buffer]` sorts before `[family]`.
#[test]
fn the_base_of_a_family_on_another_base_may_differ_in_any_key() {
    let (file, text) = catalogue::files()
        .iter()
        .find(|(file, _)| *file == "intel-710-200gb.toml")
        .unwrap();
    for kind in ["assumed", "calibrated"] {
        let fitted = if kind == "calibrated" {
            ", fitted_to = [\"zil.rw80.710_200\"]"
        } else {
            ""
        };
        let size = format!(
            "size = {{ value = \"2 MiB\", kind = \"{kind}\", source = \"a test\"{fitted} }}"
        );
        let other = format!("{text}\n[buffer]\n{size}\n");
        let drive = catalogue::parse(&other, file).unwrap();
        catalogue::check(&drive, &other, file).unwrap();
    }
}

#[test]
fn wrong_arithmetic_is_shown_with_its_line() {
    let (file, text) = catalogue::files()
        .iter()
        .find(|(file, _)| *file == "intel-dc-s3700-200gb.toml")
        .unwrap();
    for (from, to, expected) in [
        ("\"264 GiB\"", "\"200 GiB\"", "make 264 GiB"),
        ("\"3.65 PB\"", "\"3 PB\"", "(user capacity x years x 365)"),
        ("\"3.65 PB\"", "\"3 bananas\"", "3 bananas"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(&wrong, text, "{from}");
        let drive = catalogue::parse(&wrong, file).unwrap();
        let shown = catalogue::check(&drive, &wrong, file)
            .unwrap_err()
            .to_string();
        assert!(shown.contains(expected), "{shown}");
        assert!(
            shown.starts_with("intel-dc-s3700-200gb.toml:"),
            "with its line: {shown}"
        );
    }
}

/// A member that gives its capacity and inherits the dies of a larger drive: possible for the
/// model, but no product.
#[test]
fn more_spare_than_user_capacity_is_refused() {
    let (file, text) = catalogue::files()
        .iter()
        .find(|(file, _)| *file == "consumer-sata-1tb.toml")
        .unwrap();
    for (user, passes) in [
        ("1000204886016 B", true),
        ("522 GiB", true),
        ("500 GiB", false),
    ] {
        let other = text.replacen("1000204886016 B", user, 1);
        let drive = catalogue::parse(&other, file).unwrap();
        let checked = catalogue::check(&drive, &other, file);
        let shown = checked
            .as_ref()
            .map_or_else(ToString::to_string, |_| String::new());
        assert_eq!(checked.is_ok(), passes, "{user}: {shown}");
        assert_eq!(!passes, shown.contains("of a larger drive"), "{shown}");
    }
}
