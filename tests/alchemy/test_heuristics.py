import jax
import numpy as np
import pytest

from jaxdiff.alchemy import heuristics, lookahead, probes
from jaxdiff.alchemy.world import Alchemy
from tests.alchemy.published import episodes

pytestmark = pytest.mark.slow

AGENTS = (heuristics.random_heuristic, heuristics.random_action_bot, heuristics.uniform)


@pytest.fixture(scope="module")
def published():
    return episodes()


@pytest.mark.parametrize(("agent", "score", "error"), [(AGENTS[0], 146.58, 1.54), (AGENTS[1], 147.02, 1.55), (AGENTS[2], 17.8, 0.6)])
def test_mean_scores_on_published_episodes(published, agent, score, error):
    scores = np.asarray(agent.play(*published, key=jax.random.key(1)).scores).sum(1)
    own = scores.std() / len(scores) ** 0.5
    # Both means are of the same episodes with other random actions; three of the wider error.
    assert abs(scores.mean() - score) < 3 * max(error, own)


@pytest.mark.parametrize("agent", [*AGENTS, lookahead.Lookahead("unpaired", 1.0)])
def test_the_world_gives_the_scores_that_are_claimed(agent):
    chemistry, stones, potions = episodes(8)
    play = agent.play(chemistry, stones, potions, key=jax.random.key(2))
    probed = probes.replay(Alchemy(), chemistry, stones, potions, np.asarray(play.actions).reshape(8, -1))
    assert (np.asarray(probed.score) == np.asarray(play.scores)).all()


def test_equal_keys_give_equal_play():
    chemistry, stones, potions = episodes(4)
    first, again, other = (AGENTS[0].play(chemistry, stones, potions, key=jax.random.key(k)) for k in (3, 3, 4))
    assert (first.actions == again.actions).all()
    assert (first.actions != other.actions).any()
