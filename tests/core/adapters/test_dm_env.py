import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.errors import InputError

pytest.importorskip("dm_env", reason="the dm-env extra is not installed")
from absl.testing import absltest
from dm_env import test_utils

from jaxdiff.core.adapters.dm_env import World

pytestmark = pytest.mark.host
STEPS = 4


class TestContract(test_utils.EnvironmentTestMixin, absltest.TestCase):
    """dm_env's own tests of an environment."""

    def make_object_under_test(self):
        return World(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS), seed=1)

    def make_action_sequence(self):
        spec = self.environment.action_spec()
        for i in range(3 * STEPS):
            yield np.array([i % 3, i % 4], spec.dtype)


class TestContractOfAlchemy(test_utils.EnvironmentTestMixin, absltest.TestCase):
    """The same of Alchemy, in the form that code written for DeepMind's symbolic environment expects."""

    def make_object_under_test(self):
        return World(*jaxdiff.make("Alchemy-v0", trials=2, steps=STEPS), observation="symbolic_obs", seed=1)

    def make_action_sequence(self):
        spec = self.environment.action_spec()
        for i in range(3 * 2 * STEPS):
            yield np.asarray(7 * i % 40, spec.dtype)


def test_an_episode_and_the_next():
    env = World(*jaxdiff.make("SAECA-v0", width=9, steps=STEPS), observation="symbolic_obs", flatten=True)
    assert list(env.observation_spec()) == ["symbolic_obs"]
    assert env.action_spec().num_values == 12
    kinds = [env.reset().step_type]
    for _ in range(STEPS + 1):
        step = env.step(5)
        kinds.append(step.step_type)
        assert step.observation["symbolic_obs"].shape == (3,)
    assert [int(k) for k in kinds] == [0, *[1] * (STEPS - 1), 2, 0]


def test_bad_input():
    with pytest.raises(InputError, match="seed is -1"):
        World(*jaxdiff.make("SAECA-v0"), seed=-1)
    env = World(*jaxdiff.make("SAECA-v0", width=9))
    env.reset()
    with pytest.raises(ValueError, match=r"outside|range|bounds"):
        env.step([3, 0])
    for action in ([2.9, 0], [2**32, 0]):
        with pytest.raises(InputError, match="action is"):
            env.step(action)
