"""PettingZoo: worlds of many agents as a parallel environment.

    env = ParallelWorld(*jaxdiff.make("Lambda-v0", agents=3), seed=0)

Random numbers come from the seed of the constructor, until `reset(seed=...)` gives another.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters.jaxmarl import DictForm
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import require, require_integer

needed("pettingzoo", "pettingzoo")
from pettingzoo import ParallelEnv  # noqa: E402

from jaxdiff.core.adapters.gymnasium import space_of  # noqa: E402 PettingZoo's spaces are gymnasium's

Values = dict[str, Any]


class ParallelWorld(ParallelEnv):
    """One copy of a world whose action space has one entry an agent.

    Args:
        env: the world.
        params: its parameters; `env.default_params` when None.
        seed: of everything random, 0..2^32 - 1.

    Raises:
        InputError: the world has no axis of agents, or the seed is outside its range.
    """

    metadata = {"name": "jaxdiff", "render_modes": ["rgb_array"], "is_parallelizable": True}  # noqa: RUF012 PettingZoo's own form
    render_mode = "rgb_array"

    def __init__(self, env: Environment[Any, Any], params: Any = None, seed: int = 0) -> None:
        require_integer("seed", seed, 0, 2**32 - 1)
        self.world = env
        self.params = env.default_params if params is None else params
        form = DictForm(env, self.params)
        self.possible_agents = list(form.agents)
        self.agents: list[str] = []
        self.observation_spaces = {agent: space_of(form.observation_space(agent)) for agent in form.agents}
        self.action_spaces = {agent: space_of(form.action_space(agent)) for agent in form.agents}
        self._reset, self._step = jax.jit(env.reset_env), jax.jit(env.step_env)
        self._state: Any = None
        self._seed, self._count = seed, 0

    def observation_space(self, agent: str) -> Any:
        """Observations of one agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Actions of one agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Values | None = None) -> tuple[Values, Values]:
        """First observations, and empty infos, by agent."""
        del options
        if seed is not None:
            require_integer("seed", seed, 0, 2**32 - 1)
            self._seed, self._count = seed, 0
        self.agents = list(self.possible_agents)
        observation, self._state = self._reset(self._key(), self.params)
        return self._named(observation), {agent: {} for agent in self.agents}

    def step(self, actions: Values) -> tuple[Values, Values, Values, Values, Values]:
        """One step of all agents: observations, rewards (float), terminations, truncations and infos, by agent.

        Raises:
            InputError: `reset` was not called, or the episode has ended; an agent without an action, or one outside its space.
        """
        require(bool(self.agents), "step", "called before reset", "reset first")
        for agent in self.agents:
            action = actions.get(agent)
            require(
                action is not None and self.action_spaces[agent].contains(action), "actions", action, f"one for {agent} within its space"
            )
        agents, joint = self.agents, np.array([actions[agent] for agent in self.agents], np.int32)
        observation, self._state, reward, terminated, truncated, _ = self._step(self._key(), self._state, joint, self.params)
        over, cut = bool(terminated), bool(truncated)
        self.agents = [] if over or cut else agents
        rewards = dict(zip(agents, np.asarray(reward, np.float64).tolist(), strict=True))
        return self._named(observation), rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, cut), {agent: {} for agent in agents}

    def render(self) -> np.ndarray:
        """A picture, uint8 [height, width, 3].

        Raises:
            InputError: `reset` was not called.
        """
        require(self._state is not None, "render", "called before reset", "reset first")
        return self.world.render(self._state, self.params)

    def close(self) -> None:
        """Nothing is open."""

    def _key(self) -> jax.Array:
        self._count += 1
        return jax.random.fold_in(jax.random.key(self._seed), self._count)

    def _named(self, observation: jax.Array) -> Values:
        return dict(zip(self.possible_agents, np.asarray(observation), strict=True))
