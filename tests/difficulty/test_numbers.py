import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import indicators, information, numbers, verification

pytestmark = pytest.mark.host
P, E = 60, 6


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    skill = rng.normal(0, 2, P)
    returns = skill[:, None] + rng.normal(0, 1, (1, E)) + rng.normal(0, 1, (P, E))
    return returns, rng.integers(5, 30, (P, E)), rng.integers(1, 12, P).astype(float)


@pytest.fixture(scope="module")
def found(drawn):
    return numbers.numbers(*drawn, solved=2.0, resamples=100)


def test_statistics_are_those_of_the_random_weight_study(drawn, found):
    expected = information.distribution(drawn[0], solved=2.0)
    n = {name: number.value for name, number in found.by_name.items()}
    assert n["mean"] == pytest.approx(expected.mean)
    for name in ("variance_within", "variance_between", "best", "best_fresh", "share_solving", "instance_share"):
        assert n[name] == pytest.approx(getattr(expected, name)), name
    assert n["percentile_99.9"] == pytest.approx(expected.percentile)
    bins = information.binned(drawn[0])
    assert n["pic"] == pytest.approx(information.pic(bins))
    assert n["pic_corrected"] == pytest.approx(information.pic(bins, corrected=True))
    assert n["poic"] == pytest.approx(information.poic(drawn[0], found.temperature))


def test_indicators_are_those_of_the_complexity_study(drawn, found):
    returns, _, bits = drawn
    mean = returns.mean(1)
    expected = indicators.summarise(bits.astype(int), mean)
    n = {name: number.value for name, number in found.by_name.items()}
    assert n["worst"] == pytest.approx(expected.r_min)
    assert n["variance_between"] == pytest.approx(expected.sd**2)
    assert n["interquartile_range"] == pytest.approx(expected.interquartile_range)
    assert n["kurtosis"] == pytest.approx(expected.kurtosis)
    assert n["correlation"] == pytest.approx(expected.correlation)
    assert n["correlation_max"] == pytest.approx(expected.correlation_max), "every length from 1 on occurs"
    assert n["bits_0"] == expected.hbar
    assert n["hbar_robust"] == expected.hbar_robust


def test_thresholds_are_those_of_verification(drawn, found):
    mean = drawn[0].mean(1)
    level = mean.max() - 0.25 * (mean.max() - mean.mean())
    expected = verification.acceptable(*drawn, level)
    n = {name: number.value for name, number in found.by_name.items()}
    assert n["tries_0.25"] == expected.tries[0]
    assert n["bits_0.25"] == expected.least_bits[0]
    assert n["ls_0.25"] == pytest.approx(expected.ls[0])
    solved = verification.acceptable(*drawn, 2.0)
    assert n["ls_solved"] == pytest.approx(solved.ls[0])
    assert found.thresholds[-1] == "solved"
    assert set(n) == set(numbers.WHAT), "all of them are there"


def test_every_number_has_an_interval_around_it(drawn, found):
    for name, n in found.by_name.items():
        # Extremes of a sample are ends of their intervals; PIC and POIC of a resample, with its repeated policies, lie lower.
        assert n.low <= n.high, name
        if not name.startswith(("pic", "poic")):
            assert n.low - 1e-9 <= n.value <= n.high + 1e-9, name
    again = numbers.numbers(*drawn, solved=2.0, resamples=100)
    assert again.by_name == found.by_name, "a seed, a result"
    bare = numbers.numbers(*drawn, resamples=0)
    assert all(np.isnan(n.low) for n in bare.by_name.values())
    assert "ls_solved" not in bare.by_name


@pytest.mark.slow
def test_intervals_cover():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(20):
        returns = rng.normal(3, 1, (40, 1)) + rng.normal(0, 1, (40, 2))
        n = numbers.numbers(returns, np.ones((40, 2)), np.arange(40.0), resamples=60).by_name["variance_between"]
        hits += n.low <= 1.5 <= n.high
    assert hits >= 15


def test_undetermined_and_refused():
    same = numbers.numbers(np.ones((5, 3)), np.ones((5, 3)), np.arange(5.0), solved=2.0, resamples=20)
    assert "all returns are equal (1)" in same.undetermined
    assert all(np.isnan(same.by_name[name].value) for name in ("tries_0", "bits_0.25", "ls_0.05", "hbar_robust", "pic", "correlation_max"))
    assert same.by_name["tries_solved"].value == np.inf, "what counts as solved was said, and no policy does it"
    assert "one policy" in numbers.numbers(np.ones((1, 3)), np.ones((1, 3)), np.ones(1)).undetermined
    with pytest.raises(InputError, match="policy 1 in episode 0"):
        numbers.numbers([[0.0], [np.nan]], np.ones((2, 1)), np.ones(2))
    with pytest.raises(InputError, match="lengths is of shape"):
        numbers.numbers(np.ones((2, 2)), np.ones((2, 1)), np.ones(2))


def test_differences_of_resampled_values():
    shift, p = numbers.difference(np.arange(100.0) + 200, np.arange(100.0))
    assert shift == 200
    assert p == pytest.approx(0.01), "no probability is 0"
    assert numbers.difference(np.arange(100.0), np.arange(100.0))[1] == pytest.approx(1)
    assert numbers.difference(np.array([np.inf] * 9), np.array([np.inf] * 9))[1] == 1, "both out of reach"


def test_a_share_has_an_exact_interval_even_where_nothing_is_solved():
    rng = np.random.default_rng(2)
    returns, lengths, bits = rng.random((10, 3)), np.ones((10, 3), int), np.arange(10.0)
    # Clopper and Pearson by hand: with no success in n the upper end is 1 - .025^(1/n).
    high = 1 - 0.025**0.1
    n = numbers.numbers(returns, lengths, bits, solved=2.0, resamples=20).by_name
    assert (n["share_solving"].value, n["share_solving"].low) == (0, 0)
    assert n["share_solving"].high == pytest.approx(high)
    assert (n["tries_solved"].value, n["tries_solved"].high) == (np.inf, np.inf)
    assert n["tries_solved"].low == 1, "two draws of a coin that comes up with probability .31: one is not enough for even odds, two are"
    n = numbers.numbers(returns, lengths, bits, solved=-1.0, resamples=20).by_name
    assert (n["share_solving"].low, n["share_solving"].high) == (pytest.approx(0.025**0.1), 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_keeps_nobody_from_solving(dtype):
    r = np.zeros((50, 4), dtype)
    r[:40] = 0.7  # in single precision a little less than that
    n = numbers.numbers(r, np.ones((50, 4)), np.arange(50.0), solved=0.7, resamples=0)
    assert n.by_name["share_solving"].value == 0.8
    assert n.by_name["tries_solved"].value == 0
    assert n.by_name["ls_solved"].value == 0, "returns do not vary: one episode verifies policy 0"
    assert numbers.numbers(r, np.ones((50, 4)), np.arange(50.0), solved=0.71, resamples=0).by_name["share_solving"].value == 0
