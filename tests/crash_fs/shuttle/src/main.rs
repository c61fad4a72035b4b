//! Group commit in threads that shuttle schedules, with their log on a crash disk: shuttle may
//! switch threads at each call on a file, and its schedule decides what a cut finds.
//!
//! Writers append under a lock; one of them syncs for all. The one with the bug takes the number of
//! what is durable after the sync, when another writer may have appended more.

use shuttle::rand::Rng;
use shuttle::sync::Mutex;
use shuttle::thread;
use ssdlab_crash_fs::CrashFs;
use ssdlab_crash_fs::std::fs::File;
use std::io::Write;
use std::panic::catch_unwind;
use std::sync::Arc;

struct Log {
    file: File,
    appended: Mutex<u8>,
    durable: Mutex<u8>,
    counts_late: bool,
}

impl Log {
    /// Appends a record, and returns when it is durable.
    fn commit(&self) -> u8 {
        let record = {
            let mut appended = self.appended.lock().expect("not poisoned");
            *appended += 1;
            (&self.file).write_all(&[*appended]).expect("written");
            *appended
        };
        let mut durable = self.durable.lock().expect("not poisoned");
        if *durable < record {
            let before = *self.appended.lock().expect("not poisoned");
            self.file.sync_data().expect("synced");
            let after = *self.appended.lock().expect("not poisoned");
            *durable = if self.counts_late { after } else { before };
        }
        record
    }
}

fn run(counts_late: bool) {
    let seed = shuttle::rand::thread_rng().r#gen();
    let builder = CrashFs::builder().seed(seed);
    let machine = builder.before_each_call(thread::yield_now).build().expect("a disk");
    let path = machine.root().join("log");
    let file = File::create(&path).expect("made");
    file.sync_all().expect("synced");
    File::open(machine.root()).expect("opens").sync_all().expect("synced");
    let log = Arc::new(Log {
        file,
        appended: Mutex::new(0),
        durable: Mutex::new(0),
        counts_late,
    });
    let writer = |_| {
        let (log, machine) = (Arc::clone(&log), machine.clone());
        thread::spawn(move || check(&machine, log.commit()))
    };
    let writers: Vec<_> = (0..3).map(writer).collect();
    for writer in writers {
        writer.join().expect("no panic");
    }
}

/// What a cut now would leave, on a copy of the disk.
fn check(machine: &CrashFs, acknowledged: u8) {
    let mut files = machine.files();
    files.cut().expect("cut");
    files.power_on().expect("on").assert_kept();
    let log = files.open("log").expect("its name is durable");
    let found = files.read_at(log, 0, 100).expect("read");
    assert!(found.contains(&acknowledged), "{acknowledged} is not in {found:?}");
}

/// Runs a program under random schedules. A drive needs more stack than shuttle gives a thread.
fn check_random(run: impl Fn() + Send + Sync + 'static, schedules: usize) {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    let scheduler = shuttle::scheduler::RandomScheduler::new(schedules);
    shuttle::Runner::new(scheduler, config).run(run);
}

fn main() {
    const SCHEDULES: usize = 500;
    check_random(|| run(false), SCHEDULES);
    println!("shuttle: a group commit that counts before its sync: right in {SCHEDULES} schedules");
    let found = catch_unwind(|| check_random(|| run(true), SCHEDULES));
    assert!(found.is_err(), "one that counts after its sync was not found");
    println!("shuttle: one that counts after its sync: found");
}
