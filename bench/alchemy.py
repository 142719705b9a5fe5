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


def loop(env: world.Alchemy, environments: int, steps: int, *, write: bool) -> Any:
    """A compiled run of B environments: `steps` random actions, auto-reset, observations written or summed; and its compile time."""
    params = env.default_params
    key, start = jax.random.split(jax.random.key(0))
    first = jax.jit(lambda k: reset_batch(env, jax.random.split(k, environments), params))(start)
    actions = jax.random.randint(key, (steps, environments), 0, env.actions, jnp.int32).astype(jnp.int8)

    readout = jnp.ones((env.observation_space(params).shape[0],), jnp.float32)

    def run(first: Any, actions: jax.Array, keys: jax.Array) -> Any:
        def body(carry: Any, now: tuple[jax.Array, jax.Array]) -> Any:
            state, total, seen = carry
            action, key = now
            obs, state, reward, *_ = step_batch(env, key, state, action, params)
            seen = seen if write else seen + obs @ readout
            return (state, total + reward, seen), obs if write else None

        zeros = jnp.zeros((environments,), jnp.float32)
        (state, total, seen), observations = jax.lax.scan(body, (first[1], zeros, zeros), (actions, keys))
        return state, total, seen, observations

    program = compiled(jax.jit(run), (first, actions, jax.random.split(jax.random.key(1), steps)))
    return program


def speed(env: world.Alchemy, *, write: bool, steps: int = STEPS, threads: int) -> tuple[float, Timing]:
    """Steps a second of the whole batch, and the timing of one run."""
    call, seconds = loop(env, ENVIRONMENTS // threads, steps, write=write)
    with ThreadPoolExecutor(threads) as pool:

        def everywhere() -> list[Any]:
            return list(pool.map(lambda _: jax.block_until_ready(call()), range(threads)))

        took = timed(everywhere, 5 if QUICK else 10)
    return ENVIRONMENTS // threads * threads * steps / took.median, Timing(took.median, took.slowest, seconds)


def bytes_of(env: world.Alchemy) -> int:
    """Bytes of one environment's state."""
    _, state = jax.eval_shape(env.reset, jax.random.key(0))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))


def by_hand(step: Any, steps: int = 2000) -> float:
    """Steps a second of a jitted step driven from Python, keys split beforehand, nothing read back inside the loop."""
    keys = list(jax.random.split(jax.random.key(0), steps))
    env = world.Alchemy()
    actions = [jnp.int32(a) for a in np.random.default_rng(0).integers(0, env.actions, steps)]
    call = jax.jit(step)

    def run() -> Any:
        _, state = env.reset(jax.random.key(1))
        reward = None
        for key, action in zip(keys, actions, strict=True):
            _, state, reward, *_ = call(key, state, action)
        return reward

    return steps / timed(run, 10).median


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
    # All environments' episodes end together: runs of one step less than an episode never reset, runs of five episodes do so five times.
    env = world.Alchemy()
    episode = env.trials * env.steps
    without, _ = speed(env, write=False, steps=episode - 1, threads=threads)
    with_reset, _ = speed(env, write=False, steps=5 * episode, threads=threads)
    rival, whose = reference()
    other = Table("other claims", ("what", "value"))
    other.add(what="auto-reset, share of the time of a step (observations summed)", value=1 - with_reset / without)
    other.add(what="one environment, jit(env.step) driven from Python, auto-reset (steps/s)", value=by_hand(env.step))
    other.add(
        what="one environment, jit(env.step_env) driven from Python, no auto-reset (steps/s)",
        value=by_hand(lambda key, state, action: env.step_env(key, state, action, env.default_params)),
    )
    took, compiling = probing()
    other.add(what="all probes of 1,000 published episodes (s)", value=took)
    other.add(what="the same, compilation (s)", value=compiling)
    other.add(what=f"{whose} (steps/s)", value=rival)
    harness.write("alchemy", about, [table, other])


if __name__ == "__main__":
    main()
