import jax
import numpy as np
import pytest

from jaxdiff.core import episodes
from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete
from jaxdiff.populations import actions, networks

pytest.importorskip("gymnasium", reason="the gymnasium extra is not installed")
import gymnasium

from jaxdiff.core.adapters import hosted

pytestmark = pytest.mark.host


class Counter(gymnasium.Env):
    """Reward is the action; ends after five steps, or never."""

    def __init__(self, endless=False, nan_at=None):
        self.observation_space = gymnasium.spaces.Discrete(10, start=1)
        self.action_space = gymnasium.spaces.Discrete(3, start=-1)
        self.endless, self.nan_at = endless, nan_at

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time, self.bonus = 0, int(self.np_random.integers(1000))
        return 1, {}

    def step(self, action):
        self.time += 1
        reward = float("nan") if self.time - 1 == self.nan_at else float(action) + (self.bonus if self.time == 1 else 0)
        return 1 + self.time % 10, reward, self.time == 5 and not self.endless, False, {}


def test_returns_of_constants():
    world = hosted.Hosted(Counter, "counter")
    constant = actions.constant_actions(world.action_space())
    out, kept = hosted.play(world, constant.act, constant.params, jax.random.key(0), episodes=4, steps=9, keep=7, lanes=5)
    assert np.array_equal(out.returns[1:] - out.returns[:-1], np.full((2, 4), 5.0))
    assert len(set(out.returns[0])) == 4, "episodes are different instances"
    assert (out.lengths == 5).all()
    assert (out.endings == episodes.TERMINATED).all()
    assert kept[1].tolist() == [0, 1, 2, 3, 4, 4, 4]


def test_an_endless_one_is_bounded_and_a_nan_is_found():
    world = hosted.Hosted(lambda: Counter(endless=True, nan_at=2), "counter")
    constant = actions.constant_actions(world.action_space())
    out, _ = hosted.play(world, constant.act, constant.params, jax.random.key(0), episodes=1, steps=9)
    assert (out.endings == episodes.BOUNDED).all()
    assert (out.broken == 2).all()


def test_neither_lanes_nor_chunks_matter():
    world = hosted.Hosted(lambda: gymnasium.make("FrozenLake-v1"), "lake")
    assert (world.observation_space(), world.action_space(), world.solved) == (Discrete(16), Discrete(4), 0.7)
    random = actions.random_actions(Discrete(4), 3)
    one, many = (hosted.play(world, random.act, random.params, jax.random.key(0), episodes=3, steps=50, lanes=n)[0] for n in (1, 9))
    assert np.array_equal(one.lengths, many.lengths)
    last, _ = hosted.play(world, random.act, random.take(slice(2, 3)).params, jax.random.key(0), episodes=3, steps=50, first=2)
    assert np.array_equal(last.lengths[0], one.lengths[2])


def test_real_actions_are_stretched_to_their_bounds():
    world = hosted.from_gymnasium(gymnasium.make("Pendulum-v1"))
    assert world.name == "gymnasium:Pendulum-v1"
    assert world.action_space() == Box(-1.0, 1.0, (1,))
    population = networks.draw(jax.random.key(0), world.observation_space(), world.action_space(), 2)
    out, _ = hosted.play(world, population.act, population.params, jax.random.key(0), episodes=1, steps=300)
    assert (out.lengths == 200).all()
    assert (out.endings == episodes.TRUNCATED).all()
    low, high = np.array([-3.0, 0.0], np.float32), np.array([3.0, 1.0], np.float32)
    space, put = hosted._acted(gymnasium.spaces.Box(low, high))
    assert space == Box(-1.0, 1.0, (2,))
    assert put(np.array([1.0, -1.0])).tolist() == [3.0, 0.0]


def test_spaces():
    s = gymnasium.spaces
    for space, value, ours, shown in (
        (s.MultiBinary(3), np.array([1, 0, 1]), MultiDiscrete((2, 2, 2)), [1, 0, 1]),
        (s.MultiDiscrete([2, 5]), np.array([1, 4]), MultiDiscrete((2, 5)), [1, 4]),
        (s.Tuple([s.Discrete(4), s.Discrete(2, start=1)]), (3, 2), MultiDiscrete((4, 2)), [3, 1]),
    ):
        found, show = hosted._observed(space)
        assert found == ours
        assert show(value).tolist() == shown
    for space in (s.Dict({"a": s.Discrete(2)}), s.Text(3)):
        for function in (hosted._observed, hosted._acted):
            with pytest.raises(InputError, match=type(space).__name__):
                function(space)


def test_what_is_no_environment_is_refused():
    with pytest.raises(InputError, match="without reset, step"):
        hosted.Hosted(object, "nothing")
    alone = hosted.from_gymnasium(Counter())
    constant = actions.constant_actions(alone.action_space())
    out, _ = hosted.play(alone, constant.act, constant.params, jax.random.key(0), episodes=2, steps=9)
    assert (out.lengths == 5).all(), "one that cannot be copied is played one episode after another"
