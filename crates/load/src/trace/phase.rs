//! A replay as part of a plan.

use super::replay::{AddressFit, COMMAND_MAX, Replay, SECTOR};
use crate::plan::{
    BlockSize, Distribution, JobSpec, Language, Mix, Order, PlanPhase, WorkloadPlan,
};

impl Replay {
    /// As a phase of one job with `depth` commands outstanding at most.
    pub fn phase(self, depth: u32) -> PlanPhase {
        let [reads, writes, trims, flushes, zeroes] = self.survey.commands;
        let changes = writes + zeroes + flushes > 0;
        let mix = match (reads > 0, changes, trims > 0) {
            (_, false, false) => Mix::Read,
            (false, true, false) => Mix::Write,
            (false, false, true) => Mix::Trim,
            // Of a replay a mix says only what may come.
            _ => Mix::ReadWrite { read_pct: 50 },
        };
        let list = |bytes| {
            vec![BlockSize {
                bytes,
                percent: 100,
            }]
        };
        let longest = COMMAND_MAX as u32;
        let region = (self.fit == AddressFit::Refuse).then_some(self.survey.end);
        let job = JobSpec {
            name: self.path.file_name().map_or_else(
                || "trace".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            ),
            mix,
            order: Order::Random {
                align: SECTOR,
                distribution: Distribution::Uniform,
                each_once: false,
            },
            block_sizes: [list(longest), list(longest), list(longest)],
            region,
            depth: depth.max(1),
            replay: Some(Box::new(self)),
            ..JobSpec::default()
        };
        PlanPhase { jobs: vec![job] }
    }

    /// As a plan of that phase alone.
    pub fn plan(self, depth: u32) -> WorkloadPlan {
        WorkloadPlan {
            language: Language::Ssdlab,
            phases: vec![self.phase(depth)],
        }
    }
}
