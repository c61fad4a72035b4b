//! Tasks whose paths are on a disk of their own, and calls that take the drive's time.

use ssdlab_crash_fs::tokio::fs;
use ssdlab_crash_fs::{CrashFs, std::fs as blocking};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().expect("a runtime");
    runtime.block_on(future)
}

#[test]
fn each_task_has_the_disk_of_its_scope() {
    let disks = [1, 2].map(|seed| CrashFs::posix(seed).expect("a disk"));
    let task = |text: &'static str| async move {
        let error = fs::File::create("/var/log")
            .await
            .expect_err("no such folder");
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        fs::create_dir_all("/var").await.expect("made");
        for _ in 0..3 {
            let mut options = fs::OpenOptions::new();
            options.append(true).create(true);
            let mut file = options.open("/var/log").await.expect("opens");
            tokio::task::yield_now().await;
            file.write_all(text.as_bytes()).await.expect("written");
        }
    };
    run(async {
        let first = tokio::spawn(disks[0].scope(task("a")));
        let second = tokio::spawn(disks[1].scope(task("b")));
        first.await.and(second.await).expect("no panic");
    });
    for (disk, text) in disks.iter().zip(["aaa", "bbb"]) {
        let log = blocking::read_to_string(disk.root().join("var/log"));
        assert_eq!(log.expect("read"), text);
    }
}

#[test]
fn calls_take_the_time_of_the_drive() {
    let slept = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&slept);
    let machine = CrashFs::builder()
        .sleep(move |time| {
            counter.fetch_add(time.as_nanos() as u64, Ordering::SeqCst);
            tokio::task::yield_now()
        })
        .build()
        .expect("a disk");
    let start = machine.now();
    let path = machine.root().join("log");
    let text = run(async {
        let mut log = fs::File::create(&path).await?;
        log.write_all(&[b'x'; 10_000]).await?;
        log.sync_all().await?;
        let mut log = fs::File::open(&path).await?;
        log.seek(std::io::SeekFrom::Start(9_000)).await?;
        let mut text = String::new();
        log.read_to_string(&mut text).await?;
        Ok::<String, std::io::Error>(text)
    });
    assert_eq!(text.expect("no error"), "x".repeat(1000));
    assert_eq!(slept.load(Ordering::SeqCst), machine.now().0 - start.0);
    assert!(
        slept.load(Ordering::SeqCst) > 100_000,
        "a sync takes more than 100 us"
    );
}
