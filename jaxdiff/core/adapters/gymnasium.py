"""gymnasium: worlds of this library as a vector environment (many copies, one compiled step) or a single one.

    envs = VectorWorld(*jaxdiff.make("SAECA-v0"), num_envs=64)      # gymnasium.vector.VectorEnv
    env = World(*jaxdiff.make("SAECA-v0"))                          # gymnasium.Env

The vector form declares its auto-reset mode in `metadata["autoreset_mode"]`, as gymnasium 1.x wants. Random numbers come from the seed
of `reset`; without one, from the operating system once, and from there on.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxdiff.core import autoreset
from jaxdiff.core.adapters.actions import cast_action
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.core.spaces import Discrete, MultiDiscrete, Space

needed("gymnasium", "gymnasium")
import gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

_MODES = {"same_step": AutoresetMode.SAME_STEP, "next_step": AutoresetMode.NEXT_STEP, "disabled": AutoresetMode.DISABLED}


def space_of(space: Space) -> gymnasium.Space:
    """A space in gymnasium's form."""
    if isinstance(space, Discrete):
        return gymnasium.spaces.Discrete(space.n, dtype=np.int32)
    if isinstance(space, MultiDiscrete):
        return gymnasium.spaces.MultiDiscrete(np.array(space.sizes), dtype=space.dtype.type)
    return gymnasium.spaces.Box(space.low, space.high, space.shape, space.dtype.type)


