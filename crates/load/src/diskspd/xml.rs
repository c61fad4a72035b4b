//! DISKSPD's XML profiles (`-X`): time spans, each with targets.
//!
//! Each time span is a phase. An element says what an option of the command line says; an empty
//! one is as none. A path such as `*1` stands for the first target of the command line. VMFleet's
//! templates have no times: `-d`, `-W` and `-C` give them, or the defaults hold.
//!
//! Source: DISKSPD, XmlProfileParser.cpp and diskspd.xsd; VMFleet, VMFleet.psm1.

use super::draft::{DiskspdContents, DiskspdDraft};
use super::tree::{self, XmlElement};
use crate::plan::{Distribution, PlanPhase};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

/// The phases of the profile at `path`, for the `targets` of the command line, whose own options
/// are in `line`.
pub(super) fn read(
    path: &str,
    line: &DiskspdDraft,
    targets: &[String],
    options: &mut [(String, String)],
) -> Result<Vec<PlanPhase>, LabError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| LabError::file("reading DISKSPD profile", std::path::Path::new(path), e))?;
    parse(&text, path, line, targets, options)
}

/// A value that is not as it should be.
struct XmlProfileSource<'a> {
    path: &'a str,
}

impl XmlProfileSource<'_> {
    fn bad(&self, element: &str, problem: &str) -> LabError {
        LabError::refused(
            format!("DISKSPD profile {}: {element}: {problem}", self.path),
            "see the profiles that diskspd -Rpxml prints",
        )
    }

    fn number(&self, element: &XmlElement, name: &str) -> Result<Option<u64>, LabError> {
        let Some(text) = element.value(name) else {
            return Ok(None);
        };
        let number = text.parse().map(Some);
        number.map_err(|_| self.bad(name, &format!("`{text}` is not a whole number")))
    }

    fn flag(&self, element: &XmlElement, name: &str) -> Result<bool, LabError> {
        match element.value(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(text) => Err(self.bad(name, &format!("`{text}` is neither true nor false"))),
        }
    }

    /// A number of whole blocks.
    fn bytes(&self, element: &XmlElement, name: &str) -> Result<Option<u64>, LabError> {
        match self.number(element, name)? {
            Some(bytes) if !bytes.is_multiple_of(512) => {
                Err(self.bad(name, "it is a multiple of 512 bytes"))
            }
            bytes => Ok(bytes),
        }
    }

    fn count(&self, element: &XmlElement, name: &str) -> Result<Option<u32>, LabError> {
        match self.number(element, name)? {
            None | Some(0) => Ok(None),
            Some(count @ 1..=65_536) => Ok(Some(count as u32)),
            Some(_) => Err(self.bad(name, "it is at most 65536")),
        }
    }

    /// Refuses children that are not `known`.
    fn known(&self, element: &XmlElement, known: &[&str]) -> Result<(), LabError> {
        match element
            .children
            .iter()
            .find(|child| !known.contains(&child.name.as_str()))
        {
            Some(child) => Err(self.bad(
                &element.name,
                &format!("the element `{}` is not supported", child.name),
            )),
            None => Ok(()),
        }
    }
}

/// As [`read`], of a text.
pub(super) fn parse(
    text: &str,
    path: &str,
    line: &DiskspdDraft,
    targets: &[String],
    options: &mut [(String, String)],
) -> Result<Vec<PlanPhase>, LabError> {
    let source = XmlProfileSource { path };
    let root = tree::parse(text).map_err(|why| source.bad("XML", &why))?;
    if root.name != "Profile" {
        return Err(source.bad(&root.name, "the root element is Profile"));
    }
    let known = [
        "Progress",
        "ResultFormat",
        "Verbose",
        "PrecreateFiles",
        "ETW",
        "TimeSpans",
    ];
    source.known(&root, &known)?;
    let spans = root.child("TimeSpans").into_iter();
    let spans = spans.flat_map(|spans| spans.all("TimeSpan"));
    let phases: Result<Vec<PlanPhase>, LabError> = spans
        .map(|span| phase(&source, span, line, targets, options))
        .collect();
    let phases = phases?;
    if phases.is_empty() {
        return Err(source.bad("Profile", "there is no TimeSpan in it"));
    }
    Ok(phases)
}

const SPAN: [&str; 16] = [
    "CompletionRoutines",
    "MeasureLatency",
    "CalculateIopsStdDev",
    "DisableAffinity",
    "Duration",
    "Warmup",
    "Cooldown",
    "ThreadCount",
    "RequestCount",
    "IoBucketDuration",
    "RandSeed",
    "Affinity",
    "Targets",
    "RandomWriteData",
    "GroupAffinity",
    "CompletionRoutine",
];

