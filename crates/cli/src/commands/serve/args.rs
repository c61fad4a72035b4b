//! Arguments of `ssdlab serve`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Values of `--tls` that need another argument.
const TLS_NEEDS: [(&str, &str); 2] = [("on", "tls_certificates"), ("require", "tls_certificates")];

/// `ssdlab serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab create my-drive --drive intel-dc-s3700-100gb --size 1GiB
  ssdlab serve my-drive --nbd unix:nbd.sock --control switch.sock
  ssdlab serve my-drive --fuse mnt/drive --pace real --fault ignores-flush
  ssdlab serve drive:consumer-sata-1tb --size 1GiB --nbd unix:nbd.sock
  ssdlab serve volume:gp2,size=20 --nbd unix:nbd.sock
  ssdlab serve my-drive --nbd unix:nbd.sock --nbd-read-only tcp:0.0.0.0:10809
  ssdlab serve my-drive --nbd tcp:0.0.0.0:10809 --tls require \\
    --tls-certificates pki --tls-verify-peer
  ssdlab power cut-when --flush 3 --inside --wait --control switch.sock

It runs until Ctrl-C or SIGTERM, then shuts the drive down and prints what it
noted of each client. A second Ctrl-C ends it at once, as a power cut would.")]
pub struct Serve {
    /// The directory; `ssdlab create` makes one. Or drive:NAME, a new drive of the catalogue in
    /// memory, or volume:TYPE,size=GIB,... of a cloud at its own pace: nothing of them is kept.
    #[arg(value_name = "DRIVE_DIR|drive:NAME|volume:TYPE")]
    pub directory: PathBuf,
    /// Bytes that drive:NAME offers. [default: as the drive]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Listen for NBD clients: unix:PATH or tcp:HOST:PORT; may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub nbd: Vec<String>,
    /// The same for clients that can only read, beside those of --nbd; may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub nbd_read_only: Vec<String>,
    /// Be a file, for losetup: its name in an empty folder (mnt/drive). Needs /dev/fuse.
    #[arg(long, value_name = "FOLDER/FILE")]
    pub fuse: Option<PathBuf>,
    /// Be a virtio disk (vhost-user-blk) of a virtual machine: listen for its hypervisor at this
    /// unix socket.
    #[arg(long, value_name = "SOCKET")]
    pub vhost_user: Option<PathBuf>,
    /// Listen for `ssdlab power` at this unix socket.
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// Refuse every write of an NBD client; the file of --fuse and the disk of --vhost-user are
    /// read-only.
    #[arg(long)]
    pub read_only: bool,
    /// Encryption of NBD connections: off, on (each client chooses), or require (of every client).
    #[arg(long, value_enum, requires_ifs = TLS_NEEDS)]
    pub tls: Option<TlsName>,
    /// Folder of server-cert.pem and server-key.pem, as for nbdkit and qemu.
    #[arg(long, value_name = "DIR", requires = "tls")]
    pub tls_certificates: Option<PathBuf>,
    /// Admit only clients whose certificate is by an authority in ca-cert.pem of that folder, and
    /// not in its ca-crl.pem, if there is one.
    #[arg(long, requires = "tls")]
    pub tls_verify_peer: bool,
    /// How long commands take.
    #[arg(long, value_enum, default_value = "fast")]
    pub pace: PaceName,
    /// With --pace real: virtual time passes this many times slower than real time, where this
    /// machine is too slow for the drive.
    #[arg(long, value_name = "TIMES", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub slower: u32,
    /// Fault of the drive: NAME[:PERMILLE[:SEED]]; may be repeated.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Seed of faults that have none, and of where inside a flush a cut falls.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// On FLUSH and FUA also sync the directory's files, so that it survives the machine.
    #[arg(long)]
    pub sync: bool,
}

/// `--tls`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsName {
    /// Not offered.
    Off,
    /// Up to the client.
    On,
    /// Clients without are refused.
    Require,
}

/// `--pace`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaceName {
    /// As long as the modelled drive takes.
    Real,
    /// As long as computing them takes.
    Fast,
}
