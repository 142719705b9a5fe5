"""gymnasium's environments as worlds that populations are measured in: they are Python, so a loop on the host steps many copies of one.

    world = Hosted(lambda: gymnasium.make("FrozenLake-v1"), "gymnasium:FrozenLake-v1")

Policies stay what they are elsewhere: one compiled call acts for all copies. Episode e starts from the same seed for every policy.
Axes: P policies, E episodes, N copies, S observations that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.episodes import BOUNDED, TERMINATED, TRUNCATED, Act, Episodes
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space

needed("gymnasium", "gymnasium")
import gymnasium  # noqa: E402
from gymnasium import spaces as theirs  # noqa: E402

ALLOWED = "an environment with Discrete, MultiDiscrete, MultiBinary or Box spaces, or observations that are tuples of Discrete"


@dataclass(frozen=True)
class Hosted:
    """A gymnasium environment that can be made as often as needed.

    Attributes:
        make: makes one.
        name: what it is called.
        one: one of them; made when None.
        many: whether there can be others; where not, episodes are played one after another.

    Raises:
        InputError: it is no gymnasium environment, or has spaces that this library does not know.
    """

    make: Callable[[], gymnasium.Env]
    name: str
    one: Any = field(default=None, compare=False)
    many: bool = True

    def __post_init__(self) -> None:
        one = self.make() if self.one is None else self.one
        missing = [name for name in ("reset", "step", "observation_space", "action_space") if not hasattr(one, name)]
        require(not missing, "env", f"a {type(one).__name__} without {', '.join(missing)}", "a gymnasium environment")
        object.__setattr__(self, "one", one)
        _observed(one.observation_space)
        _acted(one.action_space)

    @property
    def default_params(self) -> None:
        """Nothing: what can be set is set when it is made."""
        return

    @property
    def solved(self) -> float | None:
        """The mean return that its registration calls solved, if it says so."""
        spec = getattr(self.one, "spec", None)
        return None if spec is None or spec.reward_threshold is None else float(spec.reward_threshold)

    def observation_space(self, params: Any = None) -> Space:
        """Space of observations."""
        del params
        return _observed(self.one.observation_space)[0]

    def action_space(self, params: Any = None) -> Space:
        """Space of actions; bounded real ones are -1..1 and are stretched to the bounds of each entry."""
        del params
        return _acted(self.one.action_space)[0]


def play(
    world: Hosted,
    act: Act,
    policies: Any,
    key: jax.Array,
    *,
    episodes: int,
    steps: int,
    first: int = 0,
    keep: int = 0,
    lanes: int = 64,
) -> tuple[Episodes, np.ndarray | None]:
    """Play every policy in the same episodes; see `core.episodes.play`.

    Args:
        world: the environment.
        act: policy, observation, key -> action.
        policies: pytree with leaves [P, ...].
        key: PRNG key; consumed.
        episodes: E.
        steps: an episode that has not ended by then is cut.
        first: number of the first policy, where these are part of a population.
        keep: S, how many of the observations of its first episode are returned for each policy; the last one is repeated.
        lanes: N.

    Returns:
        episodes; observations [P, S, ...] or None.
    """
    require_integer("episodes", episodes, 1)
    require_integer("steps", steps, 1)
    total = int(jax.tree.leaves(policies)[0].shape[0])
    shown, put = _observed(world.one.observation_space)[1], _acted(world.one.action_space)[1]
    key_seed, key_luck = jax.random.split(key)
    seeds = np.asarray(jax.random.bits(key_seed, (episodes,), np.uint32)).tolist()
    space = world.observation_space()
    shape = (total, episodes)
    out = Episodes(np.zeros(shape, np.float32), np.zeros(shape, np.int32), np.zeros(shape, np.int8), np.full(shape, -1, np.int32))
    kept = np.zeros((total, keep, *space.shape), space.dtype) if keep else None
    queue = iter([(p, e) for p in range(total) for e in range(episodes)])
    copies = [world.one if i == 0 else world.make() for i in range(min(lanes if world.many else 1, total * episodes))]
    running = [_Lane(copy) for copy in copies]
    for lane in running:
        lane.take(queue, seeds, shown)
    try:
        while any(lane.at is not None for lane in running):
            # Idle lanes act too, for nobody: one shape, one compilation.
            policy = np.array([(lane.at or (0, 0))[0] for lane in running], np.int32)
            episode = np.array([(lane.at or (0, 0))[1] for lane in running], np.uint32)
            time = np.array([lane.time for lane in running], np.uint32)
            obs = np.stack([lane.obs if lane.obs is not None else np.zeros(space.shape, space.dtype) for lane in running])
            actions = np.asarray(_act_all(act, policies, policy, obs, key_luck, np.uint32(first), episode, time))
            for lane, action in zip(running, actions, strict=True):
                if lane.at is not None:
                    if kept is not None and lane.at[1] == 0 and lane.time < keep:
                        kept[lane.at[0], lane.time :] = lane.obs
                    if lane.step(put(action), shown, steps, out):
                        lane.take(queue, seeds, shown)
    finally:
        for copy in copies[1:]:
            copy.close()
    return out, kept


@partial(jax.jit, static_argnums=0)
def _act_all(act: Act, policies: Any, policy: Any, obs: Any, key: jax.Array, first: Any, episode: Any, time: Any) -> jax.Array:
    def one(p: Any, o: Any, e: Any, t: Any) -> Any:
        luck = jax.random.fold_in(jax.random.fold_in(key, first + p.astype(np.uint32)), e)
        return act(jax.tree.map(lambda x: x[p], policies), o, jax.random.fold_in(luck, t))

    return jax.vmap(one)(policy, obs, episode, time)


class _Lane:
    """A copy, and the episode that it is in: `at` is policy and episode, or None where there is nothing left to do."""

    def __init__(self, env: gymnasium.Env) -> None:
        self.env = env
        self.at: tuple[int, int] | None = None
        self.obs: np.ndarray | None = None
        self.time, self.gained = 0, 0.0

    def take(self, queue: Iterator[tuple[int, int]], seeds: list[int], shown: Callable[[Any], np.ndarray]) -> None:
        """Begin the next episode, if there is one."""
        self.at = next(queue, None)
        self.time, self.gained = 0, 0.0
        if self.at is not None:
            self.obs = shown(self.env.reset(seed=seeds[self.at[1]])[0])

    def step(self, action: Any, shown: Callable[[Any], np.ndarray], steps: int, out: Episodes) -> bool:
        """One step; writes what became of the episode where it ended, and says whether it did."""
        assert self.at is not None
        obs, reward, terminated, truncated, _ = self.env.step(action)
        reward = float(reward)
        self.obs = shown(obs)
        if not np.isfinite(reward) and out.broken[self.at] < 0:
            out.broken[self.at] = self.time
        self.gained += reward
        self.time += 1
        if not (terminated or truncated or self.time >= steps):
            return False
        out.returns[self.at], out.lengths[self.at] = self.gained, self.time
        out.endings[self.at] = TERMINATED if terminated else TRUNCATED if truncated else BOUNDED
        return True


def _observed(space: Any) -> tuple[Space, Callable[[Any], np.ndarray]]:
    """A space of observations in this library's form, and what brings an observation into it."""
    if isinstance(space, theirs.Discrete):
        start = int(space.start)
        return Discrete(int(space.n)), lambda o: np.asarray(int(o) - start, np.int32)
    if isinstance(space, theirs.MultiBinary):
        return MultiDiscrete((2,) * int(np.prod(space.shape))), lambda o: np.asarray(o, np.int32).reshape(-1)
    if isinstance(space, theirs.MultiDiscrete):
        lowest = np.asarray(space.start, np.int64)
        return MultiDiscrete(tuple(int(n) for n in space.nvec.reshape(-1))), lambda o: (np.asarray(o) - lowest).astype(np.int32).reshape(-1)
    if isinstance(space, theirs.Tuple) and all(isinstance(part, theirs.Discrete) for part in space.spaces):
        parts: Any = space.spaces
        starts = np.array([part.start for part in parts])
        sizes = tuple(int(part.n) for part in parts)
        return MultiDiscrete(sizes), lambda o: (np.array([int(v) for v in o]) - starts).astype(np.int32)
    if isinstance(space, theirs.Box):
        low, high = float(space.low.min()), float(space.high.max())
        return Box(low, high, space.shape), lambda o: np.asarray(o, np.float32)
    raise InputError("env", f"one with observations of {type(space).__name__}", ALLOWED)


