//! One module per subcommand.

pub mod age;
pub mod crashtest;
pub mod create;
pub mod drives;
pub mod endurance;
pub mod generate;
pub mod hosts;
pub mod inspect;
pub mod mirror;
pub mod months;
pub mod oltp;
pub mod policies;
pub mod power;
pub mod profiles;
pub mod qualify;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod run_plan;
pub mod serve;
pub mod simulate;
pub mod smart;
pub mod theory;
pub mod tier;
pub mod trace;
pub mod zil;
