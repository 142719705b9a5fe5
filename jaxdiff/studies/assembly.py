"""Tests put together from the items of a bank: which few items measure a range of abilities best.

An item is a rule under a strategy, scored right or wrong; abilities are on the budget scale [bits]. No test holds two rules that are the
same automaton seen in a mirror or a negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize

from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.difficulty import irt

if TYPE_CHECKING:
    import xarray as xr

ABILITIES = tuple(range(1, 11))


def flat(dataset: xr.Dataset) -> xr.Dataset:
    """A bank or simulated persons with one dimension `item` instead of strategy and rule; items are named like `fresh-110`."""
    out = dataset.stack(item=("strategy", "rule")).reset_index("item")
    names = [f"{strategy}-{rule}" for strategy, rule in zip(out["strategy"].values, out["rule"].values, strict=True)]
    return out.assign_coords(item=names)


def usable(bank: xr.Dataset) -> np.ndarray:
    """Which items of a flat bank can stand in a test: determined, and neither at the floor nor at the ceiling; bool [item]."""
    return bank["determined"].values & ~bank["at_floor"].values & ~bank["at_ceiling"].values


def hand_picked(bank: xr.Dataset, count: int = 6, abilities: Sequence[float] = ABILITIES, strategy: str | None = None) -> xr.Dataset:
    """A test of few items that spans a range of abilities with the largest discrimination.

    `count` abilities are placed at equal distances over the range, and each is given an item so that the sum of the items' informations at
    their abilities is the largest possible.

    Args:
        bank: of `item_bank.items`.
        count: items of the test.
        abilities: on the budget scale [bits]; the least and the largest of them are the range.
        strategy: take items of one strategy only; of all when None.

    Returns:
        the bank with the dimension `item` instead of strategy and rule, `count` long, in order of ability, and the variables `ability` (for
        which an item was picked) and `information` (there).

    Raises:
        InputError: no ability, a strategy that is not there, or more items than there are classes of rules that can be used.
    """
    require_integer("count", count, 1)
    wanted = as_array("abilities", abilities, "numbers, on the budget scale [bits]", np.float64)
    require(wanted.ndim == 1 and wanted.size > 0 and bool(np.isfinite(wanted).all()), "abilities", abilities, "at least one number")
    strategies = bank["strategy"].values.tolist()
    require(strategy is None or strategy in strategies, "strategy", strategy, f"one of {', '.join(strategies)}")
    items = flat(bank if strategy is None else bank.sel(strategy=[strategy]))
    items = items.isel(item=np.flatnonzero(usable(items)))
    at = np.linspace(wanted.min(), wanted.max(), count) if count > 1 else np.array([wanted.mean()])
    classes, number = np.unique(items["representative"].values, return_inverse=True)
    require(count <= len(classes), "count", count, f"at most {len(classes)}, the classes of rules that can be used")
    told = irt.information(at[:, None], items["item_a"].values, items["item_b"].values)  # [count, item]
    by_class = np.full((count, len(classes)), -np.inf)
    np.maximum.at(by_class.T, number, told.T)
    row, chosen = optimize.linear_sum_assignment(by_class, maximize=True)
    place = [int(np.argmax(np.where(number == c, told[r], -np.inf))) for r, c in zip(row, chosen, strict=True)]
    picked = items.isel(item=place)
    return picked.assign(ability=("item", at), information=("item", told[row, place])).pipe(_named)


def _named(dataset: Any) -> Any:
    dataset["ability"].attrs["long_name"] = "ability on the budget scale for which the item was picked [bits]"
    dataset["information"].attrs["long_name"] = "Fisher information of the item there [1/bit^2]"
    return dataset
