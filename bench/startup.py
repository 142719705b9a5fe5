"""Claims about waiting: importing, and the demo with a cold compile cache.

python bench/startup.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

import harness
from harness import Table


def seconds(command: list[str], repeats: int) -> float:
    """Median wall seconds of a whole process."""
    spent = []
    for _ in range(repeats):
        begin = time.perf_counter()
        subprocess.run(command, check=True, cwd=harness.ROOT, capture_output=True, env={**os.environ, "PYTHONPATH": str(harness.ROOT)})
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def main() -> None:
    """Print and write the table."""
    about = harness.say_machine()
    table = Table("Waiting (whole processes)", ("what", "seconds"))
    table.add(what="python -c pass", seconds=seconds([sys.executable, "-c", "pass"], 5))
    table.add(what="import jaxdiff", seconds=seconds([sys.executable, "-c", "import jaxdiff"], 5))
    table.add(what="import jax", seconds=seconds([sys.executable, "-c", "import jax"], 5))
    table.add(
        what="import jaxdiff and everything of it",
        seconds=seconds([sys.executable, "-c", "import jaxdiff.cli.main, jaxdiff.studies.reproduction, jaxdiff.plots.paper"], 5),
    )
    with tempfile.TemporaryDirectory() as folder:
        demo = [
            sys.executable,
            "-m",
            "jaxdiff.cli.main",
            "measure",
            "saeca",
            "--rules",
            "184",
            "110",
            "122",
            "164",
            "--populations",
            "10",
            "--out",
            folder,
        ]
        table.add(what="the demo, cold compile cache", seconds=seconds(demo, 2))
    harness.write("startup", about, [table])


if __name__ == "__main__":
    main()
