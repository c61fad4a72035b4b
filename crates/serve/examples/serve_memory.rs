//! Serves a sparse drive in memory, for trying the front ends and for `tests/serve.sh`.
//!
//! `serve_memory SIZE_MIB NBD_SOCKET [CONTROL_SOCKET [FUSE_DIR]]`, until its input ends; then
//! the notes of all sessions are printed.

use ssdlab_serve::control::ControlServer;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{Address, Lint, MemoryStore, SharedDrive};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [size, socket, more @ ..] = args.as_slice() else {
        return Err("serve_memory SIZE_MIB NBD_SOCKET [CONTROL_SOCKET [FUSE_DIR]]".into());
    };
    let drive = Arc::new(MemoryStore::new(size.parse::<u64>()? << 20, 4096));
    let shared = Arc::new(SharedDrive::new(drive.clone()));
    let lint = Arc::new(Lint::default());
    let address = Address::Unix(PathBuf::from(socket));
    let nbd = NbdServer::start(
        shared.clone(),
        lint.clone(),
        &address,
        NbdOptions::default(),
    )?;
    let control = match more.first() {
        Some(path) => Some(ControlServer::start(drive, Path::new(path))?),
        None => None,
    };
    #[cfg(feature = "fuse")]
    let file = match more.get(1) {
        Some(folder) => {
            let folder = Path::new(folder);
            Some(ssdlab_serve::fuse::FuseFile::mount(
                shared,
                lint.clone(),
                folder,
                "drive",
            )?)
        }
        None => None,
    };
    println!("ready {}", nbd.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop((nbd, control));
    #[cfg(feature = "fuse")]
    drop(file);
    print!("{}", lint.render());
    Ok(())
}
