//! A server in a network simulated by turmoil, with its files on a crash disk: the seed and the
//! clock are turmoil's, and a call on a file takes the time that the drive takes.
//!
//! `cargo run -p ssdlab-crash-fs --example turmoil`
//!
//! The server is written for `tokio::fs`. The power is cut at random moments, and the client counts
//! what it was promised.

use ssdlab_crash_fs::tokio::fs::{File, OpenOptions};
use ssdlab_crash_fs::{CrashFs, FileSystemRules};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::{TcpListener, TcpStream};

const RECORDS: u8 = 40;
const PORT: u16 = 1024;

/// Appends the records that clients send to a log, and answers each.
async fn serve(folder: PathBuf, syncs: bool) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    let mut options = OpenOptions::new();
    let mut log = options
        .append(true)
        .create(true)
        .open(folder.join("log"))
        .await?;
    File::open(&folder).await?.sync_all().await?;
    loop {
        let (mut client, _) = listener.accept().await?;
        while let Ok(record) = client.read_u8().await {
            log.write_all(&[record]).await?;
            if syncs {
                log.sync_data().await?;
            }
            client.write_u8(record).await?;
        }
    }
}

/// Sends records from the first that no answer came for.
async fn send(answered: &Cell<u8>) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("server", PORT)).await?;
    while answered.get() < RECORDS {
        let record = answered.get() + 1;
        server.write_u8(record).await?;
        if server.read_u8().await? != record {
            return Err(std::io::Error::other("an answer to another record"));
        }
        answered.set(record);
    }
    Ok(())
}

/// The first record that was answered and is not in the log.
fn lost(folder: &Path, answered: u8) -> Option<u8> {
    let log = ssdlab_crash_fs::std::fs::read(folder.join("log")).unwrap_or_default();
    (1..=answered).find(|record| !log.contains(record))
}

/// What a run came to.
#[derive(Debug, PartialEq)]
struct Outcome {
    cuts: u64,
    lost: Option<u8>,
    drive_time: u64,
}

fn run(seed: u64, syncs: bool) -> turmoil::Result<Outcome> {
    let machine = CrashFs::builder()
        .rules(FileSystemRules::ext4())
        .seed(seed)
        .clock(|| turmoil::sim_elapsed().unwrap_or_default())
        .sleep(tokio::time::sleep)
        .build()?;
    let folder = machine.root().to_owned();
    let answered = Rc::new(Cell::new(0));
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(600))
        .build();
    let of_server = folder.clone();
    sim.host("server", move || serve(of_server.clone(), syncs));
    let counts = Rc::clone(&answered);
    sim.client("client", async move {
        while counts.get() < RECORDS {
            // A connection that a crash has broken may never answer.
            let _ = tokio::time::timeout(Duration::from_secs(1), send(&counts)).await;
        }
        Ok(())
    });
    let (mut steps, mut cuts) = (0_u64, 0);
    let mut found = None;
    while found.is_none() && !sim.step()? {
        steps += 1;
        if steps % (211 + seed % 7) == 0 && cuts < 20 {
            cuts += 1;
            machine.cut()?;
            sim.crash("server");
            machine.power_on()?.assert_kept();
            found = lost(&folder, answered.get());
            sim.bounce("server");
        }
    }
    let drive_time = machine.now().0;
    Ok(Outcome {
        cuts,
        lost: found.or(lost(&folder, answered.get())),
        drive_time,
    })
}

fn main() -> turmoil::Result {
    let mut cuts = 0;
    for seed in 0..10 {
        let outcome = run(seed, true)?;
        assert_eq!(
            outcome,
            run(seed, true)?,
            "the same seed gives the same run"
        );
        if let Some(record) = outcome.lost {
            return Err(format!("seed {seed}: record {record} was answered and is gone").into());
        }
        cuts += outcome.cuts;
    }
    println!("turmoil: a server that syncs: nothing lost in {cuts} cuts of 10 runs");
    for seed in 0..10 {
        let outcome = run(seed, false)?;
        if let Some(record) = outcome.lost {
            let cut = outcome.cuts;
            println!("turmoil: one that does not: seed {seed}, cut {cut}, record {record} is gone");
            return Ok(());
        }
    }
    Err("a server that does not sync was not found".into())
}