fn phase(
    source: &XmlProfileSource,
    span: &XmlElement,
    line: &DiskspdDraft,
    targets: &[String],
    options: &[(String, String)],
) -> Result<PlanPhase, LabError> {
    source.known(span, &SPAN)?;
    let mut common = DiskspdDraft {
        output: line.output,
        ..DiskspdDraft::default()
    };
    let time = |name, given: bool, own: Nanos, default: Nanos| -> Result<Nanos, LabError> {
        let read = source.number(span, name)?.map(Nanos::from_secs);
        Ok(if given { own } else { read.unwrap_or(default) })
    };
    let [run, ramp, cool] = line.times_given;
    let (of_line, default) = (&line.time, common.time);
    let run_default = default.run.unwrap_or_default();
    common.time.run = Some(time(
        "Duration",
        run,
        of_line.run.unwrap_or_default(),
        run_default,
    )?);
    common.time.ramp = time("Warmup", ramp, of_line.ramp, default.ramp)?;
    common.time.cool_down = time("Cooldown", cool, of_line.cool_down, default.cool_down)?;
    common.seed = if line.seed_given {
        line.seed
    } else {
        source.number(span, "RandSeed")?.unwrap_or(0)
    };
    common.threads_total = source.count(span, "ThreadCount")?;
    common.depth_total = source.count(span, "RequestCount")?;
    let list = span.child("Targets").into_iter();
    let elements: Vec<&XmlElement> = list.flat_map(|list| list.all("Target")).collect();
    if elements.is_empty() {
        return Err(source.bad("TimeSpan", "there is no Target in it"));
    }
    let mut jobs = Vec::new();
    let mut weights = std::collections::BTreeSet::new();
    for (index, element) in elements.iter().enumerate() {
        weights.insert(source.count(element, "Weight")?);
        if common.depth_total.is_some() && weights.len() > 1 {
            let rule = "targets that share a thread's commands have equal parts here";
            return Err(source.bad("Weight", rule));
        }
        let mut draft = common.clone();
        let path = target(source, element, &mut draft)?;
        draft.check()?;
        draft.share_depth(elements.len());
        jobs.push(draft.job(substituted(source, path, targets)?, index, options));
    }
    Ok(PlanPhase { jobs })
}

/// `*1` is the first target of the command line.
fn substituted(
    source: &XmlProfileSource,
    path: &str,
    targets: &[String],
) -> Result<String, LabError> {
    let Some(number) = path.strip_prefix('*') else {
        return Ok(path.to_owned());
    };
    let index = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let target = index.and_then(|at| targets.get(at));
    target.cloned().ok_or_else(|| {
        source.bad(
            "Path",
            &format!("`{path}` has no target on the command line"),
        )
    })
}

const TARGET: [&str; 32] = [
    "Path",
    "BlockSize",
    "BaseFileOffset",
    "SequentialScan",
    "RandomAccess",
    "TemporaryFile",
    "UseLargePages",
    "DisableOSCache",
    "DisableAllCache",
    "WriteThrough",
    "MemoryMappedIo",
    "FlushType",
    "WriteBufferContent",
    "ParallelAsyncIO",
    "BurstSize",
    "ThinkTime",
    "FileSize",
    "MaxFileSize",
    "StrideSize",
    "InterlockedSequential",
    "Random",
    "RandomRatio",
    "Distribution",
    "ThreadStride",
    "RequestCount",
    "WriteRatio",
    "Throughput",
    "ThreadsPerFile",
    "IOPriority",
    "Weight",
    "NumaNode",
    "StrideAlignment",
];

