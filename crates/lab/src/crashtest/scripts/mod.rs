//! Campaigns of scripts: any program's workload is recorded, any program checks what a cut left.
//!
//! ```text
//! OUT/campaign.json   what was asked for         OUT/results.jsonl   a line for each cut
//! OUT/stream.log      the recorded stream        OUT/checks/*.txt    output of failed checks
//! OUT/workload.txt    output of the workload     OUT/summary.txt     what was found
//! ```
//! The stream is kept in the format of dm-log-writes with a flag of our own ([`log_writes`]). A
//! line is appended to the results when its check is over, so a campaign that was killed goes on
//! where it was.

mod attach;
mod check;
mod record;
mod results;
mod run;
mod settings;

pub use attach::{Attached, ScriptOptions};
pub use record::{Recording, RecordingStore, mark, record};
pub use results::{Line, ScriptReport};
pub use run::Outcome;
pub use settings::{Settings, parse_fault};

use super::log_writes::{self, Dialect};
use super::{CutPoint, CutResult, Minimal, Prepared, Recovered, Stream, Token, Verdict, place};
use crate::LabError;
use check::ScriptCheck;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A directory with a campaign in it.
#[derive(Debug)]
pub struct ScriptCampaign {
    out: PathBuf,
    settings: Settings,
    stream: Stream,
}

fn file_error(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.to_owned();
    move |error| LabError::file(action, path, error)
}

/// Writes a file whole or not at all.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut std::io::BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), LabError> {
    let part = path.with_extension("part");
    let file = File::create(&part).map_err(file_error("creating", &part))?;
    let mut out = std::io::BufWriter::new(file);
    write(&mut out)
        .and_then(|()| out.flush())
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(file_error("writing", path))
}

impl ScriptCampaign {
    /// Runs the workload once and keeps what it did in `out`, an empty directory.
    ///
    /// # Errors
    /// When the drive is impossible, or the workload fails.
    pub fn record(out: &Path, settings: Settings) -> Result<(ScriptCampaign, String), LabError> {
        let config = settings.config()?;
        settings.check_faults()?;
        std::fs::create_dir_all(out.join("checks")).map_err(file_error("creating", out))?;
        let output = out.join("workload.txt");
        let recording = record(&config, &settings.workload, &settings.options(), &output)?;
        if !recording.outcome.is_good {
            return Err(LabError::refused(
                format!("the workload failed: {}", recording.outcome.text),
                format!("its output is in {}", output.display()),
            ));
        }
        let campaign = ScriptCampaign::keep(out, settings, recording.stream)?;
        Ok((campaign, recording.lint))
    }

    /// Takes a log in the format of dm-log-writes in place of a workload.
    ///
    /// # Errors
    /// When the drive is impossible or too small, or the file is no log.
    pub fn from_log(
        out: &Path,
        settings: Settings,
        log: &Path,
    ) -> Result<ScriptCampaign, LabError> {
        let capacity = settings.config()?.user_bytes;
        settings.check_faults()?;
        let bytes = std::fs::read(log).map_err(file_error("reading", log))?;
        let stream = log_writes::read(&bytes, capacity)?;
        std::fs::create_dir_all(out.join("checks")).map_err(file_error("creating", out))?;
        ScriptCampaign::keep(out, settings, stream)
    }

    fn keep(out: &Path, settings: Settings, stream: Stream) -> Result<ScriptCampaign, LabError> {
        write_whole(&out.join("stream.log"), |file| {
            log_writes::write(&stream, Dialect::Own, file)
        })?;
        // Last: a directory that has it can be resumed.
        write_whole(&out.join("campaign.json"), |file| {
            serde_json::to_writer_pretty(&mut *file, &settings)?;
            writeln!(file)
        })?;
        Ok(ScriptCampaign {
            out: out.to_owned(),
            settings,
            stream,
        })
    }

