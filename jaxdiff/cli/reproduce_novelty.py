"""`jaxdiff reproduce novelty`: the paper's two tables in form, for four worlds, and how far distances can be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxdiff.cli import console
from jaxdiff.cli.measure_novelty import interval
from jaxdiff.core.errors import require
from jaxdiff.core.files import whole
from jaxdiff.sweep import pieces

if TYPE_CHECKING:
    import xarray as xr

    from jaxdiff.difficulty.prediction import Interval
    from jaxdiff.studies.reaction.domain import Domain
    from jaxdiff.studies.reaction.protocol import Settings
    from jaxdiff.studies.reaction.table import NoveltyRow, Verdict


def run(worlds: tuple[str, ...], settings: Settings, out: Path | None, as_json: bool) -> int:
    """Run, print, write; returns the exit code.

    Args:
        worlds: names of domains.
        settings: how much of each.
        out: folder for rows, data and figures, if any; what a stopped run has left there is not run again.
        as_json: print the rows as one line of JSON, last.
    """
    from jaxdiff.studies.reaction import protocol, table
    from jaxdiff.studies.reaction.worlds import domain

    require(len(worlds) > 0 and len(set(worlds)) == len(worlds), "worlds", " ".join(worlds) or "none", "different ones, at least one")
    domains = [domain(name) for name in worlds]
    folder = console.output_folder(out)
    keep = pieces.forget if folder is None else pieces.keeper(folder / "runs")
    results, written = [], []
    for one in domains:
        with console.progress() as report:
            dataset = protocol.run(one, settings, report, keep)
        found = table.rows(dataset)
        judged = table.verdict(dataset, found, settings.seed)
        results.append((one, dataset, found, judged))
        if folder is not None:
            written += _write(folder, one, dataset, found, judged, settings)
    if folder is not None:
        with whole(folder / "rows.json") as beside:
            beside.write_text(json.dumps(console.plain(_about(results)), indent=1) + "\n")
        written.append(folder / "rows.json")
    screen = console.console(as_json)
    for one, dataset, found, judged in results:
        for part in _distances(one, dataset, found):
            screen.print(part)
        screen.print(_losses(one, found))
        screen.print(_classes(one, judged))
        screen.print(_predictions(one, judged))
        for line in table.sentences(dataset, found, judged):
            screen.print(f"{one.name}, {line}", soft_wrap=True)
    screen.print(_paper())
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        console.print_json({"study": "novelty", "worlds": _about(results)})
    return 0


def _distances(one: Domain, dataset: xr.Dataset, found: list[NoveltyRow]) -> list[object]:
    """Two tables: what the paper's Table 1 has, and what stands behind it."""
    columns = ["novelty", "kind", "D", "less chance", "reaction is", "random loses", "levels left out"]
    cells = [
        [
            row.name,
            row.kind,
            interval(row.summary.d),
            interval(row.summary.excess),
            row.summary.verdict,
            console.number(row.random_drop.value, 3),
            str(row.summary.undetermined),
        ]
        for row in found
    ]
    sizes = f"{dataset.sizes['level']} levels, {dataset.attrs['tries']:,} random tries on each"
    first = console.table(f"{one.name}: distances between solutions (paper, Table 1)", columns, cells, f"{one.about}. {sizes}.")
    columns = ["novelty", "size", "shift", "chance", "back", "exact D", "|sampled - exact|"]
    cells = [
        [
            row.name,
            *(interval(part) for part in (row.summary.size, row.summary.shift, row.summary.floor, row.summary.reverse)),
            console.number(row.exact, 3),
            console.number(row.exact_error, 3),
        ]
        for row in found
    ]
    about = (
        "D is size and shift together; chance is the shift of as many solutions of the same world; exact over all sequences, where listed."
    )
    return [first, console.table(f"{one.name}: parts of the distances", columns, cells, about)]


def _losses(one: Domain, found: list[NoveltyRow]) -> object:
    from jaxdiff.studies.reaction.agents import ABOUT, AGENTS

    cells = [[row.name, *(f"{console.number(row.passed[a], 3)} ({_loss(row.drop[a])})" for a in AGENTS)] for row in found]
    caption = "; ".join(f"{agent}: {ABOUT[agent]}" for agent in AGENTS)
    return console.table(f"{one.name}: pass rate with the novelty (loss and its 95 % half width)", ["novelty", *AGENTS], cells, caption)


