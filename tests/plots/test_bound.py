import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.plots import bound
from tests.plots.conftest import misplaced

pytestmark = pytest.mark.host


def test_the_exact_number_of_draws():
    """A policy of weight w is missed N times with probability (1 - w)^N."""
    k = np.array([1.0, 2.0, 7.5])
    np.testing.assert_allclose((1 - 2.0**-k) ** bound.exact(k), 0.5)
    np.testing.assert_allclose((1 - 2.0**-k / 3) ** bound.exact(k, 3.0), 0.5)


def test_fm_lies_between_fl_and_fr():
    figure = bound.bound()
    left, right = figure.axes
    fr, fm, fl = (a for a in left.lines)
    k = fm.get_xdata()
    np.testing.assert_allclose(fr.get_ydata(), 2.0**k)
    np.testing.assert_allclose(fl.get_ydata(), 2.0 ** (k - 1))
    np.testing.assert_allclose(fm.get_ydata(), bound.exact(k))
    later = k >= 1
    assert (fl.get_ydata()[later] <= fm.get_ydata()[later] * (1 + 1e-9)).all()
    assert (fm.get_ydata()[later] <= fr.get_ydata()[later]).all()
    assert [a.get_linestyle() for a in (fr, fm, fl)] == ["--", "-", ":"]
    assert left.get_yscale() == "log"
    np.testing.assert_allclose(right.lines[1].get_ydata(), bound.exact(k) / 2.0**k)
    assert misplaced(figure) == []


@pytest.mark.parametrize("w_all", [0.25, 4.0])
def test_other_sums_of_weights(w_all):
    figure = bound.bound(8.0, w_all)
    assert np.isfinite(figure.axes[0].lines[1].get_ydata()).all()
    assert misplaced(figure) == []


def test_refusals():
    with pytest.raises(InputError, match="w_all is -1"):
        bound.bound(w_all=-1)
    with pytest.raises(InputError, match="longest is 2"):
        bound.bound(2, w_all=0.25)
