//! On systems other than Linux: the commands that need it, which say so.

use crate::failure::{Exit, Failure};
use clap::Args;
use ssdlab_base::LabError;

/// Whatever was given.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct NeedsLinux {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

macro_rules! needs_linux {
    ($($name:ident::$run:ident($args:ident)),*) => { $(
        pub mod $name {
            pub use super::NeedsLinux as $args;
            use super::{Exit, Failure, LabError};

            /// Refuses.
            ///
            /// # Errors
            /// Always.
            pub fn $run(_args: &$args) -> Result<Exit, Failure> {
                Err(LabError::refused(
                    concat!("`ssdlab ", stringify!($name), "` needs Linux"),
                    "modelled drives and what reads results are here; `ssdlab --help` lists them",
                ).into())
            }
        }
    )* };
}

needs_linux!(
    conform::run(Conform),
    crashtest::crashtest(Crashtest),
    mark::make_mark(MarkArgs),
    power::power(PowerArgs),
    pull::pull(PullArgs),
    serve::serve(Serve)
);
