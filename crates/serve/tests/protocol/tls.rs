//! Encrypted connections, with certificates that openssl makes and rustls as the client.

use crate::client::{Client, greet, haggle};
use crate::nbd::{Bench, SIZE, bench_with, wait_until};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use ssdlab_serve::nbd::wire::*;
use ssdlab_serve::nbd::{NbdOptions, Tls};
use ssdlab_serve::{MemoryStore, ServerLog, SocketStream};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Makes in `folder` an authority of that name, and certificates of a server and a client by it.
fn make_certificates(folder: &Path, name: &str) -> io::Result<()> {
    let made = Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/make_certificates.sh"))
        .args([folder.as_os_str(), name.as_ref()])
        .output()?;
    if made.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&made.stderr)))
    }
}

/// Folders `ours` and `theirs`, each with an authority of its own; `None` without openssl.
fn certificates() -> Option<tempfile::TempDir> {
    if Command::new("openssl").arg("version").output().is_err() {
        ssdlab_skips::skip("openssl is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["ours", "theirs"] {
        make_certificates(&folder.path().join(name), name).unwrap();
    }
    Some(folder)
}

fn serve(tls: Tls, log: ServerLog) -> Bench {
    let options = NbdOptions {
        tls: Some(tls),
        log,
        ..NbdOptions::default()
    };
    bench_with(MemoryStore::new(SIZE, 4096), options)
}

type Encrypted = StreamOwned<ClientConnection, SocketStream>;

/// Begins TLS; trusts the authority in `trusted` and shows the certificate in `own`.
fn encrypt(mut stream: SocketStream, trusted: &Path, own: Option<&Path>) -> io::Result<Encrypted> {
    assert_eq!(haggle(&mut stream, OPT_STARTTLS, &[])[0].0, REP_ACK);
    let certificate = |path| CertificateDer::from_pem_file(path).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate(trusted.join("ca-cert.pem"))).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::from_pem_file(own.join("client-key.pem")).unwrap();
            let chain = vec![certificate(own.join("client-cert.pem"))];
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// Begins transmission, writes, reads and compares; the server may have hung up.
fn works(stream: &mut Encrypted) -> io::Result<()> {
    let request = |command| NbdRequest {
        flags: 0,
        command,
        cookie: 1,
        offset: 1 << 20,
        length: 3 << 20,
    };
    let sent: Vec<u8> = (0..3 << 20).map(|n: u32| (n / 7) as u8).collect();
    stream.write_all(&option(OPT_EXPORT_NAME, b"drive"))?;
    let mut properties = [0; 10];
    stream.read_exact(&mut properties)?;
    assert_eq!(properties[..8], SIZE.to_be_bytes());
    stream.write_all(&request(CMD_WRITE).encode())?;
    stream.write_all(&sent)?;
    stream.read_exact(&mut [0; 16])?;
    stream.write_all(&request(CMD_READ).encode())?;
    stream.read_exact(&mut [0; 16])?;
    let mut read = vec![0; sent.len()];
    stream.read_exact(&mut read)?;
    assert!(read == sent);
    Ok(())
}

#[test]
fn what_is_written_inside_tls_is_read_inside_and_outside() {
    let Some(folder) = certificates() else {
        return;
    };
    let ours = folder.path().join("ours");
    let tls = Tls::from_folder(&ours, false, false).unwrap();
    let bench = serve(tls, ServerLog::default());
    let mut stream = encrypt(greet(bench.server.address()), &ours, None).unwrap();
    works(&mut stream).unwrap();
    let mut plain = Client::go(bench.server.address(), true);
    assert_eq!(
        plain.read(0, 1 << 20, 9),
        Ok(vec![0, 0, 0, 0, 0, 0, 0, 1, 1])
    );
    // A client that does not trust the server ends it.
    let theirs = folder.path().join("theirs");
    assert!(encrypt(greet(bench.server.address()), &theirs, None).is_err());
    let pause = Some(Duration::from_millis(50));
    stream.sock.set_read_timeout(pause).unwrap();
    let silent = stream.read(&mut [0; 9]).unwrap_err();
    assert_eq!(silent.kind(), io::ErrorKind::WouldBlock, "it may be silent");
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    drop(stream);
    drop(plain);
    wait_until(|| bench.server.client_count() == 0);
}

#[test]
fn a_server_that_requires_certificates_serves_nobody_else() {
    let Some(folder) = certificates() else {
        return;
    };
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    let tls = Tls::from_folder(&ours, true, true).unwrap();
    let lines = Arc::new(Mutex::new(String::new()));
    let kept = lines.clone();
    let log = ServerLog::new(move |line| *kept.lock().unwrap() += line);
    let bench = serve(tls, log);
    let address = bench.server.address();
    let mut plain = greet(address);
    for number in [OPT_GO, OPT_LIST, OPT_INFO] {
        assert_eq!(haggle(&mut plain, number, &[0; 6])[0].0, REP_ERR_TLS_REQD);
    }
    for own in [None, Some(theirs.as_path())] {
        // The server's objection may arrive after the client's side is complete.
        let refused = encrypt(greet(address), &ours, own).and_then(|mut it| works(&mut it));
        assert!(refused.is_err(), "{own:?}");
    }
    wait_until(|| lines.lock().unwrap().contains("TLS failed"));
    works(&mut encrypt(greet(address), &ours, Some(&ours)).unwrap()).unwrap();
}

/// What waits behind STARTTLS in the clear may be somebody else's: it ends the connection.
#[test]
fn nothing_is_carried_from_outside_into_tls() {
    let Some(folder) = certificates() else {
        return;
    };
    let tls = Tls::from_folder(&folder.path().join("ours"), true, false).unwrap();
    let bench = serve(tls, ServerLog::default());
    let mut stream = greet(bench.server.address());
    let both = [option(OPT_STARTTLS, &[]), option(OPT_GO, &[0; 6])].concat();
    stream.write_all(&both).unwrap();
    let mut rest = Vec::new();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // Unread bytes make the end of the connection a reset.
    let ended = stream.read_to_end(&mut rest).map_err(|error| error.kind());
    assert_ne!(ended, Err(io::ErrorKind::WouldBlock), "it goes on");
    assert_eq!(rest.len(), 20, "the answer to STARTTLS and nothing more");
}

/// Whatever comes in place of TLS, inside it, or of it in part: the next client is served.
#[test]
fn a_running_server_survives_what_is_no_tls() {
    let Some(folder) = certificates() else {
        return;
    };
    let ours = folder.path().join("ours");
    let bench = serve(
        Tls::from_folder(&ours, true, false).unwrap(),
        ServerLog::default(),
    );
    let address = bench.server.address();
    for round in 0..60_u32 {
        let noise: Vec<u8> = (0..round * 40)
            .map(|n| (n.wrapping_mul(2_654_435_761).wrapping_add(round) >> 13) as u8)
            .collect();
        // A record's head makes some of it look like a handshake, or like data.
        let head: &[u8] =
            [&b"\x16\x03\x01\x01\x00"[..], b"\x17\x03\x03\x40\x00", b""][round as usize % 3];
        if round % 2 == 0 {
            let mut stream = greet(address);
            haggle(&mut stream, OPT_STARTTLS, &[]);
            let _ = stream.write_all(&[head, &noise].concat());
        } else {
            let mut stream = encrypt(greet(address), &ours, None).unwrap();
            let _ = stream.write_all(&noise);
            let _ = stream.sock.write_all(&[head, &noise].concat());
        }
    }
    works(&mut encrypt(greet(address), &ours, None).unwrap()).unwrap();
    wait_until(|| bench.server.client_count() <= 1);
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_by_name() {
    let Some(folder) = certificates() else {
        return;
    };
    let ours = folder.path().join("ours");
    let refused = |part: &str, verify| {
        let error = Tls::from_folder(&ours, true, verify)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    };
    let key = std::fs::read(ours.join("server-key.pem")).unwrap();
    let other = folder.path().join("theirs/server-key.pem");
    std::fs::copy(other, ours.join("server-key.pem")).unwrap();
    refused("ours: ", false);
    std::fs::write(ours.join("server-key.pem"), "no key").unwrap();
    refused("server-key.pem: holds nothing of the kind", false);
    std::fs::write(ours.join("server-key.pem"), key).unwrap();
    std::fs::write(ours.join("ca-crl.pem"), "no list").unwrap();
    refused("ca-crl.pem: ", true);
    std::fs::remove_file(ours.join("ca-crl.pem")).unwrap();
    std::fs::remove_file(ours.join("ca-cert.pem")).unwrap();
    refused("ca-cert.pem: ", true);
    Tls::from_folder(&ours, true, false).unwrap();
    std::fs::remove_file(ours.join("server-cert.pem")).unwrap();
    refused("server-cert.pem: ", false);
}
