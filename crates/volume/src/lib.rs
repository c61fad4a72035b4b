#![doc = include_str!("../README.md")]

pub mod account;
pub mod bucket;
pub mod catalogue;
pub mod fit;
pub mod latency;
pub mod name;
pub mod touch;
pub mod volume;

pub use account::{Account, AccountPart, AccountRates};
pub use latency::LatencyTail;
pub use name::{VolumeName, open};
pub use touch::FirstTouch;
pub use volume::{
    AccountOwner, AccountUnit, BindingLimit, MergeRule, Volume, VolumeConfig, VolumeCounters,
    VolumeLimits, VolumeService,
};
