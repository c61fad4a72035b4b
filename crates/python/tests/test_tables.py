"""Do the libraries that people use read our tables, and without a copy?"""

import pickle
from pathlib import Path

import pytest
import ssdlab
from conftest import SMALL

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def life() -> ssdlab.Simulation:
    return ssdlab.simulate(SMALL, until="50ms", read_pct=30)


def test_pyarrow(life: ssdlab.Simulation) -> None:
    table = pa.table(life.table())
    assert table.column_names == life.samples.names
    assert table["waf"].to_pylist() == life.samples["waf"]
    assert pa.schema(life.samples).field("write_p50_ns").type == pa.uint64()


def test_memory_is_shared(life: ssdlab.Simulation) -> None:
    one, two = (pa.table(life.samples)["t_s"].chunk(0).buffers()[1].address for _ in range(2))
    assert one == two


def test_memory_outlives_the_table() -> None:
    made = pa.table(ssdlab.Table({"a": [1.5] * 1000, "b": ["text"] * 1000}))
    assert made["a"].to_pylist() == [1.5] * 1000 and made["b"].to_pylist()[999] == "text"


def test_pandas(life: ssdlab.Simulation) -> None:
    pandas = pytest.importorskip("pandas")
    frame = life.samples.to_pandas()
    assert list(frame.columns) == life.samples.names and len(frame) == len(life.samples)
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert list(pandas.DataFrame.from_arrow(life.samples)["t_s"]) == life.samples["t_s"]


def test_polars(life: ssdlab.Simulation) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(life.samples)
    assert frame["free_superblocks"].to_list() == life.samples["free_superblocks"]
    assert frame["watts"].null_count() == life.samples["watts"].count(None)


def test_duckdb(life: ssdlab.Simulation) -> None:
    duckdb = pytest.importorskip("duckdb")
    samples = life.samples
    rows = duckdb.sql("select count(*), max(host_bytes) from samples").fetchall()
    assert rows == [(len(samples), max(samples["host_bytes"]))]


def test_parquet(life: ssdlab.Simulation, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    life.samples.to_parquet(tmp_path / "samples.parquet")
    assert parquet.read_table(tmp_path / "samples.parquet").equals(pa.table(life.samples))
    assert [path.name for path in tmp_path.iterdir()] == ["samples.parquet"]
    with pytest.raises(ssdlab.Error, match="hint"):
        life.samples.to_parquet(tmp_path / "no" / "such.parquet")


def test_tables_are_values() -> None:
    columns: "dict[str, list[object]]" = {
        "i": [1, None],
        "f": [0.5, 2],
        "s": ["a", None],
        "b": [True, False],
    }
    table = ssdlab.Table(columns)
    assert table.kinds == {"i": "int", "f": "float", "s": "str", "b": "bool"}
    assert pickle.loads(pickle.dumps(table)) == table
    assert table.rows()[1] == {"i": None, "f": 2.0, "s": None, "b": False}
    assert "<table>" in table._repr_html_()
    with pytest.raises(KeyError, match="no column"):
        table["z"]
    with pytest.raises(ssdlab.Error):
        ssdlab.Table({"a": [1], "b": [1, 2]})
    with pytest.raises(ssdlab.Error):
        ssdlab.Table({"a": [object()]})
