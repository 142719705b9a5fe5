"""Claims about speed of the automata, beside rivals in the same process on the same cores.

    python bench/automata.py [--quick]

Policy evaluation against a compiled scalar interpreter (numba, all cores); automaton updates against cax and cellpylib.
"""

from __future__ import annotations

import sys
import time
from functools import reduce
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Table, compiled, timed

from jaxdiff.automata import compiled as policies
from jaxdiff.automata import eca, ring, rollouts, strategies, world
from jaxdiff.populations import programs as population

QUICK = "--quick" in sys.argv
RULE, WIDTH, STEPS = 110, 21, 300


def word_operations() -> int:
    """Elementwise 32-bit operations of one step of one policy, counted in the traced program (constants and copies are none)."""
    shape = rollouts.Shape(WIDTH, 1, 1, 1, False)
    word = jnp.zeros((1, 1), jnp.uint32)
    stage = (word,) * 6
    batch = rollouts.Batch((word,) * ring.frame_words(WIDTH), word)
    masks = eca.rule_masks(jnp.zeros((1, 1), jnp.uint32))

    def one(batch: rollouts.Batch, register: jax.Array, total: ring.Words, masks: tuple[jax.Array, ...]) -> Any:
        register = policies.remember(register, ring.observe(batch.frame))
        shift, upshot = policies.act(stage, register)
        return rollouts._step(batch, total, shift, upshot, masks, shape), register

    counted = {"and", "or", "xor", "not", "add", "sub", "mul", "shift_left", "shift_right_logical", "population_count", "neg", "lt"}
    return _count(jax.make_jaxpr(one)(batch, word, (word,), masks).jaxpr, counted)


def _count(jaxpr: Any, names: set[str]) -> int:
    total = 0
    for equation in jaxpr.eqns:
        inner = equation.params.get("jaxpr")
        total += _count(inner.jaxpr, names) if inner is not None else int(equation.primitive.name in names)
    return total


def integer_peak(lanes: int = 1 << 14, chains: int = 8, depth: int = 32, turns: int = 256) -> float:
    """32-bit logic and add operations a second on all of the device, measured on chains of dependent operations, eight a lane.

    One chain would measure the latency of an operation, not how many the machine can do at once.
    """

    @jax.jit
    def chain(x: jax.Array, y: jax.Array) -> jax.Array:
        def turn(_: int, x: jax.Array) -> jax.Array:
            many = [x ^ jnp.uint32(k) for k in range(chains)]
            for k in range(depth):
                many = [(m ^ y) if k % 2 else (m + y) for m in many]
            return reduce(jnp.bitwise_xor, many)

        return jax.lax.fori_loop(0, turns, turn, x)

    x = jnp.arange(lanes, dtype=jnp.uint32)
    run, _ = compiled(chain, (x, x * 3 + 1))
    return lanes * (chains * depth + 2 * chains) * turns / timed(run, 10).median


def scalar_interpreter() -> Any:
    """The rival: Definitions 5 and 6 as compiled scalar loops over all cores, rewards as exact integers."""
    import numba

    @numba.njit(parallel=True, cache=False)
    def run(programs: np.ndarray, rule: int, cells0: np.ndarray, position0: int, steps: int) -> np.ndarray:
        count, longest = programs.shape
        n = cells0.shape[0]
        half = n // 2
        out = np.zeros(count, np.int64)
        for i in numba.prange(count):
            cells, new = cells0.copy(), np.zeros_like(cells0)
            memory = np.zeros(3 * steps, np.uint8)
            position, size, total = position0, 0, 0
            length = 0
            while length < longest and programs[i, length] >= 0:
                length += 1
            for _ in range(steps):
                left, right = (position - 1) % n, (position + 1) % n
                memory[size], memory[size + 1], memory[size + 2] = cells[position], cells[left], cells[right]
                size += 3
                b, v, u = size - 1, 0, 0
                for j in range(length):
                    op = programs[i, j]
                    if op == 0:
                        b = max(b - 1, 0)
                    elif op == 1:
                        b = min(b + 1, size - 1)
                    elif op == 2:
                        v = (v + memory[b]) % 3
                    elif op == 3:
                        v = (v + 1) % 3
                    elif op == 4:
                        u = (u + memory[b]) % 4
                    else:
                        u = (u + 1) % 4
                if u == 1:
                    cells[position] = 1 - cells[position]
                elif u == 2:
                    cells[position] = 0
                elif u == 3:
                    cells[position] = 1
                if v == 1:
                    position = right
                elif v == 2:
                    position = left
                for k in range(n):
                    before = cells[k - 1] if k > 0 else cells[n - 1]
                    after = cells[k + 1] if k < n - 1 else cells[0]
                    new[k] = (rule >> (4 * before + 2 * cells[k] + after)) & 1
                cells, new = new, cells
                for d in range(1, half + 1):
                    a = position + d
                    a = a - n if a >= n else a
                    c = position - d
                    c = c + n if c < 0 else c
                    total += (int(cells[a]) + int(cells[c])) << (half - d)
            out[i] = total
        return out

    return run


