//! Watching which names a program makes and which directories it syncs, by strace.

use super::tools;
use std::path::Path;
use std::process::Command;

/// The system calls that make, move and remove names, that sync, and that say where a process is.
const CALLS: &str = "trace=fsync,fdatasync,sync,syncfs,?open,openat,openat2,?creat,?rename,\
                     ?renameat,renameat2,?link,linkat,?symlink,symlinkat,?mkdir,mkdirat,?unlink,\
                     unlinkat,?rmdir,chdir,fchdir,?fork,?vfork,clone,clone3";

/// Debian's package of the tool.
pub const TOOL: &str = "strace";

/// Why a program cannot be watched here; `None`: it can.
pub fn obstacle(trace: &Path) -> Option<String> {
    if !tools::is_there(TOOL) {
        return Some("strace is not installed (Debian's package strace)".into());
    }
    let tried = tools::output(traced("true", trace).arg("--version"));
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let _ = std::fs::remove_file(trace);
    match tried {
        Ok(output) if output.status.success() && text.contains("open") => None,
        Ok(output) => {
            let reason = tools::said(&output);
            Some(format!("strace cannot trace here: {}", reason.trim()))
        }
        Err(error) => Some(format!("strace cannot be run: {error}")),
    }
}

/// A command that runs a program under strace. The program stays the child of whoever starts it,
/// so that it ends although a process that it has left behind goes on.
pub fn traced(program: &str, trace: &Path) -> Command {
    let mut command = tools::command(TOOL);
    command
        .args(["-D", "-f", "--seccomp-bpf", "-ttt", "-qq", "-y", "-s", "0"])
        .args(["-e", "signal=none", "-e", CALLS, "-o"])
        .arg(trace)
        .args(["--", program]);
    command
}
