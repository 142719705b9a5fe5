import numpy as np
import pytest

from jaxdiff.automata import apl
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import complexity, indicators, response
from jaxdiff.studies import whole_space
from tests import oracles
from tests.automata.test_census import all_programs

SETTINGS = whole_space.Settings(longest=5, rules=(110, 164), steps=30)


@pytest.fixture(scope="module")
def dataset():
    return whole_space.measure(SETTINGS)


def test_programs_weighting_equals_running_every_program(dataset):
    """All 9,330 programs of 1..5 instructions, each by itself, with its own probability: the definition."""
    programs = all_programs(5)[1:]
    from jaxdiff.automata import strategies, world

    reward = strategies.fresh(programs, world.paper_world(164), 30).reward
    probability = 6.0 ** -apl.length(programs) / 5
    assert probability.sum() == pytest.approx(1)
    mine = dataset.sel(rule=164, weighting="programs")
    assert float(mine.r_mean) == pytest.approx(probability @ reward)
    assert float(mine.r_max) == reward.max()
    weights = 6.0 ** -apl.length(programs)
    gammas = dataset.gamma.values
    for side in response.SIDES:
        t = response.thresholds(weights, reward, gammas, side, mean=float(probability @ reward))
        for statistic in response.STATISTICS:
            np.testing.assert_allclose(mine.first_hit.sel(side=side, statistic=statistic), response.draws(t, statistic), rtol=1e-9)


def test_shortest_weighting_counts_every_behaviour_once(dataset):
    mine = dataset.sel(rule=110, weighting="shortest")
    reward, k = dataset.reward.sel(rule=110).values, dataset.complexity.values
    summary = indicators.summarise(k, reward)
    assert float(mine.hbar) == summary.hbar
    assert float(mine.r_mean) == pytest.approx(summary.r_mean)
    wanted = response.first_hit(response.universal_weights(k), reward, dataset.gamma.values)
    np.testing.assert_array_equal(mine.first_hit.sel(side="positive", statistic="median"), wanted)


def test_coding_weighting_has_means_only(dataset):
    mine = dataset.sel(weighting="coding").first_hit
    assert np.isnan(mine.sel(statistic="median")).all()
    assert np.isfinite(mine.sel(statistic="mean_first_hit")).all()


def test_no_sample_is_better_than_the_whole_space(dataset):
    from jaxdiff.automata import strategies, world

    sample = oracles.random_programs(np.random.default_rng(0), 3000, 5)
    reward = strategies.fresh(sample, world.paper_world(110), 30).reward
    whole = dataset.reward.sel(rule=110).values
    assert reward.max() <= whole.max()
    assert set(np.round(reward, 12)) <= set(np.round(whole, 12))
    assert complexity.lempel_ziv(dataset.program.values).max() <= 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"longest": 25}, "census is 25.*minutes to count"),
        ({"longest": 0}, "census is 0"),
        ({"rules": ()}, "at least one rule"),
        ({"rules": (1, 1)}, "every rule once"),
        ({"rules": (256,)}, "rule is 256"),
        ({"width": 2}, "width is 2"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        whole_space.Settings(**{**vars(SETTINGS), **change})
