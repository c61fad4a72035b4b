# Run by tests/serve.sh inside nbdsh; `uri` and `control` are set.
import errno
import json
import socket


def connect(*contexts):
    handle = nbd.NBD()
    for context in contexts:
        handle.add_meta_context(context)
    handle.connect_uri(uri)
    return handle


def fails(number, call, *args, **named):
    try:
        call(*args, **named)
    except nbd.Error as error:
        assert error.errnum == number, (error.errnum, number)
    else:
        raise AssertionError(f"no error {number}")


def power(**ask):
    with socket.socket(socket.AF_UNIX) as switch:
        switch.connect(control)
        switch.sendall(json.dumps(ask).encode() + b"\n")
        answer = json.loads(switch.makefile().readline())
    assert answer["ok"], answer
    return answer


a = connect("base:allocation", "ssdlab:durability")
b = connect()
size = a.get_size()
assert size == 256 << 20
for can in ("flush", "fua", "trim", "zero", "fast_zero", "df", "multi_conn", "cache"):
    assert getattr(a, "can_" + can)(), can
assert not a.is_read_only()
assert a.get_block_size(nbd.SIZE_MINIMUM) == 512
assert a.get_block_size(nbd.SIZE_PREFERRED) == 4096
assert a.get_block_size(nbd.SIZE_MAXIMUM) == 64 << 20

# Bad requests, past the client's own checks.
a.set_strict_mode(0)
b.set_strict_mode(0)
fails(errno.EINVAL, a.pread, 4096, size)
fails(errno.ENOSPC, a.pwrite, b"x" * 4096, size - 1)
fails(errno.EINVAL, a.trim, 4096, size)
fails(errno.EINVAL, a.trim, 0, 0)
fails(errno.EINVAL, a.pread, 512, 0, flags=nbd.CMD_FLAG_REQ_ONE)
fails(errno.ENOSPC, a.zero, 4096, size)

# Unaligned offsets, a large request, DF.
a.pwrite(b"odd", 1000001)
assert b.pread(5, 1000000) == b"\0odd\0"
big = bytes(range(256)) * (32 << 12)
a.pwrite(big, 64 << 20)
assert b.pread(len(big), 64 << 20, flags=nbd.CMD_FLAG_DF) == big
assert b.pread(len(big), 64 << 20) == big

# Durability: a flush on the other connection covers the write.
found = {}


def extent(context, offset, entries, error):
    found[context] = entries


at = 32 << 20
a.pwrite(b"1" * 4096, at)
a.block_status(8192, at, extent)
assert found["ssdlab:durability"] == [4096, 2, 4096, 1], found
assert found["base:allocation"] == [4096, 0, 4096, 3], found
b.flush()
a.block_status(4096, at, extent, flags=nbd.CMD_FLAG_REQ_ONE)
assert found["ssdlab:durability"] == [4096, 0], found

# A cut: unflushed writes may be lost, FUA writes stay, commands fail at once.
a.pwrite(b"2" * 4096, at)
a.pwrite(b"3" * 4096, at + 4096, flags=nbd.CMD_FLAG_FUA)
assert not power(do="off")["status"]["powered"]
fails(errno.ESHUTDOWN, a.pread, 4096, at)
fails(errno.ESHUTDOWN, b.flush)
power(do="on")
# The unflushed write may be there or not.
assert b.pread(4096, at) in (b"1" * 4096, b"2" * 4096)
assert b.pread(4096, at + 4096) == b"3" * 4096

# An armed cut: inside the second flush from now.
power(**{"do": "cut-when", "at": {"flush": {"nth": 2, "side": "inside"}}})
a.flush()
fails(errno.ESHUTDOWN, a.flush)
assert power(do="status")["status"]["last_cut"] == "inside a flush"
power(do="on")
a.shutdown()
b.shutdown()
