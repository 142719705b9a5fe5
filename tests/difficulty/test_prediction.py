"""Predictors beside outcomes: closed cases, scipy's numbers, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import prediction
from jaxdiff.studies.reaction import table

pytestmark = pytest.mark.host


def test_a_perfect_order_and_its_permutation_p():
    found = prediction.associate(np.arange(6.0), np.arange(6.0) ** 3, resamples=10)
    assert found.spearman.value == pytest.approx(1)
    assert found.kendall.value == pytest.approx(1)
    assert found.p == pytest.approx(2 / math.factorial(6)), "of all orders only this one and its reverse are as far out"
    assert found.without_one == pytest.approx((1, 1))
    assert found.spearman.low == pytest.approx(1), "without levels there is nothing to draw anew"


def test_numbers_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(9, 30)), rng.normal(size=(9, 50))
    a[2, :5] = np.nan
    found = prediction.associate(a, b, resamples=50)
    means = np.nanmean(a, 1), b.mean(1)
    assert found.spearman.value == pytest.approx(stats.spearmanr(*means).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(*means).statistic)
    assert found.pearson == pytest.approx(stats.pearsonr(*means).statistic)
    assert found.spearman.low < found.spearman.value < found.spearman.high
    each = [stats.spearmanr(np.delete(means[0], i), np.delete(means[1], i)).statistic for i in range(9)]
    assert found.without_one == pytest.approx((min(each), max(each)))


def test_given_the_rival_nothing_is_left_of_a_copy_of_it():
    rng = np.random.default_rng(1)
    rival = rng.normal(size=40)
    outcome = rival + 0.5 * rng.normal(size=40)
    copy = rival + 0.05 * rng.normal(size=40)
    own = outcome + 0.2 * rng.normal(size=40)
    assert abs(prediction.associate(copy, outcome, rival, resamples=1).partial) < 0.3
    assert prediction.associate(own, outcome, rival, resamples=1).partial > 0.5


def test_the_paper_judged_the_same_way():
    """Section 4 of the targets: Pearson -.70, Spearman -.57 of the change; without novelty 1 -.50 and -.44."""
    whole, without = table.paper()
    assert (round(whole.pearson, 2), round(whole.spearman.value, 2)) == (0.70, 0.57)
    assert (round(without.pearson, 2), round(without.spearman.value, 2)) == (0.50, 0.44)
    assert whole.p > 0.04


def test_classes_against_losses():
    found = prediction.confusion(["easy", "hard", "medium", "easy"], [0.0, 0.9, 0.5, 0.1])
    assert found.agreement == 1
    assert np.array_equal(found.counts, np.diag([2, 1, 1]))
    assert found.by_chance == pytest.approx(0.25 + 2 * 0.0625)
    tied = [prediction.confusion(order, [0.0] * 5) for order in (["hard"] + ["easy"] * 4, ["easy"] * 4 + ["hard"])]
    assert tied[0].agreement == pytest.approx(tied[1].agreement) == pytest.approx(tied[0].by_chance)
    turned = prediction.confusion(["easy", "hard"], [1.0, 0.0])
    assert turned.agreement == 0


def test_a_predictor_that_is_always_the_same_says_nothing():
    found = prediction.associate(np.ones(5), np.arange(5.0), resamples=3)
    assert math.isnan(found.spearman.value)
    assert math.isnan(found.pearson)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: prediction.associate(np.ones(3), np.ones(3)), "at least 4"),
        (lambda: prediction.associate(np.ones(5), np.ones(6)), "like the predictor"),
        (lambda: prediction.associate(np.full((5, 2), np.nan), np.ones(5)), "without any level for item 0"),
        (lambda: prediction.associate("abc", np.ones(5)), "predictor"),
        (lambda: prediction.confusion(["soft"], [1.0]), "easy, medium, hard"),
        (lambda: prediction.confusion(["easy"], [1.0, 2.0]), "1 numbers"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
