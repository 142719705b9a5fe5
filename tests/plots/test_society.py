import numpy as np
import pytest

from jaxdiff.plots import society as plots
from jaxdiff.society import evolution, world
from jaxdiff.studies import social_difficulty

from ..studies.society_data import made_up
from .conftest import misplaced, titles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results():
    return made_up()


def test_figures_of_the_paper(results):
    figures = plots.paper_figures(results)
    assert list(figures) == [
        f"figure_0{n}" + s for n, s in ((2, "_competition"), (3, "_isolated"), (4, "_cooperation"), (5, "_teams"), (6, "_complexity"))
    ]
    for name, figure in figures.items():
        assert misplaced(figure) == [], name
    ax = figures["figure_03_isolated"].axes[0]
    shown = [line for line in ax.lines if len(line.get_xdata()) == 20]
    so_far = results.curves["isolated_oracle"].so_far()[..., 0].mean(1)
    np.testing.assert_allclose(shown[0].get_ydata(), so_far)
    assert titles(figures["figure_02_competition"]) == ["six agents", "with random", "learners only"]


def test_social_difficulty_curve():
    settings = evolution.Settings(environments=30, generations=4)
    rng = np.random.default_rng(0)
    share = np.full((5, 7), 1 / 7)
    history = evolution.History(settings, rng.random((4, 30)), rng.random((5, 4, 30)), np.zeros((5, 30, 3)), share, np.ones(5), np.zeros(5))
    figure = plots.evolution(history)
    assert misplaced(figure) == []
    mean, _ = history.curve()
    drawn = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 6]
    np.testing.assert_allclose(drawn[1].get_ydata(), mean[:, 1])


def test_difficulty_beside_scores():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.normal(size=(12, 20)), axis=1)
    related = social_difficulty.Related(
        12,
        social_difficulty.MEASURES,
        tuple(social_difficulty.SCORES),
        rng.random((4, 12)),
        rng.random((5, 12)),
        rng.random((4, 5, 3)),
        np.stack([theta, theta]),
    )
    assert misplaced(plots.difficulty(related)) == []


def test_one_scenario_and_one_session(results):
    assert misplaced(plots.scenario(results.curves["six_competitive"])) == []
    env = world.Lambda(cells=3)
    params = world.params([[0, 1], [1, 2], [2, 0]], [1])
    _, state = env.start(params, 0, 2, [1])
    figure = plots.session(env, params, [state, state])
    figure.canvas.draw()
    assert len(figure.axes) == 2
