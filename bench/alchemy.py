"""Claims about speed of symbolic Alchemy: steps with auto-reset, by hand, with beliefs; probes of published episodes.

    python bench/alchemy.py [--quick]

The batch is shared by as many Python threads as there are cores (each runs its own compiled loop; no array is shared). Actions are drawn
beforehand. The reference implementation is run in the same process where it can be imported; else its recorded figure is printed.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Table, Timing, compiled, timed

from jaxdiff.alchemy import probes, world
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.autoreset import reset_batch, step_batch

QUICK = "--quick" in sys.argv
ENVIRONMENTS, STEPS = 1024, 400 if QUICK else 1000
DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "alchemy"
RECORDED_REFERENCE = 1000.0  # steps a second of dm_alchemy on one core, as reported with its data; not measured here


def loop(env: world.Alchemy, environments: int, steps: int, *, write: bool, mode: Any = "same_step") -> Any:
    """A compiled run of B environments: `steps` random actions, auto-reset, observations written or summed; and its compile time."""
    params = env.default_params
    key, start = jax.random.split(jax.random.key(0))
    first = jax.jit(lambda k: reset_batch(env, jax.random.split(k, environments), params))(start)
    actions = jax.random.randint(key, (steps, environments), 0, env.actions, jnp.int32).astype(jnp.int8)

    def run(first: Any, actions: jax.Array, key: jax.Array) -> Any:
        def body(carry: Any, action: jax.Array) -> Any:
            state, key, total, seen = carry
            key, now = jax.random.split(key)
            obs, state, reward, *_ = step_batch(env, now, state, action, params, mode=mode)
            seen = seen if write else seen + obs.sum(-1)
            return (state, key, total + reward, seen), obs if write else None

        zeros = jnp.zeros((environments,), jnp.float32)
        (state, _, total, seen), observations = jax.lax.scan(body, (first[1], key, zeros, zeros), actions)
        return state, total, seen, observations

    program = compiled(jax.jit(run), (first, actions, jax.random.key(1)))
    return program


def speed(env: world.Alchemy, *, write: bool, steps: int = STEPS, threads: int, mode: Any = "same_step") -> tuple[float, Timing]:
    """Steps a second of the whole batch, and the timing of one run."""
    call, seconds = loop(env, ENVIRONMENTS // threads, steps, write=write, mode=mode)
    with ThreadPoolExecutor(threads) as pool:

        def everywhere() -> list[Any]:
            return list(pool.map(lambda _: jax.block_until_ready(call()), range(threads)))

        took = timed(everywhere, 5 if QUICK else 10)
    return ENVIRONMENTS // threads * threads * steps / took.median, Timing(took.median, took.slowest, seconds)


def bytes_of(env: world.Alchemy) -> int:
    """Bytes of one environment's state."""
    _, state = jax.eval_shape(env.reset, jax.random.key(0))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))


def by_hand(env: world.Alchemy, steps: int = 5000) -> float:
    """Steps a second of a jitted step driven from Python, keys split beforehand, nothing read back inside the loop."""
    params = env.default_params
    step = jax.jit(env.step)
    keys = list(jax.random.split(jax.random.key(0), steps))
    actions = [jnp.int32(a) for a in np.random.default_rng(0).integers(0, env.actions, steps)]

    def run() -> Any:
        _, state = env.reset(jax.random.key(1), params)
        reward = None
        for key, action in zip(keys, actions, strict=True):
            _, state, reward, *_ = step(key, state, action, params)
        return reward

    return steps / timed(run, 3).median


def probing() -> tuple[float, float]:
    """Seconds to probe the 1,000 published episodes of one agent, and to compile that."""
    with np.load(DATA / "chemistries_published.npz") as d, np.load(DATA / "published_agent_events.npz") as e:
        fields = [d[n].astype(np.int32) for n in ("graph_index", "potion_map_index", "stone_map_index", "rotation_index")]
        stones, potions = d["stones_latent"], d["potions_latent"]
        actions = probes.actions_of_events(e["ideal_observer/stone"], e["ideal_observer/potion"], world.STEPS)
    env = world.Alchemy()
    begin = time.perf_counter()
    jax.block_until_ready(probes.replay(env, Chemistry(*fields), stones, potions, actions))
    first = time.perf_counter() - begin
    took = timed(lambda: probes.replay(env, Chemistry(*fields), stones, potions, actions), 3).median
    return took, first - took


def reference() -> tuple[float, str]:
    """Steps a second of dm_alchemy, measured where it is importable."""
    try:
        from dm_alchemy import symbolic_alchemy  # pyright: ignore[reportMissingImports]
    except ImportError:
        return RECORDED_REFERENCE, "dm_alchemy, recorded"
    env = symbolic_alchemy.get_symbolic_alchemy_level("alchemy/perceptual_mapping_randomized_with_random_bottleneck", seed=0)
    env.reset()
    begin, rng = time.perf_counter(), np.random.default_rng(0)
    for action in rng.integers(0, 40, 2000):
        env.step(int(action))
    return 2000 / (time.perf_counter() - begin), "dm_alchemy, measured"


def main() -> None:
    """Run everything."""
    about = harness.say_machine()
    threads = about["cores"] if about["platform"] == "cpu" else 1
    table = Table(
        "steps a second, 1,024 environments, random actions, auto-reset", ("what", "steps/s", "slowest", "compile s", "bytes each")
    )
    cases = (
        ("every observation written", world.Alchemy(), True, STEPS),
        ("observations summed in the loop", world.Alchemy(), False, STEPS),
        ("the same with rotation", world.Alchemy(rotation=True), False, STEPS),
        ("the benchmark's belief vector, written", world.Alchemy(see="belief"), True, STEPS),
        ("exact marginals, written", world.Alchemy(see="marginals"), True, STEPS // 4),
        ("exact marginals with rotation, written", world.Alchemy(see="marginals", rotation=True), True, STEPS // 4),
    )
    for what, env, write, steps in cases:
        rate, took = speed(env, write=write, steps=steps, threads=threads)
        slowest = ENVIRONMENTS // threads * threads * steps / took.slowest
        table.add(**{"what": what, "steps/s": rate, "slowest": slowest, "compile s": took.compile, "bytes each": bytes_of(env)})
    without, _ = speed(world.Alchemy(), write=False, threads=threads, mode="disabled")
    with_reset, _ = speed(world.Alchemy(), write=False, threads=threads)
    rival, whose = reference()
    other = Table("other claims", ("what", "value"))
    other.add(what="auto-reset, share of the time of a step (observations summed)", value=1 - with_reset / without)
    other.add(what="one environment, a jitted step driven from Python (steps/s)", value=by_hand(world.Alchemy()))
    took, compiling = probing()
    other.add(what="all probes of 1,000 published episodes (s)", value=took)
    other.add(what="the same, compilation (s)", value=compiling)
    other.add(what=f"{whose} (steps/s)", value=rival)
    harness.write("alchemy", about, [table, other])


if __name__ == "__main__":
    main()
