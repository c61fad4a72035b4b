//! One module per subcommand.

pub mod drives;
pub mod generate;
pub mod qualify;
pub mod report;
pub mod run;
pub mod trace;
