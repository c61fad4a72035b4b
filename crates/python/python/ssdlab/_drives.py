"""Modelled drives: those of the catalogue, and those of drive files."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from html import escape
from typing import Any, Optional, Union

from . import _native
from ._errors import Error

Setting = Union[str, int, float, bool]
DriveLike = Union["Drive", str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a drive, with where it comes from.

    Attributes
    ----------
    key : str
        Table and name, such as `nand.program`.
    value : str
        As the drive file writes it, with its unit.
    kind : str
        `datasheet`, `teardown`, `measured`, `derived`, `calibrated` or `assumed`.
    source : str
        Where from, or why.
    fitted_to : tuple of str
        Published figures that a calibrated value was fitted to.
    """

    key: str
    value: str
    kind: str
    source: str
    fitted_to: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Drive:
    """A modelled drive. It is plain data: it pickles, and equal drives compare equal.

    Parameters
    ----------
    name : str or path-like
        A name of the catalogue (`drives()`), or a drive file ending in `.toml`.
    settings : mapping of str to str, int, float or bool, optional
        Parameters that are changed: `{"op": "28%", "ftl.victim": "greedy"}`. `settings_help()`
        lists them all.

    Attributes
    ----------
    name, title, family, interface : str
    user_bytes, raw_bytes : int
        Capacity for the host, and of the media.
    over_provisioning : float
        (raw - user) / user.
    power_loss_protection : bool
        Whether the papers say so.
    rated_bytes_written : int or None
        Rated endurance.
    drive_writes_per_day : float or None
        The same per day of the warranty, in user capacities.
    memory_bytes : int
        Memory that the model needs.

    Raises
    ------
    Error
        When there is no such drive, or it is not possible with these settings.

    Examples
    --------
    >>> import ssdlab
    >>> drive = ssdlab.Drive("consumer-sata-1tb", {"op": "28%"})
    >>> drive.interface, round(drive.over_provisioning, 2)
    ('sata', 0.28)
    >>> drive.with_settings(victim="fifo").settings
    {'op': '28%', 'victim': 'fifo'}
    """

    name: str
    settings: Mapping[str, str]
    title: str
    family: str
    interface: str
    user_bytes: int
    raw_bytes: int
    over_provisioning: float
    power_loss_protection: bool
    rated_bytes_written: Optional[int]
    drive_writes_per_day: Optional[float]
    memory_bytes: int
    parameters: tuple[Parameter, ...] = dataclasses.field(repr=False)
    rests_on: tuple[str, ...] = dataclasses.field(repr=False)
    _source: str = dataclasses.field(repr=False)
    _text: Optional[str] = dataclasses.field(repr=False)
    _shown: str = dataclasses.field(repr=False, compare=False)

    def __init__(
        self,
        name: Union[str, os.PathLike[str]],
        settings: Optional[Mapping[str, Setting]] = None,
    ) -> None:
        source = os.fspath(name)
        text = _read(source) if source.endswith(".toml") else None
        self._fill(source, text, _as_text(settings or {}))

    def _fill(self, source: str, text: Optional[str], settings: dict[str, str]) -> None:
        facts = json.loads(_native.drive_facts((source, text, list(settings.items()))))
        facts["parameters"] = tuple(
            Parameter(**{**row, "fitted_to": tuple(row["fitted_to"])})
            for row in facts["parameters"]
        )
        facts["rests_on"] = tuple(facts["rests_on"])
        facts["_shown"] = facts.pop("text")
        filled = {**facts, "settings": settings, "_source": source, "_text": text}
        for key, value in filled.items():
            object.__setattr__(self, key, value)

    def with_settings(
        self, settings: Optional[Mapping[str, Setting]] = None, **short: Setting
    ) -> Drive:
        """The drive with more parameters changed.

        Parameters
        ----------
        settings : mapping, optional
            Parameters by name, full (`ftl.victim`) or short (`victim`).
        **short
            The same for short names: `op="28%"`, `victim="greedy"`.

        Returns
        -------
        Drive
        """
        drive = Drive.__new__(Drive)
        more = _as_text({**(settings or {}), **short})
        drive._fill(self._source, self._text, {**self.settings, **more})
        return drive

    def to_toml(self) -> str:
        """The whole drive file, with its settings in it."""
        return _native.drive_toml(self._named())

    def show(self) -> str:
        """Every parameter with its source, as `ssdlab drives show` prints them."""
        return self._shown

    def _named(self) -> _native.Named:
        return self._source, self._text, list(self.settings.items())

    def __hash__(self) -> int:
        return hash((self._source, self._text, tuple(self.settings.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._source, self._text, dict(self.settings))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(p.key)}</td><td>{escape(p.value)}</td><td>{escape(p.kind)}</td>"
            f"<td>{escape(p.source)}</td></tr>"
            for p in self.parameters
        )
        return (
            f"<b>{escape(self.name)}</b>: {escape(self.title)}<details><summary>"
            f"{len(self.parameters)} parameters</summary><table>{rows}</table></details>"
        )


def _again(source: str, text: Optional[str], settings: dict[str, str]) -> Drive:
    drive = Drive.__new__(Drive)
    drive._fill(source, text, settings)
    return drive


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"reading {path}: {error}", "name a drive file ending in .toml") from error


def _as_text(settings: Mapping[str, Setting]) -> dict[str, str]:
    return {key: setting_text(value) for key, value in settings.items()}


def setting_text(value: Setting) -> str:
    """A value as the command line writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def as_drive(drive: DriveLike) -> Drive:
    """A drive by itself, by name or by file."""
    return drive if isinstance(drive, Drive) else Drive(drive)


def _named(drive: DriveLike) -> _native.Named:
    return as_drive(drive)._named()


def drives() -> tuple[Drive, ...]:
    """Every drive of the catalogue.

    Returns
    -------
    tuple of Drive

    Examples
    --------
    >>> import ssdlab
    >>> len([drive for drive in ssdlab.drives() if drive.power_loss_protection]) > 5
    True
    """
    return tuple(Drive(name) for name in _native.drive_names())


def settings_help() -> str:
    """Every parameter that can be set, `key=example` a line."""
    return _native.settings_help()


def create(
    directory: Union[str, os.PathLike[str]], drive: DriveLike, *, size: Optional[str] = None
) -> None:
    """Make a drive directory, for `serve`: a drive that keeps its data.

    Parameters
    ----------
    directory : path-like
        The directory; must be new or empty.
    drive : Drive, str or path-like
        The drive.
    size : str, optional
        Bytes that it offers, such as `1GiB`: more or fewer blocks of the same drive.
    """
    _native.create(os.fspath(directory), _named(drive), size)
