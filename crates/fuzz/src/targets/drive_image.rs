//! Images of drives: an image that is accepted gives the same bytes when it is saved and loaded
//! again; any other is refused within bounded memory.

use crate::Target;
use ssdlab_ssd::config::{DriveConfig, MappingKind};
use ssdlab_ssd::{Command, Drive, Nanos};

/// One image.
pub const TARGET: Target = Target {
    name: "drive_image",
    run,
    seeds,
    words: &["ssdlabDR"],
};

/// Loads an image; see the module.
pub fn run(input: &[u8]) {
    let Ok(drive) = load(input) else {
        return;
    };
    let once = save(&drive);
    let twice = save(&load(&once).expect("a saved drive"));
    assert!(once == twice, "it is another drive when it is loaded");
}

fn load(mut bytes: &[u8]) -> Result<Drive, ssdlab_ssd::image::ImageError> {
    let length = bytes.len() as u64;
    Drive::load(&mut bytes, length)
}

fn save(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive
        .save(&mut bytes)
        .expect("a drive without outstanding commands");
    bytes
}

/// A few small drives, each used a little.
fn seeds() -> Vec<Vec<u8>> {
    let mut plain = DriveConfig::tiny();
    plain.user_bytes = 60 * 4096;
    let mut bare = plain.clone();
    bare.ftl.slc.superblocks = 0;
    bare.ftl.journal.entry_bytes = 0;
    bare.ftl.journal.commit_map_programs = 0;
    bare.ftl.journal.commit_closes_word_lines = false;
    let mut cached = plain.clone();
    cached.ftl.slc.superblocks = 0;
    cached.ftl.mapping.kind = MappingKind::Cached;
    cached.ftl.mapping.dram_bytes = 1024;
    cached.ftl.mapping.entry_bytes = 64;
    let mut parity = bare.clone();
    parity.shape.dies_per_channel = 2;
    parity.ftl.parity = true;
    [plain, bare, cached, parity]
        .map(|config| save(&used(config)))
        .to_vec()
}

fn used(config: DriveConfig) -> Drive {
    let slots = config.user_bytes / 4096;
    let mut drive = Drive::new(config).expect("a valid configuration");
    for n in 0..slots {
        let at = n * 7 % slots * 4096;
        let command = match n % 11 {
            9 => Command::flush(),
            10 => Command::read(at, 4096),
            _ => Command::write(at, 4096),
        };
        drive.submit(0, &command, drive.now());
        drive.pop_completion(Nanos::MAX).expect("a completion");
    }
    drive
}
