//! The command line, tested from outside. One program: separate ones take longer to link and leave
//! cores idle.

mod adopt;
mod age;
mod bad_input;
mod check;
mod crashtest;
mod crashtest_control;
mod crashtest_run;
mod crashtest_stops;
mod create;
mod diagnose;
mod escapes;
mod fingerprint;
mod fio_verify;
mod hosts;
mod inspect;
mod ledger;
mod next_steps;
mod published;
mod pull;
mod real_targets;
mod reproduce;
mod run;
mod run_lines;
mod serve;
mod simulate;
mod smartctl;
mod trace;
mod twin;
mod watch;
mod zil;
