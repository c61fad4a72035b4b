//! The front ends of a served drive, together: NBD server, FUSE file, power switch.

use super::ServedDrive;
use ssdlab_base::LabError;
use ssdlab_serve::control::ControlServer;
use ssdlab_serve::fuse::FuseFile;
use ssdlab_serve::nbd::{NbdOptions, NbdServer, Tls};
use ssdlab_serve::{Address, Lint, Log, Power, PowerStatus, Sectors, raise_descriptor_limit};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the NBD export.
const EXPORT: &str = "drive";

/// Where a drive is to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// NBD sockets.
    pub nbd: Vec<Address>,
    /// A file to be: an empty folder, and a name in it.
    pub fuse: Option<PathBuf>,
    /// The socket of the power switch.
    pub control: Option<PathBuf>,
    /// Whether NBD clients and the file can only read.
    pub read_only: bool,
    /// Encryption of NBD connections.
    pub tls: Option<TlsPlan>,
}

/// How NBD connections are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsPlan {
    /// The folder of certificates; see [`Tls::from_folder`].
    pub certificates: PathBuf,
    /// Whether clients without TLS are refused.
    pub required: bool,
    /// Whether clients need a certificate.
    pub verify_peer: bool,
}

impl TlsPlan {
    fn read(&self) -> Result<Tls, LabError> {
        Tls::from_folder(&self.certificates, self.required, self.verify_peer).map_err(|error| {
            LabError::refused(
                format!("--tls-certificates: {error}"),
                "a folder with server-cert.pem and server-key.pem, and ca-cert.pem to verify \
                 clients, as for nbdkit and qemu",
            )
        })
    }
}

impl Places {
    /// Whether NBD clients that nobody has chosen can write.
    fn trusts_everybody(&self) -> bool {
        let knows_clients = |tls: &TlsPlan| tls.required && tls.verify_peer;
        !self.read_only && !self.tls.as_ref().is_some_and(knows_clients)
    }

    /// What to warn of: NBD addresses at which other machines can write, a text each.
    fn warnings(&self) -> Vec<String> {
        if !self.trusts_everybody() {
            return Vec::new();
        }
        let open = self.nbd.iter().filter(|address| is_open_to_others(address));
        let warning = |address| {
            format!(
                "warning: {address} is open to other machines: NBD has no password, and whoever \
                 reaches it can read and overwrite the drive\n\
                 hint: --tls require --tls-verify-peer admits clients with a certificate, \
                 --read-only keeps the data; tcp:127.0.0.1:PORT or unix:PATH is open to this \
                 machine alone"
            )
        };
        open.map(warning).collect()
    }
}

/// A warning when the socket file at `path` lets every user of this machine connect.
fn warn_of_mode(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let path = path.display();
    (mode & 0o002 != 0).then(|| {
        format!(
            "warning: {path} has mode {mode:04o}: every user of this machine who reaches it can \
             use it\nhint: `umask 077` before, or `chmod 600 {path}` now"
        )
    })
}

/// `unix:PATH` or `tcp:HOST:PORT`.
///
/// # Errors
/// When it is neither.
pub fn parse_address(text: &str) -> Result<Address, LabError> {
    let bad = |what: &str| {
        LabError::refused(
            format!("`{text}` is no address to listen at: {what}"),
            "unix:/tmp/drive.sock, or tcp:127.0.0.1:10809",
        )
    };
    match text.split_once(':') {
        Some(("unix", "")) => Err(bad("the path is missing")),
        Some(("unix", path)) => Ok(Address::Unix(PathBuf::from(path))),
        Some(("tcp", rest)) => match rest.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Address::Tcp(rest.to_owned()))
            }
            _ => Err(bad("tcp takes a host and a port")),
        },
        _ => Err(bad("it begins neither with unix: nor with tcp:")),
    }
}

/// Whether clients on other machines may reach an address.
fn is_open_to_others(address: &Address) -> bool {
    let Address::Tcp(place) = address else {
        return false;
    };
    let host = place
        .rsplit_once(':')
        .map_or(place.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(ip) => !ip.is_loopback(),
        Err(_) => host != "localhost",
    }
}

/// A drive that is served until it is stopped.
pub struct Serving {
    drive: Arc<ServedDrive>,
    lint: Arc<Lint>,
    nbd: Vec<NbdServer>,
    fuse: Option<FuseFile>,
    control: Option<ControlServer>,
    places: Places,
}

