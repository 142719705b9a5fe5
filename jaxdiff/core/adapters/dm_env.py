"""dm_env: a world of this library as a dm_env environment.

    env = World(*jaxdiff.make("SAECA-v0"), seed=0)
    env = World(*jaxdiff.make("Alchemy-v0"), seed=0, observation="symbolic_obs")   # dm_alchemy's symbolic environment

Discount is 0 where an episode terminates and 1 elsewhere; the step after the last one begins a new episode, whatever its action.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.adapters.actions import cast_action
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import require_integer
from jaxdiff.core.spaces import Discrete, MultiDiscrete, Space

needed("dm_env", "dm-env")
import dm_env  # noqa: E402
from dm_env import specs  # noqa: E402


def spec_of(space: Space, name: str) -> specs.Array:
    """A space in dm_env's form."""
    if isinstance(space, Discrete):
        return specs.DiscreteArray(space.n, dtype=np.int32, name=name)
    if isinstance(space, MultiDiscrete):
        return specs.BoundedArray(space.shape, space.dtype, 0, np.array(space.sizes) - 1, name=name)
    return specs.BoundedArray(space.shape, space.dtype, space.low, space.high, name=name)


class World(dm_env.Environment):
    """A world as a dm_env environment.

    Args:
        env: the world.
        params: its parameters; `env.default_params` when None.
        seed: of everything random.
        observation: observations are dictionaries with this one entry; plain arrays when None.
        flatten: actions of several integers become one (see `flat`).
    """

    def __init__(
        self, env: Environment[Any, Any], params: Any = None, *, seed: int = 0, observation: str | None = None, flatten: bool = False
    ) -> None:
        require_integer("seed", seed, 0, 2**32 - 1)
        self.world = env
        self.params = env.default_params if params is None else params
        self._name = observation
        space = env.action_space(self.params)
        number = flat.number_of_actions(space)
        self._actions: Space = Discrete(number) if flatten and number is not None else space
        self._key = jax.random.key(seed)
        self._reset = jax.jit(env.reset_env)
        self._step = jax.jit(lambda key, state, a, params: env.step_env(key, state, flat.action(space, a) if flatten else a, params))
        self._state: Any = None

    def reset(self) -> dm_env.TimeStep:
        """Begin an episode."""
        observation, self._state = self._reset(self._draw(), self.params)
        return dm_env.restart(self._shown(observation))

    def step(self, action: Any) -> dm_env.TimeStep:
        """One step; begins an episode where none is going on.

        Raises:
            InputError: the action is not integer where its spec is.
            ValueError: it is outside its spec.
        """
        if self._state is None:
            return self.reset()
        spec = self.action_spec()
        chosen = spec.validate(cast_action(action, spec.dtype, str(spec)))
        observation, state, reward, terminated, truncated, _ = self._step(self._draw(), self._state, chosen, self.params)
        reward = np.asarray(reward)[()]
        self._state = None if bool(terminated) or bool(truncated) else state
        if bool(terminated):
            return dm_env.termination(reward, self._shown(observation))
        return (dm_env.truncation if bool(truncated) else dm_env.transition)(reward, self._shown(observation))

    def observation_spec(self) -> Any:
        """What an observation is."""
        spec = spec_of(self.world.observation_space(self.params), self._name or "observation")
        return spec if self._name is None else {self._name: spec}

    def action_spec(self) -> specs.Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What an action is."""
        return spec_of(self._actions, "action")

    def reward_spec(self) -> specs.Array:
        """What a reward is."""
        return specs.Array((), np.float32, name="reward")

    def _shown(self, observation: Any) -> Any:
        value = np.asarray(observation)
        return value if self._name is None else {self._name: value}

    def _draw(self) -> jax.Array:
        self._key, key = jax.random.split(self._key)
        return key
