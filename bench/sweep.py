"""Claims about sweeps: all rules in one call against one rule, the store's cost over the bare kernel, scaling over devices.

    python bench/sweep.py [--scaling]

Scaling runs the same sweep on 1, 2, 4 ... of the devices there are, each in the same process, and draws it; on a CPU set
XLA_FLAGS=--xla_force_host_platform_device_count=2 before to cut it in two.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import harness
import jax
import numpy as np
from harness import Table, timed

from jaxdiff.automata import rollouts, strategies, world
from jaxdiff.populations import programs
from jaxdiff.sweep import runner
from jaxdiff.sweep.automata import Grid, Sweep

STEPS = 300


def all_rules_in_one_call() -> Table:
    """256 rules x 2,000 policies x 300 steps against as many policy-steps in one rule."""
    table = Table("All rules in one call", ("rules", "policies", "seconds", "slowest", "policy-steps/s", "compilations", "ratio"))
    base = None
    for rules, count in (((110,), 512_000), (tuple(range(256)), 2000)):
        population = programs.sample(jax.random.key(0), count)
        params = world.paper_world(np.array(rules))
        before = rollouts.fresh._cache_size()  # pyright: ignore[reportAttributeAccessIssue]
        timing = timed(lambda p=population, w=params: strategies.fresh(p, w, STEPS).numerator, 5)
        compilations = rollouts.fresh._cache_size() - before  # pyright: ignore[reportAttributeAccessIssue]
        base = base or timing.median
        table.add(
            rules=len(rules),
            policies=count,
            seconds=timing.median,
            slowest=timing.slowest,
            ratio=timing.median / base,
            compilations=compilations,
            **{"policy-steps/s": len(rules) * count * STEPS / timing.median},
        )
    return table


def store_over_kernel() -> Table:
    """A whole sweep, checked and written, against the bare strategy in the same process; alternately, best of three."""
    table = Table("The store's cost", ("rules", "policies", "bare seconds", "sweep seconds", "overhead", "store MiB"))
    grid = Grid(tuple(range(256)), ("fresh",), policies=40_000, walkers=0)
    job = Sweep(grid)
    params = world.paper_world(np.asarray(grid.rules))
    population = job.evaluate(job.tasks()[0], None, jax.local_devices())["program"][0]
    bare, swept, size = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(4):
            begin = time.perf_counter()
            strategies.fresh(population, params, STEPS)
            middle = time.perf_counter()
            store = Path(folder) / f"{repeat}.zarr"
            runner.run(job, store)
            if repeat:  # the first time compiles
                bare.append(middle - begin)
                swept.append(time.perf_counter() - middle)
            size = sum(f.stat().st_size for f in store.rglob("*") if f.is_file())
            shutil.rmtree(store)
    row = {"rules": 256, "policies": grid.policies, "bare seconds": min(bare), "sweep seconds": min(swept)}
    table.add(**row, overhead=min(swept) / min(bare) - 1, **{"store MiB": size / 2**20})
    return table


def scaling() -> Table:
    """The same sweep on 1, 2, 4 ... devices: seconds, and what is left of perfect scaling."""
    table = Table("Strong scaling", ("devices", "strategy", "seconds", "policy-steps/s", "efficiency"))
    every = jax.local_devices()
    counts = sorted({*(2**i for i in range(len(every).bit_length()) if 2**i <= len(every)), len(every)})
    for strategy in ("fresh", "chained"):
        alone = None
        for count in counts:
            grid = Grid(tuple(range(256)), (strategy,), policies=40_000 if strategy == "fresh" else 2_000, walkers=0)
            seconds = []
            for _ in range(3):
                with tempfile.TemporaryDirectory() as folder:
                    begin = time.perf_counter()
                    runner.run(Sweep(grid), Path(folder) / "a.zarr", devices=every[:count])
                    seconds.append(time.perf_counter() - begin)
            best = min(seconds[1:])
            alone = alone or best
            speed = 256 * grid.policies * STEPS / best
            table.add(devices=count, strategy=strategy, seconds=best, efficiency=alone / best / count, **{"policy-steps/s": speed})
    return table


def draw(table: Table) -> Path:
    """Speed against devices, with the perfect line."""
    from matplotlib.figure import Figure

    from jaxdiff.plots import files

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    for strategy in dict.fromkeys(row["strategy"] for row in table.rows):
        rows = [row for row in table.rows if row["strategy"] == strategy]
        devices = [row["devices"] for row in rows]
        lines = axes.plot(devices, [row["policy-steps/s"] for row in rows], "o-", label=strategy)
        axes.plot(devices, [rows[0]["policy-steps/s"] * d for d in devices], ":", color=lines[0].get_color(), linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(f"devices ({jax.local_devices()[0].device_kind})")
    axes.set_ylabel("policy-steps a second")
    axes.set_title("One sweep of all 256 rules; dotted: perfect scaling", fontsize=10)
    axes.legend(frameon=False)
    return files.save(figure, harness.RESULTS / f"sweep-scaling-{jax.default_backend()}.png")


def main(arguments: list[str]) -> None:
    """Print and write the tables."""
    about = harness.say_machine()
    if arguments == ["--scaling"]:
        table = scaling()
        harness.write(f"sweep-scaling-{jax.default_backend()}", about, [table])
        print(f"drawn in {draw(table)}")
    else:
        harness.write("sweep", about, [all_rules_in_one_call(), store_over_kernel()])


if __name__ == "__main__":
    main(sys.argv[1:])
