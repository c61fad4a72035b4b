//! Do `crashtest fio` and `pull fio` say of fio's verification what fio itself says, and does each
//! find what the other's writes have lost?

use crate::pull::Bench;
use crate::serve::server::ssdlab;
use std::fs;
use std::path::Path;
use std::process::Command;

const JOB: &str = "[j]\nrw=randwrite\nbs=4k\nsize=1m\nfsync=8\nverify=md5\n";

/// Whether fio takes what the job in `folder` verifies; `None`, said aloud, where there is no fio
/// of the default formats.
fn fio_takes(folder: &Path, job: &str) -> Option<bool> {
    let version = Command::new("fio").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let format = version.map(|version| ssdlab_verify::FioFormat::of_version(&version));
    if !matches!(format, Ok(Some(ssdlab_verify::FioFormat::V3_33))) {
        ssdlab_skips::skip("fio 3.33 to 3.38 is not installed");
        return None;
    }
    let output = Command::new("fio").current_dir(folder).arg(job).output();
    Some(output.expect("runs").status.success())
}

/// The exit code and the document that the program printed.
fn json(command: &mut Command) -> (Option<i32>, serde_json::Value) {
    let output = command.arg("--json").output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let document = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        document.unwrap_or_else(|_| panic!("{said}")),
    )
}

#[test]
fn fio_says_of_kept_disks_what_a_campaign_states_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("j.fio"), JOB).expect("written");
    for (faults, code) in [(&[][..], 0), (&["--fault", "bit-corruption:500"], 1)] {
        let out = folder.path().join(format!("kept-{code}"));
        let mut campaign = ssdlab();
        campaign
            .current_dir(folder.path())
            .args(["crashtest", "fio", "j.fio", "-q"]);
        campaign
            .args(faults)
            .args(["--cuts", "6", "--keep", "2", "--out"])
            .arg(&out);
        let (found, report) = json(&mut campaign);
        assert_eq!(found, Some(code), "{report}");
        assert_eq!(report["fails"]["contract"] == 0, code == 0, "{report}");
        let mut kept = 0;
        for cut in report["cuts"].as_array().expect("cuts") {
            let index = cut["index"].as_u64().expect("a number");
            for rule in ["completed", "fsynced"] {
                let disk = out.join(format!("cut-{index:04}-{rule}"));
                if disk.is_dir() {
                    kept += 1;
                    let stated = cut["verdicts"][rule]["failed"] == 0;
                    let Some(takes) = fio_takes(&disk, "verify.fio") else {
                        return;
                    };
                    assert_eq!(takes, stated, "{faults:?}, cut {index}, {rule}: {cut}");
                }
            }
        }
        assert!(kept >= 4, "{report}");
    }
}

#[test]
fn what_fio_wrote_is_looked_at_by_its_state() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let job = format!("{JOB}filename=disk\nioengine=psync\n");
    fs::write(
        at("verify.fio"),
        format!("{job}verify_only=1\nverify_state_load=1\n"),
    )
    .expect("written");
    fs::write(
        at("write.fio"),
        format!("{job}do_verify=0\nnumber_ios=100\n"),
    )
    .expect("written");
    match fio_takes(folder.path(), "write.fio") {
        Some(takes) => assert!(takes),
        None => return,
    }
    let look = || {
        let mut look = ssdlab();
        json(
            look.current_dir(folder.path())
                .args(["pull", "fio", "verify.fio"]),
        )
    };
    let (code, verdicts) = look();
    assert_eq!(code, Some(0), "{verdicts}");
    let blocks = |rule: &str| verdicts[rule]["verified"].as_u64();
    assert_eq!(
        [blocks("stateless"), blocks("completed"), blocks("contract")],
        [Some(256), Some(100), Some(96)]
    );
    assert_eq!(verdicts["completed"]["failed"], 0);
    // A sector in the middle of a block that was written is zeroed.
    let mut disk = fs::read(at("disk")).expect("there");
    let written = disk
        .chunks(4096)
        .position(|block| block[2048..2560].iter().any(|b| *b != 0));
    let start = written.expect("a block") * 4096 + 2048;
    disk[start..start + 512].fill(0);
    fs::write(at("disk"), disk).expect("written");
    let (code, verdicts) = look();
    assert_eq!(code, Some(1), "{verdicts}");
    assert_eq!(verdicts["found"]["torn"], 1, "{verdicts}");
    assert_eq!(fio_takes(folder.path(), "verify.fio"), Some(false));
}

/// Pulls of a served drive: ours and fio's verdict by the state that is left.
fn pull(fault: &[&str], expected: i32) {
    let Some(bench) = Bench::new(fault) else {
        return;
    };
    let job = JOB.replace("size=1m", "size=16m");
    fs::write(bench.at("j.fio"), job).expect("written");
    let mut pull = ssdlab();
    pull.args(["pull", "fio"])
        .arg(bench.at("j.fio"))
        .arg("--target");
    pull.arg(bench.at("mnt/drive"))
        .arg("--states")
        .arg(bench.at("states"));
    pull.args(["--overwrite", "--pulls", "2", "--keep-going", "-q"]);
    pull.args(bench.power_and_times());
    let (code, record) = json(&mut pull);
    assert_eq!(code, Some(expected), "{record}");
    let pulls = record["pulls"].as_array().expect("pulls");
    assert_eq!(pulls.len(), 2, "{record}");
    // The second pull's blocks are still there.
    let stated = pulls[1]["verdicts"]["completed"]["failed"] == 0;
    let takes = fio_takes(&bench.at("states/pull-0002"), "verify.fio");
    assert!(takes.is_none_or(|takes| takes == stated), "{record}");
}

#[test]
fn an_honest_drive_keeps_the_contract_under_a_fio_job() {
    pull(&[], 0);
}

#[test]
fn a_drive_that_ignores_flushes_breaks_it_under_a_fio_job() {
    pull(&["--fault", "ignores-flush"], 1);
}

#[test]
fn what_cannot_be_verified_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("j.fio"), JOB.replace("md5", "null")).expect("written");
    for command in [["crashtest", "fio"], ["pull", "fio"]] {
        let output = ssdlab()
            .current_dir(folder.path())
            .args(command)
            .args(["j.fio"])
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("`verify` cannot be `null`"), "{said}");
        assert!(said.contains("hint: crc32c"), "{said}");
    }
}
