"""What an agent that plays whole episodes takes and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from jaxdiff.alchemy import items
from jaxdiff.core.errors import as_array, require

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy.chemistry import Chemistry

STEPS = 20  # of a trial
PER_STONE = items.POTIONS + 1  # containers: the cauldron and every potion


@partial(jax.tree_util.register_dataclass, data_fields=["actions", "scores"], meta_fields=[])
@dataclass(frozen=True)
class Play:
    """Trials as they were played; E episodes, R trials, T = 20 steps.

    Attributes:
        actions: as the world takes them (without an action that ends the trial), int32 [E, R, T]; 0 is nothing.
        scores: sum of the rewards of each trial, int32 [E, R].
    """

    actions: Any
    scores: Any


class Episodes(NamedTuple):
    """Checked episodes, NumPy int64: chemistry indices [E], stones [E, R, 3], potions [E, R, 12]; E is any leading shape."""

    graph: np.ndarray
    potion_map: np.ndarray
    stone_map: np.ndarray
    rotation: np.ndarray
    stones: np.ndarray
    potions: np.ndarray


def checked(chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike) -> Episodes:
    """Episodes as arrays of one leading shape.

    Raises:
        InputError: shapes that do not fit, numbers out of range, or a number of stones or potions other than 3 and 12.
    """
    stones = _integers("stones", stones, items.CORNERS, "latent corners")
    potions = _integers("potions", potions, items.TYPES, "latent types")
    require(
        potions.ndim >= 2 and potions.shape[-1] == items.POTIONS,
        "potions", f"an array of shape {potions.shape}", f"[..., trials, {items.POTIONS}]: the tables hold at most {items.POTIONS} potions",
    )  # fmt: skip
    require(
        stones.shape == (*potions.shape[:-1], items.STONES),
        "stones", f"an array of shape {stones.shape}", f"[..., trials, {items.STONES}], leading axes as potions {potions.shape[:-1]}",
    )  # fmt: skip
    fields = {}
    for name, count in (("graph", 109), ("potion_map", items.MAPS), ("stone_map", items.CORNERS), ("rotation", 4)):
        field = _integers(f"chemistry.{name}", getattr(chemistry, name), count, "indices")
        try:
            fields[name] = np.broadcast_to(field, potions.shape[:-2])
        except ValueError:
            require(False, f"chemistry.{name}", f"an array of shape {field.shape}", f"one index for each episode, {potions.shape[:-2]}")
    return Episodes(**fields, stones=stones, potions=potions)


def _integers(name: str, value: Any, count: int, what: str) -> np.ndarray:
    array = as_array(name, value, f"{what}, integers from 0 to {count - 1}")
    require(np.issubdtype(array.dtype, np.integer), name, f"an array of {array.dtype}", f"{what}, integers from 0 to {count - 1}")
    require(array.size == 0 or (array.min() >= 0 and array.max() < count), name, array, f"{what}, integers from 0 to {count - 1}")
    return array.astype(np.int64)


def action(stone: Any, container: Any) -> Any:
    """The world's number of "stone slot into container": container -1 is the cauldron, else a potion slot."""
    return 1 + PER_STONE * stone + 1 + container
