//! Is a modelled drive a good log device for ZFS? Measured in virtual time.

use ssdlab_base::LabError;
use ssdlab_bench::device::named::TargetName;
use ssdlab_judge::qualify::{SilentProgress, role, terminal};
use ssdlab_judge::{QualifyPlan, qualify};
use std::sync::atomic::AtomicBool;

/// The verdict on the drive called `name`, as text.
pub fn answer(name: &str) -> Result<String, LabError> {
    let plan = QualifyPlan::new(Some(TargetName::parse(name)?), role("slog")?);
    let found = qualify(&plan, &mut SilentProgress, &AtomicBool::new(false))?;
    Ok(terminal::verdict_summary(&found))
}

fn main() -> Result<(), LabError> {
    print!("{}", answer("drive:consumer-sata-1tb")?);
    Ok(())
}
