"""Auxiliary prediction on Alchemy (paper, Appendix B.2): labels from the hidden state, for training only.

`features`: how many stones show each look and value (13), how many potions of each colour are left (6). `chemistry`: the 28 entries of
the ground truth. `corners`: which corners each colour moves a stone from (6 x 8, aligned frame), the study's own.
Axes: leading axes [...] are free; H hidden units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxdiff.agents.networks.dense import Dense
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import graphs, layout
from jaxdiff.alchemy.graphs import table
from jaxdiff.alchemy.world import State
from jaxdiff.core.errors import require

STONE_WEIGHT, POTION_WEIGHT, CHEMISTRY_WEIGHT = 2.4, 0.6, 10.0  # the paper's Table 2
CORNER_WEIGHT = 3.0  # ours; like the others it is scaled down beside PPO, see `agents.presets`
STONE_COUNTS, COLOURS, CORNERS = 13, 6, 8
NAMES = ("features", "chemistry", "corners")


def check(names: tuple[str, ...]) -> None:
    """Refuse unknown or repeated names.

    Raises:
        InputError: one that is not in `NAMES`, or twice the same.
    """
    allowed = f"some of {', '.join(NAMES)}, each once"
    require(set(names) <= set(NAMES) and len(set(names)) == len(names), "auxiliary", names, allowed)


# Labels.


@table
def _looks() -> np.ndarray:
    """Which of the 13 counts a stone adds to, by (rotation x 8 + stone map) x 9 + corner, int8 [288, 13]."""
    rotation, stone_map, corner = np.meshgrid(np.arange(4), np.arange(8), np.arange(9), indexing="ij")
    inside = np.where(corner < layout.NO_STONE, corner, 0)
    features = chem.perceived_features()[rotation, chem.aligned_corner()[stone_map, inside]] + 1  # 0, 1, 2
    level = (chem.value_level()[inside] + 3) // 2
    ones = [features[..., k, None] == np.arange(3) for k in range(3)] + [level[..., None] == np.arange(4)]
    return np.where(corner[..., None] < layout.NO_STONE, np.concatenate(ones, axis=-1), False).astype(np.int8).reshape(288, -1)


@table
def _moved() -> np.ndarray:
    """From which latent corners a potion type moves a stone in each graph, int8 [G, 6, 8]."""
    return (graphs.transitions() != np.arange(8, dtype=np.int32)[:, None]).swapaxes(1, 2).astype(np.int8)


def features(state: State) -> jax.Array:
    """Counts of 13 stone entries and 6 colours, int8 [19]."""
    c = state.chemistry
    rows = (c.rotation * 8 + c.stone_map) * 9 + layout.unpack_stones(state.stones)
    stones = jnp.asarray(_looks())[rows].sum(0, dtype=jnp.int8)
    return jnp.concatenate([stones, layout.colour_counts(state.potions).astype(jnp.int8)])


def chemistry(state: State) -> jax.Array:
    """The 28 entries of the ground truth, int8 [28]."""
    return chem.to_vector(state.chemistry).astype(jnp.int8)


def corners(state: State) -> jax.Array:
    """Whether each colour moves a stone from each aligned corner, int8 [6, 8]."""
    c = state.chemistry
    kinds = jnp.asarray(chem.type_of_colour())[c.potion_map]
    latent = jnp.asarray(chem.aligned_corner())[c.stone_map]
    return jnp.asarray(_moved())[c.graph][kinds[:, None], latent]


_LABELS: dict[str, Callable[[State], jax.Array]] = {"features": features, "chemistry": chemistry, "corners": corners}


def labels(names: tuple[str, ...], state: State) -> dict[str, jax.Array]:
    """Labels of one state."""
    return {name: _LABELS[name](state) for name in names}


# Heads.


def _mlp(x: jax.Array, sizes: tuple[int, ...], name: str) -> jax.Array:
    for i, size in enumerate(sizes[:-1]):
        x = jax.nn.relu(Dense(size, name=f"{name}_{i}")(x))
    return Dense(sizes[-1], name=f"{name}_out")(x)


class Heads(nn.Module):
    """Predictions from what a network keeps.

    Attributes:
        names: what is predicted.
        slots: whether hidden states come as [..., 6, H], one for each colour.
    """

    names: tuple[str, ...]
    slots: bool

    @nn.compact
    def __call__(self, hidden: jax.Array) -> dict[str, jax.Array]:
        """Hidden [..., H] or [..., 6, H] -> a prediction in the shape of every label, float32."""
        whole = hidden.reshape(*hidden.shape[:-2], -1) if self.slots else hidden
        out = {}
        if "features" in self.names:
            parts = [_mlp(whole, (128, 128, size), name) for name, size in (("stones", STONE_COUNTS), ("potions", COLOURS))]
            out["features"] = jnp.concatenate(parts, axis=-1)
        if "chemistry" in self.names:
            out["chemistry"] = _mlp(whole, (256, 128, chem.VECTOR), "chemistry")
        if "corners" in self.names:
            # A slot says it of its own colour, with shared weights.
            size = CORNERS if self.slots else COLOURS * CORNERS
            out["corners"] = _mlp(hidden, (64, size), "corners").reshape(*whole.shape[:-1], COLOURS, CORNERS)
        return out


def losses(predicted: Mapping[str, jax.Array], label: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
    """Weighted losses, float32 [] each; cross entropies are means over entries, squared errors sums over counts."""
    out: dict[str, Any] = {}
    for name, prediction in predicted.items():
        truth = label[name].astype(jnp.float32)
        if name == "features":
            weights = np.repeat(np.array([STONE_WEIGHT, POTION_WEIGHT], np.float32), [STONE_COUNTS, COLOURS])
            out[name] = 0.5 * (weights * jnp.square(prediction - truth)).sum(-1).mean()
        else:
            weight = CHEMISTRY_WEIGHT if name == "chemistry" else CORNER_WEIGHT
            out[name] = weight * optax.sigmoid_binary_cross_entropy(prediction, truth).mean()
    return out
