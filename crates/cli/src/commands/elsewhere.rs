//! On systems other than Linux: the commands that need it, which say so.

use crate::failure::{CliFailure, CommandExit};
use clap::Args;
use ssdlab_base::LabError;

/// Whatever was given.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct NeedsLinux {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<String>,
}

fn refuse(name: &str) -> Result<CommandExit, CliFailure> {
    let refused = LabError::refused(
        format!("`ssdlab {name}` needs Linux"),
        "modelled drives and what reads results are here; `ssdlab --help` lists them",
    );
    Err(refused.into())
}

/// The arguments of a command, and what refuses it.
macro_rules! refused {
    ($name:literal, $run:ident, $args:ident) => {
        pub type $args = crate::commands::elsewhere::NeedsLinux;

        pub fn $run(_: &$args) -> Result<crate::failure::CommandExit, crate::failure::CliFailure> {
            crate::commands::elsewhere::refuse($name)
        }
    };
}

pub mod conform {
    refused!("conform", run, Conform);
}
pub mod crashtest {
    refused!("crashtest", crashtest, Crashtest);
}
pub mod mark {
    refused!("mark", make_mark, MarkArgs);
}
pub mod power {
    refused!("power", power, PowerArgs);
}
pub mod pull {
    refused!("pull", pull, PullArgs);
}
pub mod serve {
    refused!("serve", serve, Serve);
}
pub mod watch {
    refused!("watch", watch, Watch);
}
