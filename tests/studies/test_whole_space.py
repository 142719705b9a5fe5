import numpy as np
import pytest

from jaxdiff.automata import apl
from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import complexity, indicators, response
from jaxdiff.studies import whole_space
from tests import oracles
from tests.automata.test_census import all_programs

pytestmark = pytest.mark.slow

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


def test_sampled_q_converges_to_the_exact_one():
    """Rule 110: samples of N of all 9,331 programs of at most 5 instructions, drawn one by one with weights 2^-K, against the census's q.

    4,000 samples; Clopper-Pearson intervals of confidence 1 - 1e-6 at three sizes, so a right program fails three times in a million.
    """
    from scipy import stats

    from jaxdiff.automata import census, strategies, world

    c = census.census(5)
    params = world.paper_world(110)
    behaviour = strategies.fresh(c.programs, params, 60).reward
    programs = all_programs(5)
    reward = strategies.fresh(programs, params, 60).reward
    shortest_length = apl.length(apl.shortest(programs))
    weights = response.universal_weights(shortest_length)
    gamma, sizes, samples = 0.1, (3, 10, 30), 4000
    exact = response.q(response.universal_weights(c.length), behaviour, gamma, multiplicity=c.count, sizes=sizes)
    target = (1 - gamma) * (reward.max() - reward.mean()) + reward.mean()
    reaches = reward >= target - 1e-12
    rng = np.random.default_rng(1)
    first = np.array([np.argmax(reaches[np.argsort(rng.exponential(size=len(weights)) / weights)]) + 1 for _ in range(samples)])
    assert 0.02 < exact[0] < exact[-1] < 0.999, f"the sizes say something: {exact}"
    for size, q in zip(sizes, exact, strict=True):
        interval = stats.binomtest(int((first <= size).sum()), samples).proportion_ci(1 - 1e-6, method="exact")
        assert interval.low <= q <= interval.high


@pytest.mark.long
@pytest.mark.slow
def test_the_best_of_all_programs_up_to_eight_instructions():
    """Rule 110: running all 2,015,539 programs one by one finds no better reward than the census's 6,339 behaviours, at any length."""
    from jaxdiff.automata import census, strategies, world

    c = census.census(8)
    params = world.paper_world(110)
    best = strategies.fresh(c.programs, params, 300).numerator
    programs = all_programs(8)
    assert len(programs) == 2_015_539
    length = apl.length(programs)
    one_by_one = strategies.fresh(programs, params, 300).numerator
    for k in range(9):
        assert one_by_one[length <= k].max() == best[c.length <= k].max()
    assert np.average(one_by_one) == pytest.approx(np.average(best, weights=c.count), rel=1e-12)
