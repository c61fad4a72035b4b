"""Many lives, on whatever runs functions: threads, processes, Dask, a Slurm array.

A point is a pure function of its configuration, so it may run anywhere, twice, or again. Points are
put together in batches; a batch is one task and one file of the data set, named by its place and by
the hash of its configurations. A file is written beside and renamed, so it is whole or not there,
and two writers of one batch write the same file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor
from multiprocessing import get_context
from typing import Any, Callable, Optional, Union

from . import _native
from ._drives import Drive, DriveLike, Setting, as_drive, setting_text
from ._errors import Error
from ._progress import Progress, shown
from ._simulate import Simulation, load_texts
from ._table import Table, _pyarrow, _write_parquet

Value = Union[Setting, Drive]
Space = Union[Mapping[str, Union[Value, Sequence[Value]]], Iterable[Mapping[str, Value]]]
On = Union[Executor, Callable[[], Executor], int, None]

# Keys of a point that are not parameters of its drive.
_OF_LOAD = (
    "load",
    "block",
    "read_pct",
    "trim_pct",
    "iodepth",
    "seed",
    "fill",
    "used_pct",
    "until",
)
_COLUMNS = {
    "waf": "float",
    "waf_last_quarter": "float",
    "iops": "float",
    "iops_last_quarter": "float",
    "read_p50_ns": "count",
    "read_p99_ns": "count",
    "read_p999_ns": "count",
    "write_p50_ns": "count",
    "write_p99_ns": "count",
    "write_p999_ns": "count",
    "n": "count",
    "np": "count",
    "r": "count",
    "k": "count",
    "op_nominal": "float",
    "op_effective": "float",
    "spare_factor": "float",
    "erases_min": "count",
    "erases_mean": "float",
    "erases_max": "count",
    "host_bytes": "count",
    "virtual_s": "float",
    "self_check": "str",
}
_MANIFEST = "sweep.json"
# Files that a data set should not have many more of.
_FILES = 200
# After this time without a result it is asked whether the executor takes tasks at all.
_SILENCE_S = 30.0
# Tasks that are given to an executor beyond those that it has finished.
_OPEN_TASKS = 1000


@dataclasses.dataclass(frozen=True)
class _Point:
    """A configuration, as texts only."""

    values: dict[str, str]
    drive: _native.Named
    load: list[tuple[str, str]]
    gear: Optional[str]

    def key(self) -> str:
        whole = [_native.__version__, self.drive, sorted(self.load), self.gear]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def grid(space: Mapping[str, Union[Value, Sequence[Value]]]) -> list[dict[str, Value]]:
    """Every combination of values; the last key changes fastest, as with `--sweep`.

    Parameters
    ----------
    space : mapping
        A value, or a sequence of values, by key.

    Returns
    -------
    list of dict
        Length: the product of the numbers of values.

    Examples
    --------
    >>> import ssdlab
    >>> ssdlab.grid({"op": ["7%", "28%"], "seed": [1, 2]})[1]
    {'op': '7%', 'seed': 2}
    """
    axes = [_values(value) for value in space.values()]
    return [dict(zip(space, values)) for values in itertools.product(*axes)]


def _values(value: Any) -> list[Any]:
    single = isinstance(value, (str, int, float, bool, Drive, os.PathLike))
    return [value] if single else list(value)


def _point(config: Mapping[str, Any], known: dict[Any, Drive]) -> _Point:
    rest = dict(config)
    if "drive" not in rest:
        raise Error("a point without a drive", 'sweep({"drive": "consumer-sata-1tb", ...})')
    given = rest.pop("drive")
    gear = rest.pop("gear", None)
    load = {key: rest.pop(key) for key in _OF_LOAD if key in rest}
    if given not in known:
        known[given] = as_drive(given)
    source, text, settings = known[given]._named()
    all_settings = {**dict(settings), **{k: setting_text(v) for k, v in rest.items()}}
    values = {key: setting_text(value) for key, value in config.items() if key != "drive"}
    return _Point(
        values={"drive": known[given].name, **values},
        drive=(source, text, list(all_settings.items())),
        load=load_texts(load),
        gear=gear,
    )


def point(config: Mapping[str, Value]) -> dict[str, Any]:
    """Simulate one point: the row that it has in the data set of `sweep`.

    Parameters
    ----------
    config : mapping
        `drive`, parameters of the load (`load`, `block`, `read_pct`, `trim_pct`, `iodepth`, `seed`,
        `fill`, `used_pct`, `until`), `gear`, and parameters of the drive (`op`, `ftl.victim`, ...).

    Returns
    -------
    dict
        The configuration as texts, and the columns of `ssdlab simulate --sweep`.

    Examples
    --------
    >>> import ssdlab
    >>> config = {"drive": "intel-320-40gb", "block": "8k", "used_pct": 1, "until": "0.1x"}
    >>> row = ssdlab.point(config)
    >>> row["drive"], round(row["waf"], 2), row["self_check"]
    ('intel-320-40gb', 1.0, 'passed')
    """
    return _row(_point(config, {}))


def _row(point: _Point) -> dict[str, Any]:
    life = Simulation._of(_native.simulate(point.drive, point.load, point.gear))
    return {**point.values, **_columns(life)}


def _columns(life: Simulation) -> dict[str, Any]:
    latency = {
        f"{op}_{name}_ns": getattr(life.latency[op], f"{name}_ns") if op in life.latency else None
        for op in ("read", "write")
        for name in ("p50", "p99", "p999")
    }
    facts = life.facts
    return {
        "waf": life.waf,
        "waf_last_quarter": life.waf_last_quarter,
        "iops": life.iops,
        "iops_last_quarter": life.iops_last_quarter,
        **latency,
        "n": facts["superblocks"],
        "np": facts["slots_per_superblock"],
        "r": facts["free_superblocks_low"],
        "k": facts["open_superblocks"],
        "op_nominal": facts["op_nominal"],
        "op_effective": facts["op_effective"],
        "spare_factor": facts["spare_factor"],
        "erases_min": life.erases.min,
        "erases_mean": life.erases.mean,
        "erases_max": life.erases.max,
        "host_bytes": life.host_bytes,
        "virtual_s": life.virtual_s,
        "self_check": "failed" if life.failures else "passed",
    }


def _batch_rows(batch: list[tuple[int, str, _Point]]) -> list[dict[str, Any]]:
    """The rows of a batch: what a worker runs."""
    return [{"index": index, "key": key, **_row(point)} for index, key, point in batch]


def _nothing() -> None:
    """A task that shows whether tasks are taken."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A sweep and its data set.

    Attributes
    ----------
    out : str
        Directory of the data set: Parquet files that pandas, Polars and DuckDB read as one.
    points : int
        Points of the whole sweep.
    done : int
        Points that are in the data set.
    computed : int
        Points that this call has computed; the others were there.
    """

    out: str
    points: int
    done: int
    computed: int

    @property
    def is_complete(self) -> bool:
        """Whether every point is in the data set."""
        return self.done == self.points

    def to_pyarrow(self) -> Any:
        """All rows, in the order of the points, as a `pyarrow.Table`."""
        pyarrow = _pyarrow()
        import pyarrow.parquet as parquet  # type: ignore[import-untyped,unused-ignore]

        names = sorted(name for name in os.listdir(self.out) if _is_part(name))
        parts = [parquet.read_table(os.path.join(self.out, name)) for name in names]
        return pyarrow.concat_tables(parts)

    def to_pandas(self) -> Any:
        """All rows, in the order of the points, as a `pandas.DataFrame`."""
        return self.to_pyarrow().to_pandas()

    def table(self) -> Table:
        """All rows, in the order of the points."""
        columns = self.to_pyarrow().to_pydict()
        kinds = {name: _COLUMNS.get(name, "str") for name in columns}
        kinds["index"] = "count"
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        return Table._typed(kinds, rows)


def _is_part(name: str) -> bool:
    return name.startswith("part-") and name.endswith(".parquet")


@dataclasses.dataclass(frozen=True)
class _Batch:
    number: int
    points: list[tuple[int, str, _Point]]

    def file(self) -> str:
        keys = "".join(key for _, key, _ in self.points)
        return f"part-{self.number:06d}-{hashlib.sha256(keys.encode()).hexdigest()[:12]}.parquet"


def sweep(
    space: Space,
    *,
    out: Union[str, os.PathLike[str]],
    on: On = None,
    batch: Optional[int] = None,
    part: Optional[tuple[int, int]] = None,
    retries: int = 5,
    progress: Progress = None,
) -> Sweep:
    """Simulate every point of a space and append the results to a Parquet data set.

    A call that was killed is made again: it goes on where the data set ends. The files are the same
    bytes whatever runs them.

    Parameters
    ----------
    space : mapping, or iterable of mappings
        Values by key, of which every combination is a point (see `grid`); or the points themselves.
        Keys are those of `point`.
    out : path-like
        Directory of the data set.
    on : Executor, callable, int or None, optional
        What runs the points: an executor of `concurrent.futures` (such as Dask's
        `Client.get_executor()`), a function that makes one and is called again when it breaks, a
        number of processes, or None: this process, one after the other.
    batch : int, optional
        Points of a task and of a file. Default: such that there are about 200 files.
    part : tuple of (int, int), optional
        Compute only part i of n, for an array of jobs that share `out`: `(0, 4)` to `(3, 4)`.
    retries : int, optional
        How often a batch is tried again whose worker was lost.
    progress : bool or callable, optional
        True draws a line; a function is called with the share done (0 to 1) and a text.

    Returns
    -------
    Sweep

    Raises
    ------
    Error
        When a point is impossible (nothing has run then), when `out` holds another sweep, or when
        workers are lost again and again. What has been computed is kept.

    Examples
    --------
    >>> import ssdlab, tempfile
    >>> space = {"drive": "intel-320-40gb", "op": ["12%", "28%"], "used_pct": 1, "until": "0.1x"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = ssdlab.sweep(space, out=folder)
    ...     again = ssdlab.sweep(space, out=folder)
    >>> found.points, found.computed, again.computed
    (2, 2, 0)
    """
    folder = os.fspath(out)
    _pyarrow()
    configs = grid(space) if isinstance(space, Mapping) else [dict(config) for config in space]
    known: dict[Any, Drive] = {}
    points = [_point(config, known) for config in configs]
    if not points:
        raise Error("a sweep without points", "give every key a value")
    batches, columns = _begin(folder, points, batch)
    mine = batches if part is None else batches[_checked(part)[0] :: part[1]]
    there = set(os.listdir(folder))
    missing = [one for one in mine if one.file() not in there]
    computed = 0
    total = sum(len(one.points) for one in missing)
    with shown(progress) as call:
        for one, rows in _run(missing, on, retries):
            data = Table._typed(columns, rows).to_pyarrow()
            _write_parquet(data, os.path.join(folder, one.file()))
            computed += len(rows)
            if call:
                call(computed / total, f"{computed} of {total} points")
    there = set(os.listdir(folder))
    done = sum(len(one.points) for one in batches if one.file() in there)
    return Sweep(out=folder, points=len(points), done=done, computed=computed)


def _checked(part: tuple[int, int]) -> tuple[int, int]:
    number, count = part
    if not 0 <= number < count:
        raise Error(f"part {number} of {count}", "parts are counted from 0: (0, 4) to (3, 4)")
    return part


def _begin(
    folder: str, points: list[_Point], batch: Optional[int]
) -> tuple[list[_Batch], dict[str, str]]:
    """The batches of a new data set, or of the one that is there; and its columns."""
    keys = [point.key() for point in points]
    twice = len(keys) - len(set(keys))
    if twice:
        raise Error(f"{twice} of {len(keys)} points are there twice", "give every point once")
    names = list(dict.fromkeys(name for point in points for name in point.values))
    columns = {"index": "count", "key": "str", **{name: "str" for name in names}, **_COLUMNS}
    size = batch or max(1, -(-len(points) // _FILES))
    if size < 1:
        raise Error(f"batches of {batch} points", "1 or more")
    manifest = {
        "format": "ssdlab-sweep",
        "ssdlab": _native.__version__,
        "points": len(points),
        "batch": size,
        "columns": columns,
        "sha256": hashlib.sha256("".join(keys).encode()).hexdigest(),
    }
    path = os.path.join(folder, _MANIFEST)
    if not os.path.exists(path):
        _check(points)
        os.makedirs(folder, exist_ok=True)
        _create(path, json.dumps(manifest, indent=1) + "\n")
    size = _same(path, manifest, batch)
    numbered = list(zip(range(len(points)), keys, points))
    starts = range(0, len(points), size)
    batches = [_Batch(n, numbered[at : at + size]) for n, at in enumerate(starts)]
    return batches, columns


def _check(points: list[_Point]) -> None:
    """Raise what makes a point impossible. A drive is read once, however many points it has."""
    drives: dict[str, tuple[_native.Named, list[Any]]] = {}
    for point in points:
        _, loads = drives.setdefault(json.dumps(point.drive), (point.drive, []))
        loads.append((point.load, point.gear))
    for drive, loads in drives.values():
        _native.check_points(drive, loads)


def _create(path: str, text: str) -> None:
    """Make a file that is whole or not there; one that is there already stays."""
    beside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.part"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    except FileExistsError:
        pass
    except OSError as error:
        raise Error(f"writing {path}: {error}", "make room, or choose another place") from error
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def _same(path: str, manifest: dict[str, Any], batch: Optional[int]) -> int:
    """The batch size of the data set, which must be of this very sweep."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        size = int(found["batch"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Error(f"reading {path}: {error}", "choose another directory") from error
    for key in ("format", "ssdlab", "points", "sha256", "columns"):
        if found.get(key) != manifest[key]:
            raise Error(
                f"{path} is of another sweep: its `{key}` differs",
                "choose another directory for this space, or give the space that it was made with",
            )
    if batch is not None and batch != size:
        raise Error(
            f"batches of {batch} points; the data set has batches of {size}",
            "leave `batch` out: it is read from the data set",
        )
    return size


def _run(
    batches: list[_Batch], on: On, retries: int
) -> Iterator[tuple[_Batch, list[dict[str, Any]]]]:
    """Rows of every batch, as they come."""
    if on is None:
        for batch in batches:
            yield batch, _batch_rows(batch.points)
    elif isinstance(on, Executor):
        yield from _Tasks(batches, on, None, retries).results()
    else:
        make = _processes(on) if isinstance(on, int) else on
        yield from _Tasks(batches, make(), make, retries).results()


def _processes(count: int) -> Callable[[], Executor]:
    # A fork would inherit threads of this process in whatever state they are.
    return lambda: ProcessPoolExecutor(count, mp_context=get_context("spawn"))


class _Tasks:
    """Batches on an executor, tried again when a worker is lost."""

    def __init__(
        self,
        batches: list[_Batch],
        executor: Executor,
        make: Optional[Callable[[], Executor]],
        retries: int,
    ) -> None:
        self._waiting = list(reversed(batches))
        self._executor = executor
        self._make = make
        self._retries = retries
        self._tries: dict[int, int] = {}
        self._open: dict[Future[list[dict[str, Any]]], _Batch] = {}

    def results(self) -> Iterator[tuple[_Batch, list[dict[str, Any]]]]:
        try:
            while self._waiting or self._open:
                self._submit()
                done, _ = wait(self._open, timeout=_SILENCE_S, return_when=FIRST_COMPLETED)
                if not done:
                    self._probe()
                for future in done:
                    batch = self._open.pop(future, None)
                    if batch is None:  # given to another executor
                        continue
                    rows = self._rows(future, batch)
                    if rows is not None:
                        yield batch, rows
        finally:
            for future in self._open:
                future.cancel()
            if self._make:
                self._executor.shutdown(wait=False)

    def _probe(self) -> None:
        """A cluster whose scheduler is gone may leave futures open for ever, but takes none."""
        try:
            self._executor.submit(_nothing).cancel()
        except Exception as error:
            self._open.clear()
            raise self._lost(error) from error

    def _submit(self) -> None:
        while self._waiting and len(self._open) < _OPEN_TASKS:
            batch = self._waiting[-1]
            try:
                future = self._executor.submit(_batch_rows, batch.points)
            except BrokenExecutor as error:
                self._again(error)
                continue
            except Exception as error:  # each library has its own for a client that is cut off
                self._open.clear()  # nobody is there to cancel them
                raise self._lost(error) from error
            self._open[future] = self._waiting.pop()

    def _rows(self, future: Future[Any], batch: _Batch) -> Optional[list[dict[str, Any]]]:
        if not future.cancelled():
            error = future.exception()
            if error is None:
                rows: list[dict[str, Any]] = future.result()
                return rows
            if isinstance(error, Error) or not isinstance(error, Exception):
                raise error
        else:
            error = RuntimeError("the task was cancelled")
        tries = self._tries[batch.number] = self._tries.get(batch.number, 0) + 1
        if tries > self._retries:
            raise self._lost(error) from error
        self._waiting.append(batch)
        if isinstance(error, BrokenExecutor):
            self._again(error)
        return None

    def _again(self, error: BaseException) -> None:
        """Another executor in place of a broken one."""
        if self._make is None:
            raise self._lost(error) from error
        self._waiting.extend(self._open.values())
        self._open.clear()
        self._executor.shutdown(wait=False)
        self._executor = self._make()

    def _lost(self, error: BaseException) -> Error:
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        return Error(
            f"workers are lost: {said}",
            "make the same call again with a new executor: it goes on where the data set ends",
        )
