"""What tests of sweeps share: a small grid with every kind of task, and the bytes of a store."""

import hashlib
from pathlib import Path

from jaxdiff.sweep.automata import Grid, Sweep

GRID = Grid(
    rules=(110, 30, 90),
    strategies=("fresh", "random_walk", "chained", "levin"),
    policies=130,
    populations=2,
    steps=9,
    walk_steps=4,
    chunk=150,
)
JOB = Sweep(GRID)


def contents(path: Path) -> dict[str, str]:
    """Digest of every file, by its name in the store."""
    return {str(f.relative_to(path)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(path.rglob("*")) if f.is_file()}


def chunks(path: Path) -> list[Path]:
    """Files of chunks of results."""
    return sorted(f for name in ("numerator", "walker_numerator", "program") for f in (path / name / "c").rglob("*") if f.is_file())
