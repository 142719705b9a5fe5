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
    from jaxdiff.studies.alchemy_reproduction import Reproduction as AlchemyReproduction
    from jaxdiff.studies.reproduction import Reproduction, Row

STUDIES = ("complexity-distribution", "alchemy")


@dataclass(frozen=True)
class Reproduce:
    """Reproduce a paper: every table and figure, in three columns paper / here / difference.

    The paper measured one population; here the median of many is compared with it, and the band that holds 90 % of them is shown.

    `alchemy` plays the reference agents on the published evaluation episodes, and on rotated ones (which nobody published).

    Examples:
        jaxdiff reproduce complexity-distribution --size 1900 --out reproduction
        jaxdiff reproduce alchemy --episodes 100 --rotated 20 --out reproduction
    """

    study: tyro.conf.Positional[Literal["complexity-distribution", "alchemy"]] = "complexity-distribution"
    """Which paper."""
    size: int = 1900
    """Programs in a population: 1900 or 9500, the paper's two sizes."""
    populations: int = 20
    """Populations; the medians over them are compared."""
    episodes: int = 1000
    """alchemy: how many of the published episodes, a second or two of a core each."""
    rotated: int = 100
    """alchemy: rotated episodes; 0 for none."""
    data: Path | None = None
    """alchemy: folder of the published episodes; that of the checkout if not given."""
    seed: int = 0
    """Seed of everything random."""
    out: Path | None = None
    """Folder for rows, results files and figures; only the tables are printed if not given."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print all rows as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        return self._alchemy() if self.study == "alchemy" else self._complexity()

    def _complexity(self) -> int:
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

    def _alchemy(self) -> int:
        from jaxdiff.studies import alchemy_reproduction, reference_agents

        folder = console.output_folder(self.out)
        with console.progress() as report:
            data = reference_agents.data_folder(self.data)
            result = alchemy_reproduction.reproduce(data, self.episodes, self.rotated, self.seed, report)
        screen = console.console(self.json)
        for name in dict.fromkeys(row.table for row in result.rows):
            rows = [row for row in result.rows if row.table == name]
            mark = {True: "inside", False: "OUTSIDE", None: "(informational)"}
            cells = [
                [f"{r.agent}: {r.quantity}", *(console.number(v) for v in (r.paper, r.here, r.difference, r.error)), mark[r.inside]]
                for r in rows
            ]
            screen.print(console.table(name, ["", "paper", "here", "difference", "standard error", "within"], cells))
        if folder is not None:
            self._write_alchemy(folder, result)
            screen.print(f"wrote {folder}", soft_wrap=True)
        if self.json:
            console.print_json({"study": self.study, "episodes": self.episodes, "rows": [row.as_dict() for row in result.rows]})
        return 0

    def _write_alchemy(self, folder: Path, result: AlchemyReproduction) -> None:
        from jaxdiff.plots import alchemy_agents
        from jaxdiff.studies.reference_agents import KIND
        from jaxdiff.sweep import labelled

        for name, dataset in result.datasets.items():
            labelled.save(dataset, folder / name.replace("/", "-"), KIND)
        with whole(folder / "rows.json") as beside:
            beside.write_text(json.dumps([row.as_dict() for row in result.rows], indent=1) + "\n")
        shown = {
            name.split("/")[1].replace("_", " "): d
            for name, d in result.datasets.items()
            if name.startswith("published") or name == "log/baseline"
        }
        agents = {n: shown[n] for n in ("ideal observer", "oracle", "random heuristic", "baseline")}
        turned = {name.split("/")[1].replace("_", " "): d for name, d in result.datasets.items() if name.startswith("rotated")}
        figures = {"figures_2_and_3": alchemy_agents.several(agents), "figure_10": alchemy_agents.figure_10(agents)}
        if turned:
            figures["rotated"] = alchemy_agents.several(turned)
        console.save_figures(folder, figures)

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
