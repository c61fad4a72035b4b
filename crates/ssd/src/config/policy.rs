//! Policies that a configuration names: which superblock is emptied next, and which host data goes
//! together.
//!
//! A configuration holds a name and a parameter, checked against the descriptions here, which help,
//! documents and sweeps read too. The policies themselves are in [`crate::ftl::policies`].

use crate::image::{image_of, image_of_choice};
use std::fmt;

/// A parameter of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyParameter {
    /// Name of the parameter.
    pub name: &'static str,
    /// Description, with the unit.
    pub text: &'static str,
    /// Default value.
    pub default: u64,
    /// Minimum and maximum allowed.
    pub range: (u64, u64),
}

/// Description of a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Name for the command line and drive files.
    pub name: &'static str,
    /// Description in a sentence or two.
    pub text: &'static str,
    /// Publication that it comes from.
    pub source: &'static str,
    /// Parameter, if it has one.
    pub parameter: Option<PolicyParameter>,
}

/// Every victim policy.
pub const VICTIMS: [PolicyInfo; 6] = [GREEDY, FIFO, RANDOM, D_CHOICES, COST_BENEFIT, WINDOWED];

/// See [`crate::ftl::policies`].
pub const GREEDY: PolicyInfo = PolicyInfo {
    name: "greedy",
    text: "the superblock with the fewest valid slots; ties go to the lowest number",
    source: "M. Rosenblum, J. Ousterhout 1992; W. Bux, I. Iliadis 2010",
    parameter: None,
};

/// See [`crate::ftl::policies`].
pub const FIFO: PolicyInfo = PolicyInfo {
    name: "fifo",
    text: "the superblock closed longest ago (cyclic buffer)",
    source: "P. Desnoyers 2012; L. Xiang, B. Kurkoski 2011",
    parameter: None,
};

/// See [`crate::ftl::policies`].
pub const RANDOM: PolicyInfo = PolicyInfo {
    name: "random",
    text: "any full superblock, each as likely",
    source: "B. Van Houdt 2013 (d = 1)",
    parameter: None,
};

/// See [`crate::ftl::policies`].
pub const D_CHOICES: PolicyInfo = PolicyInfo {
    name: "d-choices",
    text: "of d full superblocks drawn at random, the one with the fewest valid slots",
    source: "B. Van Houdt 2013; Y. Li, P. Lee, J. Lui 2013",
    parameter: Some(PolicyParameter {
        name: "d",
        text: "superblocks drawn",
        default: 10,
        range: (1, 10_000),
    }),
};

/// See [`crate::ftl::policies`].
pub const COST_BENEFIT: PolicyInfo = PolicyInfo {
    name: "cost-benefit",
    text: "the superblock with the highest age x (1 - u) / 2u, u being its valid share",
    source: "M. Rosenblum, J. Ousterhout 1992; A. Kawaguchi, S. Nishioka, H. Motoda 1995",
    parameter: None,
};

/// See [`crate::ftl::policies`].
pub const WINDOWED: PolicyInfo = PolicyInfo {
    name: "windowed",
    text: "the superblock with the fewest valid slots of the w closed longest ago",
    source: "X.-Y. Hu et al. 2009 (windowed greedy)",
    parameter: Some(PolicyParameter {
        name: "w",
        text: "superblocks in the window",
        default: 32,
        range: (1, 1 << 24),
    }),
};

fn info(name: &str) -> Option<&'static PolicyInfo> {
    const ALL: &[PolicyInfo] = &VICTIMS;
    ALL.iter().find(|info| info.name == name)
}

fn names() -> String {
    VICTIMS.map(|info| info.name).join(", ")
}

image_of! {
    /// A victim policy by name, with its parameter: `greedy`, `d-choices:10`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct VictimChoice {
        /// Name in [`VICTIMS`].
        pub name: String,
        /// Value of its parameter; ignored by policies that have none.
        pub parameter: u64,
    }
}

impl VictimChoice {
    /// A policy of [`VICTIMS`] with its parameter, 0 where it has none; see [`Self::validate`].
    pub fn new(name: impl Into<String>, parameter: u64) -> VictimChoice {
        VictimChoice {
            name: name.into(),
            parameter,
        }
    }

