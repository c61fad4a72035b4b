//! The check, in a folder with what a cut has left.

use super::tape::CallTape;
use crate::crashtest::scripts::PreloadSettings;
use crate::crashtest::scripts::{CampaignSettings, ScratchFolder, ScriptOutcome, run_script};
use crate::inside::{chosen, missing};
use ssdlab_base::LabError;
use ssdlab_crash::CrashFiles;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Runs the check's command where its data is.
const IN_DATA: &str = "cd -- \"$SSDLAB_DATA\" && exec sh -c \"$SSDLAB_COMMAND\"";
/// The same, for a command whose output is compared.
const FOUND: &str =
    "cd -- \"$SSDLAB_DATA\" && exec sh -c \"$SSDLAB_COMMAND\" 2>\"$SSDLAB_DIR/errors\"";

/// The program and the check of a campaign.
pub struct FolderScripts<'a> {
    settings: &'a CampaignSettings,
    preload: &'a PreloadSettings,
    /// Scripts of a preset.
    scripts: ScratchFolder,
    env: Vec<(String, String)>,
    check: String,
    program: Vec<String>,
}

/// Copies what is on a crash disk, or in a folder.
pub enum FolderSource<'a> {
    Crashed(&'a mut CrashFiles),
    Folder(&'a Path),
}

impl<'a> FolderScripts<'a> {
    /// Prepares the scripts.
    ///
    /// # Errors
    /// When a preset is unknown, or a file cannot be written.
    pub fn new(
        settings: &'a CampaignSettings,
        preload: &'a PreloadSettings,
    ) -> Result<FolderScripts<'a>, LabError> {
        let scripts = ScratchFolder::in_memory()?;
        let mut env = vec![
            ("PYTHONUNBUFFERED".to_owned(), "1".to_owned()),
            ("TERM".into(), "dumb".into()),
            ("SSDLAB_CWD".into(), preload.here.display().to_string()),
        ];
        if let Ok(program) = std::env::current_exe() {
            env.push(("SSDLAB".into(), program.display().to_string()));
        }
        let (mut program, mut check) = (preload.program.clone(), settings.check.clone());
        if let Some(preset) = &preload.preset {
            let (preset, row) = chosen(preset)?;
            program = preset.write(&row, true, scripts.path())?;
            let words = preset.write(&row, false, scripts.path())?;
            let quoted: Vec<String> = words
                .iter()
                .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
                .collect();
            check = quoted.join(" ");
            env.extend(row.env.clone());
        }
        Ok(FolderScripts {
            settings,
            preload,
            scripts,
            env,
            check,
            program,
        })
    }

    /// The program's command, with its data in `root`; `folder` is its own.
    ///
    /// # Errors
    /// When there is no program.
    pub fn command(&self, root: &Path, folder: &Path) -> Result<Command, LabError> {
        let Some((program, words)) = self.program.split_first() else {
            return Err(LabError::refused("no program is given", ""));
        };
        let data = root.display().to_string();
        let mut command = Command::new(program);
        command
            .args(words.iter().map(|word| word.replace("{}", &data)))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("SSDLAB_DATA", root)
            .env("SSDLAB_DIR", folder)
            .current_dir(root)
            .stdin(std::process::Stdio::null());
        Ok(command)
    }

    /// Runs the check on a copy of `source`.
    ///
    /// # Errors
    /// When files cannot be written or the shell not be started.
    pub fn check(
        &self,
        source: FolderSource<'_>,
        tape: &CallTape,
        marks: &[String],
        cut: &str,
        output: &Path,
        stop: &AtomicBool,
    ) -> Result<ScriptOutcome, LabError> {
        let folder = ScratchFolder::in_memory()?;
        let (data, own) = (folder.path().join("data"), folder.path().join("own"));
        for made in [&data, &own] {
            std::fs::create_dir(made).map_err(|error| LabError::file("creating", made, error))?;
        }
        // A server of a database may be another user.
        for open in [folder.path(), data.as_path(), self.scripts.path()] {
            let _ = std::fs::set_permissions(open, PermissionsExt::from_mode(0o755));
        }
        match source {
            FolderSource::Crashed(files) => copy_files(files, "", tape, &data)?,
            FolderSource::Folder(from) => copy_folder(from, "", tape, &data)?,
        }
        let path = own.join("marks");
        let text: String = marks.iter().map(|mark| format!("{mark}\n")).collect();
        std::fs::write(&path, &text).map_err(|error| LabError::file("writing", &path, error))?;
        let mut env: Vec<(&str, String)> = vec![
            ("SSDLAB_DATA", data.display().to_string()),
            ("SSDLAB_DIR", own.display().to_string()),
            ("SSDLAB_MARKS", path.display().to_string()),
            ("SSDLAB_CUT", cut.to_owned()),
            ("SSDLAB_COMMAND", self.check.clone()),
        ];
        let more = self.env.iter();
        env.extend(more.map(|(name, value)| (name.as_str(), value.clone())));
        let timeout = Duration::from_secs(self.settings.timeout_s);
        if !self.preload.finds {
            return run_script(IN_DATA, &env, output, timeout, stop);
        }
        let outcome = run_script(FOUND, &env, output, timeout, stop)?;
        Ok(compared(outcome, &text, output))
    }
}

