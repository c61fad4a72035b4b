"""Is a sweep the same whatever runs it, whoever is killed, and however often it is begun?"""

import csv
import hashlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import ssdlab
from conftest import SMALL, run_cli

pytest.importorskip("pyarrow")

SPACE: "dict[str, Any]" = {
    "drive": SMALL,
    "op": ["12%", "28%"],
    "load": ["uniform", "hotcold:80/20"],
    "seed": [1, 2, 3],
    "until": "0.5x",
}


def contents(folder: Path) -> "dict[str, str]":
    """Hash of every file of a data set, by name."""
    names = (name for name in sorted(os.listdir(folder)))
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serial")
    assert ssdlab.sweep(SPACE, out=folder, batch=2).is_complete
    return folder


def test_points_are_those_of_the_command_line(cli: str, tmp_path: Path, serial: Path) -> None:
    args = ["--drive", SMALL, "--until", "0.5x", "--quiet", "--out", str(tmp_path / "cli")]
    for key in ("op", "load", "seed"):
        args += ["--sweep", f"{key}={','.join(map(str, SPACE[key]))}"]
    run_cli(cli, "simulate", *args)
    text = (tmp_path / "cli" / "sweep.csv").read_text()
    theirs = list(csv.DictReader(io.StringIO(text)))
    table = ssdlab.sweep(SPACE, out=serial).table()
    assert len(theirs) == len(table) == 12
    for row, ours in zip(theirs, table.rows()):
        for name, value in row.items():
            same = ours[name]
            if isinstance(same, float):
                assert float(value) == same, name
            else:
                assert value == ("" if same is None else str(same)), name


@pytest.mark.parametrize("on", ["threads", "processes", "a number", "a function"])
def test_the_bytes_do_not_depend_on_who_computes(on: str, tmp_path: Path, serial: Path) -> None:
    executors: "dict[str, Any]" = {
        "threads": ThreadPoolExecutor(2),
        "processes": ProcessPoolExecutor(2) if on == "processes" else None,
        "a number": 2,
        "a function": lambda: ThreadPoolExecutor(2),
    }
    ssdlab.sweep(SPACE, out=tmp_path, batch=2, on=executors[on])
    assert contents(tmp_path) == contents(serial)


def test_parts_of_an_array_make_one_data_set(tmp_path: Path, serial: Path) -> None:
    found = [ssdlab.sweep(SPACE, out=tmp_path, batch=2, part=(n, 4)) for n in (2, 0, 3, 1)]
    assert sum(part.computed for part in found) == 12 and found[-1].is_complete
    assert contents(tmp_path) == contents(serial)
    with pytest.raises(ssdlab.Error, match="counted from 0"):
        ssdlab.sweep(SPACE, out=tmp_path, part=(4, 4))


