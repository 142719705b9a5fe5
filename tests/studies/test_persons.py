import jax
import numpy as np
import pytest
from scipy import stats

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import response
from jaxdiff.studies import item_bank, persons
from tests.studies.conftest import RULES

pytestmark = pytest.mark.slow


def test_success_is_reaching_the_target(swept, taken):
    reward = item_bank.rewards(swept)
    tried = item_bank.populations(swept)
    for seed in (0, 1):
        mine = taken.isel(person=taken.population.values == seed)
        for i in range(2):
            for j in range(swept.sizes["rule"]):
                kept = reward[i, seed, j, tried[seed].keep]
                target = kept.max() - 0.1 * (kept.max() - kept.mean())
                np.testing.assert_array_equal(mine.success[:, i, j], mine.best_reward[:, i, j] >= target - 1e-12)
                assert np.isin(mine.best_reward.values[:, i, j], kept).all()
    assert taken.success.sel(rule=[0, 255]).all(), "where all rewards are equal everybody succeeds"


def test_the_share_of_successes_is_the_characteristic_curve(swept, bank):
    """1,200 persons at each of three budgets; two-sided 99.99 % interval, for all items: a false alarm in one of 250 designs."""
    for budget in (1, 4, 11):
        who = persons.simulate(jax.random.key(budget), swept, np.full(1200, np.log2(budget)))
        share = who.success.mean("person").values
        chance = np.mean([_chances(swept.isel(seed=[seed]), budget) for seed in range(2)], 0)
        bound = stats.norm.isf(0.00005) * np.sqrt(chance * (1 - chance) / 1200) + 1e-12
        assert (np.abs(share - chance) <= bound).all(), (budget, np.abs(share - chance).max())


def _chances(one, budget):
    """Probability of success in all items of a sweep of one seed [strategy, rule], from the exact q."""
    (tried,) = item_bank.populations(one)
    weights = response.universal_weights(tried.complexity[tried.keep])
    kept = item_bank.rewards(one)[:, 0][..., tried.keep]
    return np.array([[response.q(weights, row, 0.1, sizes=[budget])[0] for row in rows] for rows in kept])


def test_budgets_are_whole_and_at_most_everything(swept):
    who = persons.simulate(jax.random.key(1), swept, [0.0, 0.4, 1.0, 2.3, 60.0, 60.0], rules=[110])
    distinct = [int(p.keep.sum()) for p in item_bank.populations(swept)]
    np.testing.assert_array_equal(who.budget, [1, 1, 2, 5, *distinct])
    np.testing.assert_array_equal(who.theta_budget, np.log2(who.budget.values))
    np.testing.assert_array_equal(who.population, [0, 1, 0, 1, 0, 1])
    everything = who.best_reward.values[4:, :, 0]
    for seed in range(2):
        keep = item_bank.populations(swept)[seed].keep
        np.testing.assert_array_equal(everything[seed], item_bank.rewards(swept)[:, seed, RULES.index(110), keep].max(-1))
    assert who.success.values[4:].all()


def test_the_same_key_gives_the_same_persons(swept, taken):
    again = persons.simulate(jax.random.key(0), swept, persons.spread(120, 5.0))
    assert again.identical(taken)
    other = persons.simulate(jax.random.key(1), swept, persons.spread(120, 5.0))
    assert not other.success.equals(taken.success)


def test_one_compilation_serves_all_calls(swept, taken, monkeypatch):
    monkeypatch.setattr(persons, "PAIRS", 100)
    before = persons._best._cache_size()
    small = persons.simulate(jax.random.key(0), swept, persons.spread(120, 5.0))
    assert persons._best._cache_size() == before + 1
    assert small.identical(taken), "how it is cut into calls changes nothing"


def test_fitted_abilities_are_another_scale(taken):
    fitted = persons.fit(taken)
    rank = stats.spearmanr(fitted.ability_fitted, fitted.theta_budget, alternative="greater")
    assert rank.pvalue < 1e-9, "another scale of the same order: independent abilities would do as well once in 10^9"
    assert abs(float(fitted.ability_fitted.mean())) < 0.2
    for name in ("ability_fitted", "fitted_a", "fitted_b"):
        assert "not" in fitted[name].attrs["long_name"]
        assert "standard deviation" in fitted[name].attrs["long_name"]
    assert "theta" not in " ".join(name for name in fitted.variables if "fitted" in str(name))
    assert np.isnan(fitted.fitted_a.sel(rule=[0, 255])).all()
    assert np.isfinite(fitted.fitted_a.sel(rule=[30, 110])).all()


def test_progress_is_reported(swept):
    seen = []
    persons.simulate(jax.random.key(0), swept, [1.0, 2.0, 3.0], rules=[110], progress=lambda *what: seen.append(what))
    assert seen[-1] == ("persons", 3, 3)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


@pytest.mark.parametrize(
    ("theta", "rules", "words"),
    [
        ([-1.0], None, r"theta is -1\.0"),
        ([], None, "at least one ability"),
        ([np.nan], None, "theta is nan"),
        ([1.0], [3], r"rules is \[3\]"),
    ],
)
def test_bad_input(swept, theta, rules, words):
    with pytest.raises(InputError, match=words):
        persons.simulate(jax.random.key(0), swept, theta, rules=rules)
