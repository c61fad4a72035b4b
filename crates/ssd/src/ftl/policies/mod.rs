//! Policies: which superblock is emptied next, and which data goes together. One a file, each in
//! the registry that help, docs, sweeps and the law tests read.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod separation;
mod windowed;

pub use cost_benefit::CostBenefit;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::Greedy;
pub use random::Random;
pub use separation::{SEPARATIONS, Separation};
pub use windowed::Windowed;

use super::candidates::Candidates;
use crate::image::{Image, ImageError, Reader, Writer, image_of};
use crate::rng::Rng;
use std::fmt::Debug;
use std::sync::Arc;

/// Chooses the superblock to empty.
///
/// Laws, tested for every policy of the registry: it returns a candidate; `None` only when there
/// is none; the same candidates and random numbers give the same choice.
pub trait VictimPolicy: Debug + Send + Sync {
    /// The superblock to empty next.
    fn pick(&self, candidates: &mut Candidates, rng: &mut Rng) -> Option<u32>;
}

/// A parameter of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyParameter {
    /// Name.
    pub name: &'static str,
    /// What it does, with its unit.
    pub text: &'static str,
    /// Value when not given.
    pub default: u64,
    /// Least and most allowed.
    pub range: (u64, u64),
}

/// A policy, described.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Name for the command line and drive files.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub text: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameter, if it has one.
    pub parameter: Option<PolicyParameter>,
}

/// A victim policy with its constructor.
pub struct VictimEntry {
    /// Description.
    pub info: PolicyInfo,
    /// Makes it, given its parameter.
    pub make: fn(u64) -> Box<dyn VictimPolicy>,
}

/// Every victim policy.
pub const VICTIM_POLICIES: [VictimEntry; 6] = [
    greedy::ENTRY,
    fifo::ENTRY,
    random::ENTRY,
    d_choices::ENTRY,
    cost_benefit::ENTRY,
    windowed::ENTRY,
];

/// A victim policy by name, with its parameter: `greedy`, `d-choices:10`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimChoice {
    /// Name in [`VICTIM_POLICIES`].
    pub name: String,
    /// Its parameter; not used by policies without one.
    pub parameter: u64,
}

image_of!(VictimChoice { name, parameter });

impl VictimChoice {
    /// The usual one.
    pub fn greedy() -> VictimChoice {
        VictimChoice {
            name: "greedy".into(),
            parameter: 0,
        }
    }

    /// Reads `name` or `name:parameter`.
    ///
    /// # Errors
    /// What is wrong and what is allowed, in a sentence.
    pub fn parse(text: &str) -> Result<VictimChoice, String> {
        let (name, given) = match text.split_once(':') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let entry = entry(name).ok_or_else(|| {
            format!(
                "there is no victim policy `{name}` (there are: {})",
                names()
            )
        })?;
        let parameter = match (given, entry.info.parameter) {
            (None, parameter) => parameter.map_or(0, |p| p.default),
            (Some(_), None) => return Err(format!("victim policy `{name}` takes no parameter")),
            (Some(given), Some(p)) => given.parse().map_err(|_| {
                format!(
                    "`{given}` for {} of `{name}`: a whole number is allowed",
                    p.name
                )
            })?,
        };
        let choice = VictimChoice {
            name: name.into(),
            parameter,
        };
        match choice.validate() {
            Ok(()) => Ok(choice),
            Err((given, allowed)) => Err(format!("victim policy {given}: {allowed}")),
        }
    }

    /// Whether it exists and its parameter is allowed.
    ///
    /// # Errors
    /// What was given, and what is allowed.
    pub fn validate(&self) -> Result<(), (String, String)> {
        let Some(entry) = entry(&self.name) else {
            return Err((self.name.clone(), format!("one of {} is allowed", names())));
        };
        match entry.info.parameter {
            Some(p) if !(p.range.0..=p.range.1).contains(&self.parameter) => Err((
                self.to_string(),
                format!("{} from {} to {} is allowed", p.name, p.range.0, p.range.1),
            )),
            _ => Ok(()),
        }
    }

    /// The policy itself. The choice has been validated.
    pub(crate) fn make(&self) -> Box<dyn VictimPolicy> {
        let entry = entry(&self.name).expect("a validated choice");
        (entry.make)(self.parameter)
    }
}

impl std::fmt::Display for VictimChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match entry(&self.name).and_then(|entry| entry.info.parameter) {
            Some(_) => write!(f, "{}:{}", self.name, self.parameter),
            None => f.write_str(&self.name),
        }
    }
}

fn entry(name: &str) -> Option<&'static VictimEntry> {
    const ALL: &[VictimEntry] = &VICTIM_POLICIES;
    ALL.iter().find(|entry| entry.info.name == name)
}

fn names() -> String {
    let names: Vec<&str> = VICTIM_POLICIES.iter().map(|e| e.info.name).collect();
    names.join(", ")
}

/// A drive's victim policy: one of the registry, or anybody's own.
#[derive(Clone, Debug)]
pub(crate) struct Victim {
    choice: Option<VictimChoice>,
    policy: Arc<dyn VictimPolicy>,
}

impl Victim {
    /// The chosen one, unless there is an own one.
    pub fn new(choice: &VictimChoice, own: Option<Box<dyn VictimPolicy>>) -> Victim {
        match own {
            Some(policy) => Victim {
                choice: None,
                policy: policy.into(),
            },
            None => Victim {
                choice: Some(choice.clone()),
                policy: choice.make().into(),
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

impl Image for Rng {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.state().save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Rng, ImageError> {
        <[u64; 4]>::load(from).map(Rng::from_state)
    }
}

#[cfg(test)]
mod tests;