def _loss(drop: Interval) -> str:
    return f"{console.number(drop.value, 3)} +- {console.number((drop.high - drop.low) / 2, 3)}"


def _classes(one: Domain, judged: Verdict) -> object:
    from jaxdiff.studies.reaction.table import CLASSES, PAPER_PASS

    cells = [["the paper's agents", *(f"{PAPER_PASS[c]:.3f}" for c in CLASSES), "", ""]]
    for agent, rates in judged.by_class.items():
        c = judged.confusion[agent]
        cells.append([agent, *(console.number(rates[k], 3) for k in CLASSES), f"{c.agreement:.2f}", f"{c.by_chance:.2f}"])
    columns = ["pass rate of", *CLASSES, "classes agree", "by chance"]
    about = "what cannot be told from no novelty counts as easy"
    return console.table(f"{one.name}: pass rate by predicted class (paper, Table 2)", columns, cells, about)


def _predictions(one: Domain, judged: Verdict) -> object:
    cells = []
    for (predictor, agent), a in judged.associations.items():
        name = predictor if predictor != "random pass rate" else "random pass rate (the rival)"
        spans = [f"{console.number(x.value)} [{console.number(x.low)}, {console.number(x.high)}]" for x in (a.spearman, a.kendall)]
        cells.append(
            [
                name,
                agent,
                *spans,
                console.number(a.pearson),
                console.number(a.p, 3),
                " .. ".join(map(console.number, a.without_one)),
                console.number(a.partial),
            ]
        )
    columns = ["what", "tells the loss of", "Spearman", "Kendall", "Pearson", "p", "without any one", "given the rival"]
    about = "intervals by drawing levels anew: they say nothing about other novelties"
    return console.table(f"{one.name}: does it tell what agents lose?", columns, cells, about)


def _paper() -> object:
    from jaxdiff.studies.reaction import table

    cells = [
        [
            name,
            console.number(a.pearson),
            console.number(a.spearman.value),
            console.number(a.kendall.value),
            console.number(a.p, 3),
            " .. ".join(map(console.number, a.without_one)),
        ]
        for name, a in zip(("all twelve novelties", "without novelty 1"), table.paper(), strict=True)
    ]
    columns = ["the paper's own Table 1", "Pearson", "Spearman", "Kendall", "p", "without any one"]
    return console.table("The paper's distances against its agents' losses, judged the same way", columns, cells)


def _about(results: list[tuple[Domain, xr.Dataset, list[NoveltyRow], Verdict]]) -> dict[str, Any]:
    out = {}
    for one, dataset, found, judged in results:
        out[one.name] = {
            "about": one.about,
            "levels": dataset.sizes["level"],
            "tries": dataset.attrs["tries"],
            "agent_levels": dataset.sizes["agent_level"],
            "rows": [console.plain(row) for row in found],
            "associations": [{"predictor": p, "agent": a, **console.plain(value)} for (p, a), value in judged.associations.items()],
            "confusion": {agent: console.plain(value) for agent, value in judged.confusion.items()},
            "pass_rate_by_class": judged.by_class,
        }
    return out


def _write(folder: Path, one: Domain, dataset: xr.Dataset, found: list[NoveltyRow], judged: Verdict, settings: Settings) -> list[Path]:
    from jaxdiff.plots import reaction as plots
    from jaxdiff.studies.reaction import protocol
    from jaxdiff.studies.reaction.domain import after
    from jaxdiff.sweep import labelled

    figures = {
        f"{one.name}_distances": plots.bars(found, one.name),
        f"{one.name}_losses": plots.losses(found, one.name),
        f"{one.name}_prediction": plots.against_loss(found, judged, one.name, dataset.attrs["null"]),
    }
    if one.every is not None:
        levels = one.levels(settings.levels, settings.seed).some(slice(0, 1))
        count = round(one.every.shape[0] ** (1 / one.steps))
        by_distance = sorted(
            zip(found, one.novelties, strict=False), key=lambda pair: -(pair[0].summary.d.value if pair[0].summary.d else -2)
        )
        for _, hardest in by_distance:
            changed = one.everything(after(levels, hardest))
            if (changed.length > 0).any():  # an empty tree shows nothing
                title = f"{one.name}: one level and {hardest.name}"
                figures[f"{one.name}_tree"] = plots.tree(one.everything(levels), changed, 0, count, title, ("before", hardest.name))
                break
    return [labelled.save(dataset, folder / one.name, protocol.KIND), *console.save_figures(folder, figures)]
