"""`jaxdiff reproduce`: a paper's tables and figures, beside what the paper says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.studies.reproduction import Reproduction, Row

STUDIES = ("complexity-distribution", "society")


@dataclass(frozen=True)
class Reproduce:
    """Reproduce a paper: every table and figure, in three columns paper / here / difference.

    complexity-distribution: the paper measured one population; here the median of many is compared with it, and the band that holds 90 % of
    them is shown. society: means over sessions with their 95 % intervals; learners are tuned first, as in the paper.

    Example:
        jaxdiff reproduce complexity-distribution --size 1900 --out reproduction
        jaxdiff reproduce society --sessions 1000 --out society
    """

    study: tyro.conf.Positional[Literal["complexity-distribution", "society"]] = "complexity-distribution"
    """Which paper."""
    size: int = 1900
    """complexity-distribution: programs in a population, 1900 or 9500, the paper's two sizes."""
    populations: int = 20
    """complexity-distribution: populations; the medians over them are compared."""
    sessions: int = 1000
    """society: sessions of every scenario; a quarter of them for each combination in tuning, and for other readings."""
    seed: int = 0
    """Seed of everything random."""
    out: Path | None = None
    """Folder for rows, results files and figures; only the tables are printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print all rows as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        if self.study == "society":
            from jaxdiff.cli import reproduce_society
            from jaxdiff.studies.society import Settings

            quarter = max(1, self.sessions // 4)
            settings = Settings(sessions=self.sessions, tune_sessions=quarter, other_sessions=max(8, quarter), seed=self.seed)
            return reproduce_society.run(settings, self.out, self.json)
        return self._complexity_distribution()

    def _complexity_distribution(self) -> int:
        from jaxdiff.studies import reproduction

        folder = console.output_folder(self.out)
        with console.progress() as report:
            result = reproduction.reproduce(self.size, self.populations, self.seed, report)
        screen = console.console(self.json)
        for name in dict.fromkeys(row.table for row in result.rows):
            screen.print(_table(name, [row for row in result.rows if row.table == name]))
        judged = [row for row in result.rows if row.inside is not None]
        inside = sum(bool(row.inside) for row in judged)
        screen.print(f"{inside} of {len(judged)} judged rows are within tolerance; {len(result.rows) - len(judged)} rows are informational")
        for row in judged:
            if not row.inside:
                screen.print(
                    f"outside: {row.table}, rule {row.rule}, {row.quantity}: "
                    f"paper {row.paper:g}, here {row.here:.2f} [{row.low:.2f}, {row.high:.2f}]"
                )
        files = self._write(folder, result) if folder is not None else []
        for path in files:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            rows = [row.as_dict() for row in result.rows]
            console.print_json(
                {
                    "study": self.study,
                    "size": self.size,
                    "populations": self.populations,
                    "seed": self.seed,
                    "rows": rows,
                    "inside": inside,
                    "judged": len(judged),
                }
            )
        return 0

    def _write(self, folder: Path, result: Reproduction) -> list[Path]:
        from jaxdiff.plots import paper
        from jaxdiff.studies import complexity_distribution
        from jaxdiff.sweep import labelled

        written = [labelled.save(dataset, folder / name, complexity_distribution.KIND) for name, dataset in result.datasets.items()]
        with whole(folder / "rows.json") as beside:
            beside.write_text(json.dumps([row.as_dict() for row in result.rows], indent=1) + "\n")
        data = result.datasets
        figures = paper.paper_figures(data["chained"], fresh=data["fresh"], larger=data["larger"])
        return [*written, folder / "rows.json", *console.save_figures(folder, figures)]


def _table(name: str, rows: list[Row]) -> object:
    columns = ["rule", "quantity", "reading", "paper", "here", "difference", "90 % band", "within"]
    mark = {True: "inside", False: "OUTSIDE", None: "(informational)"}
    cells = [
        [
            str(row.rule) if row.rule else "all",
            row.quantity,
            row.reading,
            f"{row.paper:g}",
            console.number(row.here),
            console.number(row.difference),
            f"{console.number(row.low)} .. {console.number(row.high)}",
            mark[row.inside],
        ]
        for row in rows
    ]
    return console.table(name, columns, cells)
