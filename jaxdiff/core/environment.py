"""The environment protocol: pure functions of (key, state, action, params).

Argument order and the six values are those of gymnax 1.x, without importing it. An environment is a frozen, value-hashable
dataclass that holds shapes and structural switches only; everything numeric is in `params`, a pytree that can be vmapped. Keys are
consumed once and never stored. `reset_env` and `step_env` never reset by themselves; `step` does, in the same step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import jax
import jax.numpy as jnp

if TYPE_CHECKING:
    import numpy as np

    from jaxdiff.core.spaces import Space

State = TypeVar("State")
Params = TypeVar("Params")
Info = dict[str, jax.Array]
Transition = tuple[Any, State, jax.Array, jax.Array, jax.Array, Info]


@dataclass(frozen=True)
class Environment(Generic[State, Params]):
    """Base of all worlds. Subclasses are frozen dataclasses and implement the methods without a body here."""

    @property
    def name(self) -> str:
        """Registered name, such as `SAECA-v0`."""
        raise NotImplementedError(f"{type(self).__name__} does not define a name")

    @property
    def default_params(self) -> Params:
        """Numeric parameters as a pytree; leaves may be given leading batch axes and vmapped."""
        raise NotImplementedError(f"{type(self).__name__} does not define default_params")

    def reset_env(self, key: jax.Array, params: Params) -> tuple[Any, State]:
        """First observation and state of an episode. The key is consumed."""
        raise NotImplementedError(f"{type(self).__name__} does not define reset_env")

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One step without auto-reset: obs, state, reward, terminated, truncated, info. The key is consumed."""
        raise NotImplementedError(f"{type(self).__name__} does not define step_env")

    def observation_space(self, params: Params) -> Space:
        """Space of observations."""
        raise NotImplementedError(f"{type(self).__name__} does not define observation_space")

    def action_space(self, params: Params) -> Space:
        """Space of actions."""
        raise NotImplementedError(f"{type(self).__name__} does not define action_space")

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """What every entry of an observation is, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not define observation_entries")

    def render(self, state: State, params: Params) -> np.ndarray:
        """Picture of a state, uint8 [height, width, 3]; needs no display."""
        raise NotImplementedError(f"{type(self).__name__} does not define render")

    def reset(self, key: jax.Array, params: Params | None = None) -> tuple[Any, State]:
        """First observation and state of an episode.

        Args:
            key: PRNG key, typed or legacy; consumed.
            params: parameters; `default_params` when None.
        """
        return self.reset_env(key, self.default_params if params is None else params)

    def step(self, key: jax.Array, state: State, action: jax.Array, params: Params | None = None) -> Transition[State]:
        """One step; at the end of an episode the next one begins in the same step.

        Args:
            key: PRNG key, typed or legacy; consumed.
            state: state as returned by `reset` or `step`.
            action: an element of `action_space`.
            params: parameters; `default_params` when None.

        Returns:
            obs, state, reward, terminated, truncated, info. Where the episode ended, `obs` and `state` are those of a fresh
            episode and `info["final_observation"]` is what the ended one showed last (elsewhere it equals `obs`).
        """
        params = self.default_params if params is None else params
        # Split as gymnax does, but twice: the key for a reset is made only where one is due, and a world that needs none has no split.
        later = jax.random.clone(key)
        obs, state, reward, terminated, truncated, info = self.step_env(jax.random.split(key)[0], state, action, params)
        info = {**info, "final_observation": obs}

        def fresh(_: Any) -> Any:
            return self.reset_env(jax.random.split(later)[1], params)

        # One environment resets only where it must; under vmap this becomes a select, and `autoreset.step_batch` is faster.
        obs, state = jax.lax.cond(terminated | truncated, fresh, lambda kept: kept, (obs, state))
        return obs, state, reward, terminated, truncated, info


def select(condition: jax.Array, if_true: Any, if_false: Any) -> Any:
    """`where` over pytrees; `condition` covers the leading axes of every leaf."""

    def one(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(condition.shape + (1,) * (a.ndim - condition.ndim)), a, b)

    return jax.tree.map(one, if_true, if_false)
