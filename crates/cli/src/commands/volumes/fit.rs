//! `ssdlab volumes fit`: what to buy.

use crate::args::trace::ReadArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::print_result;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_judge::qualify::role;
use ssdlab_judge::volumes::show::FitShown;
use ssdlab_judge::volumes::{FitRequest, fit_all, limit_of, load, read_prices};
use ssdlab_volume::fit::FitLimit;
use std::path::PathBuf;

/// `ssdlab volumes fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
The load comes at its recorded times, whatever the volume does. Its credit is
empty at the beginning, so that what serves it serves it every day; --credit 100
for a load that runs once. No price is built in: write those of your region into
a file, a month each:

  currency = \"USD\"
  [volumes.gp3]
  gib = 0.08
  operation = 0.005
  operations_free = 3000
  throughput = 0.04
  throughput_free = 125

Examples:
  ssdlab volumes fit log.csv.gz --role etcd
  ssdlab volumes fit recorded.trace --latency 5ms --prices prices.toml
  ssdlab volumes fit ssdlab-runs/mine --role db-wal --kind gp3 --kind io2

Exit codes: 0 some type serves it, 1 none does, 2 an error.")]
pub struct VolumeFitArgs {
    /// A trace, a recording of `watch`, or a directory that `ssdlab run` wrote.
    #[arg(value_name = "TRACE|RUN_DIR")]
    load: PathBuf,
    /// The role whose limit on latency it must meet.
    #[arg(long, required_unless_present = "latency")]
    role: Option<String>,
    /// A limit of your own: 99 % of flushes (else of writes, else of reads) take no longer.
    #[arg(long, value_name = "TIME")]
    latency: Option<String>,
    /// Percentage of commands within the limit. [default: 99, or the role's]
    #[arg(long, value_name = "PERCENT")]
    percentile: Option<f64>,
    /// Only this type; may be repeated.
    #[arg(long, value_name = "TYPE")]
    kind: Vec<String>,
    /// The least size in GiB. [default: what the load addresses]
    #[arg(long, value_name = "GIB")]
    size: Option<u64>,
    /// The instance that it is attached to, as in `ssdlab volumes list`.
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Percentage of the credit at the beginning.
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(0..=100))]
    credit: u32,
    /// Your prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

fn limit(args: &VolumeFitArgs) -> Result<FitLimit, LabError> {
    let role = args.role.as_deref().map(role).transpose()?;
    let of_role = role.and_then(limit_of);
    let own = args.latency.as_deref().map(parse_duration).transpose()?;
    let mut limit = match (own, of_role) {
        (Some(latency), of_role) => FitLimit {
            latency_ns: latency.0,
            share: of_role.map_or(0.99, |limit| limit.share),
        },
        (None, Some(limit)) => limit,
        (None, None) => {
            return Err(LabError::refused(
                "the role sets no limit on the latency of single commands",
                "give one: --latency 10ms",
            ));
        }
    };
    if let Some(percent) = args.percentile {
        limit.share = (percent / 100.0).clamp(0.0, 1.0);
    }
    Ok(limit)
}

/// Prints the settings.
///
/// # Errors
/// When the load or the prices cannot be read, or a type is not known.
pub fn fit(args: &VolumeFitArgs) -> Result<CommandExit, CliFailure> {
    let request = FitRequest {
        load: load(&args.load, &args.read.options()?)?,
        limit: limit(args)?,
        kinds: args.kind.clone(),
        gib: args.size,
        instance: args.instance.clone(),
        credit_permille: args.credit * 10,
        prices: read_prices(args.prices.as_deref())?,
    };
    let shown = FitShown::new(&request, fit_all(&request)?);
    print_result(args.json, &shown, || shown.text())?;
    Ok(CommandExit::good_if(shown.serves(), CommandExit::Fails))
}
