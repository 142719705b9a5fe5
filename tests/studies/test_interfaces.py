import numpy as np
import pytest
from scipy import stats

from jaxdiff.automata import strategies, world
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import response
from jaxdiff.studies import interfaces as study
from jaxdiff.studies.rule_difficulty import GAMMAS, Settings, baseline

pytestmark = pytest.mark.slow

SETTINGS = Settings(rules=(184, 110, 30, 164), policies=60, populations=3, steps=20)


@pytest.fixture(scope="module")
def base():
    return baseline(SETTINGS)


@pytest.fixture(scope="module")
def dataset(base):
    return study.measure(SETTINGS, base)


def test_each_interface_is_the_same_programs_seeing_something_else(dataset, base):
    np.testing.assert_array_equal(dataset.difficulty.sel(interface="clr"), base.difficulty.bits)
    for name in ("lr", "rlc"):
        reward = strategies.fresh(base.populations.programs[1], world.paper_world(30), 20, observation=name).reward
        kept = base.populations.kept[1]
        weights = response.universal_weights(base.populations.complexity[1][kept])
        wanted = response.difficulty(weights, reward[kept], GAMMAS)
        np.testing.assert_array_equal(dataset.difficulty.sel(interface=name, rule=30).isel(population=1), wanted)
        assert float(dataset.r_max.sel(interface=name, rule=30)[1]) == reward.max()


def test_curves_are_those_of_the_paper_s_rules(dataset, base):
    assert dataset.shown.values.tolist() == [184, 110, 164]
    kept = base.populations.kept[2]
    weights = response.universal_weights(base.populations.complexity[2][kept])
    curve = response.curve(weights, base.evaluation.reward[1, 2][kept], statistic="mean_first_hit")
    np.testing.assert_array_equal(dataset.curve.sel(interface="clr", shown=110)[2], [curve.theta, curve.reward])


def test_answers(dataset):
    rows = {row.quantity: row for row in study.answers(dataset)}
    a, b = (dataset.difficulty.sel(interface=name, gamma=0.25).values for name in ("clr", "cr"))
    for coefficient, reference in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        each = [reference(x, y).statistic for x, y in zip(a.T, b.T, strict=True)]
        row = rows[f"D_pos(0.25): clr and cr, {coefficient}"]
        assert (row.value, row.least, row.most) == pytest.approx((np.mean(each), min(each), max(each)))
    change = rows["R_max through lr less through clr, mean over rules"]
    assert change.value == pytest.approx(float((dataset.r_max.sel(interface="lr") - dataset.r_max.sel(interface="clr")).mean()))
    assert change.low <= change.value <= change.high
    assert len(study.pairs(dataset)) == 15


@pytest.mark.parametrize("names", [("lr", "clr"), ("clr", "clr"), ("clr", "x"), ()])
def test_bad_input(base, names):
    with pytest.raises(InputError, match=r"interfaces is|observation is"):
        study.measure(SETTINGS, base, interfaces=names)
