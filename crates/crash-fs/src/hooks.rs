//! What a simulator brings along.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub(crate) type Clock = Box<dyn Fn() -> Duration + Send + Sync>;
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;
pub(crate) type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;
pub(crate) type Sleep = Box<dyn Fn(Duration) -> Pause + Send + Sync>;

/// What a simulator brings along.
#[derive(Default)]
pub(crate) struct Hooks {
    pub clock: Option<Clock>,
    pub before_each_call: Option<Hook>,
    pub sleep: Option<Sleep>,
}
