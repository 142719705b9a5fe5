import sys

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import irt
from jaxdiff.studies import adaptive

pytestmark = [pytest.mark.slow, pytest.mark.host]


@pytest.fixture(scope="module")
def replayed(bank, taken):
    pytest.importorskip("catsim")
    return adaptive.replay(bank, taken, 6)


def test_the_map_to_catsims_scale_is_inverted(bank):
    scale = adaptive.scale_of(bank)
    most = float(bank.theta_budget.max())
    np.testing.assert_allclose(scale.to_catsim([0.0, most]), [-4.0, 4.0])
    theta = np.linspace(-3, 9, 50)
    np.testing.assert_allclose(scale.from_catsim(scale.to_catsim(theta)), theta)
    a, b, c, d = scale.items(1.3, 2.7)
    np.testing.assert_allclose(irt.logistic(scale.to_catsim(theta), a, b, c, d), irt.logistic(theta, 1.3, 2.7))


def test_catsim_means_the_same_by_an_item(bank):
    catsim = pytest.importorskip("catsim.irt")
    scale = adaptive.scale_of(bank)
    told = catsim.inf_hpc(scale.to_catsim(3.0), scale.items(np.array([1.3]), np.array([2.7])))
    assert told[0] / scale.unit**2 == pytest.approx(irt.information(3.0, 1.3, 2.7))


def test_answers_are_replayed_and_no_item_is_given_twice(bank, taken, replayed):
    names = replayed.item.values
    assert all(len(set(row)) == 6 for row in names)
    for person in (0, 60, 119):
        for given in range(6):
            strategy, rule = names[person, given].split("-")
            answer = bool(taken.success.sel(person=person, strategy=strategy, rule=int(rule)))
            assert bool(replayed.success[person, given]) == answer
    assert len(set(names[:, 0])) == 1, "nobody is known before the first item"
    assert len({tuple(row) for row in names}) > 1, "and then tests part"
    assert "-0" not in {name[name.index("-") :] for name in names.reshape(-1)}


def test_estimates_follow_abilities(taken, replayed):
    last = replayed.isel(given=-1)
    assert np.corrcoef(last.theta_estimated, taken.theta_budget)[0, 1] > 0.6
    assert (replayed.standard_error.isel(given=-1) < replayed.standard_error.isel(given=0)).all()
    assert "bits" in replayed.theta_estimated.attrs["long_name"]
    np.testing.assert_array_equal(replayed.theta_budget, taken.theta_budget)


def test_all_items_make_all_tests_equal(bank, taken):
    pytest.importorskip("catsim")
    items, _ = adaptive.matched(bank, taken)
    every = items.sizes["item"]
    a = adaptive.replay(bank, taken, every).theta_estimated.isel(given=-1)
    b = adaptive.scored(bank, taken, np.arange(every)).theta_estimated.isel(given=-1)
    np.testing.assert_allclose(a, b)


def test_comparison(bank, taken):
    pytest.importorskip("catsim")
    result, test = adaptive.compare(bank, taken, length=3, repeats=5)
    assert result.test.values.tolist() == ["adaptive", "hand-picked", "random"]
    off = (test.theta_estimated - test.theta_budget).isel(given=2).values
    assert float(result.rmse.sel(test="adaptive", given=3)) == pytest.approx(np.sqrt((off**2).mean()))
    assert (result.rmse.sel(given=3) < result.rmse.sel(given=1)).all()
    needed = adaptive.items_for(result, float(result.rmse.sel(test="random", given=2)))
    assert needed["random"] <= 2
    assert adaptive.items_for(result, 0.0) == {"adaptive": None, "hand-picked": None, "random": None}


def test_refusals(bank, taken, monkeypatch):
    with pytest.raises(InputError, match="who took all items"):
        adaptive.matched(bank, taken.isel(rule=slice(0, 3)))
    with pytest.raises(InputError, match=r"of gamma 0\.25"):
        adaptive.matched(bank, taken.assign_attrs(gamma=0.25))
    pytest.importorskip("catsim")
    with pytest.raises(InputError, match="length is 100"):
        adaptive.replay(bank, taken, 100)
    monkeypatch.setitem(sys.modules, "catsim", None)
    with pytest.raises(InputError, match="without the package catsim"):
        adaptive.replay(bank, taken, 2)
