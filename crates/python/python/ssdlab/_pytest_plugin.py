"""The pytest fixture `ssd`: a drive whose power is cut, and which must keep its promises.

    @pytest.mark.ssd(drive="consumer-sata-1tb", size="64MiB")
    def test_log(ssd):
        ssd.write(0, record)
        ssd.flush()
        ssd.cut()
        ssd.power_on()
        assert ssd.read(0, len(record)) == record
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import pytest

if TYPE_CHECKING:
    from . import CrashDisk, Report, Served

_MARK = "ssd(drive=None, seed=1, faults=(), size=None): the drive of the fixture `ssd`"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARK)


class Ssd:
    """A drive for a test. It has the methods of `ssdlab.CrashDisk`, and these.

    Attributes
    ----------
    disk : ssdlab.CrashDisk
        The disk itself; what it reports is not judged.
    """

    def __init__(self, folder: Path, made: dict[str, Any]) -> None:
        from . import CrashDisk

        self._folder = folder
        self._made = made
        self._served: list[Served] = []
        self.disk: CrashDisk = CrashDisk(**made)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.disk, name)

    def power_on(self) -> Report:
        """Switch the power on; fail when a promise was broken, with the smallest history."""
        from ._crash import raise_if_broken

        report = self.disk.power_on()
        raise_if_broken(self.disk, report)
        return report

    def check(self, check: Callable[[CrashDisk], object]) -> None:
        """Cut the power, recover, and check the program's data.

        Parameters
        ----------
        check : callable
            `check(disk)` raises when the data are wrong. The failure then names the smallest set of
            lost writes.
        """
        from ._crash import failure

        if self.disk.is_on:
            self.disk.cut()
        report = self.power_on()
        before = self.disk.fork()
        try:
            check(self.disk)
        except Exception as error:
            raise failure(before, report, check, error, "after a cut") from error

    def crash_test(self, program: Any, check: Any, *, seeds: int = 2) -> int:
        """`ssdlab.crash_test` on this drive: the power is cut at every place."""
        from ._crash import crash_test

        return crash_test(self.disk, program, check, seeds=seeds)

    def serve(self, *, fuse: bool = False, **options: Any) -> Served:
        """Serve a new drive of this kind over NBD, or as a file too, until the test ends.

        It starts empty. A promise that it breaks fails the test.

        Parameters
        ----------
        fuse : bool, optional
            Also be a file (`served.path`); needs /dev/fuse.
        **options
            As for `ssdlab.serve`.

        Returns
        -------
        ssdlab.Served
        """
        from . import serve

        if fuse:
            folder = self._folder / f"mnt{len(self._served)}"
            folder.mkdir()
            options["fuse"] = folder / "drive"
        made = dict(self._made)
        drive = made.pop("drive", None)
        if not isinstance(drive, (str, type(None))) and isinstance(drive, int):
            drive = None
        options = {"size": "64MiB", **made, **options}
        served = serve(_served_name(drive), **options)
        self._served.append(served)
        return served

    def _verify(self) -> None:
        """The last cut: whatever the test left, the drive must keep what it promised."""
        for served in self._served:
            _verify_served(served)
        if self.disk.is_on:
            self.disk.cut()
            self.power_on()

    def _close(self) -> None:
        for served in self._served:
            served.stop()


def _served_name(drive: Any) -> Any:
    if drive is None:
        return "drive:consumer-sata-1tb"
    if isinstance(drive, str) and not drive.startswith("drive:") and not drive.endswith(".toml"):
        return f"drive:{drive}"
    return drive


def _verify_served(served: Served) -> None:
    from . import BrokenPromise

    if served.notes is not None:
        return
    status = served.status()
    if status.powered:
        served.off()
    if not served.status().powered:
        status = served.on()
    if status.promises_broken:
        sectors = ", ".join(str(sector) for sector in status.broken_sectors)
        raise BrokenPromise(
            f"the served drive broke {status.promises_broken} promises over {status.cuts} cuts; "
            f"of the last, sectors {sectors or 'none'}"
        )


@pytest.fixture
def ssd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ssd]:
    """A drive whose power is cut, and which must keep its promises.

    Block access in bytes: `read`, `write`, `flush`, `trim`, `rest`, `arm`, `cut`,
    `power_on`. When the test ends, power is cut once more. A broken promise fails the test; the
    message has the smallest history that breaks it. The marker `ssd` chooses drive, seed and
    faults.
    """
    mark = request.node.get_closest_marker("ssd")
    drive = Ssd(tmp_path, dict(mark.kwargs) if mark else {})
    yield drive
    drive._close()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Judge the drive as part of the test, so that it fails rather than its teardown."""
    result = yield
    for value in pyfuncitem.funcargs.values():
        if isinstance(value, Ssd):
            value._verify()
    return result
