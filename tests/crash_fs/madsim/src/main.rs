//! A node of madsim that keeps a log on a crash disk; the clock and the seed are madsim's. The node
//! is killed and the power cut at a time that the seed draws; it starts again on what is there.

use madsim::rand::{Rng, thread_rng};
use madsim::runtime::{Handle, Runtime};
use madsim::time;
use ssdlab_crash_fs::CrashFs;
use ssdlab_crash_fs::tokio::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// Appends records for ever, and counts those that are done.
async fn append(folder: PathBuf, done: Arc<AtomicU8>, syncs: bool) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut log = options.append(true).create(true).open(folder.join("log")).await?;
    File::open(&folder).await?.sync_all().await?;
    while done.load(Ordering::SeqCst) < 200 {
        let record = done.load(Ordering::SeqCst) + 1;
        log.write_all(&[record]).await?;
        if syncs {
            log.sync_data().await?;
        }
        done.store(record, Ordering::SeqCst);
        time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// The record that is gone, and the virtual time at the end.
fn run(seed: u64, syncs: bool) -> (Option<u8>, Duration) {
    let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
    runtime.block_on(async move {
        let start = time::Instant::now();
        let machine = CrashFs::builder()
            .seed(thread_rng().r#gen())
            .clock(move || time::Instant::now() - start)
            .sleep(time::sleep)
            .build()
            .expect("a disk");
        let (folder, done) = (machine.root().to_owned(), Arc::new(AtomicU8::new(0)));
        let handle = Handle::current();
        let (of_node, count) = (folder.clone(), Arc::clone(&done));
        let node = handle
            .create_node()
            .name("log")
            .init(move || {
                let (folder, done) = (of_node.clone(), Arc::clone(&count));
                async move {
                    let _ = append(folder, done, syncs).await;
                }
            })
            .build();
        for _ in 0..10 {
            time::sleep(Duration::from_micros(thread_rng().gen_range(1_000..20_000))).await;
            handle.kill(node.id());
            machine.cut().expect("cut");
            machine.power_on().expect("on").assert_kept();
            let log = ssdlab_crash_fs::std::fs::read(folder.join("log")).unwrap_or_default();
            let done = done.load(Ordering::SeqCst);
            if let Some(gone) = (1..=done).find(|record| !log.contains(record)) {
                return (Some(gone), start.elapsed());
            }
            handle.restart(node.id());
        }
        (None, start.elapsed())
    })
}

fn main() {
    for seed in 0..20 {
        let first = run(seed, true);
        assert_eq!(first, run(seed, true), "the same seed gives the same run");
        assert_eq!(first.0, None, "seed {seed}");
    }
    println!("madsim: a log that syncs: nothing lost in 200 cuts of 20 seeds");
    let found = (0..20).find_map(|seed| run(seed, false).0.map(|record| (seed, record)));
    let (seed, record) = found.expect("a log that does not sync was not found");
    println!("madsim: one that does not: seed {seed}, record {record} is gone");
}
