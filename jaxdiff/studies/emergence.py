"""Is the emergence of complexity the emergence of difficulty (paper, section 6.1)?

The paper takes an order of its four rules by the compressed size of their space-time diagrams from the literature (164 < 184 < 122 <
110), holds it against the order of their difficulty, and concludes that the two are very different things. Here both are computed, for
as many rules as wanted, together with the two hardnesses of a best solution: h of what it does (Equation 2, see `best_actions`) and
hbar of what it is (Equation 6).

The paper does not say how a diagram becomes a string. `ENCODINGS` are four ways, all of the world that the agent lives in (seed 0101...,
no agent, the seed and every step after it); a fifth is another world, a single 1 on a ring on which nothing meets itself, the usual start
of studies of automata. A size is that of zlib at level 6, less that of nothing. Axes: R rules, S populations, T steps, N cells.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.automata import eca, world
from jaxdiff.difficulty import agreement, complexity
from jaxdiff.studies import best_actions
from jaxdiff.studies.answers import Answer
from jaxdiff.studies.rule_difficulty import GAMMAS, Baseline, Progress, Settings, baseline, difficulty, evaluate

if TYPE_CHECKING:
    import xarray as xr

KIND = "emergence"
# One digit a cell, row after row; eight cells a byte, row after row; the same with every row starting a byte; one digit a cell, column
# after column; a single 1 with one digit a cell.
ENCODINGS = ("digits", "packed", "packed_rows", "columns", "single")
STRATEGIES = ("fresh", "chained")


def diagrams(rules: tuple[int, ...], cells: np.ndarray, steps: int) -> np.ndarray:
    """Agent-free space-time diagrams of rules from one configuration uint8 [N], uint8 [R, T + 1, N]."""
    start = np.broadcast_to(cells, (len(rules), len(cells)))
    return np.moveaxis(np.asarray(eca.evolve(start, np.asarray(rules), steps)), 1, 0)


def diagram_complexity(rules: tuple[int, ...], width: int, steps: int, encoding: str = "digits") -> np.ndarray:
    """Compressed size of agent-free space-time diagrams in bytes, int64 [R].

    Args:
        rules: rule numbers.
        width: cells of the ring (that of `single` is 2 T + 1 whatever this is).
        steps: T.
        encoding: one of `ENCODINGS`.
    """
    cells = np.arange(width, dtype=np.uint8) % 2
    if encoding == "single":
        cells = (np.arange(2 * steps + 1) == steps).astype(np.uint8)
    return np.array([compressed(diagram, encoding) for diagram in diagrams(rules, cells, steps)])


def compressed(diagram: np.ndarray, encoding: str) -> int:
    """Compressed size of one diagram uint8 [T + 1, N] in bytes."""
    if encoding in ("packed", "packed_rows"):
        data = np.packbits(diagram if encoding == "packed_rows" else diagram.reshape(-1), axis=-1)
    else:
        data = (diagram.T if encoding == "columns" else diagram) + ord("0")
    return complexity.compressed_bits(data.astype(np.uint8).tobytes()) // 8


def measure(settings: Settings, base: Baseline | None = None, progress: Progress | None = None) -> xr.Dataset:
    """Complexity of the diagrams and difficulty of the rules.

    Args:
        settings: rules and populations.
        base: measured from the settings when None.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions rule, population, form, strategy, gamma.
    """
    import xarray as xr

    base = baseline(settings, progress) if base is None else base
    programs = base.populations.programs
    sizes = np.stack([diagram_complexity(settings.rules, settings.width, settings.steps, e) for e in ENCODINGS], 1)
    say = None if progress is None else partial(progress, "best actions")
    h = best_actions.hardness(base.evaluation.numerator, programs, settings.worlds(), settings.steps, say)
    chained = evaluate(settings, programs, strategy="chained", progress=progress).reward
    both = (base.difficulty, difficulty(base.populations, chained, GAMMAS, progress))
    by_rule = ("strategy", "rule", "population")
    variables = {
        "diagram": (("rule", "form"), sizes, {"long_name": "zlib-6 length of the agent-free space-time diagram [bytes]"}),
        "difficulty": ((*by_rule, "gamma"), np.stack([d.bits for d in both]), {"long_name": "D_pos, log2 of Equation 9 [bits]"}),
        "hbar": (by_rule, np.stack([d.hbar for d in both]), {"long_name": "best-policy hardness [instructions]"}),
        "r_max": (by_rule, np.stack([d.r_max for d in both]), {"long_name": "highest reward per step"}),
        "r_mean": (by_rule, np.stack([d.r_mean for d in both]), {"long_name": "mean reward per step"}),
        "h": (("rule", "population"), h, {"long_name": "best-action hardness of the population, strategy Fresh [bytes]"}),
        "representative": (("rule",), eca.representative(settings.rules), {"long_name": "least rule of the equivalence class"}),
    }
    coordinates = {"rule": list(settings.rules), "form": list(ENCODINGS), "strategy": list(STRATEGIES), "gamma": list(GAMMAS)}
    return xr.Dataset(variables, coordinates, settings.attributes())


def answers(dataset: xr.Dataset) -> list[Answer]:
    """What the dataset says, beside what the paper says; intervals from resampling the classes of equivalent rules."""
    classes = dataset.representative.values
    size = {str(e): dataset.diagram.sel(form=e).values for e in ENCODINGS}
    rank = partial(agreement.correlation, groups=classes)
    out = []
    for strategy in STRATEGIES:
        mine = dataset.sel(strategy=strategy)
        for gamma in dataset.gamma.values:
            y = mine.difficulty.sel(gamma=gamma).values.T
            claim = _PAPER_RHO.get(float(gamma), "") if strategy == "chained" else ""
            out.append(Answer.of(f"diagram and D_pos({gamma:g}), {strategy}", rank(size["digits"], y), claim))
        out.append(Answer.of(f"diagram and hbar, {strategy}", rank(size["digits"], mine.hbar.values.T)))
    fresh = dataset.sel(strategy="fresh")
    hard, h = fresh.difficulty.sel(gamma=0.0).values.T, dataset.h.values.T
    varies = (fresh.r_max > fresh.r_mean + 1e-9).all("population").values
    if varies.sum() >= 2:
        some = agreement.correlation(size["digits"][varies], hard[:, varies], groups=classes[varies])
        out.append(Answer.of("diagram and D_pos(0), fresh, rules on which rewards vary", some))
    out += [Answer.of(f"diagram as {e} and D_pos(0), fresh", rank(size[e], hard)) for e in ENCODINGS[1:]]
    out += [Answer.of(f"diagram as digits and as {e}", rank(size["digits"], size[e])) for e in ENCODINGS[1:]]
    out.append(Answer.of("h and diagram", rank(h, size["digits"])))
    out.append(Answer.of("h and hbar, fresh", rank(h, fresh.hbar.values.T)))
    out.append(Answer.of("h and D_pos(0), fresh", rank(h, hard)))
    out.append(Answer.of("hbar and D_pos(0), fresh", rank(fresh.hbar.values.T, hard)))
    for strategy in STRATEGIES:
        for gamma in dataset.gamma.values:
            y = dataset.difficulty.sel(strategy=strategy, gamma=gamma).values.T
            out.append(Answer.stable(f"D_pos({gamma:g}), {strategy}: two populations", agreement.stability(y)))
        out.append(Answer.stable(f"hbar, {strategy}: two populations", agreement.stability(dataset.hbar.sel(strategy=strategy).values.T)))
    out.append(Answer.stable("h: two populations", agreement.stability(h)))
    return out


def orders(dataset: xr.Dataset) -> list[tuple[str, str, str]]:
    """The paper's four rules in ascending order of what is measured (median over populations): what, the paper's order, ours."""
    four = dataset.sel(rule=[r for r in world.PAPER_RULES if r in dataset.rule.values])
    rows: list[tuple[str, tuple[int, ...], xr.DataArray]] = [
        ("complexity of the diagram", PAPER_ORDER["diagram"], four.diagram.sel(form="digits"))
    ]
    middle = four.median("population")
    for strategy in reversed(STRATEGIES):
        for gamma in (0.0, 0.25):
            name = f"D_pos({gamma:g})"
            paper = PAPER_ORDER[name] if strategy == "chained" else ()
            rows.append((f"{name}, {strategy}", paper, middle.difficulty.sel(strategy=strategy, gamma=gamma)))
        rows.append((f"hbar, {strategy}", (), middle.hbar.sel(strategy=strategy)))
    rows.append(("h, fresh", (), middle.h))
    out = []
    for name, paper, values in rows:
        out.append((name, " < ".join(map(str, paper)) or "-", _order(four.rule.values.tolist(), values.values.tolist())))
    return out


PAPER_ORDER = {"diagram": (164, 184, 122, 110), "D_pos(0)": (184, 122, 164, 110), "D_pos(0.25)": (110, 184, 122, 164)}
# Spearman of these orders.
_PAPER_RHO = {0.0: "0.4 on its four rules: do not seem to correlate", 0.25: "-0.8 on its four rules: do not seem to correlate"}


def _order(rules: list[int], values: list[float]) -> str:
    """Rules in ascending order; what is equal stands with an equals sign."""
    ascending = sorted(zip(values, rules, strict=True))
    words = [str(rule) if i == 0 else f"{'=' if value == ascending[i - 1][0] else '<'} {rule}" for i, (value, rule) in enumerate(ascending)]
    return " ".join(words)
