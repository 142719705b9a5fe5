"""Claims about the slingshot world: contact steps a second at 1,024 levels in a batch, episodes a second of the paper's protocol.

    python bench/birds.py [--quick]

The batch is shared by as many threads as there are cores. A contact step is one step of one bird against everything in its level; steps of
birds that have come to rest while others of the batch still move are counted apart. The protocol is 50 agents x 100 episodes on 100 levels
in 13 worlds; some of its levels are played and the rest is reckoned.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import harness
import jax
import jax.numpy as jnp
import numpy as np
from harness import Table, compiled, timed

from jaxdiff.birds import generator, levels, novelties, physics, shots
from jaxdiff.birds.contact import STEPS, step
from jaxdiff.birds.play import play, play_levels
from jaxdiff.birds.settling import Pile
from jaxdiff.birds.world import Birds, Params

QUICK = "--quick" in sys.argv
LEVELS, EPISODES = 1024, 5000
PROTOCOL = EPISODES * 100 * 13


def main() -> None:
    """Print and write the tables."""
    about, load = harness.say_machine(), os.getloadavg()[0]
    tables = [contact_steps(), protocol()]
    harness.write("birds", about, tables, load_before=load, load_after=os.getloadavg()[0])


def contact_steps() -> Table:
    """All contact steps of one random shot in each of 1,024 different levels."""
    env, threads = Birds(), len(os.sched_getaffinity(0))
    rng = np.random.default_rng(0)
    batch = levels.stack([generator.candidate(rng, env.slots) for _ in range(LEVELS)], env.slots)
    numbers = physics.default()
    size = LEVELS // threads

    def start(mine: levels.Level, action: jax.Array) -> Any:
        bodies = jax.vmap(lambda level: physics.bodies(level, numbers))(mine)
        pile = Pile(jnp.asarray(mine.x), jnp.asarray(mine.y), bodies.life)
        bird = shots.thrown(jnp.zeros((size,), jnp.int32), numbers)
        landed = shots.fly(bodies, pile, shots.launch(action, jnp.asarray(mine.sling), numbers), numbers, bird)
        return bodies, pile.y, shots.touch_down(pile, landed, jnp.ones((size,), jnp.bool_)), bird

    def run(bodies: Any, y: jax.Array, contact: Any, bird: Any) -> Any:
        def one(now: Any, _: None) -> Any:
            return step(bodies, y, now, numbers, bird.mass, bird.radius), (now.moving | (now.slider >= 0)).sum(dtype=jnp.int32)

        return jax.lax.scan(one, contact, None, length=STEPS)

    begin = jax.jit(start)
    actions = rng.uniform((0, 0.5, 0), 1, size=(threads, size, 3)).astype(np.float32)
    parts = [begin(levels.take(batch, slice(t * size, (t + 1) * size)), actions[t]) for t in range(threads)]
    programs = [compiled(jax.jit(run), part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:

        def everywhere() -> list[Any]:
            return list(pool.map(lambda program: jax.block_until_ready(program[0]()), programs))

        took = timed(everywhere, 5 if QUICK else 10, least_seconds=0.2)
        cpu = time.process_time()
        for _ in range(20):
            everywhere()
        cpu = (time.process_time() - cpu) / 20
    busy = sum(int(call()[1].sum()) for call, _ in programs)
    table = Table(
        "Contact steps a second", ("levels", "slots", "threads", "steps/s", "a CPU-second", "slowest", "of birds that move", "compile s")
    )
    work = size * threads * STEPS
    table.add(
        levels=size * threads,
        slots=env.slots.objects,
        threads=threads,
        **{
            "steps/s": work / took.median,
            "a CPU-second": work / cpu,
            "slowest": work / took.slowest,
            "of birds that move": busy / took.median,
            "compile s": programs[0][1],
        },
    )
    return table


def protocol() -> Table:
    """Episodes a second on random levels, before and after novelties, and what the whole protocol takes at that rate."""
    env, count = Birds(), 2 if QUICK else 4
    made = levels.generate(0, count)
    base = Params(made, physics.default())
    actions = np.random.default_rng(0).uniform(size=(count, EPISODES, env.birds, 3)).astype(np.float32)
    begin = time.perf_counter()
    play.lower(env, Params(levels.take(made, 0), base.physics), actions[0]).compile()
    compiling = time.perf_counter() - begin
    play_levels(env, base, actions[:, :EPISODES])
    columns = ("world", "levels", "episodes", "birds each", "passed", "episodes/s", "a CPU-second", "compile s", "protocol, minutes")
    table = Table("Episodes a second of the paper's protocol", columns)
    worlds = [("before", base), *((n.name, n(env, base)[1]) for n in novelties.ours())]
    for name, params in worlds[:2] if QUICK else worlds:
        begin, cpu = time.perf_counter(), time.process_time()
        outcome = play_levels(env, params, actions)
        wall, busy = time.perf_counter() - begin, time.process_time() - cpu
        rate = count * EPISODES / wall
        table.add(
            world=name,
            levels=count,
            episodes=EPISODES,
            passed=float(outcome.passed.mean()),
            **{
                "birds each": float(outcome.birds.mean()),
                "episodes/s": rate,
                "a CPU-second": count * EPISODES / busy,
                "compile s": compiling,
                "protocol, minutes": PROTOCOL / rate / 60,
            },
        )
    return table


if __name__ == "__main__":
    main()