impl Serving {
    /// Begins to serve. `description` is shown to NBD clients; `log` receives warnings, and lines
    /// on clients that are turned away, for as long as it serves.
    ///
    /// # Errors
    /// When a socket cannot be listened to, or the file not be mounted; nothing is left then.
    pub fn start(
        drive: ServedDrive,
        places: &Places,
        description: &str,
        log: fn(&str),
    ) -> Result<Serving, LabError> {
        raise_descriptor_limit();
        places.warnings().iter().for_each(|text| log(text));
        let drive = Arc::new(drive);
        let shared = Sectors::new(drive.clone());
        let shared = Arc::new(match places.read_only {
            true => shared.read_only(),
            false => shared,
        });
        let lint = Arc::new(Lint::default());
        let options = NbdOptions {
            name: EXPORT.to_owned(),
            description: description.to_owned(),
            ..NbdOptions::default()
        };
        let mut serving = Serving {
            drive: drive.clone(),
            lint: lint.clone(),
            nbd: Vec::new(),
            fuse: None,
            control: None,
            places: places.clone(),
        };
        let tls = places.tls.as_ref().map(TlsPlan::read).transpose()?;
        for address in &places.nbd {
            let options = NbdOptions {
                tls: tls.clone(),
                log: Log::new(&address.to_string(), log),
                ..options.clone()
            };
            let server = NbdServer::start(shared.clone(), lint.clone(), address, options);
            let server = server.map_err(|error| cannot_listen(&address.to_string(), error))?;
            serving.nbd.push(server);
        }
        if let Some(file) = &places.fuse {
            let (folder, name) = folder_and_name(file)?;
            let mounted = FuseFile::mount(shared, lint, folder, name);
            let mounted = mounted.map_err(|error| cannot_mount(folder, error))?;
            serving.fuse = Some(mounted);
        }
        if let Some(path) = &places.control {
            let server = ControlServer::start(drive, path);
            let at = path.display().to_string();
            let server = server.map_err(|error| cannot_listen(&at, error))?;
            serving.control = Some(server);
        }
        let sockets = places.nbd.iter().filter_map(|address| match address {
            Address::Unix(path) if places.trusts_everybody() => Some(path),
            _ => None,
        });
        sockets
            .chain(&places.control)
            .filter_map(|path| warn_of_mode(path))
            .for_each(|text| log(&text));
        Ok(serving)
    }

    /// The drive behind the front ends.
    pub fn drive(&self) -> &ServedDrive {
        &self.drive
    }

