"""What benchmarks share: honest timing, the machine's description, tables.

Compilation is timed apart. A figure is the median of ten repeats (fewer where one takes long), with the slowest beside it. Nothing
but jax, numpy and the standard library is imported, so that it runs on a bare machine from the source tree.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
RESULTS = ROOT / "bench" / "results"


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: median and slowest of the repeats; seconds of compilation, 0 where there is none."""

    median: float
    slowest: float
    compile: float = 0.0


@dataclass
class Table:
    """A benchmark's rows, printed as they come and written as JSON."""

    name: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, **row: Any) -> None:
        """Add a row and print it."""
        if not self.rows:
            print(f"\n## {self.name}\n\n| " + " | ".join(self.columns) + " |\n|" + "---|" * len(self.columns), flush=True)
        self.rows.append(row)
        print("| " + " | ".join(shown(row.get(c)) for c in self.columns) + " |", flush=True)


def shown(value: Any) -> str:
    """A cell of a table: three digits, with an exponent where the number is large or small."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.2e}"
    return str(value)


def timed(call: Callable[[], Any], repeats: int = 10, least_seconds: float = 0.0) -> Timing:
    """Time a call whose result is blocked on; it must be compiled already.

    Args:
        call: what to time; its result may hold JAX arrays.
        repeats: how often.
        least_seconds: for short calls: calls are grouped until a repeat lasts that long.
    """
    import jax

    jax.block_until_ready(call())
    group, seconds = 1, []
    while True:
        begin = time.perf_counter()
        for _ in range(group):
            jax.block_until_ready(call())
        spent = time.perf_counter() - begin
        if spent >= least_seconds:
            break
        group = max(group * 2, int(group * least_seconds / max(spent, 1e-9)))
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(group):
            jax.block_until_ready(call())
        seconds.append((time.perf_counter() - begin) / group)
    return Timing(statistics.median(seconds), max(seconds))


def compiled(function: Any, arguments: tuple[Any, ...], static: tuple[Any, ...] = ()) -> tuple[Callable[[], Any], float]:
    """A jitted function compiled for its arguments, as a call without arguments, and the seconds that took.

    Args:
        function: a jitted function.
        arguments: arrays; they come first.
        static: compile-time constants; they come last.
    """
    lowered = function.lower(*arguments, *static)
    begin = time.perf_counter()
    program = lowered.compile()
    return (lambda: program(*arguments)), time.perf_counter() - begin


def machine() -> dict[str, Any]:
    """Description of this machine and of what JAX runs on."""
    from jaxdiff.core.machine import describe

    return describe()


def peak_memory() -> float:
    """Highest memory use so far in MiB: of the device where it says, of this process otherwise."""
    import jax

    stats = jax.devices()[0].memory_stats()
    if stats and "peak_bytes_in_use" in stats:
        return stats["peak_bytes_in_use"] / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say_machine() -> dict[str, Any]:
    """Print the machine's description and return it."""
    about = machine()
    print(", ".join(f"{k}: {v}" for k, v in about.items() if v), flush=True)
    return about


def write(name: str, about: dict[str, Any], tables: list[Table], **more: Any) -> Path:
    """Write tables as JSON under bench/results/."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": about, "tables": [asdict(t) for t in tables], **more}, indent=1) + "\n")
    print(f"\nwrote {path.relative_to(ROOT)}")
    return path