def _acted(space: Any) -> tuple[Space, Callable[[np.ndarray], Any]]:
    """A space of actions in this library's form, and what makes its own action of one in it."""
    if isinstance(space, theirs.Discrete):
        start = space.start
        return Discrete(int(space.n)), lambda a: start + int(a)
    if isinstance(space, theirs.MultiBinary):
        return MultiDiscrete((2,) * int(np.prod(space.shape))), lambda a: a.reshape(space.shape).astype(space.dtype)
    if isinstance(space, theirs.MultiDiscrete):
        lowest = np.asarray(space.start)
        sizes = tuple(int(n) for n in space.nvec.reshape(-1))
        return MultiDiscrete(sizes), lambda a: (a.reshape(space.shape) + lowest).astype(space.dtype)
    if isinstance(space, theirs.Box):
        if not space.is_bounded():
            return Box(-np.inf, np.inf, space.shape), lambda a: a.astype(space.dtype)
        low, width = space.low.astype(np.float64), (space.high.astype(np.float64) - space.low)
        return Box(-1.0, 1.0, space.shape), lambda a: np.clip(low + (a + 1.0) / 2 * width, space.low, space.high).astype(space.dtype)
    raise InputError("env", f"one with actions of {type(space).__name__}", ALLOWED)


def from_gymnasium(env: Any, name: str | None = None) -> Hosted:
    """An environment as a world to measure; copies are made as its registration says, or of nothing else than itself.

    Args:
        env: a gymnasium environment.
        name: what it is called; its identifier when None.
    """
    spec = getattr(env, "spec", None)
    made = name or (type(env).__name__ if spec is None else f"gymnasium:{spec.id}")
    if spec is not None:
        return Hosted(lambda: gymnasium.make(spec), made, env)

    return Hosted(lambda: env, made, env, many=False)
