"""The item bank as a flat table: one row an item, one column a number. Written as CSV, read back, ranked, and shipped as a reference."""

from __future__ import annotations

import csv
import io
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxdiff.core.errors import InputError, require
from jaxdiff.core.files import whole
from jaxdiff.studies import item_bank

if TYPE_CHECKING:
    import xarray as xr

Order = Literal["difficulty", "discrimination", "rule"]
# What a list can be ordered by, and the column that decides; difficulty and discrimination descend.
ORDERS: dict[Order, str] = {"difficulty": "d_pos_0.25", "discrimination": "curve_discrimination", "rule": "rule"}
SCALARS = (
    *item_bank.INDICATORS,
    *("curve_discrimination", "curve_location", "curve_rmse", "target", "item_a", "item_b", "item_rmse"),
)
WHOLE_NUMBERS = ("rule", "representative", "is_representative", "determined", "at_floor", "at_ceiling")
COLUMNS = (
    *("strategy", *WHOLE_NUMBERS),
    *(f"d_{side[:3]}_{gamma:g}" for side in ("positive", "negative") for gamma in item_bank.GAMMAS),
    *SCALARS,
)
Row = dict[str, Any]


def rows(bank: xr.Dataset) -> list[Row]:
    """The bank's items, a dictionary with `COLUMNS` each, strategies in their order and rules in theirs."""
    out = []
    for i, strategy in enumerate(bank["strategy"].values):
        for j, rule in enumerate(bank["rule"].values):
            one = bank.isel(strategy=i, rule=j)
            d = one["difficulty"].transpose("side", "gamma").values.reshape(-1)
            row: Row = {"strategy": str(strategy), "rule": int(rule)}
            row |= {name: int(one[name]) for name in WHOLE_NUMBERS[1:]}
            row |= dict(zip(COLUMNS[len(row) : len(row) + len(d)], map(float, d), strict=True))
            out.append(row | {name: float(one[name]) for name in SCALARS})
    return out


def write(bank: xr.Dataset, path: str | Path) -> Path:
    """Write the table as CSV, numbers with seven digits, nothing where there is none.

    Raises:
        InputError: the folder does not exist or cannot be written.
    """
    path = Path(path)
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows([[_shown(row[name]) for name in COLUMNS] for row in rows(bank)])
    with whole(path) as beside:
        beside.write_text(text.getvalue(), encoding="utf-8")
    return path


def read(path: str | Path) -> list[Row]:
    """Rows of a table that `write` wrote; NaN where there is no number.

    Raises:
        InputError: no such file, other columns, or something that is no number.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("bank", str(path), "an existing table of items (CSV)")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("bank", f"{path}, not readable as text", "a table of items (CSV)") from error
    return _parsed(text, str(path))


def reference() -> list[Row]:
    """Rows of the table that comes with this package: all 256 rules of the paper's world, Fresh and Chained."""
    return _parsed(resources.files("jaxdiff.studies").joinpath("data/item_bank.csv").read_text(encoding="utf-8"), "the reference table")


def ranked(table: list[Row], by: Order, count: int | None = None, strategy: str | None = None) -> list[Row]:
    """The first rows of a table in some order.

    Args:
        table: of `rows`, `read` or `reference`.
        by: difficulty (D_pos at a tolerance of 0.25, hardest first), discrimination (slope of the response curve, steepest
            first, items at the floor or ceiling after the others) or rule.
        count: how many rows; all when None.
        strategy: only items of this one; of all when None.

    Returns:
        rows; ties by rule and strategy, items that are not determined or have no value last.

    Raises:
        InputError: an unknown order or strategy, a count below 1.
    """
    require(by in ORDERS, "by", by, f"one of {', '.join(ORDERS)}")
    require(count is None or count >= 1, "count", count, "an integer of at least 1")
    strategies = sorted({row["strategy"] for row in table})
    require(strategy is None or strategy in strategies, "strategy", strategy, f"one of {', '.join(strategies)}")

    def place(row: Row) -> tuple[Any, ...]:
        value = row[ORDERS[by]]
        if by == "rule":
            return (row["rule"], row["strategy"])
        known = bool(row["determined"]) and np.isfinite(value)
        late = by == "discrimination" and bool(row["at_floor"] or row["at_ceiling"])
        return (not known, late, -value if known else 0.0, row["rule"], row["strategy"])

    return sorted((row for row in table if strategy in (None, row["strategy"])), key=place)[:count]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.7g}"
    return str(value)


def _parsed(text: str, source: str) -> list[Row]:
    lines = list(csv.reader(io.StringIO(text)))
    good = bool(lines) and tuple(lines[0]) == COLUMNS and all(len(line) == len(COLUMNS) for line in lines)
    require(good, "bank", f"{source}, with other columns", f"a table with the columns {', '.join(COLUMNS[:3])}, ...")
    try:
        return [dict(zip(COLUMNS, map(_value, COLUMNS, line), strict=True)) for line in lines[1:]]
    except ValueError as error:
        raise InputError("bank", f"{source}, with something that is no number ({error})", "numbers") from error


def _value(name: str, text: str) -> Any:
    if name == "strategy":
        return text
    return int(text) if name in WHOLE_NUMBERS else float(text or "nan")
