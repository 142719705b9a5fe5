"""`jaxdiff measure --census`: the whole policy space instead of a sample, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxdiff.cli import console

if TYPE_CHECKING:
    import xarray as xr
    from rich.table import Table

    from jaxdiff.studies.whole_space import Settings

GAMMAS = (0.0, 0.05, 0.25)


def show(settings: Settings, out: Path | None, as_json: bool) -> int:
    """Measure, print, write; returns the exit code."""
    from jaxdiff.studies import whole_space

    folder = console.output_folder(out)
    with console.progress() as report:
        dataset = whole_space.measure(settings, report)
    screen = console.console(as_json)
    programs, behaviours = int(dataset.programs.sum()), dataset.sizes["behaviour"]
    screen.print(f"{programs:,} programs of at most {settings.longest} instructions: {behaviours:,} behaviours, each of them run")
    for weighting in dataset.weighting.values:
        screen.print(_table(dataset, str(weighting)))
    written = _write(dataset, folder)
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    if as_json:
        rows = [row for weighting in dataset.weighting.values for row in as_rows(dataset, str(weighting))]
        console.print_json(
            {"settings": dict(dataset.attrs), "behaviours": behaviours, "programs": programs, "rows": rows, "files": written}
        )
    return 0


def as_rows(dataset: xr.Dataset, weighting: str) -> list[dict[str, Any]]:
    """One dictionary a rule."""
    rows = []
    for rule in dataset.rule.values:
        d = dataset.sel(rule=rule, weighting=weighting)
        names = ("r_max", "r_mean", "r_min", "hbar", "hbar_robust", "correlation", "correlation_max")
        row: dict[str, Any] = {"rule": int(rule), "weighting": weighting, **{name: float(d[name]) for name in names}}
        for side in ("positive", "negative"):
            values = d.difficulty.sel(side=side, statistic="mean_first_hit")
            row[f"difficulty_{side}"] = {f"{g:g}": float(values.sel(gamma=g, method="nearest")) for g in GAMMAS}
        rows.append(row)
    return rows


_TITLES = {
    "programs": "Programs of uniform length with uniform instructions (the paper's population, all of it)",
    "shortest": "Every behaviour once, found with probability ~ 2^-K, K its shortest program",
    "coding": "Every behaviour with the probability that a random program behaves so",
}


def _table(dataset: xr.Dataset, weighting: str) -> Table:
    columns = ["rule", "R_max", "R_mean", "R_min", "hbar", "Cor", *(f"D_pos({g:g})" for g in GAMMAS), *(f"D_neg({g:g})" for g in GAMMAS)]
    rows = []
    for row in as_rows(dataset, weighting):
        numbers = [console.number(row[name], 0 if name == "hbar" else 3) for name in ("r_max", "r_mean", "r_min", "hbar", "correlation")]
        bits = [console.number(row[f"difficulty_{side}"][f"{g:g}"]) for side in ("positive", "negative") for g in GAMMAS]
        rows.append([str(row["rule"]), *numbers, *bits])
    return console.table(
        _TITLES[weighting], columns, rows, "D: log2 of the mean number of policies drawn until one is within gamma of the best (worst)."
    )


def _write(dataset: xr.Dataset, folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from jaxdiff.plots import whole_space
    from jaxdiff.studies import whole_space as study
    from jaxdiff.sweep import labelled

    data = labelled.save(dataset, folder / "whole_space", study.KIND)
    figures = console.save_figures(folder, {"sampled_and_exact": whole_space.sampled_and_exact(dataset)})
    return [str(path) for path in (data, *figures)]
