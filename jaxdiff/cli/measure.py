"""`jaxdiff measure`: how hard is a world? Indicators, response curves and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError, require

if TYPE_CHECKING:
    import xarray as xr

WORLDS = ("saeca",)


@dataclass(frozen=True)
class Measure:
    """Measure how hard a world is for a population of policies.

    Runs random programs and random walkers through every rule and prints, per rule, the indicators of the reward distribution and the
    difficulty D: log2 of how many policies a blind search tries before it finds one within a tolerance of the best.

    Try:
        jaxdiff measure saeca --rules 184 110 122 164 --strategy chained --policies 2000 --steps 300 --out results
        jaxdiff measure --load results/measurement.zarr.zip
        jaxdiff measure saeca --census 10 --out whole
        jaxdiff measure novelty --help
    """

    world: tyro.conf.Positional[str] = "saeca"
    """What to measure: saeca, agent-populated elementary cellular automata."""
    rules: tuple[str, ...] = ("184", "110", "122", "164")
    """Rule numbers 0..255, or the word all."""
    strategy: Literal["fresh", "random_walk", "chained", "levin"] = "chained"
    """How policies are tried: each in a fresh world, each after a random walk, one after the other, or that by ascending length."""
    policies: int = 2000
    """Policies in a population, walkers included; one in twenty is a random walker, the others are random programs."""
    populations: int = 1
    """Independent populations; the table shows medians over them."""
    steps: int = 300
    """Steps per policy."""
    seed: int = 0
    """Seed of everything random."""
    width: int = 21
    """Cells of the ring; it starts as 0101..."""
    start: int | None = None
    """Cell of the agent at the start, counted from 0; the centre if not given."""
    observation: str = "clr"
    """What policies see, in the order in which they remember it: two or three of c (current), l (left), r (right)."""
    walk_steps: int = 100
    """Steps of the random walk before each policy, for strategy random_walk."""
    form: Literal["raw", "simplified", "shortest"] = "simplified"
    """Which form of a program is compressed to estimate its complexity."""
    statistic: Literal["median", "mean_falses", "mean_first_hit"] = "median"
    """What D is the logarithm of: Equation 9 (median), the paper's sum of falses, or the mean draw that succeeds."""
    keep_repeated: bool = False
    """Keep repeated policies in the response curves (the paper removes them)."""
    census: int | None = None
    """Measure all programs of at most so many instructions instead of a sample, exactly (1..14; strategy fresh)."""
    out: Path | None = None
    """Folder for the results file and the figures; only the table is printed if not given."""
    load: Path | None = None
    """Show a results file again instead of measuring; other settings are those it was made with."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print results as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        from jaxdiff.studies import complexity_distribution as study

        if self.census is not None:
            return self._whole()
        if self.load is not None:
            console.refuse_unused(self, ("world", "load", "out", "json"), "with load, which shows what was measured")
            from jaxdiff.sweep import labelled

            dataset = labelled.load(self.load, study.KIND)
            folder = console.output_folder(self.out)
        else:
            require(self.world in WORLDS, "world", self.world, f"one of {', '.join(WORLDS)}")
            settings = self._settings()
            folder = console.output_folder(self.out)
            with console.progress() as report:
                dataset = study.measure(settings, report)
        written = write(dataset, folder, save_data=self.load is None)  # before printing: a reader of the output may stop early
        screen = console.console(self.json)
        screen.print(indicator_table(dataset))
        screen.print(difficulty_table(dataset))
        for line in reading(dataset):
            screen.print(line, soft_wrap=True)
        for path in written:
            screen.print(f"wrote {path}", soft_wrap=True)
        if self.json:
            console.print_json({"settings": dict(dataset.attrs), "rules": as_rows(dataset), "files": [str(p) for p in written]})
        return 0

    def _whole(self) -> int:
        from jaxdiff.cli import whole
        from jaxdiff.studies import whole_space

        require(self.world in WORLDS, "world", self.world, f"one of {', '.join(WORLDS)}")
        assert self.census is not None
        names = ("steps", "width", "start", "observation")
        # What a census does is Fresh; the default says something else, for samples.
        used = ("world", "census", "rules", "out", "json", *names, *(("strategy",) if self.strategy == "fresh" else ()))
        console.refuse_unused(self, used, "with census, which runs every program once in a fresh world")
        settings = whole_space.Settings(self.census, parse_rules(self.rules), **{name: getattr(self, name) for name in names})
        return whole.show(settings, self.out, self.json)

    def _settings(self) -> Any:
        from jaxdiff.studies import complexity_distribution as study

        names = (
            "strategy",
            "policies",
            "populations",
            "steps",
            "seed",
            "width",
            "start",
            "observation",
            "walk_steps",
            "form",
            "statistic",
            "keep_repeated",
        )
        return study.Settings(rules=parse_rules(self.rules), **{name: getattr(self, name) for name in names})


def parse_rules(words: tuple[str, ...]) -> tuple[int, ...]:
    """Rule numbers from the command line: integers, or `all`."""
    if words == ("all",):
        return tuple(range(256))
    for word in words:
        if not (word.isascii() and word.removeprefix("-").isdecimal()) or not 0 <= int(word) <= 255:
            raise InputError("rules", word, "rule numbers from 0 to 255, or the word all")
    return tuple(int(word) for word in words)


GAMMAS = (0.0, 0.05, 0.25)


def as_rows(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """One dictionary a rule: medians over populations."""
    middle = dataset.median("population")
    names = (
        "generated",
        "distinct",
        "r_max",
        "r_mean",
        "r_min",
        "sd",
        "hbar",
        "hbar_robust",
        "correlation",
        "correlation_max",
        "random_walk_mean",
    )
    rows = []
    for rule in dataset.rule.values:
        d = middle.sel(rule=rule)
        row: dict[str, Any] = {"rule": int(rule), **{name: float(d[name]) for name in names}}
        for side in ("positive", "negative"):
            values = d.difficulty.sel(side=side, statistic=dataset.attrs["statistic"])
            row[f"difficulty_{side}"] = {f"{g:g}": float(values.sel(gamma=g, method="nearest")) for g in GAMMAS}
        row |= {"irt_discrimination": float(d.irt_slope_at_b), "irt_location": float(d.irt_b), "irt_rmse": float(d.irt_rmse)}
        rows.append(row)
    return rows


def indicator_table(dataset: xr.Dataset) -> Any:
    """Indicators of the reward distribution."""
    columns = ["rule", "R_max", "R_mean", "R_min", "sd", "hbar", "hbar robust", "Cor", "Cor-max", "random walk", "policies", "different"]
    names = (
        "r_max",
        "r_mean",
        "r_min",
        "sd",
        "hbar",
        "hbar_robust",
        "correlation",
        "correlation_max",
        "random_walk_mean",
        "generated",
        "distinct",
    )
    digits = (2, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0)
    rows = [[str(row["rule"]), *(console.number(row[n], k) for n, k in zip(names, digits, strict=True))] for row in as_rows(dataset)]
    a = dataset.attrs
    middle = f", medians of {a['populations']} populations" if a["populations"] > 1 else ""
    caption = (
        "R: mean reward a step. hbar: least complexity with the highest reward; robust: where 1 % of policies reach 95 % of it.\n"
        "Cor: rank correlation of complexity and reward; Cor-max: of complexity and the best reward up to it."
    )
    return console.table(
        f"Rewards, {a['strategy']}, {a['policies']} policies of {a['steps']} steps, complexity of {a['form']} programs{middle}",
        columns,
        rows,
        caption,
    )


def difficulty_table(dataset: xr.Dataset) -> Any:
    """Difficulty and discrimination."""
    columns = ["rule", *(f"D_pos({g:g})" for g in GAMMAS), *(f"D_neg({g:g})" for g in GAMMAS), "discrimination", "at ability"]
    rows = []
    for row in as_rows(dataset):
        cells = [console.number(row[f"difficulty_{side}"][f"{g:g}"]) for side in ("positive", "negative") for g in GAMMAS]
        rows.append([str(row["rule"]), *cells, console.number(row["irt_discrimination"]), console.number(row["irt_location"])])
    caption = (
        "D_pos(gamma): log2 of the policies that a blind search tries before one is within gamma of the best; D_neg: of the worst.\n"
        "Discrimination: largest slope of a logistic curve fitted to the good side of the response curve (0 mean, 1 best),\n"
        "and the ability where it is: half of the best is reached there."
    )
    return console.table(f"Difficulty (bits), {dataset.attrs['statistic']} of the first hit", columns, rows, caption)


def reading(dataset: xr.Dataset) -> list[str]:
    """What the tables say, in words."""
    rows = as_rows(dataset)
    if len(rows) < 2:
        return []

    def order(gamma: str) -> str:
        ranked = sorted(rows, key=lambda row: -row["difficulty_positive"][gamma])[:8]
        return " > ".join(f"{row['rule']} ({row['difficulty_positive'][gamma]:.1f})" for row in ranked)

    known = [row for row in rows if math.isfinite(row["irt_discrimination"])]
    sharpest = max(known, key=lambda row: row["irt_discrimination"], default=None)
    where = (
        f"rule {sharpest['rule']}, around ability {sharpest['irt_location']:.1f}"
        if sharpest
        else "undetermined (no curve has enough points)"
    )
    lines = [
        f"hardest to play best:              rule {order('0')}",
        f"hardest to play well (gamma 0.25): rule {order('0.25')}",
        f"discriminates best:                {where}",
    ]
    if dataset.attrs["populations"] == 1:
        lines.append(
            "This is one population; another seed moves D by about a bit. --populations 20 gives medians, and 90 % bands in the figures."
        )
    if len(rows) > 8:
        lines.append("Figures show eight of the rules, at equal ranks from the easiest to the hardest at gamma 0.25.")
    return lines


def write(dataset: xr.Dataset, folder: Path | None, save_data: bool = True) -> list[Path]:
    """Results file and figures under `folder`; nothing without one."""
    if folder is None:
        return []
    from jaxdiff.plots import measurement
    from jaxdiff.studies import complexity_distribution as study
    from jaxdiff.sweep import labelled

    written = [labelled.save(dataset, folder / "measurement", study.KIND)] if save_data else []
    return written + console.save_figures(folder, measurement.measurement_figures(dataset))
