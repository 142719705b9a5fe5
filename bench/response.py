"""Claims about speed of the response functions: 101 tolerance levels, both sides, 2,000 policies.

    python bench/response.py [--quick]

The rival is the paper's procedure (section 5.4) in NumPy, written as well as it can be without changing it: for every gamma and every
one of 400 repeats a random order by weights, the running maximum, and the number of falses.
"""

from __future__ import annotations

import sys
import time

import harness
import jax
import numpy as np
from harness import Table, timed

from jaxdiff.difficulty import response

QUICK = "--quick" in sys.argv
POLICIES, REPEATS = 2_000, 400


def paper_procedure(rng: np.random.Generator, weights: np.ndarray, rewards: np.ndarray, gammas: np.ndarray, repeats: int) -> np.ndarray:
    """Sum of falses for every gamma and side, [2, G]: an order of drawing is the order of exponential clocks."""
    out = np.zeros((2, len(gammas)))
    mean, best = rewards.mean(), (rewards.max(), rewards.min())
    for s, sign in enumerate((1.0, -1.0)):
        for g, gamma in enumerate(gammas):
            target = (1 - gamma) * (best[s] - mean) + mean
            for _ in range(repeats):
                order = np.argsort(rng.exponential(size=len(weights)) / weights)
                so_far = np.maximum.accumulate(sign * rewards[order])
                out[s, g] += np.count_nonzero(so_far < sign * target - 1e-12)
    return out / repeats


def main() -> None:
    """Print and write the table."""
    about = harness.say_machine()
    rng = np.random.default_rng(0)
    weights = response.universal_weights(rng.integers(0, 20, POLICIES))
    rewards = rng.beta(3, 3, POLICIES)
    gammas = response.gammas_101()
    table = Table(
        f"Response functions: {len(gammas)} gammas, both sides, {POLICIES} policies",
        ("what", "seconds", "slowest", "compile s", "x paper's procedure"),
    )
    some = 4 if QUICK else 20
    begin = time.perf_counter()
    sampled = paper_procedure(rng, weights, rewards, gammas, some)
    rival = (time.perf_counter() - begin) * REPEATS / some
    table.add(**{"what": f"paper's procedure in NumPy, 400 repeats ({some} timed)", "seconds": rival, "x paper's procedure": 1.0})

    def both(statistic: response.Statistic) -> list[np.ndarray]:
        return [response.first_hit(weights, rewards, gammas, side, statistic) for side in response.SIDES]

    exact: tuple[tuple[response.Statistic, str], ...] = (
        ("mean_falses", "exact sum of falses (closed form)"),
        ("median", "exact Equation 9 (median)"),
    )
    for statistic, what in exact:
        timing = timed(lambda statistic=statistic: both(statistic), 5)
        table.add(**{"what": what, "seconds": timing.median, "slowest": timing.slowest, "x paper's procedure": rival / timing.median})
    keys = iter(jax.random.split(jax.random.key(0), 1_000))

    def monte_carlo() -> list[jax.Array]:
        return [response.first_hit_monte_carlo(next(keys), weights, rewards, gammas, REPEATS, side) for side in response.SIDES]

    begin = time.perf_counter()
    estimate = [np.asarray(x) for x in monte_carlo()]
    first = time.perf_counter() - begin
    timing = timed(monte_carlo, 5)
    table.add(
        **{
            "what": "Monte Carlo, 400 repeats, jitted",
            "seconds": timing.median,
            "slowest": timing.slowest,
            "compile s": first - timing.median,
            "x paper's procedure": rival / timing.median,
        }
    )
    known = both("mean_falses")
    error = max(float(np.max(np.abs(a - b) / (1 + b))) for a, b in zip(estimate, known, strict=True))
    spread = max(float(np.max(np.abs(a - b) / (1 + b))) for a, b in zip(sampled, known, strict=True))
    print(
        f"\nlargest relative error against the closed form: jitted Monte Carlo {error:.3f} (400 repeats), procedure {spread:.3f} ({some})"
    )
    begin = time.perf_counter()
    response.q(weights, rewards, 0.0)
    table.add(**{"what": f"exact q(N) for all N = 1..{POLICIES}, one gamma", "seconds": time.perf_counter() - begin})
    harness.write("response", about, [table])


if __name__ == "__main__":
    main()
