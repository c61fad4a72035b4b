//! One module per subcommand.

pub mod drives;
pub mod generate;
pub mod policies;
pub mod qualify;
pub mod report;
pub mod run;
pub mod simulate;
pub mod theory;
