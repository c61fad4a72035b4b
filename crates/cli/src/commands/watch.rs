//! `ssdlab watch`: what makes a drive in use slow, by watching; nothing is written to it.

mod args;
mod beside;
mod follow;
mod lines;
mod metrics;
mod order;
mod progress;
mod screen;

pub use args::Watch;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print_result, say, write_file, write_json};
use crate::progress::stop_on_signal;
use beside::beside_model;
use follow::WatchFollower;
use order::seconds;
use ssdlab_base::LabError;
use ssdlab_bench::run_dir::Existing;
use ssdlab_watch::judge::LiveAnswer;
use ssdlab_watch::live::{WatchOrder, watch as watch_live};
use ssdlab_watch::page::watch_page;
use ssdlab_watch::preflight::{self, RoleOutcome};
use ssdlab_watch::record::{RecordingReplay, is_recording, replay_recording};
use ssdlab_watch::report::{WatchOutcome, WatchReport};
use ssdlab_watch::show;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn watched(
    args: &Watch,
    follower: &mut WatchFollower,
    stop: &AtomicBool,
) -> Result<WatchOutcome, LabError> {
    let path = Path::new(&args.target);
    if path.is_file() && is_recording(path) {
        let replay = follower.follows_recordings().then_some(RecordingReplay {
            progress: &mut *follower,
            stop,
        });
        let outcome = replay_recording(path, replay)?;
        follower.wait_for_key();
        return Ok(outcome);
    }
    let mut order = WatchOrder::new(&args.target);
    order.seconds = args.duration.as_deref().map(seconds).transpose()?;
    order.counters_only = args.counters;
    order.source = args.source.source();
    order.every_request = args.exporter.is_some() || args.model.is_some();
    order.record.clone_from(&args.record);
    order.hashes_names = args.hash_names;
    watch_live(&order, follower, stop)
}

/// The directory for a page, if one is wanted; made before the watch begins.
fn reserved(args: &Watch) -> Result<Option<ReservedDir>, LabError> {
    let existing = if args.replace {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    let out = args.out.as_deref();
    out.map(|path| ReservedDir::new(path, existing)).transpose()
}

fn text(report: &WatchReport) -> String {
    let role = report.role.as_ref();
    let role = role.map_or_else(String::new, |role| format!("\n{}", preflight::text(role)));
    show::text(report) + &role
}

fn exit(report: &WatchReport) -> CommandExit {
    match (&report.role, &report.answer) {
        (Some(role), _) => match role.outcome {
            RoleOutcome::Pass => CommandExit::Good,
            RoleOutcome::Fail => CommandExit::Fails,
            RoleOutcome::Unknown => CommandExit::Unknown,
        },
        (None, LiveAnswer::AsExpected { .. }) => CommandExit::Good,
        (None, LiveAnswer::Causes { .. }) => CommandExit::Fails,
        (None, LiveAnswer::TooLittle { .. }) => CommandExit::Unknown,
    }
}

/// Watches a drive, or reads a recording, and says what makes it slow.
///
/// # Errors
/// When it is not on a drive of this machine, or a recording cannot be read or written.
pub fn watch(args: &Watch) -> Result<CommandExit, CliFailure> {
    let _reserved = reserved(args)?;
    let stop = stop_on_signal()?;
    let path = Path::new(&args.target);
    let is_recording = path.is_file() && is_recording(path);
    let mut follower = WatchFollower::new(args, is_recording, &stop)?;
    let outcome = watched(args, &mut follower, &stop)?;
    let mut report = outcome.report;
    follower.finish(&mut report);
    if let Some(name) = &args.model {
        beside_model(name, args.quiet, &mut report, &outcome.events)?;
    }
    if let Some(out) = &args.out {
        write_json(&out.join("watch.json"), &report)?;
        write_file(&out.join("report.html"), &watch_page(&report))?;
    }
    if !follower.finish_events(&report)? {
        print_result(args.json, &report, || text(&report))?;
    }
    if let Some(out) = &args.out {
        let out = out.display();
        say(
            args.quiet,
            &format!("\nresults: {out}/  page: {out}/report.html"),
        );
    }
    Ok(exit(&report))
}
