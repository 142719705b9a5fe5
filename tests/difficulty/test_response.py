import json
from itertools import permutations
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import race, response

CASES = json.loads((Path(__file__).parents[1] / "data" / "response_vectors.json").read_text())
GAMMAS = np.array([0.0, 0.1, 0.35, 0.7, 1.0])


@pytest.mark.parametrize("number", range(len(CASES)))
def test_vectors(number):
    case = CASES[number]
    weights, rewards = 2.0 ** -np.array(case["complexity"], float), np.array(case["reward"])
    for side in response.SIDES:
        rows = case[side]
        np.testing.assert_allclose(
            response.first_hit(weights, rewards, case["gammas"], side, "mean_falses"), [row["mean_falses"] for row in rows], atol=1e-10
        )
        assert response.first_hit(weights, rewards, case["gammas"], side, "median").tolist() == [row["n_median"] for row in rows]
        for gamma, row in zip(case["gammas"], rows, strict=True):
            np.testing.assert_allclose(response.q(weights, rewards, gamma, side), row["q"], atol=1e-9)


def brute_force_q(weights, success):
    """Probability of a success among the first N draws, by all orders of drawing."""
    n = len(weights)
    out = np.zeros(n)
    for order in permutations(range(n)):
        chance, left = 1.0, sum(weights)
        for i in order:
            chance *= weights[i] / left
            left -= weights[i]
        first = next(k for k, i in enumerate(order) if success[i])
        out[first:] += chance
    return out


POPULATION = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20)), min_size=1, max_size=6)


@given(POPULATION, st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.sampled_from(response.SIDES))
def test_q_equals_all_orders(population, gamma, side):
    k, r = (np.array(x, float) for x in zip(*population, strict=True))
    weights, rewards = 2.0**-k, r / 20
    t = response.thresholds(weights, rewards, gamma, side)
    reached = rewards >= t.target[0] - 1e-12 if side == "positive" else rewards <= t.target[0] + 1e-12
    assert reached.sum() == t.reached[0]
    wanted = brute_force_q(weights, reached)
    np.testing.assert_allclose(response.q(weights, rewards, gamma, side), wanted, atol=1e-9)
    assert response.first_hit(weights, rewards, gamma, side, "median")[0] == 1 + np.argmax(wanted >= race.HALF)
    np.testing.assert_allclose(response.first_hit(weights, rewards, gamma, side, "mean_falses")[0], (1 - wanted).sum(), atol=1e-9)


@given(POPULATION)
def test_duality_negated_rewards_swap_the_sides(population):
    """r -> 1 - r (section 5.4)."""
    k, r = (np.array(x, float) for x in zip(*population, strict=True))
    weights, rewards = 2.0**-k, r / 20
    for statistic in response.STATISTICS:
        there = response.difficulty(weights, 1 - rewards, GAMMAS, "positive", statistic)
        np.testing.assert_allclose(there, response.difficulty(weights, rewards, GAMMAS, "negative", statistic), atol=1e-9)


@pytest.mark.parametrize("n", [2, 10, 51, 200, 2000])
def test_propositions_3_and_4(n):
    """Uniform weights, mean = median, one best policy: q(1, 1) = 1/2, N(1) = 1, N(0) = n/2 (rounded up)."""
    rewards = np.arange(n) - (n - 1) / 2
    weights = np.ones(n)
    assert response.first_hit(weights, rewards, 0.0)[0] == np.ceil(n / 2)
    assert response.first_hit(weights, rewards, 1.0)[0] == 1
    if n % 2 == 0:
        assert response.q(weights, rewards, 1.0, sizes=[1])[0] == pytest.approx(0.5, abs=1e-10)
    np.testing.assert_allclose(response.q(weights, rewards, 0.0), np.arange(1, n + 1) / n, atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=60), st.sampled_from(response.SIDES))
def test_proposition_5(population, side):
    """N(0) <= 2^K* sum of 2^-K over the population, K* the least complexity of a best policy."""
    k, r = (np.array(x, float) for x in zip(*population, strict=True))
    best = k[r == (r.max() if side == "positive" else r.min())].min()
    bound = 2.0**best * (2.0**-k).sum()
    assert response.first_hit(2.0**-k, r, 0.0, side)[0] <= np.ceil(bound - 1e-9)


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=80))
def test_difficulty_falls_with_tolerance_and_medians_agree_with_q(population):
    k, r = (np.array(x, float) for x in zip(*population, strict=True))
    weights = 2.0**-k
    for side in response.SIDES:
        n = response.first_hit(weights, r, GAMMAS, side)
        assert (np.diff(n) <= 0).all()
        around = np.array(
            [
                response.q(weights, r, g, side, sizes=np.unique([max(m - 1, 1), m]).astype(int))
                for g, m in zip(GAMMAS[:1], n[:1], strict=True)
            ]
        )
        assert around[0, -1] >= race.HALF
        assert n[0] == 1 or around[0, 0] < race.HALF


