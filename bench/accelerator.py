"""Everything that matters on an accelerator, in one run of at most eight minutes.

    python bench/accelerator.py [--quick]

On whatever JAX finds: integer results must equal the CPU's, then every benchmark at accelerator sizes, with compile seconds and peak
memory. Writes bench/results/accelerator-DEVICE.json. Runs straight from the source tree; imports only jax (with its own
dependencies), numpy and the standard library.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Table, compiled, peak_memory, shown, timed

from jaxdiff.automata import compiled as policies
from jaxdiff.automata import eca, rollouts, strategies, world
from jaxdiff.difficulty import response
from jaxdiff.populations import programs as population

QUICK = "--quick" in sys.argv
SECONDS = 60 if QUICK else 7 * 60
BEGIN = time.perf_counter()
RULES = (184, 110, 122, 164)


def late() -> bool:
    """Whether no new measurement should be started."""
    return time.perf_counter() - BEGIN > SECONDS


def programs(count: int) -> np.ndarray:
    """`count` random programs; beyond 65,536 they repeat, which costs the same."""
    some = population.sample(jax.random.key(0), min(count, 65_536))
    return some if count <= len(some) else np.tile(some, (-(-count // len(some)), 1))[:count]


def same_integers() -> Table:
    """Sums of rewards on this device against the CPU's, with ==."""
    table = Table("Integer results against the CPU", ("what", "values", "equal"))
    cpu = jax.devices("cpu")[0]
    some = programs(512)

    def check(what: str, run: Callable[[], Any]) -> None:
        here = run()
        with jax.default_device(cpu):
            there = run()
        pairs = list(zip(jax.tree.leaves(here), jax.tree.leaves(there), strict=True))
        equal = all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
        table.add(what=what, values=sum(np.size(a) for a, _ in pairs), equal=equal)

    for width in (21, 40, 101):
        check(f"Fresh, width {width}", lambda width=width: strategies.fresh(some, world.paper_world(RULES, width), 300))
    check("Chained, with walkers", lambda: strategies.chained(some[:100], world.paper_world(RULES), 100, walkers=5, key=jax.random.key(1)))
    check("all 256 rules, width 100, 50 updates", lambda: eca.advance(np.arange(100) % 3 % 2, np.arange(256), 50))
    return table


def evaluation() -> Table:
    """Policy-steps a second, by number of policies and by how the loop is compiled."""
    table = Table(
        "Policy evaluation, Fresh, 4 rules, 21 cells, 300 steps",
        ("policies", "unroll", "materialise", "policy-steps/s", "slowest", "compile s", "peak MiB"),
    )
    cpu = jax.default_backend() == "cpu"
    rule, cells, position, _ = world.batched(world.paper_world(RULES))
    sizes = (1 << 14, 1 << 16) if cpu or QUICK else (1 << 16, 1 << 18, 1 << 20, 1 << 22)
    own = rollouts.shape_for(21, 300)
    variants = {(own.unroll, own.materialise), (1, True), (1, False)} | (set() if cpu else {(4, False), (8, False), (16, False), (8, True)})
    for count in sizes:
        linear = policies.compile_programs(jnp.asarray(programs(count // len(RULES))))
        for unroll, materialise in sorted(variants):
            if late():
                return table
            shape = rollouts.Shape(21, 300, 1, unroll, materialise)
            run, seconds = compiled(rollouts.fresh, (linear, rule, cells, position), (shape,))
            timing = timed(run, 5)
            table.add(
                **{
                    "policies": count,
                    "unroll": unroll,
                    "materialise": f"{materialise}{' (default)' if (unroll, materialise) == (own.unroll, own.materialise) else ''}",
                    "policy-steps/s": count * 300 / timing.median,
                    "slowest": count * 300 / timing.slowest,
                    "compile s": seconds,
                    "peak MiB": peak_memory(),
                }
            )
    return table


def sequences() -> Table:
    """Chained: policies one after the other, many sequences side by side."""
    table = Table(
        "Chained, 4 rules, 100 policies of 300 steps (policy-steps/s)",
        ("sequences", "policy-steps/s", "seconds", "first call s", "peak MiB"),
    )
    for count in (1, 16, 256, *(() if QUICK or jax.default_backend() == "cpu" else (4_096, 65_536))):
        if late():
            break
        some = programs(100 * count).reshape(count, 100, -1)
        begin = time.perf_counter()
        strategies.chained(some, world.paper_world(RULES), 300)
        first = time.perf_counter() - begin
        timing = timed(lambda some=some: strategies.chained(some, world.paper_world(RULES), 300).numerator, 3)
        table.add(
            **{
                "sequences": count,
                "policy-steps/s": 4 * 100 * 300 * count / timing.median,
                "seconds": timing.median,
                "first call s": first,
                "peak MiB": peak_memory(),
            }
        )
    return table


def updates() -> Table:
    """Automata without agents."""
    table = Table("Automaton updates, width 1024, 1000 steps", ("batch", "cell-updates/s", "slowest", "compile s", "peak MiB"))
    for batch in (256, *(() if QUICK or jax.default_backend() == "cpu" else (16_384, 262_144))):
        if late():
            break
        cells = jnp.asarray(np.random.default_rng(0).integers(0, 2, (batch, 1_024)), jnp.uint8)
        run, seconds = compiled(eca._advance, (cells, jnp.uint32(110)), (1_000,))
        timing = timed(run, 5)
        table.add(
            **{
                "batch": batch,
                "cell-updates/s": batch * 1_024 * 1_000 / timing.median,
                "slowest": batch * 1_024 * 1_000 / timing.slowest,
                "compile s": seconds,
                "peak MiB": peak_memory(),
            }
        )
    return table


def monte_carlo() -> Table:
    """The paper's estimator for many rules at once."""
    table = Table(
        "Response functions, Monte Carlo, 400 repeats, 2,000 policies, 101 gammas", ("rules", "seconds", "slowest", "first call s")
    )
    rng = np.random.default_rng(0)
    for rules in (4, *(() if QUICK else (256,))):
        if late():
            break
        weights, rewards = response.universal_weights(rng.integers(0, 20, (rules, 2_000))), rng.beta(3, 3, (rules, 2_000))
        keys = iter(jax.random.split(jax.random.key(0), 100))

        def run(weights: np.ndarray = weights, rewards: np.ndarray = rewards, keys: Any = keys) -> jax.Array:
            return response.first_hit_monte_carlo(next(keys), weights, rewards, response.gammas_101())

        begin = time.perf_counter()
        jax.block_until_ready(run())
        first = time.perf_counter() - begin
        timing = timed(run, 3)
        table.add(**{"rules": rules, "seconds": timing.median, "slowest": timing.slowest, "first call s": first})
    return table


def main() -> int:
    """Run everything; 1 where integers differ."""
    about = harness.say_machine()
    tables = [part() for part in (same_integers, evaluation, sequences, updates, monte_carlo)]
    name = re.sub(r"[^a-z0-9]+", "-", str(about["device"]).lower()).strip("-")
    spent = time.perf_counter() - BEGIN
    print(f"\n{shown(spent)} s in all, peak memory {shown(peak_memory())} MiB")
    harness.write(f"accelerator-{name}", about, tables, seconds=spent, peak_mib=peak_memory())
    return int(not all(row["equal"] for row in tables[0].rows))


if __name__ == "__main__":
    sys.exit(main())
