"""Replays a log of dm-log-writes, by the kernel's documentation alone.

    replay_log.py LOG BYTES FOLDER

At each mark the image of BYTES bytes must be what FOLDER/MARK holds. Prints what it has seen:
writes, writes with FUA, flushes, discards, marks. A discarded range reads as zeroes.
"""
import struct
import sys

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
log, image, folder = open(sys.argv[1], "rb"), bytearray(int(sys.argv[2])), sys.argv[3]
magic, version, entries, sector = struct.unpack("<QQQI", log.read(28))
assert (magic, version, sector) == (0x6A736677736872, 1, 512), (magic, version, sector)
log.seek(sector)
seen = dict.fromkeys(["writes", "fua", "flushes", "discards", "marks"], 0)
for index in range(entries):
    head = log.read(sector)
    first, count, flags, length = struct.unpack("<QQQQ", head[:32])
    assert flags & ~(FLUSH | FUA | DISCARD | MARK) == 0, f"entry {index}: flags {flags:#x}"
    seen["flushes"] += bool(flags & FLUSH)
    seen["fua"] += bool(flags & FUA)
    at = slice(first * sector, (first + count) * sector)
    assert at.stop <= len(image), f"entry {index}: beyond the drive"
    if flags & MARK:
        name = head[32 : 32 + length].decode()
        with open(f"{folder}/{name}", "rb") as file:
            assert file.read() == image, f"at mark {name} the drive held something else"
        seen["marks"] += 1
    elif flags & DISCARD:
        image[at] = bytes(count * sector)
        seen["discards"] += 1
    elif count:
        data = log.read(count * sector)
        assert len(data) == count * sector, f"entry {index}: cut short"
        image[at] = data
        seen["writes"] += 1
assert log.read() == b"", "more than the head says"
print(*(f"{name} {count}" for name, count in seen.items()), sep=", ")
