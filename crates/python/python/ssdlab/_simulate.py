"""A drive's life under a load."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Optional

from . import _native
from ._drives import DriveLike, Setting, _named, setting_text
from ._html import frame
from ._progress import Progress, shown
from ._table import Table


@dataclasses.dataclass(frozen=True)
class Latency:
    """Latency of a kind of command under the load, in nanoseconds of virtual time."""

    op: str
    count: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    p999_ns: int
    p9999_ns: int
    max_ns: int


@dataclasses.dataclass(frozen=True)
class Placement:
    """What a drive with Flexible Data Placement (NVMe FDP) counts under the load.

    Attributes
    ----------
    handles : str
        `persistently isolated` or `initially isolated`.
    handle_count : int
        Reclaim unit handles, one for each write stream.
    reclaim_unit_bytes : int
        Bytes of a reclaim unit, which is a superblock.
    host_bytes_with_metadata, media_bytes_written, media_bytes_erased : int
        Bytes of the FDP Statistics log.
    media_reallocated : int
        Reclaim units whose valid data the drive moved.
    """

    handles: str
    handle_count: int
    reclaim_unit_bytes: int
    host_bytes_with_metadata: int
    media_bytes_written: int
    media_bytes_erased: int
    media_reallocated: int


@dataclasses.dataclass(frozen=True)
class Work:
    """What the NAND did for one purpose under the load.

    Attributes
    ----------
    purpose : str
        `host`, `relocation`, `map`, `fold`, `refresh`, `parity` or `padding`.
    slots : int
        Mapping units programmed.
    busy_s : float or None
        Time of dies in virtual seconds, reads and erases included; None in the counting gear.
    """

    purpose: str
    slots: int
    busy_s: Optional[float]


@dataclasses.dataclass(frozen=True)
class Erases:
    """Erases of a superblock since the factory: least, mean and most."""

    min: int
    mean: float
    max: int


@dataclasses.dataclass(frozen=True)
class Simulation:
    """What came out of a simulated life. Shown in a notebook, it is the report with its charts.

    Attributes
    ----------
    drive, title : str
        The drive.
    settings : tuple of str
        Parameters changed from its file, `key=value`.
    gear : str
        `counting` (no time) or `timed`.
    load : str
        Pattern of the load.
    block_bytes : int
        Bytes of a command.
    read_pct, trim_pct : int
        Per cent of the commands.
    write_through : bool
        Whether each write of the load was durable when it completed.
    depth : int or None
        Commands outstanding; None in the counting gear.
    seed : int
    fill : str
        `none`, `sequential` or `random`.
    used_pct : int
        Per cent of the user capacity that fill and load use.
    until : str
        When the load was to end.
    stopped : bool
        Whether it ended before that.
    commands, host_bytes : int
        Commands, and bytes written by the host, under the load.
    drive_writes : float
        Bytes written by the host / user capacity.
    waf, waf_last_quarter : float or None
        NAND bytes programmed / host bytes written, over the load and its last quarter.
    virtual_s : float or None
        Virtual time of the load in seconds; None in the counting gear, like all that follows.
    iops, iops_last_quarter : float or None
        Commands per virtual second.
    watts : float or None
        Mean power, where the drive has figures.
    die_share, channel_share : float or None
        Mean share of time that dies and channels were busy, 0 to 1.
    latency : dict of str to Latency
        By kind of command: `read`, `write`, `trim`.
    work : tuple of Work
        Where the array's work went.
    erases : Erases
    counters : dict of str to int
        What the load changed.
    placement : Placement or None
        Statistics of data placement, where the host names streams.
    failures : tuple of str
        Self-checks that failed; empty when the numbers can be believed.
    facts : dict
        The drive as reclaim sees it, and the calibrated and assumed values it rests on.
    samples : Table
        Up to 400 samples of each phase: `phase`, `host_bytes`, `t_s`, `waf`, `iops`,
        `read_p50_ns`, ..., `free_superblocks`, `watts`; what was not measured is null.
    """

    drive: str
    title: str
    settings: tuple[str, ...]
    gear: str
    load: str
    block_bytes: int
    read_pct: int
    trim_pct: int
    write_through: bool
    depth: Optional[int]
    seed: int
    fill: str
    used_pct: int
    until: str
    stopped: bool
    commands: int
    host_bytes: int
    drive_writes: float
    waf: Optional[float]
    waf_last_quarter: Optional[float]
    virtual_s: Optional[float]
    iops: Optional[float]
    iops_last_quarter: Optional[float]
    watts: Optional[float]
    die_share: Optional[float]
    channel_share: Optional[float]
    latency: dict[str, Latency] = dataclasses.field(repr=False)
    work: tuple[Work, ...] = dataclasses.field(repr=False)
    erases: Erases = dataclasses.field(repr=False)
    counters: dict[str, int] = dataclasses.field(repr=False)
    placement: Optional[Placement] = dataclasses.field(repr=False)
    failures: tuple[str, ...] = dataclasses.field(repr=False)
    facts: dict[str, Any] = dataclasses.field(repr=False)
    samples: Table = dataclasses.field(repr=False)
    _shown: _Shown = dataclasses.field(repr=False, compare=False)

    @classmethod
    def _of(cls, lived: _native.Simulated) -> Simulation:
        text = lived.json()
        out = json.loads(text)
        facts, busy = out["drive"], out["utilisation"] or (None, None)
        same = {field.name for field in dataclasses.fields(cls)} & set(out)
        values = {name: out[name] for name in same}
        placement = out.get("placement")
        values.update(
            write_through=out.get("write_through", False),
            placement=placement and Placement(**placement),
            drive=facts["name"],
            title=facts["title"],
            settings=tuple(facts["settings"]),
            block_bytes=out["block"],
            die_share=busy[0],
            channel_share=busy[1],
            latency={row["op"]: Latency(**row) for row in out["latency"]},
            work=tuple(Work(**row) for row in out["work"]),
            erases=Erases(*(out["erases"][key] for key in ("min", "mean", "max"))),
            failures=tuple(
                f"{check['name']}: {check['failure']}"
                for check in out["checks"]
                if check["failure"]
            ),
            facts=facts,
            samples=Table._of(lived.samples()),
            _shown=_Shown(lived, text),
        )
        return cls(**values)

    def table(self) -> Table:
        """The samples."""
        return self.samples

    def to_json(self) -> str:
        """The result as the command line's `result.json` has it, in one line."""
        return self._shown.text

    def to_html(self) -> str:
        """The report: a page that needs no network."""
        return self._shown.page()

    def summary(self) -> str:
        """What the command line prints."""
        return self._shown.summary()

    def _repr_html_(self) -> str:
        return frame(self.to_html())


