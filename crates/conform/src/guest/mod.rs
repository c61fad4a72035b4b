//! The program in the guest. Linux starts it as its first process: it mounts what it needs, loads
//! modules, takes every route on every disk that bears our label, and turns the machine off.
//!
//! It speaks with the host over its console, a line at a time; see [`console`].

mod console;
mod disk;
mod layer;
mod raw;
mod routes;
mod system;

pub use layer::LAYER;

use console::Console;
use disk::{DISKS_PAUSE, DISKS_WITHIN};
use rustix::system::{RebootCommand, finit_module, reboot};
use std::time::Instant;
use system::mount_at;

/// The argument with which Linux calls its first process; the number of disks follows.
pub const ARGUMENT: &str = "conform-guest";
/// Where the image has the modules, and a file that lists them in order.
pub const MODULES: &str = "/usr/modules";

/// Runs as the first process of a guest with `count` disks, and does not return.
pub fn run(count: usize) -> ! {
    let mut console = Console::new();
    if rustix::process::getpid().is_init() {
        if let Err(error) = set_up() {
            console.fail(&error);
        } else {
            take_all(&mut console, count);
        }
        console.say("bye");
        rustix::fs::sync();
        let _ = reboot(RebootCommand::PowerOff);
    } else {
        console.fail("this is for the first process of a virtual machine");
    }
    std::process::exit(2)
}

fn set_up() -> Result<(), String> {
    let places = [
        ("proc", "/proc", c"proc"),
        ("sysfs", "/sys", c"sysfs"),
        ("devtmpfs", "/dev", c"devtmpfs"),
    ];
    for (what, at, kind) in places {
        let _ = std::fs::create_dir_all(at);
        mount_at(what, at, kind)?;
    }
    let order = std::fs::read_to_string(format!("{MODULES}/order"));
    let order = order.map_err(|error| format!("{MODULES}/order: {error}"))?;
    for name in order.lines() {
        let path = format!("{MODULES}/{name}");
        let file = std::fs::File::open(&path).map_err(|error| format!("{path}: {error}"))?;
        match finit_module(&file, c"", 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(format!("loading {name}: {error}")),
        }
    }
    Ok(())
}

fn take_all(console: &mut Console, count: usize) {
    let until = Instant::now() + DISKS_WITHIN;
    let disks = loop {
        let disks = disk::labelled();
        if disks.len() >= count || Instant::now() > until {
            break disks;
        }
        std::thread::sleep(DISKS_PAUSE);
    };
    if disks.len() < count {
        let seen: Vec<String> = disk::all();
        let seen = seen.join(" ");
        let found = disks.len();
        console.fail(&format!("{found} of {count} disks have appeared: {seen}"));
    }
    let disks = match layer::over(disks) {
        Ok(disks) => disks,
        Err(why) => return console.fail(&why),
    };
    // A token names a block among those of all disks.
    let mut token = 1;
    for disk in &disks {
        console.say(&format!("disk {}", disk.describe()));
        routes::take(console, disk, &mut token);
    }
}
