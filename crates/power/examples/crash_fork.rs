//! What one cut of a campaign costs on a full crash-test drive: its fork, its recovery, its check.
//!
//! `cargo run --release -p ssdlab-power --example crash_fork [SIZE]` (64 MiB if not given)

use ssdlab_base::quantity::parse_size;
use ssdlab_power::crashtest::{Campaign, CutPoint, Player, SectorDevice};
use ssdlab_ssd::drive::power::{Power, PowerDrive};
use std::time::Instant;

/// Bytes of a write.
const PAGE: u64 = 4096;

/// Forks that are timed, and how many of them are cut.
const FORKS: u32 = 100;
const CUTS: u32 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = parse_size(&std::env::args().nth(1).unwrap_or("64MiB".into()))?;
    let consumer = ssdlab_drives::catalogue::open("consumer-sata-1tb")?.config;
    let config = ssdlab_drives::scaling::sized(&consumer, size)?.config;
    let campaign = Campaign::new(config.clone());
    let mut disk = campaign.disk();
    for page in 0..size / PAGE {
        disk.write(page * PAGE, &[page as u8; PAGE as usize], false)?;
    }
    disk.flush()?;
    let stream = disk.into_stream();
    let mut player = Player::new(&stream, PowerDrive::new(config, Power::default())?);
    player.seek(stream.commands.len());

    let begun = Instant::now();
    let forks: Vec<_> = (0..FORKS).map(|_| player.fork()).collect();
    println!("a fork of a full drive: {:?}", begun.elapsed() / FORKS);

    let point = CutPoint::before(stream.commands.len());
    let cut = forks.into_iter().take(CUTS as usize);
    let begun = Instant::now();
    let after: Vec<_> = cut.map(|fork| fork.cut_at(point)).collect();
    println!("cut and recovery: {:?}", begun.elapsed() / CUTS);

    let run = campaign.prepare(&stream)?;
    let begun = Instant::now();
    let broken: u64 = after.iter().map(|after| run.look(after).broken_count).sum();
    println!("every sector checked: {:?}", begun.elapsed() / CUTS);
    if broken > 0 {
        return Err(format!("{broken} promises broken").into());
    }
    Ok(())
}
