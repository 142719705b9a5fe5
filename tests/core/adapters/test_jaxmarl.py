import jax
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.adapters.jaxmarl import DictForm
from jaxdiff.core.errors import InputError


@pytest.mark.slow
def test_dictionary_form():
    env, params = jaxdiff.make("Lambda-v0", agents=2, cells=4, steps=5, longest_pattern=16)
    form = DictForm(env, params)
    assert form.agents == ("agent_0", "agent_1")
    obs, state = form.reset(jax.random.key(0))
    assert bool(form.observation_space("agent_1").contains(obs["agent_1"]))
    step = jax.jit(form.step)
    for k in range(5):
        actions = {agent: form.action_space(agent).sample(jax.random.key(10 * k + i)) for i, agent in enumerate(form.agents)}
        obs, state, reward, done, _ = step(jax.random.key(100 + k), state, actions)
        assert set(done) == {*form.agents, "__all__"}
        assert bool(done["__all__"]) == (k == 4)
    assert int(state.time) == 0
    assert reward["agent_0"].shape == ()
    joint = env.step_env(jax.random.key(7), state, np.array([1, 0]), params)
    single = form.step_env(jax.random.key(7), state, {"agent_0": np.int32(1), "agent_1": np.int32(0)})
    np.testing.assert_array_equal(single[2]["agent_1"], joint[2][1])


def test_a_world_without_an_agent_axis_is_refused():
    with pytest.raises(InputError, match="axis of agents"):
        DictForm(*jaxdiff.make("SAECA-v0", width=5))
