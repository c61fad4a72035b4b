//! Serves a drive, in a directory that is made if need be or in memory (`-`), over NBD until it is
//! killed: what `ssdlab serve` does, for benches/serve.sh, in a program that builds sooner.
//!
//!     cargo run --release -p ssdlab-power --example serve_directory -- DIR|- BYTES SOCKET [sync]

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_drives::scaling::sized;
use ssdlab_power::served::{DriveEndpoints, DriveServer, in_directory, in_memory};
use ssdlab_serve::Address;
use ssdlab_ssd::drive::power::Power;
use std::path::Path;

#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

const DRIVE: &str = "consumer-sata-1tb";

fn main() -> Result<(), LabError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory, bytes, socket, rest @ ..] = args.as_slice() else {
        return Err(LabError::refused("DIR BYTES SOCKET [sync] are needed", ""));
    };
    let bad = |_| LabError::refused(format!("`{bytes}` is no number of bytes"), "");
    let bytes: u64 = bytes.parse().map_err(bad)?;
    let safety = match rest {
        [] => CrashSafety::Process,
        _ => CrashSafety::Host,
    };
    let opened = match directory.as_str() {
        "-" => in_memory(DRIVE, Some(bytes), Power::default())?,
        path => {
            let path = Path::new(path);
            if !path.exists() {
                let config = sized(&catalogue::open(DRIVE)?.config, bytes)?.config;
                DriveDir::create(path, &config, DRIVE)?;
            }
            in_directory(path, Power::default(), safety)?
        }
    };
    let places = DriveEndpoints {
        nbd: vec![Address::Unix(socket.into())],
        ..DriveEndpoints::default()
    };
    let serving = DriveServer::start(opened.drive, &places, &opened.about, |text| {
        println!("{text}")
    })?;
    println!("ready");
    loop {
        std::thread::park();
        let _ = serving.trouble();
    }
}
