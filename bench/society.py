"""Claims about social sessions: agent-steps a second, against a plain NumPy one of the same step, and the balance of the world.

    python bench/society.py [SESSIONS]

Tables are those of the reproduction: dense for three learners, hashed for six agents. The rival plays one session in plain Python and
NumPy, as one would write it without JAX; it is measured in the same process. Balance: a random agent alone, 100,000 sessions.
"""

from __future__ import annotations

import os
import sys
import time

import harness
import numpy as np
from harness import Table

from jaxdiff.society import graphs, scenarios, sessions, world
from jaxdiff.society.learners import Rates


def main(count: int) -> None:
    """Print and write the tables."""
    about, load = harness.say_machine(), os.getloadavg()[0]  # a shared machine shows in the load, and between wall and CPU seconds
    table = Table(
        "Agent-steps a second",
        (
            "scenario",
            "sessions",
            "steps",
            "table rows",
            "agent-steps/s",
            "a CPU-second",
            "slowest",
            "first call s",
            "plain NumPy",
            "factor",
            "collisions",
        ),
    )
    for scenario, name in (
        (scenarios.competitive(scenarios.THREE, 100_000), "three learners"),
        (scenarios.competitive(scenarios.SIX, 10_000), "six agents"),
        (scenarios.isolated("oracle", 10_000), "oracle alone"),
    ):
        begin = time.perf_counter()
        curves = scenarios.run(scenario, count)
        first = time.perf_counter() - begin
        wall, busy = [], []
        for _ in range(3):
            begin, cpu = time.perf_counter(), time.process_time()
            scenarios.run(scenario, count)
            wall.append(time.perf_counter() - begin)
            busy.append(time.process_time() - cpu)
        work = count * len(scenario.agents) * scenario.steps
        plain = plain_speed(scenario, 2000)
        table.add(
            scenario=name,
            sessions=count,
            steps=scenario.steps,
            **{
                "table rows": f"{curves.rows}{' hashed' if curves.hashed else ''}",
                "agent-steps/s": work / min(wall),
                "a CPU-second": work / min(busy),
                "slowest": work / max(wall),
                "first call s": first,
                "plain NumPy": plain,
                "factor": work / min(wall) / plain,
                "collisions": float(curves.collisions.mean()),
            },
        )
    harness.write("society", about, [table, balance()], load_before=load, load_after=os.getloadavg()[0])


def balance(count: int = 100_000, steps: int = 1000) -> Table:
    """Mean score of a random agent alone, with its 95 % interval."""
    table = Table("Balance: a random agent alone", ("sessions", "steps", "mean", "interval", "holds 0"))
    scores = [scenarios.run(scenarios.isolated("random", steps), 20_000, seed=seed, window=steps).score for seed in range(count // 20_000)]
    mean, half = scenarios.band(np.concatenate(scores))
    table.add(sessions=count, steps=steps, mean=float(mean[0]), interval=float(half[0]), **{"holds 0": bool(abs(mean[0]) <= half[0])})
    return table


def plain_speed(scenario: scenarios.Scenario, steps: int) -> float:
    """Agent-steps a second of `plain`, the best of three."""
    import jax

    params = jax.tree.map(np.asarray, graphs.sample(jax.random.split(jax.random.key(0), 1), graphs.Distribution()))
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        plain(scenario, params, steps)
        seconds.append(time.perf_counter() - begin)
    return steps * len(scenario.agents) / min(seconds)


def plain(scenario: scenarios.Scenario, params: world.Params, steps: int) -> np.ndarray:
    """One session in plain Python and NumPy: lists for places, a dictionary of rows for every learner. Mean rewards [m]."""
    rng, rates, m = np.random.default_rng(0), Rates(), len(scenario.agents)
    n_a, n_c = int(params.actions_n[0]), int(params.cells_n[0])
    table = params.table[0, :n_c, :n_a].tolist()
    table = [[cell if target < 0 else target for target in row] for cell, row in enumerate(table)]
    pattern = params.pattern[0, : int(params.pattern_n[0])].tolist()
    good, evil = rng.choice(n_c, 2, replace=False).tolist()
    places, lying = rng.integers(0, n_c, m).tolist(), np.zeros(n_c)
    q: list[dict[tuple[int, ...], np.ndarray]] = [{} for _ in range(m)]
    v: list[dict[tuple[int, ...], float]] = [{} for _ in range(m)]
    total, before = np.zeros(m), None
    for t in range(steps):
        seen, element = (good, evil, *places), pattern[t % len(pattern)]
        next_good, next_evil = _plain_move(table, element, good, evil, places, int(rng.integers(2)))
        action = []
        for seat, kind in enumerate(scenario.agents):
            here = table[places[seat]]
            if kind == "oracle":
                value = [1.0 if c == next_good else -1.0 if c == next_evil else lying[c] / 2 for c in here]
                action.append(int(rng.choice(np.flatnonzero(np.array(value) == max(value)))))
            elif kind == "follower":
                to_good = [a for a, c in enumerate(here) if c == good]
                careful = [a for a, c in enumerate(here) if c != evil] or list(range(n_a))
                action.append(int(rng.choice(to_good or careful)))
            elif kind == "random" or rng.random() < rates.epsilon:
                action.append(int(rng.integers(n_a)))
            else:
                row = q[seat].setdefault(seen, np.full(n_a, rates.initial))
                action.append(int(rng.choice(np.flatnonzero(row == row.max()))))
        if before is not None:
            _plain_learn(scenario.agents, q, v, before, seen, action, rates, n_a)
        places = [table[cell][a] for cell, a in zip(places, action, strict=True)]
        good, evil = next_good, next_evil
        lying *= 0.5
        lying[good], lying[evil] = 1.0, -1.0
        rewards = [float(lying[cell]) / places.count(cell) for cell in places]
        for cell in places:
            lying[cell] = 0.0
        total += rewards
        before = (seen, action, rewards)
    return total / steps


def _plain_move(table: list[list[int]], element: int, good: int, evil: int, places: list[int], coin: int) -> tuple[int, int]:
    to_good, to_evil = table[good][element], table[evil][element]
    to_good = good if to_good in places else to_good
    to_evil = evil if to_evil in places else to_evil
    if to_good == to_evil:
        if to_good == good or (to_evil != evil and coin == 0):
            to_evil = evil
        else:
            to_good = good
    return to_good, to_evil


def _plain_learn(kinds, q, v, before, seen, action, rates, n_a) -> None:  # noqa: ANN001
    last, acted, rewards = before
    for seat, kind in enumerate(kinds):
        if kind not in sessions.LEARNERS:
            continue
        row = q[seat].setdefault(last, np.full(n_a, rates.initial))
        after = q[seat].setdefault(seen, np.full(n_a, rates.initial))
        if kind == "q_learning":
            target = rewards[seat] + rates.gamma * after.max()
        elif kind == "sarsa":
            target = rewards[seat] + rates.gamma * after[action[seat]]
        else:
            target = rewards[seat] + rates.gamma * v[seat].get(seen, rates.initial)
            value = v[seat].get(last, rates.initial)
            v[seat][last] = value + rates.beta * (target - value)
        row[acted[seat]] += rates.alpha * (target - row[acted[seat]])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 512)
