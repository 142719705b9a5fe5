import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import irt


def test_the_papers_example():
    """Figure 1: a = 1.5, b = 3, c = .1."""
    assert irt.logistic(3.0, 1.5, 3.0, 0.1) == pytest.approx(0.55)
    assert irt.logistic(0.0, 1.5, 3.0, 0.1) == pytest.approx(0.1 + 0.9 / (1 + np.exp(4.5)))
    h = 1e-5
    assert (irt.logistic(3 + h, 1.5, 3.0, 0.1) - irt.logistic(3 - h, 1.5, 3.0, 0.1)) / (2 * h) == pytest.approx(1.5 * 0.9 / 4)
    np.testing.assert_allclose(irt.linear([0.0, 1.0], -1.0, 1.2), [-1.0, 0.2])


@given(st.floats(0.5, 4), st.floats(1, 7), st.floats(0, 0.4))
def test_a_logistic_curve_is_found_again(a, b, c):
    theta = np.linspace(0, 10, 101)
    fit = irt.fit_logistic(theta, irt.logistic(theta, a, b, c))
    assert fit.determined
    assert fit.rmse < 1e-4
    assert fit.slope_at_b == pytest.approx(fit.a * (fit.d - fit.c) / 4)
    np.testing.assert_allclose(irt.logistic(theta, fit.a, fit.b, fit.c, fit.d) + fit.residual, irt.logistic(theta, a, b, c))


def test_known_asymptotes_are_kept():
    theta = np.linspace(0, 4, 30)
    fit = irt.fit_logistic(theta, irt.logistic(theta, 1.0, 3.0), c=0.0, d=1.0)
    assert (fit.c, fit.d) == (0.0, 1.0)
    assert (fit.a, fit.b) == (pytest.approx(1.0, rel=1e-3), pytest.approx(3.0, rel=1e-3))
    half = irt.fit_logistic(theta, irt.logistic(theta, 2.0, 2.0, 0.0, 3.0), c=0.0)
    assert half.d == pytest.approx(3.0, rel=1e-2)


def test_a_step_is_fitted_steeply():
    theta = np.linspace(0, 10, 50)
    fit = irt.fit_logistic(theta, (theta > 6).astype(float))
    assert fit.b == pytest.approx(6, abs=0.3)
    assert fit.a > 20


def test_a_line_is_found_again():
    fit = irt.fit_linear([0, 1, 2, 3], [1, 3, 5, 7])
    assert (fit.z, fit.slope) == (pytest.approx(1), pytest.approx(2))
    assert fit.rmse == pytest.approx(0, abs=1e-12)


def test_what_cannot_be_fitted_is_undetermined():
    assert not irt.fit_logistic([0, 1, 2, 3], [0.5] * 4).determined
    assert not irt.fit_logistic([0, 0, 1, 1], [0.0, 0.1, 0.9, 1.0]).determined
    assert not irt.fit_linear([1, 1], [0, 1]).determined


def test_discrimination_is_the_slope():
    theta = np.linspace(0, 10, 201)
    got = irt.discrimination(theta, irt.logistic(theta, 1.5, 3.0), [3.0, -1.0, 11.0])
    np.testing.assert_allclose(got, [1.5 / 4, 0, 0], rtol=1e-3)
    assert irt.discrimination([0, 0, 1, 1, 2], [0, 0.1, 0.5, 0.6, 1.1], 0.5) > 0
    assert irt.discrimination([1, 1], [0, 1], [1.0]).tolist() == [0.0]


def test_information_is_highest_near_the_location():
    theta = np.linspace(-5, 10, 1501)
    assert theta[np.argmax(irt.information(theta, 1.5, 3.0))] == pytest.approx(3.0, abs=0.02)
    assert irt.information(3.0, 2.0, 3.0) == pytest.approx(1.0)


@pytest.mark.parametrize(("theta", "reward"), [([], []), ([0, 1], [0]), ([0, np.nan], [0, 1]), ([0, 1], [0, np.inf])])
def test_bad_input(theta, reward):
    for fit in (irt.fit_logistic, irt.fit_linear):
        with pytest.raises(InputError):
            fit(theta, reward)
