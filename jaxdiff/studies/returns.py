"""Returns of populations in any world, a chunk of policies at a time: memory stays bounded, and a stopped run goes on where it was.

A chunk depends on nothing but the world, the population, the key and the policies' numbers. Axes: P policies, E episodes, S states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core import devices as many
from jaxdiff.core import episodes as core_episodes
from jaxdiff.core import sources
from jaxdiff.core.devices import Devices
from jaxdiff.core.environment import Environment, select
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.populations import description
from jaxdiff.populations.population import Act, Population
from jaxdiff.sweep.pieces import Keep, Piece, forget

Progress = Callable[[str, int, int], None]
CHUNK = 2048
VISITED = 64  # states of a policy that its description must get right


@dataclass(frozen=True)
class Returns:
    """What a population got.

    Attributes:
        returns: float32 [P, E].
        lengths: steps, int32 [P, E].
        endings: see `core.episodes`, int8 [P, E].
        bits: length of the policies' descriptions, float64 [P].
        group: number of the population that each policy is of, int32 [P].
        names: of the populations.
    """

    returns: np.ndarray
    lengths: np.ndarray
    endings: np.ndarray
    bits: np.ndarray
    group: np.ndarray
    names: tuple[str, ...]


def collect(
    world: Any,
    params: Any,
    populations: Population | Sequence[Population],
    key: jax.Array,
    *,
    episodes: int,
    steps: int,
    chunk: int = CHUNK,
    keep: Keep = forget,
    progress: Progress | None = None,
    devices: Devices = None,
) -> Returns:
    """Play populations.

    Args:
        world: an `Environment`, or a gymnasium environment as `core.adapters.hosted.Hosted`.
        params: its parameters; its defaults when None.
        populations: one, or several, which play the same instances.
        key: PRNG key; consumed.
        episodes: E.
        steps: an episode that has not ended by then is cut.
        chunk: policies that are played at once.
        keep: what remembers finished chunks, see `sweep.pieces`.
        progress: called with (what, policies done, policies in all).
        devices: that share the work, a chunk each; JAX's default device when None.

    Raises:
        InputError: a reward that is not finite (names policy and step), a world of another protocol, no policies.
    """
    everyone = (populations,) if isinstance(populations, Population) else tuple(populations)
    require(len(everyone) > 0, "population", "empty", "at least one population")
    require_integer("episodes", episodes, 1)
    require_integer("steps", steps, 1)
    require_integer("chunk", chunk, 1)
    if isinstance(world, Environment):
        params = world.default_params if params is None else params
        core_episodes.check_reward(world, params)
    about = [_about(world, params, population, key, episodes, steps) for population in everyone]
    turns = [(number, first) for number, population in enumerate(everyone) for first in range(0, population.count, chunk)]

    def one(turn: int) -> Piece:
        number, first = turns[turn]
        population, device = everyone[number], None if devices is None else devices[turn % len(devices)]
        size = min(chunk, population.count)

        def make() -> Piece:
            return _play(world, params, population, jax.random.fold_in(key, np.uint32(0)), episodes, steps, first, size, device)

        piece = keep(f"{number}-{population.name}-{first}", {**about[number], "first": first, "size": size}, make)
        _refuse_broken(piece, population.name, first)
        return {**piece, "group": np.full(len(piece["returns"]), number, np.int32)}

    total, done = sum(p.count for p in everyone), 0
    pieces: list[Piece] = []
    for piece in _in_turn(one, len(turns), many.count(devices)):
        pieces.append(piece)
        done += len(piece["returns"])
        if progress is not None:
            progress("play", done, total)
    whole = {name: np.concatenate([piece[name] for piece in pieces]) for name in ("returns", "lengths", "endings", "bits", "group")}
    return Returns(**whole, names=tuple(p.name for p in everyone))


def _in_turn(one: Callable[[int], Piece], turns: int, workers: int) -> Iterator[Piece]:
    """Pieces in order; several devices work on as many of them at once."""
    if workers == 1:
        yield from map(one, range(turns))
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, range(turns))


def _play(
    world: Any, params: Any, population: Population, key: jax.Array, episodes: int, steps: int, first: int, size: int, device: Any
) -> Piece:
    """Play and describe a chunk of policies. Every chunk has the same shape: the last one is filled up with its last policy."""
    count = min(size, population.count - first)
    part = population.take(np.minimum(np.arange(first, first + size), population.count - 1))
    visits = 0 if part.bits is not None else min(steps, VISITED)
    policies, seen = part.params, None
    if isinstance(world, Environment):
        policies, params = (policies, params) if device is None else jax.device_put((policies, params), device)
        key, key_seen = jax.random.split(key)
        played = core_episodes.play(world, params, part.act, policies, key, episodes=episodes, steps=steps, first=first, count=count)
        seen = visited(world, params, part.act, policies, key_seen, visits) if visits else None
    else:
        from jaxdiff.core.adapters import hosted

        policies = jax.tree.map(lambda x: x[:count], policies)
        played, seen = hosted.play(world, part.act, policies, key, episodes=episodes, steps=steps, first=first, keep=visits)
    bits = (
        part.bits
        if part.bits is not None
        else description.quantised_bits(part.act, world.action_space(params), policies, seen, min(512, size))
    )
    return {**{name: np.asarray(value)[:count] for name, value in played._asdict().items()}, "bits": np.asarray(bits, np.float64)[:count]}


@partial(jax.jit, static_argnums=(0, 2, 5))
def visited(env: Environment[Any, Any], params: Any, act: Act, policies: Any, key: jax.Array, steps: int) -> Any:
    """Observations that each policy makes in its first steps of one episode, [P, S, ...]; what it saw last is repeated."""
    key_reset, key_policy = jax.random.split(key)
    obs, state = env.reset_env(key_reset, params)
    count = jax.tree.leaves(policies)[0].shape[0]

    def one(policy: Any, obs: Any, state: Any, done: jax.Array, key: jax.Array) -> Any:
        key_act, key_env = jax.random.split(key)
        new_obs, state, _, terminated, truncated, _ = env.step_env(key_env, state, act(policy, obs, key_act), params)
        return select(done, obs, new_obs), state, done | terminated | truncated

    def step(carry: Any, key: jax.Array) -> tuple[Any, Any]:
        obs, state, done = carry
        return jax.vmap(one)(policies, obs, state, done, jax.random.split(key, count)), obs

    start = jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *jnp.shape(x))), (obs, state, jnp.bool_(False)))
    _, seen = jax.lax.scan(step, start, jax.random.split(key_policy, steps))
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1), seen)


def _refuse_broken(piece: Piece, name: str, first: int) -> None:
    wrong = np.argwhere(np.asarray(piece["broken"]) >= 0)
    if len(wrong):
        policy, episode = wrong[0].tolist()
        step = int(piece["broken"][policy, episode])
        raise InputError("reward", f"not finite for policy {first + policy} ({name}) at step {step} of episode {episode}", "finite numbers")


def _about(world: Any, params: Any, population: Population, key: jax.Array, episodes: int, steps: int) -> dict[str, Any]:
    """What a chunk depends on, as text."""
    digest = hashlib.sha256()
    for tree in (params, population.params):
        for leaf in jax.tree.leaves(tree):
            array = np.asarray(leaf)
            digest.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    data = jax.random.key_data(jax.random.clone(key)) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
    name = world.name if not isinstance(world, Environment) else f"{world.name} {world!r}"
    return {
        "world": name,
        "code": sources.digest(world),
        "act": repr(population.act),
        "arrays": digest.hexdigest(),
        "key": np.asarray(data).tolist(),
        "episodes": episodes,
        "steps": steps,
    }
