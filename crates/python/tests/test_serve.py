"""Do other people's clients reach a served drive, and does its switch work?"""

import shutil
import socket
import struct
import subprocess
from pathlib import Path

import pytest
import ssdlab


class Client:
    """As much of an NBD client as a test needs (the protocol's fixed newstyle negotiation)."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        self._socket.connect(path)
        assert self._read(16) == b"NBDMAGICIHAVEOPT"
        self._read(2)
        self._socket.sendall(struct.pack(">I", 3))
        self._socket.sendall(b"IHAVEOPT" + struct.pack(">II", 1, 5) + b"drive")
        self.size, _ = struct.unpack(">QH", self._read(10))

    def _read(self, length: int) -> bytes:
        found = b""
        while len(found) < length:
            more = self._socket.recv(length - len(found))
            assert more, "hung up"
            found += more
        return found

    def ask(self, kind: int, offset: int, length: int, data: bytes = b"") -> "tuple[int, bytes]":
        self._socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, kind, 7, offset, length) + data)
        magic, error, handle = struct.unpack(">IIQ", self._read(16))
        assert (magic, handle) == (0x67446698, 7)
        return error, self._read(length) if kind == 0 and not error else b""

    def write(self, offset: int, data: bytes) -> int:
        return self.ask(1, offset, len(data), data)[0]

    def flush(self) -> int:
        return self.ask(3, 0, 0)[0]

    def read(self, offset: int, length: int) -> bytes:
        return self.ask(0, offset, length)[1]

    def close(self) -> None:
        self._socket.close()


def test_a_drive_in_memory_over_nbd() -> None:
    with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB") as served:
        client = Client(served.socket)
        assert client.size == 64 << 20
        assert client.write(0, b"x" * 4096) == 0 and client.flush() == 0
        assert client.write(8192, b"y" * 4096) == 0
        served.off()
        assert client.write(0, b"z" * 4096) != 0
        status = served.on()
        assert status.powered and status.cuts == 1 and status.promises_broken == 0
        assert client.read(0, 4096) == b"x" * 4096
        assert client.read(8192, 4096) in (b"y" * 4096, bytes(4096))
        client.close()
    assert not Path(served.socket).exists()
    assert "every promise kept" in (served.notes or "")


def test_a_cut_that_was_aimed() -> None:
    with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB") as served:
        served.cut_when(flush=2, inside=True)
        client = Client(served.socket)
        client.write(0, b"x" * 4096)
        assert client.flush() == 0
        client.write(0, b"y" * 4096)
        assert client.flush() != 0
        assert served.wait_for_cut(0, 10) and not served.status().powered
        assert "flush" in (served.status().last_cut or "")
        with pytest.raises(ssdlab.Error, match="one place"):
            served.cut_when(flush=1, nand_op=1)
        client.close()


def test_a_fault_is_blamed_on_the_drive() -> None:
    with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB", faults=["ignores-flush"]) as served:
        client = Client(served.socket)
        client.write(4096, b"x" * 4096)
        client.flush()
        served.off()
        status = served.on()
        assert status.promises_broken == 8 and status.broken_sectors[0] == 8
        client.close()


def test_a_directory_keeps_its_data(tmp_path: Path) -> None:
    ssdlab.create(tmp_path / "drive", "consumer-sata-1tb", size="64MiB")
    for expected in (bytes(512), b"x" * 512):
        with ssdlab.serve(tmp_path / "drive") as served:
            client = Client(served.socket)
            assert client.read(0, 512) == expected
            client.write(0, b"x" * 512)
            client.close()
    with ssdlab.serve(tmp_path / "drive"):
        with pytest.raises(ssdlab.Error):
            ssdlab.serve(tmp_path / "drive")


def test_a_drive_that_is_not_served_any_more_says_so() -> None:
    with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB") as served:
        pass
    assert served.stop() == served.notes
    with pytest.raises(ssdlab.Error, match="not served"):
        served.status()


@pytest.mark.skipif(shutil.which("nbdinfo") is None, reason="nbdinfo is not installed")
def test_nbdinfo_reads_the_uri() -> None:
    with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB") as served:
        done = subprocess.run(["nbdinfo", "--size", served.uri], capture_output=True, text=True)
        assert done.stdout.strip() == str(64 << 20), done.stderr


def test_a_file_by_fuse(tmp_path: Path) -> None:
    if not Path("/dev/fuse").exists():
        pytest.skip("no /dev/fuse")
    (tmp_path / "mnt").mkdir()
    try:
        served = ssdlab.serve("drive:consumer-sata-1tb", size="64MiB", fuse=tmp_path / "mnt/drive")
    except ssdlab.Error as error:
        pytest.skip(f"no FUSE here: {error.what}")
    with served:
        with open(served.path or "", "r+b", buffering=0) as file:
            file.write(b"x" * 4096)
        assert Path(served.path or "").stat().st_size == 64 << 20
