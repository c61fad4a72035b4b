//! The handshake: bytes in, bytes out.

use super::wire::*;

/// Maximum number of options in one handshake.
const OPTIONS_MAX: u32 = 4096;

/// The offered drive and its name. The empty name selects it too.
#[derive(Debug, Clone)]
pub struct Export {
    /// Name of the export.
    pub name: String,
    /// Description, one line.
    pub description: String,
    /// Size in bytes.
    pub size: u64,
    /// Transmission flags without `SEND_DF`, which the handshake adds.
    pub flags: u16,
    /// Advertised smallest access in bytes. Smaller ones are served nevertheless.
    pub block_min: u32,
    /// Advertised preferred access in bytes.
    pub block_preferred: u32,
}

/// The agreement that a handshake ends with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NbdSession {
    /// Whether replies are structured.
    pub structured: bool,
    /// Whether headers are extended, of requests and of structured replies.
    pub extended: bool,
    /// Whether the client selected each of [`CONTEXTS`].
    pub contexts: [bool; 2],
}

/// Whether clients may or must encrypt the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encryption {
    /// Not offered.
    #[default]
    Off,
    /// Up to the client.
    Offered,
    /// Nothing is said about the drive without.
    Required,
}

/// The next step after the bytes fed so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeStep {
    /// Send the queued bytes, then receive more.
    More,
    /// Send the queued bytes; the client begins TLS, and the handshake continues inside. Bytes
    /// received behind the last one consumed must not be fed.
    Encrypt,
    /// Send the queued bytes; requests follow.
    Transmit(NbdSession),
    /// Send the queued bytes, then disconnect for this reason.
    Close(&'static str),
}

enum HandshakeState {
    ClientFlags,
    Options,
    Skip { left: u32, option: u32 },
}

/// One client's handshake.
pub struct Handshake {
    export: Export,
    encryption: Encryption,
    is_encrypted: bool,
    state: HandshakeState,
    session: NbdSession,
    context_name: Option<String>,
    is_fixed: bool,
    no_zeroes: bool,
    options: u32,
    /// The option answered last, and the start of its replies in `out`.
    last: (u32, usize),
    /// Queued bytes to send.
    pub out: Vec<u8>,
}

impl Handshake {
    /// Begins a handshake and queues the server's greeting.
    pub fn new(export: Export, encryption: Encryption) -> Self {
        let mut out = Vec::with_capacity(256);
        out.extend(MAGIC.to_be_bytes());
        out.extend(OPTION_MAGIC.to_be_bytes());
        out.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        Self {
            export,
            encryption,
            is_encrypted: false,
            state: HandshakeState::ClientFlags,
            session: NbdSession::default(),
            context_name: None,
            is_fixed: false,
            no_zeroes: false,
            options: 0,
            last: (0, 0),
            out,
        }
    }

    /// Replaces the reply to the option that began transmission, of which nothing has been sent,
    /// by a refusal.
    pub fn refuse(&mut self, text: &str) -> HandshakeStep {
        let (option, start) = self.last;
        self.out.truncate(start);
        if option == OPT_EXPORT_NAME {
            return HandshakeStep::Close("this option cannot be refused in words");
        }
        self.answer(option, REP_ERR_POLICY, text.as_bytes());
        HandshakeStep::More
    }

    /// Consumes complete parts of `input`; returns the number of bytes consumed and the next step.
    /// Consumes no byte behind the end of the handshake.
    pub fn feed(&mut self, input: &[u8]) -> (usize, HandshakeStep) {
        let mut consumed = 0;
        loop {
            let (used, step) = self.step(&input[consumed..]);
            consumed += used;
            if used == 0 || step != HandshakeStep::More {
                return (consumed, step);
            }
        }
    }

    fn step(&mut self, input: &[u8]) -> (usize, HandshakeStep) {
        match self.state {
            HandshakeState::ClientFlags => self.client_flags(input),
            HandshakeState::Options => self.option(input),
            HandshakeState::Skip { left, option } => {
                let used = input.len().min(left as usize);
                let remaining = left - used as u32;
                self.state = HandshakeState::Skip {
                    left: remaining,
                    option,
                };
                if remaining == 0 {
                    self.state = HandshakeState::Options;
                    self.answer(option, REP_ERR_TOO_BIG, b"the data is too long");
                }
                (used, HandshakeStep::More)
            }
        }
    }

