"""The fast kernels: many policies through many automata, exact rewards in integers.

Everything is elementwise over the batch [R, Q] (R worlds with their rules, Q policies), a step is about 60 word operations, and the
loop over steps is a scan with static length. Random walks run in the same kernels: their actions are given instead of computed.
Arrays in, arrays out; checks, chunks and numbers of 64 bits are in `strategies`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxdiff.automata import ring
from jaxdiff.automata.compiled import Linear, act, remember
from jaxdiff.automata.eca import rule_masks

ACTIONS = 12  # three moves times four upshots


@dataclass(frozen=True)
class Shape:
    """What a kernel is compiled for.

    Attributes:
        width: cells of the ring.
        steps: T.
        limbs: words of the sum of rewards, see `ring.limbs_for`.
        unroll: steps in one turn of the loop.
        materialise: write every step's frame to memory. XLA's CPU compiler has no fusion with several outputs: without this it
            would compute the step once for every array of the carry. A GPU fuses them, so there it would only cost bandwidth.
    """

    width: int
    steps: int
    limbs: int
    unroll: int
    materialise: bool


def shape_for(width: int, steps: int) -> Shape:
    """The kernel's shape on the default backend."""
    cpu = jax.default_backend() == "cpu"
    return Shape(width, steps, ring.limbs_for(width, steps), 1 if cpu else 8, cpu)


class Batch(NamedTuple):
    """Where a batch of worlds stands: frame words [R, Q], and the sum of shifts since the position was last known, uint32 [R, Q]."""

    frame: ring.Words
    shifts: jax.Array


_Running = tuple[Batch, jax.Array, ring.Words]  # worlds, registers, sums so far
_Done = tuple[Batch, ring.Words, jax.Array | None]  # worlds, sums, recorded actions
_Between = tuple[ring.Words, jax.Array]  # frames and positions between two policies


class Outcome(NamedTuple):
    """What a kernel returns.

    Attributes:
        total: limbs of the sum of reward numerators, uint32 [R, Q].
        cells: configurations at the end, uint8 [R, Q, N].
        position: positions at the end, int32 [R, Q].
    """

    total: ring.Words
    cells: jax.Array
    position: jax.Array


def _step(
    batch: Batch, total: ring.Words, shift: jax.Array, upshot: jax.Array, masks: tuple[jax.Array, ...], shape: Shape
) -> tuple[Batch, ring.Words]:
    frame = ring.step(batch.frame, shift, upshot, masks, shape.width)
    if shape.materialise:
        frame = jax.lax.optimization_barrier(frame)
    total = ring.add(total, ring.reward(frame, shape.width, shape.limbs))
    return Batch(frame, batch.shifts + ring.last_shift(frame)), total


def _zeros(batch: Batch, limbs: int) -> ring.Words:
    return (jnp.zeros_like(batch.shifts),) * limbs


def run_programs(
    batch: Batch, linear: Linear, masks: tuple[jax.Array, ...], shape: Shape, record: bool = False
) -> tuple[Batch, ring.Words, jax.Array | None]:
    """T steps of programs with empty memories.

    Args:
        batch: worlds [R, Q].
        linear: programs; masks [S, Q], constants [Q].
        masks: the rules, eight words [R, 1].
        shape: what to compile for.
        record: keep the actions.

    Returns:
        the worlds afterwards, the sums of reward numerators, and the actions uint8 [T, R, Q], each 4 x shift + upshot (or None).
    """

    def body(carry: _Running, stage: tuple[jax.Array, ...]) -> tuple[_Running, jax.Array | None]:
        batch, register, total = carry
        register = remember(register, ring.observe(batch.frame))
        shift, upshot = act((*stage, linear.v0, linear.u0), register)
        batch, total = _step(batch, total, shift, upshot, masks, shape)
        return (batch, register, total), _as_action(shift, upshot) if record else None

    clamped = min(linear.a1.shape[0] - 1, shape.steps)
    early = tuple(m[:clamped] for m in (linear.a1, linear.a2, linear.b1, linear.b2))
    steady = tuple(m[-1] for m in (linear.a1, linear.a2, linear.b1, linear.b2))
    carry = (batch, jnp.zeros_like(batch.shifts), _zeros(batch, shape.limbs))
    carry, first = jax.lax.scan(body, carry, early)
    carry, rest = jax.lax.scan(lambda c, _: body(c, steady), carry, None, length=shape.steps - clamped, unroll=shape.unroll)
    return carry[0], carry[2], jnp.concatenate([first, rest]) if first is not None and rest is not None else None


