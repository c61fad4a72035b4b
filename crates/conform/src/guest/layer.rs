//! A layer between the disks and the routes: a program that makes another block device of each.

use super::disk::{DISKS_PAUSE, DISKS_WITHIN, LabelledDisk, labelled};
use std::fs::File;
use std::process::{Child, Command};
use std::time::Instant;

/// Where the image has the words of a layer's command, a line each.
pub const LAYER: &str = "/usr/layer";
/// What the layer's program prints.
const LOG: &str = "/run/layer.log";

/// The devices that the layer of the image makes of `disks`; these themselves without a layer.
pub fn over(disks: Vec<LabelledDisk>) -> Result<Vec<LabelledDisk>, String> {
    let Ok(words) = std::fs::read_to_string(LAYER) else {
        return Ok(disks);
    };
    let words: Vec<&str> = words.lines().collect();
    let mut lower: Vec<String> = disks.iter().map(|disk| disk.device.clone()).collect();
    let mut upper = Vec::new();
    for disk in &disks {
        let device = over_disk(disk, &words, &lower)?;
        lower.push(device.device.clone());
        upper.push(device);
    }
    Ok(upper)
}

/// Runs the command on `disk`, and waits for a device with the same label beside those of `known`.
fn over_disk(
    disk: &LabelledDisk,
    words: &[&str],
    known: &[String],
) -> Result<LabelledDisk, String> {
    let log = File::create(LOG).map_err(|error| format!("{LOG}: {error}"))?;
    let errors = log.try_clone().map_err(|error| format!("{LOG}: {error}"))?;
    let arguments = words[1..]
        .iter()
        .map(|word| word.replace("{disk}", &disk.path()));
    let mut command = Command::new(words[0]);
    command.args(arguments).stdout(log).stderr(errors);
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    let until = Instant::now() + DISKS_WITHIN;
    loop {
        let devices = labelled().into_iter();
        let mut devices = devices.filter(|device| !known.contains(&device.device));
        if let Some(device) = devices.find(|device| device.name == disk.name) {
            return Ok(device);
        }
        if has_failed(&mut child) || Instant::now() > until {
            let printed = std::fs::read_to_string(LOG).unwrap_or_default();
            let name = words[0];
            return Err(format!("{name} has made no device of the disk: {printed}"));
        }
        std::thread::sleep(DISKS_PAUSE);
    }
}

/// Whether the program has ended in error; one that goes on in the background has not.
fn has_failed(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(status)) if !status.success())
}
