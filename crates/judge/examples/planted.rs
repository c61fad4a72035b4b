//! How often the diagnosis names a planted fault first, over seeds: the table of docs/qualify.md.
//! Healthy drives and pairs of faults too; of a pair, both must be among the first three.
//!
//!     cargo run --release -p ssdlab-judge --example planted -- FIRST_SEED COUNT [pairs|host]
//!
//! `pairs`: pairs alone, each that was not found with what was planted. `host`: causes of the host,
//! planted in the traces of journals on drawn drives, in place of causes of drives.

use ssdlab_base::{LabError, parallel};
use ssdlab_judge::ablate::planted::{FAULTS, healthy, planted};
use ssdlab_judge::ablate::{AblationLoad, Cause, FAULT, HostRelief, HostStream};
use ssdlab_judge::ablate::{diagnose_faults, diagnose_stream, steady};
use ssdlab_load::trace::TraceEvent;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Drive, Op};

/// How the diagnosis of a planted fault went.
enum PlantedAnswer {
    /// The fault does not show.
    Hidden,
    Right,
    /// What was named instead.
    Wrong(String),
}

/// The number of right answers, and the wrong ones.
fn tally(answers: Vec<PlantedAnswer>) -> (usize, Vec<String>) {
    let mut right = 0;
    let mut wrong = Vec::new();
    for answer in answers {
        match answer {
            PlantedAnswer::Hidden => {}
            PlantedAnswer::Right => right += 1,
            PlantedAnswer::Wrong(named) => wrong.push(named),
        }
    }
    (right, wrong)
}

fn judged(seed: u64, faults: &[usize]) -> Result<PlantedAnswer, LabError> {
    let Some(drive) = planted(seed, faults)? else {
        return Ok(PlantedAnswer::Hidden);
    };
    let diagnosed = diagnose_faults(&drive, &AblationLoad::ALL, 1)?;
    let named: Vec<_> = diagnosed.iter().map(|fault| fault.cause).collect();
    let first = |count: usize| &named[..named.len().min(count)];
    let right = match faults {
        [] => named.is_empty(),
        [one] => named.first() == Some(&FAULTS[*one].1),
        more => more
            .iter()
            .all(|fault| first(3).contains(&FAULTS[*fault].1)),
    };
    let names: Vec<_> = named.iter().map(|cause| cause.name()).collect();
    let planted: Vec<&str> = faults.iter().map(|fault| FAULTS[*fault].0).collect();
    if right {
        return Ok(PlantedAnswer::Right);
    }
    let (planted, named) = (planted.join(" and "), names.join(" > "));
    Ok(PlantedAnswer::Wrong(format!("{seed} ({planted}): {named}")))
}

fn row(title: &str, jobs: &[(u64, Vec<usize>)]) -> Result<(), LabError> {
    let answer = |(seed, faults): &(u64, Vec<usize>)| judged(*seed, faults);
    let (right, wrong) = tally(parallel::all(jobs, parallel::cores(), answer)?);
    let shown = right + wrong.len();
    println!("{title:30} {right:3} of {shown:3}  {}", wrong.join("; "));
    Ok(())
}

/// What is planted in a host and its drive, and what is to be named.
#[derive(Clone, Copy)]
struct Planted {
    /// The host pauses after each commit for as long as it took.
    pauses: bool,
    /// It flushes before each FUA write.
    doubled: bool,
    /// The drive's buffer is volatile.
    volatile: bool,
    /// In this order; a pair in any.
    named: &'static [Cause],
}

const HOSTS: [(&str, Planted); 5] = [
    (
        "a host and a drive without fault",
        host(false, false, false, &[]),
    ),
    ("pauses", host(true, false, false, &[Cause::HostPauses])),
    (
        "doubled flushes that cost nothing",
        host(false, true, false, &[]),
    ),
    (
        "volatile buffer",
        host(false, false, true, &[Cause::VolatileBuffer]),
    ),
    (
        "volatile buffer, doubled flushes",
        host(
            false,
            true,
            true,
            &[Cause::VolatileBuffer, Cause::DoubledFlushes],
        ),
    ),
];

const fn host(pauses: bool, doubled: bool, volatile: bool, named: &'static [Cause]) -> Planted {
    Planted {
        pauses,
        doubled,
        volatile,
        named,
    }
}

/// Commits of a journal.
const COMMITS: u64 = 400;
/// Times as long that a trace takes with what is planted.
const SLOWED: f64 = 2.0;

