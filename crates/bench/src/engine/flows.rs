//! Jobs whose commands keep a share of those of all jobs in their flow: fio's `flow`.
//!
//! As fio (flow.c, 3.33): a lane may issue while its commands over those of the flow are not
//! above its weight over the weights of the flow's lanes. One that may not is held back until
//! another lane of the flow issues or ends; fio looks again in a loop.

use ssdlab_load::plan::PlanPhase;

/// One lane of a flow.
#[derive(Clone, Copy, Debug)]
struct FlowMember {
    flow: usize,
    weight: u64,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct FlowGroup {
    id: u32,
    weight: u64,
    /// As in fio, from 1.
    count: u64,
}

/// The flows of a phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    flows: Vec<FlowGroup>,
    /// By lane; empty when no job has a flow.
    members: Vec<Option<FlowMember>>,
    /// Lanes held back.
    pub held: Vec<u32>,
}

impl Flows {
    /// Of lanes in order of job and copy.
    pub fn new(phase: &PlanPhase) -> Flows {
        let mut flows = Flows::default();
        if phase.jobs.iter().all(|job| job.ties.flow.is_none()) {
            return flows;
        }
        for job in &phase.jobs {
            for _ in 0..job.copies {
                let member = job
                    .ties
                    .flow
                    .map(|flow| flows.join(flow.id, flow.weight.into()));
                flows.members.push(member);
            }
        }
        flows
    }

    fn join(&mut self, id: u32, weight: u64) -> FlowMember {
        let known = self.flows.iter().position(|flow| flow.id == id);
        let flow = known.unwrap_or_else(|| {
            self.flows.push(FlowGroup {
                id,
                weight: 0,
                count: 1,
            });
            self.flows.len() - 1
        });
        self.flows[flow].weight += weight;
        FlowMember {
            flow,
            weight,
            count: 0,
        }
    }

    /// Whether `lane` is ahead of its share; it is then held.
    pub fn holds(&mut self, lane: usize) -> bool {
        let Some(Some(member)) = self.members.get(lane) else {
            return false;
        };
        let flow = &self.flows[member.flow];
        let ahead = member.count * flow.weight > member.weight * flow.count;
        if ahead && !self.held.contains(&(lane as u32)) {
            self.held.push(lane as u32);
        }
        ahead
    }

    /// `lane` issued a command.
    pub fn issued(&mut self, lane: usize) {
        if let Some(Some(member)) = self.members.get_mut(lane) {
            member.count += 1;
            self.flows[member.flow].count += 1;
        }
    }

    /// `lane` issues nothing more: the others share without it.
    pub fn leave(&mut self, lane: usize) {
        if let Some(member) = self.members.get_mut(lane).and_then(Option::take) {
            let flow = &mut self.flows[member.flow];
            flow.count -= member.count;
            flow.weight -= member.weight;
        }
    }
}