/// Reads a target into `draft`; its path.
fn target<'a>(
    source: &XmlProfileSource,
    element: &'a XmlElement,
    draft: &mut DiskspdDraft,
) -> Result<&'a str, LabError> {
    source.known(element, &TARGET)?;
    if let Some(block) = source.bytes(element, "BlockSize")? {
        let block = u32::try_from(block).ok().filter(|block| *block > 0);
        draft.block = block.ok_or_else(|| source.bad("BlockSize", "it is below 4 GiB"))?;
    }
    let nonzero = |bytes: Option<u64>| bytes.filter(|bytes| *bytes > 0);
    draft.base = source.bytes(element, "BaseFileOffset")?.unwrap_or(0);
    draft.file = nonzero(source.bytes(element, "FileSize")?);
    draft.region = nonzero(source.bytes(element, "MaxFileSize")?);
    draft.random = nonzero(source.bytes(element, "Random")?);
    // A stride is written beside random commands, too, and then means nothing.
    draft.stride = nonzero(source.bytes(element, "StrideSize")?).filter(|_| draft.random.is_none());
    draft.interlocked = source.flag(element, "InterlockedSequential")?;
    draft.parallel = source.flag(element, "ParallelAsyncIO")?;
    draft.thread_step = source.bytes(element, "ThreadStride")?.unwrap_or(0);
    draft.random_pct = percent(source, element, "RandomRatio")?;
    draft.write_pct = percent(source, element, "WriteRatio")?.unwrap_or(0);
    let threads = source.count(element, "ThreadsPerFile")?;
    draft.threads = threads
        .filter(|_| draft.threads_total.is_none())
        .unwrap_or(1);
    draft.depth = source.count(element, "RequestCount")?.unwrap_or(2);
    let pause = source.count(element, "ThinkTime")?;
    draft.pause = pause.map(|ms| Nanos::from_millis(ms.into()));
    draft.burst = source.count(element, "BurstSize")?;
    let all_caches_off = source.flag(element, "DisableAllCache")?;
    draft.uncached = Some(all_caches_off || source.flag(element, "DisableOSCache")?);
    draft.write_through = all_caches_off || source.flag(element, "WriteThrough")?;
    draft.mapped = source.flag(element, "MemoryMappedIo")?;
    draft.flushes = draft.mapped && element.value("FlushType").is_some();
    limits(source, element, draft)?;
    if let Some(contents) = element.child("WriteBufferContent") {
        draft.contents = written(source, contents)?;
    }
    if let Some(distribution) = element.child("Distribution") {
        draft.distribution = ranges(source, distribution)?;
        // Of random commands that the profile leaves open (VMFleet's -Random gives them).
        let sequential = draft.random.is_none() && draft.random_pct.is_none();
        if sequential {
            draft.random = Some(draft.block.into());
        }
    }
    element
        .value("Path")
        .ok_or_else(|| source.bad("Target", "it has no Path"))
}

fn written(source: &XmlProfileSource, contents: &XmlElement) -> Result<DiskspdContents, LabError> {
    let data = contents.child("RandomDataSource");
    match contents.value("Pattern") {
        Some("sequential") | None => Ok(DiskspdContents::Pattern),
        Some("zero") => Ok(DiskspdContents::Zeroes),
        Some("random") => match data.and_then(|data| Some((data, data.value("FilePath")?))) {
            Some((data, path)) => {
                let bytes = source.number(data, "SizeInBytes")?.unwrap_or(u64::MAX);
                let read = super::switches::contents_of(path, bytes);
                read.map_err(|why| source.bad("RandomDataSource", &why))
            }
            None => Ok(DiskspdContents::Random {
                refill: data.is_none(),
            }),
        },
        Some(_) => Err(source.bad("Pattern", "it is sequential, zero or random")),
    }
}

fn percent(
    source: &XmlProfileSource,
    element: &XmlElement,
    name: &str,
) -> Result<Option<u8>, LabError> {
    match source.number(element, name)? {
        None => Ok(None),
        Some(percent @ 0..=100) => Ok(Some(percent as u8)),
        Some(_) => Err(source.bad(name, "it is 0 to 100")),
    }
}

fn limits(
    source: &XmlProfileSource,
    element: &XmlElement,
    draft: &mut DiskspdDraft,
) -> Result<(), LabError> {
    let Some(throughput) = element.child("Throughput") else {
        return Ok(());
    };
    let limit = source.number(element, "Throughput")?.unwrap_or(0);
    let unit = throughput.attributes.iter().find(|(key, _)| key == "unit");
    match unit.map(|(_, unit)| unit.as_str()) {
        Some("IOPS") => draft.iops = limit,
        None | Some("BPMS") => draft.bytes_per_second = limit.saturating_mul(1000),
        Some(_) => return Err(source.bad("Throughput", "its unit is IOPS or BPMS")),
    }
    Ok(())
}

/// `<Percent>` or `<Absolute>`, with ranges: `<Range IO="95">5</Range>`.
fn ranges(source: &XmlProfileSource, element: &XmlElement) -> Result<Distribution, LabError> {
    let bad = || {
        source.bad(
            "Distribution",
            "ranges are shares of the commands and of the target",
        )
    };
    let (percent, list) = match (element.child("Percent"), element.child("Absolute")) {
        (Some(list), _) => (true, list),
        (None, Some(list)) => (false, list),
        (None, None) => return Err(bad()),
    };
    let mut parts = Vec::new();
    for range in list.all("Range") {
        let io = range.attributes.iter().find(|(key, _)| key == "IO");
        let (_, io) = io.ok_or_else(bad)?;
        parts.push(format!("{io}/{}", range.text));
    }
    let kind = if percent { "pct" } else { "abs" };
    super::switches::distribution(&format!("{kind}{}", parts.join(":"))).map_err(|_| bad())
}