class _Shown:
    """Texts of a result, made when they are asked for, or when the result is pickled."""

    def __init__(self, lived: Any, text: str) -> None:
        self._lived = lived
        self.text = text

    def page(self) -> str:
        return str(self._lived.page())

    def summary(self) -> str:
        return str(self._lived.summary())

    def __reduce__(self) -> tuple[Any, ...]:
        return _Shown, (_Kept(self.page(), self.summary()), self.text)


@dataclasses.dataclass(frozen=True)
class _Kept:
    page_text: str
    summary_text: str

    def page(self) -> str:
        return self.page_text

    def summary(self) -> str:
        return self.summary_text


def load_texts(load: Mapping[str, Optional[Setting]]) -> list[tuple[str, str]]:
    """Parameters of a load as the command line writes them; None is left at its default."""
    given = {_names.get(key, key): value for key, value in load.items() if value is not None}
    return [(key, setting_text(value)) for key, value in given.items()]


_names = {"block_bytes": "block", "depth": "iodepth"}


def simulate(
    drive: DriveLike,
    load: Optional[str] = None,
    *,
    until: Optional[str] = None,
    gear: Optional[str] = None,
    block: Optional[str] = None,
    read_pct: Optional[int] = None,
    trim_pct: Optional[int] = None,
    iodepth: Optional[int] = None,
    seed: Optional[int] = None,
    fill: Optional[str] = None,
    used_pct: Optional[int] = None,
    progress: Progress = None,
) -> Simulation:
    """Simulate a drive's life under a load: `ssdlab simulate`.

    Other Python threads run meanwhile. Ctrl-C stops it within a fraction of a second; the result so
    far is then the attribute `partial` of the KeyboardInterrupt.

    Parameters
    ----------
    drive : Drive, str or path-like
        The drive.
    load : str, optional
        `uniform` (default), `sequential`, `hotcold:80/20` or `zipf:0.99`.
    until : str, optional
        User capacities written (`4x`, the default), bytes written (`100GB`) or virtual time
        (`30m`).
    gear : str, optional
        `counting`, or `timed`; the default is counting unless `until` is a time.
    block : str, optional
        Bytes of a command. Default: `4k`.
    read_pct, trim_pct : int, optional
        Per cent of the commands that are reads or trims. Default: 0.
    iodepth : int, optional
        Commands outstanding, in the timed gear. Default: 32.
    seed : int, optional
        Seed of the load. Default: 1.
    fill : str, optional
        `none`, `sequential` (default) or `random`, before the load.
    used_pct : int, optional
        Per cent of the capacity that fill and load use. Default: 100.
    progress : bool or callable, optional
        True draws a line. A function is called with the share of the phase that is done (0 to 1)
        and a text, several times a second.

    Returns
    -------
    Simulation

    Raises
    ------
    Error
        When the life is impossible; nothing has run then.

    Examples
    --------
    >>> import ssdlab
    >>> life = ssdlab.simulate("intel-320-40gb", used_pct=1, until="50ms", read_pct=70)
    >>> life.gear, life.failures
    ('timed', ())
    >>> life.latency["read"].p50_ns > 0
    True
    """
    given = load_texts(
        {
            "load": load,
            "until": until,
            "block": block,
            "read_pct": read_pct,
            "trim_pct": trim_pct,
            "iodepth": iodepth,
            "seed": seed,
            "fill": fill,
            "used_pct": used_pct,
        }
    )
    try:
        with shown(progress) as call:
            lived = _native.simulate(_named(drive), given, gear, call)
    except KeyboardInterrupt as stop:
        if hasattr(stop, "partial"):
            stop.partial = Simulation._of(stop.partial)
        raise
    return Simulation._of(lived)
