"""gymnax: worlds of this library as real gymnax environments, with six values a step or five, and gymnax's as worlds of this library.

    env, params = to_gymnax(*jaxdiff.make("SAECA-v0"))               # obs, state, reward, terminated, truncated, info
    env, params = to_gymnax(*jaxdiff.make("SAECA-v0"), values=5)     # obs, state, reward, done, info: purejaxrl, rejax

Actions of several integers become one (see `flat`), since gymnax has no space for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import InputError, require
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space

needed("gymnax", "gymnax")
from flax import struct  # noqa: E402
from gymnax.environments import environment as theirs  # noqa: E402
from gymnax.environments import spaces as their_spaces  # noqa: E402


@struct.dataclass
class State(theirs.EnvState):
    """State of a world: steps of the episode so far, the world's own state, and whether the last step was cut off."""

    world: Any = None
    truncated: Any = False


@struct.dataclass
class Params(theirs.EnvParams):
    """Parameters of a world. The world itself ends its episodes: `max_steps_in_episode` says when at the latest, and changes nothing."""

    world: Any = None


class SixValues(theirs.Environment[State, Params]):
    """A world as a gymnax 1.x environment. Two adapters of equal worlds are equal and share their compilations."""

    def __init__(self, world: Environment[Any, Any], longest: int) -> None:
        super().__init__()
        self.world = world
        self.longest = longest

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.world, self.longest) == (other.world, other.longest)  # pyright: ignore[reportAttributeAccessIssue]

    def __hash__(self) -> int:
        return hash((type(self), self.world, self.longest))

    @property
    def name(self) -> str:
        """The world's name."""
        return self.world.name

    @property
    def default_params(self) -> Params:
        """The world's default parameters."""
        return Params(max_steps_in_episode=self.longest, world=self.world.default_params)

    @property
    def num_actions(self) -> int:
        """How many actions there are.

        Raises:
            InputError: actions are real.
        """
        space = self.world.action_space(self.world.default_params)
        number = flat.number_of_actions(space)
        if number is None:
            raise InputError("env", f"{self.name}, with actions {space}", "a world with a finite number of actions")
        return number

    def reset_env(self, key: jax.Array, params: Params) -> tuple[Any, State]:
        """First observation and state."""
        observation, state = self.world.reset_env(key, params.world)
        return observation, State(time=jnp.int32(0), world=state, truncated=jnp.bool_(False))

    def step_env(self, key: jax.Array, state: State, action: Any, params: Params) -> Any:
        """One step without reset, gymnax's five values; `is_truncated` of the new state says whether it was cut off."""
        chosen = flat.action(self.world.action_space(params.world), action)
        observation, after, reward, terminated, truncated, info = self.world.step_env(key, state.world, chosen, params.world)
        return observation, State(time=state.time + 1, world=after, truncated=truncated), reward, terminated, info

    def is_truncated(self, state: State, params: Params) -> Any:
        """Whether the step that led here was cut off."""
        del params
        return state.truncated

    def action_space(self, params: Params | None = None) -> Any:
        """Space of actions in gymnax's form."""
        space = self.world.action_space((params or self.default_params).world)
        number = flat.number_of_actions(space)
        return _their_space(space) if number is None else their_spaces.Discrete(number)

    def observation_space(self, params: Params | None = None) -> Any:
        """Space of observations in gymnax's form."""
        return _their_space(self.world.observation_space((params or self.default_params).world))


