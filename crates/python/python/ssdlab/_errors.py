"""Errors, each with what to do about it."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """A request that cannot be carried out.

    Attributes
    ----------
    what : str
        What was given, what is allowed, and where.
    hint : str
        What to do about it; may be empty.

    Examples
    --------
    >>> import ssdlab
    >>> try:
    ...     ssdlab.Drive("consumer-sata-1tv")
    ... except ssdlab.Error as error:
    ...     print(error.hint)
    `ssdlab list drives` lists all; a path ending in .toml reads your own
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what, hint)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}\nhint: {self.hint}" if self.hint else self.what


class PowerLost(Error):
    """The power of a crash disk is off, or was cut inside the call, which was not acknowledged.

    Attributes
    ----------
    at_ns : int or None
        Virtual time of the cut; None: the power was off already.
    recovery : str or None
        The step of the recovery that was cut.
    """

    def __init__(
        self,
        what: str,
        hint: str = "",
        at_ns: Optional[int] = None,
        recovery: Optional[str] = None,
    ) -> None:
        super().__init__(what, hint)
        self.args = (what, hint, at_ns, recovery)
        self.at_ns = at_ns
        self.recovery = recovery


# As users see them.
Error.__module__ = "ssdlab"
PowerLost.__module__ = "ssdlab"
