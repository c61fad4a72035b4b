//! What people type to use a served drive over NBD.

use super::places::TlsPlan;
use ssdlab_serve::Address;
use std::path::Path;

/// Name of the NBD export.
pub const EXPORT: &str = "drive";

/// Adds the lines for one address. `reads`: its clients can only read.
pub fn attach_nbd(address: &Address, reads: bool, tls: Option<&TlsPlan>, lines: &mut Vec<String>) {
    let (only, flag, on) = if reads {
        (", read-only", "-readonly ", ",readonly=on")
    } else {
        ("", "", "")
    };
    let tls = tls.filter(|tls| tls.required);
    let with_tls = |joint: char| match tls {
        Some(_) => format!("{joint}tls-certificates=DIR"),
        None => String::new(),
    };
    let scheme = if tls.is_some() { "nbds" } else { "nbd" };
    lines.push(format!("nbd   {address}{only}"));
    let (uri, client, qemu) = match address {
        Address::Unix(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let and = with_tls('&');
            let socket = in_uri(&path);
            let path = path.display();
            (
                format!("{scheme}+unix:///{EXPORT}?socket={socket}{and}"),
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
             -blockdev driver=nbd,node-name=d,{qemu},export={EXPORT},tls-creds=tls{on} ..."
        ));
        return;
    }
    lines.push(format!("  nbd-client {client} {flag}-N {EXPORT} /dev/nbd0"));
    lines.push(format!(
        "  qemu-system-x86_64 -drive 'file={uri},format=raw,if=virtio{on}' ..."
    ));
}

/// Adds the lines for a virtio disk. The guest's memory must be shared with this process.
pub fn attach_vhost_user(path: &Path, lines: &mut Vec<String>) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.display();
    lines.push(format!("vhost-user {path}"));
    lines.push(format!(
        "  qemu-system-x86_64 -m 512M -object memory-backend-memfd,id=m,size=512M,share=on \
         -numa node,memdev=m -chardev socket,id=c,path={path},reconnect=1 \
         -device vhost-user-blk-pci,chardev=c ..."
    ));
}

/// A path as part of a URI.
fn in_uri(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A space or a quote once made a line that could not be used.
    #[test]
    fn any_path_can_be_attached_to() {
        let mut lines = Vec::new();
        attach_nbd(
            &Address::Unix("/it's a/dr&ve".into()),
            false,
            None,
            &mut lines,
        );
        let uri = "nbd+unix:///drive?socket=/it%27s%20a/dr%26ve";
        assert_eq!(lines[1], format!("  nbdinfo '{uri}'"));
    }
}