    fn client_flags(&mut self, input: &[u8]) -> (usize, HandshakeStep) {
        let Some(flags) = WireReader(input).u32() else {
            return (0, HandshakeStep::More);
        };
        if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return (4, HandshakeStep::Close("unknown client flags"));
        }
        self.is_fixed = flags & u32::from(FIXED_NEWSTYLE) != 0;
        self.no_zeroes = flags & u32::from(NO_ZEROES) != 0;
        self.state = HandshakeState::Options;
        (4, HandshakeStep::More)
    }

    fn option(&mut self, input: &[u8]) -> (usize, HandshakeStep) {
        let mut bytes = WireReader(input);
        let head = (bytes.u64(), bytes.u32(), bytes.u32());
        let (Some(magic), Some(option), Some(length)) = head else {
            return (0, HandshakeStep::More);
        };
        if magic != OPTION_MAGIC {
            return (
                16,
                HandshakeStep::Close("an option has the wrong magic number"),
            );
        }
        if !self.is_fixed && option != OPT_EXPORT_NAME {
            return (
                16,
                HandshakeStep::Close("this option requires fixed newstyle"),
            );
        }
        if length > OPTION_MAX {
            if option == OPT_EXPORT_NAME {
                return (16, HandshakeStep::Close("the export name is too long"));
            }
            self.state = HandshakeState::Skip {
                left: length,
                option,
            };
            return (16, HandshakeStep::More);
        }
        let Some(body) = bytes.take(length as usize) else {
            return (0, HandshakeStep::More);
        };
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return (16, HandshakeStep::Close("too many options"));
        }
        let step = self.run(option, body);
        (16 + length as usize, step)
    }

    fn run(&mut self, option: u32, body: &[u8]) -> HandshakeStep {
        self.last = (option, self.out.len());
        let is_bare = self.encryption == Encryption::Required && !self.is_encrypted;
        match option {
            OPT_EXPORT_NAME if self.session.extended => {
                return HandshakeStep::Close("with extended headers, GO begins transmission");
            }
            OPT_EXPORT_NAME if is_bare => return HandshakeStep::Close("TLS is required"),
            OPT_ABORT | OPT_STARTTLS => {}
            _ if is_bare => {
                self.answer(option, REP_ERR_TLS_REQD, b"TLS is required");
                return HandshakeStep::More;
            }
            _ => {}
        }
        match option {
            OPT_EXPORT_NAME => return self.export_name(body),
            OPT_ABORT => {
                self.answer(option, REP_ACK, &[]);
                return HandshakeStep::Close("the client ended the handshake");
            }
            OPT_LIST => self.list(body),
            OPT_INFO | OPT_GO => return self.info(option, body),
            OPT_STRUCTURED_REPLY | OPT_EXTENDED_HEADERS if !body.is_empty() => {
                self.answer(option, REP_ERR_INVALID, b"takes no data");
            }
            OPT_EXTENDED_HEADERS if self.session.extended => {
                self.answer(option, REP_ERR_INVALID, b"headers are extended already");
            }
            OPT_EXTENDED_HEADERS => {
                (self.session.extended, self.session.structured) = (true, true);
                self.answer(option, REP_ACK, &[]);
            }
            OPT_STRUCTURED_REPLY if self.session.extended => {
                let why = b"headers are extended already";
                self.answer(option, REP_ERR_EXT_HEADER_REQD, why);
            }
            OPT_STRUCTURED_REPLY => {
                self.session.structured = true;
                self.answer(option, REP_ACK, &[]);
            }
            OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT => self.contexts(option, body),
            OPT_STARTTLS => return self.start_tls(body),
            _ => self.answer(option, REP_ERR_UNSUP, b"not supported"),
        }
        HandshakeStep::More
    }

    /// Whatever was agreed without TLS is void: it may not be what the client said.
    fn start_tls(&mut self, body: &[u8]) -> HandshakeStep {
        let (kind, text) = match self.encryption {
            _ if !body.is_empty() => (REP_ERR_INVALID, "takes no data"),
            Encryption::Off => (REP_ERR_POLICY, "TLS is not offered"),
            _ if self.is_encrypted => (REP_ERR_INVALID, "TLS has begun already"),
            _ => (REP_ACK, ""),
        };
        self.answer(OPT_STARTTLS, kind, text.as_bytes());
        if kind != REP_ACK {
            return HandshakeStep::More;
        }
        self.is_encrypted = true;
        self.session = NbdSession::default();
        self.context_name = None;
        HandshakeStep::Encrypt
    }

    fn answer(&mut self, option: u32, kind: u32, body: &[u8]) {
        self.out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
        self.out.extend(option.to_be_bytes());
        self.out.extend(kind.to_be_bytes());
        self.out.extend((body.len() as u32).to_be_bytes());
        self.out.extend(body);
    }

    fn is_ours(&self, name: &str) -> bool {
        name.is_empty() || name == self.export.name
    }

    fn flags(&self) -> u16 {
        let df = if self.session.structured { SEND_DF } else { 0 };
        self.export.flags | df
    }

    fn transmit(&mut self, name: &str) -> HandshakeStep {
        if self
            .context_name
            .as_deref()
            .is_some_and(|selected| selected != name)
        {
            self.session.contexts = [false; 2];
        }
        HandshakeStep::Transmit(self.session.clone())
    }

    fn export_name(&mut self, body: &[u8]) -> HandshakeStep {
        let name = std::str::from_utf8(body)
            .ok()
            .filter(|name| self.is_ours(name));
        let Some(name) = name else {
            return HandshakeStep::Close("unknown export");
        };
        self.out.extend(self.export.size.to_be_bytes());
        self.out.extend(self.flags().to_be_bytes());
        if !self.no_zeroes {
            self.out.extend([0; 124]);
        }
        self.transmit(name)
    }

    fn list(&mut self, body: &[u8]) {
        if !body.is_empty() {
            return self.answer(OPT_LIST, REP_ERR_INVALID, b"takes no data");
        }
        let mut entry = (self.export.name.len() as u32).to_be_bytes().to_vec();
        entry.extend(self.export.name.as_bytes());
        entry.extend(self.export.description.as_bytes());
        self.answer(OPT_LIST, REP_SERVER, &entry);
        self.answer(OPT_LIST, REP_ACK, &[]);
    }

    fn info(&mut self, option: u32, body: &[u8]) -> HandshakeStep {
        let Some((name, asked)) = parse_info(body) else {
            self.answer(option, REP_ERR_INVALID, b"inconsistent lengths in the data");
            return HandshakeStep::More;
        };
        if !self.is_ours(name) {
            self.answer(option, REP_ERR_UNKNOWN, b"unknown export");
            return HandshakeStep::More;
        }
        let mut export = INFO_EXPORT.to_be_bytes().to_vec();
        export.extend(self.export.size.to_be_bytes());
        export.extend(self.flags().to_be_bytes());
        self.answer(option, REP_INFO, &export);
        let mut sizes = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
        for size in [
            self.export.block_min,
            self.export.block_preferred,
            PAYLOAD_MAX,
        ] {
            sizes.extend(size.to_be_bytes());
        }
        self.answer(option, REP_INFO, &sizes);
        for (kind, text) in [
            (INFO_NAME, self.export.name.clone()),
            (INFO_DESCRIPTION, self.export.description.clone()),
        ] {
            if asked.contains(&kind) {
                let mut info = kind.to_be_bytes().to_vec();
                info.extend(text.as_bytes());
                self.answer(option, REP_INFO, &info);
            }
        }
        self.answer(option, REP_ACK, &[]);
        if option == OPT_GO {
            self.transmit(name)
        } else {
            HandshakeStep::More
        }
    }

    fn contexts(&mut self, option: u32, body: &[u8]) {
        let is_set = option == OPT_SET_META_CONTEXT;
        if is_set {
            self.session.contexts = [false; 2];
            self.context_name = None;
        }
        if !self.session.structured {
            return self.answer(
                option,
                REP_ERR_INVALID,
                b"requires structured replies first",
            );
        }
        let Some((name, queries)) = parse_contexts(body) else {
            return self.answer(option, REP_ERR_INVALID, b"inconsistent lengths in the data");
        };
        if !self.is_ours(name) {
            return self.answer(option, REP_ERR_UNKNOWN, b"unknown export");
        }
        for (index, context) in CONTEXTS.iter().enumerate() {
            let names_it = |query: &&str| {
                let is_group = !is_set && query.ends_with(':');
                query == context || is_group && context.starts_with(*query)
            };
            if queries.iter().any(names_it) || !is_set && queries.is_empty() {
                let number = if is_set { index as u32 + 1 } else { 0 };
                let mut context_reply = number.to_be_bytes().to_vec();
                context_reply.extend(context.as_bytes());
                self.answer(option, REP_META_CONTEXT, &context_reply);
                self.session.contexts[index] |= is_set;
            }
        }
        if is_set {
            self.context_name = Some(name.to_string());
        }
        self.answer(option, REP_ACK, &[]);
    }
}

fn parse_info(body: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut bytes = WireReader(body);
    let name = bytes.string()?;
    let count = bytes.u16()?;
    let info_types = (0..count)
        .map(|_| bytes.u16())
        .collect::<Option<Vec<_>>>()?;
    bytes.0.is_empty().then_some((name, info_types))
}

fn parse_contexts(body: &[u8]) -> Option<(&str, Vec<&str>)> {
    let mut bytes = WireReader(body);
    let name = bytes.string()?;
    let count = bytes.u32()?;
    // A query takes at least four bytes, so the body bounds the number of queries.
    if count as usize > bytes.0.len() / 4 {
        return None;
    }
    let queries = (0..count)
        .map(|_| bytes.string())
        .collect::<Option<Vec<_>>>()?;
    bytes.0.is_empty().then_some((name, queries))
}

#[cfg(test)]
mod tests;
