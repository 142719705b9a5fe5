"""The item bank: every world of a sweep as an item of a test, with its difficulty, its discrimination and its characteristic curve.

Two ways of scoring stand side by side. The graded item has the response curve of the paper (section 4.2): ability against normalised
reward. The right-or-wrong item is what test software wants: trying some policies succeeds when the best of them reaches the target of one
stated tolerance gamma. Its characteristic curve Pr[success | theta] is q(2^theta), exact.

Ability here is always `theta_budget`, log2 of how many policies are tried [bits]. Abilities that are fitted to matrices of right and wrong
answers live on another scale (`studies.persons`), and the two are never mixed.

Blind search makes right-or-wrong items alike: where success has the same small chance in every try, Pr[success | theta] is
1 - exp(-2^(theta - c)) with a two-parameter discrimination of about 1 per bit, whatever the rule. What is steeper owes it to drawing
without replacement, most of all an item `at_ceiling`, which is solved only when most of the population has been tried: its steepness is
that of the population's end. Discrimination between worlds is therefore told by the graded item's curve. Axes: strategy, seed, rule,
policy, walker, instruction.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.automata import eca
from jaxdiff.core.errors import require
from jaxdiff.difficulty import indicators, irt, race, response
from jaxdiff.studies import search
from jaxdiff.sweep import group

if TYPE_CHECKING:
    import xarray as xr

KIND, GROUP = "item-bank", "items"
GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.25)
# Where medians of a response curve are computed: they are the slow part, and D is wanted at the first five anyway.
CURVE_GAMMAS = (0.0, 0.01, 0.05, 0.1, 0.17, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0)
INDICATORS = ("r_max", "r_mean", "r_min", "hbar", "hbar_robust", "correlation", "correlation_max", "sd", "random_walk_mean")
PER_BIT = 3  # points of a characteristic curve
BAND = (0.05, 0.95)
STEEP = 4.0  # a response curve that rises by more a bit is a jump between two of its levels; how high a jump was fitted says nothing
CERTAIN = 1e-9  # a probability this close to 1 stays there for larger budgets
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Population:
    """One population of a sweep, as a blind search meets it.

    Attributes:
        complexity: K of all policies, int64 [P].
        keep: the policies that are tried, bool [P].
    """

    complexity: np.ndarray
    keep: np.ndarray


def populations(dataset: xr.Dataset, form: search.ProgramForm = "simplified", keep_repeated: bool = False) -> list[Population]:
    """The populations of a sweep, one a seed.

    Args:
        dataset: of a sweep, see `check_sweep`.
        form: which form of a program is compressed to estimate K.
        keep_repeated: try repeated policies too (the paper removes them).
    """
    check_sweep(dataset)
    out = []
    for programs in dataset["program"].values:
        forms = search.rewrite(programs, form, len(dataset.attrs["observation"]))
        told_apart = search.rewrite(programs, "simplified", 0) if form == "raw" else forms
        out.append(Population(search.complexity_of(forms), ~search.repeated(told_apart) | keep_repeated))
    return out


def rewards(dataset: xr.Dataset, name: str = "numerator") -> np.ndarray:
    """Mean reward per step of the policies (or walkers) of a sweep, float64 [strategy, seed, rule, policy]."""
    return dataset[name].values / (int(dataset.attrs["scale"]) * int(dataset.attrs["steps"]))


def check_sweep(dataset: Any) -> None:
    """Refuse what is not the result of a sweep over automata.

    Raises:
        InputError: no dataset, or without one of the variables numerator, walker_numerator, program or the attributes scale, steps,
            observation, or with other dimensions.
    """
    dims = {
        "numerator": ("strategy", "seed", "rule", "policy"),
        "walker_numerator": ("strategy", "seed", "rule", "walker"),
        "program": ("seed", "policy", "instruction"),
    }
    require(hasattr(dataset, "data_vars") and hasattr(dataset, "attrs"), "dataset", dataset, "an xarray dataset of a sweep")
    for name, wanted in dims.items():
        found = dataset[name].dims if name in dataset else None
        require(found == wanted, "dataset", f"with {name} over {found}", f"{name} over {wanted}")
        empty = min(dataset[name].shape[:3]) == 0
        require(not empty, "dataset", f"with {name} of shape {dataset[name].shape}", "at least one of each strategy, seed, rule, policy")
    missing = [name for name in ("scale", "steps", "observation") if name not in dataset.attrs]
    require(not missing, "dataset", f"without the attribute {', '.join(missing)}", "attributes scale, steps and observation")
    require("strategy" in dataset.coords and "rule" in dataset.coords, "dataset", "without coordinates", "coordinates strategy and rule")
    eca.check_rule(dataset["rule"].values)


def items(
    dataset: xr.Dataset,
    gamma: float = 0.1,
    form: search.ProgramForm = "simplified",
    keep_repeated: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """The item bank of a sweep.

    Args:
        dataset: rewards of populations in worlds, see `check_sweep`.
        gamma: tolerance of the right-or-wrong items: success is a reward of at least (1 - gamma)(R_max - R_mean) + R_mean.
        form: which form of a program is compressed to estimate K.
        keep_repeated: keep repeated policies in the response functions (the paper removes them).
        threads: how many work side by side; the processors there are when None.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions strategy, rule, side, gamma, point (of the response curve), theta_budget (of the characteristic
        curve) and, with several seeds, band. Values are medians over seeds, the characteristic curve is the mean (what a searcher in any
        of the populations can expect), and `<name>_band` holds the 5 % and 95 % quantiles. An item whose rewards are all equal, or that
        every policy solves, is not `determined`: what cannot be said of it is NaN.

    Raises:
        InputError: a dataset that is no sweep, gamma outside 0..1, an unknown form.
    """
    require(0 <= gamma <= 1, "gamma", gamma, "0..1")
    tried = populations(dataset, form, keep_repeated)
    budgets = _budgets(max(int(p.keep.sum()) for p in tried))
    reward, walked = rewards(dataset), rewards(dataset, "walker_numerator")
    shape = reward.shape[:3]
    places = list(np.ndindex(shape))

    def one(place: tuple[int, ...]) -> dict[str, Any]:
        return _item(tried[place[1]], reward[place], walked[place], gamma, budgets)

    rows: list[dict[str, Any]] = []
    # The work is NumPy on large arrays, which lets go of the interpreter's lock: threads use all processors and copy nothing.
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for done, row in enumerate(pool.map(one, places)):
            rows.append(row)
            if progress is not None:
                progress("items", done + 1, len(places))
    columns = {name: np.stack([row[name] for row in rows]).reshape(*shape, *np.shape(rows[0][name])) for name in rows[0]}
    return _assemble(dataset, columns, budgets, {"gamma": gamma, "form": form, "keep_repeated": int(keep_repeated)})


def characteristic(sets: response.Thresholds, budgets: np.ndarray) -> np.ndarray:
    """Pr[success | budget] of the one success set in `sets`, exact, for ascending budgets, float64 [budgets].

    It never falls with the budget, so once it is 1 (to nine digits) the rest is not computed.
    """
    out = np.ones(len(budgets))
    for first in range(0, len(budgets), 8):
        m = budgets[first : first + 8] - 1
        failures = np.broadcast_to(sets.failures[0], (len(m), len(sets.weights)))
        out[first : first + 8] = race.first_hit_cdf(failures, sets.weights, np.broadcast_to(sets.success[0], len(m)), m)
        if out[first + len(m) - 1] >= 1 - CERTAIN:
            break
    return out


def _budgets(most: int) -> np.ndarray:
    """Numbers of policies from 1 to `most`, `PER_BIT` a doubling, int64 ascending."""
    bits = np.log2(most)
    return np.unique(np.round(2.0 ** np.linspace(0.0, bits, int(np.ceil(PER_BIT * bits)) + 1)).astype(np.int64))


def _item(tried: Population, reward: np.ndarray, walked: np.ndarray, gamma: float, budgets: np.ndarray) -> dict[str, Any]:
    """Everything about one population in one world."""
    summary = indicators.summarise(tried.complexity, reward, random_walk=walked)
    k, kept = tried.complexity[tried.keep], reward[tried.keep]
    found = search.responses(k, kept, np.array(CURVE_GAMMAS), ("median",), "median")
    wanted = [CURVE_GAMMAS.index(g) for g in GAMMAS]
    success = response.thresholds(response.universal_weights(k), kept, gamma)
    return {
        **{name: float(getattr(summary, name)) for name in INDICATORS},
        "difficulty": response.log_size(found.first_hit[:, 0, wanted]),
        "curve_theta": found.curve.theta,
        "curve_discrimination": np.minimum(found.fit.slope_at_b, STEEP),
        "curve_location": found.fit.b,
        "curve_rmse": found.fit.rmse,
        "target": success.target[0],
        "icc": characteristic(success, budgets),
        "varies": float(np.ptp(kept) > 0),
    }


_DIMS = {"difficulty": ("side", "gamma"), "curve_theta": ("point",), "icc": ("theta_budget",)}


def _assemble(dataset: xr.Dataset, columns: dict[str, np.ndarray], budgets: np.ndarray, attributes: dict[str, Any]) -> xr.Dataset:
    import xarray as xr

    theta = np.log2(budgets)
    icc = columns["icc"].mean(1)
    fits = [irt.fit_logistic(theta, curve, 0.0, 1.0) for curve in icc.reshape(-1, len(theta))]
    variables: dict[str, Any] = {
        f"item_{name}": (("strategy", "rule"), np.array([getattr(fit, name) for fit in fits]).reshape(icc.shape[:2]))
        for name in ("a", "b", "rmse")
    }
    varies = columns.pop("varies").min(1) > 0
    for name, value in columns.items():
        dims = ("strategy", "rule", *_DIMS.get(name, ()))
        variables[name] = (dims, icc if name == "icc" else _over_seeds(value))
        if value.shape[1] > 1:
            variables[f"{name}_band"] = ((*dims, "band"), np.moveaxis(np.quantile(value, BAND, axis=1), 0, -1))
    rule = dataset["rule"].values
    least = eca.representative(rule)
    halfway = np.array([np.interp(theta[-1] - 1, theta, curve) for curve in icc.reshape(-1, len(theta))]).reshape(icc.shape[:2])
    variables |= {
        "determined": (("strategy", "rule"), varies & np.isfinite(variables["item_a"][1])),
        "at_floor": (("strategy", "rule"), icc[..., 0] > 0.5),
        "at_ceiling": (("strategy", "rule"), halfway < 0.5),
        "representative": (("rule",), least),
        "is_representative": (("rule",), least == rule),
    }
    gammas = np.array(CURVE_GAMMAS)
    coordinates: dict[str, Any] = {
        "strategy": dataset["strategy"].values.astype(str),
        "rule": rule,
        "side": list(response.SIDES),
        "gamma": list(GAMMAS),
        "theta_budget": theta,
        "budget": ("theta_budget", budgets),
        "normalised": ("point", np.concatenate([gammas - 1, (1 - gammas)[::-1]])),
    }
    if dataset.sizes["seed"] > 1:
        coordinates["band"] = list(BAND)
    kept = {name: dataset.attrs[name] for name in ("steps", "width", "observation") if name in dataset.attrs}
    sizes = {"policies": dataset.sizes["policy"], "seeds": dataset.sizes["seed"]}
    bank = xr.Dataset(variables, coordinates, {**kept, **sizes, **attributes})
    for name in bank.variables:
        bank[name].attrs["long_name"] = _long_name(str(name), float(attributes["gamma"]))
    return bank


def _over_seeds(value: np.ndarray) -> np.ndarray:
    """Median over the axis of seeds; NaN where it is undefined in one of them."""
    return np.median(value, axis=1)


def _long_name(name: str, gamma: float) -> str:
    base = name.removesuffix("_band")
    text = LONG_NAMES[base].format(gamma=f"{gamma:g}")
    return text if base == name else f"5 % and 95 % quantiles over seeds of: {text}"


LONG_NAMES = {
    "strategy": "how policies are tried, see automata.strategies",
    "rule": "rule number",
    "side": "finding good policies (positive) or bad ones (negative)",
    "gamma": "tolerance as a share of the way from the best reward to the mean",
    "band": "quantile over seeds",
    "theta_budget": "ability on the budget scale: log2 of the number of policies tried [bits]",
    "budget": "number of policies tried",
    "normalised": "reward with R_min, R_mean, R_max at -1, 0, 1",
    "representative": "least of the equivalent rules (mirror image, complement, both)",
    "is_representative": "whether the rule is the least of its class",
    "determined": "whether the item tells anything: its rewards differ and not every policy solves it",
    "at_floor": "whether a single policy tried succeeds with probability above 1/2: the difficulty is extrapolated",
    "at_ceiling": "whether half of the policies are tried before success has probability 1/2: the curve is that of the population's end",
    "r_max": "highest mean reward per step",
    "r_mean": "mean of the mean rewards per step",
    "r_min": "lowest mean reward per step",
    "hbar": "best-policy hardness: least complexity with the highest reward [instructions]",
    "hbar_robust": "least k where 1 % of R[<=k] reaches 95 % of R_max [instructions]",
    "correlation": "Spearman correlation of complexity and reward",
    "correlation_max": "Spearman correlation of i and R_max[<=i]",
    "sd": "standard deviation of the rewards per step",
    "random_walk_mean": "mean reward per step of random walkers",
    "difficulty": "D: log2 of the median number of policies tried until the target is reached, on the budget scale [bits]",
    "curve_theta": "response curve: ability on the budget scale [bits] at the levels `normalised`",
    "curve_discrimination": "largest slope of the logistic model fitted to the response curve from 0 (mean) to 1 (best), at most 4 [1/bit]",
    "curve_location": "ability of that model for half of the best, on the budget scale [bits]",
    "curve_rmse": "root mean square of that model's residuals",
    "target": "reward per step that counts as success at gamma = {gamma}",
    "icc": "item characteristic curve: probability of success at gamma = {gamma} by ability on the budget scale, exact",
    "item_a": "discrimination of the two-parameter model fitted to icc, on the budget scale [1/bit]",
    "item_b": "difficulty of the two-parameter model fitted to icc, on the budget scale [bits]",
    "item_rmse": "root mean square of that model's residuals",
}


def save(bank: xr.Dataset, store: str | Path) -> Path:
    """Write a bank as the group `items` of a sweep's store folder. Errors as for `sweep.group.save`."""
    return group.save(bank, store, GROUP, KIND)


