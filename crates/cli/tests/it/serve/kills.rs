//! SIGKILL at random moments, of starting and of working: the directory opens again, and the
//! contract holds as if power had been cut. `SSDLAB_KILLS=200` runs it at length.

use crate::serve::client::Client;
use crate::serve::create;
use crate::serve::server::Server;
use ssdlab_ssd::rng::Rng;
use std::time::Duration;

const PAGE: u64 = 4096;

/// What each page may hold; the first is promised.
struct Witness {
    pages: Vec<Vec<u64>>,
    protected: bool,
    next: u64,
    rng: Rng,
}

fn page(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(PAGE as usize / 8)
}

impl Witness {
    /// Writes until the server is gone.
    fn work(&mut self, client: &mut Client) {
        while self.step(client).is_ok() {}
    }

    fn step(&mut self, client: &mut Client) -> std::io::Result<()> {
        if self.rng.percent(5) {
            client.flush()?;
            for values in &mut self.pages {
                values.drain(..values.len() - 1);
            }
            return Ok(());
        }
        // Some writes are long enough to be received straight into their places.
        let count = match self.rng.percent(20) {
            true => 16 + self.rng.below(48),
            false => 1,
        };
        // Half of the writes go to an eighth of the drive.
        let pages = self.pages.len() as u64;
        let most = if self.rng.percent(50) {
            pages / 8
        } else {
            pages
        };
        let at = self.rng.below(most - count + 1);
        let numbers = self.next..self.next + count;
        self.next += count;
        let fua = self.rng.percent(10);
        let range = at as usize..(at + count) as usize;
        for (values, n) in self.pages[range.clone()].iter_mut().zip(numbers.clone()) {
            values.push(n);
        }
        let bytes: Vec<u8> = numbers.clone().flat_map(page).collect();
        client.write(at * PAGE, &bytes, fua)?;
        if fua || self.protected {
            for (values, n) in self.pages[range].iter_mut().zip(numbers) {
                *values = vec![n];
            }
        }
        Ok(())
    }

    /// Every page is what it may be; what is found is promised.
    fn look(&mut self, client: &mut Client, round: u64) -> std::io::Result<()> {
        let per_read = (1 << 20) / PAGE as usize;
        for (part, pages) in (0..).zip(self.pages.chunks_mut(per_read)) {
            let length = pages.len() * PAGE as usize;
            let bytes = client.read(part * (1 << 20), length as u32)?;
            for (values, found) in pages.iter_mut().zip(bytes.chunks(PAGE as usize)) {
                let number = u64::from_le_bytes(found[..8].try_into().expect("eight"));
                assert_eq!(found, page(number), "kill {round}: torn");
                assert!(
                    values.contains(&number),
                    "kill {round}: {number}, of {values:?}"
                );
                *values = vec![number];
            }
        }
        Ok(())
    }
}

fn survives(drive: &str, protected: bool, kills: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    create(&folder.path().join("drive"), drive);
    let mut witness = Witness {
        pages: vec![vec![0]; (64 << 20) / PAGE as usize],
        protected,
        next: 1,
        rng: Rng::named(1, drive),
    };
    let (mut killed, mut starting) = (0, 0);
    while killed < kills {
        let mut server = Server::spawn(folder.path(), &[]);
        if witness.rng.percent(15) {
            std::thread::sleep(Duration::from_millis(witness.rng.below(40)));
            server.child.kill().expect("killed");
            server.child.wait().expect("ended");
            (killed, starting) = (killed + 1, starting + 1);
            continue;
        }
        let mut server = server.wait().expect("opens again");
        let mut client = Client::connect(&server.socket).expect("connects");
        witness.look(&mut client, killed).expect("readable");
        let after = Duration::from_micros(witness.rng.below(300_000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            server.child.kill().expect("killed");
            server.child.wait().expect("ended");
        });
        witness.work(&mut client);
        killer.join().expect("killed");
        killed += 1;
    }
    let server = Server::start(folder.path(), &[]).expect("opens again");
    let mut client = Client::connect(&server.socket).expect("connects");
    witness.look(&mut client, killed).expect("readable");
    client.goodbye();
    server.stop();
    println!(
        "{drive}: {killed} kills, {starting} of them while starting, {} pages written",
        witness.next
    );
}

fn kills(few: u64) -> u64 {
    std::env::var("SSDLAB_KILLS").map_or(few, |n| n.parse().expect("a number"))
}

#[test]
fn a_killed_server_has_kept_its_promises() {
    survives("consumer-sata-1tb", false, kills(6));
}

#[test]
fn so_has_one_of_a_protected_drive() {
    survives("intel-dc-s3700-100gb", true, kills(4));
}
