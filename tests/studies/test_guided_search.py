from fractions import Fraction
from itertools import pairwise

import jax
import numpy as np
import pytest

from jaxdiff.automata import rollouts, world
from jaxdiff.core.errors import InputError
from jaxdiff.studies import guided_search as study
from jaxdiff.studies.rule_difficulty import Settings, baseline
from tests import oracles

pytestmark = pytest.mark.slow

STEPS, LONGEST, PATIENCE, BUDGET = 12, 6, 4, 24
RULES = np.array([110, 30, 164, 90])
PARAMS = world.paper_world(RULES)
SEARCH = study.Search(climbers=3, budget=BUDGET, patience=PATIENCE, blind=100)


def key():
    return jax.random.key(7)


def evaluated(program, rule):
    """Exact sum of reward numerators by the plain interpreter."""
    total, _, _ = oracles.rollout(program.tolist(), rule, [i % 2 for i in range(21)], 10, STEPS)
    return oracles.numerator(total, 21)


def climbed(rule, number, targets):
    """One climber in plain Python; only its proposals are drawn by the library: (first hits, rewards where it stood)."""
    mine = study.climber_key(key(), rule, number)
    program, reward, failures, hits, stood = np.full(LONGEST, -1, np.int8), None, 0, [0] * len(targets), []
    program[0] = 0
    for trial in range(BUDGET):
        restart = reward is None or failures >= PATIENCE
        proposed = np.asarray(study.propose(jax.random.fold_in(mine, trial), program, restart))
        new = evaluated(proposed, rule)
        hits = [hit or (trial + 1 if new >= target else 0) for hit, target in zip(hits, targets, strict=True)]
        if restart or new > reward:
            failures = 0
        else:
            failures += 1
        if restart or new >= reward:
            program, reward = proposed, new
        stood.append((restart, reward))
        if all(hits):
            break
    return hits, stood


@pytest.fixture(scope="module")
def targets():
    """[R, S, G]: what random programs reach often, rarely, never."""
    programs = oracles.random_programs(np.random.default_rng(0), 60, LONGEST)
    reward = np.array([[evaluated(p, r) for p in programs] for r in RULES.tolist()])
    one = np.stack([np.quantile(reward, 0.6, axis=1), np.quantile(reward, 0.97, axis=1)], -1).astype(np.int64)
    return np.stack([one, one + 500], 1)


@pytest.fixture(scope="module")
def trials(targets):
    return study.trials_needed(key(), targets, PARAMS, STEPS, SEARCH, LONGEST)


@pytest.mark.parametrize("rule", range(len(RULES)))
def test_trials_are_those_of_a_plain_climber(rule, targets, trials):
    for s, c in np.ndindex(2, 3):
        hits, stood = climbed(int(RULES[rule]), (s << 16) + c, targets[rule, s])
        assert trials[rule, s, c].tolist() == hits
        for (_, before), (restart, after) in pairwise(stood):
            assert restart or after >= before, "a climber's reward never falls but by starting again"


@pytest.mark.long
def test_results_depend_neither_on_the_pool_nor_on_the_order_nor_on_other_rules(targets, trials):
    for lanes, order in ((5, None), (7, np.array([7, 2, 0, 1, 6, 5, 3, 4]))):
        again = study.trials_needed(key(), targets, PARAMS, STEPS, SEARCH, LONGEST, lanes=lanes, order=order)
        np.testing.assert_array_equal(again, trials)
    one = study.trials_needed(key(), targets[2:3], world.paper_world(RULES[2:3]), STEPS, SEARCH, LONGEST)
    np.testing.assert_array_equal(one[0], trials[2])
    fewer = study.Search(climbers=2, budget=BUDGET, patience=PATIENCE, blind=100)
    np.testing.assert_array_equal(study.trials_needed(key(), targets, PARAMS, STEPS, fewer, LONGEST), trials[:, :, :2])


def test_all_rules_and_climbers_share_one_compilation(targets, monkeypatch):
    traced = []
    monkeypatch.setattr(study, "propose", lambda *a, original=study.propose: traced.append(1) or original(*a))
    search = study.Search(climbers=5, budget=BUDGET, patience=PATIENCE + 1)
    study.trials_needed(key(), targets, PARAMS, STEPS, search, LONGEST, lanes=6)
    assert len(traced) == 1


