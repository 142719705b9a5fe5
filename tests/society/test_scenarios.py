"""Scenarios as a user runs them: other rules, given environments, curves of few points."""

import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.society import scenarios, world

pytestmark = pytest.mark.slow


def batch(environment):
    """One environment as a batch."""
    e = environment
    return world.Params(*(np.asarray(x)[None] for x in (e.table, e.cells_n, e.actions_n, e.pattern, e.pattern_n)))


@pytest.mark.long
def test_an_oracle_foresees_what_there_is_to_eat_when_agents_eat_first():
    env = world.Lambda(order="eat_first")
    score = {k: scenarios.run(scenarios.competitive((k, "random"), 200), 16, env=env).score[:, 0].mean() for k in ("oracle", "random")}
    assert score["oracle"] > score["random"] + 0.5


def test_given_environments_may_have_fewer_actions_than_cells():
    ring = world.params([[0, 1], [1, 2], [2, 0]], [1, 1, 0])
    curves = scenarios.run(scenarios.competitive(("q_learning", "random"), 100), 2, params=batch(ring))
    assert np.isfinite(curves.score).all()
    many = world.params([[0, 1, 1], [1, 0, 0]], [1])
    with pytest.raises(InputError, match="at most as many actions as cells"):
        scenarios.run(scenarios.competitive(("q_learning", "random"), 100), 2, params=batch(many))


def test_coarser_curves_lose_nothing():
    curves = scenarios.run(scenarios.isolated("random", 100), 2, window=10)
    assert len(curves.coarser(3).own) == 2
    np.testing.assert_allclose(curves.coarser(3).score, curves.score, atol=1e-6)
