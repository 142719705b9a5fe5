import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.alchemy import comparison, heuristics, logs, lookahead
from jaxdiff.core.errors import InputError
from tests.alchemy.published import episodes
from tests.alchemy.reference import load

pytestmark = pytest.mark.slow

EPISODES = 12
ACTIONS = 15  # twelve potions and three stones: logs of one shape share a compilation


@pytest.fixture(scope="module")
def observed():
    given, events = episodes(EPISODES), load("published_agent_events")
    return given, logs.published(events, "ideal_observer").of(slice(0, EPISODES)), events


def by_hypotheses(kind, seen):
    """Probability of moving along each axis from corner 0, for every colour, by listing all maps and graphs that agree."""
    from itertools import product

    from jaxdiff.alchemy import graphs

    types = lookahead.Maps(kind).types() if kind != "unpaired" else np.array(list(product(range(6), repeat=6)))
    effects = graphs.transitions()
    weight = np.ones((len(types), 109), np.float32) * graphs.prior().astype(np.float32)
    for corner, colour, after in seen:
        weight *= effects[:, corner, :].T[types[:, colour]] == after
    moves = np.array([[(weight * ((effects[:, 0].T[types[:, c]] ^ 0) == 1 << k)).sum() for k in range(3)] for c in range(6)])
    return moves / weight.sum()


@pytest.mark.parametrize("kind", lookahead.MODELS)
def test_posterior_is_that_of_listing_everything(kind):
    model = lookahead._model(kind)
    seen = [(0, 0, 1), (0, 2, 0), (1, 1, 0), (3, 4, 3), (0, 3, 2)]
    belief = model.start()
    for corner, colour, after in seen:
        axis = {0: -1, 1: 0, 2: 1, 4: 2}[corner ^ after]
        belief = model.after(belief, jnp.int32(corner), jnp.int32(colour), jnp.int32(axis))
    assert np.allclose(model.moves(belief, jnp.int32(0)), by_hypotheses(kind, seen), atol=1e-5)


def test_knowledge_of_pairs_explains_the_ideal_observer_but_not_the_others(observed):
    """Figure 3, at the ideal observer's inverse temperature."""
    given, log, events = observed
    ahead = {}
    for name, one in {
        "observer": log,
        "baseline": logs.published(events, "baseline").of(slice(0, EPISODES)),
        "random": logs.of_actions(heuristics.random_heuristic.play(*given, key=jax.random.key(5)).actions),
    }.items():
        fits = comparison.compare(*given, logs.Log(one.stone[..., :ACTIONS], one.potion[..., :ACTIONS]))
        ahead[name] = float((fits["paired"].sharp - fits["unpaired"].sharp).sum())
        for fit in fits.values():
            assert fit.log_likelihood.sum() >= fit.sharp.sum() - 1e-6  # fitted means at least as likely
    assert ahead["observer"] > 0 > max(ahead["random"], ahead["baseline"])


def test_a_fitted_temperature_is_found_again():
    given = episodes(EPISODES)
    log = logs.of_actions(lookahead.Lookahead("paired", 0.5).play(*given, key=jax.random.key(6)).actions)
    log = logs.Log(log.stone[..., :ACTIONS], log.potion[..., :ACTIONS])
    fit = comparison.fit("paired", lookahead.choices("paired", *given, log))
    assert fit.beta == pytest.approx(0.5, abs=0.1)


def test_probabilities_of_all_actions_sum_to_one(observed):
    given, log, _ = observed
    choices = lookahead.choices("unpaired", *given, log)
    total = np.zeros(choices.taken.shape)
    for kind in range(21):
        there = (choices.number.reshape(*choices.taken.shape, 21)[..., kind] > 0) & (choices.taken >= 0)
        asked = choices._replace(taken=np.where(there, kind, -1))
        number = choices.number.reshape(*choices.taken.shape, 21)[..., kind]
        total += np.where(there, number * np.exp(comparison.log_likelihood(asked, 0.3)), 0)
    assert np.allclose(total[choices.taken >= 0], 1)


@pytest.mark.host
def test_bad_input_is_refused(observed):
    given, log, _ = observed
    with pytest.raises(InputError, match="model"):
        lookahead.Lookahead("trios")
    with pytest.raises(InputError, match="beta"):
        lookahead.Lookahead("paired", -1.0)
    with pytest.raises(InputError, match="log"):
        lookahead.choices("paired", *given, log.of(slice(0, 3)))
