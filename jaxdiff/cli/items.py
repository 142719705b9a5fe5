"""`jaxdiff list items`: the items of a bank as a table, hardest, steepest or lowest number first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxdiff.cli import console

GAMMAS = (0.0, 0.05, 0.25)


def show(bank: Path | None, by: Any, count: int | None, strategy: str | None, as_json: bool) -> int:
    """Print it; returns the exit code.

    Args:
        bank: store of a sweep or a table (*.csv); the reference table when None.
        by: order of the items, see `studies.bank_table.ranked`.
        count: how many; all when None.
        strategy: only of this one; of all when None.
        as_json: print one line of JSON last, and everything else to standard error.
    """
    from jaxdiff.studies import bank_table, item_bank

    if bank is None:
        table, source = bank_table.reference(), "the reference table of this version"
    elif bank.suffix == ".csv":
        table, source = bank_table.read(bank), str(bank)
    else:
        table, source = bank_table.rows(item_bank.load(bank)), str(bank)
    chosen = bank_table.ranked(table, by, count, strategy)
    columns = ["item", "class", *(f"D_pos({g:g})" for g in GAMMAS), "slope", "a", "b", "R_max", "R_mean", "R_min", "ħ"]
    lines = [_line(row) for row in chosen]
    caption = (
        f"{len(chosen)} of {len(table)} items of {source}, by {by}. D: bits, log2 of policies tried; slope: of the response curve, 1/bit; "
        "a (1/bit) and b (bits): of the right-or-wrong item; class: least equivalent rule; a dash: the item tells nothing"
    )
    console.console(as_json).print(console.table("Items", columns, lines, caption=caption))
    if as_json:
        console.print_json({"by": by, "source": source, "items": chosen})
    return 0


def _line(row: dict[str, Any]) -> list[str]:
    told = bool(row["determined"])
    difficulties = [console.number(row[f"d_pos_{g:g}"], 1) for g in GAMMAS]
    item = [console.number(row[name]) if told else "-" for name in ("curve_discrimination", "item_a", "item_b")]
    rewards = [console.number(row[name]) for name in ("r_max", "r_mean", "r_min")]
    return [f"{row['strategy']}-{row['rule']}", str(row["representative"]), *difficulties, *item, *rewards, console.number(row["hbar"], 0)]
