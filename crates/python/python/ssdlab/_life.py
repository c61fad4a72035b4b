"""A drive's whole life."""

from __future__ import annotations

import dataclasses
import json
import os
from html import escape
from typing import Any, Optional, Union

from . import _native
from ._drives import DriveLike, _named
from ._progress import Progress, shown
from ._table import Table


@dataclasses.dataclass(frozen=True)
class Life:
    """What came out of a whole life.

    Attributes
    ----------
    drive, title : str
        The drive.
    until : str
        End that was asked for.
    ended : str or None
        Behaviour of the drive once its reserve is used up; None before that.
    stopped : bool
        Whether it was stopped before its end.
    host_bytes : int
        Bytes written by the host.
    days : float
        Virtual days.
    waf : float
        NAND bytes programmed / host bytes written.
    cycles_average : float
        Program/erase cycles of the mean block in use.
    cycles_rated : int
        Rated cycles.
    life_left_pct : float
        Per cent of the rated cycles left on average.
    rated_bytes : float
        Host bytes at which the mean block has its rated cycles, at this WAF.
    dwpd_5_years : float
        The same in user capacities per day over five years.
    uber_kept, uber_max : float
        Uncorrectable bit error rate of data kept as JESD218 asks, and what it allows.
    leapt_bytes : int
        Of the bytes written, those extrapolated (`fast`).
    leap_error : float
        The stated relative error of that.
    failures : tuple of str
        Self-checks that failed.
    facts : dict
        The whole result, as `result.json` has it.
    samples : Table
        Samples of the life: `host_bytes`, `days`, `waf`, `cycles_average`, `life_left_pct`, ...
    """

    drive: str
    title: str
    until: str
    ended: Optional[str]
    stopped: bool
    host_bytes: int
    days: float
    waf: float
    cycles_average: float
    cycles_rated: int
    life_left_pct: float
    rated_bytes: float
    dwpd_5_years: float
    uber_kept: float
    uber_max: float
    leapt_bytes: int
    leap_error: float
    failures: tuple[str, ...]
    facts: dict[str, Any] = dataclasses.field(repr=False)
    samples: Table = dataclasses.field(repr=False)
    _summary: str = dataclasses.field(repr=False, compare=False)

    @classmethod
    def _of(cls, aged: _native.Aged) -> Life:
        facts = json.loads(aged.json())
        flat = {**facts["end"], **facts}
        names = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in flat.items() if name in names}
        values.update(
            drive=facts["manner"]["name"],
            title=facts["manner"]["title"],
            failures=tuple(
                f"{check['name']}: {check['failure']}"
                for check in facts["checks"]
                if check["failure"]
            ),
            facts=facts,
            samples=Table._of(aged.samples()),
            _summary=aged.summary(),
        )
        return cls(**values)

    def table(self) -> Table:
        """The samples."""
        return self.samples

    def to_json(self) -> str:
        """The result as `result.json` has it, in one line."""
        return json.dumps(self.facts)

    def summary(self) -> str:
        """What the command line prints."""
        return self._summary

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._summary)}</pre>{self.samples._repr_html_()}"


def life(
    drive: DriveLike,
    load: str = "sequential",
    *,
    until: str = "dead",
    block: str = "1MiB",
    read_pct: int = 0,
    trim_pct: int = 0,
    per_day: Optional[str] = None,
    temperature_c: float = 40.0,
    fast: bool = False,
    seed: int = 0,
    save: Optional[Union[str, os.PathLike[str]]] = None,
    progress: Progress = None,
) -> Life:
    """Play a drive's whole life, page write by page write: `ssdlab age`.

    Other Python threads run meanwhile. Ctrl-C stops it; the result so far is then the attribute
    `partial` of the KeyboardInterrupt.

    Parameters
    ----------
    drive : Drive, str or path-like
        The drive.
    load : str, optional
        `uniform`, `sequential`, `hotcold:80/20` or `zipf:0.99`.
    until : str, optional
        Bytes written by the host (`270TB`), life left (`10%`), or `dead`.
    block : str, optional
        Bytes of a command.
    read_pct, trim_pct : int, optional
        Per cent of the commands that are reads or trims.
    per_day : str, optional
        Bytes written by the host per day. Default: the drive's capacity.
    temperature_c : float, optional
        Degrees Celsius, in use and at rest.
    fast : bool, optional
        Extrapolate between spans that are played exactly; the error is stated.
    seed : int, optional
        Seed of the load and of the differences between blocks.
    save : path-like, optional
        Save the drive that is left here; the file must not exist.
    progress : bool or callable, optional
        True draws a line. A function is called with the share of the rated life that is used (0 to
        1) and a text.

    Returns
    -------
    Life

    Examples
    --------
    >>> import ssdlab
    >>> aged = ssdlab.life("intel-320-40gb", until="200GB", fast=True)
    >>> aged.failures, aged.host_bytes >= 2e11, 0 < aged.cycles_average < aged.cycles_rated
    ((), True, True)
    """
    manner = {
        "load": load,
        "block": block,
        "read_pct": read_pct,
        "trim_pct": trim_pct,
        "seed": seed,
        "per_day": per_day,
        "temperature_c": float(temperature_c),
        "fast": fast,
        "until": until,
    }
    path = None if save is None else os.fspath(save)
    try:
        with shown(progress) as call:
            aged = _native.age(_named(drive), manner, path, call)
    except KeyboardInterrupt as stop:
        if hasattr(stop, "partial"):
            stop.partial = Life._of(stop.partial)
        raise
    return Life._of(aged)
