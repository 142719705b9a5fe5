"""`jaxdiff reproduce alchemy-agents`: what extra input and auxiliary prediction do to trained agents, beside what the paper says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxdiff.cli import console, train
from jaxdiff.core.files import whole

if TYPE_CHECKING:
    from jaxdiff.studies.alchemy_agents import Condition, Row, Settings, Study
    from jaxdiff.studies.reference_agents import Episodes


def run(settings: Settings, episodes: int, data: Path | None, out: Path | None, as_json: bool) -> int:
    """Run, print, write; returns the exit code.

    Args:
        settings: what to run.
        episodes: how many of the published episodes are played by each agent.
        data: folder of the published episodes; that of the checkout when None.
        out: folder for runs, rows and figures, if any; a run that has finished there is not trained again, one that was stopped goes on.
        as_json: print the rows as one line of JSON, last.
    """
    train.needs_extra()
    devices = console.devices(None)
    from jaxdiff.agents import learner
    from jaxdiff.studies import alchemy_agents, reference_agents

    given, events = reference_agents.published(reference_agents.data_folder(data), episodes)
    folder = console.output_folder(out)
    with train.divergence():
        study = alchemy_agents.run(
            settings,
            given,
            folder=None if folder is None else folder / "runs",
            devices=lambda config: learner.sharing(config, devices),
            report=_tell,
            say=train.say,
        )
    screen = console.console(as_json)
    screen.print(_scores(study))
    screen.print(_behaviour(study))
    screen.print(_budgets(study))
    for path in _write(folder, study, given, events) if folder is not None else []:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        console.print_json({"study": "alchemy-agents", "episodes": episodes, "budget": study.budget, "rows": _rows(study)})
    return 0


def _tell(condition: Condition, seed: int, line: dict[str, Any]) -> None:
    """A line of progress now and then."""
    train.tell(f"{condition.name}, seed {seed}", line)


def _rows(study: Study) -> list[dict[str, Any]]:
    return [console.plain(row.as_dict()) for row in study.rows]


def _of(study: Study, condition: Condition) -> dict[str, Row]:
    return {row.quantity: row for row in study.rows if row.condition == condition.name}


def _number(row: Row) -> str:
    return f"{console.number(row.here)} ± {console.number(row.error)}"


def _scores(study: Study) -> object:
    from jaxdiff.studies import trained_agents

    cells = []
    for condition in study.outcomes:
        rows = _of(study, condition)
        score = rows["episode score"]
        paper = f"{score.paper:g}" if score.paper == score.paper else score.words or "-"
        trials = [console.number(rows[name].here) for name in ("score, trial 1", "score, last trial")]
        cells.append([condition.text, paper, _number(score), " ".join(f"{s:.1f}" for s in score.seeds), *trials])
    for name, n in trained_agents.REFERENCE.items():
        cells.append([name, f"{n.mean:g}", "", "", "", ""])
    columns = ["agent", "paper", "here, mean ± s.e.m. over seeds", "each seed", "trial 1", "last trial"]
    title = f"Figure 4: episode scores, sampled, core {study.settings.core}, interface {study.settings.interface}"
    return console.table(title, columns, cells, texts=True)


def _behaviour(study: Study) -> object:
    names = [name for name in next(iter(_of(study, c) for c in study.outcomes)) if "score" not in name]
    cells = []
    for condition in study.outcomes:
        rows = _of(study, condition)
        cells.append([condition.text, *(_number(rows[name]) for name in names)])
    return console.table("Figures 5 and 10: what agents do, mean ± s.e.m. over seeds", ["agent", *names], cells)


def _budgets(study: Study) -> object:
    from jaxdiff.studies.alchemy_agents import BUDGET

    cells = [["paper", BUDGET], ["here", study.budget]]
    return console.table("Budgets", ["", "a run"], cells, texts=True)


def _write(folder: Path, study: Study, episodes: Episodes, events: Any) -> list[Path]:
    from jaxdiff.plots import trained_agents as plots
    from jaxdiff.studies import alchemy_agents, trained_agents

    with whole(folder / "rows.json") as beside:
        beside.write_text(
            json.dumps({"budget": study.budget, "paper_budget": alchemy_agents.BUDGET, "rows": _rows(study)}, indent=1) + "\n"
        )
    published, trials = alchemy_agents.published(episodes, events)
    scores = {name.removesuffix(" (paper)").removesuffix(", symbolic"): n.mean for name, n in trained_agents.REFERENCE.items()}
    return [folder / "rows.json", *console.save_figures(folder, plots.figures(study, scores, published, trials))]
