"""Claims about measuring any environment: CartPole, 10,000 networks x 20 episodes x at most 500 steps, against the published study's loop.

    python bench/measure.py [NETWORKS]

The rival is that loop as one would write it: gymnasium's CartPole-v1, one network at a time, NumPy matrix products, argmax. Its cost of a
step is measured in the same process on the first networks of the same population, and multiplied by the steps that all of them take.
"""

from __future__ import annotations

import os
import sys
import time

import gymnasium
import gymnax
import harness
import jax
import numpy as np
from harness import Table

from jaxdiff.core import episodes
from jaxdiff.core.adapters.gymnax import from_gymnax
from jaxdiff.populations import networks
from jaxdiff.populations.population import Population
from jaxdiff.report.measurement import measure

EPISODES, STEPS = 20, 500
TARGET_SECONDS, TARGET_FACTOR = 180.0, 50.0


def main(count: int) -> None:
    """Print and write the tables."""
    about, load = harness.say_machine(), os.getloadavg()[0]
    env, params = from_gymnax(*gymnax.make("CartPole-v1"))
    spaces = env.observation_space(params), env.action_space(params)
    table = Table(
        "CartPole, returns alone",
        (
            "architecture",
            "networks",
            "steps",
            "first call s",
            "seconds",
            "slowest",
            "steps/s",
            "plain steps/s",
            "factor",
            "goal met",
            "MiB",
        ),
    )
    for architecture in networks.PUBLISHED:
        population = networks.draw(jax.random.key(0), *spaces, count, architecture)
        begin = time.perf_counter()
        played = run(env, params, population)
        first = time.perf_counter() - begin
        timing = harness.timed(lambda population=population: run(env, params, population), repeats=5)
        steps = int(np.asarray(played.lengths, np.int64).sum())
        plain = plain_speed(population)
        factor = steps / timing.median / plain
        table.add(
            architecture=architecture.name,
            networks=count,
            steps=steps,
            seconds=timing.median,
            slowest=timing.slowest,
            factor=factor,
            MiB=harness.peak_memory(),
            **{
                "first call s": first,
                "steps/s": steps / timing.median,
                "plain steps/s": plain,
                "goal met": bool(timing.slowest <= TARGET_SECONDS and factor >= TARGET_FACTOR),
            },
        )
    whole = Table("The whole measurement, with compilation, descriptions, intervals", ("networks", "seconds", "at most", "goal met", "MiB"))
    begin = time.perf_counter()
    measure("gymnax:CartPole-v1", policies=count, episodes=EPISODES, steps=STEPS)
    spent = time.perf_counter() - begin
    within = spent <= TARGET_SECONDS
    whole.add(networks=count, seconds=spent, MiB=harness.peak_memory(), **{"at most": TARGET_SECONDS, "goal met": within})
    harness.write("measure", about, [table, whole], load_before=load, load_after=os.getloadavg()[0])


def run(env: object, params: object, population: Population) -> episodes.Episodes:
    """All episodes of a population."""
    out = episodes.play(env, params, population.act, population.params, jax.random.key(1), episodes=EPISODES, steps=STEPS)  # pyright: ignore[reportArgumentType]
    return jax.block_until_ready(out)


def plain_speed(population: Population, seconds: float = 3.0) -> float:
    """Steps a second of the plain loop, the better of two runs."""
    return max(_plain(population, seconds) for _ in range(2))


def _plain(population: Population, seconds: float) -> float:
    weights = [np.asarray(w, np.float64) for w in population.params]
    bias = population.act.architecture.bias  # pyright: ignore[reportFunctionMemberAccess]
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=0)
    steps, policy, begin = 0, 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        layers = [w[policy % population.count] for w in weights]
        policy += 1
        for _ in range(EPISODES):
            obs, _ = env.reset()
            over = False
            while not over:
                x = obs
                for number, matrix in enumerate(layers):
                    x = np.dot(matrix, np.concatenate((x, [1.0])) if bias else x)
                    if number < len(layers) - 1:
                        x = np.tanh(x)
                obs, _, terminated, truncated, _ = env.step(int(np.argmax(x)))
                over = terminated or truncated
                steps += 1
    spent = time.perf_counter() - begin
    env.close()
    return steps / spent


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
