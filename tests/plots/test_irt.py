import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.plots import irt
from tests.plots.conftest import line, misplaced, titles

pytestmark = pytest.mark.host


def test_the_papers_two_curves():
    figure = irt.models()
    left, right = figure.axes
    theta, p = line(left, "curve")
    np.testing.assert_allclose(p, 0.1 + 0.9 / (1 + np.exp(-1.5 * (theta - 3))), rtol=1e-12)
    x, y = line(right, "curve")
    np.testing.assert_allclose(y, -1 + 1.2 * x)
    assert titles(figure) == ["logistic model, right or wrong", "linear model, continuous score"]
    assert misplaced(figure) == []


def test_what_is_marked():
    left, right = irt.models().axes
    (x0, x1), (y0, y1) = line(left, "slope")
    assert (y1 - y0) / (x1 - x0) == pytest.approx(1.5 * 0.9 / 4)
    np.testing.assert_allclose(line(left, "location")[0], 3.0)
    assert line(left, "location")[1][1] == pytest.approx(0.55)
    np.testing.assert_allclose(line(left, "chance")[1], 0.1)
    np.testing.assert_allclose(line(right, "score at ability 0")[1], -1.0)


def test_other_parameters_and_refusals():
    assert misplaced(irt.models(a=3.0, b=0.5, c=0.25, z=0.5, slope=0.4)) == []
    with pytest.raises(InputError, match="a is 0"):
        irt.models(a=0)
    with pytest.raises(InputError, match="c is 1"):
        irt.models(c=1)
