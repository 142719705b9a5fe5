"""`jaxdiff reproduce questions`: three questions that the paper leaves open, answered for as many rules as wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxdiff.cli import console
from jaxdiff.core.errors import require

if TYPE_CHECKING:
    import xarray as xr
    from rich.table import Table

    from jaxdiff.studies.answers import Answer
    from jaxdiff.studies.guided_search import Search
    from jaxdiff.studies.rule_difficulty import Settings

TITLES = {
    "emergence": "1. Is the emergence of complexity the emergence of difficulty? (section 6.1)",
    "guided_search": "2. What does guidance by reward save? (section 6.2)",
    "interfaces": "3. Does the difficulty of a task depend on the interface? (section 6.3)",
}
CAPTION = (
    "Means over populations. Correlations are Spearman's where nothing else is said; intervals are 95 %, from resampling classes of "
    "equivalent rules. Range: over populations, or pairs of them."
)
EXTREMES = 10


def show(settings: Settings, search: Search, out: Path | None, as_json: bool) -> int:
    """Measure, write, print; returns the exit code."""
    from jaxdiff.studies import emergence, guided_search, interfaces, rule_difficulty

    require(len(settings.rules) > 1, "rules", settings.rules, "at least two rules, whose order can be compared")
    folder = console.output_folder(out)
    with console.progress() as report:
        base = rule_difficulty.baseline(settings, report)
        data = {
            "emergence": emergence.measure(settings, base, report),
            "guided_search": guided_search.measure(settings, search, base, report),
            "interfaces": interfaces.measure(settings, base, report),
        }
    answers = {
        "emergence": emergence.answers(data["emergence"]),
        "guided_search": guided_search.answers(data["guided_search"]),
        "interfaces": interfaces.answers(data["interfaces"]),
    }
    written = _write(data, folder)  # before printing: a reader of the output may stop early
    screen = console.console(as_json)
    for name, rows in answers.items():
        screen.print(_table(TITLES[name], rows))
        if name == "emergence":
            orders = [list(row) for row in emergence.orders(data[name])]
            screen.print(console.table("The paper's rules in ascending order", ["of", "paper", "here"], orders))
        if name == "guided_search":
            screen.print(_extremes(data[name]))
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        console.print_json(
            {
                "study": "questions",
                "settings": settings.attributes() | {"rules": list(settings.rules)} | vars(search),
                "answers": {name: [row.as_dict() for row in rows] for name, rows in answers.items()},
                "orders": emergence.orders(data["emergence"]),
                "rules": as_rows(data),
                "files": [str(path) for path in written],
            }
        )
    return 0


def as_rows(data: dict[str, xr.Dataset]) -> list[dict[str, Any]]:
    """One dictionary a rule: means over populations, at tolerance 0 where nothing else is said."""
    from jaxdiff.studies import guided_search

    e, i = (data[name].mean("population") for name in ("emergence", "interfaces"))
    searches = guided_search.compare(data["guided_search"])
    censored = searches.guided_censored.any("population")
    g = searches.mean("population")
    rows = []
    for rule in e.rule.values:
        row: dict[str, Any] = {"rule": int(rule), "representative": int(e.representative.sel(rule=rule)), "h": float(e.h.sel(rule=rule))}
        row["diagram"] = {str(name): int(e.diagram.sel(rule=rule, form=name)) for name in e.form.values}
        for strategy in e.strategy.values:
            mine = e.sel(rule=rule, strategy=strategy)
            row[f"difficulty_{strategy}"] = {f"{gamma:g}": float(mine.difficulty.sel(gamma=gamma)) for gamma in e.gamma.values}
            row[f"hbar_{strategy}"] = float(mine.hbar)
        for name in ("blind", "guided", "gain"):
            row[name] = {f"{gamma:g}": float(g[name].sel(rule=rule, gamma=gamma)) for gamma in g.gamma.values}
        row["guided_censored"] = {f"{gamma:g}": bool(censored.sel(rule=rule, gamma=gamma)) for gamma in g.gamma.values}
        row["interfaces"] = {str(name): float(i.difficulty.sel(rule=rule, interface=name, gamma=0.0)) for name in i.interface.values}
        rows.append(row)
    return rows


def _table(title: str, rows: list[Answer]) -> Table:
    def between(low: float, high: float) -> str:
        return "-" if not np.isfinite(low) else f"{console.number(low)} .. {console.number(high)}"

    columns = ["quantity", "here", "95 % interval", "range", "paper"]
    cells = [
        [row.quantity, console.number(row.value), between(row.low, row.high), between(row.least, row.most), row.paper or "-"]
        for row in rows
    ]
    return console.table(title, columns, cells, CAPTION)


def _extremes(dataset: xr.Dataset) -> Table:
    """Rules that guidance helps most and misleads most, at every tolerance."""
    from jaxdiff.studies import guided_search

    searches = guided_search.compare(dataset)
    columns = ["gamma", "rule", "blind [bits]", "guided [bits]", "bits saved", "range", "censored"]
    cells = []
    for gamma in dataset.gamma.values:
        mine = searches.sel(gamma=gamma)
        middle = mine.gain.mean("population").values
        order = np.argsort(-middle, kind="stable")
        chosen = order if len(order) <= 2 * EXTREMES else np.concatenate([order[:EXTREMES], order[-EXTREMES:]])
        for i in chosen:
            one = mine.isel(rule=i)
            blind, guided = (console.number(float(one[name].mean())) for name in ("blind", "guided"))
            spread = f"{console.number(float(one.gain.min()))} .. {console.number(float(one.gain.max()))}"
            flags = [name for name in ("blind", "guided") if bool(one[f"{name}_censored"].any())]
            cells.append([f"{gamma:g}", str(int(one.rule)), blind, guided, console.number(middle[i]), spread, ", ".join(flags) or "-"])
    caption = "log2 of median trials; a censored median (in any population) counts as the largest that could be told."
    return console.table("Rules that guidance helps most, and misleads most", columns, cells, caption)


def _write(data: dict[str, xr.Dataset], folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    from jaxdiff.plots import questions
    from jaxdiff.studies import emergence, guided_search, interfaces
    from jaxdiff.sweep import labelled

    kinds = {"emergence": emergence.KIND, "guided_search": guided_search.KIND, "interfaces": interfaces.KIND}
    written = [labelled.save(dataset, folder / name, kinds[name]) for name, dataset in data.items()]
    figures = {
        "complexity_and_difficulty": questions.complexity_and_difficulty(data["emergence"]),
        "hardness": questions.hardness(data["emergence"]),
        "blind_and_guided": questions.blind_and_guided(data["guided_search"]),
        "interface_scatter": questions.interface_scatter(data["interfaces"]),
    }
    if data["interfaces"].sizes["shown"]:
        figures["interface_curves"] = questions.interface_curves(data["interfaces"])
    return [*written, *console.save_figures(folder, figures)]