/// Compares what a command has printed with the lines that are due.
fn compared(mut outcome: ScriptOutcome, due: &str, output: &Path) -> ScriptOutcome {
    if outcome.could_not || outcome.stopped {
        return outcome;
    }
    let bytes = std::fs::read(output).unwrap_or_default();
    let lost = missing(due, &String::from_utf8_lossy(&bytes));
    let how = outcome
        .text
        .split(':')
        .take(2)
        .collect::<Vec<_>>()
        .join(":");
    let how = if outcome.is_good {
        String::new()
    } else {
        format!("; the command ends with {how}")
    };
    let words = match lost {
        Some(words) => format!("{words}{how}"),
        // With nothing acknowledged there may be nothing that it could read.
        None if !outcome.is_good && !due.is_empty() => format!("damaged{how}"),
        None => String::new(),
    };
    outcome.is_good = words.is_empty();
    outcome.text = format!("exit status: {}: {words}", i32::from(!outcome.is_good));
    outcome
}

/// Owner and rights as the program had them at its end; of what was not there then, those of the
/// directory.
fn settle(tape: &CallTape, path: &str, target: &Path, is_directory: bool) -> Result<(), LabError> {
    use std::os::unix::fs::MetadataExt;
    let failed = |error| LabError::file("writing", target, error);
    let parent = target.parent().and_then(|parent| parent.metadata().ok());
    let above = parent.map_or((0, 0), |status| (status.uid(), status.gid()));
    let mode = if is_directory { 0o755 } else { 0o644 };
    let known = tape.owners.get(path);
    let (mode, uid, gid) = known.copied().unwrap_or((mode, above.0, above.1));
    std::fs::set_permissions(target, PermissionsExt::from_mode(mode & 0o7777)).map_err(failed)?;
    let status = target.metadata().map_err(failed)?;
    if (status.uid(), status.gid()) != (uid, gid) {
        chown(target, Some(uid), Some(gid)).map_err(failed)?;
    }
    Ok(())
}

fn copy_files(
    files: &mut CrashFiles,
    folder: &str,
    tape: &CallTape,
    to: &Path,
) -> Result<(), LabError> {
    for path in files.list(folder) {
        let target = to.join(&path);
        let failed = |error| LabError::file("writing", &target, error);
        if files.is_dir(&path) {
            std::fs::create_dir(&target).map_err(failed)?;
            settle(tape, &path, &target, true)?;
            copy_files(files, &path, tape, to)?;
            continue;
        }
        let bytes = files.open(&path).and_then(|file| {
            let len = files.size(file)?;
            files.read_at(file, 0, len as usize)
        });
        let bytes = bytes.map_err(|error| super::course::refused(&error))?;
        std::fs::write(&target, bytes).map_err(failed)?;
        settle(tape, &path, &target, false)?;
    }
    Ok(())
}

/// Regular files and directories alone: sockets and pipes are of a process that is gone.
fn copy_folder(from: &Path, folder: &str, tape: &CallTape, to: &Path) -> Result<(), LabError> {
    let source = from.join(folder);
    let failed = |error| LabError::file("reading", &source, error);
    for entry in std::fs::read_dir(&source).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match folder {
            "" => name,
            folder => format!("{folder}/{name}"),
        };
        let target = to.join(&path);
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            std::fs::create_dir(&target)
                .map_err(|error| LabError::file("writing", &target, error))?;
            settle(tape, &path, &target, true)?;
            copy_folder(from, &path, tape, to)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target).map_err(failed)?;
            settle(tape, &path, &target, false)?;
        }
    }
    Ok(())
}
