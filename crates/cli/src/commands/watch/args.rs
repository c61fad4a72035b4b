//! Arguments of `ssdlab watch`.

use clap::Args;
use std::path::PathBuf;

/// `ssdlab watch`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab watch /dev/nvme0n1                until Ctrl-C, then the answer
  ssdlab watch /var/lib/etcd --for 30s     the drive under a directory
  ssdlab watch /dev/sda --for 1m --model drive:intel-dc-s3500-480gb
  ssdlab watch 1234 --record bad-hour.gz   the drive of a process, to be sent on
  ssdlab watch /dev/sda -q --exporter :9955  metrics for Prometheus
  ssdlab watch bad-hour.gz                 read a recording, on any machine

Nothing is written to the drive, no cache is dropped, nothing is synced. Block
tracepoints need root, or CAP_PERFMON and read access to tracefs; counters need
nothing. Exit code: 0 as on a healthy drive, 1 a cause was found, 3 too few
requests to say.")]
pub struct Watch {
    /// A block device, a mount point or a file on the drive, a process number, or a recording.
    #[arg(value_name = "DEVICE|PATH|PID|RECORDING")]
    pub target: String,
    /// Stop after this time (10s, 5m). [default: on Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<String>,
    /// Replay the same commands on this modelled drive (drive:NAME), say whether the drive does as
    /// its kind does, and what comes next at the present load.
    #[arg(long, value_name = "DRIVE", conflicts_with = "counters")]
    pub model: Option<String>,
    /// Use the kernel's counters alone, even where tracepoints are to be had.
    #[arg(long)]
    pub counters: bool,
    /// Record the requests, without their data, in this new file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Record names of processes and paths as hashes.
    #[arg(long, requires = "record")]
    pub hash_names: bool,
    /// Serve metrics for Prometheus at this port of the loopback interface, or address with port.
    #[arg(long, value_name = "ADDRESS")]
    pub exporter: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// No lines on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}