@pytest.mark.long
@pytest.mark.slow
def test_large_population_median_is_where_q_crosses_one_half():
    rng = np.random.default_rng(0)
    weights, rewards = 2.0 ** -rng.integers(0, 20, 1000), rng.beta(3, 3, 1000)
    for gamma in (0.0, 0.05):
        q = response.q(weights, rewards, gamma)
        assert (np.diff(q) >= -1e-9).all()
        assert response.first_hit(weights, rewards, gamma)[0] == 1 + np.argmax(q >= race.HALF)
        np.testing.assert_allclose((1 - q).sum(), response.first_hit(weights, rewards, gamma, "positive", "mean_falses")[0], rtol=1e-7)


def test_multiplicity_is_repetition():
    rng = np.random.default_rng(1)
    k, r, m = rng.integers(0, 8, 12), rng.integers(0, 6, 12) / 6, rng.integers(0, 5, 12)
    weights = 2.0 ** -k.astype(float)
    many_w, many_r = np.repeat(weights, m), np.repeat(r, m)
    for side in response.SIDES:
        for statistic in response.STATISTICS:
            a = response.first_hit(weights, r, GAMMAS, side, statistic, multiplicity=m)
            np.testing.assert_allclose(a, response.first_hit(many_w, many_r, GAMMAS, side, statistic), atol=1e-9)
        np.testing.assert_allclose(response.q(weights, r, 0.1, side, multiplicity=m), response.q(many_w, many_r, 0.1, side), atol=1e-9)


def test_billions_of_policies():
    """Two kinds of equal weight, one of them good: the first hit is geometric in the limit."""
    n = response.first_hit(np.ones(2), [0.0, 1.0], 0.0, multiplicity=[3_000_000_000, 1_000_000_000])[0]
    assert n == 3  # 1 - (3/4)^2 < 1/2 <= 1 - (3/4)^3
    rare = response.first_hit(np.ones(2), [0.0, 1.0], 0.0, multiplicity=[999_999_000, 1_000])[0]
    assert rare == pytest.approx(np.log(2) / 1e-6, rel=1e-3)


def test_monte_carlo_estimates_the_mean_number_of_falses():
    rng = np.random.default_rng(2)
    k, r = rng.integers(0, 12, (3, 300)), rng.random((3, 300))
    weights = 2.0 ** -k.astype(float)
    repeats = 2000
    for side, key in zip(response.SIDES, jax.random.split(jax.random.key(0)), strict=True):
        got = np.asarray(response.first_hit_monte_carlo(key, weights, r, GAMMAS, repeats, side))
        assert got.shape == (3, 5)
        for i in range(3):
            wanted = response.first_hit(weights[i], r[i], GAMMAS, side, "mean_falses")
            # The number of failures has a standard deviation of at most its mean plus its root (a mixed geometric): five sd.
            sd = np.sqrt((wanted**2 + wanted) / repeats)
            assert (np.abs(got[i] - wanted) <= 5 * sd + 1e-6).all()
    one = response.first_hit_monte_carlo(jax.random.key(1), weights[0], r[0], GAMMAS)
    assert one.shape == (5,)


def test_monte_carlo_compiles_once_for_all_gammas_and_sides():
    rng = np.random.default_rng(3)
    r = rng.random((2, 50))
    before = response._monte_carlo._cache_size()
    for number, side in enumerate(response.SIDES):
        response.first_hit_monte_carlo(jax.random.key(number), np.ones((2, 50)), r, response.gammas_101(), 10, side)
    assert response._monte_carlo._cache_size() == before + 1


def test_curve_and_response_function():
    rng = np.random.default_rng(4)
    weights, rewards = response.universal_weights(rng.integers(0, 10, 200)), rng.random(200)
    c = response.curve(weights, rewards)
    assert c.theta.shape == c.reward.shape == c.normalised.shape == (202,)
    for values in (c.theta, c.reward, c.normalised):
        assert (np.diff(values) >= -1e-12).all()
    assert c.theta[-1] == pytest.approx(response.difficulty(weights, rewards, 0.0)[0])
    assert c.theta[0] == pytest.approx(-response.difficulty(weights, rewards, 0.0, "negative")[0])
    assert (c.reward[0], c.reward[-1]) == (rewards.min(), rewards.max())
    assert (c.normalised[0], c.normalised[-1]) == (-1, 1)
    top = response.response(c, [c.theta[-1], 100.0, 0.0, -100.0])
    assert top[:2].tolist() == [rewards.max()] * 2
    assert rewards.mean() - 1e-12 <= top[2] <= rewards.max()
    assert top[3] == rewards.min()
    assert response.response(c, 100.0, normalised=True) == 1.0
    # R(theta) is an inverse: the ability needed for what theta reaches is at most theta.
    for theta in (1.0, 2.5, 4.0):
        reach = float(response.response(c, theta, normalised=True))
        assert response.difficulty(weights, rewards, 1 - reach if reach else 1.0)[0] <= theta + 1e-9


