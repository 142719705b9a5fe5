"""Claims about the census: seconds and memory by length, and evaluating all behaviours.

    python bench/census.py [LONGEST]

Every length is counted in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import harness
import numpy as np
from harness import Table, timed

from jaxdiff.automata import census, strategies, world


def one(longest: int) -> None:
    """Count, and print seconds, behaviours, programs and peak memory; run in a process of its own."""
    begin = time.perf_counter()
    c = census.census(longest)
    seconds = time.perf_counter() - begin
    assert c.counts.sum(0).tolist() == [6**n for n in range(longest + 1)], "every program is counted once"
    print(seconds, len(c.length), c.count.sum(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main(longest: int) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    table = Table("Census of behaviours", ("longest", "seconds", "behaviours", "programs", "peak MiB"))
    for length in sorted({8, 10, 12, longest}):
        command = [sys.executable, __file__, "--one", str(length)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=harness.ROOT / "bench")
        seconds, behaviours, programs, memory = done.stdout.split()
        row = {"longest": length, "seconds": float(seconds), "behaviours": int(behaviours), "programs": int(programs)}
        table.add(**row, **{"peak MiB": float(memory)})
    evaluation = Table(
        "Evaluating every behaviour, 300 steps, 21 cells",
        ("longest", "rules", "behaviours", "seconds", "slowest", "best reward of rule 110"),
    )
    for length in (8, 10):
        c = census.census(length)
        for rules in ((110,), (184, 110, 122, 164)):
            params = world.paper_world(np.array(rules))
            timing = timed(lambda c=c, params=params: strategies.fresh(c.programs, params, 300).numerator, 5)
            best = strategies.fresh(c.programs, world.paper_world(110), 300).reward.max()
            evaluation.add(
                longest=length,
                rules=len(rules),
                behaviours=len(c.length),
                seconds=timing.median,
                slowest=timing.slowest,
                **{"best reward of rule 110": float(best)},
            )
    harness.write("census", about, [table, evaluation])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 14)
