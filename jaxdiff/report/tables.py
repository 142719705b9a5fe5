"""Tables of small deterministic worlds, found by trying every action in every state, for what is exact only on tables.

States that are equal in every bit are one; a world whose state counts its steps has one for each number of steps.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.environment import Environment
from jaxdiff.difficulty import effective_horizon

MOST_STATES = 1000
MOST_HORIZON = 200
_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32, 100, 1000)


def tabulate(world: Any, params: Any, horizon: int, most: int = MOST_STATES) -> effective_horizon.World | str:
    """A world as tables, or why it has none.

    Args:
        world: an `Environment` or a hosted gymnasium environment; of the latter, tables are those that toy-text ones have.
        params: its parameters.
        horizon: steps after which an episode ends at the latest.
        most: states at most.

    Returns:
        tables whose rewards are integers: multiples of the largest unit that all rewards share; or a sentence.
    """
    if horizon > MOST_HORIZON:
        return f"episodes of up to {horizon} steps are too long for exact distributions of returns (at most {MOST_HORIZON})"
    found = _explored(world, params, most) if isinstance(world, Environment) else _toy_text(world, most)
    if isinstance(found, str):
        return found
    following, reward, terminal, start = found
    scale = next((s for s in _SCALES if np.allclose(reward * s, np.round(reward * s), atol=1e-6)), None)
    if scale is None:
        return "its rewards are not multiples of one unit"
    return effective_horizon.world(following, np.round(reward * scale), terminal, horizon, start)


def _toy_text(world: Any, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int] | str:
    inner = world.one.unwrapped
    table = getattr(inner, "P", None)
    if not isinstance(table, dict) or len(table) > most:
        return "it has no tables of its transitions, or more than so many states"
    states, actions = len(table), len(table[0])
    if any(len({(t[1], t[2], t[3]) for t in table[s][a] if t[0] > 0}) != 1 for s in range(states) for a in range(actions)):
        return "its transitions are random"
    starts = np.flatnonzero(np.asarray(getattr(inner, "initial_state_distrib", [])))
    if len(starts) != 1:
        return "its first state is random"
    rows = [[next(t for t in table[s][a] if t[0] > 0) for a in range(actions)] for s in range(states)]
    following, reward, terminal = (np.array([[t[i] for t in row] for row in rows]) for i in (1, 2, 3))
    return following, reward.astype(np.float64), terminal.astype(bool), int(starts[0])


def _explored(env: Environment[Any, Any], params: Any, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int] | str:
    space = env.action_space(params)
    number = flat.number_of_actions(space)
    if number is None or number > 64:
        return "its actions are real, or too many"
    actions = np.arange(number, dtype=np.int32)

    @jax.jit
    def ahead(states: Any) -> Any:
        """Every action in every state, with two different keys."""

        def one(state: Any, action: Any, seed: Any) -> Any:
            out = env.step_env(jax.random.key(seed), state, flat.action(space, action), params)
            return out[1], out[2], out[3] | out[4]

        over_actions = jax.vmap(one, in_axes=(None, 0, None))
        return tuple(jax.vmap(over_actions, in_axes=(0, None, None))(states, actions, np.uint32(seed)) for seed in (1, 2))

    first = [jax.tree.map(np.asarray, jax.jit(env.reset_env)(jax.random.key(seed), params)[1]) for seed in range(4)]
    if any(_text(state) != _text(first[0]) for state in first):
        return "its first state is random"
    block = 64
    index, states = {_text(first[0]): 0}, [first[0]]
    following: list[list[int]] = []
    rewards: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    while len(following) < len(states):
        # A block is filled up with its last state, so that all have one shape.
        at = np.minimum(np.arange(len(following), len(following) + block), len(states) - 1)
        stacked = jax.tree.map(lambda *x: np.stack(x), *(states[i] for i in at))
        one, two = jax.tree.map(np.asarray, ahead(stacked))
        if any(not np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True)):
            return "its transitions are random"
        for row in range(min(block, len(states) - len(following))):
            places = []
            for a in range(number):
                state = jax.tree.map(lambda x, row=row, a=a: x[row, a], one[0])
                # What comes after the end of an episode is not part of the world.
                text = _text(state) if not one[2][row, a] else _text(first[0])
                if text not in index:
                    if len(states) == most:
                        return f"it has more than {most} states"
                    index[text] = len(states)
                    states.append(state)
                places.append(index[text])
            following.append(places)
            rewards.append(one[1][row])
            ends.append(one[2][row])
    return np.array(following), np.stack(rewards).astype(np.float64), np.stack(ends), 0


def _text(state: Any) -> bytes:
    return b"|".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(state))
