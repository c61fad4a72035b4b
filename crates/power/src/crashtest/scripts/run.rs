//! Running a script, for so long, and ending all that it has started.

use rustix::process::{Pid, Signal, kill_process_group};
use ssdlab_base::LabError;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// It said that all is well: exit code 0 in time.
    pub is_good: bool,
    /// It could not do its work: exit code [`COULD_NOT`], or the shell's for a program that it
    /// cannot run (126) or find (127).
    pub could_not: bool,
    /// It was ended because the campaign is to stop.
    pub stopped: bool,
    /// How it ended, and the last lines that it said.
    pub text: String,
}

/// The exit code by which a script says that it could not do its work, for want of a loop device
/// say: neither good nor bad. The same as in automake's tests.
pub const COULD_NOT: i32 = 77;

/// The shell's exit code for a program that it cannot run.
pub const NOT_RUN: i32 = 126;
/// The shell's exit code for a program that it cannot find.
pub const NOT_FOUND: i32 = 127;

/// Bytes of output that a message quotes.
const QUOTED_MAX: usize = 400;
/// How often a running script is looked after.
const LOOK: Duration = Duration::from_millis(5);

/// How long a script that is ended gets for its own clean-up, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Runs `sh -c SCRIPT` in a process group of its own; all that it says goes to the file `output`.
/// Nothing of the group outlives it. When `stop` is set it is ended early.
///
/// # Errors
/// When the shell cannot be started or the file not be made.
pub fn run_script(
    script: &str,
    env: &[(&str, String)],
    output: &Path,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<ScriptOutcome, LabError> {
    let failed = |error| LabError::file("creating", output, error);
    let out = File::create(output).map_err(failed)?;
    let err = out.try_clone().map_err(failed)?;
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0);
    let child = command.spawn();
    let mut child = child.map_err(|error| LabError::file("running", "sh", error))?;
    let ended = wait(&mut child, timeout, stop);
    let output_tail = std::fs::read(output).unwrap_or_default();
    let output_tail =
        String::from_utf8_lossy(&output_tail[output_tail.len().saturating_sub(QUOTED_MAX)..])
            .into_owned();
    let (is_good, how) = match ended {
        ScriptEnd::Itself(status) if status.success() => (true, "exit code 0".to_string()),
        ScriptEnd::Itself(status) => (false, status.to_string()),
        ScriptEnd::TooLate => (false, format!("not done in {timeout:?}")),
        ScriptEnd::Stopped => (false, "stopped".to_string()),
    };
    let code = match ended {
        ScriptEnd::Itself(status) => status.code(),
        ScriptEnd::TooLate | ScriptEnd::Stopped => None,
    };
    let could_not = matches!(code, Some(COULD_NOT | NOT_RUN | NOT_FOUND));
    Ok(ScriptOutcome {
        is_good,
        could_not,
        stopped: matches!(ended, ScriptEnd::Stopped),
        text: format!("{how}: {}", output_tail.trim()),
    })
}

/// Why a script runs no more.
enum ScriptEnd {
    Itself(ExitStatus),
    TooLate,
    Stopped,
}

/// Waits for a child, and ends whatever of its group is left.
fn wait(child: &mut Child, timeout: Duration, stop: &AtomicBool) -> ScriptEnd {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal| {
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
    };
    let until = Instant::now() + timeout;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break ScriptEnd::Itself(status),
            _ if stop.load(Ordering::Relaxed) => break ScriptEnd::Stopped,
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            _ => break ScriptEnd::TooLate,
        }
    };
    if !matches!(ended, ScriptEnd::Itself(_)) {
        // Its traps may unmount what we know nothing of.
        signal(Signal::TERM);
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
        }
    }
    signal(Signal::KILL);
    let _ = child.wait();
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_heard_and_its_time_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let env = [("WORD", "hello".to_string())];
        let run = |script: &str, ms| {
            let time = Duration::from_millis(ms);
            run_script(script, &env, &output, time, &AtomicBool::new(false)).unwrap()
        };
        let good = run("echo $WORD", 10_000);
        assert_eq!(
            (good.is_good, good.text.as_str()),
            (true, "exit code 0: hello")
        );
        let bad = run("echo no >&2; exit 3", 10_000);
        assert!(
            !bad.is_good && bad.text.contains('3') && bad.text.ends_with("no"),
            "{bad:?}"
        );
        let begun = Instant::now();
        let late = run("sleep 60 & sleep 60", 100);
        assert!(
            !late.is_good && late.text.contains("not done in"),
            "{late:?}"
        );
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    /// Processes that a script started in the background must not outlive it, whether it ended
    /// itself or was ended: they would go on with a drive that is gone.
    #[test]
    fn nothing_that_a_script_started_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let pids = folder.path().join("pids");
        let script = |last: &str| {
            let pids = pids.display();
            format!("(trap '' TERM; while :; do sleep 1; done) & echo $! > {pids}; {last}")
        };
        for (last, is_stopped) in [("exit 0", false), ("sleep 60", true)] {
            let stop = AtomicBool::new(false);
            let outcome = std::thread::scope(|scope| {
                let (script, stop, output) = (script(last), &stop, &output);
                let time = Duration::from_secs(60);
                let run = scope.spawn(move || run_script(&script, &[], output, time, stop));
                let written = || std::fs::read_to_string(&pids).unwrap_or_default();
                while !written().ends_with('\n') {
                    std::thread::sleep(LOOK);
                }
                stop.store(is_stopped, Ordering::Relaxed);
                run.join().unwrap().unwrap()
            });
            assert_eq!(
                (outcome.stopped, outcome.is_good),
                (is_stopped, !is_stopped)
            );
            let child = std::fs::read_to_string(&pids).unwrap();
            let stat = format!("/proc/{}/stat", child.trim());
            let until = Instant::now() + Duration::from_secs(10);
            // Somebody else has to bury it: a zombie is dead enough.
            while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
                assert!(Instant::now() < until, "{child} lives");
                std::thread::sleep(LOOK);
            }
            std::fs::remove_file(&pids).unwrap();
        }
    }
}
