use super::*;

fn export() -> Export {
    Export {
        name: "drive".to_string(),
        description: "words".to_string(),
        size: 1 << 30,
        flags: HAS_FLAGS | SEND_FLUSH,
        block_min: 512,
        block_preferred: 4096,
    }
}

/// A handshake past the client's flags, its greeting forgotten.
fn begun() -> Handshake {
    let mut handshake = Handshake::new(export(), Encryption::Off);
    assert_eq!(
        handshake.feed(&3_u32.to_be_bytes()),
        (4, HandshakeStep::More)
    );
    handshake.out.clear();
    handshake
}

/// Kinds and bodies of the replies queued.
fn replies(handshake: &mut Handshake) -> Vec<(u32, Vec<u8>)> {
    let out = std::mem::take(&mut handshake.out);
    let (mut bytes, mut found) = (WireReader(&out), Vec::new());
    while let Some(magic) = bytes.u64() {
        assert_eq!(magic, OPTION_REPLY_MAGIC);
        bytes.u32().unwrap();
        let (kind, length) = (bytes.u32().unwrap(), bytes.u32().unwrap());
        found.push((kind, bytes.take(length as usize).unwrap().to_vec()));
    }
    found
}

fn ask(handshake: &mut Handshake, number: u32, body: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let bytes = option(number, body);
    assert_eq!(handshake.feed(&bytes).0, bytes.len());
    replies(handshake)
}

#[test]
fn one_byte_at_a_time_comes_to_the_same() {
    let mut bytes = 3_u32.to_be_bytes().to_vec();
    bytes.extend(option(OPT_STRUCTURED_REPLY, &[]));
    bytes.extend(option(
        OPT_SET_META_CONTEXT,
        &context_queries("", &["base:allocation", "x"]),
    ));
    bytes.extend(option(OPT_GO, &[0; 6]));
    let mut whole = Handshake::new(export(), Encryption::Off);
    let (taken, step) = whole.feed(&[bytes.clone(), b"request".to_vec()].concat());
    assert_eq!(taken, bytes.len(), "what follows is not the handshake's");
    let session = NbdSession {
        structured: true,
        extended: false,
        contexts: [true, false],
    };
    assert_eq!(step, HandshakeStep::Transmit(session));
    let mut slow = Handshake::new(export(), Encryption::Off);
    let (mut start, mut last) = (0, HandshakeStep::More);
    for end in 1..=bytes.len() {
        let (taken, step) = slow.feed(&bytes[start..end]);
        start += taken;
        last = step;
    }
    assert_eq!((last, slow.out), (step, whole.out));
}

#[test]
fn df_is_offered_with_structured_replies_only() {
    let mut handshake = begun();
    let flags = |found: &[(u32, Vec<u8>)]| u16::from_be_bytes([found[0].1[10], found[0].1[11]]);
    let found = ask(&mut handshake, OPT_INFO, &[0; 6]);
    assert_eq!(flags(&found) & SEND_DF, 0);
    ask(&mut handshake, OPT_STRUCTURED_REPLY, &[]);
    let found = ask(&mut handshake, OPT_INFO, &[0; 6]);
    assert_eq!(flags(&found) & SEND_DF, SEND_DF);
}

#[test]
fn contexts_need_structure_and_the_same_name() {
    let mut handshake = begun();
    let body = context_queries("", &CONTEXTS);
    let found = ask(&mut handshake, OPT_SET_META_CONTEXT, &body);
    assert_eq!(found[0].0, REP_ERR_INVALID);
    ask(&mut handshake, OPT_STRUCTURED_REPLY, &[]);
    let listed = ask(
        &mut handshake,
        OPT_LIST_META_CONTEXT,
        &context_queries("", &["base:"]),
    );
    assert_eq!(
        listed[0],
        (REP_META_CONTEXT, [&[0; 4], CONTEXTS[0].as_bytes()].concat())
    );
    assert_eq!(
        ask(
            &mut handshake,
            OPT_LIST_META_CONTEXT,
            &context_queries("", &[])
        )
        .len(),
        3
    );
    assert_eq!(ask(&mut handshake, OPT_SET_META_CONTEXT, &body).len(), 3);
    let go = option(OPT_GO, &[&[0, 0, 0, 5][..], b"drive", &[0, 0]].concat());
    let (_, step) = handshake.feed(&go);
    let session = NbdSession {
        structured: true,
        extended: false,
        contexts: [false; 2],
    };
    assert_eq!(
        step,
        HandshakeStep::Transmit(session),
        "chosen for another name"
    );
}

#[test]
fn mistakes_are_answered() {
    let mut handshake = begun();
    for (number, body, kind) in [
        (OPT_LIST, &b"x"[..], REP_ERR_INVALID),
        (OPT_STARTTLS, b"", REP_ERR_POLICY),
        (99, b"", REP_ERR_UNSUP),
        (OPT_INFO, b"\0\0\0\x01x\0\0", REP_ERR_UNKNOWN),
        (OPT_INFO, b"\xff\xff\xff\xff\0\0", REP_ERR_INVALID),
        (OPT_GO, b"\0\0\0\0\0\x09", REP_ERR_INVALID),
        (OPT_STRUCTURED_REPLY, b"x", REP_ERR_INVALID),
    ] {
        assert_eq!(
            ask(&mut handshake, number, body)[0].0,
            kind,
            "option {number}"
        );
    }
    let huge = vec![0; OPTION_MAX as usize + 1];
    assert_eq!(ask(&mut handshake, OPT_LIST, &huge)[0].0, REP_ERR_TOO_BIG);
    assert_eq!(
        ask(&mut handshake, OPT_LIST, &[])[1].0,
        REP_ACK,
        "and it goes on"
    );
}

