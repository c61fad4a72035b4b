"""Programs on a crash disk, cut at every place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

from ._errors import PowerLost
from ._native import CrashDisk, Report


class BrokenPromise(AssertionError):
    """A drive broke a promise: what was durable is not there after a power cut.

    Attributes
    ----------
    steps : tuple of str
        The smallest part of the history that still breaks it.
    """

    def __init__(self, message: str, steps: Sequence[str] = ()) -> None:
        super().__init__(message, tuple(steps))
        self.message = message
        self.steps = tuple(steps)

    def __str__(self) -> str:
        return self.message


class Failure(AssertionError):
    """A check of a program failed after a power cut, though the drive kept its promises.

    Attributes
    ----------
    writes : tuple of str
        The fewest lost writes without which the check fails.
    """

    def __init__(self, message: str, writes: Sequence[str] = ()) -> None:
        super().__init__(message, tuple(writes))
        self.message = message
        self.writes = tuple(writes)

    def __str__(self) -> str:
        return self.message


BrokenPromise.__module__ = "ssdlab"
Failure.__module__ = "ssdlab"

Program = Callable[[CrashDisk, "list[Any]"], object]
Check = Callable[[CrashDisk, "list[Any]"], object]


def raise_if_broken(disk: CrashDisk, report: Report) -> None:
    """Raise `BrokenPromise` with the smallest history that breaks a promise."""
    if report.is_kept:
        return
    text = f"the drive broke its promises\n{report}".rstrip()
    minimal = disk.minimise()
    if minimal is None:
        raise BrokenPromise(text)
    steps, _ = minimal
    shown = "\n".join(f"  {step}" for step in steps)
    raise BrokenPromise(f"{text}\nthe smallest history that does:\n{shown}", steps)


def failure(
    disk: CrashDisk,
    report: Report,
    check: Callable[[CrashDisk], object],
    error: Exception,
    where: str,
) -> Failure:
    """The failure of a check, with the smallest set of lost writes."""
    said = str(error) or type(error).__name__
    text = f"{where}: the drive kept its promises, the program fails: {said}"
    found = disk.smallest_loss(report, check)
    if found is None:
        return Failure(f"{text}\nit fails with every write there, too")
    writes, _ = found
    if not writes:
        return Failure(f"{text}\nno lost write is needed for it")
    shown = "\n".join(f"  {write}" for write in writes)
    lost = len({number for number, _ in report.lost})
    return Failure(
        f"{text}\nthe smallest set of lost writes ({len(writes)} of {lost}):\n{shown}", writes
    )


def crash_test(
    disk: CrashDisk, program: Program, check: Check, *, seeds: int = 2, cuts_max: int = 100_000
) -> int:
    """Run a program on forks of a disk and cut the power at every place.

    Parameters
    ----------
    disk : CrashDisk
        The disk before the program; it is not changed.
    program : callable
        `program(disk, done)`. It appends to the list `done` what has been acknowledged.
    check : callable
        `check(disk, done)` after the recovery; any exception is a failure.
    seeds : int, optional
        Passes over all places, with the cuts at other instants between two events. Every second
        one is cut in its recovery, too.
    cuts_max : int, optional
        Most cuts.

    Returns
    -------
    int
        Cuts that were made; all of them passed.

    Raises
    ------
    BrokenPromise
        When the drive is at fault.
    Failure
        When the program is at fault, with the smallest set of lost writes.

    Examples
    --------
    A record, and a header that counts it. FUA on the header does not cover the record:

    >>> import ssdlab
    >>> def append(disk, done):
    ...     disk.write(8192, b"r" * 512)
    ...     disk.write(0, b"1" * 512, fua=True)
    ...     done.append(1)
    >>> def read(disk, done):
    ...     if disk.read(0, 512)[:1] == b"1":
    ...         assert disk.read(8192, 512)[:1] == b"r", "the record is gone"
    >>> ssdlab.crash_test(ssdlab.CrashDisk(), append, read)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ssdlab.Failure: cut ...: the drive kept its promises, the program fails: the record is gone
    the smallest set of lost writes (1 of 1):
      #1 write 512 B at 8192
    """
    cuts = 0
    for seed in range(seeds):
        nth = 0
        while cuts < cuts_max:
            cuts += 1
            trial = disk.fork(seed << 32 | nth)
            trial.start_history()
            done: list[Any] = []
            ended = _run(trial, nth, program, done)
            report = _recover(trial, nested=seed % 2 == 1)
            raise_if_broken(trial, report)
            _check(trial, report, check, done, f"cut {cuts} (seed {seed}, event {nth})")
            if ended:
                break
            nth += 1
    return cuts


def _run(disk: CrashDisk, nth: int, program: Program, done: list[Any]) -> bool:
    """Whether the program ended before the cut."""
    disk.arm(after_events=nth)
    try:
        program(disk, done)
    except PowerLost:
        return False
    disk.disarm()
    ended = disk.is_on
    if ended:
        disk.cut()
    return ended


def _recover(disk: CrashDisk, nested: bool) -> Report:
    if nested:
        disk.arm(in_recovery=0.5)
    try:
        return disk.power_on()
    except PowerLost:
        disk.disarm()
        return disk.power_on()


def _check(disk: CrashDisk, report: Report, check: Check, done: list[Any], where: str) -> None:
    # The fork keeps the history that a failure is minimised from.
    recovered = disk.fork()
    problem: Optional[Exception] = None
    try:
        check(recovered, done)
    except Exception as error:
        problem = error
    if problem is not None:
        raise failure(disk, report, lambda d: check(d, done), problem, where) from problem
