import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import complexity, indicators


def test_a_case_by_hand():
    k = np.array([0, 1, 1, 2, 2, 4])
    r = np.array([0.5, 0.1, 0.6, 0.9, 0.2, 0.9])
    s = indicators.summarise(k, r, random_walk=[0.4, 0.6])
    assert (s.r_max, s.r_min, s.hbar, s.generated, s.distinct) == (0.9, 0.1, 2, 6, 6)
    assert s.r_mean == pytest.approx(3.2 / 6)
    np.testing.assert_array_equal(s.k, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(s.generated_k, [1, 2, 2, 0, 1])
    np.testing.assert_array_equal(s.r_max_k, [0.5, 0.6, 0.9, np.nan, 0.9])
    np.testing.assert_array_equal(s.r_min_k, [0.5, 0.1, 0.2, np.nan, 0.9])
    np.testing.assert_array_equal(s.r_max_upto, [0.5, 0.6, 0.9, 0.9, 0.9])
    np.testing.assert_array_equal(s.r_min_upto, [0.5, 0.1, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(s.r_mean_upto, [0.5, 0.4, 2.3 / 5, 2.3 / 5, 3.2 / 6])
    assert s.correlation_max == pytest.approx(stats.spearmanr([1, 2, 3, 4], [0.6, 0.9, 0.9, 0.9]).statistic)
    assert s.correlation_max_sliced == pytest.approx(stats.spearmanr([1, 2, 4], [0.6, 0.9, 0.9]).statistic)
    assert (s.random_walk_mean, s.random_walk_sd) == (0.5, pytest.approx(0.1))
    # The share of R[<=k] at or above .95 x .9: 0, 0, 1/5.
    assert s.hbar_robust == 2
    assert indicators.summarise(k, r, share=0.3).hbar_robust == 4
    np.testing.assert_allclose(s.slice_distance[1], stats.wasserstein_distance([0.5], [0.1, 0.6]) / 0.8)
    assert np.isnan(s.slice_distance[3])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=25).filter(
        lambda x: sum(i[2] for i in x) > 0
    )
)
def test_multiplicity_is_repetition(items):
    k, r, m = (np.array(x) for x in zip(*items, strict=True))
    r = r / 5
    a = indicators.summarise(k, r, m)
    b = indicators.summarise(np.repeat(k, m), np.repeat(r, m))
    for name, value in vars(a).items():
        np.testing.assert_allclose(value, getattr(b, name), atol=1e-9, err_msg=name)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_spearman_equals_scipy(pairs):
    x, y = (np.array(v, float) for v in zip(*pairs, strict=True))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(indicators.spearman(x, y))
    else:
        assert indicators.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_dispersion_equals_scipy():
    r = np.random.default_rng(0).beta(2, 5, 500)
    s = indicators.summarise(np.ones(500, int), r)
    assert s.sd == pytest.approx(r.std())
    assert s.kurtosis == pytest.approx(stats.kurtosis(r))
    assert s.interquartile_range == pytest.approx(np.subtract(*np.quantile(r, [0.75, 0.25], method="inverted_cdf")))
    assert indicators.quantile(r, 0.99) == np.quantile(r, 0.99, method="inverted_cdf")


def test_equal_rewards_are_said_to_be_undetermined():
    s = indicators.summarise([1, 2, 3], [0.5, 0.5, 0.5])
    assert s.hbar == 1
    assert s.sd == 0
    assert all(np.isnan(x) for x in (s.kurtosis, s.correlation, s.correlation_max, s.random_walk_mean, s.stabilises_at))


def test_shares_instead_of_numbers_change_nothing():
    """Multiplicities may be fractions; what is exact in integers must not be lost to rounding."""
    for n in range(100, 1100, 100):
        r = np.zeros(n)
        r[: n // 100] = 1.0
        shares = indicators.summarise(np.ones(n, int), r, np.full(n, 1 / n))
        assert shares.hbar_robust == indicators.summarise(np.ones(n, int), r).hbar_robust == 1
    rng = np.random.default_rng(0)
    assert np.isnan(indicators.spearman(np.full(6, 1.0), rng.random(6), rng.random(6)))
    assert np.isnan(indicators.summarise([1, 2, 3], [0.3] * 3, [0.2, 0.3, 0.5]).correlation)


def test_negative_rewards_have_a_robust_hardness():
    s = indicators.summarise([0, 1, 1], [-3.0, -1.0, -2.0])
    assert (s.hbar, s.hbar_robust) == (1, 1)


def test_what_never_changes_is_stable_from_the_first_slice_on():
    assert indicators.summarise([0, 0, 1, 1, 2, 2], [0, 1.0, 0, 1, 0, 1]).stabilises_at == 0


def test_slices_that_settle():
    rng = np.random.default_rng(0)
    k = np.repeat(np.arange(6), 3000)
    r = rng.random(len(k)) * np.where(k < 3, 0.3, 1.0)
    assert indicators.summarise(k, r).stabilises_at == 3


def test_normalise():
    got = indicators.normalise([0.0, 0.25, 0.5, 0.75, 1.0], centre=0.5, low=0.0, high=1.0)
    np.testing.assert_allclose(got, [-1, -0.5, 0, 0.5, 1])
    np.testing.assert_allclose(indicators.normalise([0.2, 0.6], centre=0.2, low=0.2, high=0.6), [0, 1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: indicators.summarise([], []), "at least one policy"),
        (lambda: indicators.summarise([1], [1.0, 2.0]), "shape of reward"),
        (lambda: indicators.summarise([1], [np.nan]), "not finite at item 0"),
        (lambda: indicators.summarise([-1], [0.0]), "complexity is -1"),
        (lambda: indicators.summarise([0.5], [0.0]), "integers of at least 0"),
        (lambda: indicators.summarise([1], [0.0], [0]), "multiplicity"),
        (lambda: indicators.summarise([1], [0.0], identity=[1, 2]), "one label an item"),
        (lambda: complexity.lempel_ziv([0, 1]), r"integers \[P, L\]"),
        (lambda: complexity.lempel_ziv([[10]]), "opcode is 10"),
        (lambda: complexity.levin_search_cost(3, 0), "steps is 0"),
        (lambda: complexity.levin_search_cost(3, 1, 0), "trials is 0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_lempel_ziv_is_the_papers():
    programs = np.full((4, 20), -1, np.int8)
    programs[1, :3] = [0, 2, 4]
    programs[2] = 5
    programs[3] = [0, 1, 2, 3, 4, 5, 5, 3, 1, 0, 2, 4, 0, 0, 1, 5, 2, 3, 4, 1]
    k = complexity.lempel_ziv(programs)
    assert len(zlib.compress(b"", 6)) == 8, "the empty string takes 8 bytes"
    assert k[0] == 0
    assert k[1] == 3
    assert k[2] < 5
    assert 15 <= k[3] <= 20
    np.testing.assert_array_equal(complexity.lempel_ziv(programs[[3, 0, 3]]), k[[3, 0, 3]])


def test_action_sequences():
    steady = np.zeros((1, 300), np.uint8)
    noise = np.random.default_rng(0)
    k = complexity.action_sequence(
        np.concatenate([steady, noise.integers(0, 3, (1, 300))]), np.concatenate([steady, noise.integers(0, 4, (1, 300))])
    )
    assert k[0] < 10
    assert k[1] > 120


def test_levin_search_cost():
    assert complexity.levin_search_cost(10, 300) == pytest.approx(10 * np.log2(6) + np.log2(300))
    np.testing.assert_allclose(complexity.levin_search_cost([0, 1], 4, 2, opcodes=2), [3.0, 4.0])
    assert complexity.compressed_bits(b"") == 0
