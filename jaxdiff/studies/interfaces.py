"""The same task through other interfaces (paper, section 6.3): how much of a rule's difficulty is the rule's?

The paper proposes to "check whether the use of different interfaces for the same task leads to different policy distributions, curves and
indicators". Here the same programs meet the same worlds, and only what is appended to their memory at each step differs: all three
cells in the paper's order <c, l, r>, in another order (a pointer that starts on another cell), or only two of the cells.

Difficulty is relative to what can be reached through the interface: R_max is that of the same programs there. Axes: I interfaces, R rules,
S populations, G tolerances.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.automata import eca, world
from jaxdiff.automata.compiled import check_observation
from jaxdiff.core.errors import require
from jaxdiff.difficulty import agreement, response
from jaxdiff.studies.answers import Answer
from jaxdiff.studies.rule_difficulty import GAMMAS, Baseline, Difficulty, Populations, Progress, Settings, baseline, difficulty, evaluate

if TYPE_CHECKING:
    import xarray as xr

KIND = "interfaces"
PAPER = "clr"
# The paper's, the cells as they stand, the paper's backwards; the 2-bit reading of Definition 5; without the left or the right cell.
INTERFACES = (PAPER, "lcr", "rlc", "lr", "cr", "cl")


def measure(
    settings: Settings, base: Baseline | None = None, progress: Progress | None = None, interfaces: tuple[str, ...] = INTERFACES
) -> xr.Dataset:
    """Difficulty of rules through several interfaces, strategy Fresh, and response curves of the paper's rules.

    Args:
        settings: rules and populations.
        base: measured from the settings when None.
        progress: called with (what, done, in all) now and then.
        interfaces: observations, see `automata.world.SAECA`; the paper's is the first.

    Returns:
        dataset with the dimensions interface, rule, population, gamma, and for the curves shown (the paper's rules among the rules), axis
        and point.

    Raises:
        InputError: an observation that there is not, or another than the paper's first.
    """
    import xarray as xr

    for interface in interfaces:
        check_observation(interface)
    require(
        interfaces[:1] == (PAPER,) and len(set(interfaces)) == len(interfaces), "interfaces", interfaces, f"different ones, {PAPER} first"
    )
    base = baseline(settings, progress) if base is None else base
    shown = [rule for rule in world.PAPER_RULES if rule in settings.rules]
    rows = [settings.rules.index(rule) for rule in shown]
    found: list[Difficulty] = []
    curves: list[np.ndarray] = []
    for interface in interfaces:
        if interface == PAPER:
            reward, d = base.evaluation.reward, base.difficulty
        else:
            reward = evaluate(settings, base.populations.programs, interface, progress=progress).reward
            d = difficulty(base.populations, reward, GAMMAS, progress)
        found.append(d)
        curves.append(_curves(base.populations, reward[rows]))
    by_rule = ("interface", "rule", "population")
    variables = {
        "difficulty": ((*by_rule, "gamma"), np.stack([d.bits for d in found]), {"long_name": "D_pos, log2 of Equation 9 [bits]"}),
        "hbar": (by_rule, np.stack([d.hbar for d in found]), {"long_name": "best-policy hardness [instructions]"}),
        "r_max": (by_rule, np.stack([d.r_max for d in found]), {"long_name": "highest reward per step"}),
        "r_mean": (by_rule, np.stack([d.r_mean for d in found]), {"long_name": "mean reward per step"}),
        "curve": (
            ("interface", "shown", "population", "axis", "point"),
            np.stack(curves),
            {"long_name": "response curve: ability (log2 of the mean first hit) and reward per step"},
        ),
        "representative": (("rule",), eca.representative(settings.rules), {"long_name": "least rule of the equivalence class"}),
    }
    coordinates = {
        "interface": list(interfaces),
        "rule": list(settings.rules),
        "gamma": list(GAMMAS),
        "shown": np.asarray(shown, np.int64),
        "axis": ["theta", "reward"],
    }
    return xr.Dataset(variables, coordinates, settings.attributes())


def _curves(populations: Populations, reward: np.ndarray) -> np.ndarray:
    """Response curves of some rules, rewards [R, S, P] -> float64 [R, S, 2, points]."""
    out = np.empty((*reward.shape[:2], 2, 2 * len(response.gammas_101())))
    for i, j in np.ndindex(reward.shape[:2]):
        kept = populations.kept[j]
        curve = response.curve(response.universal_weights(populations.complexity[j][kept]), reward[i, j][kept], statistic="mean_first_hit")
        out[i, j] = curve.theta, curve.reward
    return out


def answers(dataset: xr.Dataset) -> list[Answer]:
    """How far interfaces agree on the order of rules, and how much harder they are than the paper's."""
    groups = dataset.representative.values
    names = [str(name) for name in dataset.interface.values]
    out = []
    for gamma in (0.0, 0.25):
        bits = {name: dataset.difficulty.sel(interface=name, gamma=gamma).values.T for name in names}
        for name in names[1:]:
            for coefficient in agreement.COEFFICIENTS:
                found = agreement.correlation(bits[PAPER], bits[name], coefficient, groups=groups)
                out.append(Answer.of(f"D_pos({gamma:g}): {PAPER} and {name}, {coefficient}", found))
            # Neither side knows the other's programs: to be held against two populations through one interface.
            apart = agreement.correlation(bits[PAPER], np.roll(bits[name], 1, axis=0), groups=groups)
            out.append(Answer.of(f"D_pos({gamma:g}): {PAPER} and {name}, other programs", apart))
        out += [Answer.stable(f"D_pos({gamma:g}) through {name}: two populations", agreement.stability(bits[name])) for name in names]
    for name in names[1:]:
        for quantity, values in (("D_pos(0)", dataset.difficulty.sel(gamma=0.0)), ("R_max", dataset.r_max)):
            change = (values.sel(interface=name) - values.sel(interface=PAPER)).values.T
            out.append(_mean_change(f"{quantity} through {name} less through {PAPER}, mean over rules", change, groups))
    return out


def pairs(dataset: xr.Dataset, gamma: float = 0.0) -> dict[tuple[str, str], agreement.Correlation]:
    """Spearman of D_pos between all pairs of interfaces."""
    rank = partial(agreement.correlation, groups=dataset.representative.values)
    bits = dataset.difficulty.sel(gamma=gamma)
    names = [str(name) for name in dataset.interface.values]
    return {(a, b): rank(bits.sel(interface=a).values.T, bits.sel(interface=b).values.T) for a, b in combinations(names, 2)}


def _mean_change(quantity: str, change: np.ndarray, groups: np.ndarray) -> Answer:
    """Mean over rules of [S, R], with a bootstrap interval over classes of rules."""
    labels = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sums, sizes = np.bincount(labels, change.mean(0)), np.bincount(labels)
    drawn = np.random.default_rng(0).integers(0, len(sizes), (1000, len(sizes)))
    low, high = np.quantile(sums[drawn].sum(1) / sizes[drawn].sum(1), [0.025, 0.975])
    each = change.mean(1)
    return Answer(quantity, float(change.mean()), float(low), float(high), float(each.min()), float(each.max()))