class VectorWorld(VectorEnv):
    """`num_envs` copies of a world, stepped by one compiled call.

    Args:
        env: the world.
        params: its parameters, shared by all copies; `env.default_params` when None.
        num_envs: B.
        mode: what happens when an episode ends, one of `core.autoreset.MODES`.

    Raises:
        InputError: no copies, or an unknown mode.
    """

    def __init__(self, env: Environment[Any, Any], params: Any = None, *, num_envs: int, mode: autoreset.Mode = "same_step") -> None:
        require_integer("num_envs", num_envs, 1)
        require(mode in _MODES, "mode", mode, f"one of {', '.join(_MODES)}")
        self.world = env
        self.params = env.default_params if params is None else params
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": _MODES[mode], "render_modes": []}
        self.single_observation_space = space_of(env.observation_space(self.params))
        self.single_action_space = space_of(env.action_space(self.params))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mode = mode
        self._key: jax.Array | None = None
        self._state: Any = None
        self._last: np.ndarray | None = None
        self._reset = jax.jit(lambda keys, params: autoreset.reset_batch(env, keys, params))
        self._step = jax.jit(lambda keys, state, actions, params: autoreset.step_batch(env, keys, state, actions, params, mode=mode))

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """First observations [B, ...].

        Args:
            seed: of everything random from here on, an integer of at least 0; or one a copy, all of which together seed all copies
                (None in a list: drawn from the operating system).
            options: `reset_mask` bool [B] resets those copies only (auto-reset mode `disabled`); the first reset resets all.

        Raises:
            InputError: a list of seeds of another length, a seed that is negative or no integer, a mask in another mode or of another form.
        """
        mask = self._mask(None if options is None else options.get("reset_mask"))
        if isinstance(seed, list):
            require(len(seed) == self.num_envs, "seed", f"{len(seed)} numbers", f"one number, or {self.num_envs}")
        if seed is not None or self._key is None:
            self._key = jax.random.key(_word(seed if isinstance(seed, list) else [seed]))
        observation, state = self._reset(self._keys(), self.params)
        if mask is not None and self._state is not None:
            observation, state = _choose(mask, (observation, state), (self._last, self._state))
        self._state, self._last = state, np.asarray(observation)
        return self._last, {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all copies: observations [B, ...], rewards float64 [B], terminated, truncated bool [B], infos.

        Raises:
            InputError: `reset` was not called before, or an action is outside its space.
        """
        require(self._state is not None, "step", "called before reset", "reset first")
        chosen = _inside(self.action_space, actions, f"{self.num_envs} of {self.single_action_space}")
        observation, self._state, reward, terminated, truncated, info = self._step(self._keys(), self._state, chosen, self.params)
        terminated, truncated = np.asarray(terminated), np.asarray(truncated)
        infos: dict[str, Any] = {name: np.asarray(value) for name, value in info.items() if name != "final_observation"}
        infos |= {f"_{name}": np.ones(self.num_envs, bool) for name in infos}
        done = terminated | truncated
        if self._mode == "same_step" and done.any():
            final = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(done):
                final[i] = np.asarray(info["final_observation"][i])
            infos |= {"final_obs": final, "_final_obs": done}
        self._last = np.asarray(observation)
        return self._last, np.asarray(reward, np.float64), terminated, truncated, infos

    def _mask(self, mask: Any) -> np.ndarray | None:
        if mask is None:
            return None
        require(self._mode == "disabled", "reset_mask", mask, "none, since copies reset themselves in auto-reset mode " + self._mode)
        array = as_array("reset_mask", mask, f"bool [{self.num_envs}]")
        require(array.dtype == bool, "reset_mask", f"of type {array.dtype}", f"bool [{self.num_envs}]")
        require(array.shape == (self.num_envs,), "reset_mask", f"of shape {array.shape}", f"bool [{self.num_envs}]")
        return array

    def _keys(self) -> jax.Array:
        assert self._key is not None
        self._key, key = jax.random.split(self._key)
        return jax.random.split(key, self.num_envs)


class World(gymnasium.Env):
    """One copy of a world.

    Args:
        env: the world.
        params: its parameters; `env.default_params` when None.
        render_mode: None or "rgb_array".
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 gymnasium's own form

    def __init__(self, env: Environment[Any, Any], params: Any = None, render_mode: str | None = None) -> None:
        require(render_mode in (None, "rgb_array"), "render_mode", render_mode, "None or rgb_array")
        self.world = env
        self.params = env.default_params if params is None else params
        self.observation_space = space_of(env.observation_space(self.params))
        self.action_space = space_of(env.action_space(self.params))
        self.render_mode = render_mode
        self._reset = jax.jit(env.reset_env)
        self._step = jax.jit(env.step_env)
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """First observation.

        Raises:
            InputError: a seed that is negative or no integer.
        """
        if seed is not None:
            require_integer("seed", seed, 0)
        super().reset(seed=seed)
        del options
        observation, self._state = self._reset(self._draw(), self.params)
        return np.asarray(observation), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step.

        Raises:
            InputError: `reset` was not called before, or the action is outside its space.
        """
        require(self._state is not None, "step", "called before reset", "reset first")
        chosen = _inside(self.action_space, action, str(self.action_space))
        observation, self._state, reward, terminated, truncated, info = self._step(self._draw(), self._state, chosen, self.params)
        return np.asarray(observation), float(reward), bool(terminated), bool(truncated), {k: np.asarray(v) for k, v in info.items()}

    def render(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A picture, uint8 [height, width, 3], in mode `rgb_array`.

        Raises:
            InputError: `reset` was not called before.
        """
        if self.render_mode is None:
            return None
        require(self._state is not None, "render", "called before reset", "reset first")
        return self.world.render(self._state, self.params)

    def _draw(self) -> jax.Array:
        return jax.random.key(int(self.np_random.integers(2**32)))


def _word(seeds: list[int | None]) -> int:
    """One word of 32 bits from all of some seeds; None: from the operating system."""
    for seed in seeds:
        if seed is not None:
            require_integer("seed", seed, 0)
    entropy = [np.random.SeedSequence().entropy if seed is None else int(seed) for seed in seeds]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])  # pyright: ignore[reportArgumentType] drawn entropy is an integer


def _inside(space: gymnasium.Space, action: Any, allowed: str) -> np.ndarray:
    """An action in the dtype of its space, within it."""
    chosen = cast_action(action, space.dtype, allowed)
    require(space.contains(chosen if chosen.ndim else chosen[()]), "action", action, allowed)
    return chosen


def _choose(mask: np.ndarray, if_true: Any, if_false: Any) -> Any:
    return jax.tree.map(lambda a, b: np.where(mask.reshape((-1,) + (1,) * (np.ndim(a) - 1)), a, b), if_true, if_false)
