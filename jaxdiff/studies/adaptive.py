"""An adaptive test: simulated persons are given, one after the other, the item that tells most about what is thought of them so far.

Items are chosen and the running estimate is made by catsim (`pip install jaxdiff[adaptive]`); the answers are those of `persons.simulate`,
who search, and not drawn from the model. catsim looks for abilities between -6 and 6, so it is given its own scale, an affine map of
the budget's bits (`Scale`), and everything it answers is mapped back: results are in bits. For the comparison of tests every one is scored
alike, by the posterior mean under the items' two-parameter models. Axes: persons, items given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.difficulty import irt
from jaxdiff.studies import assembly

if TYPE_CHECKING:
    import xarray as xr

# The range of abilities of a bank is mapped to that of typical abilities in test theory.
TYPICAL = 4.0
GRID = 241


@dataclass(frozen=True)
class Scale:
    """The affine map between the budget scale and catsim's.

    Attributes:
        centre: ability on the budget scale that is 0 for catsim [bits].
        unit: bits that are 1 for catsim.
    """

    centre: float
    unit: float

    def to_catsim(self, theta_budget: Any) -> Any:
        """The ability for catsim of an ability in bits."""
        return (np.asarray(theta_budget, np.float64) - self.centre) / self.unit

    def from_catsim(self, theta: Any) -> Any:
        """Bits of an ability of catsim's."""
        return np.asarray(theta, np.float64) * self.unit + self.centre

    def items(self, a: Any, b: Any) -> np.ndarray:
        """The item matrix for catsim, of discriminations per bit and difficulties in bits: columns a, b, c = 0, d = 1, float64 [I, 4]."""
        a, b = np.broadcast_arrays(np.asarray(a, np.float64) * self.unit, self.to_catsim(b))
        return np.stack([a, b, np.zeros(a.shape), np.ones(a.shape)], axis=-1)


def scale_of(bank: xr.Dataset) -> Scale:
    """The scale on which the bank's abilities, 0 to log2 of its number of policies, run from -4 to 4."""
    most = float(bank["theta_budget"].max())
    return Scale(most / 2, most / (2 * TYPICAL))


def replay(bank: xr.Dataset, persons: xr.Dataset, length: int = 20) -> xr.Dataset:
    """Give every person an adaptive test.

    Args:
        bank: of `item_bank.items`.
        persons: of `persons.simulate`, on the same strategies and rules.
        length: items given to each.

    Returns:
        dataset over person and given (1..length): `item` (name), `success`, `theta_estimated` and `standard_error` after it [bits]; and per
        person the true `theta_budget` [bits].

    Raises:
        InputError: catsim is not installed, persons who did not take the bank's items, or more items than there are to use.
    """
    try:
        import catsim
        from catsim.estimation import NumericalSearchEstimator
        from catsim.selection import MaxInfoSelector
    except ImportError as error:
        raise InputError("adaptive", "without the package catsim", "pip install 'jaxdiff[adaptive]'") from error
    items, success = matched(bank, persons)
    _check_length(length, items)
    scale = scale_of(bank)
    # Our own checks are stricter, and catsim's would print an empty line.
    shelf = catsim.ItemBank(scale.items(items["item_a"].values, items["item_b"].values), validate=False)
    select, estimate = MaxInfoSelector(), NumericalSearchEstimator()
    given = np.empty((len(success), length), np.int64)
    for person, answers in enumerate(success):
        taken: list[int] = []
        theta = 0.0
        while len(taken) < length:
            chosen = select.select(item_bank=shelf, administered_items=taken, est_theta=theta)
            assert chosen is not None  # the length was checked, so there is one
            taken.append(int(chosen))
            theta = estimate.estimate(
                item_bank=shelf, administered_items=taken, response_vector=[bool(answers[i]) for i in taken], est_theta=theta
            )
        given[person] = taken
    return scored(bank, persons, given)


def scored(bank: xr.Dataset, persons: xr.Dataset, given: np.ndarray) -> xr.Dataset:
    """Score a test by the posterior mean under the items' two-parameter models and a uniform prior over the bank's abilities.

    Args:
        bank: of `item_bank.items`.
        persons: of `persons.simulate`.
        given: places of the items given in `matched`'s bank, in order, int [items] (the same to all) or [persons, items].

    Returns:
        as `replay`.
    """
    import xarray as xr

    items, success = matched(bank, persons)
    given = np.broadcast_to(given, (len(success), np.shape(given)[-1]))
    right = np.take_along_axis(success, given, 1)
    grid = np.linspace(0.0, float(bank["theta_budget"].max()), GRID)
    mean, spread = irt.posterior_ability(right, items["item_a"].values[given], items["item_b"].values[given], grid)
    variables = {
        "item": (("person", "given"), items["item"].values[given], {"long_name": "name of the item given"}),
        "success": (("person", "given"), right, {"long_name": "whether it was solved"}),
        "theta_estimated": (("person", "given"), mean, {"long_name": "estimated ability after it, on the budget scale [bits]"}),
        "standard_error": (("person", "given"), spread, {"long_name": "posterior standard deviation after it, on the budget scale [bits]"}),
        "theta_budget": (("person",), persons["theta_budget"].values, {"long_name": "true ability on the budget scale [bits]"}),
    }
    return xr.Dataset(variables, {"person": persons["person"].values, "given": np.arange(1, given.shape[1] + 1)})


