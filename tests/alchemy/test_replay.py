"""Everything DeepMind's implementation recorded, reproduced with ==."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.alchemy import belief, probes, world
from tests.alchemy import reference


@pytest.fixture(scope="module")
def recorded():
    """All 210 episodes in the environment with an end-trial action; the others' actions move up by one."""
    d = reference.load("trajectories_random")
    c = reference.recorded_chemistries()
    env = world.Alchemy(rotation=True, end_trial=True, see="belief")
    actions = np.where(d["end_trial_action"][:, None] == 1, d["action"], d["action"].astype(np.int32) + 1)
    there = np.arange(201) <= d["num_steps"][:, None]
    return d, c, there, reference.play(env, c, d["stones_latent"], d["potions_latent"], actions)


def test_observations_rewards_step_types_discounts_trial_flags(recorded):
    d, _, there, (obs, _, reward, terminated, truncated, info) = recorded
    after = there[:, 1:]
    np.testing.assert_array_equal(obs[there][:, :39], d["obs"][there])
    assert obs.dtype == np.float32
    np.testing.assert_array_equal(reward[after], d["reward"][:, 1:][after])
    step_type = np.where(terminated, 2, 1)
    np.testing.assert_array_equal(step_type[after], d["step_type"][:, 1:][after])
    np.testing.assert_array_equal(np.where(terminated, 0.0, 1.0)[after], d["discount"][:, 1:][after])
    np.testing.assert_array_equal(info["new_trial"][after], d["is_new_trial"][:, 1:][after] == 1)
    np.testing.assert_array_equal(info["trial"][after], d["trial_number"][:, 1:][after])
    assert not truncated.any()


def test_the_benchmarks_belief_vector(recorded):
    d, _, there, (obs, *_) = recorded
    np.testing.assert_array_equal(obs[there][:, 39:], d["belief"][there])


def test_world_counts(recorded):
    """The exact count where one rotation is left; the tracker's own count everywhere."""
    d, c, there, (_, known, *_) = recorded
    episodes = np.nonzero(there)[0]
    batch = jax.tree.map(lambda x: jnp.asarray(x[episodes]), c)

    def both(chemistry, known):
        return belief.count_of(chemistry, known), belief.benchmark_count_of(chemistry, known)

    exact, benchmark = jax.jit(jax.vmap(both))(batch, jnp.asarray(known[there]))
    decided = d["num_rotations"][there] == 1
    np.testing.assert_array_equal(np.asarray(exact)[decided], d["num_world_states"][there][decided])
    np.testing.assert_array_equal(benchmark, d["num_world_states"][there])
    assert (np.asarray(exact) >= np.asarray(benchmark)).all()
    assert (~decided).sum() == 6


def test_the_default_environment_and_the_ground_truth():
    d = reference.load("trajectories_random")
    chosen = np.flatnonzero((d["level"] == 0) & (d["end_trial_action"] == 0))
    c = jax.tree.map(lambda x: x[chosen], reference.recorded_chemistries())
    env = world.Alchemy(see="ground_truth")
    obs, _, reward, terminated, _, _ = reference.play(env, c, d["stones_latent"][chosen], d["potions_latent"][chosen], d["action"][chosen])
    np.testing.assert_array_equal(obs[..., :39], d["obs"][chosen])
    np.testing.assert_array_equal(obs[..., 39:], np.broadcast_to(d["ground_truth"][chosen][:, None], (*obs.shape[:2], 28)))
    np.testing.assert_array_equal(reward, d["reward"][chosen][:, 1:])
    assert terminated.sum() == chosen.size
    assert terminated[:, -1].all()


@pytest.fixture(scope="module")
def published():
    return reference.load("chemistries_published"), reference.load("published_agent_events")


@pytest.mark.parametrize("agent", ["baseline", "ideal_observer", "search_oracle"])
def test_published_events(published, agent):
    d, events = published
    actions = probes.actions_of_events(events[f"{agent}/stone"], events[f"{agent}/potion"], world.STEPS)
    found = probes.replay(world.Alchemy(), reference.published_chemistries(), d["stones_latent"], d["potions_latent"], actions)
    np.testing.assert_array_equal(found.score, events[f"{agent}/trial_score"])
    np.testing.assert_array_equal(found.potions, events[f"{agent}/potions_used"])
    np.testing.assert_array_equal(found.stones, events[f"{agent}/stones_cashed"])
    np.testing.assert_array_equal(found.worlds_start, events[f"{agent}/world_states_trial_start"])
    np.testing.assert_array_equal(found.worlds_end, events[f"{agent}/world_states_trial_end"])
    np.testing.assert_allclose(found.entropy, events[f"{agent}/posterior_entropy_trial_end"], atol=2e-5)
    np.testing.assert_array_equal(found.cashed, found.score)
    kinds = np.asarray(found.kinds)
    assert (kinds.sum(-1) == world.STEPS).all()
    np.testing.assert_array_equal(kinds[..., :4].sum(-1), events[f"{agent}/num_actions"])