def evaluation() -> Table:
    """Policy-steps a second."""
    table = Table(
        f"Policy evaluation, rule {RULE}, {WIDTH} cells, {STEPS} steps (policy-steps/s)",
        ("what", "policies", "policy-steps/s", "slowest", "compile s", "x rival", "share of integer peak"),
    )
    params = world.paper_world(RULE, WIDTH)
    rule, cells, position, _ = world.batched(params)
    interpreter, rival_count = scalar_interpreter(), 4096
    programs = population.sample(jax.random.key(0), 65_536)
    begin = time.perf_counter()
    interpreter(programs[:8], RULE, cells[0], int(position[0]), STEPS)
    rival_compile = time.perf_counter() - begin
    rival = timed(lambda: interpreter(programs[:rival_count], RULE, cells[0], int(position[0]), STEPS), 3 if QUICK else 5)
    rival_rate = rival_count * STEPS / rival.median
    table.add(
        **{
            "what": "numba scalar interpreter, all cores",
            "policies": rival_count,
            "policy-steps/s": rival_rate,
            "slowest": rival_count * STEPS / rival.slowest,
            "compile s": rival_compile,
            "x rival": 1.0,
        }
    )
    peak, operations = integer_peak(), word_operations()
    for count in (1_024, 8_192, 65_536):
        linear = policies.compile_programs(jnp.asarray(programs[:count]))
        run, seconds = compiled(rollouts.fresh, (linear, rule, cells, position), (rollouts.shape_for(WIDTH, STEPS),))
        if count == 1_024:
            mine = ring.to_int64(run().total)[0]
            assert (mine == interpreter(programs[:1_024], RULE, cells[0], int(position[0]), STEPS)).all(), "kernel and rival disagree"
        timing = timed(run)
        rate = count * STEPS / timing.median
        table.add(
            **{
                "what": "jaxdiff, Fresh",
                "policies": count,
                "policy-steps/s": rate,
                "slowest": count * STEPS / timing.slowest,
                "compile s": seconds,
                "x rival": rate / rival_rate,
                "share of integer peak": rate * operations / peak,
            }
        )
    many = programs if QUICK else np.tile(programs, (8, 1))
    timing = timed(lambda: strategies.fresh(many, params, STEPS).numerator, 5)
    rate = len(many) * STEPS / timing.median
    table.add(
        **{
            "what": "jaxdiff, strategies.fresh: checks, compiling programs, results on the host",
            "policies": len(many),
            "policy-steps/s": rate,
            "slowest": len(many) * STEPS / timing.slowest,
            "x rival": rate / rival_rate,
        }
    )
    print(f"\n{operations} word operations a step; integer peak measured here {peak:.2e} operations/s", flush=True)
    return table


def updates() -> Table:
    """Cell-updates a second of automata without agents."""
    width, batch, steps = 1_024, 256, 200
    table = Table(
        f"Automaton updates, rule {RULE}, width {width} (cell-updates/s)",
        ("what", "batch", "cell-updates/s", "slowest", "compile s", "x rival"),
    )
    cells = np.random.default_rng(0).integers(0, 2, (batch, width)).astype(np.uint8)
    rates = {}
    import cellpylib

    start = cells[:1].astype(np.int32)
    slow = timed(lambda: cellpylib.evolve(start, timesteps=20, apply_rule=lambda n, c, t: cellpylib.nks_rule(n, RULE)), 3)
    rates["cellpylib"] = width * 19 / slow.median
    table.add(**{"what": "cellpylib", "batch": 1, "cell-updates/s": rates["cellpylib"], "slowest": width * 19 / slow.slowest})
    rates["cax"] = _cax(table, cells, steps)
    for count in (1, batch):
        some = jnp.asarray(cells[:count])
        long = steps * 50 if count == 1 else steps * 5
        run, seconds = compiled(eca._advance, (some, jnp.uint32(RULE)), (long,))
        timing = timed(run)
        rate = count * width * long / timing.median
        table.add(
            **{
                "what": "jaxdiff",
                "batch": count,
                "cell-updates/s": rate,
                "slowest": count * width * long / timing.slowest,
                "compile s": seconds,
                "x rival": f"{rate / rates['cax']:.0f} x cax, {rate / rates['cellpylib']:.2g} x cellpylib",
            }
        )
    return table


def _cax(table: Table, cells: np.ndarray, steps: int) -> float:
    from cax.cs.elementary import Elementary
    from flax import nnx

    automaton: Any = Elementary(wolfram_code=Elementary.wolfram_code_from_rule_number(RULE), rngs=nnx.Rngs(0))
    best = 0.0
    for count in (1, len(cells)):
        state = jnp.asarray(cells[:count, :, None], jnp.float32)
        begin = time.perf_counter()
        last = jax.block_until_ready(automaton(state, num_steps=steps))
        first = time.perf_counter() - begin
        assert (np.asarray(last)[..., 0] == np.asarray(eca.advance(cells[:count], RULE, steps))).all(), "cax and jaxdiff disagree"
        timing = timed(lambda state=state: automaton(state, num_steps=steps), 3 if QUICK else 5)
        rate = count * cells.shape[1] * steps / timing.median
        best = max(best, rate)
        table.add(
            **{
                "what": "cax Elementary",
                "batch": count,
                "cell-updates/s": rate,
                "slowest": count * cells.shape[1] * steps / timing.slowest,
                "compile s": first - timing.median,
            }
        )
    return best


if __name__ == "__main__":
    about = harness.say_machine()
    harness.write("automata", about, [evaluation(), updates()])
