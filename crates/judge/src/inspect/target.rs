//! What an inspection adds to the facts of a target that is about to be judged.

use super::collect::collect;
use super::inspection::Inspection;
use super::read::inspect;
use ssdlab_base::LabError;
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::device::health::{DriveHealth, EvidenceGrade};
use std::path::{Path, PathBuf};

/// Enters what the drive reports and what is published of its model. What the target already knows
/// stays; of protection, the drive's own report of a failure outweighs everything.
pub fn enrich(facts: &mut TargetFacts, found: &Inspection) {
    let failed = found.protection.holds == Some(false);
    let is_assumed = found.protection.grade == EvidenceGrade::Assumed;
    // A drive of one's own is not trusted with data on an assumption.
    let is_trusted = failed || !is_assumed;
    if (facts.power_loss_protection.is_none() && is_trusted) || failed {
        facts.power_loss_protection = found.protection.holds;
        facts.power_loss_protection_assumed = is_assumed;
        facts.power_loss_protection_source = Some(found.protection.why.clone());
    }
    if let Some(rating) = found.known.as_ref().and_then(|known| known.rating.as_ref()) {
        facts.rated_bytes_written = facts.rated_bytes_written.or(Some(rating.bytes_written));
        facts.warranty_years = facts.warranty_years.or(rating.years);
    }
    facts.health = Some(DriveHealth {
        protection_grade: found.protection.grade,
        passed: found.passed,
        warnings: found.warnings.clone(),
        used_percent: found.life.used_percent.clone(),
        uncorrectable: found.events.media_errors,
        retired: found.events.retired,
        spare_percent: found.life.spare_percent.as_ref().map(|left| left.value),
        read_only: None,
        host_bytes_written: found
            .life
            .host_bytes_written
            .as_ref()
            .map(|written| written.value as u64),
        temperature_c: found.events.temperature_c,
        too_warm_minutes: found.events.too_warm_minutes,
    });
}

/// The drive underneath a file, block device or NVMe generic device; `None` when there is none to
/// ask: a virtual machine's disk, a stacked device, a file system without a device.
#[cfg(target_os = "linux")]
fn drive_under(path: &Path) -> Option<PathBuf> {
    use rustix::fs::FileType;
    use ssdlab_bench::device::TargetKind;
    use ssdlab_bench::device::generic::block_path;
    use ssdlab_bench::device::system::{DevId, SystemPaths};
    /// Attachments under which a drive of one's own may answer smartctl.
    const PHYSICAL: [&str; 4] = ["sata", "nvme", "scsi", "usb"];
    let system = SystemPaths::live();
    let stat = rustix::fs::stat(block_path(&system, path)).ok()?;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let device = if is_device {
        system.block_device(DevId::from_raw(stat.st_rdev))
    } else {
        system.device_of_file(stat.st_dev)
    }?;
    let mut facts = TargetFacts::unknown(String::new(), TargetKind::BlockDevice);
    device.describe(&system, &mut facts);
    let physical = PHYSICAL.contains(&device.interface()) && facts.virtualised == Some(false);
    physical.then(|| Path::new("/dev").join(device.disk_name()))
}

/// Files and block devices are no targets there.
#[cfg(not(target_os = "linux"))]
fn drive_under(_path: &Path) -> Option<PathBuf> {
    None
}

/// Asks the drive underneath a file, block device or NVMe generic device; `None` when there is none
/// to ask.
///
/// # Errors
/// When there is one and it cannot be read.
pub fn drive_of(path: &Path) -> Result<Option<Inspection>, LabError> {
    let Some(device) = drive_under(path) else {
        return Ok(None);
    };
    collect(&device, None).and_then(|report| inspect(&report).map(Some))
}

#[cfg(test)]
mod tests {
    use super::super::Protection;
    use super::super::ReportedValue;
    use super::*;
    use crate::qualify::{Evidence, QualifyOutcome, judge, role};
    use ssdlab_bench::device::TargetKind;
    use ssdlab_drives::known::known;

    fn found(holds: Option<bool>, grade: EvidenceGrade, used: f64) -> Inspection {
        Inspection {
            passed: Some(true),
            protection: Protection {
                holds,
                grade,
                why: "a source".into(),
            },
            life: super::super::WearStatus {
                used_percent: Some(ReportedValue {
                    value: used,
                    resolution: 1.0,
                    source: "a counter".into(),
                }),
                ..Default::default()
            },
            known: known("INTEL SSDSC2BA400G3", Some(400_000_000_000)),
            ..Inspection::default()
        }
    }

    fn judged(found: &Inspection) -> crate::qualify::RoleVerdict {
        let mut facts = TargetFacts::unknown("test".into(), TargetKind::BlockDevice);
        facts.capacity = 400_000_000_000;
        enrich(&mut facts, found);
        judge(role("s2d-cache").unwrap(), &Evidence::none(facts))
    }

    fn finding<'a>(
        v: &'a crate::qualify::RoleVerdict,
        id: &str,
    ) -> &'a crate::qualify::RoleFinding {
        v.findings.iter().find(|f| f.id == id).unwrap()
    }

    #[test]
    fn what_the_drive_tells_becomes_evidence_of_its_grade() {
        for grade in [EvidenceGrade::Documented, EvidenceGrade::Declared] {
            let v = judged(&found(Some(true), grade, 12.0));
            let plp = finding(&v, "power_loss_protection");
            assert_eq!((plp.outcome, plp.grade), (QualifyOutcome::Pass, grade));
            let endurance = finding(&v, "endurance");
            assert_eq!(endurance.outcome, QualifyOutcome::Pass);
            assert!(
                endurance.why.contains("12 % of its rated life is used"),
                "{}",
                endurance.why
            );
        }
        let v = judged(&found(None, EvidenceGrade::None, 12.0));
        assert_eq!(
            finding(&v, "power_loss_protection").outcome,
            QualifyOutcome::Unknown
        );
    }

    #[test]
    fn failed_capacitors_outweigh_a_data_sheet() {
        let mut facts = TargetFacts::unknown("test".into(), TargetKind::BlockDevice);
        facts.power_loss_protection = Some(true);
        enrich(
            &mut facts,
            &found(Some(false), EvidenceGrade::Declared, 0.0),
        );
        assert_eq!(facts.power_loss_protection, Some(false));
    }

    #[test]
    fn a_worn_out_drive_has_no_endurance_left() {
        let v = judged(&found(Some(true), EvidenceGrade::Documented, 103.0));
        let endurance = finding(&v, "endurance");
        assert_eq!(endurance.outcome, QualifyOutcome::Fail);
        assert!(endurance.why.contains("used up"), "{}", endurance.why);
    }

    #[test]
    fn what_the_drive_warns_of_is_said() {
        let mut dying = found(Some(true), EvidenceGrade::Documented, 50.0);
        dying.passed = Some(false);
        dying.warnings.push("read-only".into());
        let v = judged(&dying);
        let said = v
            .mechanisms
            .iter()
            .find(|m| m.id == "drive_reports_trouble");
        assert!(said.unwrap().sentence.contains("read-only"));
        assert!(
            judged(&found(None, EvidenceGrade::None, 0.0))
                .mechanisms
                .is_empty()
        );
    }
}
