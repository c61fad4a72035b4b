"""Tables: columns that pandas, Polars, DuckDB and pyarrow read without copying."""

from __future__ import annotations

import dataclasses
import os
import typing
from html import escape
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from . import _native
from ._errors import Error

# Rows of a table that are shown in a notebook.
_SHOWN = 10


class Table:
    """Columns of equal length, held in Arrow's memory layout.

    Everything that reads the Arrow PyCapsule interface takes it as it is and shares its memory:
    `polars.DataFrame(table)`, `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)` (pandas
    3), and DuckDB in the name of a variable: `duckdb.sql("from table")`.

    Parameters
    ----------
    columns : mapping of str to sequence
        Columns by name. A column holds numbers, truth values or texts, and None for no value.

    Examples
    --------
    >>> import ssdlab
    >>> table = ssdlab.Table({"op": [0.07, 0.28], "waf": [5.5, None]})
    >>> len(table), table.names
    (2, ['op', 'waf'])
    >>> table["waf"]
    [5.5, None]
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        kinds = [_kind_of(column) for column in columns.values()]
        self._native = _native.Table(list(columns), kinds, [list(c) for c in columns.values()])

    @classmethod
    def _of(cls, native: _native.Table) -> Table:
        table = cls.__new__(cls)
        table._native = native
        return table

    @classmethod
    def _typed(cls, kinds: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Table:
        """A table from rows, with the kind of each column given."""
        columns = [[row.get(name) for row in rows] for name in kinds]
        return cls._of(_native.Table(list(kinds), list(kinds.values()), columns))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self._native.names

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column: `float`, `int`, `count` (unsigned), `str` or `bool`."""
        return dict(zip(self._native.names, self._native.kinds))

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> list[Any]:
        """A column as a list, copied; shape `(len(table),)`."""
        try:
            return self._native.column(self._native.names.index(name))
        except ValueError:
            raise KeyError(f"no column {name!r}: there are {', '.join(self.names)}") from None

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns as lists, copied."""
        return {name: self._native.column(at) for at, name in enumerate(self._native.names)}

    def rows(self) -> list[dict[str, Any]]:
        """All rows as dictionaries, copied."""
        columns = self.to_dict()
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_pyarrow(self) -> Any:
        """The table as a `pyarrow.Table`; its memory is shared.

        Raises
        ------
        Error
            When pyarrow is not installed.
        """
        return _pyarrow().table(self)

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`.

        Raises
        ------
        Error
            When pyarrow is not installed.
        """
        return self.to_pyarrow().to_pandas()

    def to_parquet(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write a Parquet file: under another name first, so that it is whole or not there.

        Parameters
        ----------
        path : path-like
            The file; one that exists is replaced.

        Raises
        ------
        Error
            When pyarrow is not installed, or the file cannot be written.
        """
        _write_parquet(self.to_pyarrow(), os.fspath(path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.kinds == other.kinds and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.kinds, list(self.to_dict().values()))

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows of {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.names)
        rows = []
        for row in self.rows()[:_SHOWN]:
            cells = (_cell(value) for value in row.values())
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        more = f"<p>{len(self)} rows</p>" if len(self) > _SHOWN else ""
        body = "".join(rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _again(kinds: dict[str, str], columns: list[list[Any]]) -> Table:
    return Table._of(_native.Table(list(kinds), list(kinds.values()), columns))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _kind_of(column: Iterable[Any]) -> str:
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {bool} and kinds:
        return "bool"
    if kinds <= {int} and kinds:
        return "int"
    if kinds <= {int, float}:
        return "float"
    if kinds == {str}:
        return "str"
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise Error(f"a column of {names}", "a column holds numbers, truth values or texts")


def table(rows: Iterable[Any]) -> Table:
    """A table of records: dataclasses, of which the plain fields are taken, or dictionaries.

    Parameters
    ----------
    rows : iterable
        Records of one kind, one row each.

    Returns
    -------
    Table
        Shape `(len(rows), number of plain fields)`.

    Examples
    --------
    >>> import ssdlab
    >>> table = ssdlab.table(ssdlab.drives())
    >>> table.kinds["user_bytes"]
    'int'
    """
    records = [row if isinstance(row, Mapping) else _plain_fields(row) for row in rows]
    names = list(records[0]) if records else []
    return Table({name: [record.get(name) for record in records] for name in names})


_PLAIN = (bool, int, float, str, type(None))


def _plain_fields(row: Any) -> dict[str, Any]:
    fields = dataclasses.fields(row)
    hints = typing.get_type_hints(type(row))
    plain = (f.name for f in fields if _is_plain(hints[f.name]) and not f.name.startswith("_"))
    return {name: getattr(row, name) for name in plain}


def _is_plain(hint: Any) -> bool:
    one_of = typing.get_args(hint) if typing.get_origin(hint) is Union else (hint,)
    return all(kind in _PLAIN for kind in one_of)


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise Error("pyarrow is not installed", "pip install 'ssdlab[parquet]'") from None
    return pyarrow


def _write_parquet(data: Any, path: str) -> None:
    """Whole or not at all: written beside, synced, renamed."""
    _pyarrow()
    import pyarrow.parquet as parquet  # type: ignore[import-untyped,unused-ignore]

    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.part")
    try:
        parquet.write_table(data, beside)
        with open(beside, "rb") as written:
            os.fsync(written.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise Error(f"writing {path}: {error}", "make room, or choose another place") from error
    finally:
        _remove(beside)


def _remove(path: str) -> Optional[OSError]:
    try:
        os.remove(path)
    except OSError as error:
        return error
    return None
