import numpy as np
import pytest
from scipy import stats

from jaxdiff.difficulty import race

pytestmark = pytest.mark.host


@pytest.mark.parametrize(
    ("n", "p"), [(2000, 0.5), (2000, 0.01), (50, 0.5), (5, 0.3), (2000, 0.999), (1, 0.5), (200, 0.2), (10**9, 1e-9), (10**6, 0.25)]
)
def test_one_binomial_equals_scipy(n, p):
    sd = np.sqrt(n * p * (1 - p))
    for m in np.unique(np.clip(np.round(n * p + np.arange(-9, 10) * max(sd, 0.5)), 0, n - 1)):
        got = race._poisson_binomial_cdf(np.array([float(n)]), np.array([p]), np.array([m]))
        assert got == pytest.approx(stats.binom.cdf(m, n, p), abs=1e-10)


def test_a_sum_of_binomials_equals_convolution():
    counts, chance = np.array([3.0, 40.0, 7.0]), np.array([0.9, 0.05, 0.4])
    whole = np.ones(1)
    for c, p in zip(counts, chance, strict=True):
        whole = np.convolve(whole, stats.binom.pmf(np.arange(c + 1), c, p))
    for m in range(len(whole)):
        got = race._poisson_binomial_cdf(counts, chance, np.array([float(m)]))
        assert got == pytest.approx(whole[: m + 1].sum(), abs=1e-12)


def test_more_nodes_change_nothing(monkeypatch):
    """The quadrature is converged: twice the nodes and points give the same probabilities."""
    rng = np.random.default_rng(0)
    failures = rng.integers(0, 300, (40, 12)).astype(float)
    weights, success = 2.0 ** -np.arange(12.0), 2.0 ** -rng.uniform(0, 12, 40)
    m = np.floor(rng.random(40) * failures.sum(1))
    coarse = race.first_hit_cdf(failures, weights, success, m)
    monkeypatch.setattr(race, "_LEGENDRE", np.polynomial.legendre.leggauss(2 * race._NODES))
    monkeypatch.setattr(race, "_POINTS", 2 * race._POINTS)
    np.testing.assert_allclose(race.first_hit_cdf(failures, weights, success, m), coarse, atol=1e-9)


def test_a_huge_group_far_from_its_mean():
    """16 failures of a million rare ones: against a fine trapezoidal rule in the logarithm of time."""
    failures, weights, success, m = np.array([[1e6, 3, 4]]), 2.0 ** -np.array([13.0, 7, 5]), np.array([8.0]), 16
    t = np.exp(np.linspace(-40, np.log(5.0), 4001))
    below = []
    for chance in -np.expm1(-t[:, None] * weights):
        mass = stats.binom.pmf(np.arange(m + 1), 1e6, chance[0])
        for count, p in ((3, chance[1]), (4, chance[2])):
            mass = np.convolve(mass, stats.binom.pmf(np.arange(count + 1), count, p))[: m + 1]
        below.append(mass.sum())
    wanted = 1 - np.trapezoid(8 * t * np.exp(-8 * t) * (1 - np.array(below)), np.log(t))
    assert race.first_hit_cdf(failures, weights, success, np.array([m]))[0] == pytest.approx(wanted, abs=1e-11)