#[test]
fn what_cannot_go_on_ends() {
    let close = |bytes: &[u8]| {
        let mut handshake = Handshake::new(export(), Encryption::Off);
        matches!(handshake.feed(bytes).1, HandshakeStep::Close(_))
    };
    let after = |flags: u32, rest: Vec<u8>| [flags.to_be_bytes().to_vec(), rest].concat();
    assert!(close(&after(4, Vec::new())), "unknown client flags");
    assert!(close(&after(3, vec![0; 16])), "wrong magic");
    assert!(
        close(&after(0, option(OPT_LIST, &[]))),
        "not fixed newstyle"
    );
    assert!(close(&after(3, option(OPT_ABORT, &[]))));
    assert!(close(&after(3, option(OPT_EXPORT_NAME, b"other"))));
    assert!(!close(&after(0, option(OPT_EXPORT_NAME, b"drive"))));
}

#[test]
fn the_old_way_in_ends_with_zeroes_unless_told_otherwise() {
    for (flags, length) in [(1_u32, 10 + 124), (3, 10)] {
        let mut handshake = Handshake::new(export(), Encryption::Off);
        handshake.feed(&flags.to_be_bytes());
        handshake.out.clear();
        handshake.feed(&option(OPT_EXPORT_NAME, b""));
        assert_eq!(handshake.out.len(), length);
        assert_eq!(handshake.out[..8], (1_u64 << 30).to_be_bytes());
    }
}

/// Offered or required; without TLS nothing is said about the drive when it is required.
#[test]
fn tls_is_as_the_server_wants_it() {
    let begun = |encryption| {
        let mut handshake = Handshake::new(export(), encryption);
        handshake.feed(&3_u32.to_be_bytes());
        handshake.out.clear();
        handshake
    };
    let mut required = begun(Encryption::Required);
    for number in [OPT_LIST, OPT_INFO, OPT_GO, OPT_STRUCTURED_REPLY, 99] {
        let found = ask(&mut required, number, &[]);
        assert_eq!(found[0].0, REP_ERR_TLS_REQD, "option {number}");
    }
    let by_name = option(OPT_EXPORT_NAME, b"drive");
    let closed = begun(Encryption::Required).feed(&by_name).1;
    assert_eq!(closed, HandshakeStep::Close("TLS is required"));
    for encryption in [Encryption::Offered, Encryption::Required] {
        let mut handshake = begun(encryption);
        assert_eq!(
            ask(&mut handshake, OPT_STARTTLS, b"x")[0].0,
            REP_ERR_INVALID
        );
        let bytes = [option(OPT_STARTTLS, &[]), option(OPT_GO, &[0; 6])].concat();
        assert_eq!(
            handshake.feed(&bytes),
            (16, HandshakeStep::Encrypt),
            "nothing behind it"
        );
        assert_eq!(replies(&mut handshake), [(REP_ACK, Vec::new())]);
        assert_eq!(ask(&mut handshake, OPT_STARTTLS, &[])[0].0, REP_ERR_INVALID);
        let (_, step) = handshake.feed(&option(OPT_GO, &[0; 6]));
        assert_eq!(step, HandshakeStep::Transmit(NbdSession::default()));
    }
}

/// Somebody between client and server may have sent it.
#[test]
fn an_agreement_before_tls_is_void_inside() {
    let mut handshake = Handshake::new(export(), Encryption::Offered);
    handshake.feed(&3_u32.to_be_bytes());
    handshake.feed(&option(OPT_STRUCTURED_REPLY, &[]));
    handshake.feed(&option(
        OPT_SET_META_CONTEXT,
        &context_queries("", &CONTEXTS),
    ));
    handshake.feed(&option(OPT_STARTTLS, &[]));
    let (_, step) = handshake.feed(&option(OPT_GO, &[0; 6]));
    assert_eq!(step, HandshakeStep::Transmit(NbdSession::default()));
}

#[test]
fn a_client_without_a_place_is_refused_in_words_and_may_ask_again() {
    let mut handshake = begun();
    let go = option(OPT_GO, &[0; 6]);
    for _ in 0..2 {
        let both = [option(OPT_LIST, &[]), go.clone()].concat();
        assert!(matches!(
            handshake.feed(&both).1,
            HandshakeStep::Transmit(_)
        ));
        assert_eq!(handshake.refuse("full"), HandshakeStep::More);
        let found = replies(&mut handshake);
        assert_eq!(
            found.len(),
            3,
            "the list is answered, the sizes are not sent"
        );
        assert_eq!(found[2], (REP_ERR_POLICY, b"full".to_vec()));
    }
    let by_name = option(OPT_EXPORT_NAME, b"drive");
    assert!(matches!(
        handshake.feed(&by_name).1,
        HandshakeStep::Transmit(_)
    ));
    assert!(matches!(handshake.refuse("full"), HandshakeStep::Close(_)));
    assert!(handshake.out.is_empty());
}