def compare(bank: xr.Dataset, persons: xr.Dataset, length: int = 20, repeats: int = 20, seed: int = 0) -> tuple[xr.Dataset, xr.Dataset]:
    """Adaptive tests beside hand-picked ones and items at random, of every length.

    Args:
        bank: of `item_bank.items`.
        persons: of `persons.simulate`.
        length: items of the longest tests.
        repeats: random tests that are averaged over; every person has an own one in each.
        seed: of the random tests.

    Returns:
        the comparison over test (adaptive, hand-picked, random) and given (1..length): `rmse`, root mean square of estimated less true
        ability, `bias` and the mean `standard_error` [bits]; and the adaptive test, of `replay`.
    """
    import xarray as xr

    items, success = matched(bank, persons)
    _check_length(length, items)
    adaptive = replay(bank, persons, length)
    rng = np.random.default_rng(seed)
    places = {str(name): place for place, name in enumerate(items["item"].values)}
    range_of = (1.0, float(np.floor(bank["theta_budget"].max())))
    fixed = []
    for count in range(1, length + 1):
        picked = assembly.hand_picked(bank, count, range_of)
        fixed.append(scored(bank, persons, np.array([places[str(name)] for name in picked["item"].values])).isel(given=-1))
    random = [scored(bank, persons, np.argsort(rng.random(success.shape), axis=1)[:, :length]) for _ in range(repeats)]
    tests = {
        "adaptive": [adaptive],
        "hand-picked": [xr.concat(fixed, "given", data_vars="all", coords="minimal", compat="override")],
        "random": random,
    }
    numbers = [[_errors(one) for one in some] for some in tests.values()]
    rows = {name: np.stack([np.mean([one[i] for one in some], 0) for some in numbers]) for i, name in enumerate(_ERRORS)}
    rows["rmse"] = np.sqrt(rows.pop("mean_square"))
    variables = {name: (("test", "given"), value, {"long_name": _ERROR_NAMES[name]}) for name, value in rows.items()}
    return xr.Dataset(variables, {"test": list(tests), "given": np.arange(1, length + 1)}), adaptive


def items_for(comparison: xr.Dataset, error: float) -> dict[str, int | None]:
    """How many items each kind of test needs until its error (root mean square [bits]) is at most `error`; None where it never is."""
    out: dict[str, int | None] = {}
    for test in comparison["test"].values:
        good = np.flatnonzero(comparison["rmse"].sel(test=test).values <= error)
        out[str(test)] = int(comparison["given"].values[good[0]]) if good.size else None
    return out


def matched(bank: xr.Dataset, persons: xr.Dataset) -> tuple[xr.Dataset, np.ndarray]:
    """The flat bank of items that can be used, and the persons' successes in them, bool [persons, items].

    Raises:
        InputError: persons who did not take all of them, or under another tolerance.
    """
    items = assembly.flat(bank)
    items = items.isel(item=np.flatnonzero(assembly.usable(items)))
    taken = assembly.flat(persons[["success"]])["success"]
    missing = sorted(set(items["item"].values) - set(taken["item"].values))
    require(not missing, "persons", f"without the item {missing[0] if missing else ''}", "persons who took all items of the bank")
    gammas = persons.attrs.get("gamma"), bank.attrs.get("gamma")
    require(gammas[0] == gammas[1], "persons", f"of gamma {gammas[0]}", f"persons scored at the bank's gamma, {gammas[1]}")
    return items, taken.sel(item=items["item"].values).transpose("person", "item").values.astype(bool)


_ERRORS = ("mean_square", "bias", "standard_error")
_ERROR_NAMES = {
    "rmse": "root mean square of estimated less true ability, on the budget scale [bits]",
    "bias": "mean of estimated less true ability, on the budget scale [bits]",
    "standard_error": "mean standard error that the test states, on the budget scale [bits]",
}


def _errors(test: xr.Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    off = (test["theta_estimated"] - test["theta_budget"]).transpose("given", "person").values
    return (off**2).mean(1), off.mean(1), test["standard_error"].transpose("given", "person").values.mean(1)


def _check_length(length: int, items: xr.Dataset) -> None:
    require_integer("length", length, 1)
    require(length <= items.sizes["item"], "length", length, f"at most {items.sizes['item']}, the items that can be used")
