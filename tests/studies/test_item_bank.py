import numpy as np
import pytest
import xarray as xr

from jaxdiff.automata import apl, eca
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import complexity, indicators, irt, response
from jaxdiff.studies import item_bank
from tests import sweeps

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def single():
    return sweeps.sweep((110, 164), seeds=1)


@pytest.fixture(scope="module")
def bank_of_single(single):
    return item_bank.items(single, gamma=0.25)


def test_every_number_is_what_the_measures_say(single, bank_of_single):
    simplified = apl.simplify(single.program.values[0])
    k = complexity.lempel_ziv(simplified)
    _, keep = np.unique(simplified, axis=0, return_index=True)
    weights = response.universal_weights(k[keep])
    for i, strategy in enumerate(sweeps.STRATEGIES):
        for j, rule in enumerate((110, 164)):
            reward = single.numerator.values[i, 0, j] / (single.attrs["scale"] * single.attrs["steps"])
            walked = single.walker_numerator.values[i, 0, j] / (single.attrs["scale"] * single.attrs["steps"])
            one = bank_of_single.sel(strategy=strategy, rule=rule)
            summary = indicators.summarise(k, reward, random_walk=walked)
            for name in item_bank.INDICATORS:
                np.testing.assert_equal(float(one[name]), float(getattr(summary, name)), err_msg=name)
            for side in response.SIDES:
                wanted = response.difficulty(weights, reward[keep], item_bank.GAMMAS, side)
                np.testing.assert_array_equal(one.difficulty.sel(side=side), wanted)
            curve = response.curve(weights, reward[keep], np.array(item_bank.CURVE_GAMMAS))
            np.testing.assert_array_equal(one.curve_theta, curve.theta)
            np.testing.assert_array_equal(bank_of_single.normalised, curve.normalised)
            wanted = response.q(weights, reward[keep], 0.25, sizes=bank_of_single.budget.values)
            np.testing.assert_allclose(one.icc, wanted, atol=1e-9)
            fit = irt.fit_logistic(bank_of_single.theta_budget.values, one.icc.values, 0.0, 1.0)
            assert float(one.item_a) == pytest.approx(fit.a, rel=1e-3)
            assert float(one.item_b) == pytest.approx(fit.b, abs=1e-3)
            assert float(one.target) == response.thresholds(weights, reward[keep], 0.25).target[0]


def test_all_bits_are_on_the_budget_scale(bank_of_single):
    np.testing.assert_array_equal(bank_of_single.theta_budget, np.log2(bank_of_single.budget.values))
    assert bank_of_single.budget.values[0] == 1
    assert (np.diff(bank_of_single.icc, axis=-1) >= -1e-9).all()
    np.testing.assert_allclose(bank_of_single.icc[..., -1], 1.0)  # who tries everything succeeds
    for name, unit in {"difficulty": "bits", "curve_theta": "bits", "item_b": "bits", "item_a": "1/bit", "theta_budget": "bits"}.items():
        assert unit in bank_of_single[name].attrs["long_name"]
        assert "budget scale" in bank_of_single[name].attrs["long_name"]
    assert all("long_name" in bank_of_single[name].attrs for name in bank_of_single.variables)


def test_items_that_tell_nothing_are_marked_and_harm_none(bank):
    dull = bank.sel(rule=[0, 255])
    assert not dull.determined.any()
    np.testing.assert_array_equal(dull.difficulty, 0.0)
    np.testing.assert_array_equal(dull.icc, 1.0)
    np.testing.assert_array_equal(dull.r_max, dull.r_mean)
    assert np.isnan(dull.item_a).all()
    assert bank.sel(rule=[30, 110, 164]).determined.all()
    rest = bank.where(bank.determined, drop=True).drop_vars(["correlation_max", "correlation_max_band", "hbar_robust", "hbar_robust_band"])
    for name in ("item_a", "item_b", "difficulty", "icc", "curve_theta", "r_max"):
        assert np.isfinite(rest[name].sel(rule=110)).all(), name


def test_the_ceiling_is_where_the_population_ends(bank):
    last = bank.theta_budget.values[-1]
    for i in range(2):
        for j in range(6):
            one = bank.isel(strategy=i, rule=j)
            assert bool(one.at_ceiling) == (np.interp(last - 1, bank.theta_budget.values, one.icc.values) < 0.5)
            assert bool(one.at_floor) == (one.icc.values[0] > 0.5)
    assert (bank.curve_discrimination.fillna(0) <= item_bank.STEEP).all()


