import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import blind_curve, numbers, response, verification

pytestmark = pytest.mark.host
MEAN = np.round(np.random.default_rng(0).gamma(2.0, size=40), 1)  # with ties
GAMMAS = np.array([0.0, 0.1, 0.25, 0.5, 1.0])


def test_the_band_is_that_of_curves_of_resampled_policies():
    curve = response.curve(np.ones(len(MEAN)), MEAN, GAMMAS)
    rng = np.random.default_rng(5)
    weights = rng.multinomial(len(MEAN), np.full(len(MEAN), 1 / len(MEAN)), size=30)
    bits = []
    for weight in weights:
        mean = np.repeat(np.sort(MEAN), weight)
        good = [(mean >= level - 1e-9).sum() for level in np.asarray(curve.reward)[len(GAMMAS) :]]
        bad = [(mean <= level + 1e-9).sum() for level in np.asarray(curve.reward)[: len(GAMMAS)]]
        side = [verification.blind_tries(x, len(mean)) for x in (bad, good)]
        bits.append(np.concatenate([-side[0], side[1]]))
    ordered = np.sort(bits, axis=0)
    low, high = blind_curve.band(curve, MEAN, resamples=30, seed=5)
    assert np.array_equal(low, ordered[1]), "29 x .025 = .7, the second of 30"
    assert np.array_equal(high, ordered[28])
    assert (low <= np.asarray(curve.theta)).all()
    assert (np.asarray(curve.theta) <= high).all()
    assert np.isinf(high[-1]), "a third of resampled populations lack the best policy"
    with pytest.raises(InputError, match="resamples"):
        blind_curve.band(curve, MEAN, resamples=0)


@pytest.mark.parametrize(("good", "count"), [(1, 1), (1, 2), (1, 1000), (3, 7), (500, 1000), (999, 1000), (1000, 1000), (7, 100_000)])
def test_tries_are_the_first_hit_of_equal_weights(good, count):
    rewards = np.r_[np.ones(good), np.zeros(count - good)]
    expected = 1.0 if good == count else response.first_hit(np.ones(count), rewards, [0.0])[0]
    assert verification.blind_tries(good, count) == np.log2(expected)
    assert verification.blind_tries([[0, good]], count).tolist() == [[np.inf, np.log2(expected)]]


def test_discrimination_is_the_slope_of_the_curve_between_the_quarters():
    rng = np.random.default_rng(1)
    returns = rng.gamma(2.0, size=(200, 1)) + rng.normal(0, 0.01, (200, 2))
    far, near = response.difficulty(np.ones(200), returns.mean(1), [0.25, 0.75])
    n = numbers.numbers(returns, np.ones((200, 2)), np.ones(200), resamples=60).by_name["discrimination"]
    assert n.value == pytest.approx(0.5 / (far - near))
    assert n.low < n.value < n.high
    jump = numbers.numbers(np.r_[np.zeros((9, 2)), np.ones((1, 2))], np.ones((10, 2)), np.ones(10), resamples=0)
    assert jump.by_name["discrimination"].value == np.inf, "nothing between bad and good: any searcher has it or not"