class FiveValues(SixValues):
    """The same for code written for gymnax 0.x: `step` and `step_env` give obs, state, reward, done, info."""

    def step_env(self, key: jax.Array, state: State, action: Any, params: Params) -> Any:
        """One step without reset; `info["discount"]` is 0 where the episode terminated, 1 where it was cut off or goes on."""
        observation, after, reward, terminated, info = super().step_env(key, state, action, params)
        info = {**info, "discount": 1.0 - terminated.astype(jnp.float32)}
        return observation, after, reward, terminated | after.truncated, info

    @partial(jax.jit, static_argnames=("self",))
    def step(self, key: jax.Array, state: State, action: Any, params: Params | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """One step; where the episode ended, observation and state are those of a new one."""
        params = self.default_params if params is None else params
        key_step, key_reset = jax.random.split(key)
        stepped = self.step_env(key_step, state, action, params)
        done = stepped[3]
        fresh = self.reset_env(key_reset, params)
        observation, state = jax.tree.map(lambda a, b: jax.lax.select(done, a, b), fresh, (stepped[0], stepped[1]))
        return observation, state, stepped[2], done, {**stepped[4], "final_observation": stepped[0]}


def to_gymnax(
    env: Environment[Any, Any], params: Any = None, values: Literal[5, 6] = 6, longest: int = 1 << 30
) -> tuple[SixValues, Params]:
    """A world as a gymnax environment, and its parameters.

    Args:
        env: the world.
        params: its parameters; `env.default_params` when None.
        values: 6 (gymnax 1.x) or 5 (what purejaxrl and rejax expect).
        longest: what `max_steps_in_episode` says, where a learner asks; episodes end when the world ends them.

    Raises:
        InputError: values that are neither.
    """
    require(values in (5, 6), "values", values, "5 or 6")
    made = (SixValues if values == 6 else FiveValues)(env, longest)
    return made, made.default_params.replace(world=env.default_params if params is None else params)  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True, eq=False)
class FromGymnax(Environment[Any, Any]):
    """A gymnax environment as a world of this library. Equal if it is of the same class with the same settings.

    Attributes:
        env: the gymnax environment.
    """

    env: Any

    def __post_init__(self) -> None:
        require(isinstance(self.env, theirs.Environment), "env", self.env, "a gymnax environment, such as gymnax.make(...)[0]")

    def _settings(self) -> tuple[Any, str]:
        return type(self.env), repr(sorted(vars(self.env).items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FromGymnax) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())

    @property
    def name(self) -> str:
        """Its name there, with the library's."""
        return f"gymnax:{self.env.name}"

    @property
    def default_params(self) -> Any:
        """Its parameters; Python numbers in them are leaves that can be vmapped once they are arrays."""
        return jax.tree.map(jnp.asarray, self.env.default_params)

    def reset_env(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        """First observation and state."""
        observation, state = self.env.reset_env(key, params)
        return observation, jax.tree.map(jnp.asarray, state)

    def step_env(self, key: jax.Array, state: Any, action: jax.Array, params: Any) -> Transition[Any]:
        """One step without reset."""
        observation, after, reward, terminated, info = self.env.step_env(key, state, action, params)
        # Weak types and Python numbers are made what the state before was, so that a scan accepts it.
        after = jax.tree.map(lambda new, old: jnp.asarray(new, jnp.asarray(old).dtype), after, state)
        truncated = jnp.asarray(self.env.is_truncated(after, params), jnp.bool_)
        return observation, after, jnp.asarray(reward, jnp.float32), jnp.asarray(terminated, jnp.bool_), truncated, info

    def observation_space(self, params: Any) -> Space:
        """Space of observations; bounds that differ between entries are replaced by the widest."""
        return _our_space(self.env.observation_space(params))

    def action_space(self, params: Any) -> Space:
        """Space of actions; bounds likewise."""
        return _our_space(self.env.action_space(params))


def from_gymnax(env: Any, params: Any = None) -> tuple[FromGymnax, Any]:
    """A gymnax environment as a world of this library, and its parameters.

    Args:
        env: what `gymnax.make` gives, first.
        params: what it gives second; the environment's default when None.

    Raises:
        InputError: it is no gymnax environment, or has spaces that this library does not know.
    """
    world = FromGymnax(env)
    params = world.default_params if params is None else jax.tree.map(jnp.asarray, params)
    for space in (world.observation_space, world.action_space):
        space(params)  # refuses what is not known
    return world, params


def _their_space(space: Space) -> Any:
    if isinstance(space, Discrete):
        return their_spaces.Discrete(space.n)
    if isinstance(space, MultiDiscrete):
        return their_spaces.Box(0, jnp.asarray(np.array(space.sizes) - 1), space.shape, space.dtype)
    return their_spaces.Box(space.low, space.high, space.shape, space.dtype)


def _our_space(space: Any) -> Space:
    if isinstance(space, their_spaces.Discrete):
        return Discrete(int(space.n))
    if isinstance(space, their_spaces.Box):
        low, high = float(np.min(np.asarray(space.low))), float(np.max(np.asarray(space.high)))
        return Box(low, high, tuple(space.shape), np.dtype(space.dtype).name)
    raise InputError("env", f"an environment with a {type(space).__name__} space", "one with Discrete and Box spaces")
