"""Which plans solve a task: the solutions that the novelty distance compares, for any world with integers for actions.

A plan is a solution from the step in which its return first reaches a target; what comes after does not count, so solutions are the
shortest beginnings. The target is set on the world before the novelty and kept. Axes: M plans, T actions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.core.open_loop import returns_of_plans
from jaxdiff.difficulty.novelty import Solutions
from jaxdiff.populations import plans

BATCH = 1 << 16


def returns(env: Environment[Any, Any], params: Any, plan: Any, key: jax.Array) -> np.ndarray:
    """Return of every plan after each of its steps, float32 [M, T]; it stays as it is when the episode is over.

    Args:
        env: the world.
        params: its parameters.
        plan: numbers of actions, int [M, T].
        key: of the start and of the world's own chance, the same for every plan; not consumed, since worlds that are compared must start
            alike.
    """
    rows = as_array("plan", plan, "numbers of actions [plans, steps]")
    require(rows.ndim == 2 and rows.shape[1] > 0, "plan", f"of shape {rows.shape}", "[plans, steps]")
    parts = [np.asarray(_returns(env, params, _padded(rows[i : i + BATCH]), jax.random.clone(key))) for i in range(0, len(rows), BATCH)]
    return np.concatenate([np.zeros((0, rows.shape[1]), np.float32), *parts])[: len(rows)]


def _padded(rows: np.ndarray) -> jax.Array:
    """Rounded up to a power of two, so that few sizes are compiled; the last plan is repeated, and what it gives is cut off."""
    size = 1 << (len(rows) - 1).bit_length()
    return jnp.asarray(rows[np.minimum(np.arange(size), len(rows) - 1)], jnp.int32)


@partial(jax.jit, static_argnums=0)
def _returns(env: Environment[Any, Any], params: Any, plan: jax.Array, key: jax.Array) -> jax.Array:
    return returns_of_plans(env, params, key, flat.action(env.action_space(params), plan))


def target_of(returned: np.ndarray, share: float) -> float:
    """The target that about this share of plans reaches at some step.

    Args:
        returned: as from `returns`, on the world before the novelty.
        share: between 0 and 1.
    """
    require(0 < share < 1, "share", share, "between 0 and 1")
    best = np.sort(returned.max(1))
    return float(best[min(len(best) - 1, int(np.ceil((1 - share) * len(best))))])


def solutions(
    env: Environment[Any, Any], params: Any, plan: Any, target: float, key: jax.Array, returned: np.ndarray | None = None
) -> Solutions:
    """The beginnings of plans that reach a target, in the order of the plans, one for each plan that does.

    Args:
        env: the world.
        params: its parameters.
        plan: numbers of actions, int [M, T].
        target: a return of at least this solves the task.
        key: as for `returns`, which are computed if they are not given.
        returned: as from `returns`.
    """
    plan = as_array("plan", plan, "numbers of actions [plans, steps]")
    returned = returns(env, params, plan, key) if returned is None else returned
    reached = returned >= np.float32(target)
    solved = np.flatnonzero(reached.any(1))
    actions = plans.coordinates(env.action_space(params), plan[solved])
    return Solutions(actions, reached[solved].argmax(1).astype(np.int32) + 1, len(plan))


def every_solution(env: Environment[Any, Any], params: Any, steps: int, target: float, key: jax.Array) -> Solutions:
    """All solutions of at most a number of steps, each once: P_A itself instead of a sample of it.

    Args:
        env: the world.
        params: its parameters.
        steps: longest plan, at least 1.
        target: a return of at least this solves the task.
        key: as for `returns`.
    """
    require_integer("steps", steps, 1)
    return solutions(env, params, plans.every(env.action_space(params), steps), target, key).distinct()