    /// Opens what was recorded earlier.
    ///
    /// # Errors
    /// When `out` has none.
    pub fn open(out: &Path) -> Result<ScriptCampaign, LabError> {
        let path = out.join("campaign.json");
        let text = std::fs::read_to_string(&path).map_err(|source| LabError::File {
            action: "reading",
            path: path.clone(),
            source,
            hint: "without a campaign in it, run one with --workload and --check first".into(),
        })?;
        let settings: Settings = serde_json::from_str(&text)
            .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))?;
        let path = out.join("stream.log");
        let log = std::fs::read(&path).map_err(file_error("reading", &path))?;
        let capacity = settings.config()?.user_bytes;
        Ok(ScriptCampaign {
            out: out.to_owned(),
            settings,
            stream: log_writes::read(&log, capacity)?,
        })
    }

    /// What was recorded.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// With another check than the recorded one.
    pub fn with_check(mut self, check: &str) -> ScriptCampaign {
        self.settings.check = check.to_owned();
        self
    }

    /// Writes the stream for other programs.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn export(&self, path: &Path) -> Result<(), LabError> {
        write_whole(path, |file| {
            log_writes::write(&self.stream, Dialect::Standard, file)
        })
    }

    /// Checks every cut that has no line yet; `progress` is told how many are done, of how many.
    ///
    /// # Errors
    /// When scripts cannot be run, or files not be written.
    pub fn run(
        &self,
        jobs: usize,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<ScriptReport, LabError> {
        let campaign = self.settings.campaign(&self.stream, jobs)?;
        let prepared = campaign.prepare(&self.stream)?;
        let points = prepared.points(campaign.chosen());
        let (mut done, file) = self.results()?;
        let left: Vec<CutPoint> = points
            .iter()
            .copied()
            .filter(|&point| !done.contains_key(&prepared.token(point).to_string()))
            .collect();
        let check = ScriptCheck::new(self);
        let state = Mutex::new((file, points.len() - left.len()));
        let call = |recovered: &mut Recovered| check.run(recovered);
        prepared.judge_all(&left, &call, &|result| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if check.is_broken() {
                return;
            }
            let appended = self.append(&mut state.0, result);
            check.note(appended);
            state.1 += 1;
            progress(state.1, points.len());
        });
        check.broken()?;
        done.extend(self.results()?.0);
        let mut lines: Vec<Line> = Vec::new();
        for &point in &points {
            lines.extend(done.remove(&prepared.token(point).to_string()));
        }
        let minimal = self.minimal(&prepared, &lines, &check)?;
        let report = ScriptReport {
            lines,
            minimal,
            stream: super::prepared::summary(&self.stream),
        };
        write_whole(&self.out.join("summary.txt"), |file| {
            file.write_all(report.render().as_bytes())
        })?;
        Ok(report)
    }

    fn append(&self, file: &mut File, result: &CutResult) -> Result<(), LabError> {
        let breach = result.breach.as_ref().map(ToString::to_string);
        let line = Line {
            token: result.token.to_string(),
            place: place(&self.stream, result.point),
            verdict: result.verdict.name().into(),
            why: breach
                .or_else(|| result.message.clone())
                .unwrap_or_default(),
            marks: result.marks,
            lost: result.lost.len(),
        };
        let mut text = serde_json::to_string(&line)
            .map_err(|error| LabError::refused(error.to_string(), ""))?;
        text.push('\n');
        file.write_all(text.as_bytes())
            .map_err(file_error("writing", &self.out.join("results.jsonl")))
    }

    /// The lines that are there, by token, and the file to append to: a last line that was cut
    /// short is cut off.
    fn results(&self) -> Result<(BTreeMap<String, Line>, File), LabError> {
        let path = self.out.join("results.jsonl");
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path);
        let file = file.map_err(file_error("opening", &path))?;
        let text = std::fs::read(&path).map_err(file_error("reading", &path))?;
        let whole = text
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        if whole < text.len() {
            file.set_len(whole as u64)
                .map_err(file_error("writing", &path))?;
        }
        let mut found = BTreeMap::new();
        for line in text[..whole]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let line: Line = serde_json::from_slice(line)
                .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))?;
            found.insert(line.token.clone(), line);
        }
        Ok((found, file))
    }

    fn minimal(
        &self,
        prepared: &Prepared<'_>,
        lines: &[Line],
        check: &ScriptCheck<'_>,
    ) -> Result<Option<Minimal>, LabError> {
        let failed = |line: &&Line| line.verdict == Verdict::Application.name();
        let Some(line) = lines.iter().find(failed) else {
            return Ok(None);
        };
        if self.settings.checks_max == 0 {
            return Ok(None);
        }
        let token: Token = line.token.parse()?;
        let call = |recovered: &mut Recovered| check.run(recovered);
        // Once more, for which pieces it lost.
        let cut = prepared.replay(&token, &call)?;
        let minimal = prepared.minimise(&cut, &call);
        check.broken()?;
        Ok(minimal)
    }

    /// Runs one cut again.
    ///
    /// # Errors
    /// When the token is of another campaign, or the check cannot be run.
    pub fn replay(&self, token: &Token) -> Result<(CutResult, String), LabError> {
        let campaign = self.settings.campaign(&self.stream, 1)?;
        let prepared = campaign.prepare(&self.stream)?;
        let check = ScriptCheck::new(self);
        let call = |recovered: &mut Recovered| check.run(recovered);
        let result = prepared.replay(token, &call)?;
        check.broken()?;
        Ok((result, place(&self.stream, token.point)))
    }
}