def test_a_lottery_has_the_discrimination_that_the_module_states():
    theta = np.linspace(0, 12, 37)
    for c in (4, 6, 8):
        assert irt.fit_logistic(theta, 1 - np.exp(-np.exp2(theta - c)), 0.0, 1.0).a == pytest.approx(1.0, abs=0.08)


def test_seeds_become_medians_means_and_bands(swept, bank):
    each = [item_bank.items(swept.isel(seed=[i])) for i in range(2)]
    np.testing.assert_allclose(bank.r_max, (each[0].r_max + each[1].r_max) / 2)
    np.testing.assert_allclose(bank.difficulty, (each[0].difficulty + each[1].difficulty) / 2)
    low, high = bank.r_max_band.sel(band=0.05), bank.r_max_band.sel(band=0.95)
    assert ((low <= bank.r_max) & (bank.r_max <= high)).all()
    assert bank.sizes["band"] == 2
    assert "band" not in each[0].dims
    common = np.intersect1d(bank.budget, np.intersect1d(each[0].budget, each[1].budget))
    assert len(common) > 5
    of = [b.icc.values[..., np.isin(b.budget, common)] for b in (bank, *each)]
    np.testing.assert_allclose(of[0], (of[1] + of[2]) / 2, atol=1e-9)


def test_threads_change_nothing(swept, bank):
    xr.testing.assert_identical(item_bank.items(swept, threads=1), bank)


def test_representatives_are_marked(bank):
    np.testing.assert_array_equal(bank.representative, eca.representative(bank.rule.values))
    assert bool(bank.is_representative.sel(rule=110))
    assert not bool(bank.is_representative.sel(rule=124))


@pytest.mark.long
@pytest.mark.slow
def test_all_256_rules_work():
    bank = item_bank.items(sweeps.sweep(range(256), policies=12, seeds=1, steps=8))
    assert int(bank.is_representative.sum()) == 88
    assert np.isfinite(bank.difficulty).all()
    assert np.isfinite(bank.icc).all()
    assert np.isfinite(bank.item_b.values[bank.determined.values]).all()
    assert 300 < int(bank.determined.sum()) < 512


def test_information_is_the_models_own(bank):
    told = item_bank.information(bank, [1.0, 2.0])
    assert told.dims == ("theta_budget", "strategy", "rule")
    one = bank.sel(strategy="fresh", rule=110)
    wanted = irt.information(2.0, float(one.item_a), float(one.item_b))
    assert float(told.sel(theta_budget=2.0, strategy="fresh", rule=110)) == pytest.approx(wanted)
    np.testing.assert_array_equal(told.sel(rule=0), 0.0)


def test_summary_names_the_hardest_and_the_steepest(bank):
    lines = item_bank.summary_lines(bank, count=3)
    assert len(lines) == 6
    assert "most discriminating" in lines[1]
    assert "a [1/bit]" in lines[2]
    hard = bank.difficulty.sel(side="positive", gamma=0.25, strategy="fresh").where(bank.determined.sel(strategy="fresh"))
    assert lines[0].startswith("fresh: hardest")
    assert f": {int(hard.rule[int(np.nanargmax(hard.values))])} (" in lines[0]
    assert all(" 0 (" not in line and " 255 (" not in line for line in lines)


def test_saved_and_loaded(bank, tmp_path):
    store = tmp_path / "bank.zarr"
    item_bank.save(bank, store)
    item_bank.save(bank, store)
    again = item_bank.load(store)
    xr.testing.assert_equal(again, bank)
    assert again.r_max.attrs == bank.r_max.attrs
    assert sorted(p.name for p in store.iterdir()) == ["items", "zarr.json"]


def test_progress_is_reported(single):
    seen = []
    item_bank.items(single, progress=lambda *what: seen.append(what))
    assert seen[-1] == ("items", 4, 4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.drop_vars("program"), "with program over None"),
        (lambda d: d.transpose("rule", ...), "numerator over"),
        (lambda d: d.isel(policy=slice(0)), "at least one of each"),
        (lambda d: d.drop_attrs(), "without the attribute scale"),
        (lambda d: d.drop_vars("rule"), "without coordinates"),
        (lambda d: d.assign_coords(rule=[110, 256]), "rule is 256"),
        (lambda d: None, "an xarray dataset"),
    ],
)
def test_what_is_no_sweep_is_refused(single, change, words):
    with pytest.raises(InputError, match=words):
        item_bank.items(change(single))


def test_bad_settings(single):
    with pytest.raises(InputError, match=r"gamma is 1\.5"):
        item_bank.items(single, gamma=1.5)
    with pytest.raises(InputError, match="form is 'long'"):
        item_bank.items(single, form="long")
