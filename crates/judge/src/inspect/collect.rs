//! Asking a drive, through smartctl and nvme. Nothing is ever written to it.

use super::json::Doc;
use super::report::{DriveReport, KernelFacts, REPORT_VERSION};
use serde_json::Value;
use ssdlab_base::LabError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where such tools are kept on systems that leave them out of a user's PATH.
const SYSTEM_PLACES: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(SYSTEM_PLACES.map(PathBuf::from));
    places
        .map(|place| place.join(name))
        .find(|tool| tool.is_file())
}

/// The JSON that a tool prints; `None` when it prints none.
fn json_of(tool: &Path, arguments: &[&str], device: &Path) -> Option<Value> {
    let output = Command::new(tool)
        .args(arguments)
        .arg(device)
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    let value: Value = serde_json::from_slice(&output.stdout).ok()?;
    value.is_object().then_some(value)
}

/// Asks the drive at `device`; `kind` is smartctl's `-d`, for drives behind a controller.
///
/// # Errors
/// When smartctl is not installed, or printed no answer.
pub fn collect(device: &Path, kind: Option<&str>) -> Result<DriveReport, LabError> {
    let Some(smartctl) = tool("smartctl") else {
        return Err(LabError::refused(
            "smartctl is not installed",
            "install smartmontools; or save `smartctl --json=c -x /dev/DEVICE` where it is, and \
             name the file here",
        ));
    };
    let mut arguments = vec!["--json=c", "-x"];
    if let Some(kind) = kind {
        arguments.extend(["-d", kind]);
    }
    let Some(answer) = json_of(&smartctl, &arguments, device) else {
        return Err(LabError::refused(
            format!("smartctl printed no JSON about {}", device.display()),
            "it takes smartmontools 7.0 or later, and usually root",
        ));
    };
    let mut report = DriveReport {
        ssdlab_report: REPORT_VERSION,
        source: device.display().to_string(),
        kernel: kernel(device),
        ..DriveReport::default()
    };
    let doc = Doc::new(&answer);
    let is_nvme = doc.text("device.protocol").as_deref() == Some("NVMe");
    if let (true, Some(nvme)) = (is_nvme, tool("nvme")) {
        let ask = |arguments: &[&str]| json_of(&nvme, arguments, device);
        report.nvme_controller = ask(&["id-ctrl", "-o", "json"]);
        report.nvme_ocp = ask(&["ocp", "smart-add-log", "-o", "json"]);
        let maker = doc.whole("nvme_pci_vendor.id");
        if maker == Some(0x8086) {
            report.nvme_intel = ask(&["intel", "smart-log-add", "-o", "json"]);
        }
    }
    report.smartctl = answer;
    Ok(report)
}

/// What sysfs says of the block device.
#[cfg(target_os = "linux")]
fn kernel(device: &Path) -> Option<KernelFacts> {
    use ssdlab_bench::device::system::{SystemPaths, describe};
    use ssdlab_bench::device::{TargetFacts, TargetKind};
    let stat = rustix::fs::stat(device).ok()?;
    let mut facts = TargetFacts::unknown(String::new(), TargetKind::BlockDevice);
    describe(&SystemPaths::live(), &stat, &mut facts);
    facts.write_cache.as_ref()?;
    Some(KernelFacts {
        write_cache: facts.write_cache,
        fua: facts.fua,
    })
}

/// Only Linux has sysfs.
#[cfg(not(target_os = "linux"))]
fn kernel(_device: &Path) -> Option<KernelFacts> {
    None
}
