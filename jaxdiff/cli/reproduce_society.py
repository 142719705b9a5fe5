"""`jaxdiff reproduce society`: the figures of the paper on social environments, in three columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxdiff.cli import console
from jaxdiff.core.files import whole
from jaxdiff.sweep import pieces

if TYPE_CHECKING:
    from jaxdiff.society.evolution import History
    from jaxdiff.studies.social_difficulty import Related
    from jaxdiff.studies.society import Results, Settings
    from jaxdiff.studies.society_rows import Row

MARK = {True: "inside", False: "OUTSIDE", None: "(informational)"}


def run(settings: Settings, out: Path | None, as_json: bool) -> int:
    """Run, print, write; returns the exit code.

    Args:
        settings: what to run.
        out: folder for rows, curves and figures, if any; what a stopped run has left there is not run again.
        as_json: print the rows as one line of JSON, last.
    """
    from jaxdiff.studies import social_difficulty, society, society_rows

    folder = console.output_folder(out)
    with console.progress() as report:
        keep = pieces.forget if folder is None else pieces.keeper(folder / "runs")
        results = society.run(settings, report, keep)
        related = social_difficulty.relate(results, progress=report, keep=keep)
        history = society.evolve(results, progress=report, keep=keep)
    rows = [*society_rows.rows(results), *society_rows.generations(history)]
    written = _write(folder, results, related, history, rows) if folder is not None else []  # a reader of the output may stop early
    screen = console.console(as_json)
    for figure in dict.fromkeys(row.figure for row in rows):
        title = "Generations: a leap?" if figure == "generations" else f"Figure {figure}"
        screen.print(_table(title, [row for row in rows if row.figure == figure]))
    screen.print(_rates(results))
    screen.print(_needed(results))
    screen.print(_tables(results, history))
    screen.print(_related(related))
    screen.print(_generations(history))
    judged = [row for row in rows if row.inside is not None]
    inside = sum(bool(row.inside) for row in judged)
    screen.print(f"{inside} of {len(judged)} judged rows are within tolerance; {len(rows) - len(judged)} rows are informational")
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        console.print_json({"study": "society", **_about(results, related, history, rows), "inside": inside, "judged": len(judged)})
    return 0


def _table(title: str, rows: list[Row]) -> object:
    columns = ["quantity", "reading", "paper", "here", "difference", "95 % interval", "agrees from..to", "within"]
    cells = [
        [
            row.quantity,
            row.reading,
            row.paper,
            console.number(row.here, 3),
            "-" if row.difference is None else console.number(row.difference, 3),
            f"{console.number(row.low, 3)} .. {console.number(row.high, 3)}",
            "" if row.inside is None else f"{row.least:g} .. {row.most:g}",
            MARK[row.inside],
        ]
        for row in rows
    ]
    return console.table(title, columns, cells)


def _rates(results: Results) -> object:
    cells = [
        [kind, *(f"{value:g}" for value in vars(found.best).values()), console.number(float(found.score.max()), 3), str(len(found.rates))]
        for kind, found in results.tuned.items()
    ]
    names = ["learner", "alpha", "gamma", "beta", "epsilon", "initial", "score alone", "combinations"]
    return console.table("Rates tuned on isolated sessions", names, cells)


def _needed(results: Results) -> object:
    cells = [[name, ", ".join(f"{kind} {n:,}" for kind, n in needed)] for name, needed in _sessions_needed(results).items()]
    return console.table("Sessions for a 95 % interval of +-.01 around a score", ["scenario", "sessions"], cells)


def _tables(results: Results, history: History) -> object:
    """What hashed tables had to give up: never silent."""
    learning = {name: curves for name, curves in results.curves.items() if curves.rows}
    cells = [[name, f"{c.rows:,}", "hashed" if c.hashed else "dense", f"{c.collisions.mean():.2f}"] for name, c in learning.items()]
    cells.append(["generations, probes among them", "", "", f"{history.collisions.mean():.2f}"])
    return console.table("Tables, and states that they had to give up in a session", ["scenario", "rows", "kind", "given up"], cells)


def _sessions_needed(results: Results) -> dict[str, list[tuple[str, int]]]:
    from jaxdiff.studies import society

    return {
        name: list(zip(curves.scenario.agents, society.sessions_needed(curves).tolist(), strict=True))
        for name, curves in results.curves.items()
    }


def _related(related: Related) -> object:
    cells = [
        [measure, *(f"{console.number(rho)} [{console.number(low)}, {console.number(high)}]" for rho, low, high in row)]
        for measure, row in zip(related.measures, related.correlation, strict=True)
    ]
    title = f"Rank correlation of an environment's difficulty for pattern agents with scores in it ({related.environments} environments)"
    return console.table(title, ["measure", *related.scores], cells)


def _generations(history: History) -> object:
    """Scores of the probes by generation."""
    mean, half = history.curve()
    names = ["alone", *(f"generation {g}" for g in range(len(mean) - 1))]
    cells = [[name, *(f"{m:.3f} +- {h:.3f}" for m, h in zip(*row, strict=True))] for name, *row in zip(names, mean, half, strict=True)]
    s = history.settings
    title = f"Darwin-Wallace generations: {s.environments} environments, {s.agents} others, {s.steps:,} steps"
    return console.table(title, ["point", *s.probes], cells)


def _about(results: Results, related: Related, history: History, rows: list[Row]) -> dict[str, Any]:
    """Everything that is printed, plain."""
    mean, half = history.curve()
    return {
        "settings": vars(results.settings),
        "rates": {kind: vars(found.best) for kind, found in results.tuned.items()},
        "rows": [row.as_dict() for row in rows],
        "sessions_for_an_interval_of_.01": _sessions_needed(results),
        "mean_collisions_in_a_session": {name: float(c.collisions.mean()) for name, c in results.curves.items() if c.hashed},
        "difficulty": {"measures": related.measures, "scores": related.scores, "rank_correlation": related.correlation.tolist()},
        "generations": {
            "probes": history.settings.probes,
            "mean": mean.tolist(),
            "half": half.tolist(),
            "mean_collisions_in_a_session": history.collisions.tolist(),
        },
    }


def _write(folder: Path, results: Results, related: Related, history: History, rows: list[Row]) -> list[Path]:
    from jaxdiff.plots import society as plots

    with whole(folder / "rows.json") as beside:
        beside.write_text(json.dumps(_about(results, related, history, rows), indent=1) + "\n")
    figures = {**plots.paper_figures(results, related), "evolution": plots.evolution(history)}
    return [folder / "rows.json", *console.save_figures(folder, figures)]
