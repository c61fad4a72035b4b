//! TLS by certificates: the folder that nbdkit, qemu and libnbd use, and an encrypted stream.
//!
//! TLS 1.3 alone. Keys shared in advance (`tls-psk`) are left out: rustls has none.

use super::handshake::Encryption;
use super::polled::PollingStream;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::fmt;
use std::io::{self, BufReader, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Bytes received in one read: several records of 16 KiB.
const READ_BYTES: usize = 64 << 10;

/// The certificates that a client's must descend from.
const CA_CERT: &str = "ca-cert.pem";
/// Certificates that are no longer valid; need not exist.
const CA_CRL: &str = "ca-crl.pem";
/// The server's certificate, and those between it and what clients know.
const SERVER_CERT: &str = "server-cert.pem";
/// The server's private key.
const SERVER_KEY: &str = "server-key.pem";

/// The reason why a folder of certificates cannot be used.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file is missing, or not what its name says.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The files do not fit each other.
    #[error("{}: {why}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The server's certificate, and what it asks of clients.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    /// Whether clients without TLS are refused.
    pub is_required: bool,
    /// Whether clients need a certificate.
    pub verifies_clients: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("is_required", &self.is_required)
            .field("verifies_clients", &self.verifies_clients)
            .finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads `server-cert.pem` and `server-key.pem` in `folder`. With `verifies_clients`, clients
    /// need a certificate by an authority in `ca-cert.pem` that is not in `ca-crl.pem`, if that
    /// exists.
    ///
    /// # Errors
    /// When a file cannot be read, or they do not fit each other.
    pub fn from_folder(
        folder: &Path,
        is_required: bool,
        verifies_clients: bool,
    ) -> Result<Self, TlsError> {
        let misfit = |why: rustls::Error| TlsError::Folder {
            folder: folder.to_path_buf(),
            why: why.to_string(),
        };
        let provider = Arc::new(ring::default_provider());
        let chain = certificates(&folder.join(SERVER_CERT))?;
        let path = folder.join(SERVER_KEY);
        let key = PrivateKeyDer::from_pem_file(&path).map_err(|error| bad(&path, error))?;
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(misfit)?;
        let builder = if verifies_clients {
            builder.with_client_cert_verifier(verifier(folder, provider)?)
        } else {
            builder.with_no_client_auth()
        };
        let mut config = builder.with_single_cert(chain, key).map_err(misfit)?;
        // Connections last, and clients do not resume them.
        config.send_tls13_tickets = 0;
        Ok(Self {
            config: Arc::new(config),
            is_required,
            verifies_clients,
        })
    }

    pub(super) fn encryption(&self) -> Encryption {
        if self.is_required {
            Encryption::Required
        } else {
            Encryption::Offered
        }
    }

    /// Runs the handshake of TLS on a stream.
    pub(super) fn accept<'a>(&self, stream: PollingStream<'a>) -> io::Result<TlsConnection<'a>> {
        let mut connection =
            ServerConnection::new(self.config.clone()).map_err(io::Error::other)?;
        let mut stream = BufferedSocket(BufReader::with_capacity(READ_BYTES, stream));
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(TlsConnection(StreamOwned::new(connection, stream)))
    }
}

fn bad(path: &Path, error: PemError) -> TlsError {
    let why = match error {
        PemError::Io(error) => error.to_string(),
        PemError::NoItemsFound => "holds nothing of the kind in PEM format".to_string(),
        error => error.to_string(),
    };
    TlsError::File {
        path: path.to_path_buf(),
        why,
    }
}

/// All items of a kind in a file, at least one.
fn all<T: PemObject>(path: &Path) -> Result<Vec<T>, TlsError> {
    let items = T::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match items {
        Ok(items) if items.is_empty() => Err(bad(path, PemError::NoItemsFound)),
        items => items.map_err(|error| bad(path, error)),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    all(path)
}

fn verifier(
    folder: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, TlsError> {
    let path = folder.join(CA_CERT);
    let wrong = |why: String| TlsError::File {
        path: path.clone(),
        why,
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&path)? {
        let added = roots.add(certificate);
        added.map_err(|error| wrong(error.to_string()))?;
    }
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let path = folder.join(CA_CRL);
    if path.exists() {
        let lists: Vec<CertificateRevocationListDer<'static>> = all(&path)?;
        builder = builder.with_crls(lists);
    }
    builder.build().map_err(|error| wrong(error.to_string()))
}

/// An encrypted connection.
pub(super) struct TlsConnection<'a>(StreamOwned<ServerConnection, BufferedSocket<'a>>);

impl TlsConnection<'_> {
    /// Announces the end of the connection.
    pub fn close(mut self) {
        self.0.conn.send_close_notify();
        // The client may be gone.
        let _ = self.0.flush();
    }
}

impl Read for TlsConnection<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for TlsConnection<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A stream with a buffer for what it receives.
struct BufferedSocket<'a>(BufReader<PollingStream<'a>>);

impl Read for BufferedSocket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl Write for BufferedSocket<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(from)
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.get_mut().write_vectored(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}
