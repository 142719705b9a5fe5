"""Multi-agent worlds as PettingZoo parallel environments: `to_pettingzoo(env, params)`. Needs the extra `adapters`."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters.jaxmarl import DictForm
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete


def to_pettingzoo(env: Environment[Any, Any], params: Any = None, seed: int = 0) -> Any:
    """A `pettingzoo.ParallelEnv` of a multi-agent world.

    Args:
        env: a world whose action space has one entry an agent.
        params: its parameters; the defaults when None.
        seed: of everything random, until `reset(seed=...)` gives another.

    Raises:
        InputError: PettingZoo is not installed, or the world has no agent axis.
    """
    try:
        from pettingzoo import ParallelEnv
    except ImportError as error:
        raise InputError("pettingzoo", "not installed", "jaxdiff installed with the extra adapters") from error
    form = DictForm(env, env.default_params if params is None else params)
    step, reset = jax.jit(form.env.step_env), jax.jit(form.env.reset_env)

    class Adapter(ParallelEnv):
        """The world; `state_of_world` is its state."""

        metadata = {"name": env.name, "render_modes": ["rgb_array"]}  # noqa: RUF012
        render_mode = "rgb_array"

        def __init__(self) -> None:
            self.possible_agents = list(form.agents)
            self.agents: list[str] = []
            self._spaces = {a: (_space(form.observation_space(a)), _space(form.action_space(a))) for a in form.agents}
            self._seed, self._count = seed, 0

        def observation_space(self, agent: str) -> Any:
            return self._spaces[agent][0]

        def action_space(self, agent: str) -> Any:
            return self._spaces[agent][1]

        def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
            if seed is not None:
                self._seed, self._count = seed, 0
            self.agents = list(form.agents)
            obs, self.state_of_world = reset(self._key(), form.params)
            return self._named(obs), {agent: {} for agent in self.agents}

        def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
            joint = np.array([actions[agent] for agent in form.agents], np.int32)
            obs, self.state_of_world, reward, terminated, truncated, _ = step(self._key(), self.state_of_world, joint, form.params)
            agents = self.agents
            ended = bool(terminated) or bool(truncated)
            self.agents = [] if ended else agents
            rewards = {agent: float(r) for agent, r in zip(agents, np.asarray(reward), strict=True)}
            over, cut = (dict.fromkeys(agents, bool(flag)) for flag in (terminated, truncated))
            return self._named(obs), rewards, over, cut, {agent: {} for agent in agents}

        def render(self) -> np.ndarray:
            return env.render(self.state_of_world, form.params)

        def close(self) -> None:
            """Nothing is open."""

        def _key(self) -> jax.Array:
            self._count += 1
            return jax.random.fold_in(jax.random.key(self._seed), self._count)

        def _named(self, obs: jax.Array) -> dict[str, np.ndarray]:
            return dict(zip(form.agents, np.asarray(obs), strict=True))

    return Adapter()


def _space(space: Discrete | MultiDiscrete | Box) -> Any:
    from gymnasium import spaces

    if isinstance(space, Discrete):
        return spaces.Discrete(space.n)
    if isinstance(space, MultiDiscrete):
        return spaces.MultiDiscrete(np.array(space.sizes), dtype=space.dtype.type)
    return spaces.Box(space.low, space.high, space.shape, space.dtype.type)
