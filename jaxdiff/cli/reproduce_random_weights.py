"""`jaxdiff reproduce random-weights`: untrained networks in classic control worlds, in the published study's form."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import jaxdiff
from jaxdiff.cli import console
from jaxdiff.core import machine
from jaxdiff.core.files import whole
from jaxdiff.sweep import pieces

if TYPE_CHECKING:
    from jaxdiff.studies.random_weights import Settings, Study


def run(settings: Settings, out: Path | None, as_json: bool) -> int:
    """Run, print, write; returns the exit code.

    Args:
        settings: what to run.
        out: folder for rows and figures, if any; what a stopped run has left there is not run again.
        as_json: print the rows as one line of JSON, last.
    """
    from jaxdiff.studies import random_weights

    folder = console.output_folder(out)
    keep = pieces.forget if folder is None else pieces.keeper(folder / "runs")
    with console.progress() as report:
        study = random_weights.run(settings, report, keep)
    rows = _rows(study)
    written = [] if folder is None else _write(folder, study, rows)
    screen = console.console(as_json)
    for world in settings.worlds:
        screen.print(_table(study, world))
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        console.print_json({"study": "random-weights", "settings": vars(settings), "rows": rows})
    return 0


def _rows(study: Study) -> list[dict[str, object]]:
    return [
        {"world": row.world, "architecture": row.architecture, **{name: vars(n) for name, n in row.numbers.items()}} for row in study.rows
    ]


def _table(study: Study, world: str) -> object:
    from jaxdiff.report.measurement import interval, shown
    from jaxdiff.studies.random_weights import SHOWN

    rows = [row for row in study.rows if row.world == world]
    # Nothing is solved where no return counts as solved.
    names = [name for name in SHOWN if any(not math.isnan(row.numbers[name].value) for row in rows)]
    cells = [[row.architecture, *(f"{shown(row.numbers[n].value)}\n{interval(row.numbers[n])}" for n in names)] for row in rows]
    title = f"{world}: {study.settings.networks:,} networks of each architecture, {study.settings.episodes} episodes"
    columns = ["architecture", *(name.replace("_", " ") for name in names)]
    return console.table(title, columns, cells, "below each number its 95 % interval", texts=True)


def _write(folder: Path, study: Study, rows: list[dict[str, object]]) -> list[Path]:
    from jaxdiff.plots import any_environment
    from jaxdiff.studies.random_weights import WORLDS

    about = {"settings": vars(study.settings), "jaxdiff": jaxdiff.__version__, "machine": machine.describe(), "rows": rows}
    with whole(folder / "rows.json") as beside:
        beside.write_text(json.dumps(console.plain(about), indent=1) + "\n")
    figures = {
        world: any_environment.three_panels(
            returns, f"{world}: {study.settings.networks:,} untrained networks of each architecture", WORLDS[world][1]
        )
        for world, returns in study.returns.items()
    }
    return [folder / "rows.json", *console.save_figures(folder, figures)]
