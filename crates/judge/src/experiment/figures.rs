//! The figures that experiments yield.

use super::kinds::ExperimentKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A mean time, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentFigure {
    /// A single 4 KiB read anywhere.
    Read,
    /// Between 4 KiB reads anywhere, 32 outstanding.
    ReadAtDepth,
    /// A single plain 4 KiB write, pauses between.
    Write,
    /// The same of 128 KiB.
    WriteLarge,
    /// Between 4 KiB writes of a burst that the buffer takes, 32 outstanding.
    Burst,
    /// A single durable 4 KiB write, pauses between.
    Durable,
    /// A single 4 KiB read within 2 MiB.
    ReadNear,
    /// Between such reads, 32 outstanding.
    ReadNearAtDepth,
    /// Between 4 KiB reads of what was just written, 32 outstanding.
    ReadBack,
    /// A single 128 KiB read anywhere.
    ReadLarge,
    /// Between 4 KiB writes anywhere, 32 outstanding.
    Overwrite,
    /// A single 4 KiB read beside such writes.
    ReadBeside,
    /// The time that 99 % of these do not exceed.
    ReadBesideTail,
    /// Between 128 KiB writes in order, at the end of a pass.
    InOrder,
    /// The same, first after a rest.
    AfterIdle,
}

impl ExperimentFigure {
    /// The experiment that yields it.
    pub fn experiment(self) -> ExperimentKind {
        match self {
            ExperimentFigure::Read | ExperimentFigure::ReadAtDepth => ExperimentKind::Reads,
            ExperimentFigure::Write | ExperimentFigure::WriteLarge => ExperimentKind::Singles,
            ExperimentFigure::Burst => ExperimentKind::Bursts,
            ExperimentFigure::Durable => ExperimentKind::Durable,
            ExperimentFigure::ReadNear | ExperimentFigure::ReadNearAtDepth => ExperimentKind::Near,
            ExperimentFigure::ReadBack => ExperimentKind::ReadBack,
            ExperimentFigure::ReadLarge => ExperimentKind::LargeReads,
            ExperimentFigure::Overwrite => ExperimentKind::Overwrite,
            ExperimentFigure::ReadBeside | ExperimentFigure::ReadBesideTail => {
                ExperimentKind::Beside
            }
            ExperimentFigure::InOrder => ExperimentKind::Rewrite,
            ExperimentFigure::AfterIdle => ExperimentKind::Idle,
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend(
    "propertyNames" = ExperimentFigure::json_schema(&mut schemars::SchemaGenerator::default())
))]
pub struct ExperimentFigures(BTreeMap<ExperimentFigure, f64>);

impl ExperimentFigures {
    /// Keeps a figure, in ns.
    pub fn enter(&mut self, figure: ExperimentFigure, ns: f64) {
        self.0.insert(figure, ns);
    }

    /// A figure in ns; `None`: not measured.
    pub fn get(&self, figure: ExperimentFigure) -> Option<f64> {
        self.0.get(&figure).copied()
    }
}
