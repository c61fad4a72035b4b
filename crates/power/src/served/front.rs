//! The front ends of a served drive, together: NBD server, FUSE file, virtio disk, power switch.

use super::ServedDrive;
use super::attach::{EXPORT, attach_nbd, attach_vhost_user};
use super::places::{DriveEndpoints, TlsPlan, warn_of_mode};
use ssdlab_base::LabError;
use ssdlab_serve::control::ControlServer;
use ssdlab_serve::fuse::FuseFile;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::vhost_user::VhostUserServer;
use ssdlab_serve::{
    Address, Lint, PowerControl, PowerStatus, ServerLog, SharedDrive, Store, raise_descriptor_limit,
};
use ssdlab_view::units;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What can be served: it holds bytes, has a power switch, and can be shut down.
pub trait ServedStore: Store + PowerControl + 'static {
    /// Shuts it down in order.
    ///
    /// # Errors
    /// When its files cannot be written.
    fn shut_down(&self) -> Result<(), LabError>;
}

impl ServedStore for ServedDrive {
    fn shut_down(&self) -> Result<(), LabError> {
        self.close()
    }
}

/// A drive that is served until it is stopped.
pub struct DriveServer<D: ServedStore = ServedDrive> {
    drive: Arc<D>,
    lint: Arc<Lint>,
    nbd: Vec<NbdServer>,
    fuse: Option<FuseFile>,
    vhost_user: Option<VhostUserServer>,
    control: Option<ControlServer>,
    places: DriveEndpoints,
}

impl<D: ServedStore> DriveServer<D> {
    /// Begins to serve. `description` is shown to NBD clients; `log` receives warnings, and lines
    /// on clients that are turned away, for as long as it serves.
    ///
    /// # Errors
    /// When a socket cannot be listened to, or the file not be mounted; nothing is left then.
    pub fn start(
        drive: D,
        places: &DriveEndpoints,
        description: &str,
        log: fn(&str),
    ) -> Result<DriveServer<D>, LabError> {
        raise_descriptor_limit();
        places.warnings().iter().for_each(|text| log(text));
        let drive = Arc::new(drive);
        let reading = Arc::new(SharedDrive::new(drive.clone()).read_only());
        let shared = if places.read_only {
            reading.clone()
        } else {
            Arc::new(SharedDrive::new(drive.clone()))
        };
        let lint = Arc::new(Lint::default());
        let mut serving = DriveServer {
            drive: drive.clone(),
            lint: lint.clone(),
            nbd: Vec::new(),
            fuse: None,
            vhost_user: None,
            control: None,
            places: places.clone(),
        };
        serving.listen_nbd(&shared, &reading, description, log)?;
        if let Some(path) = &places.vhost_user {
            let server = VhostUserServer::start(shared.clone(), lint.clone(), path, description);
            let path_text = path.display().to_string();
            serving.vhost_user = Some(server.map_err(|error| cannot_listen(&path_text, error))?);
        }
        if let Some(file) = &places.fuse {
            let (folder, name) = folder_and_name(file)?;
            let mounted = FuseFile::mount(shared, lint, folder, name);
            let mounted = mounted.map_err(|error| cannot_mount(folder, error))?;
            serving.fuse = Some(mounted);
        }
        if let Some(path) = &places.control {
            let server = ControlServer::start(drive, path);
            let path_text = path.display().to_string();
            let server = server.map_err(|error| cannot_listen(&path_text, error))?;
            serving.control = Some(server);
        }
        let sockets = places.nbd.iter().filter_map(|address| match address {
            Address::Unix(path) if places.trusts_everybody() => Some(path),
            _ => None,
        });
        sockets
            .chain(&places.vhost_user)
            .chain(&places.control)
            .filter_map(|path| warn_of_mode(path))
            .for_each(|text| log(&text));
        Ok(serving)
    }

    /// Listens at every NBD address: at those of readers, with `reading`.
    fn listen_nbd(
        &mut self,
        shared: &Arc<SharedDrive>,
        reading: &Arc<SharedDrive>,
        description: &str,
        log: fn(&str),
    ) -> Result<(), LabError> {
        let places = &self.places;
        let tls = places.tls.as_ref().map(TlsPlan::read).transpose()?;
        let writing = places.nbd.iter().map(|address| (address, shared));
        let readers = places.nbd_read_only.iter();
        let exports = writing.chain(readers.map(|address| (address, reading)));
        for (address, sectors) in exports {
            let options = NbdOptions {
                name: EXPORT.to_owned(),
                description: description.to_owned(),
                tls: tls.clone(),
                log: ServerLog::new(log),
                ..NbdOptions::default()
            };
            let server = NbdServer::start(sectors.clone(), self.lint.clone(), address, options);
            let server = server.map_err(|error| cannot_listen(&address.to_string(), error))?;
            self.nbd.push(server);
        }
        Ok(())
    }

