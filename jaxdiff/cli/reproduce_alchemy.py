"""`jaxdiff reproduce alchemy`: the reference agents' table and figures, in three columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jaxdiff.cli import console
from jaxdiff.core.errors import require_integer
from jaxdiff.core.files import whole
from jaxdiff.studies.paper_rows import VERDICTS

if TYPE_CHECKING:
    from jaxdiff.studies.alchemy_reproduction import Reproduction, Row


def run(episodes: int, rotated: int, seed: int, data: Path | None, out: Path | None, as_json: bool) -> int:
    """Run, print, write; returns the exit code.

    Args:
        episodes: how many of the published episodes.
        rotated: how many rotated ones.
        seed: of everything random.
        data: folder of the published episodes; that of the checkout when None.
        out: folder for rows, evaluations and figures, if any; the ideal observer's play is kept there as it is made.
        as_json: print the rows as one line of JSON, last.
    """
    from jaxdiff.studies import alchemy_reproduction, reference_agents

    require_integer("seed", seed, 0, 2**32 - 1)
    source = reference_agents.data_folder(data)
    folder = console.output_folder(out)
    with console.progress() as report:
        result = alchemy_reproduction.reproduce(source, episodes, rotated, seed, report, folder)
    screen = console.console(as_json)
    for name in dict.fromkeys(row.table for row in result.rows):
        screen.print(_table(name, [row for row in result.rows if row.table == name]))
    judged = [row for row in result.rows if row.inside is not None]
    inside = sum(bool(row.inside) for row in judged)
    screen.print(f"{inside} of {len(judged)} judged rows are within three standard errors, or have the paper's sign")
    for row in judged:
        if not row.inside:
            screen.print(f"outside: {row.table}, {row.agent}, {row.quantity}: paper {row.paper:.3f}, here {row.here:.3f} ± {row.error:.3f}")
    for path in _write(folder, result) if folder is not None else []:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        about = {"study": "alchemy", "episodes": episodes, "rotated": rotated, "seed": seed}
        console.print_json({**about, "rows": [row.as_dict() for row in result.rows], "inside": inside, "judged": len(judged)})
    return 0


def _table(name: str, rows: list[Row]) -> object:
    cells = [
        [
            row.agent,
            row.quantity,
            console.number(row.paper),
            console.number(row.here),
            console.number(row.difference),
            console.number(row.error, 3),
            VERDICTS[row.inside],
        ]
        for row in rows
    ]
    return console.table(name, ["agent", "quantity", "paper", "here", "difference", "standard error", "within"], cells)


def _write(folder: Path, result: Reproduction) -> list[Path]:
    from jaxdiff.plots import alchemy_agents
    from jaxdiff.studies.reference_agents import KIND
    from jaxdiff.sweep import labelled

    with whole(folder / "rows.json") as beside:
        beside.write_text(json.dumps([row.as_dict() for row in result.rows], indent=1) + "\n")
    written = [labelled.save(dataset, folder / name.replace("/", "_"), KIND) for name, dataset in result.datasets.items()]
    figures = alchemy_agents.paper_figures(result.of("published"), result.of("log"))
    if rotated := result.of("rotated"):
        figures |= {f"{name}_rotated": figure for name, figure in alchemy_agents.paper_figures(rotated, {}).items()}
    return [folder / "rows.json", *written, *console.save_figures(folder, figures)]
