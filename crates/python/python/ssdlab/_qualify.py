"""Is this drive a good choice for a role?"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _native
from ._drives import Drive, DriveLike
from ._html import frame
from ._progress import Progress, shown
from ._table import Table, table


@dataclasses.dataclass(frozen=True)
class Finding:
    """One requirement of a role, held against the evidence.

    Attributes
    ----------
    id, title : str
        The requirement.
    hard : bool
        Whether the role cannot do without it.
    outcome : str
        `PASS`, `FAIL` or `UNKNOWN`.
    value, limit : str
        The number and the limit, each with its unit.
    grade : str
        `assumed`, `declared`, `documented`, `behavioural` or `proved by cuts`.
    why : str
        One sentence.
    source : str
        Where the requirement and its limit come from.
    harm : str
        What begins beyond the limit.
    room : float or None
        Times by which a number is better than its limit; below 1 it misses it.
    """

    id: str
    title: str
    hard: bool
    outcome: str
    value: str
    limit: str
    grade: str
    why: str
    source: str
    harm: str = ""
    room: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """A mechanism that explains slowness."""

    id: str
    title: str
    sentence: str


@dataclasses.dataclass(frozen=True)
class Qualification:
    """A verdict with its evidence. Shown in a notebook, it is the report with its charts.

    Attributes
    ----------
    target, role, profile : str
    seed : int
    outcome : str
        `PASS`, `FAIL` or `UNKNOWN`: timing can condemn a drive, it cannot prove durability.
    answer : str
        "Is this a good choice?" in one sentence.
    findings : tuple of Finding
        Per requirement.
    mechanisms : tuple of Mechanism
        "What gives?"; empty when nothing is slow.
    incomplete : tuple of str
        Steps that were left out or cut short, and why.
    evidence : dict
        Everything that was measured, as `qualification.json` has it.
    """

    target: str
    role: str
    profile: str
    seed: int
    outcome: str
    answer: str
    findings: tuple[Finding, ...] = dataclasses.field(repr=False)
    mechanisms: tuple[Mechanism, ...] = dataclasses.field(repr=False)
    incomplete: tuple[str, ...] = dataclasses.field(repr=False)
    evidence: dict[str, Any] = dataclasses.field(repr=False)
    _json: str = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, text: str) -> Qualification:
        whole = json.loads(text)
        assessed = whole["target"]
        verdict = assessed["verdict"]
        return cls(
            target=assessed["evidence"]["facts"]["name"],
            role=whole["role"],
            profile=whole["profile"],
            seed=whole["seed"],
            outcome=verdict["outcome"],
            answer=verdict["answer"],
            findings=tuple(Finding(**row) for row in verdict["findings"]),
            mechanisms=tuple(Mechanism(**row) for row in verdict["mechanisms"]),
            incomplete=tuple(whole["incomplete"]),
            evidence=assessed["evidence"],
            _json=text,
        )

    @classmethod
    def read(cls, directory: Union[str, os.PathLike[str]]) -> Qualification:
        """Read the verdict in a run directory of `ssdlab qualify`.

        Parameters
        ----------
        directory : path-like
            What `--out` named.

        Returns
        -------
        Qualification
        """
        with open(os.path.join(directory, "qualification.json"), encoding="utf-8") as file:
            return cls._of(_native.Qualified(file.read()).json())

    def table(self) -> Table:
        """The findings, a row each."""
        return table(self.findings)

    def to_json(self) -> str:
        """The verdict as `qualification.json` has it, in one line."""
        return self._json

    def to_html(self) -> str:
        """The report: a page that needs no network."""
        return _native.Qualified(self._json).page()

    def summary(self) -> str:
        """Every requirement with its reason, and the answer."""
        return _native.Qualified(self._json).summary()

    def _repr_html_(self) -> str:
        return frame(self.to_html())


def qualify(
    target: Optional[DriveLike] = None,
    role: str = "general",
    *,
    profile: str = "quick",
    seed: int = 1,
    references: Sequence[str] = (),
    size: Optional[str] = None,
    overwrite: bool = False,
    serial: Optional[str] = None,
    destroy: Optional[str] = None,
    keep: bool = False,
    progress: Progress = None,
) -> Qualification:
    """Measure a drive and judge it for a role: `ssdlab qualify`.

    Your data are safe: a mounted or held device is refused, any other needs its serial number (or
    `destroy`, where it has none), and an existing file needs `overwrite`.

    Parameters
    ----------
    target : Drive, str or path-like, optional
        A modelled drive (a Drive, or `drive:NAME`), a file or a block device. None: a file made in
        the current directory and removed afterwards.
    role : str, optional
        `slog`, `s2d-cache`, `ceph-wal`, `db-wal`, `etcd` or `general`.
    profile : str, optional
        `quick`, `standard` or `full`.
    seed : int, optional
        Seed of every random stream.
    references : sequence of str, optional
        Modelled drives to measure beside it: names, `families` or `all`.
    size : str, optional
        Bytes of a file to create or extend.
    overwrite : bool, optional
        Leave to write over an existing file.
    serial : str, optional
        Serial number of the block device, to confirm that it may be overwritten.
    destroy : str, optional
        For a block device without one: a UUID on it, its backing file, its name in the device
        mapper, or its exact size.
    keep : bool, optional
        Do not remove a file that was created.
    progress : bool or callable, optional
        True draws a line. A function is called with the share that is done (0 to 1) and a text.

    Returns
    -------
    Qualification

    Raises
    ------
    Error
        When the target cannot be used, or a self-check failed.
    """
    request = {
        "role": role,
        "profile": profile,
        "seed": seed,
        "references": list(references),
        "size": size,
        "overwrite": overwrite,
        "serial": serial,
        "destroy": destroy,
        "keep": keep,
    }
    with shown(progress) as call:
        if not isinstance(target, Drive):
            name = None if target is None else os.fspath(target)
            return Qualification._of(_native.qualify(name, request, call).json())
        if not target.settings and target._text is None:
            name = f"drive:{target.name}"
            return Qualification._of(_native.qualify(name, request, call).json())
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
            path = os.path.join(folder, f"{target.name}.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(target.to_toml())
            return Qualification._of(_native.qualify(f"drive:{path}", request, call).json())
