import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.society import evolution, graphs, tuning
from jaxdiff.society.sessions import KINDS

pytestmark = pytest.mark.slow

SMALL = graphs.Distribution(cells=4, longest_pattern=32)
SETTINGS = evolution.Settings(
    environments=24,
    agents=1,
    generations=3,
    steps=60,
    distribution=SMALL,
    probes=("oracle", "random"),
    base=evolution.Base((("pattern", 0.7), ("oracle", 0.2), ("q_learning", 0.1)), longest=4),
)


@pytest.fixture(scope="module")
def history():
    return evolution.evolve(SETTINGS, seed=1)


def test_shapes_and_meaning(history):
    assert history.alone.shape == (2, 24)
    assert history.probe.shape == (4, 2, 24)
    assert history.reward.shape == (4, 24, 1)
    np.testing.assert_allclose(history.share.sum(1), 1)
    assert history.collisions.tolist() == [0, 0, 0, 0], "four cells and two agents: dense tables"
    mean, half = history.curve()
    assert mean.shape == half.shape == (5, 2)
    assert mean[0, 0] > 0.4 > abs(mean[0, 1]), "alone, an oracle does well and a random agent does not"
    leap, _ = history.leaps()
    np.testing.assert_allclose(leap.sum(0), mean[-1] - mean[0], atol=1e-6)


def test_the_same_seed_gives_the_same_history(history):
    again = evolution.evolve(SETTINGS, seed=1)
    np.testing.assert_array_equal(again.probe, history.probe)
    np.testing.assert_array_equal(again.reward, history.reward)


def test_selection_prefers_reward():
    rng = np.random.default_rng(0)
    people = evolution.draw(rng, evolution.Base(), (2000, 3))
    good = people.kind == KINDS.index("oracle")
    settings = evolution.Settings(fresh=0.0)
    after = evolution.select(rng, settings, people, np.where(good, 0.5, -0.1).astype(np.float32))
    before = good.mean()
    # An oracle (nearly) never dies; others die with probability d and are replaced by an oracle with the oracles' share.
    mean = np.where(good, 0.5, -0.1).mean()
    death = settings.dying / (1 + np.exp(settings.sharpness * (-0.1 - mean)))
    assert (after.kind == KINDS.index("oracle")).mean() == pytest.approx(before + (1 - before) * death * before, abs=0.01)
    nobody = evolution.select(rng, evolution.Settings(dying=0.0), people, good.astype(np.float32))
    np.testing.assert_array_equal(nobody.elements, people.elements)


def test_base_distribution_prefers_simple_patterns():
    people = evolution.draw(np.random.default_rng(0), evolution.Base(longest=8), (20_000, 1))
    share = np.bincount(people.length.reshape(-1), minlength=9)[1:] / 20_000
    expected = 0.5 ** np.arange(1, 9)
    np.testing.assert_allclose(share, expected / expected.sum(), atol=0.015)


@pytest.mark.slow
def test_tuner_orders_rates():
    """No learning at all must lose against learning."""
    found = tuning.tune("q_learning", {"alpha": [0.0, 0.3], "initial": [0.5]}, 40, 1000, distribution=SMALL)
    assert len(found.rates) == 2
    assert found.best.alpha == 0.3
    assert found.score.shape == found.half.shape == found.late.shape == (2,)
    assert found.score[1] - found.score[0] > found.half[1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evolution.Settings(environments=1), "environments is 1"),
        (lambda: evolution.Settings(dying=1.5), "dying is 1.5"),
        (lambda: evolution.Settings(probes=("pattern",)), "probe is 'pattern'"),
        (lambda: evolution.Base(weights=(("wizard", 1.0),)), "agent is 'wizard'"),
        (lambda: evolution.Base(weights=(("random", 0.0),)), "weights is"),
        (lambda: tuning.tune("oracle", {}), "kind is 'oracle'"),
        (lambda: tuning.tune("sarsa", {"delta": [1.0]}), "grid is 'delta'"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
