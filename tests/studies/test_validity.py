import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.studies import validity

pytestmark = pytest.mark.host
INF = np.inf


def times(values, censored=()):
    hidden = np.isin(np.arange(len(values)), censored)
    return validity.Times(np.array(values, float), hidden)


def test_medians_of_censored_seeds():
    spent = [np.array([10, 20, 90]), np.array([10, 100, 100]), np.array([100, 100, 100])]
    never = [np.array([False, False, False]), np.array([False, True, True]), np.array([True] * 3)]
    found = validity.medians(spent, never)
    assert found.value.tolist() == [20, 100, 100]
    assert found.censored.tolist() == [False, True, True]


def test_without_censoring_and_ties_concordance_is_kendalls_tau():
    from scipy import stats

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    expected = stats.kendalltau(x, y).statistic
    assert validity.concordance(x, times(y)) == pytest.approx(expected)
    assert validity.concordance(-x, times(y)) == pytest.approx(-expected)


def test_pairs_that_censoring_hides_are_no_pairs():
    # The last two are longer than 100, nobody knows how much: five of the six pairs are known, all concordant.
    t = times([10, 20, 100, 100], censored=(2, 3))
    assert validity.concordance(np.array([1.0, 2, 4, 3]), t) == 1
    assert validity.concordance(np.array([1.0, 2, 3, 4]), t) == 1
    assert validity.concordance(np.array([2.0, 1, 3, 4]), t) == pytest.approx(3 / 5)
    assert validity.concordance(np.array([1.0, 1, INF, INF]), t) == pytest.approx(4 / 5), "a tie in the measure is half right"
    # Censored at 15, before the second learned: only the first is known to be faster.
    assert validity.concordance(np.array([1.0, 5, 2]), times([10, 20, 15], censored=(2,))) == 1
    assert np.isnan(validity.concordance(np.array([1.0, 2]), times([5, 5], censored=(0, 1))))
    with pytest.raises(InputError, match="NaN"):
        validity.concordance(np.array([1.0, np.nan]), times([1, 2]))


def test_groups_and_spearman():
    t = times([1, 2, 3, 4])
    x = np.array([1.0, 2, 0, 1])
    assert validity.concordance(x, t, np.array(["a", "a", "b", "b"])) == 1
    assert validity.concordance(x, t) < 1
    assert validity.spearman(np.array([1.0, 2, 3, INF]), t) == pytest.approx(1)
    # Censored worlds tie at the top, wherever they were cut.
    assert validity.spearman(np.array([1.0, 2, 3, 3]), times([1, 2, 9, 7], censored=(2, 3))) == pytest.approx(1)


def test_intervals_cover_and_leave_undefined_worlds_out():
    rng = np.random.default_rng(1)
    y = rng.normal(size=40)
    x = y + rng.normal(size=40)
    x[:5] = np.nan
    found = validity.estimate(validity.concordance, x, times(y), validity.draws(40, 200))
    assert found.worlds == 35
    assert found.low < found.value < found.high
    assert str(found).count("[") == 1


def test_along_a_knob():
    walk = validity.along(("a", "b", "c"), {"a": 1, "b": 1, "c": INF})
    assert (walk.rise, walk.tie, walk.fall) == (2, 1, 0)
    assert walk.monotone
    assert validity.along(("a", "b"), {"a": 2, "b": 1}).word == "falls"
    assert validity.along(("a", "b"), {"a": 2, "b": 2}).word == "flat"
    assert validity.along(("a", "b"), {"a": 2, "b": np.nan}).word == "undefined"
    assert validity.along(("a", "b", "c"), {"a": 2, "b": 1, "c": 3}).word == "mixed"
    assert validity.along_times(("a", "b"), {"a": (50, False), "b": (40, True)}).word == "rises"
    assert validity.along_times(("a", "b"), {"a": (50, True), "b": (40, True)}).word == "flat"


def test_sentences_say_who_wins_and_where_ours_fails():
    good, bad = validity.Estimate(0.8, 0.6, 0.9, 10), validity.Estimate(-0.5, -0.7, -0.2, 10)
    ours = validity.Estimate(0.3, -0.1, 0.6, 10)
    rises, flat = validity.Steps(1, 0, 0), validity.Steps(0, 1, 0)
    walks = {"noise": {"q": rises, "ours": flat, "pic": rises}, "delay": {"q": flat, "ours": flat, "pic": rises}}
    said = " ".join(
        validity.sentences("q", {"pic": good, "ours": ours, "variance": bad}, {"pic": 1, "ours": 0.01, "variance": 0}, walks, ("ours",))
    )
    assert "q: pic orders worlds best, 0.80 [0.60, 0.90]." in said
    assert "more than chance against all others" in said
    assert "wrong way round: variance" in said
    assert "no relation: ours" in said
    assert "along 1 of 2 knobs" in said
    assert "ours fails along 1 of those 1: noise (flat)" in said
