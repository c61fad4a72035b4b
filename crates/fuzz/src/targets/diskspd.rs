//! DISKSPD command lines: the words that a plan keeps give the same plan, its commands stay on
//! the drive, and a refusal says which word.

use super::plans::{check_commands, check_refusal};
use crate::Target;
use ssdlab_load::diskspd;
use ssdlab_load::plan::{Language, WorkloadPlan};

/// A command line, its words separated by blanks.
pub const TARGET: Target = Target {
    name: "diskspd",
    run,
    seeds: || {
        let lines = [
            "diskspd -b8K -d60 -o4 -t8 -h -r -w25 -L -c1G target.dat",
            "diskspd.exe -b64K -Sh -si -w100 -o32 -t1 -W30 -C5 -D1000 /dev/nvme0n1",
            "-b4K -r4K -o32 -t4 -w30 -Su -f10G -Z1M -z7 -Rxml /dev/sda /dev/sdb",
            "-b1M -s2M -g100 -d1 -Sb a b c",
            "/b4K /w50 /dev/sda",
        ];
        lines.map(|line| line.as_bytes().to_vec()).to_vec()
    },
    words: &[
        " -b", "4K", "8b", "1G", " -r", " -s", " -si", " -o", " -t", " -w", " -W", " -C", " -d",
        " -D", " -L", " -Z", " -Zr", " -z", " -Sh", " -Su", " -S", " -f", " -g", "i", " -R", "xml",
        " target", " /x", " -",
    ],
};

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let plan = match diskspd::parse(&words) {
        Err(error) => return check_refusal(&error, "DISKSPD"),
        Ok(plan) => plan,
    };
    let Language::Diskspd { args, .. } = &plan.language else {
        panic!("{:?}", plan.language);
    };
    let again = diskspd::parse(args).expect("the words of a plan");
    assert_eq!(shown(&again), shown(&plan));
    check_commands(&plan);
}

fn shown(plan: &WorkloadPlan) -> String {
    format!("{plan:?}")
}
