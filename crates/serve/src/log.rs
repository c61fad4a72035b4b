//! The log of a server: what it did to clients that it turned away.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Receives a line of a server's log.
type LogLineSink = Box<dyn Fn(&str) + Send + Sync>;

/// A server's log, discarded by default. Of events of one kind it has the first, second,
/// fourth, eighth and so on, with their number: a client that provokes them cannot fill it.
#[derive(Clone, Default)]
pub struct ServerLog(Arc<ServerLogState>);

#[derive(Default)]
struct ServerLogState {
    sink: Option<LogLineSink>,
    counts: [AtomicU64; ServerEvent::KINDS],
}

impl fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// An event in the life of a server.
pub(crate) enum ServerEvent<'a> {
    /// A client did not begin within that time.
    Late(Duration),
    /// A client that had not begun made room for a new one; that many may wait.
    Displaced(usize),
    /// A client was refused, for this reason.
    Refused(&'a str),
    /// A client with which no encrypted connection came to be, for this reason.
    #[cfg(feature = "tls")]
    Unencrypted(&'a str),
}

impl ServerEvent<'_> {
    const KINDS: usize = 4;

    fn kind(&self) -> usize {
        match self {
            ServerEvent::Late(_) => 0,
            ServerEvent::Displaced(_) => 1,
            ServerEvent::Refused(_) => 2,
            #[cfg(feature = "tls")]
            ServerEvent::Unencrypted(_) => 3,
        }
    }
}

impl fmt::Display for ServerEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerEvent::Late(within) => {
                let seconds = within.as_secs_f64();
                write!(f, "disconnected a client: no handshake within {seconds} s")
            }
            ServerEvent::Displaced(waiting) => write!(
                f,
                "disconnected the oldest of {waiting} clients without a handshake for a new one"
            ),
            ServerEvent::Refused(why) => write!(f, "refused a client: {why}"),
            #[cfg(feature = "tls")]
            ServerEvent::Unencrypted(why) => write!(f, "disconnected a client: TLS failed: {why}"),
        }
    }
}

impl ServerLog {
    /// A log whose lines go to `sink`.
    pub fn new(sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        ServerLog(Arc::new(ServerLogState {
            sink: Some(Box::new(sink)),
            ..ServerLogState::default()
        }))
    }

    /// Notes an event of the server at `name`.
    pub(crate) fn note(&self, name: impl fmt::Display, event: ServerEvent<'_>) {
        let count = self.0.counts[event.kind()].fetch_add(1, Ordering::Relaxed) + 1;
        let Some(sink) = self.0.sink.as_ref().filter(|_| count.is_power_of_two()) else {
            return;
        };
        match count {
            1 => sink(&format!("{name}: {event}")),
            _ => sink(&format!("{name}: {event} ({count} of these so far)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_client_cannot_fill_it() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = lines.clone();
        let log = ServerLog::new(move |line| kept.lock().unwrap().push(line.to_string()));
        for _ in 0..1000 {
            log.note("nbd", ServerEvent::Displaced(5));
        }
        log.note("nbd", ServerEvent::Refused("full"));
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 11, "1, 2, 4, .. 512, and another kind");
        assert!(lines[9].ends_with("(512 of these so far)"), "{}", lines[9]);
        assert_eq!(lines[10], "nbd: refused a client: full");
    }
}
