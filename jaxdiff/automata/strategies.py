"""Four ways of trying a set of policies in an environment (paper, section 5.2): Fresh, Random walk, Chained, Levin search.

All of them return exact sums of rewards. Worlds may be a batch of R rules, seeds and positions; where the order of the policies
matters, S sequences may run side by side. Axes: R worlds, S sequences, P programs, W random walkers, L instructions, N cells. An axis
that the input does not have is not in the output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.automata import ring, rollouts
from jaxdiff.automata.compiled import Linear, check_observation, check_programs, compile_programs, longest_program
from jaxdiff.automata.world import Params, batched
from jaxdiff.core import devices as many
from jaxdiff.core.devices import Devices
from jaxdiff.core.errors import require, require_integer

# Lanes (worlds x policies) that are simulated in one call on one device; more are done in several, so memory stays bounded. A CPU is
# fastest while a call's words stay in its caches, an accelerator when there is work for all of its lanes.
LANES_CPU, LANES = 1 << 16, 1 << 21
# Items of a sequence that are done in one call: a call is a few seconds, after which progress can be shown.
ITEMS = 512
# Programs are padded to this many instructions (the paper's longest), so that populations of short ones share their kernels.
PADDED = 20


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["numerator", "cells", "position", "walker_numerator", "actions", "walker_actions"],
    meta_fields=["scale", "steps"],
)
@dataclass(frozen=True)
class Evaluation:
    """Rewards of a population.

    Attributes:
        numerator: exact sum over the steps of reward x scale, NumPy int64 [(R,) (S,) P].
        scale: denominator of a reward, 2^(N // 2 + 1).
        steps: T.
        cells: configurations at the end, uint8 [(R,) P, N]; of the whole sequence for sequential strategies, [(R,) (S,) N].
        position: the agent's positions there, int32, same shape without N.
        walker_numerator: the same as `numerator` for the interleaved random walkers, [(R,) (S,) W].
        actions: None, or what the policies of the first sequence did, 4 x shift + upshot, uint8 [(R,) P, T], see
            `rollouts.moves_and_upshots`.
        walker_actions: None, or the same for its random walkers, uint8 [(R,) W, T].
    """

    numerator: np.ndarray
    scale: int
    steps: int
    cells: np.ndarray
    position: np.ndarray
    walker_numerator: np.ndarray
    actions: np.ndarray | None = None
    walker_actions: np.ndarray | None = None

    @property
    def reward(self) -> np.ndarray:
        """Mean reward per step, float64, the shape of `numerator` (the paper's R)."""
        return self.numerator / (self.scale * self.steps)

    @property
    def walker_reward(self) -> np.ndarray:
        """Mean reward per step of the random walkers, float64, the shape of `walker_numerator`."""
        return self.walker_numerator / (self.scale * self.steps)


Progress = Callable[[int, int], None]


def fresh(
    programs: Any,
    params: Params,
    steps: int,
    *,
    walkers: int = 0,
    key: jax.Array | None = None,
    observation: str = "clr",
    progress: Progress | None = None,
    record: int = 0,
    batch: int | None = None,
    devices: Devices = None,
) -> Evaluation:
    """Every policy starts in a brand new world.

    Args:
        programs: int8 [P, L].
        params: the world, or R of them.
        steps: T, at least 1.
        walkers: W random-walk policies beside the programs.
        key: needed when there are walkers; consumed.
        observation: what policies see, see `world.SAECA`.
        progress: called with (lanes done, lanes in all) between chunks.
        record: keep the actions of this many of the programs, the first ones, and of all walkers.
        batch: rewards that are computed in one call, see `default_batch` (the default); results do not depend on it.
        devices: devices of this process that share the policies; JAX's default device when None. Results do not depend on them.

    Raises:
        InputError: bad programs, no steps, a ring so wide that 63 bits do not hold the sums, walkers without key, batch below 1.
    """
    _check(params, steps, walkers, key)
    key = _key(key)
    again = jax.random.clone(key)  # recorded walks are the same walks once more
    e = _independent(programs, params, steps, walkers, key, observation, progress, None, batch, devices)
    return replace(e, **_recorded(programs, params, steps, walkers, again, observation, record)) if record else e


def random_walk(
    key: jax.Array,
    programs: Any,
    params: Params,
    steps: int,
    walk_steps: int,
    *,
    walkers: int = 0,
    observation: str = "clr",
    progress: Progress | None = None,
    batch: int | None = None,
    devices: Devices = None,
) -> Evaluation:
    """Every policy starts where a random walk of `walk_steps` steps, its own, has left a brand new world.

    Args and errors as for `fresh`; the walk is not rewarded and not remembered.
    """
    require_integer("walk_steps", walk_steps, 0)
    require(key is not None, "key", key, "a PRNG key")
    return _independent(programs, params, steps, walkers, key, observation, progress, walk_steps, batch, devices)


def chained(
    programs: Any,
    params: Params,
    steps: int,
    *,
    walkers: int = 0,
    key: jax.Array | None = None,
    observation: str = "clr",
    progress: Progress | None = None,
    record: bool = False,
    batch: int | None = None,
    devices: Devices = None,
) -> Evaluation:
    """The policies one after the other in the given order; cells and position carry over, memory is emptied.

    Args:
        programs: int8 [P, L], or S sequences [S, P, L] that run side by side.
        params: the world, or R of them.
        steps: T per policy, at least 1.
        walkers: W random-walk policies, interleaved regularly; 0: exactly the given order.
        key: needed when there are walkers; consumed.
        observation: what policies see, see `world.SAECA`.
        progress: called with (items done, items in all) between chunks of the sequence.
        record: keep the actions of the first sequence.
        batch: rewards that are computed in one call, see `default_batch` (the default); results do not depend on it.
        devices: devices of this process that share the worlds; JAX's default device when None. Results do not depend on them.

    Returns:
        results in the order of `programs`.

    Raises:
        InputError: as for `fresh`.
    """
    value = _programs(programs, observation, (2, 3), "[P, L] or [S, P, L]")
    _check(params, steps, walkers, key)
    sequences = value if value.ndim == 3 else value[None]
    rule, cells, position, has_worlds = batched(params)
    worlds = len(rule)
    lanes = (worlds, len(sequences))
    walker_at, program_at = interleave(sequences.shape[1], walkers)
    items = sequences.shape[1] + walkers
    order, kind = np.zeros(items, np.int64), np.full(items, rollouts.WALK, np.int32)
    order[program_at], kind[program_at] = np.arange(sequences.shape[1]), rollouts.PROGRAM
    batch = _checked_batch(batch, default_batch("chained", cells.shape[1], devices=devices))
    most = max(1, min(ITEMS, batch // (worlds * len(sequences))))
    chunk = -(-items // -(-items // most))
    shape = rollouts.shape_for(cells.shape[1], steps)
    devices = many.dividing(devices, worlds)
    key = many.spread(_key(key), None, devices)
    rule, cells, position = many.spread((rule, cells, position), 0, devices)
    now, place = jnp.broadcast_to(cells[:, None], (*lanes, cells.shape[1])), jnp.broadcast_to(position[:, None], lanes)
    totals, did = [], []
    for first in range(0, items, chunk):
        some = slice(first, first + chunk)
        used = len(order[some])
        fill = (0, chunk - used)  # the last chunk is filled up, so that it compiles to the same kernel
        linear = many.spread(_items(sequences[:, np.pad(order[some], fill)], observation), None, devices)
        what = np.pad(kind[some], fill, constant_values=rollouts.NOTHING)
        limbs, now, place, actions = rollouts.chained(key, linear, what, np.uint32(first), rule, now, place, shape, record)
        totals.append(ring.to_int64(limbs)[:used])
        did.append(None if actions is None else np.asarray(actions)[:used])
        if progress is not None:
            progress(min(first + chunk, items), items)
    total = np.moveaxis(np.concatenate(totals), 0, -1)  # [R, S, items]
    acted = np.moveaxis(np.concatenate(did), 2, 0) if record else None  # [R, items, T]

    def axes(x: Any) -> np.ndarray:
        x = np.asarray(x)
        return x if value.ndim == 3 else x[:, 0]

    result = Evaluation(
        axes(total[..., program_at]),
        _scale(cells),
        steps,
        axes(now),
        axes(place),
        axes(total[..., walker_at]),
        None if acted is None else acted[:, program_at],
        None if acted is None else acted[:, walker_at],
    )
    return result if has_worlds else jax.tree.map(lambda x: x[0], result)


def levin(
    programs: Any,
    params: Params,
    steps: int,
    *,
    walkers: int = 0,
    key: jax.Array | None = None,
    observation: str = "clr",
    progress: Progress | None = None,
    record: bool = False,
    batch: int | None = None,
    devices: Devices = None,
) -> Evaluation:
    """Levin search: chained, by ascending number of instructions (programs of equal length stay in the given order).

    Args, results (in the order of `programs`) and errors as for `chained`.
    """
    value = _programs(programs, observation, (2, 3), "[P, L] or [S, P, L]")
    order = np.argsort((value >= 0).sum(-1), axis=-1, kind="stable")
    ascending = np.take_along_axis(value, order[..., None], -2)
    e = chained(
        ascending,
        params,
        steps,
        walkers=walkers,
        key=key,
        observation=observation,
        progress=progress,
        record=record,
        batch=batch,
        devices=devices,
    )
    back = np.argsort(order, axis=-1)
    numerator = np.take_along_axis(e.numerator, np.broadcast_to(back, e.numerator.shape), -1)
    actions = None if e.actions is None else e.actions[..., back if value.ndim == 2 else back[0], :]
    return replace(e, numerator=numerator, actions=actions)


def interleave(count: int, walkers: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of W walkers among P programs, as regular as possible, and the places of the programs, both ascending."""
    walker_at = ((2 * np.arange(walkers) + 1) * (count + walkers)) // (2 * max(walkers, 1))
    return walker_at, np.setdiff1d(np.arange(count + walkers), walker_at)


def _programs(programs: Any, observation: str, dimensions: tuple[int, ...], allowed: str) -> np.ndarray:
    check_observation(observation)
    value = check_programs(programs, observation)
    require(value.ndim in dimensions, "programs", f"an array of shape {value.shape}", allowed)
    missing = max(min(PADDED, longest_program(observation)) - value.shape[-1], 0)
    return np.pad(value, [(0, 0)] * (value.ndim - 1) + [(0, missing)], constant_values=-1)


def _check(params: Params, steps: int, walkers: int, key: jax.Array | None) -> None:
    require(isinstance(params, Params), "params", params, "automata.world.Params, such as paper_world(110)")
    require_integer("steps", steps, 1)
    require_integer("walkers", walkers, 0)
    require(walkers == 0 or key is not None, "key", key, "a PRNG key when there are random walkers")
    width = np.shape(params.cells)[-1]
    require(ring.limbs_for(width, steps) > 0, "width", width, f"a width whose sum of {steps} rewards fits in 63 bits")


def bytes_a_reward(width: int, walk_steps: int = 0) -> int:
    """Device memory that a call needs for each reward that it computes, at most (a test holds it to that)."""
    return 256 + 2 * width + 25 * walk_steps


def default_batch(strategy: str, width: int, walk_steps: int = 0, devices: Devices = None) -> int:
    """Rewards that are computed in one call: what keeps all devices busy, if it fits in half of the memory that is left on each.

    Args:
        strategy: name of one of the functions here.
        width: cells of the ring.
        walk_steps: of `random_walk`.
        devices: as there.
    """
    some = devices if devices is not None else jax.local_devices()[:1]
    lanes = LANES_CPU if some[0].platform == "cpu" and strategy in ("fresh", "random_walk") else LANES
    fits = min(many.free_memory(device) for device in some) // 2 // bytes_a_reward(width, walk_steps)
    return max(1, min(lanes, fits)) * len(some)


def _checked_batch(batch: int | None, default: int) -> int:
    if batch is None:
        return default
    require_integer("batch", batch, 1)
    return int(batch)


def _scale(cells: np.ndarray | jax.Array) -> int:
    return 1 << (cells.shape[-1] // 2 + 1)


def _key(key: jax.Array | None) -> jax.Array:
    return jax.random.key(0) if key is None else key


def _items(sequences: np.ndarray, observation: str) -> Linear:
    """Linear form of sequences int8 [S, I, L] with the item axis first: masks [I, stages, S], constants [I, S]."""
    count, items, length = sequences.shape
    linear = compile_programs(jnp.asarray(sequences.reshape(-1, length)), observation)

    def items_first(mask: jax.Array) -> jax.Array:
        return jnp.moveaxis(mask.reshape((-1, count, items)), 2, 0)

    return Linear(
        items_first(linear.a1),
        items_first(linear.a2),
        items_first(linear.b1),
        items_first(linear.b2),
        linear.v0.reshape((count, items)).T,
        linear.u0.reshape((count, items)).T,
    )


def _independent(
    programs: Any,
    params: Params,
    steps: int,
    walkers: int,
    key: jax.Array | None,
    observation: str,
    progress: Progress | None,
    walk_steps: int | None,
    batch: int | None,
    devices: Devices,
) -> Evaluation:
    value = _programs(programs, observation, (2,), "[P, L]")
    _check(params, steps, walkers, key)
    rule, cells, position, has_worlds = batched(params)
    shape = rollouts.shape_for(cells.shape[1], steps)
    key_walk, key_walkers, key_before = _keys(key)
    worlds, count = len(rule), len(value)
    block = many.count(devices) if walk_steps is None else many.count(devices) * rollouts.BLOCK
    strategy = "fresh" if walk_steps is None else "random_walk"
    batch = _checked_batch(batch, default_batch(strategy, cells.shape[1], walk_steps or 0, devices))
    chunk = many.round_up(min(count, max(1, batch // worlds)), block)
    worlds_there = many.spread((rule, cells, position), None, devices)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for first in range(0, count, chunk):
        piece = value[first : first + chunk]
        missing = chunk - len(piece)  # the last chunk is filled up, so that it compiles to the same kernel
        linear = compile_programs(jnp.asarray(np.pad(piece, ((0, missing), (0, 0)), constant_values=-1)), observation)
        linear = many.spread(linear, -1, devices)
        if walk_steps is None:
            out = rollouts.fresh(linear, *worlds_there, shape)
        else:
            numbers = many.spread(np.arange(first // rollouts.BLOCK, (first + chunk) // rollouts.BLOCK, dtype=np.uint32), 0, devices)
            out = rollouts.after_walk(many.spread(key_walk, None, devices), numbers, linear, *worlds_there, shape, walk_steps)
        parts.append(
            (ring.to_int64(out.total)[:, : len(piece)], np.asarray(out.cells)[:, : len(piece)], np.asarray(out.position)[:, : len(piece)])
        )
        if progress is not None:
            progress(min(first + chunk, count) * worlds, count * worlds)
    numerator, last, place = (np.concatenate([part[i] for part in parts], axis=1) for i in range(3))
    walker_numerator = np.zeros((worlds, 0), np.int64)
    if walkers:
        before = None
        if walk_steps:
            # A random walk before a random walk changes where it starts.
            before = rollouts.walks(key_before, rule, cells, position, walkers, rollouts.shape_for(cells.shape[1], walk_steps))
        walker_numerator = _walkers(key_walkers, rule, cells, position, walkers, shape, before)
    result = Evaluation(numerator, _scale(cells), steps, last, place, walker_numerator)
    return result if has_worlds else jax.tree.map(lambda x: x[0], result)


def _recorded(
    programs: Any, params: Params, steps: int, walkers: int, key: jax.Array, observation: str, record: int
) -> dict[str, np.ndarray]:
    """Actions of the first `record` programs and of the walkers, who walk as in `_independent` with the same key."""
    rule, cells, position, has_worlds = batched(params)
    shape = rollouts.shape_for(cells.shape[1], steps)
    linear = compile_programs(jnp.asarray(_programs(programs, observation, (2,), "[P, L]")[:record]), observation)
    traces = {"actions": rollouts.trace(linear, rule, cells, position, shape, False)}
    if walkers:
        traces["walker_actions"] = rollouts.trace_walks(_keys(key)[1], rule, cells, position, walkers, shape, False)
    out = {name: np.moveaxis(np.asarray(rollouts.actions_of(t.move, t.upshot)), 0, 2) for name, t in traces.items()}
    out.setdefault("walker_actions", np.zeros((len(rule), 0, steps), np.uint8))
    return out if has_worlds else {name: x[0] for name, x in out.items()}


def _keys(key: jax.Array | None) -> jax.Array:
    """Keys of the walks before programs, of the walkers, and of the walks before walkers."""
    return jax.random.split(_key(key), 3)


def _walkers(
    key: jax.Array,
    rule: np.ndarray,
    cells: np.ndarray,
    position: np.ndarray,
    walkers: int,
    shape: rollouts.Shape,
    before: rollouts.Outcome | None,
) -> np.ndarray:
    """Sums of W random walkers, int64 [R, W], from the worlds' starts or from where `before` has left each."""
    if before is None:
        return ring.to_int64(rollouts.walks(key, rule, cells, position, walkers, shape).total)
    each = np.repeat(rule, walkers), np.asarray(before.cells).reshape(-1, cells.shape[1]), np.asarray(before.position).reshape(-1)
    return ring.to_int64(rollouts.walks(key, *each, 1, shape).total).reshape(len(rule), walkers)
