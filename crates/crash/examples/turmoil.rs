//! A server in a network simulated by turmoil, on a crash disk: its power is cut at random moments,
//! and its client counts what it was promised.
//!
//! `cargo run --release -p ssdlab-crash --example turmoil`
//!
//! The disk lies outside the simulated host, as a drive outlives a crash of its machine:
//! `Sim::crash` takes the program, [`CrashDisk::cut`] the power. `Sim::bounce` starts the program
//! again on what the drive has recovered.

use ssdlab_crash::{CrashDisk, CrashError, DriveConfig};
use std::cell::{Cell, RefCell};
use std::io::{Error, Result};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::{TcpListener, TcpStream};

/// Records that the client wants to have stored; each fills a sector.
const RECORDS: u8 = 40;
const PORT: u16 = 1024;

type Disk = Rc<RefCell<CrashDisk>>;

/// Stores the records that clients send, and answers each with its number.
async fn serve(disk: Disk, flushes: bool) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (mut client, _) = listener.accept().await?;
        while let Ok(record) = client.read_u8().await {
            store(&mut disk.borrow_mut(), record, flushes)?;
            client.write_u8(record).await?;
        }
    }
}

fn store(disk: &mut CrashDisk, record: u8, flushes: bool) -> std::result::Result<(), CrashError> {
    disk.write(512 * u64::from(record), &[record; 512])?;
    if flushes { disk.flush() } else { Ok(()) }
}

/// Sends records from the first that no answer came for.
async fn send(answered: &Cell<u8>) -> Result<()> {
    let mut server = TcpStream::connect(("server", PORT)).await?;
    while answered.get() < RECORDS {
        let record = answered.get() + 1;
        server.write_u8(record).await?;
        if server.read_u8().await? != record {
            return Err(Error::other("an answer to another record"));
        }
        answered.set(record);
    }
    Ok(())
}

/// Cuts of a run, and the first record that was answered and is gone.
fn run(seed: u64, flushes: bool) -> turmoil::Result<(u64, Option<u8>)> {
    let new = CrashDisk::new(DriveConfig::tiny(), seed)?;
    let disk: Disk = Rc::new(RefCell::new(new));
    let answered = Rc::new(Cell::new(0));
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(600))
        .build();
    let outlives = Rc::clone(&disk);
    sim.host("server", move || serve(Rc::clone(&outlives), flushes));
    let counts = Rc::clone(&answered);
    sim.client("client", async move {
        while counts.get() < RECORDS {
            // A connection that a crash has broken may never answer.
            let _ = tokio::time::timeout(Duration::from_secs(1), send(&counts)).await;
        }
        Ok(())
    });
    let (mut steps, mut cuts) = (0_u64, 0);
    while !sim.step()? {
        steps += 1;
        // Two numbers without a common divisor: cuts fall on every phase of an exchange.
        if steps % (211 + seed % 7) == 0 && cuts < 20 {
            cuts += 1;
            sim.crash("server");
            disk.borrow_mut().cut()?;
            disk.borrow_mut().power_on()?.assert_kept();
            if let Some(lost) = first_lost(&disk, answered.get())? {
                return Ok((cuts, Some(lost)));
            }
            sim.bounce("server");
        }
    }
    Ok((cuts, first_lost(&disk, answered.get())?))
}

fn first_lost(disk: &Disk, answered: u8) -> std::result::Result<Option<u8>, CrashError> {
    for record in 1..=answered {
        let found = disk.borrow_mut().read(512 * u64::from(record), 512)?;
        if found != [record; 512] {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

fn main() -> turmoil::Result {
    let mut cuts = 0;
    for seed in 0..20 {
        let (cut, lost) = run(seed, true)?;
        if let Some(record) = lost {
            return Err(format!("seed {seed}: record {record} was answered and is gone").into());
        }
        cuts += cut;
    }
    println!("a server that flushes: nothing lost in {cuts} cuts of 20 runs");
    let found = (0..20).find_map(|seed| match run(seed, false) {
        Ok((cut, Some(record))) => Some(Ok((seed, cut, record))),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    match found {
        None => Err("a server that does not flush was not found".into()),
        Some(found) => {
            let (seed, cut, record) = found?;
            println!("one that does not: seed {seed}, cut {cut}, record {record} is gone");
            Ok(())
        }
    }
}
