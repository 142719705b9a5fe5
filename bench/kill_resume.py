"""Claim: a sweep that is killed twenty times at random moments ends with the store of an undisturbed one, and computes nothing twice.

    python bench/kill_resume.py [KILLS]

Each round starts the command as a user would and kills it (SIGKILL) after a random time between the first result that an undisturbed run
writes and its end; then a last run finishes. Stores are compared file by file.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
from harness import Table

GRID = [
    *("--rules", "all", "--strategies", "fresh", "chained", "random_walk", "--policies", "2000", "--populations", "8"),
    *("--steps", "300", "--walk-steps", "20", "--chunk", "8192", "--no-items"),  # kills shall hit the store, not the tables made of it
]


def start(store: Path) -> subprocess.Popen[str]:
    """The command, as a process; compiled programs are kept between rounds, so that kills hit the work and not the compiler."""
    cache = {"JAX_COMPILATION_CACHE_DIR": str(store.parent / "compiled"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    environment = {**os.environ, **cache}
    command = [sys.executable, "-m", "jaxdiff", "sweep", "saeca", *GRID, "--out", str(store), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=harness.ROOT, env=environment)


def contents(store: Path) -> dict[str, str]:
    """Digest of every file."""
    return {str(f.relative_to(store)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(store.rglob("*")) if f.is_file()}


def chunks(store: Path) -> set[Path]:
    """Chunks of results that are there; arrays of one axis only name rules, strategies and seeds, and are written first."""
    parts = {f: f.relative_to(store).parts for f in store.rglob("*") if f.is_file() and f.suffix != ".partial"}
    return {f for f, names in parts.items() if "c" in names and len(names) - names.index("c") > 2 and names[0] != "program"}


def main(kills: int) -> None:
    """Kill, resume, compare; print and write the table."""
    about = harness.say_machine()
    draw = random.Random(0)
    table = Table("Killed and resumed", ("round", "killed after s", "chunks before", "chunks after", "half-written", "rewritten"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start(folder / "undisturbed.zarr").communicate()
        (folder / "undisturbed.zarr").rename(folder / "first.zarr")
        begin = time.perf_counter()
        child, first = start(folder / "undisturbed.zarr"), 0.0
        while child.poll() is None:
            time.sleep(0.02)
            if not first and chunks(folder / "undisturbed.zarr"):
                first = time.perf_counter() - begin
        seconds = time.perf_counter() - begin
        said = child.communicate()[1]
        undisturbed = contents(folder / "undisturbed.zarr")
        print(f"undisturbed: first result after {first:.1f} of {seconds:.1f} s, {len(undisturbed)} files. {said.splitlines()[-2]}")
        store = folder / "killed.zarr"
        done = 0
        while done < kills:
            stamps = {f: f.stat().st_mtime_ns for f in chunks(store)} if store.exists() else {}
            child = start(store)
            begin = time.perf_counter()
            wait = draw.uniform(0.95 * first, seconds)
            try:
                child.wait(wait)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
            child.communicate()
            if child.returncode == 0:
                print(f"finished before it was killed; a new store, {kills - done} kills to go")
                assert contents(store) == undisturbed, "differs from the undisturbed one"
                store.rename(folder / f"finished{done}.zarr")
                continue
            done += 1
            after = chunks(store) if store.exists() else set()
            half = len(list(store.rglob("*.partial"))) if store.exists() else 0
            again = sum(f.stat().st_mtime_ns != stamps[f] for f in after & stamps.keys())
            row = {"round": done, "killed after s": wait, "chunks before": len(stamps), "chunks after": len(after)}
            table.add(**row, **{"half-written": half, "rewritten": again})
        child = start(store)
        _, said = child.communicate()
        assert child.returncode == 0, said
        same = contents(store) == undisturbed
        # Chunks of a sequential task are written together: a kill in between writes those of that one task again.
        print(f"{kills} kills; the store is {'identical, file by file, to' if same else 'DIFFERENT from'} the undisturbed one")
        assert same
    harness.write("kill_resume", about, [table])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