def test_a_sweep_that_was_killed_goes_on(tmp_path: Path, serial: Path) -> None:
    script = (
        "import json, sys, time, ssdlab\n"
        "def slow(done, text): print(text, flush=True); time.sleep(0.2)\n"
        "ssdlab.sweep(json.loads(sys.argv[1]), out=sys.argv[2], batch=2, progress=slow)\n"
    )
    command = [sys.executable, "-c", script, json.dumps(SPACE), str(tmp_path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() and child.stdout.readline()
    child.kill()
    child.wait()
    child.stdout.close()
    there = contents(tmp_path)
    assert 1 < len(there) < len(contents(serial))
    found = ssdlab.sweep(SPACE, out=tmp_path)
    assert 0 < found.computed < 12 and found.is_complete
    assert contents(tmp_path) == contents(serial)


def test_two_writers_of_one_data_set_write_the_same(tmp_path: Path, serial: Path) -> None:
    def write() -> None:
        ssdlab.sweep(SPACE, out=tmp_path, batch=2)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert contents(tmp_path) == contents(serial)
    assert len(ssdlab.sweep(SPACE, out=tmp_path).table()) == 12


def test_another_sweep_is_refused(serial: Path) -> None:
    before = contents(serial)
    for space in ({**SPACE, "seed": [1, 2, 4]}, {**SPACE, "seed": [1, 2]}):
        with pytest.raises(ssdlab.Error, match="another sweep"):
            ssdlab.sweep(space, out=serial)
    with pytest.raises(ssdlab.Error, match="batches of 2"):
        ssdlab.sweep(SPACE, out=serial, batch=3)
    with pytest.raises(ssdlab.Error, match="twice"):
        ssdlab.sweep({**SPACE, "seed": [1, 1]}, out=serial)
    assert contents(serial) == before


def test_an_impossible_point_is_refused_before_anything_runs(tmp_path: Path) -> None:
    for bad in ({"op": ["12%", "-3%"]}, {"bananas": 1}, {"load": ["uniform", "zipf"]}):
        with pytest.raises(ssdlab.Error):
            ssdlab.sweep({**SPACE, **bad}, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


class Lossy(Executor):
    """An executor whose workers are lost now and then."""

    def __init__(self, seed: int, share: float) -> None:
        self._random = random.Random(seed)
        self._share = share

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: "Future[Any]" = Future()
        if self._random.random() < self._share:
            future.set_exception(ConnectionError("the worker is gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_lost_workers_are_tried_again(tmp_path: Path, serial: Path) -> None:
    ssdlab.sweep(SPACE, out=tmp_path / "half", batch=2, on=Lossy(1, 0.5), retries=20)
    assert contents(tmp_path / "half") == contents(serial)
    with pytest.raises(ssdlab.Error, match="goes on where"):
        ssdlab.sweep(SPACE, out=tmp_path / "all", batch=2, on=Lossy(1, 1.0))


class Silent(Executor):
    """An executor that has lost its scheduler: open futures stay open, new ones are refused."""

    def __init__(self) -> None:
        self._is_gone = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: "Future[Any]" = Future()
        if self._is_gone:
            raise OSError("the client is closed")
        if args[0][0][0] >= 4:
            self._is_gone = True
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_scheduler_that_is_gone_ends_the_sweep(
    tmp_path: Path, serial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssdlab._sweep._SILENCE_S", 0.1)
    monkeypatch.setattr("ssdlab._sweep._OPEN_TASKS", 1)
    with pytest.raises(ssdlab.Error, match="goes on where"):
        ssdlab.sweep(SPACE, out=tmp_path, batch=2, on=Silent())
    assert ssdlab.sweep(SPACE, out=tmp_path).computed == 8
    assert contents(tmp_path) == contents(serial)


def test_processes_that_are_killed_are_replaced(tmp_path: Path, serial: Path) -> None:
    killed: "list[int]" = []

    def kill_once(done: float, text: str) -> None:
        if not killed:
            killed.append(kill_a_child())

    ssdlab.sweep(SPACE, out=tmp_path, batch=2, on=2, progress=kill_once)
    assert killed and killed[0]
    assert contents(tmp_path) == contents(serial)


def kill_a_child() -> int:
    """Kill a worker process of this one's pool."""
    import multiprocessing

    children = multiprocessing.active_children()
    if not children or children[0].pid is None:
        return 0
    os.kill(children[0].pid, signal.SIGKILL)
    return children[0].pid


def test_dask_workers_killed_at_random(tmp_path: Path, serial: Path) -> None:
    distributed = pytest.importorskip("distributed")
    deaths: "list[int]" = []
    over = threading.Event()
    options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster:
        with distributed.Client(cluster) as client:

            def kill() -> None:
                choice = random.Random(7)
                # The first at once: on a fast machine the sweep takes less than a wait.
                while not deaths or not over.wait(0.7):
                    nannies = [n for n in cluster.workers.values() if n.pid]
                    if nannies:
                        deaths.append(choice.choice(nannies).pid)
                        try:
                            os.kill(deaths[-1], signal.SIGKILL)
                        except ProcessLookupError:
                            pass

            thread = threading.Thread(target=kill)
            thread.start()
            try:
                space = {**SPACE, "until": "1x", "seed": list(range(1, 13))}
                found = ssdlab.sweep(space, out=tmp_path / "dask", on=client.get_executor(),
                                     batch=2, retries=50)
            finally:
                over.set()
                thread.join()
    assert found.is_complete and deaths
    ssdlab.sweep(space, out=tmp_path / "serial", batch=2)
    assert contents(tmp_path / "dask") == contents(tmp_path / "serial")


def test_a_dask_scheduler_that_is_killed_loses_nothing(
    tmp_path: Path, serial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("ssdlab._sweep._SILENCE_S", 2.0)
    dask = pytest.importorskip("dask")
    dask.config.set({"distributed.comm.timeouts.connect": "2s"})
    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(where)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(where)]
    worker += ["--nthreads", "1", "--no-dashboard", "--death-timeout", "30"]
    quiet: "dict[str, Any]" = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    children = [subprocess.Popen(command, cwd=tmp_path, **quiet)]
    try:
        until = time.monotonic() + 60
        while not where.exists() and time.monotonic() < until:
            time.sleep(0.05)
        children.append(subprocess.Popen(worker, cwd=tmp_path, **quiet))
        with distributed.Client(scheduler_file=str(where), timeout=5) as client:
            client.wait_for_workers(1, timeout=60)

            def kill_scheduler(done: float, text: str) -> None:
                children[0].kill()

            with pytest.raises(ssdlab.Error, match="goes on where"):
                ssdlab.sweep(SPACE, out=tmp_path / "out", batch=1, on=client.get_executor(),
                             progress=kill_scheduler)
    finally:
        for child in children:
            child.kill()
            child.wait()
    there = len(contents(tmp_path / "out")) - 1
    assert 1 <= there < 12
    assert ssdlab.sweep(SPACE, out=tmp_path / "out").computed == 12 - there
    ssdlab.sweep(SPACE, out=tmp_path / "serial", batch=1)
    assert contents(tmp_path / "out") == contents(tmp_path / "serial")


def test_a_full_disk_under_the_data_set_loses_nothing(tmp_path: Path, serial: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small file system is mounted by root only")
    room = tmp_path / "room"
    room.mkdir()
    tmpfs = ["-t", "tmpfs", "-o", "size=48k", "tmpfs", str(room)]
    if subprocess.run(["mount", *tmpfs], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(ssdlab.Error, match="make room"):
            ssdlab.sweep(SPACE, out=room / "out", batch=2)
        kept = contents(room / "out")
        assert 1 < len(kept) < len(contents(serial))
        assert all(contents(serial)[name] == kept[name] for name in kept)
        grown = ["mount", "-o", "remount,size=10m", str(room)]
        subprocess.run(grown, check=True)
        assert ssdlab.sweep(SPACE, out=room / "out").is_complete
        assert contents(room / "out") == contents(serial)
    finally:
        subprocess.run(["umount", "-l", str(room)], check=True)


def test_a_stopped_sweep_keeps_what_it_has(tmp_path: Path) -> None:
    def stop(done: float, text: str) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ssdlab.sweep(SPACE, out=tmp_path, batch=2, progress=stop)
    began = time.monotonic()
    assert 0 < ssdlab.sweep(SPACE, out=tmp_path).computed < 12
    assert time.monotonic() - began < 60
