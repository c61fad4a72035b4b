//! The places at which a drive is served: addresses, what they admit, and what to warn of.

use ssdlab_base::LabError;
use ssdlab_serve::Address;
use ssdlab_serve::nbd::Tls;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where clients reach a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveEndpoints {
    /// NBD sockets.
    pub nbd: Vec<Address>,
    /// NBD sockets whose clients can only read.
    pub nbd_read_only: Vec<Address>,
    /// Path of the FUSE file, in an empty folder.
    pub fuse: Option<PathBuf>,
    /// The socket of a virtio disk, for hypervisors.
    pub vhost_user: Option<PathBuf>,
    /// The socket of the power switch.
    pub control: Option<PathBuf>,
    /// Whether NBD clients, the file and the virtio disk can only read.
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
    pub(super) fn read(&self) -> Result<Tls, LabError> {
        Tls::from_folder(&self.certificates, self.required, self.verify_peer).map_err(|error| {
            LabError::refused(
                format!("--tls-certificates: {error}"),
                "a folder with server-cert.pem and server-key.pem, and ca-cert.pem to verify \
                 clients, as for nbdkit and qemu",
            )
        })
    }
}

impl DriveEndpoints {
    /// Whether NBD clients without a verified certificate can write.
    pub(super) fn trusts_everybody(&self) -> bool {
        let knows_clients = |tls: &TlsPlan| tls.required && tls.verify_peer;
        !self.read_only && !self.tls.as_ref().is_some_and(knows_clients)
    }

    /// What to warn of: NBD addresses at which other machines can write, a text each.
    pub(super) fn warnings(&self) -> Vec<String> {
        if !self.trusts_everybody() {
            return Vec::new();
        }
        let open = self.nbd.iter().filter(|address| is_open_to_others(address));
        let warning = |address| {
            format!(
                "warning: {address} is open to other machines: NBD has no password, and every \
                 client can read and overwrite the drive\n\
                 hint: --tls require --tls-verify-peer admits clients with a certificate, \
                 --read-only or --nbd-read-only keeps the data; tcp:127.0.0.1:PORT or unix:PATH \
                 is open to this machine alone"
            )
        };
        open.map(warning).collect()
    }
}

/// A warning when the socket file at `path` lets every user of this machine connect.
pub(super) fn warn_of_mode(path: &Path) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Clients that may write are on this machine or have a verified certificate.
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
            let places = DriveEndpoints {
                nbd: texts
                    .iter()
                    .map(|text| parse_address(text).expect("good"))
                    .collect(),
                read_only,
                tls,
                ..DriveEndpoints::default()
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