def test_a_curve_of_few_tolerances_still_starts_at_the_mean():
    c = response.curve(np.ones(4), [0.0, 1.0, 2.0, 9.0], [0.0])
    assert c.theta.tolist() == [-1.0, 1.0]
    assert response.response(c, [0.0, -0.1, 1.0, -1.0]).tolist() == [3.0, 3.0, 9.0, 0.0]
    assert response.response(c, [0.0, 1.0], normalised=True).tolist() == [0.0, 1.0]
    assert np.isnan(response.response(c, np.nan))


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1.1e5, 1e12])
def test_the_unit_of_rewards_and_weights_does_not_matter(scale):
    rewards = np.array([2, 0, 0, 1, 2, 2, 1, 4.0])
    weights = 2.0 ** -np.array([0, 3, 60, 60, 59, 1, 2, 5.0])
    gammas = np.array([0.0, 0.5, 0.8, 1.0])
    for statistic in response.STATISTICS:
        wanted = response.first_hit(weights, rewards, gammas, "positive", statistic)
        np.testing.assert_allclose(response.first_hit(weights, rewards * scale, gammas, "positive", statistic), wanted)
        np.testing.assert_allclose(response.first_hit(weights * 1e-280, rewards, gammas, "positive", statistic), wanted)
    assert response.first_hit(np.ones(7), np.full(7, 1e6 + 0.1), [0, 0.5, 1]).tolist() == [1, 1, 1]


def test_monte_carlo_with_multiplicity_is_repetition():
    w, r, m = np.array([1.0, 0.5, 0.25]), np.array([0.1, 0.9, 0.5]), np.array([5, 1, 3])
    got = response.first_hit_monte_carlo(jax.random.key(7), w, r, GAMMAS, 200, multiplicity=m)
    again = response.first_hit_monte_carlo(jax.random.key(7), np.repeat(w, m), np.repeat(r, m), GAMMAS, 200)
    np.testing.assert_array_equal(got, again)


def test_equal_rewards_are_hit_at_once():
    c = response.curve(np.ones(5), np.full(5, 0.3))
    assert (c.theta == 0).all()


W, R = np.ones(3), np.arange(3.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: response.first_hit([], [], 0.0), "rewards is 'empty'"),
        (lambda: response.first_hit([1, 0, 1], R, 0.0), "weights is 0.0"),
        (lambda: response.first_hit([1, -1, 1], R, 0.0), "weights is -1.0"),
        (lambda: response.first_hit([1, np.nan, 1], R, 0.0), "weights is nan"),
        (lambda: response.first_hit(W, [0, np.inf, 1], 0.0), "rewards is inf"),
        (lambda: response.first_hit(W, R[:2], 0.0), "shape of rewards"),
        (lambda: response.first_hit(W, R, 1.1), "gamma is 1.1"),
        (lambda: response.first_hit(W, R, -0.1), "gamma is -0.1"),
        (lambda: response.first_hit(W, R, np.nan), "gamma is nan"),
        (lambda: response.first_hit(W, R, []), "a number or"),
        (lambda: response.first_hit(W, R, 0.0, "both"), "side is 'both'"),
        (lambda: response.first_hit(W, R, 0.0, "positive", "mode"), "statistic is 'mode'"),
        (lambda: response.first_hit(W, R, 0.0, multiplicity=[0, 0, 0]), "multiplicity"),
        (lambda: response.q(W, R, 0.0, sizes=[0]), "sizes"),
        (lambda: response.thresholds(W, R, 0.0, mean=5.0), "mean is 5.0"),
        (lambda: response.first_hit_monte_carlo(jax.random.key(0), W, R, [0.0], multiplicity=[0.5, 1, 1]), "integers of at least 0"),
        (lambda: response.first_hit_monte_carlo(jax.random.key(0), W, [R, R], [0.0]), "the shape of rewards"),
        (lambda: response.first_hit_monte_carlo(jax.random.key(0), W, R, [0.0], 2**30), "less than"),
        (lambda: response.first_hit_monte_carlo(jax.random.key(0), W, R, [0.0], 0), "repeats is 0"),
        (lambda: response.first_hit_monte_carlo(jax.random.key(0), [1, 1, 0], R, [0.0]), "weights is 0.0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
