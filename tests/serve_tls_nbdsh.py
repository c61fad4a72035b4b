# Run by tests/serve.sh inside nbdsh against a server with --tls require --tls-verify-peer; `address`,
# a unix socket or a port, and `certificates`, the folder of `ours` and `theirs`, are set.


def connect(tls, own):
    handle = nbd.NBD()
    handle.set_tls(tls)
    if own:
        handle.set_tls_certificates(certificates + "/" + own)
    handle.set_export_name("drive")
    if address.isdigit():
        handle.connect_tcp("127.0.0.1", address)
    else:
        handle.connect_unix(address)
    return handle


def is_refused(tls, own):
    try:
        # The server's objection to a certificate may come after the client's side is complete.
        connect(tls, own).pread(512, 0)
    except nbd.Error:
        return
    raise AssertionError(f"served: {tls}, {own}")


h = connect(nbd.TLS_REQUIRE, "ours")
assert h.get_tls_negotiated()
assert h.get_structured_replies_negotiated()
big = bytes(range(256)) * (16 << 12)
h.pwrite(big, 1 << 20)
h.flush()
assert h.pread(len(big), 1 << 20) == big
for n in range(1000):
    h.pwrite(bytes([n % 256]) * 4096, n * 4096)
other = connect(nbd.TLS_ALLOW, "ours")
assert other.pread(4096, 999 * 4096) == bytes([999 % 256]) * 4096
other.shutdown()
is_refused(nbd.TLS_DISABLE, None)
is_refused(nbd.TLS_REQUIRE, "none")
is_refused(nbd.TLS_REQUIRE, "theirs")
h.shutdown()
