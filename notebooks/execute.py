"""Execute the notebooks in place, or copies of them elsewhere: `python notebooks/execute.py [--out FOLDER]`.

With JAXDIFF_QUICK=1 in the environment they run on small populations, as the tests do.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def execute(path: Path, out: Path) -> None:
    """Run one notebook and write it with its outputs; what changes from run to run (times, ids) is left out."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}, record_timing=False).execute()
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:02d}"
    book.metadata["language_info"] = {"name": "python"}
    nbformat.write(book, out / path.name)


if __name__ == "__main__":
    folder = Path(sys.argv[sys.argv.index("--out") + 1]) if "--out" in sys.argv else HERE
    for notebook in sorted(HERE.glob("*.ipynb")):
        print(f"executing {notebook.name}", flush=True)
        execute(notebook, folder)