def run_actions(batch: Batch, actions: jax.Array, masks: tuple[jax.Array, ...], shape: Shape) -> tuple[Batch, ring.Words]:
    """T steps of given actions, uint8 [T, R, Q], each 4 x shift + upshot. Otherwise as `run_programs`."""

    def body(carry: tuple[Batch, ring.Words], action: jax.Array) -> tuple[tuple[Batch, ring.Words], None]:
        return _step(*carry, *_from_action(action), masks, shape), None

    carry, _ = jax.lax.scan(body, (batch, _zeros(batch, shape.limbs)), actions)
    return carry


def _as_action(shift: jax.Array, upshot: jax.Array) -> jax.Array:
    return ((shift << jnp.uint32(2)) | (upshot & jnp.uint32(3))).astype(jnp.uint8)


def _from_action(action: jax.Array) -> tuple[jax.Array, jax.Array]:
    action = action.astype(jnp.uint32)
    return action >> jnp.uint32(2), action & jnp.uint32(3)


def moves_and_upshots(actions: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """Moves (stay, right, left) and upshots (keep, swap, set0, set1), uint8 [...], of actions [...] as kernels write them."""
    actions = jnp.asarray(actions)
    return (actions // 4 + 2) % 3, actions % 4


def actions_of(moves: jax.Array, upshots: jax.Array) -> jax.Array:
    """The inverse of `moves_and_upshots`."""
    return 4 * ((moves + 1) % 3) + upshots


def random_actions(key: jax.Array, steps: int, batch: tuple[int, ...]) -> jax.Array:
    """Uniform actions for a random walk, uint8 [steps, *batch]. The key is consumed."""
    return jax.random.randint(key, (steps, *batch), 0, ACTIONS, dtype=jnp.uint8)


def _enter(cells: jax.Array, position: jax.Array, batch: tuple[int, int]) -> Batch:
    """Frames [R, Q] of worlds cells uint8 [R, N], position int32 [R]."""
    frame = tuple(jnp.broadcast_to(w[:, None], batch) for w in ring.enter(cells, position))
    return Batch(frame, jnp.zeros(batch, jnp.uint32))


def _positions(position: jax.Array, shifts: jax.Array, steps: int, width: int) -> jax.Array:
    """Positions after `steps` steps whose shifts (0..2 each, 1 = stay) sum to `shifts`."""
    moved = (shifts % jnp.uint32(width)).astype(jnp.int32) - steps % width
    return (position + moved) % width


def _outcome(batch: Batch, total: ring.Words, position: jax.Array, steps: int, width: int) -> Outcome:
    place = _positions(position[:, None], batch.shifts, steps, width)
    return Outcome(total, ring.leave(batch.frame, place, width), place)


@partial(jax.jit, static_argnums=4)
def fresh(linear: Linear, rule: jax.Array, cells: jax.Array, position: jax.Array, shape: Shape) -> Outcome:
    """Every program from the same start: rule uint32 [R], cells uint8 [R, N], position int32 [R]."""
    batch = _enter(cells, position, (rule.shape[0], linear.v0.shape[0]))
    batch, total, _ = run_programs(batch, linear, rule_masks(rule[:, None]), shape)
    return _outcome(batch, total, position, shape.steps, shape.width)


@partial(jax.jit, static_argnums=(4, 5))
def paired(
    linear: Linear, rule: jax.Array, cells: jax.Array, position: jax.Array, shape: Shape, record: bool = False
) -> tuple[ring.Words, jax.Array | None]:
    """Program i in world i and in no other, where `fresh` runs every program in every world.

    Args:
        linear: programs; masks [S, Q], constants [Q].
        rule: uint32 [Q].
        cells: configurations at the start, uint8 [Q, N].
        position: int32 [Q].
        shape: what to compile for.
        record: keep the actions.

    Returns:
        limbs of the sums of reward numerators, uint32 [Q] each, and the actions uint8 [T, Q], see `run_programs` (or None).
    """
    frame = tuple(word[None] for word in ring.enter(cells, position))
    batch = Batch(frame, jnp.zeros((1, rule.shape[0]), jnp.uint32))
    _, total, actions = run_programs(batch, linear, rule_masks(rule[None]), shape, record)
    return tuple(limb[0] for limb in total), None if actions is None else actions[:, 0]


# Policies whose random walks are drawn with one fold of the key: which walk a policy gets does not depend on how many are run at once.
BLOCK = 64


@partial(jax.jit, static_argnums=(6, 7))
def after_walk(
    key: jax.Array,
    blocks: jax.Array,
    linear: Linear,
    rule: jax.Array,
    cells: jax.Array,
    position: jax.Array,
    shape: Shape,
    walk_steps: int,
) -> Outcome:
    """As `fresh`, but every program of every world has a random walk of its own before it, which is not rewarded.

    The Q programs are `BLOCK` for each of `blocks`, the numbers of these blocks in the whole population, uint32 [Q / BLOCK].
    """
    batch = _enter(cells, position, (rule.shape[0], linear.v0.shape[0]))
    masks = rule_masks(rule[:, None])
    drawn = jax.vmap(lambda number: random_actions(jax.random.fold_in(key, number), walk_steps, (rule.shape[0], BLOCK)))(blocks)
    actions = jnp.moveaxis(drawn, 0, 2).reshape((walk_steps, *batch.shifts.shape))
    batch, _ = run_actions(batch, actions, masks, shape)
    batch, total, _ = run_programs(batch, linear, masks, shape)
    return _outcome(batch, total, position, walk_steps + shape.steps, shape.width)


@partial(jax.jit, static_argnums=(4, 5))
def walks(key: jax.Array, rule: jax.Array, cells: jax.Array, position: jax.Array, walkers: int, shape: Shape) -> Outcome:
    """Random-walk policies from the same start, [R, walkers]. The key is consumed."""
    batch = _enter(cells, position, (rule.shape[0], walkers))
    actions = random_actions(key, shape.steps, batch.shifts.shape)
    batch, total = run_actions(batch, actions, rule_masks(rule[:, None]), shape)
    return _outcome(batch, total, position, shape.steps, shape.width)


@partial(jax.jit, static_argnums=4)
def given(actions: jax.Array, rule: jax.Array, cells: jax.Array, position: jax.Array, shape: Shape) -> ring.Words:
    """Sequences of actions uint8 [T, Q] (see `run_actions`), each in every world: limbs of the sums of rewards, uint32 [R, Q]."""
    lanes = (rule.shape[0], actions.shape[1])
    everywhere = jnp.broadcast_to(actions[:, None], (shape.steps, *lanes))
    return run_actions(_enter(cells, position, lanes), everywhere, rule_masks(rule[:, None]), shape)[1]


PROGRAM, WALK, NOTHING = range(3)


@partial(jax.jit, static_argnums=(7, 8))
def chained(
    key: jax.Array,
    linear: Linear,
    kind: jax.Array,
    first: jax.Array,
    rule: jax.Array,
    cells: jax.Array,
    position: jax.Array,
    shape: Shape,
    record: bool = False,
) -> tuple[ring.Words, jax.Array, jax.Array, jax.Array | None]:
    """Policies one after the other; cells and position carry over, memory does not.

    Args:
        key: consumed; one fold of it for every random walk, by the walk's number in the whole sequence.
        linear: masks [I, S, Q] and constants [I, Q]: item i of Q sequences.
        kind: int32 [I], one of `PROGRAM`, `WALK` (its program is ignored) and `NOTHING` (a place left empty).
        first: number of the first item in the whole sequence, uint32 [].
        rule: uint32 [R].
        cells: configurations before, uint8 [R, Q, N].
        position: positions before, int32 [R, Q].
        shape: of one policy's run.
        record: keep the actions of the first of the Q sequences.

    Returns:
        limbs of the sums of reward numerators, uint32 [I, R, Q] each; cells and position afterwards; the actions of the first sequence
        uint8 [I, T, R], see `run_programs` (or None).
    """
    count = position.shape
    masks = rule_masks(rule[:, None])

    def program(batch: Batch, policy: Linear, _: jax.Array) -> _Done:
        batch, total, actions = run_programs(batch, policy, masks, shape, record)
        return batch, total, None if actions is None else actions[..., 0]

    def walk(batch: Batch, _: Linear, number: jax.Array) -> _Done:
        actions = random_actions(jax.random.fold_in(key, number), shape.steps, count)
        return *run_actions(batch, actions, masks, shape), actions[..., 0] if record else None

    def nothing(batch: Batch, _: Linear, number: jax.Array) -> _Done:
        actions = jnp.zeros((shape.steps, count[0]), jnp.uint8) if record else None
        return Batch(batch.frame, batch.shifts + jnp.uint32(shape.steps)), _zeros(batch, shape.limbs), actions

    def item(carry: _Between, x: tuple[Linear, jax.Array, jax.Array]) -> tuple[_Between, tuple[ring.Words, jax.Array | None]]:
        frame, place = carry
        policy, what, number = x
        batch = Batch(frame, jnp.zeros(count, jnp.uint32))
        batch, total, actions = jax.lax.switch(what, (program, walk, nothing), batch, policy, number)
        return (batch.frame, _positions(place, batch.shifts, shape.steps, shape.width)), (total, actions)

    items = (linear, kind, first + jnp.arange(kind.shape[0], dtype=jnp.uint32))
    (frame, place), (total, actions) = jax.lax.scan(item, (ring.enter(cells, position), position), items)
    return total, ring.leave(frame, place, shape.width), place, actions


class Trace(NamedTuple):
    """Step by step, after each step: move and upshot uint8 [T, R, Q], limbs of the reward numerator, cells [T, R, Q, N], position."""

    move: jax.Array
    upshot: jax.Array
    reward: ring.Words
    cells: jax.Array
    position: jax.Array


@partial(jax.jit, static_argnums=(4, 5))
def trace(linear: Linear, rule: jax.Array, cells: jax.Array, position: jax.Array, shape: Shape, with_cells: bool = True) -> Trace:
    """As `fresh`, keeping what happened at every step (without cells where they are not wanted: then [T, R, Q, 0])."""
    masks = rule_masks(rule[:, None])
    batch = _enter(cells, position, (rule.shape[0], linear.v0.shape[0]))
    last = linear.a1.shape[0] - 1

    def body(carry: tuple[Batch, jax.Array, jax.Array], t: jax.Array) -> tuple[tuple[Batch, jax.Array, jax.Array], Trace]:
        batch, register, place = carry
        register = remember(register, ring.observe(batch.frame))
        stage = tuple(m[jnp.minimum(t, last)] for m in (linear.a1, linear.a2, linear.b1, linear.b2))
        shift, upshot = act((*stage, linear.v0, linear.u0), register)
        batch, reward = _step(batch, _zeros(batch, shape.limbs), shift, upshot, masks, shape)
        return _traced(batch, register, place, shift, upshot, reward, shape.width, with_cells)

    start = (batch, jnp.zeros_like(batch.shifts), jnp.broadcast_to(position[:, None], batch.shifts.shape))
    _, out = jax.lax.scan(body, start, jnp.arange(shape.steps, dtype=jnp.int32))
    return out


@partial(jax.jit, static_argnums=(4, 5, 6))
def trace_walks(
    key: jax.Array, rule: jax.Array, cells: jax.Array, position: jax.Array, walkers: int, shape: Shape, with_cells: bool = True
) -> Trace:
    """As `walks` with the same key (the same actions), keeping what happened at every step."""
    masks = rule_masks(rule[:, None])
    batch = _enter(cells, position, (rule.shape[0], walkers))

    def body(carry: tuple[Batch, jax.Array, jax.Array], action: jax.Array) -> tuple[tuple[Batch, jax.Array, jax.Array], Trace]:
        batch, register, place = carry
        shift, upshot = _from_action(action)
        batch, reward = _step(batch, _zeros(batch, shape.limbs), shift, upshot, masks, shape)
        return _traced(batch, register, place, shift, upshot, reward, shape.width, with_cells)

    start = (batch, jnp.zeros_like(batch.shifts), jnp.broadcast_to(position[:, None], batch.shifts.shape))
    _, out = jax.lax.scan(body, start, random_actions(key, shape.steps, batch.shifts.shape))
    return out


def _traced(
    batch: Batch,
    register: jax.Array,
    place: jax.Array,
    shift: jax.Array,
    upshot: jax.Array,
    reward: ring.Words,
    width: int,
    with_cells: bool,
) -> tuple[tuple[Batch, jax.Array, jax.Array], Trace]:
    place = _positions(place, shift, 1, width)
    cells = ring.leave(batch.frame, place, width) if with_cells else jnp.zeros((*place.shape, 0), jnp.uint8)
    move, upshot = moves_and_upshots(_as_action(shift, upshot))
    return (batch, register, place), Trace(move, upshot, reward, cells, place)