def load(store: str | Path) -> xr.Dataset:
    """Read the bank of a sweep's store folder. Errors as for `sweep.group.load`."""
    return group.load(store, GROUP, KIND)


def information(bank: xr.Dataset, theta: Any) -> xr.DataArray:
    """Fisher information of the right-or-wrong items under their two-parameter models.

    Args:
        bank: of `items`.
        theta: abilities on the budget scale [bits], [T].

    Returns:
        [theta_budget, strategy, rule], per bit squared; 0 for items that are not determined.
    """
    import xarray as xr

    theta = xr.DataArray(np.atleast_1d(np.asarray(theta, np.float64)), dims="theta_budget")
    theta = theta.assign_coords(theta_budget=theta.values)
    theta, a, b = xr.broadcast(theta, bank["item_a"], bank["item_b"])
    told = theta.copy(data=irt.information(theta.values, a.values, b.values)).where(bank["determined"], 0.0)
    return told.rename("information").assign_attrs(long_name="Fisher information of an item, on the budget scale [1/bit^2]")


def summary_lines(bank: xr.Dataset, count: int = 10, gamma: float = 0.25) -> list[str]:
    """Sentences naming, for each strategy, the hardest rules (most D_pos) and the most discriminating, at neither end.

    Args:
        bank: of `items`.
        count: how many to name.
        gamma: tolerance of the difficulty.
    """
    hard = bank["difficulty"].sel(side="positive").sel(gamma=gamma, method="nearest")
    inside = bank["determined"] & ~bank["at_floor"] & ~bank["at_ceiling"]
    measures = (
        (f"hardest, D_pos({gamma:g}) [bits]", hard.where(bank["determined"])),
        ("most discriminating, slope of the response curve [1/bit]", bank["curve_discrimination"].where(inside)),
        (f"steepest right-or-wrong item at gamma = {bank.attrs['gamma']:g}, a [1/bit]", bank["item_a"].where(inside)),
    )
    lines = []
    for strategy in bank["strategy"].values:
        for what, value in measures:
            mine = value.sel(strategy=strategy)
            named = ", ".join(f"{int(r)} ({_capped(float(mine.sel(rule=r)), what)})" for r in ranked(mine)[:count])
            lines.append(f"{strategy}: {what}: {named}")
    return lines


def _capped(value: float, what: str) -> str:
    return f"≥ {STEEP:g}" if value >= STEEP and "response curve" in what else f"{value:.2f}"


def ranked(value: xr.DataArray) -> np.ndarray:
    """Rules by descending value [rule], equal ones by number; those without a value are left out."""
    known = value.dropna("rule")
    return known["rule"].values[np.lexsort((known["rule"].values, -known.values))]
