"""Would other rates bring three competing learners to the paper's .2? All combinations of a grid, at 100,000 steps.

    python bench/social_rates.py [SESSIONS]

The paper tuned its learners alone, and so does the reproduction. Here every combination is tried where it matters: Q-learning, SARSA and
QV-learning together. Combinations are sessions of one batch, in the same environments.
"""

from __future__ import annotations

import itertools
import sys

import harness
import jax
import numpy as np
from harness import Table

from jaxdiff.society import batches, graphs, scenarios
from jaxdiff.society.learners import LEARNERS, Rates
from jaxdiff.studies.society_rows import late

GRID = {"alpha": (0.05, 0.2), "gamma": (0.35, 0.7, 0.9), "epsilon": (0.003, 0.01, 0.05), "initial": (0.0, 0.5, 1.0)}
TOGETHER = 18  # combinations of a batch, so that their tables fit in memory


def main(count: int) -> None:
    """Print and write the table."""
    about = harness.say_machine()
    columns = (*GRID, *(f"{kind} {when}" for when in ("score", "last tenth") for kind in LEARNERS))
    table = Table("Three learners competing, 100,000 steps", columns)
    keys = batches.session_keys(0, np.arange(count))["environment"]
    params = jax.tree.map(np.asarray, graphs.sample(keys, scenarios.PAPER_DISTRIBUTION))
    scenario = scenarios.competitive(scenarios.THREE, 100_000)
    combinations = list(itertools.product(*GRID.values()))
    for first in range(0, len(combinations), TOGETHER):
        part = np.array(combinations[first : first + TOGETHER])
        repeated = np.repeat(part, count, axis=0)[:, :, None]
        rates = Rates(**{name: repeated[:, i] for i, name in enumerate(GRID)}, beta=0.3)
        curves = scenarios.run(scenario, len(repeated), params=params, rates=rates)
        means = [values.reshape(len(part), count, -1).mean(1) for values in (curves.score, late(curves))]
        for rate, *row in zip(part.tolist(), *means, strict=True):
            table.add(**dict(zip(columns, [*rate, *np.concatenate(row).tolist()], strict=True)))
    best = {name: max(row[name] for row in table.rows) for name in columns[len(GRID) :]}
    print("\nhighest:", ", ".join(f"{name} {value:.3f}" for name, value in best.items()))
    harness.write("social_rates", about, [table], sessions=count, highest=best)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64)
