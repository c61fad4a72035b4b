//! The control socket of the power switch: JSON lines over a unix socket, one request a line.
//!
//! `{"do": "off"}`, `{"do": "on"}`, `{"do": "status"}`, `{"do": "disarm"}`, and
//! `{"do": "cut-when", "at": {"flush": {"nth": 3, "side": "inside"}}, "wait": true}`. The
//! answer to each is a line `{"ok": true, "event": ..., "status": {...}}` once it has happened, or
//! `{"ok": false, "error": ...}`. A `cut-when` with `wait` has two answers: one when it is armed,
//! one when the power was cut.

use crate::clients::{ClientLimits, ClientListener, ConnectedClient};
use crate::log::ServerLog;
use crate::power::{CutMoment, PowerControl, PowerError, PowerStatus};
use crate::socket::{Address, SocketStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of a line in bytes.
const LINE_MAX: u64 = 64 << 10;
/// How many clients there may be at once. One that has asked for something keeps its place; of
/// those that have not, the oldest goes for a new one. A program may connect long before it asks.
const LIMITS: ClientLimits = ClientLimits {
    clients: 256,
    reserve: 0,
    waiting: 64,
    begin_within: None,
};
/// Interval at which a thread that waits for a cut checks whether server and client are there.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// A request to the power switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControlRequest {
    /// Cut the power now.
    Off {},
    /// Restore the power; answered when the drive has recovered.
    On {},
    /// Report the status of the drive.
    Status {},
    /// Cancel the armed cut.
    Disarm {},
    /// Cut the power at a later moment.
    CutWhen {
        /// The moment.
        at: CutMoment,
        /// Whether to send a second answer when the cut has happened.
        #[serde(default)]
        wait: bool,
    },
}

/// An answer of the power switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ControlReply {
    /// Whether the request succeeded.
    pub ok: bool,
    /// The event that happened: `off`, `on`, `status`, `disarmed`, `armed`, `cut`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(extend("enum" = ["off", "on", "status", "disarmed", "armed", "cut"]))]
    pub event: Option<String>,
    /// The reason for the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Status of the drive afterwards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<PowerStatus>,
}

impl ControlReply {
    fn of(event: &str, result: Result<PowerStatus, PowerError>) -> Self {
        match result {
            Ok(status) => {
                let event = Some(event.to_string());
                Self {
                    ok: true,
                    event,
                    error: None,
                    status: Some(status),
                }
            }
            Err(error) => Self::no(error.to_string()),
        }
    }

    fn no(error: String) -> Self {
        Self {
            ok: false,
            event: None,
            error: Some(error),
            status: None,
        }
    }
}

/// Runs one line and returns the first answer. If the request asks for a second answer, also
/// returns the number of cuts so far, which that answer must exceed.
pub fn run_line(power: &dyn PowerControl, line: &str) -> (ControlReply, Option<u64>) {
    let ask = match serde_json::from_str::<ControlRequest>(line) {
        Ok(ask) => ask,
        Err(error) => {
            let hint = r#"hint: {"do": "off"}, "on", "status", "disarm" or "cut-when""#;
            return (
                ControlReply::no(format!("not a request: {error}\n{hint}")),
                None,
            );
        }
    };
    match ask {
        ControlRequest::Off {} => (ControlReply::of("off", power.off()), None),
        ControlRequest::On {} => (ControlReply::of("on", power.on()), None),
        ControlRequest::Status {} => (ControlReply::of("status", Ok(power.status())), None),
        ControlRequest::Disarm {} => (ControlReply::of("disarmed", power.cut_when(None)), None),
        ControlRequest::CutWhen { at, wait } => {
            let cuts = power.status().cuts;
            let answer = ControlReply::of("armed", power.cut_when(Some(at)));
            let until = (wait && answer.ok).then_some(cuts);
            (answer, until)
        }
    }
}

/// A server of the control socket that runs until it is stopped or dropped.
pub struct ControlServer {
    listening: ClientListener,
}

impl ControlServer {
    /// Serves the switch `power` at the unix socket `path`.
    ///
    /// # Errors
    /// When the socket cannot be created.
    pub fn start(power: Arc<dyn PowerControl>, path: &Path) -> io::Result<Self> {
        let address = Address::Unix(path.to_path_buf());
        let client = move |guest: ConnectedClient| {
            let _ = serve(power.as_ref(), &guest);
        };
        let listening =
            ClientListener::start(&address, "control", LIMITS, ServerLog::default(), client)?;
        Ok(Self { listening })
    }

    /// Disconnects all clients and waits for their threads.
    pub fn stop(&mut self) {
        self.listening.stop();
    }
}

