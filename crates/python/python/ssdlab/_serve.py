"""A drive for other programs, over NBD or as a file, with its power switch."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Optional, Union
from urllib.parse import quote

from . import _native
from ._drives import Drive, DriveLike, _named
from ._errors import Error


@dataclasses.dataclass(frozen=True)
class PowerStatus:
    """Status of a served drive.

    Attributes
    ----------
    powered : bool
    cuts : int
        Cuts so far.
    flushes : int
        Flushes completed so far.
    bytes_written : int
        Host bytes written so far.
    promises_broken : int
        Promises broken over all recoveries; above 0, what was lost is the drive's fault.
    last_cut : str or None
        Cause of the last cut.
    recovery_ns : int or None
        Virtual time of the last recovery.
    broken_sectors : tuple of int
        The first sectors (of 512 bytes) whose promised value the last recovery did not find.
    trouble : str or None
        Why nothing is acknowledged, if so.
    facts : dict
        Everything, as `ssdlab power status --json` has it.
    """

    powered: bool
    cuts: int
    flushes: int
    bytes_written: int
    promises_broken: int
    last_cut: Optional[str]
    recovery_ns: Optional[int]
    broken_sectors: tuple[int, ...]
    trouble: Optional[str]
    facts: dict[str, Any] = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, text: str) -> PowerStatus:
        facts = json.loads(text)
        found = facts.get("found") or {}
        return cls(
            powered=facts["powered"],
            cuts=facts["cuts"],
            flushes=facts["flushes"],
            bytes_written=facts["bytes_written"],
            promises_broken=facts["promises_broken"],
            last_cut=facts.get("last_cut"),
            recovery_ns=facts.get("recovery_ns"),
            broken_sectors=tuple(found.get("broken_sectors", ())),
            trouble=facts.get("trouble"),
            facts=facts,
        )


class Served:
    """A drive that is served until its `with` block ends; made by `serve`.

    Attributes
    ----------
    uri : str
        Of its NBD export: for `nbdinfo`, `qemu-img`, libnbd.
    socket : str
        Path of its unix socket.
    path : str or None
        The FUSE file, if one was asked for.
    about : str
        Size and state in a line.
    """

    def __init__(self, native: _native.Served, socket: str, path: Optional[str]) -> None:
        self._native = native
        self._own: Optional[tempfile.TemporaryDirectory[str]] = None
        self.socket = socket
        self.path = path
        self.about = native.about
        self.notes: Optional[str] = None

    @property
    def uri(self) -> str:
        """URI of the NBD export."""
        return f"nbd+unix:///drive?socket={quote(os.path.abspath(self.socket))}"

    def how_to_attach(self) -> list[str]:
        """What people type to use the drive, a line each."""
        return self._native.how_to_attach()

    def status(self) -> PowerStatus:
        """How the drive stands."""
        return PowerStatus._of(self._native.status())

    def off(self) -> PowerStatus:
        """Cut the power now. Clients get errors until it is on again."""
        return PowerStatus._of(self._native.off())

    def on(self) -> PowerStatus:
        """Switch the power on and recover. Broken promises are counted in the status."""
        return PowerStatus._of(self._native.on())

    def cut_when(
        self,
        *,
        flush: Optional[int] = None,
        inside: bool = False,
        nand_op: Optional[int] = None,
        after_bytes: Optional[int] = None,
        write_to: Optional[tuple[int, int]] = None,
        magic: Optional[str] = None,
    ) -> PowerStatus:
        """Arm a cut; without arguments, take an armed one back.

        Parameters
        ----------
        flush : int, optional
            Before the nth flush from now, or `inside` it.
        inside : bool, optional
            See `flush`.
        nand_op : int, optional
            Inside the nth NAND program or erase from now.
        after_bytes : int, optional
            Once the host has written this number of bytes more.
        write_to : tuple of (int, int), optional
            After a write that touches offset and length, in bytes, before it is acknowledged.
        magic : str, optional
            In place of a write that begins with this text.

        Returns
        -------
        PowerStatus
        """
        places: dict[str, Any] = {}
        if flush is not None:
            places["flush"] = {"nth": flush, "side": "inside" if inside else "before"}
        if nand_op is not None:
            places["nand-op"] = {"nth": nand_op}
        if after_bytes is not None:
            places["after-bytes"] = {"bytes": after_bytes}
        if write_to is not None:
            places["write-to"] = {"offset": write_to[0], "length": write_to[1]}
        if magic is not None:
            places["magic"] = {"text": magic}
        if len(places) > 1:
            raise Error("a cut is armed at one place", "give one of the arguments")
        return PowerStatus._of(self._native.cut_when(json.dumps(places) if places else None))

    def wait_for_cut(self, cuts: int = 0, timeout_s: float = 60.0) -> bool:
        """Wait until there were more than `cuts` cuts.

        Returns
        -------
        bool
            Whether there were, within `timeout_s`.
        """
        return self._native.wait_for_cut(cuts, timeout_s)

    def stop(self) -> str:
        """Hang up on all clients and shut the drive down in order.

        Returns
        -------
        str
            Notes on its clients, such as writes that were never flushed.
        """
        if self.notes is None:
            self.notes = self._native.stop() or ""
        if self._own is not None:
            self._own.cleanup()
        return self.notes

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Served: {self.about}, {self.uri}>"


def serve(
    drive: DriveLike,
    *,
    size: Optional[str] = None,
    socket: Optional[Union[str, os.PathLike[str]]] = None,
    fuse: Optional[Union[str, os.PathLike[str]]] = None,
    control: Optional[Union[str, os.PathLike[str]]] = None,
    read_only: bool = False,
    real_pace: bool = False,
    faults: Sequence[str] = (),
    seed: int = 1,
    sync: bool = False,
) -> Served:
    """Serve a drive to other programs: `ssdlab serve`, as a context manager.

    Parameters
    ----------
    drive : Drive, str or path-like
        A drive directory made by `create`; or a Drive, or `drive:NAME`: a new one in memory, of
        which nothing is kept.
    size : str, optional
        Bytes that a drive in memory offers, such as `1GiB`.
    socket : path-like, optional
        Unix socket of the NBD export. Default: one in a new directory of its own.
    fuse : path-like, optional
        A file to be, in an empty folder; needs /dev/fuse.
    control : path-like, optional
        Unix socket for `ssdlab power`.
    read_only : bool, optional
        Refuse every write.
    real_pace : bool, optional
        Commands take as long as the modelled drive takes.
    faults : sequence of str, optional
        How the drive misbehaves: `ignores-flush`, `shorn-writes:500` (per mille), ...
    seed : int, optional
        Seed of faults, and of where inside a flush a cut falls.
    sync : bool, optional
        On FLUSH and FUA also sync the directory's files.

    Returns
    -------
    Served

    Examples
    --------
    >>> import ssdlab
    >>> with ssdlab.serve("drive:consumer-sata-1tb", size="64MiB") as drive:
    ...     print(drive.status().powered, drive.off().powered, drive.on().promises_broken)
    True False 0
    """
    named, directory = _what(drive)
    own = None
    if socket is None:
        # A socket's path has at most 107 bytes, so it does not go below the current directory.
        own = tempfile.TemporaryDirectory(prefix="ssdlab-")
        socket = os.path.join(own.name, "nbd.sock")
    request = {
        "directory": directory,
        "size": size,
        "nbd": [f"unix:{os.fspath(socket)}"],
        "nbd_read_only": [],
        "fuse": None if fuse is None else os.fspath(fuse),
        "control": None if control is None else os.fspath(control),
        "read_only": read_only,
        "real_pace": real_pace,
        "faults": list(faults),
        "seed": seed,
        "sync": sync,
    }
    try:
        native = _native.Served(named, request)
    except BaseException:
        if own is not None:
            own.cleanup()
        raise
    served = Served(native, os.fspath(socket), None if fuse is None else os.fspath(fuse))
    served._own = own
    return served


def _what(drive: DriveLike) -> tuple[Optional[_native.Named], Optional[str]]:
    if isinstance(drive, Drive):
        return drive._named(), None
    name = os.fspath(drive)
    if name.startswith("drive:") or name.endswith(".toml"):
        return _named(name), None
    return None, name
