"""Does the notebook run to its end?"""

from pathlib import Path

import pytest


def test_the_notebook_runs_to_its_end(repository: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(repository / "examples/python/drive.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = [output.data.get("text/html", "") for output in shown if "data" in output]
    assert sum("uPlot" in text for text in html) == 1, "the life's report, with its charts"
    assert any("smallest set of lost writes" in output.get("text", "") for output in shown)
