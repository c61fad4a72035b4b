//! The scripts of a campaign that runs a program in a file system.

use super::preset::chosen;
use super::{DriveFileSystem, MOUNTED, MarkSource};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use std::path::Path;

/// The mark of a preset when its tables are made.
const PREPARED: &str = "begin";

/// Workload and check, and what goes with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    /// The workload, for `sh -c`.
    pub workload: String,
    /// The check, for `sh -c`.
    pub check: String,
    /// The mark after which cuts come.
    pub after_mark: String,
    /// Bytes of a drive that is large enough.
    pub drive_bytes: u64,
}

/// How the state after a cut is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMethod<'a> {
    /// By the exit code of this command line.
    Check(&'a str),
    /// By the lines that this command line prints: all that were marked must be among them.
    Found(&'a str),
}

impl Scripts {
    /// Those of a program of the user's, who is in the folder `here`.
    pub fn of_program(
        kind: DriveFileSystem,
        program: &[String],
        marks: MarkSource,
        judged_by: CheckMethod<'_>,
        here: &Path,
    ) -> Scripts {
        let (words, command) = Scripts::located(program, judged_by, here);
        let task = match marks {
            MarkSource::Stdout => "work",
            MarkSource::Socket => "work-quiet",
        };
        let judge = match judged_by {
            CheckMethod::Check(_) => "check",
            CheckMethod::Found(_) => "found",
        };
        let cwd = quoted(&here.to_string_lossy());
        let export = |script: String| format!("export SSDLAB_CWD={cwd}; {script}");
        Scripts {
            workload: export(script(kind, task, &words)),
            check: export(script(kind, judge, &[command])),
            after_mark: MOUNTED.into(),
            drive_bytes: kind.drive_bytes(),
        }
    }

    /// A program's words and the command line of its check, with files of the folder `here` by
    /// their whole paths.
    pub fn located(
        program: &[String],
        judged_by: CheckMethod<'_>,
        here: &Path,
    ) -> (Vec<String>, String) {
        let words = program.iter().map(|word| located(word, here)).collect();
        let (CheckMethod::Check(command) | CheckMethod::Found(command)) = judged_by;
        // Its first word may be a script where the user is.
        let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
        let program = located(first, here);
        let command = if program == first {
            command.to_owned()
        } else {
            format!("{} {rest}", quoted(&program))
        };
        (words, command)
    }

    /// Those of the preset `NAME` or `NAME:SETTING`.
    ///
    /// # Errors
    /// When it is unknown, is not installed, or cannot do without a file system.
    pub fn of_preset(kind: DriveFileSystem, preset: &str) -> Result<Scripts, LabError> {
        let (preset, row) = chosen(preset)?;
        if kind == DriveFileSystem::None {
            let problem = format!("--mount none: {} needs a file system", preset.name);
            return Err(LabError::refused(problem, "--mount ext4 or --mount xfs"));
        }
        preset.check_installed()?;
        let own = preset.size.as_deref().map(parse_size).transpose()?;
        let words = [preset.key.clone(), row.setting.clone()];
        Ok(Scripts {
            workload: script(kind, "fill", &words),
            check: script(kind, "verify", &words),
            after_mark: PREPARED.into(),
            drive_bytes: own.unwrap_or(0).max(kind.drive_bytes()),
        })
    }
}

/// The command line of a script that has this program do a task.
fn script(kind: DriveFileSystem, task: &str, words: &[String]) -> String {
    let quoted: String = words
        .iter()
        .map(|word| format!(" {}", quoted(word)))
        .collect();
    format!(
        "exec \"$SSDLAB\" crashtest inside {} {task} --{quoted}",
        kind.name()
    )
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A word as an absolute path if it names an existing file from `here` by `./` or `../`.
fn located(word: &str, here: &Path) -> String {
    let is_relative = word.starts_with("./") || word.starts_with("../");
    let path = here.join(word);
    match path.canonicalize() {
        Ok(path) if is_relative => path.to_string_lossy().into_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_whole_and_paths_from_where_the_user_is() {
        let folder = tempfile::tempdir().expect("made");
        let here = folder.path().canonicalize().expect("there");
        std::fs::write(here.join("my app"), "").expect("written");
        let program = ["./my app".to_owned(), "it's".into(), "./none".into()];
        let scripts = Scripts::of_program(
            DriveFileSystem::Ext4,
            &program,
            MarkSource::Stdout,
            CheckMethod::Check("true ./my"),
            &here,
        );
        let at = here.display();
        let workload = format!("inside ext4 work -- '{at}/my app' 'it'\\''s' './none'");
        assert!(scripts.workload.ends_with(&workload), "{scripts:?}");
        assert!(
            scripts.check.ends_with("check -- 'true ./my'"),
            "{scripts:?}"
        );
    }
}