fn serve(power: &dyn PowerControl, guest: &ConnectedClient) -> io::Result<()> {
    let stream = guest.stream();
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut reader).take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == LINE_MAX {
            let no = ControlReply::no(format!("a line of more than {LINE_MAX} bytes"));
            return send(stream, &no);
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        if let Err(why) = guest.admit() {
            return send(stream, &ControlReply::no(why));
        }
        guest.begin();
        let (answer, until) = run_line(power, &text);
        send(stream, &answer)?;
        let Some(cuts) = until else {
            continue;
        };
        while !power.wait_for_cut(cuts, STOP_CHECK) {
            if guest.is_stopping() || stream.is_closed() {
                return Ok(());
            }
        }
        send(stream, &ControlReply::of("cut", Ok(power.status())))?;
    }
}

fn send(mut writer: &SocketStream, answer: &ControlReply) -> io::Result<()> {
    let mut line = serde_json::to_string(answer).map_err(io::Error::other)?;
    line.push('\n');
    writer.write_all(line.as_bytes())
}

/// Sends a request to the switch at the socket `path` and calls `next` with each answer.
///
/// # Errors
/// When the socket fails, or the answer is not one.
pub fn ask(
    path: &Path,
    ask: &ControlRequest,
    mut next: impl FnMut(ControlReply),
) -> io::Result<()> {
    let mut stream = SocketStream::connect(&Address::Unix(path.to_path_buf()))?;
    let mut line = serde_json::to_string(ask).map_err(io::Error::other)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let answers = if matches!(ask, ControlRequest::CutWhen { wait: true, .. }) {
        2
    } else {
        1
    };
    let mut reader = BufReader::new(stream);
    for _ in 0..answers {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let answer: ControlReply = serde_json::from_str(&line).map_err(io::Error::other)?;
        let is_over = !answer.ok;
        next(answer);
        if is_over {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::FlushSide;
    use crate::{MemoryStore, Store};

    #[test]
    fn the_answer_arrives_when_it_has_happened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let drive = Arc::new(MemoryStore::new(1 << 20, 4096));
        let _server = ControlServer::start(drive.clone(), &path).unwrap();
        let at = CutMoment::Flush {
            nth: 1,
            side: FlushSide::Inside,
        };
        let mut events = Vec::new();
        let when = ControlRequest::CutWhen { at, wait: true };
        ask(&path, &when, |answer| {
            let powered = answer.status.as_ref().unwrap().powered;
            events.push((answer.event.clone().unwrap(), powered));
            if answer.event.as_deref() == Some("armed") {
                assert!(drive.flush().is_err());
            }
        })
        .unwrap();
        assert_eq!(
            events,
            [("armed".to_string(), true), ("cut".to_string(), false)]
        );
        ask(&path, &ControlRequest::On {}, |answer| {
            assert!(answer.status.unwrap().powered)
        })
        .unwrap();
        assert!(drive.is_powered());
    }

    /// 64 silent connections once locked everybody out; so did clients that waited for a cut, and
    /// went, for as long as the power stayed on.
    #[test]
    fn neither_silent_nor_absent_clients_lock_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("control");
        let drive = Arc::new(MemoryStore::new(1 << 20, 4096));
        let server = ControlServer::start(drive.clone(), &path).unwrap();
        let address = Address::Unix(path.clone());
        let connect = || SocketStream::connect(&address).unwrap();
        let silent: Vec<SocketStream> = (0..100).map(|_| connect()).collect();
        let at = CutMoment::Flush {
            nth: 1,
            side: FlushSide::Before,
        };
        let wait = ControlRequest::CutWhen { at, wait: true };
        let line = serde_json::to_string(&wait).unwrap() + "\n";
        let wait_for_cut = || {
            let mut stream = connect();
            stream.write_all(line.as_bytes()).unwrap();
            assert!(stream.read(&mut [0; 1000]).unwrap() > 0, "armed");
            stream
        };
        for _ in 0..LIMITS.clients {
            drop(wait_for_cut());
        }
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while server.listening.client_count() > LIMITS.waiting {
            assert!(std::time::Instant::now() < until, "absent, and counted");
            std::thread::sleep(Duration::from_millis(5));
        }
        ask(&path, &ControlRequest::Status {}, |answer| {
            assert!(answer.ok)
        })
        .unwrap();
        drop(silent);
        // Clients that asked keep their places, and the next one is answered.
        let _patient: Vec<SocketStream> = (0..LIMITS.clients).map(|_| wait_for_cut()).collect();
        ask(&path, &ControlRequest::Status {}, |answer| {
            assert_eq!(answer.error.unwrap(), "all 256 connections are in use");
        })
        .unwrap();
    }

    #[test]
    fn a_malformed_line_is_refused_with_a_hint() {
        let drive = MemoryStore::new(1 << 20, 4096);
        for line in [
            "",
            "{}",
            "[]",
            r#"{"do": "explode"}"#,
            r#"{"do": "off", "x": 1}"#,
        ] {
            let (answer, _) = run_line(&drive, line);
            assert!(
                !answer.ok && answer.error.unwrap().contains("hint:"),
                "{line}"
            );
        }
        let line = r#"{"do": "cut-when", "at": {"nand-op": {"nth": 4}}}"#;
        let (answer, _) = run_line(&drive, line);
        assert!(answer.error.unwrap().contains("NAND operation"));
        assert!(drive.is_powered());
    }
}
