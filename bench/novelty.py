"""Claims about novelty distances: pairs a second, bounded memory, the same answers as a k-d tree (one action) and as brute force (more).

    python bench/novelty.py [--quick]

Rivals: scipy's k-d tree, which knows Equation 1 for one action only (a sum of norms is no Minkowski metric), and scipy's cdist, action by
action, in chunks that fit in memory. Contact steps of the slingshot world and the paper's protocol are in bench/birds.py.
"""

from __future__ import annotations

import resource
import sys
import time

import harness
import numpy as np
from harness import Table
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from jaxdiff.difficulty.action_metrics import Euclidean
from jaxdiff.difficulty.nearest import nearest

SIDE = 10_000 if "--quick" in sys.argv else 100_000
RIVAL = min(SIDE, 10_000)  # rows of one side that the slower rival is given; its time a pair does not depend on it
METRIC = Euclidean.over(np.zeros(3), np.ones(3))


def peak() -> float:
    """The most memory that this process has used so far, GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Print and write the table."""
    about = harness.say_machine()
    columns = ("actions", "pairs/s", "seconds", "memory GiB", "rival", "rival pairs/s", "largest difference")
    table = Table(f"Nearest distances, {SIDE:,} x {SIDE:,} solutions of three coordinates an action, both ways", columns)
    rng = np.random.default_rng(0)
    for actions in (1, 3, 5):
        a, b = (rng.uniform(size=(SIDE, actions, 3)).astype(np.float32) for _ in range(2))
        nearest(a[:1000], b[:1000], METRIC)
        nearest(a, b, METRIC)  # compiled and warm
        before, begin = peak(), time.perf_counter()
        near = nearest(a, b, METRIC)
        seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        if actions == 1:
            rival = "scipy KDTree, both cores, both ways"
            trees = KDTree(a[:, 0]), KDTree(b[:, 0])
            other = trees[1].query(a[:, 0], workers=-1)[0] / METRIC.maximum
            trees[0].query(b[:, 0], workers=-1)
            pairs = SIDE**2
        else:
            rival = "scipy cdist by action, in chunks, one way"
            other = brute(a[:RIVAL], b)
            pairs = RIVAL * SIDE
        taken = time.perf_counter() - begin
        gap = float(np.abs(np.asarray(near[0])[: len(other)] - other).max())
        row = {
            "pairs/s": SIDE**2 / seconds,
            "seconds": seconds,
            "memory GiB": peak() - before,
            "rival": rival,
            "rival pairs/s": pairs / taken,
        }
        table.add(actions=actions, **row, **{"largest difference": gap})
    harness.write("novelty", about, [table])


def brute(a: np.ndarray, b: np.ndarray, chunk: int = 500) -> np.ndarray:
    """Nearest distance of every row of a by Equation 1, float64."""
    out = []
    for start in range(0, len(a), chunk):
        total = np.zeros((len(a[start : start + chunk]), len(b)))
        for n in range(a.shape[1]):
            total += cdist(a[start : start + chunk, n], b[:, n])
        out.append(total.min(1))
    return np.concatenate(out) / (a.shape[1] * METRIC.maximum)


if __name__ == "__main__":
    main()
