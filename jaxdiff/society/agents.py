"""Agents that do not learn: oracle, trivial follower, random, and agents with a pattern of their own (paper, section 3).

Each is a pure function of what it may know, of its cell and of one random number u in [0, 1), and returns an action; everything is
written for one agent and vmapped. Ties are broken at random. Axes: N cells, A actions, m agents, L pattern elements.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxdiff.society import world
from jaxdiff.society.world import Params, Rules, State

FIXED = ("oracle", "follower", "random", "pattern")


class Outlook(NamedTuple):
    """What agents that do not learn look at; the same for all agents of a session.

    Attributes:
        targets: where every action leads, int32 [N, A]; the cell itself where it has no effect.
        exists: which actions there are, bool [A].
        next_reward: what every cell will hold when agents eat, float32 [N]: after this step's writing, unless they eat first; should
            Good and Evil aim for one cell, Good is taken to get it. Only the oracle may look at it.
        good, evil: where Good and Evil are now, int32 [].
    """

    targets: jax.Array
    exists: jax.Array
    next_reward: jax.Array
    good: jax.Array
    evil: jax.Array


def outlook(params: Params, state: State, rules: Rules = world.PAPER_RULES, foresee: bool = True) -> Outlook:
    """The outlook of one session.

    Args:
        params: the environment.
        state: its state.
        rules: of the world.
        foresee: whether the next rewards are wanted; otherwise they are zeros.
    """
    table = jnp.asarray(params.table).astype(jnp.int32)
    cells = jnp.arange(table.shape[0], dtype=jnp.int32)
    exists = jnp.arange(table.shape[1], dtype=jnp.int32) < params.actions_n
    targets = jnp.where(table < 0, cells[:, None], table)
    if not foresee:
        return Outlook(targets, exists, jnp.zeros_like(state.cell_reward), state.good, state.evil)
    element = jnp.asarray(params.pattern)[state.time % params.pattern_n].astype(jnp.int32)
    if rules.order == "eat_first":  # what lies there now is what can be eaten, before anything is written
        return Outlook(targets, exists, state.cell_reward, state.good, state.evil)
    good, evil = world.good_and_evil(table, element, state.good, state.evil, state.agents, jnp.zeros((), jnp.int32), rules)
    return Outlook(targets, exists, world.write(state.cell_reward, good, evil, rules), state.good, state.evil)


def pick(allowed: jax.Array, u: jax.Array) -> jax.Array:
    """A uniform choice of one of the allowed actions.

    Args:
        allowed: bool [A], at least one.
        u: in [0, 1).

    Returns:
        int32 [].
    """
    chances = jnp.sum(allowed, axis=-1, dtype=jnp.int32)
    wanted = jnp.minimum((u * chances.astype(jnp.float32)).astype(jnp.int32), chances - 1)
    # Counted one action after another: a running sum would be a reduction of its own for every action.
    chosen, seen = jnp.zeros_like(wanted), jnp.zeros_like(wanted)
    for action in range(allowed.shape[-1]):
        here = allowed[..., action]
        chosen = jnp.where(here & (seen == wanted), jnp.int32(action), chosen)
        seen = seen + here.astype(jnp.int32)
    return chosen


def oracle(seen: Outlook, cell: jax.Array) -> jax.Array:
    """Goes where the reward will be highest: to Good's next cell (+1, more than any faded reward) if an action leads there. bool [A]."""
    values = jnp.where(seen.exists, seen.next_reward[seen.targets[cell]], -jnp.inf)
    return seen.exists & (values == jnp.max(values, axis=-1, keepdims=True))


def follower(seen: Outlook, cell: jax.Array) -> jax.Array:
    """Goes where Good is now if an action leads there, else anywhere but to where Evil is now. bool [A]."""
    targets = seen.targets[cell]
    to_good = seen.exists & (targets == seen.good)
    careful = seen.exists & (targets != seen.evil)
    return jnp.where(jnp.any(to_good, axis=-1), to_good, jnp.where(jnp.any(careful, axis=-1), careful, seen.exists))


def random(seen: Outlook, cell: jax.Array) -> jax.Array:
    """Any action. bool [A]."""
    return seen.exists


def pattern(seen: Outlook, elements: jax.Array, length: jax.Array, time: jax.Array) -> jax.Array:
    """The next action of an agent's own endless pattern; one that the environment does not have is taken modulo their number.

    Args:
        seen: outlook.
        elements: int [L].
        length: how many of them count, int [].
        time: steps taken, int [].

    Returns:
        bool [A], one of them true.
    """
    action = elements[time % length].astype(jnp.int32) % jnp.sum(seen.exists, axis=-1, dtype=jnp.int32)
    return jnp.arange(seen.exists.shape[-1], dtype=jnp.int32) == action
