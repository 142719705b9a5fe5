import jax
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.plots import catalogue
from jaxdiff.studies import adaptive, assembly, item_bank, persons
from tests import sweeps
from tests.plots.conftest import line, misplaced, pixels

pytestmark = pytest.mark.slow

RULES = (0, 30, 110, 124, 164)


@pytest.fixture(scope="module")
def swept():
    return sweeps.sweep(RULES, seeds=1)


@pytest.fixture(scope="module")
def bank(swept):
    return item_bank.items(swept)


def test_the_catalogue_shows_every_class_once(bank):
    figure = catalogue.catalogue(bank, "chained")
    drawn = pixels(figure)
    assert drawn.std() > 10
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert sorted(rows) == ["0", "110", "164", "30"], "124 is the mirror image of 110"
    assert rows[0] == "0", "what tells nothing comes first"
    area = bank.icc.sel(strategy="chained").mean("theta_budget")
    order = [float(area.sel(rule=int(rule))) for rule in rows[1:]]
    assert order == sorted(order, reverse=True)
    assert misplaced(figure) == []


def test_the_colour_is_the_characteristic_curve(bank):
    figure = catalogue.catalogue(bank)
    ax = figure.axes[0]
    (image,) = ax.images
    rows = [int(text.get_text()) for text in ax.get_yticklabels()]
    value = np.ma.filled(image.get_array(), np.nan)
    curve = bank.icc.sel(strategy="fresh", rule=110).values
    row = value[rows.index(110)]
    assert row[0] == pytest.approx(curve[0])
    assert row[-1] == pytest.approx(curve[-1])
    assert np.isnan(value[rows.index(0)]).all()


def test_a_hand_picked_test(bank):
    test = assembly.hand_picked(bank, 3, (1, 4))
    figure = catalogue.hand_picked(test, bank)
    left, right = figure.axes
    for name in test.item.values:
        theta, p = line(left, str(name))
        np.testing.assert_array_equal(p, test.icc.sel(item=name))
        np.testing.assert_array_equal(theta, bank.theta_budget)
    total = sum(line(right, str(name))[1] for name in test.item.values)
    np.testing.assert_allclose(line(right, "all together")[1], total)
    assert misplaced(figure) == []


def test_an_adaptive_test(swept, bank):
    pytest.importorskip("catsim")
    who = persons.simulate(jax.random.key(0), swept, persons.spread(40, 5.0))
    comparison, test = adaptive.compare(bank, who, 3, 2)
    figure = catalogue.adaptive(comparison, test)
    left, right = figure.axes
    np.testing.assert_array_equal(line(left, "adaptive")[1], comparison.rmse.sel(test="adaptive"))
    np.testing.assert_array_equal(line(right, "persons")[1], test.theta_estimated.isel(given=-1))
    assert misplaced(figure) == []


def test_refusals(bank):
    with pytest.raises(InputError, match="strategy is 'levin'"):
        catalogue.catalogue(bank, "levin")
    with pytest.raises(InputError, match="without a representative rule"):
        catalogue.catalogue(bank.sel(rule=[124]))
    for draw in (catalogue.catalogue, lambda d: catalogue.adaptive(d, d), lambda d: catalogue.hand_picked(d, bank)):
        with pytest.raises(InputError, match="dataset is without"):
            draw(bank[["r_max"]])