@pytest.mark.long
def test_without_patience_it_is_blind_search(targets):
    """Trials are then geometric with the share of programs that reach the target."""
    search = study.Search(climbers=200, budget=400, patience=0)
    trials = study.trials_needed(key(), targets[:, :1, :1], PARAMS, STEPS, search, LONGEST)
    share = study.share_reaching(jax.random.key(1), targets[:, :1, :1], PARAMS, STEPS, 4000, LONGEST)
    for mine, p in zip(trials[:, 0, :, 0], share[:, 0, 0], strict=True):
        assert (mine > 0).all()
        assert mine.mean() == pytest.approx(1 / p, abs=5 * np.sqrt(1 - p) / p / np.sqrt(200))


def test_share_and_medians():
    draws = study.median_draws(np.array([1.0, 0.5, 0.25, 0.01, 0.0]))
    assert draws.tolist() == [1, 1, 3, 69, np.inf]
    for p, n in ((0.25, 3), (0.01, 69)):
        assert 1 - (1 - p) ** n >= 0.5 > 1 - (1 - p) ** (n - 1)
    some = np.array([5, 0, 3, 9], np.int64).reshape(1, 1, 4, 1)
    assert study.median_trials(some).item() == 5  # half of four climbers have reached it at trial 5
    assert study.median_trials(np.zeros((1, 1, 4, 1), np.int64)).item() == np.inf


def test_least_numerators_are_what_the_response_function_counts():
    settings = Settings(rules=(110, 164), policies=40, populations=2, steps=10)
    base = baseline(settings)
    e, d = base.evaluation, base.difficulty
    least = study.least_numerators(d.target, d.r_max, e.scale, e.steps)
    from jaxdiff.difficulty import response

    for i, j in np.ndindex(2, 2):
        kept = base.populations.kept[j]
        weights = response.universal_weights(base.populations.complexity[j][kept])
        t = response.thresholds(weights, e.reward[i, j][kept], d.gammas)
        assert (e.numerator[i, j][kept][:, None] >= least[i, j]).sum(0).tolist() == t.reached.tolist()
        assert Fraction(int(least[i, j, 0]), e.scale * e.steps) == Fraction(int(e.numerator[i, j].max()), e.scale * e.steps)


@pytest.mark.long
def test_measure_and_answers():
    settings = Settings(rules=(184, 110, 0, 164), policies=60, populations=3, steps=20)
    search = study.Search(climbers=4, budget=20, patience=4, blind=300)
    seen = []
    dataset = study.measure(settings, search, progress=lambda *x: seen.append(x))
    assert dict(dataset.sizes) == {"rule": 4, "population": 3, "gamma": 3, "climber": 4}
    assert {"climb", "blind search"} <= {what for what, _, _ in seen}
    assert seen[-1] == ("climb", 48, 48)
    assert (dataset.guided.sel(rule=0) == 0).all(), "where all rewards are equal the first trial succeeds"
    assert dataset.varies.values.tolist() == [True, True, False, True]
    assert ((dataset.trials >= 0) & (dataset.trials <= 20)).all()
    searches = study.compare(dataset)
    assert float(searches.guided.max()) <= np.log2(20)
    assert np.isfinite(searches.gain).all()
    cut = searches.guided_censored.values
    assert (searches.gain.values[cut] <= 1e-12).all(), "no gain is claimed where the climbers' median is not known"
    rows = {row.quantity: row for row in study.answers(dataset)}
    assert rows["D_pos(0) and guided search"].low <= rows["D_pos(0) and guided search"].value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"climbers": 0}, "climbers is 0"),
        ({"budget": 0}, "budget is 0"),
        ({"patience": -1}, "patience is -1"),
        ({"blind": 0}, "blind is 0"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        study.Search(**change)


def test_worlds_that_cannot_be_climbed_together(targets):
    different = world.Params(rule=RULES, cells=np.eye(4, 21, dtype=np.uint8), position=np.full(4, 3))
    with pytest.raises(InputError, match="differ in their rules only"):
        study.trials_needed(key(), targets, different, STEPS, SEARCH, LONGEST)
    assert rollouts.shape_for(64, STEPS).limbs == 2
    with pytest.raises(InputError, match="width is 64"):
        study.trials_needed(key(), targets, world.paper_world(RULES, 64), STEPS, SEARCH, LONGEST)
