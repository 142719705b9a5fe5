"""The notebooks run from top to bottom, quickly, and are committed with their outputs."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="the notebooks extra is not installed")
import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def executor():
    spec = importlib.util.spec_from_file_location("execute_notebooks", FOLDER / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# One in every run of the tests, all in the long one.
SHORT = "00_getting_started"


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(book, id=book.stem, marks=[] if book.stem == SHORT else pytest.mark.long) for book in BOOKS])
def test_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXDIFF_QUICK", "1")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # most of the time is compilation
    executor().execute(path, tmp_path)
    ran = nbformat.read(tmp_path / path.name, as_version=4)
    assert not any(out.output_type == "error" for cell in ran.cells if cell.cell_type == "code" for out in cell.outputs)
    assert any("image/png" in out.get("data", {}) for cell in ran.cells if cell.cell_type == "code" for out in cell.outputs)


@pytest.mark.host
@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_committed_with_small_outputs(path):
    book = nbformat.read(path, as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), "executed from top to bottom"
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert sum(bool(cell.outputs) for cell in code) > len(code) / 2
    assert path.stat().st_size < 800_000
    assert not any(out.output_type == "error" or out.get("name") == "stderr" for cell in code for out in cell.outputs)