    /// The default policy.
    pub fn greedy() -> VictimChoice {
        VictimChoice {
            name: "greedy".into(),
            parameter: 0,
        }
    }

    /// Parses `name` or `name:parameter`.
    ///
    /// # Errors
    /// A sentence that states the fault and what is allowed.
    pub fn parse(text: &str) -> Result<VictimChoice, String> {
        let (name, given) = match text.split_once(':') {
            Some((name, given)) => (name, Some(given)),
            None => (text, None),
        };
        let info = info(name).ok_or_else(|| {
            format!(
                "there is no victim policy `{name}` (there are: {})",
                names()
            )
        })?;
        let parameter = match (given, info.parameter) {
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

    /// Checks that the policy exists and its parameter is allowed.
    ///
    /// # Errors
    /// The value given and the values allowed.
    pub fn validate(&self) -> Result<(), (String, String)> {
        let Some(info) = info(&self.name) else {
            return Err((self.name.clone(), format!("one of {} is allowed", names())));
        };
        match info.parameter {
            Some(p) if !(p.range.0..=p.range.1).contains(&self.parameter) => Err((
                self.to_string(),
                format!("{} from {} to {} is allowed", p.name, p.range.0, p.range.1),
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for VictimChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match info(&self.name).and_then(|info| info.parameter) {
            Some(_) => write!(f, "{}:{}", self.name, self.parameter),
            None => f.write_str(&self.name),
        }
    }
}

/// Kinds of separation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Separation {
    /// All host data goes to stream 0.
    Single = 0,
    /// The stream that the host names with the command, modulo the drive's streams.
    Hint = 1,
    /// By the lifespan of overwritten data: a slot whose previous copy had a lifespan below the
    /// mean of recent copies goes to stream 1, all others to stream 0.
    Lifespan = 2,
    /// As [`Separation::Hint`] for the host's data; relocated data of all streams shares open
    /// superblocks: the reclaim unit handles of NVMe FDP that are initially isolated. Those of
    /// `Hint` are persistently isolated.
    InitiallyIsolated = 3,
}

image_of_choice!(Separation {
    Single,
    Hint,
    Lifespan,
    InitiallyIsolated
});

/// Every kind of separation.
pub const SEPARATIONS: [(Separation, PolicyInfo); 4] = [
    (
        Separation::Single,
        PolicyInfo {
            name: "single",
            text: "all host data goes to one open superblock",
            source: "usual in client drives",
            parameter: None,
        },
    ),
    (
        Separation::Hint,
        PolicyInfo {
            name: "hint",
            text: "the host names the stream with each write (NVMe streams; FDP handles that are \
                   persistently isolated)",
            source: "J.-U. Kang et al. 2014 (multi-streamed SSD)",
            parameter: None,
        },
    ),
    (
        Separation::Lifespan,
        PolicyInfo {
            name: "lifespan",
            text: "data overwritten sooner than the recent mean has a stream of its own",
            source: "after Q. Wang et al. 2022 (SepBIT), its rule for host writes alone",
            parameter: None,
        },
    ),
    (
        Separation::InitiallyIsolated,
        PolicyInfo {
            name: "initially-isolated",
            text: "as hint, but relocated data of all streams mixes (FDP handles of that type)",
            source: "NVM Express TP4146, Flexible Data Placement",
            parameter: None,
        },
    ),
];

impl Separation {
    /// Parses a name.
    ///
    /// # Errors
    /// A sentence with the value given and the values allowed.
    pub fn parse(text: &str) -> Result<Separation, String> {
        let entry = SEPARATIONS.iter().find(|(_, info)| info.name == text);
        entry.map(|&(kind, _)| kind).ok_or_else(|| {
            let names: Vec<&str> = SEPARATIONS.iter().map(|(_, info)| info.name).collect();
            format!(
                "there is no separation `{text}` (there are: {})",
                names.join(", ")
            )
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        SEPARATIONS[self as usize].1.name
    }
}
