import math

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import information, response, verification

pytestmark = pytest.mark.host
# Two policies that always do the same, and one that tosses a coin.
HAND = np.array([[0.0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]])


def test_pic_is_the_direct_computation():
    # H(R) = 1 bit; H(R | theta) = 0, 0, 1.
    assert information.pic(information.binned(HAND)) == pytest.approx(1 - 1 / 3)
    r = np.array([[1.0, 2, 2, 5], [5, 5, 1, 1]])
    p = np.array([3, 2, 3]) / 8
    total = -(p * np.log2(p)).sum()
    expected = total - (1.5 + 1) / 2
    assert information.pic(information.binned(r)) == pytest.approx(expected)


def test_episodes_may_count_several_times():
    r = np.random.default_rng(0).integers(0, 5, (7, 4)).astype(float)
    w = np.array([2, 0, 1, 1])
    r[0, 0] = 4.0
    repeated = np.repeat(r, w, axis=1)
    assert information.pic(information.binned(r), w) == pytest.approx(information.pic(information.binned(repeated, 5)), abs=1e-12)
    assert information.poic(r, 2.0, w) == pytest.approx(
        information.poic(np.c_[repeated, repeated], 2.0) if r.max() == repeated.max() else 0
    )


def test_poic_is_the_direct_computation():
    # With a temperature near 0 optimal means a return of 1: 0, 1 and 1/2 of the episodes.
    assert information.poic(HAND, 1e-6) == pytest.approx(1 - 1 / 3)
    eta = 0.7
    e = math.exp(-1 / eta)
    p = [e, 1.0, (1 + e) / 2]
    h = [-(q * math.log2(q) + (1 - q) * math.log2(1 - q)) if 0 < q < 1 else 0 for q in (*p, sum(p) / 3)]
    assert information.poic(HAND, eta) == pytest.approx(h[3] - sum(h[:3]) / 3)


def test_the_temperature_is_the_best():
    r = np.random.default_rng(1).normal(size=(50, 6)).cumsum(0)
    best = information.best_temperature(r)
    assert information.poic(r, best) >= max(information.poic(r, t) for t in np.geomspace(0.01, 100, 60)) - 1e-6
    assert math.isnan(information.best_temperature(np.ones((3, 3))))


def test_the_correction_takes_off_most_of_what_chance_gives():
    r = np.random.default_rng(2).integers(0, 4, (500, 20)).astype(float)  # returns that tell nothing about the policy
    plain, corrected = (information.pic(information.binned(r), corrected=c) for c in (False, True))
    assert plain > 0.09
    assert corrected < 0.02


def test_binned_values():
    assert information.binned(np.array([[3.0, 1.0, 3.0]])).tolist() == [[1, 0, 1]]
    r = np.arange(300.0).reshape(3, 100)
    assert information.binned(r, 10).tolist() == [
        [i * 10 // 299 if i < 299 else 9 for i in range(100 * p, 100 * p + 100)] for p in range(3)
    ]


def test_distribution():
    d = information.distribution(HAND, solved=0.5)
    assert (d.mean, d.best, d.share_solving) == (0.5, 1, 2 / 3)
    assert d.variance_within == pytest.approx(1 / 9)
    assert d.variance_between == pytest.approx(1 / 6)
    assert d.percentile == pytest.approx(np.percentile([0, 1, 0.5], 99.9))
    assert math.isnan(information.distribution(HAND).share_solving)
    assert math.isnan(information.distribution(HAND[:, :1]).variance_within)


def test_the_best_is_not_the_luckiest():
    r = np.random.default_rng(3).normal(size=(1000, 10))  # all alike
    assert r.mean(1).max() > 0.8
    assert abs(information.best_fresh(r)) < 0.7


def test_share_of_the_instance():
    rng = np.random.default_rng(4)
    instance, own = rng.normal(size=(1, 400)) * 2, rng.normal(size=(300, 400))
    assert information.instance_share(instance + own) == pytest.approx(4 / 5, abs=0.05)
    assert information.instance_share(own) < 0.02


def test_trials():
    assert verification.trials_to_verify(1.0, 2.0, 0.0, 0.05) == math.ceil((1.6448536 * 2) ** 2)
    assert verification.trials_to_verify([1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]).tolist() == [1, math.inf, math.inf]


def test_acceptable_policies_of_a_hand_made_case():
    returns = np.array([[0.0, 0.0], [3.0, 5.0], [4.0, 4.0], [9.0, 9.0]])
    lengths = np.array([[8, 8], [8, 8], [8, 8], [32, 32]])
    found = verification.acceptable(returns, lengths, [1.0, 2.0, 6.0, 10.0], [3.0, 9.0, 99.0])
    assert found.share.tolist() == [0.75, 0.25, 0]
    assert found.least_bits.tolist() == [2, 10, math.inf]
    # At 3: policy 1 takes 2 + 3 bits and ceil(1.645^2 x 2) = 6 trials, 7.58 in all; policy 2 takes 6 + 3 bits.
    assert found.ls == pytest.approx([5 + math.log2(6), 15, math.inf])
    assert found.ls_policy.tolist() == [1, 3, -1]
    assert found.trials.tolist() == [6, 1, math.inf]


@pytest.mark.parametrize(("successes", "policies"), [(1, 1), (1, 10), (3, 10), (10, 10), (5, 2000)])
def test_blind_tries_are_the_response_of_equal_weights(successes, policies):
    rewards = np.r_[np.ones(successes), np.zeros(policies - successes)]
    expected = response.difficulty(np.ones(policies), rewards, 0.0)[0]
    assert verification.blind_tries(successes, policies) == pytest.approx(expected)
    assert verification.blind_tries(0, policies) == math.inf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: information.distribution(np.array([[0.0, 1], [2, np.nan]])), "nan for policy 1 in episode 1"),
        (lambda: information.distribution(np.zeros(3)), "policies, episodes"),
        (lambda: information.poic(HAND, 0.0), "temperature is 0"),
        (lambda: information.binned(HAND, 1), "bins is 1"),
        (lambda: verification.trials_to_verify(1, 1, 0, 0.7), "delta is 0.7"),
        (lambda: verification.acceptable(HAND, HAND, [0.0], [0]), "bits is of shape"),
        (lambda: verification.acceptable(HAND, HAND[:1], [0.0] * 3, [0]), "lengths is of shape"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
