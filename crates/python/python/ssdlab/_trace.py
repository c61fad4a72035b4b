"""Block traces."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from html import escape
from typing import Any, Optional, Union

from . import _native
from ._table import Table

_PATTERN = {
    "start_ns": "count",
    "random_pct": "count",
    "sequential_pct": "count",
    "count": "count",
    "min": "count",
    "max": "count",
    "mean": "count",
    "kib_read": "count",
    "kib_written": "count",
}


@dataclasses.dataclass(frozen=True)
class Trace:
    """What a trace holds.

    Attributes
    ----------
    file, format : str
        Name of the file, and the format in which it was read.
    commands : int
        Commands.
    span_ns : int or None
        From the first to the last, in nanoseconds.
    fua_writes, preflush_writes : int
        Writes with FUA, and with a flush before them.
    mean_depth : float or None
        Mean number of commands outstanding.
    max_depth : int or None
        The most.
    lines, lines_bad : int
        Lines of the file, and those left out because they cannot be read.
    facts : dict
        Everything: sizes, seek distances, latencies, reuse, as `ssdlab trace show --json` has it.
    pattern : Table
        A row an interval, in the order of iopattern: `start_ns`, `random_pct`, `sequential_pct`,
        `count`, sizes `min`, `max` and `mean` in bytes, `kib_read`, `kib_written`.
    """

    file: str
    format: str
    commands: int
    span_ns: Optional[int]
    fua_writes: int
    preflush_writes: int
    mean_depth: Optional[float]
    max_depth: Optional[int]
    lines: int
    lines_bad: int
    facts: dict[str, Any] = dataclasses.field(repr=False)
    pattern: Table = dataclasses.field(repr=False)
    _text: str = dataclasses.field(repr=False, compare=False)

    def table(self) -> Table:
        """The pattern, interval by interval."""
        return self.pattern

    def summary(self) -> str:
        """What the command line prints."""
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"


def trace(
    path: Union[str, os.PathLike[str]],
    *,
    interval: str = "1s",
    format: Optional[str] = None,
    bad_share: str = "1%",
    device: Optional[str] = None,
) -> Trace:
    """Describe a block trace: `ssdlab trace show`.

    Lines that cannot be read are left out with a warning, up to `bad_share` of them.

    Parameters
    ----------
    path : path-like
        blkparse text, binary blktrace, a fio iolog, MSR Cambridge, SPC, DiskSim, MQSim, biosnoop,
        or ssdlab's own CSV; any of them compressed with gzip.
    interval : str, optional
        Length of an interval of the pattern.
    format : str, optional
        The format, unless it is recognised from the content.
    bad_share : str, optional
        Per cent of the lines that may be bad.
    device : str, optional
        Which device, where a trace holds several; `all` takes them as one.

    Returns
    -------
    Trace

    Raises
    ------
    Error
        When the file cannot be read, or is no trace.
    """
    facts, text, warned = _native.describe_trace(
        os.fspath(path), interval, format, bad_share, device
    )
    for warning in warned:
        warnings.warn(warning, stacklevel=2)
    whole = json.loads(facts)
    inner = whole["trace"]
    flat = {**inner, **whole}
    names = {field.name for field in dataclasses.fields(Trace)}
    values = {name: value for name, value in flat.items() if name in names}
    pattern = Table._typed(_PATTERN, inner["rows"])
    return Trace(**values, facts=whole, pattern=pattern, _text=text)


def convert_trace(
    source: Union[str, os.PathLike[str]],
    target: Union[str, os.PathLike[str]],
    *,
    format: str = "csv",
    device: Optional[str] = None,
) -> tuple[str, ...]:
    """Write a trace in another format: `ssdlab trace convert`.

    Parameters
    ----------
    source, target : path-like
        The trace, and the file to write; it must not exist.
    format : str, optional
        One of those that are read.
    device : str, optional
        Which device, where a trace holds several.

    Returns
    -------
    tuple of str
        What the new format cannot hold, a sentence each.
    """
    _, losses = _native.convert_trace(os.fspath(source), os.fspath(target), format, device)
    return tuple(losses)
