import itertools
import math

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import effective_horizon as eh

pytestmark = pytest.mark.host


def random_world(seed, states, actions=2, horizon=3):
    rng = np.random.default_rng(seed)
    shape = (states, actions)
    return eh.world(rng.integers(0, states, shape), rng.integers(0, 3, shape), rng.random(shape) < 0.15, horizon)


def outcomes(w, state, left, sequence):
    """Returns of all ways to go on at random after a sequence of actions, each equally likely (episodes that ended are repeated)."""
    out = []
    for tail in itertools.product(range(w.actions), repeat=left - len(sequence)):
        at, total = state, 0
        for a in (*sequence, *tail):
            total += int(w.reward[at, a])
            if w.terminal[at, a]:
                break
            at = int(w.next[at, a])
        out.append(total)
    return out


def best(w, state, left):
    return max(outcomes(w, state, left, ())) if left else 0


def by_listing(w, k, m, state, time=0):
    """Probability that GORP plays an optimal episode, over all outcomes of all samples."""
    left = w.horizon - time
    if left == 0:
        return 1.0
    sequences = list(itertools.product(range(w.actions), repeat=min(k, left)))
    sums = [[sum(draw) for draw in itertools.product(outcomes(w, state, left, s), repeat=m)] for s in sequences]
    chance = np.zeros(w.actions)
    total = 0
    for drawn in itertools.product(*sums):
        top = [s[0] for s, v in zip(sequences, drawn, strict=True) if v == max(drawn)]
        for a in top:
            chance[a] += 1 / len(top)
        total += 1
    chance /= total
    out = 0.0
    for a in range(w.actions):
        ended = bool(w.terminal[state, a])
        later = 0 if ended else best(w, int(w.next[state, a]), left - 1)
        if w.reward[state, a] + later == best(w, state, left):
            out += chance[a] * (1.0 if ended else by_listing(w, k, m, int(w.next[state, a]), time + 1))
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)])
def test_success_is_what_listing_all_outcomes_says(seed, k, m):
    w = random_world(seed, states=3 + 19 * seed)  # up to 98 states
    assert eh.success(w, k, m) == pytest.approx(by_listing(w, k, m, 0), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_effective_horizon_is_what_exhaustive_search_says(seed):
    w = random_world(seed, states=100)
    found = eh.effective_horizon(w)
    best_of_all = math.inf
    for k in range(1, w.horizon + 1):
        m = next((m for m in range(1, 3) if by_listing(w, k, m, 0) >= 0.5), None) if k < 3 else 1
        if m is not None:
            best_of_all = min(best_of_all, k + math.log2(m))
    assert found.value == pytest.approx(best_of_all)
    assert found.optimal == best(w, 0, w.horizon)


def corridor(length):
    """Reward at the far end; the other action leads back to the start."""
    nxt = np.stack([np.zeros(length, int), np.minimum(np.arange(length) + 1, length - 1)], 1)
    reward = np.zeros((length, 2))
    reward[-1, 1] = 1
    return eh.world(nxt, reward, reward > 0, horizon=length)


def test_a_longer_corridor_is_harder():
    values = [eh.effective_horizon(corridor(n)).value for n in (2, 4, 6, 8)]
    assert values == sorted(values)
    assert values[-1] > values[0] + 2


def test_where_every_action_is_optimal_one_step_is_enough():
    w = eh.world(np.zeros((1, 3), int), np.ones((1, 3)), np.zeros((1, 3), bool), horizon=5)
    assert eh.effective_horizon(w).value == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1]], [[0]], [[False]], 3), "does not exist"),
        (([[0]], [[0.5]], [[False]], 3), "not integers"),
        (([[0]], [[0]], [[False]], 0), "horizon is 0"),
        (([0], [[0]], [[False]], 1), "of shape"),
        (([[0]], [[0]], [[False]], 1, 4), "start is 4"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(InputError, match=words):
        eh.world(*arguments)