    /// The drive behind the front ends.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    /// Why nothing is acknowledged, or what else must be mended soon.
    pub fn trouble(&self) -> Option<String> {
        self.drive.status().trouble
    }

    /// What people type to use the drive, a line each.
    pub fn how_to_attach(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, server) in self.nbd.iter().enumerate() {
            let reads = self.places.read_only || at >= self.places.nbd.len();
            attach_nbd(
                server.address(),
                reads,
                self.places.tls.as_ref(),
                &mut lines,
            );
        }
        if let Some(file) = &self.fuse {
            let path = file.path().display();
            lines.push(format!("file  {path}"));
            lines.push(format!("  losetup -f --show --direct-io=on {path}"));
        }
        if let Some(server) = &self.vhost_user {
            attach_vhost_user(server.path(), &mut lines);
        }
        if let Some(path) = &self.places.control {
            let path = path.display();
            lines.push(format!("power {path}"));
            lines.push(format!("  ssdlab power off --control {path}"));
        }
        lines
    }

    /// Hangs up on all clients, shuts the drive down in order, and returns the notes of all
    /// sessions.
    ///
    /// # Errors
    /// When a drive directory cannot be written.
    pub fn stop(mut self) -> Result<String, LabError> {
        for server in &mut self.nbd {
            server.stop();
        }
        self.nbd.clear();
        self.control = None;
        self.vhost_user = None;
        // Nothing is asked of the drive any more, should the file be busy and stay a while.
        let closed = self.drive.shut_down();
        self.fuse = None;
        closed?;
        let notes = self.lint.render();
        Ok(format!("{notes}{}", verdict(&self.drive.status())))
    }
}

impl<D: ServedStore> Drop for DriveServer<D> {
    /// Not served to the end, as when a socket is taken: that is no power cut.
    fn drop(&mut self) {
        // Already shut down, or the error has no receiver.
        let _ = self.drive.shut_down();
    }
}

/// Whether the drive kept what it had promised; nothing if its power was never cut.
fn verdict(status: &PowerStatus) -> String {
    let (cuts, broken) = (units::plural(status.cuts, "cut"), status.promises_broken);
    match (status.cuts, broken) {
        (0, _) => String::new(),
        (_, 0) => format!("drive: {cuts}, every promise kept\n"),
        _ => format!(
            "drive: {cuts}, {} broken after {} of them; what was lost there \
             is the drive's fault\n",
            units::plural(broken, "promise"),
            status.cuts_with_broken
        ),
    }
}

fn folder_and_name(file: &Path) -> Result<(&Path, &str), LabError> {
    let hint = "the name of a file to be, in an empty folder that exists: mnt/drive";
    let name = file.file_name().and_then(|name| name.to_str());
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), Some(folder)) = (name, folder) else {
        let problem = format!("--fuse {}: a folder and a file are needed", file.display());
        return Err(LabError::refused(problem, hint));
    };
    let entries = std::fs::read_dir(folder);
    let mut entries = entries.map_err(|error| LabError::File {
        action: "mounting at",
        path: folder.to_owned(),
        hint: match error.kind() {
            io::ErrorKind::NotConnected => {
                format!(
                    "a server that was killed left it mounted: umount {}",
                    folder.display()
                )
            }
            _ => hint.to_owned(),
        },
        source: error,
    })?;
    if entries.next().is_some() {
        let problem = format!(
            "--fuse {}: {} is not empty",
            file.display(),
            folder.display()
        );
        return Err(LabError::refused(problem, hint));
    }
    Ok((folder, name))
}

fn cannot_listen(at: &str, error: io::Error) -> LabError {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "somebody listens there already; choose another place",
        io::ErrorKind::AlreadyExists => "choose a new name: it is not removed",
        io::ErrorKind::NotFound => "the directory of the socket does not exist",
        io::ErrorKind::InvalidInput => {
            "a socket's path has at most 107 bytes: choose a shorter one"
        }
        _ => "choose another place",
    };
    LabError::refused(format!("cannot listen at {at}: {error}"), hint)
}

fn cannot_mount(folder: &Path, error: io::Error) -> LabError {
    LabError::refused(
        format!("cannot mount at {}: {error}", folder.display()),
        "a FUSE file needs /dev/fuse, and root or fusermount3; use --nbd without",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drive_is_blamed_for_broken_promises_and_only_for_those() {
        let mut status = PowerStatus::default();
        assert_eq!(verdict(&status), "", "never cut, never tried");
        status.cuts = 5;
        assert!(verdict(&status).contains("5 cuts, every promise kept"));
        (status.promises_broken, status.cuts_with_broken) = (7, 2);
        let text = verdict(&status);
        assert!(text.contains("7 promises broken after 2") && text.contains("drive's fault"));
    }
}
