"""The paper's tables beside ours: paper, here, difference, and whether the difference is within tolerance.

The paper has one population; here the median of many is compared, with the band that holds 90 % of them. Where the paper can be read
in several ways every reading has its row, and the one that decides is named. No row is left out because it does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.studies import complexity_distribution as study
from jaxdiff.studies import paper_numbers as paper
from jaxdiff.studies.paper_rows import PaperRow

if TYPE_CHECKING:
    import xarray as xr

SIZES = tuple(paper.CHAINED)


@dataclass(frozen=True, kw_only=True)
class Row(PaperRow):
    """One number of the paper; `here` is the median over populations.

    Attributes:
        rule: rule number.
        reading: how it was computed here.
        low, high: band that holds 90 % of the populations.
        tolerance: largest difference that counts as inside; None where the row is informational.
    """

    rule: int
    reading: str
    low: float
    high: float
    tolerance: float | None


@dataclass(frozen=True)
class Reproduction:
    """All rows, and the datasets they come from.

    Attributes:
        rows: what is compared.
        datasets: `chained` and `fresh`; `fresh_right`, which starts one cell to the right; `larger`, one population of the paper's
            larger size, for Figure 12.
    """

    rows: tuple[Row, ...]
    datasets: dict[str, xr.Dataset]


def reproduce(
    size: int = 1900, populations: int = 20, seed: int = 0, progress: Callable[[str, int, int], None] | None = None
) -> Reproduction:
    """Run the paper's experiment and compare.

    Args:
        size: APL programs in a population, 1900 or 9500 (the paper's two; 5 % random walkers come on top).
        populations: how many populations.
        seed: of everything random.
        progress: called with (what, done, in all).

    Raises:
        InputError: a size the paper does not have, or no population.
    """
    require(size in SIZES, "size", size, f"one of {', '.join(map(str, SIZES))}")
    runs: tuple[tuple[str, int, study.Strategy, int, int | None], ...] = (
        ("chained", size, "chained", populations, None),
        ("fresh", size, "fresh", populations, None),
        ("fresh_right", size, "fresh", populations, 11),
        ("larger", SIZES[-1], "chained", 1, None),
    )
    datasets = {}
    for name, programs, strategy, sets, start in runs:

        def said(what: str, done: int, of: int, name: str = name) -> None:
            if progress is not None:
                progress(f"{name}: {what}", done, of)

        policies = round(programs / (1 - study.WALKERS_SHARE))
        settings = study.Settings(strategy=strategy, policies=policies, populations=sets, seed=seed, start=start, statistic="mean_falses")
        datasets[name] = study.measure(settings, said)
    rows = [
        *_fresh(datasets["fresh"], datasets["fresh_right"]),
        *_chained(datasets["chained"], size),
        *_difficulty(datasets["chained"], size),
        *_forms(datasets["chained"], size),
    ]
    return Reproduction(tuple(rows), datasets)


_COLUMNS = (
    ("R_max", "r_max"),
    ("R_mean", "r_mean"),
    ("R_min", "r_min"),
    ("hbar", "hbar"),
    ("Cor", "correlation"),
    ("Cor-max", "correlation_max"),
    ("random walk", "random_walk_mean"),
)


def _fresh(dataset: xr.Dataset, right: xr.Dataset) -> Iterator[Row]:
    for rule, numbers in paper.FRESH.items():
        for (quantity, name), value in zip(_COLUMNS, numbers, strict=True):
            tolerance = paper.TOLERANCE.get(quantity)
            if (rule, quantity) == (184, "R_mean"):
                tolerance = paper.FRESH_MEAN_184
            here = dataset[name].sel(rule=rule).values
            if (rule, quantity) == (122, "R_min"):
                yield _row(
                    "section 5.3, Fresh",
                    rule,
                    quantity,
                    "at most the paper's",
                    value,
                    here,
                    None,
                    inside=float(np.nanmedian(here)) <= paper.FRESH_MIN_122,
                )
            else:
                yield _row("section 5.3, Fresh", rule, quantity, "start at the centre", value, here, tolerance)
            if quantity == "R_mean":
                yield _row(
                    "section 5.3, Fresh", rule, quantity, "start one cell to the right", value, right[name].sel(rule=rule).values, None
                )


def _chained(dataset: xr.Dataset, size: int) -> Iterator[Row]:
    for rule, numbers in paper.CHAINED[size].items():
        for (quantity, name), value in zip(_COLUMNS[:-1], numbers, strict=True):
            yield _row(
                f"Table 1, Chained {size}",
                rule,
                quantity,
                "simplified programs",
                value,
                dataset[name].sel(rule=rule).values,
                paper.TOLERANCE.get(quantity),
            )


_READINGS = (("mean_falses", "sum of falses"), ("median", "Equation 9"), ("mean_first_hit", "mean first hit"))


def _difficulty(dataset: xr.Dataset, size: int) -> Iterator[Row]:
    for rule, sides in paper.DIFFICULTY[size].items():
        for side, label, numbers in zip(("positive", "negative"), ("D_pos", "D_neg"), sides, strict=True):
            for gamma, value in zip(paper.GAMMAS, numbers, strict=True):
                for statistic, reading in _READINGS:
                    here = dataset.difficulty.sel(rule=rule, side=side, statistic=statistic).sel(gamma=gamma, method="nearest").values
                    # The paper's procedure is the sum of falses: it decides, the others inform.
                    tolerance = paper.TOLERANCE["D"] if statistic == "mean_falses" else None
                    yield _row(f"Table 2, Chained {size}", rule, f"{label}({gamma:g})", reading, value, here, tolerance)


def _forms(dataset: xr.Dataset, size: int) -> Iterator[Row]:
    """How many policies differ, and the correlation of complexity and reward, for each form of a program."""
    for form in study.FORMS:
        name = "program" if form == "raw" else f"program_{form}"
        different = np.array([len(np.unique(p, axis=0)) for p in dataset[name].values])
        yield _row(f"Table 1, Chained {size}", 0, "different policies", f"{form} programs", paper.DISTINCT[size], different, None)
    for rule, numbers in paper.CHAINED[size].items():
        for form in ("raw", "shortest"):
            k, reward = dataset[f"complexity_{form}"].values, dataset.reward.sel(rule=rule).values
            here = np.array([study.indicators.spearman(a, b) for a, b in zip(k, reward, strict=True)])
            yield _row(f"Table 1, Chained {size}", rule, "Cor", f"{form} programs", numbers[4], here, None)


def _row(
    table: str, rule: int, quantity: str, reading: str, value: float, here: np.ndarray, tolerance: float | None, inside: bool | None = None
) -> Row:
    known = here[np.isfinite(here)]
    middle, low, high = (float(np.quantile(known, q)) if known.size else float("nan") for q in (0.5, 0.05, 0.95))
    if tolerance is not None:
        inside = bool(abs(middle - value) <= tolerance)
    return Row(
        table=table, rule=rule, quantity=quantity, reading=reading, paper=float(value), here=middle, low=low, high=high,
        tolerance=tolerance, inside=inside,
    )  # fmt: skip
