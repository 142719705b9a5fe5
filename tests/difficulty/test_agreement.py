import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import agreement

VALUES = st.lists(st.integers(0, 6), min_size=12, max_size=12)


@given(VALUES, VALUES, st.integers(0, 1000))
def test_resampled_coefficients_are_those_of_the_resampled_items(x, y, seed):
    """A resample counts items instead of repeating them; SciPy on repeated items is the definition."""
    chosen = np.random.default_rng(seed).integers(0, 12, 12)
    often = np.bincount(chosen, minlength=12)[None]
    x, y = np.array(x, float), np.array(y, float)
    for mine, reference in ((agreement._spearman, stats.spearmanr), (agreement._kendall, stats.kendalltau)):
        if np.ptp(x[chosen]) and np.ptp(y[chosen]):
            assert mine(x, y, often)[0] == pytest.approx(reference(x[chosen], y[chosen]).statistic, abs=1e-12)
        else:
            assert np.isnan(mine(x, y, often)[0])


def test_a_correlation_is_the_mean_over_times():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.normal(size=(3, 40))
    each = [stats.spearmanr(x, row).statistic for row in y]
    found = agreement.correlation(x, y)
    assert found.value == pytest.approx(np.mean(each))
    assert (found.least, found.most) == (pytest.approx(min(each)), pytest.approx(max(each)))
    assert found.low < found.value < found.high
    assert (found.items, found.units) == (40, 40)
    both = agreement.correlation(y, y[::-1])
    assert both.most == pytest.approx(1)  # the middle time is held against itself


def test_the_interval_covers_what_is_true():
    """Independent normal pairs with correlation .5 have Spearman 6/pi asin(.25) = .483; 95 % intervals cover it about so often."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        x, noise = rng.normal(size=(2, 80))
        found = agreement.correlation(x, 0.5 * x + np.sqrt(0.75) * noise, resamples=300)
        covered += found.low <= 6 / np.pi * np.arcsin(0.25) <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_copies_of_items_are_no_evidence_when_grouped():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 30))
    alone = agreement.correlation(x, y)
    copied = agreement.correlation(np.repeat(x, 4), np.repeat(y, 4), groups=np.repeat(np.arange(30), 4))
    pretended = agreement.correlation(np.repeat(x, 4), np.repeat(y, 4))
    assert copied.units == 30
    assert copied.value == pytest.approx(alone.value)
    assert copied.high - copied.low == pytest.approx(alone.high - alone.low)
    assert pretended.high - pretended.low < 0.7 * (copied.high - copied.low)


def test_stability():
    rows = np.array([[1, 2, 3, 4], [1, 2, 4, 3], [4, 3, 2, 1]])
    found = agreement.stability(rows)
    assert (found.least, found.most, found.pairs) == (pytest.approx(-1), pytest.approx(0.8), 3)
    assert found.mean == pytest.approx((0.8 - 1 - 0.8) / 3)
    assert agreement.stability(rows[:1]).pairs == 0
    assert np.isnan(agreement.stability(np.ones((2, 4))).mean)


def test_where_nothing_varies_there_is_no_correlation():
    found = agreement.correlation(np.ones(5), np.arange(5))
    assert np.isnan([found.value, found.low, found.high, found.least, found.most]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": [1.0]}, "at least two items|goes with"),
        ({"y": [1.0, np.nan, 2.0]}, "y is not finite"),
        ({"y": [1.0, 2.0]}, "goes with x"),
        ({"coefficient": "pearson"}, "coefficient is 'pearson'"),
        ({"groups": [1, 2]}, "one label an item"),
        ({"resamples": 0}, "resamples is 0"),
        ({"level": 1.0}, "level is 1.0"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        agreement.correlation(**{"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0], **change})
    with pytest.raises(InputError, match="measure is"):
        agreement.stability([1.0, 2.0])