    /// What people type to use the drive, a line each.
    pub fn how_to_attach(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for server in &self.nbd {
            attach_nbd(server.address(), self.places.tls.as_ref(), &mut lines);
        }
        if let Some(file) = &self.fuse {
            let path = file.path().display();
            lines.push(format!("file  {path}"));
            lines.push(format!("  losetup -f --show --direct-io=on {path}"));
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
        // Nothing is asked of the drive any more, should the file be busy and stay a while.
        let closed = self.drive.close();
        self.fuse = None;
        closed?;
        let notes = self.lint.render();
        Ok(format!("{notes}{}", verdict(&self.drive.status())))
    }
}

impl Drop for Serving {
    /// Not served to the end, as when a socket is taken: that is no power cut.
    fn drop(&mut self) {
        // Already shut down, or there is nobody left to tell.
        let _ = self.drive.close();
    }
}

/// Whether the drive kept what it had promised; nothing if its power was never cut.
fn verdict(status: &PowerStatus) -> String {
    let (cuts, broken) = (status.cuts, status.promises_broken);
    match (cuts, broken) {
        (0, _) => String::new(),
        (_, 0) => format!("drive: {cuts} cuts, every promise kept\n"),
        _ => format!(
            "drive: {cuts} cuts, {broken} promises broken after {} of them; what was lost there \
             is the drive's fault\n",
            status.cuts_with_broken
        ),
    }
}

fn attach_nbd(address: &Address, tls: Option<&TlsPlan>, lines: &mut Vec<String>) {
    let tls = tls.filter(|tls| tls.required);
    let with_tls = |joint: char| match tls {
        Some(_) => format!("{joint}tls-certificates=DIR"),
        None => String::new(),
    };
    let scheme = if tls.is_some() { "nbds" } else { "nbd" };
    lines.push(format!("nbd   {address}"));
    let (uri, client, qemu) = match address {
        Address::Unix(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let path = path.display();
            let and = with_tls('&');
            (
                format!("{scheme}+unix:///{EXPORT}?socket={path}{and}"),
                format!("-unix {path}"),
                format!("server.type=unix,server.path={path}"),
            )
        }
        Address::Tcp(at) => {
            let (host, port) = at.rsplit_once(':').unwrap_or((at, ""));
            let and = with_tls('?');
            (
                format!("{scheme}://{at}/{EXPORT}{and}"),
                format!("{host} {port}"),
                format!("server.type=inet,server.host={host},server.port={port}"),
            )
        }
    };
    lines.push(format!("  nbdinfo '{uri}'"));
    if tls.is_some() {
        lines.push(format!(
            "  qemu-system-x86_64 -object tls-creds-x509,id=tls,endpoint=client,dir=DIR \
             -blockdev driver=nbd,node-name=d,{qemu},export={EXPORT},tls-creds=tls ..."
        ));
        return;
    }
    lines.push(format!("  nbd-client {client} -N {EXPORT} /dev/nbd0"));
    lines.push(format!(
        "  qemu-system-x86_64 -drive 'file={uri},format=raw,if=virtio' ..."
    ));
}

fn folder_and_name(file: &Path) -> Result<(&Path, &str), LabError> {
    let hint = "the name of a file to be, in an empty folder that exists: mnt/drive";
    let name = file.file_name().and_then(|name| name.to_str());
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), Some(folder)) = (name, folder) else {
        let what = format!("--fuse {}: a folder and a file are needed", file.display());
        return Err(LabError::refused(what, hint));
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
        let what = format!(
            "--fuse {}: {} is not empty",
            file.display(),
            folder.display()
        );
        return Err(LabError::refused(what, hint));
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

    /// `--nbd tcp:0.0.0.0:PORT` used to give write access to every machine without a word.
    #[test]
    fn addresses_that_other_machines_reach_are_known() {
        let open = [
            "tcp:0.0.0.0:1",
            "tcp:[::]:1",
            "tcp:192.168.1.2:1",
            "tcp:host:1",
        ];
        let own = [
            "unix:/run/x",
            "tcp:127.0.0.1:1",
            "tcp:[::1]:1",
            "tcp:localhost:1",
        ];
        for (addresses, is_open) in [(open, true), (own, false)] {
            for text in addresses {
                let address = parse_address(text).expect("good");
                assert_eq!(is_open_to_others(&address), is_open, "{text}");
            }
        }
    }

    /// Whoever may write is either the owner or somebody with a certificate.
    #[test]
    fn open_places_get_a_warning_that_says_what_to_do() {
        let tls = |required, verify_peer| {
            Some(TlsPlan {
                certificates: PathBuf::from("certificates"),
                required,
                verify_peer,
            })
        };
        let at = |texts: &[&str], read_only, tls| {
            let places = Places {
                nbd: texts
                    .iter()
                    .map(|text| parse_address(text).expect("good"))
                    .collect(),
                read_only,
                tls,
                ..Places::default()
            };
            places.warnings()
        };
        let open = ["tcp:0.0.0.0:1", "unix:x", "tcp:127.0.0.1:2", "tcp:[::]:3"];
        let warnings = at(&open, false, None);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[1].contains("tcp:[::]:3") && warnings[1].contains("--read-only"));
        assert_eq!(
            at(&open, false, tls(true, false)).len(),
            2,
            "anybody encrypts"
        );
        assert_eq!(
            at(&open, false, tls(false, true)).len(),
            2,
            "plain is fine too"
        );
        assert!(at(&open, false, tls(true, true)).is_empty());
        assert!(at(&open, true, None).is_empty());
        assert!(at(&open[1..3], false, None).is_empty());
    }

    #[test]
    fn addresses_are_read_or_refused_with_a_hint() {
        let unix = parse_address("unix:/run/x:y").expect("good");
        assert_eq!(unix, Address::Unix("/run/x:y".into()));
        let tcp = parse_address("tcp:[::1]:10809").expect("good");
        assert_eq!(tcp, Address::Tcp("[::1]:10809".into()));
        for bad in [
            "",
            "/run/x",
            "unix:",
            "tcp:",
            "tcp:host",
            "tcp:host:port",
            "tcp::1",
        ] {
            let error = parse_address(bad).expect_err(bad);
            assert!(error.hint().contains("unix:"), "{bad}");
        }
    }
}
