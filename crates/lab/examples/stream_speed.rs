//! What one command of a workload stream costs, in nanoseconds: the best of several runs.
//!
//! `cargo run --release --example stream_speed`. Budget: 15 ns for uniform random commands.

use ssdlab_lab::workload::{fio, stream::Stream};
use std::hint::black_box;
use std::time::Instant;

const COMMANDS: u32 = 5_000_000;
const RUNS: u32 = 5;

const JOBS: &str = "
[global]
time_based
runtime=1h
[sequential read]
rw=read
[uniform write]
rw=randwrite
norandommap
[uniform 70/30]
rw=randrw
rwmixread=70
norandommap
[each once]
rw=randwrite
[bssplit]
rw=randwrite
norandommap
bssplit=4k/60:8k/30:64k/10
[zoned]
rw=randwrite
random_distribution=zoned:50/5:30/15:20/80
[zipf 1.2]
rw=randwrite
random_distribution=zipf:1.2
[pareto 0.2]
rw=randwrite
random_distribution=pareto:0.2
";

fn main() {
    let plan = fio::parse(JOBS, "stream_speed").expect("the jobs above are well formed");
    for job in &plan.phases[0].jobs {
        let mut stream = Stream::new(job, 0, 1 << 40).expect("the jobs fit a tebibyte");
        let best = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..COMMANDS {
                    black_box(stream.next_command());
                }
                start.elapsed()
            })
            .min()
            .unwrap_or_default();
        let nanos = best.as_secs_f64() * 1e9 / f64::from(COMMANDS);
        println!("{:16} {nanos:6.1} ns per command", job.name);
    }
}
