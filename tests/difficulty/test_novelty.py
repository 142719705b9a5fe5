"""The novelty distance against worked cases, its definition written out, a k-d tree, and its invariants."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import action_metrics, nearest, novelty, novelty_levels

CASES = json.loads((Path(__file__).parents[1] / "data" / "novelty" / "vectors.json").read_text())["cases"]


def packed(solutions, k, tried=None):
    longest = max([len(s) for s in solutions] + [1])
    actions = np.full((len(solutions), longest, k), np.nan, np.float32)  # what lies beyond the length must not matter
    for row, solution in zip(actions, solutions, strict=True):
        row[: len(solution)] = solution
    return novelty.Solutions(actions, np.array([len(s) for s in solutions], np.int32), tried)


def sides(case):
    k = max([len(x) for side in ("A", "B") for solution in case[side] for x in solution] + [1])
    return packed(case["A"], k), packed(case["B"], k)


def random_solutions(rng, count, k=2, longest=3):
    length = rng.integers(1, longest + 1, count)
    return novelty.Solutions(rng.random((count, longest, k)).astype(np.float32), length.astype(np.int32))


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_worked_cases(case):
    a, b = sides(case)
    for reading, row in case["expected"]["D"].items():
        for matching, wanted in row.items():
            result = novelty.difficulty(a, b, case["max_a"], reading, matching)
            assert result.d == pytest.approx(wanted, abs=1e-6)
            assert result.d == result.size + result.shift
            assert result.undetermined == (not case["A"] and not case["B"])
    parts = {str(p.length): p for p in result.by_length}
    for length, wanted in case["expected"]["partitions"].items():
        assert (parts[length].before, parts[length].after) == (wanted["nA"], wanted["nB"])
        assert parts[length].size == wanted["size_term"]


def definition(a, b, maximum):
    """Equations 1 to 3 with the default reading and matching, one solution at a time."""
    total, lengths = 0.0, set(a.length) | set(b.length)
    for n in lengths:
        one, other = a.of_length(n).astype(float), b.of_length(n).astype(float)
        near = [min(np.linalg.norm(x - y, axis=1).sum() / (n * maximum) for y in other) for x in one] if len(one) and len(other) else [0]
        total += (len(one) - len(other) + min(len(one), len(other)) * np.mean(near)) / max(len(one), len(other))
    return total / max(len(set(a.length)), len(set(b.length)))


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12))
def test_equals_its_definition_and_keeps_its_bounds(seed, count_a, count_b):
    rng = np.random.default_rng(seed)
    a, b = random_solutions(rng, count_a), random_solutions(rng, count_b)
    result = novelty.difficulty(a, b, np.sqrt(2))
    assert result.d == pytest.approx(definition(a, b, np.sqrt(2)), abs=1e-6)
    assert result.reverse == pytest.approx(definition(b, a, np.sqrt(2)), abs=1e-6)
    for reading in ("partition_mean", "pooled"):
        for matching in novelty.MATCHINGS:
            assert -1 <= novelty.difficulty(a, b, np.sqrt(2), reading, matching).d <= 1


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_identity_and_order(seed, count):
    rng = np.random.default_rng(seed)
    a, b = random_solutions(rng, count), random_solutions(rng, 9)
    order = rng.permutation(count)
    shuffled = novelty.Solutions(a.actions[order], a.length[order])
    for reading in novelty.READINGS:
        for matching in novelty.MATCHINGS:
            same = novelty.difficulty(a, a, np.sqrt(2), reading, matching)
            assert (same.d, same.reverse) == (0, 0)
            if matching != "first":
                one, other = (novelty.difficulty(x, b, np.sqrt(2), reading, matching).d for x in (a, shuffled))
                assert one == pytest.approx(other, abs=1e-6)


def test_one_action_against_a_tree_over_several_tiles(monkeypatch):
    monkeypatch.setattr(nearest, "ROWS", 256)
    monkeypatch.setattr(nearest, "COLUMNS", 512)
    rng = np.random.default_rng(1)
    a, b = (rng.random((count, 1, 3)).astype(np.float32) for count in (700, 1300))
    found = nearest.nearest(a, b, action_metrics.Euclidean(2.0))
    np.testing.assert_allclose(found.of_a, KDTree(b[:, 0]).query(a[:, 0])[0] / 2, rtol=1e-5)
    np.testing.assert_allclose(found.of_b, KDTree(a[:, 0]).query(b[:, 0])[0] / 2, rtol=1e-5)


METRICS = {
    "euclidean": action_metrics.Euclidean.over([0, 0, 0], [2, 2, 2]),
    "hamming": action_metrics.Hamming(),
    "mixed": action_metrics.Mixed((2.0, None, 2.0)),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n", [1, 4, 20])
def test_several_actions_against_all_pairs(name, n):
    metric, rng = METRICS[name], np.random.default_rng(2)
    a, b = (rng.integers(0, 3, (count, n, 3)).astype(np.float32) for count in (40, 150))
    x, y = a[:, None].astype(float), b[None].astype(float)
    each = {
        "euclidean": lambda: np.sqrt((((x - y) / 2) ** 2).sum(-1)) / np.sqrt(3),
        "hamming": lambda: (x != y).mean(-1),
        "mixed": lambda: (abs(x - y)[..., 0] / 2 + (x != y)[..., 1] + abs(x - y)[..., 2] / 2) / 3,
    }[name]().mean(-1)
    found = nearest.nearest(a, b, metric)
    np.testing.assert_allclose(found.of_a, each.min(1), atol=1e-6)
    np.testing.assert_allclose(found.of_b, each.min(0), atol=1e-6)
    np.testing.assert_allclose(nearest.distances(a, b, metric), each, atol=1e-6)


def test_metrics_declare_their_maximum():
    low, high = [0, -1, 2], [2, 1, 4]
    assert action_metrics.largest(METRICS["euclidean"], low, high) == pytest.approx(np.sqrt(3))
    assert action_metrics.largest(METRICS["hamming"], low, high) == 1
    assert action_metrics.largest(METRICS["mixed"], low, high) == 1
    with pytest.raises(InputError, match="declares its maximum"):
        action_metrics.largest(action_metrics.Euclidean(1.0), low, high)


def test_one_hot_actions_under_euclid_are_hamming():
    rng = np.random.default_rng(3)
    one, other = (rng.integers(0, 4, (30, 5, 1)) for _ in range(2))
    coded = [np.eye(4, dtype=np.float32)[x[..., 0]] for x in (one, other)]
    left = nearest.nearest(one.astype(np.float32), other.astype(np.float32), action_metrics.Hamming())
    right = nearest.nearest(*coded, action_metrics.Euclidean(2**0.5))
    np.testing.assert_allclose(left.of_a, right.of_a, atol=1e-6)


def test_set_or_multiset():
    a, b = packed([[[0.1]], [[0.1]], [[0.3], [0.2]]], 1), packed([[[0.1]]], 1)
    assert novelty.difficulty(a, b, 1.0).by_length[0].size == 1
    assert novelty.difficulty(a, b, 1.0, duplicates="drop").by_length[0].size == 0
    assert len(a.distinct().length) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: novelty.difficulty(packed([[[0.1]]], 1), packed([[[0.1, 0.2]]], 2), 1.0), "coordinates"),
        (lambda: novelty.difficulty(packed([[[0.1]]], 1, 10), packed([[[0.2]]], 1, 20), 1.0), "the same number as a, 10"),
        (lambda: novelty.difficulty(packed([[[0.1]]], 1), packed([[[0.2]]], 1), 0), "max_action_distance is 0"),
        (lambda: novelty.difficulty(packed([[[0.0]]], 1), packed([[[5.0]]], 1), 1.0), "exceeded by 5 times"),
        (lambda: novelty.difficulty(packed([], 1), packed([], 1), 1.0, "pool"), "one of partition_mean"),
        (lambda: novelty.difficulty(packed([], 1), packed([], 1), 1.0, matching="best"), "one of mean"),
        (lambda: novelty.Solutions(np.zeros((2, 3, 1)), np.array([1, 4])), "from 1 to 3"),
        (lambda: novelty.Solutions(np.zeros((2, 3, 1)), np.array([1, 0])), "from 1 to 3"),
        (lambda: novelty.Solutions(np.zeros((2, 3, 1)), np.array([1.5, 2])), "integers"),
        (lambda: novelty.Solutions(np.zeros((2, 3)), np.array([1, 2])), "coordinates"),
        (lambda: novelty.Solutions(np.full((1, 1, 1), np.inf), np.array([1])), "finite"),
        (lambda: novelty.Solutions(np.zeros((2, 1, 1)), np.array([1, 1]), tried=1), "tried is 1"),
        (lambda: action_metrics.Euclidean(1.0, (1.0, 0.0)), "scale"),
        (lambda: action_metrics.Euclidean.over([0, 0], [1, 0]), "below high"),
        (lambda: action_metrics.Mixed(()), "one entry a coordinate"),
        (lambda: novelty.difficulty(packed([[[0.1]]], 1), packed([[[0.2]]], 1), action_metrics.Mixed((1.0, None))), "for 2 coordinates"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def of(d):
    return novelty.ReactionDifficulty(d, d, 0.0, -d, False, ())


def test_floor_covers_no_novelty_and_is_taken_off():
    """A world against itself, sampled anew: the shift is never 0, what is left when the floor is taken off is."""
    rng = np.random.default_rng(4)

    def pairs(other):
        return [novelty.difficulty(sampled(), other(), np.sqrt(2)) for _ in range(40)]

    def sampled(scale=1.0, share=0.5):
        count = int(rng.binomial(60, share))
        return novelty.Solutions(scale * rng.random((count, 1, 2)).astype(np.float32), np.ones(count, np.int32), 60)

    floor = pairs(sampled)
    nothing = novelty_levels.over_levels(pairs(sampled), floor)
    assert nothing.shift.low > 0, "two samples of one world are some distance apart"
    assert nothing.excess.low <= 0 <= nothing.excess.high
    assert nothing.verdict == novelty_levels.NO_NOVELTY
    harder = novelty_levels.over_levels(pairs(lambda: sampled(0.5, 0.3)), floor)
    assert harder.verdict == "hard"
    assert harder.excess.value == pytest.approx(harder.d.value - harder.floor.value)


def test_pure_thinning_is_no_shift():
    """Where only fewer of the same solutions work, what chance gives to as few is all the shift there is."""
    rng = np.random.default_rng(6)

    def sampled(share):
        count = int(rng.binomial(200, share))
        length = np.sort(rng.integers(1, 3, count)).astype(np.int32)
        return novelty.Solutions(rng.random((count, 2, 2)).astype(np.float32), length, 200)

    rows, floor = [], []
    for _ in range(60):
        a, again, b = sampled(0.5), sampled(0.5), sampled(0.1)
        rows.append(novelty.difficulty(a, b, np.sqrt(2)))
        thin = again.thinned(b)
        assert [len(thin.of_length(n)) for n in (1, 2)] == [min(len(again.of_length(n)), len(b.of_length(n))) for n in (1, 2)]
        floor.append(novelty.difficulty(a, thin, np.sqrt(2)))
    found = novelty_levels.over_levels(rows, floor)
    assert found.shift.low > 0
    assert found.excess.value == pytest.approx(found.size.value, abs=0.004)
    assert found.verdict == "hard"
    assert novelty_levels.over_levels(rows[:2], floor[:2]).verdict == novelty_levels.TOO_FEW


def test_classes_and_what_is_left_out():
    undetermined = novelty.difficulty(packed([], 1), packed([], 1), 1.0)
    assert undetermined.undetermined
    summary = novelty_levels.over_levels([of(0.2), of(0.3), undetermined])
    assert (summary.levels, summary.undetermined, summary.verdict) == (2, 1, "medium")
    assert summary.d.value == pytest.approx(0.25)
    assert novelty_levels.over_levels([of(0.0)]).verdict == "easy"
    assert novelty_levels.over_levels([of(0.31)]).verdict == "hard"
    assert novelty_levels.over_levels([undetermined]).verdict == novelty_levels.UNDETERMINED
    with pytest.raises(InputError, match="at least one level"):
        novelty_levels.over_levels([])
    with pytest.raises(InputError, match="like novelties"):
        novelty_levels.over_levels([of(0.1)], [])
