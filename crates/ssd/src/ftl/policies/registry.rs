//! Every victim policy by name, and the one that a drive uses.

use super::{CostBenefit, DChoices, Fifo, Greedy, Random, VictimPolicy, Windowed};
use crate::config::policy::{self, PolicyInfo, VictimChoice};
use crate::ftl::candidates::Candidates;
use crate::image::{Image, ImageError, Reader, Writer};
use crate::rng::Rng;
use std::sync::Arc;

/// A victim policy with its constructor.
pub struct VictimEntry {
    /// Description.
    pub info: PolicyInfo,
    /// Creates the policy from its parameter.
    pub make: fn(u64) -> Box<dyn VictimPolicy>,
}

/// Every victim policy.
pub const VICTIM_POLICIES: [VictimEntry; 6] = [
    VictimEntry {
        info: policy::GREEDY,
        make: |_| Box::new(Greedy),
    },
    VictimEntry {
        info: policy::FIFO,
        make: |_| Box::new(Fifo),
    },
    VictimEntry {
        info: policy::RANDOM,
        make: |_| Box::new(Random),
    },
    VictimEntry {
        info: policy::D_CHOICES,
        make: |d| Box::new(DChoices { d }),
    },
    VictimEntry {
        info: policy::COST_BENEFIT,
        make: |_| Box::new(CostBenefit),
    },
    VictimEntry {
        info: policy::WINDOWED,
        make: |w| Box::new(Windowed { w }),
    },
];

/// Creates the policy of a validated choice.
fn make(choice: &VictimChoice) -> Box<dyn VictimPolicy> {
    let mut entries = VICTIM_POLICIES.iter();
    let entry = entries.find(|entry| entry.info.name == choice.name);
    (entry.expect("a validated choice").make)(choice.parameter)
}

/// A drive's victim policy: one of the registry, or the caller's own.
#[derive(Clone, Debug)]
pub(crate) struct Victim {
    choice: Option<VictimChoice>,
    policy: Arc<dyn VictimPolicy>,
}

impl Victim {
    /// The caller's own policy if there is one, otherwise the chosen one.
    pub fn new(choice: &VictimChoice, own: Option<Box<dyn VictimPolicy>>) -> Victim {
        match own {
            Some(policy) => Victim {
                choice: None,
                policy: policy.into(),
            },
            None => Victim {
                choice: Some(choice.clone()),
                policy: make(choice).into(),
            },
        }
    }

    pub fn pick(&self, candidates: &mut Candidates, rng: &mut Rng) -> Option<u32> {
        self.policy.pick(candidates, rng)
    }
}

impl Image for Victim {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        match &self.choice {
            Some(choice) => choice.save(out),
            None => Err(ImageError::Unknown(
                "a drive with a victim policy from outside the registry cannot be saved".into(),
            )),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Victim, ImageError> {
        let choice = VictimChoice::load(from)?;
        if let Err((given, allowed)) = choice.validate() {
            return Err(ImageError::Unknown(format!(
                "victim policy {given}: {allowed}"
            )));
        }
        Ok(Victim::new(&choice, None))
    }
}
