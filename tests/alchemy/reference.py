"""DeepMind's recorded data, see tests/data/alchemy/README.md."""

from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.graphs import AXIS_ORDERS

FOLDER = Path(__file__).parents[1] / "data" / "alchemy"


@cache
def load(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


@cache
def recorded_chemistries():
    """Of the 210 trajectories, int32 [210]."""
    d = load("trajectories_random")
    order = [AXIS_ORDERS.index(tuple(row)) for row in d["dim_map"].tolist()]
    direction, stone = (((d[name] > 0) << np.arange(3)).sum(-1) for name in ("dir_map", "stone_map"))
    fields = (d["graph_index"], 8 * np.array(order) + direction, stone, d["rotation_index"])
    return Chemistry(*(x.astype(np.int32) for x in fields))


@cache
def published_chemistries():
    """Of the 1,000 evaluation episodes, int32 [1000]."""
    d = load("chemistries_published")
    return Chemistry(*(d[name].astype(np.int32) for name in ("graph_index", "potion_map_index", "stone_map_index", "rotation_index")))


def play(env, chemistry, stones, potions, actions):
    """All episodes in one scan: observations [E, T + 1, ...], what was known [E, T + 1, 2], and per step reward, terminated, info."""
    params = env.default_params

    def one(chemistry, stones, potions, actions):
        obs, state = env.reset_with(chemistry, stones, potions)

        def body(state, action):
            obs, state, reward, terminated, truncated, info = env.step_env(None, state, action, params)
            return state, (obs, state.known, reward, terminated, truncated, info)

        _, (all_obs, known, *rest) = jax.lax.scan(body, state, actions)
        return jnp.concatenate([obs[None], all_obs]), jnp.concatenate([state.known[None], known]), *rest

    batch = jax.tree.map(lambda x: jnp.asarray(x, jnp.int32), (chemistry, stones, potions, actions))
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(*batch))
