//! One module per subcommand.

pub mod drives;
pub mod generate;
pub mod profiles;
pub mod qualify;
pub mod report;
pub mod run;
pub mod run_plan;
pub mod trace;
pub mod zil;
