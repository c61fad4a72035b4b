//! Arguments of `ssdlab watch`.

use clap::{Args, ValueEnum};
use ssdlab_judge::qualify::roles;
use ssdlab_watch::live::WatchSource;
use std::path::PathBuf;

/// What counts requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceChoice {
    Auto,
    Ebpf,
    Perf,
    Counters,
}

impl SourceChoice {
    /// For the library.
    pub fn source(self) -> WatchSource {
        match self {
            SourceChoice::Auto => WatchSource::Auto,
            SourceChoice::Ebpf => WatchSource::Ebpf,
            SourceChoice::Perf => WatchSource::Perf,
            SourceChoice::Counters => WatchSource::Counters,
        }
    }
}

/// `ssdlab watch`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab watch /dev/nvme0n1                a screen until q, then the answer
  ssdlab watch /var/lib/etcd --for 30s     the drive under a directory
  ssdlab watch /var/lib/etcd --for 60s --role etcd  are etcd's limits kept?
  ssdlab watch /dev/sda --for 1m --model drive:intel-dc-s3500-480gb
  ssdlab watch /dev/nvme1n1 --model volume:gp2,size=100
  ssdlab watch 1234 --record bad-hour.gz   the drive of a process, to be sent on
  ssdlab watch bad-hour.gz --out bad-hour  a recording, on any machine; a page
  ssdlab watch bad-hour.gz --play          the screen as it was
  ssdlab watch /dev/sda -q --exporter :9955  metrics for Prometheus

Nothing is written to the drive, no cache is dropped, nothing is synced. Block
tracepoints need root, or CAP_PERFMON and read access to tracefs; counters need
nothing. Exit code: 0 as on a healthy drive, 1 a cause was found, 3 too few
requests to say; with --role: 0 each limit that is seen is kept, 1 a limit that
the role cannot do without is not, 3 too few durable writes to say.")]
pub struct Watch {
    /// A block device, a mount point or a file on the drive, a process number, or a recording.
    #[arg(value_name = "DEVICE|PATH|PID|RECORDING")]
    pub target: String,
    /// Stop after this time (10s, 5m). [default: on Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<String>,
    #[arg(long, value_name = "ROLE", help = role_help())]
    pub role: Option<String>,
    /// Replay the same commands on this modelled drive (drive:NAME), say whether the drive does as
    /// its kind does, and what comes next at the present load. Of a volume (volume:TYPE): how much
    /// credit is left.
    #[arg(long, value_name = "MODEL", conflicts_with = "counters")]
    pub model: Option<String>,
    /// Use the kernel's counters alone, even where tracepoints are to be had.
    #[arg(long)]
    pub counters: bool,
    /// What counts requests: single events by perf, histograms in the kernel by eBPF (with single
    /// events of a part of each second), counters of sysfs, or what suits the rate.
    #[arg(
        long,
        value_name = "SOURCE",
        default_value = "auto",
        conflicts_with = "counters"
    )]
    pub source: SourceChoice,
    /// Record the requests, without their data, in this new file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Record names of processes and paths as hashes.
    #[arg(long, requires = "record")]
    pub hash_names: bool,
    /// Play a recording on the screen, a second for each second.
    #[arg(long, conflicts_with_all = ["plain", "json", "events", "record"])]
    pub play: bool,
    /// Serve metrics for Prometheus at this port of the loopback interface, or address with port.
    #[arg(long, value_name = "ADDRESS")]
    pub exporter: Option<String>,
    /// Directory for a page and the report as JSON; must be new or empty.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write over the results of an earlier watch in --out.
    #[arg(long, requires = "out")]
    pub replace: bool,
    /// The report as JSON.
    #[arg(long)]
    pub json: bool,
    /// An object of JSON in a line for each thing as it happens: a second, a stall with its cause,
    /// another answer; the report is the last one.
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
    /// Lines instead of the screen, also on a terminal.
    #[arg(long)]
    pub plain: bool,
    /// No screen, and no lines on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

fn role_help() -> String {
    let names: Vec<&str> = roles().iter().map(|role| role.name.as_str()).collect();
    format!(
        "Hold what is seen against the limits of a role ({})",
        names.join(", ")
    )
}