/// A journal drawn from a seed: some writes, then one with FUA.
fn journal(seed: u64, planted: Planted, pause_ns: u64) -> HostStream {
    let rng = &mut Rng::named(seed, "journal");
    let (writes, block) = (1 + rng.below(8), 4096 << rng.below(3));
    let (mut now, mut events) = (0, Vec::new());
    for number in 0..COMMITS * (writes + 1) {
        let commit = number % (writes + 1) == writes;
        let place = rng.below((32 << 20) / block) * block;
        let mut event = TraceEvent::new(now, Op::Write, place, block);
        event.fua = commit;
        event.preflush = commit && planted.doubled;
        now += 50_000;
        event.done_ns = Some(now);
        events.push(event);
        now += if commit { pause_ns } else { 0 };
    }
    HostStream::new(&events).expect("every command completed")
}

/// What is planted shows when the time reaches [`SLOWED`] times that of the sound drive, and with
/// doubled flushes also [`FAULT`] times that of single ones.
fn judged_host(seed: u64, planted: Planted) -> Result<PlantedAnswer, LabError> {
    let sound = steady(&healthy(seed), seed)?;
    let mut config = healthy(seed);
    config.buffer.protected = !planted.volatile;
    let drive = steady(&config, seed)?;
    let ns = |drive: &Drive, stream: &HostStream| {
        stream.measure(drive.clone(), HostRelief::default()).ns
    };
    let once = Planted {
        doubled: false,
        ..planted
    };
    let prompt = journal(seed, planted, 0);
    let took = ns(&sound, &prompt);
    let (slow, single) = (ns(&drive, &prompt), ns(&drive, &journal(seed, once, 0)));
    let hidden = planted.volatile && slow < SLOWED * took
        || planted.volatile && planted.doubled && slow < FAULT * single;
    // The least pause that shows: a drive may work while its host pauses.
    let commit = took * prompt.count() as f64 / COMMITS as f64;
    let longer = |strength: i32| journal(seed, planted, (commit * 1.5_f64.powi(strength)) as u64);
    let stream = if planted.pauses {
        (0..8)
            .map(longer)
            .find(|one| ns(&sound, one) >= SLOWED * took)
    } else {
        (!hidden).then_some(prompt)
    };
    let Some(stream) = stream else {
        return Ok(PlantedAnswer::Hidden);
    };
    let diagnosis = diagnose_stream(&drive, &stream);
    let named: Vec<_> = diagnosis.faults.iter().map(|fault| fault.cause).collect();
    let right = match planted.named {
        [] => named.is_empty(),
        [one] => named.first() == Some(one),
        more => more.iter().all(|cause| named.contains(cause)),
    };
    let names: Vec<_> = named.iter().map(|cause| cause.name()).collect();
    if right {
        return Ok(PlantedAnswer::Right);
    }
    Ok(PlantedAnswer::Wrong(format!(
        "{seed}: {}",
        names.join(" > ")
    )))
}

fn hosts(first: u64, count: u64) -> Result<(), LabError> {
    let seeds: Vec<u64> = (first..first + count).collect();
    for (title, planted) in HOSTS {
        let answer = |seed: &u64| judged_host(*seed, planted);
        let (right, wrong) = tally(parallel::all(&seeds, parallel::cores(), answer)?);
        let shown = right + wrong.len();
        println!("{title:34} {right:3} of {shown:3}  {}", wrong.join("; "));
    }
    Ok(())
}

/// Every fault alone, and healthy drives.
fn alone(first: u64, count: u64) -> Result<(), LabError> {
    let seeds = first..first + count;
    for (index, (name, _)) in FAULTS.iter().enumerate() {
        let jobs: Vec<_> = seeds.clone().map(|seed| (seed, vec![index])).collect();
        row(name, &jobs)?;
    }
    let healthy = first..first + count * 6;
    let healthy: Vec<_> = healthy.map(|seed| (seed, Vec::new())).collect();
    row("healthy", &healthy)
}

fn main() -> Result<(), LabError> {
    let mut args = std::env::args().skip(1);
    let mut number = |default: u64| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(1), number(10));
    match args.next().as_deref() {
        Some("host") => return hosts(first, count),
        Some("pairs") => {}
        _ => alone(first, count)?,
    }
    let pairs = (first..first + count * 3).filter_map(|seed| {
        let rng = &mut Rng::named(seed, "pair");
        let mut one = || rng.below(FAULTS.len() as u64) as usize;
        let (a, b) = (one(), one());
        (FAULTS[a].1 != FAULTS[b].1).then(|| (seed, vec![a, b]))
    });
    row("two at once", &pairs.collect::<Vec<_>>())
}
