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

from typing import TYPE_CHECKING

import numpy as np

from jaxdiff.automata import eca
from jaxdiff.difficulty import complexity
from jaxdiff.studies import best_actions
from jaxdiff.studies.rule_difficulty import GAMMAS, Populations, Progress, Settings, difficulty, draw, evaluate

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


def measure(settings: Settings, populations: Populations | None = None, progress: Progress | None = None) -> xr.Dataset:
    """Complexity of the diagrams and difficulty of the rules.

    Args:
        settings: rules and populations.
        populations: drawn from the settings when None.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions rule, population, encoding, strategy, gamma.
    """
    import xarray as xr

    drawn = draw(settings) if populations is None else populations
    sizes = np.stack([diagram_complexity(settings.rules, settings.width, settings.steps, e) for e in ENCODINGS], 1)
    hard, hbar, h = [], [], np.zeros(0)
    for strategy in STRATEGIES:
        e = evaluate(settings, drawn.programs, strategy=strategy, progress=progress)
        d = difficulty(drawn, e.reward, GAMMAS, progress)
        hard.append(d.bits)
        hbar.append(d.hbar)
        if strategy == "fresh":
            say = None if progress is None else lambda done, of: progress("best actions", done, of)
            h = best_actions.hardness(e.numerator, drawn.programs, settings.worlds(), settings.steps, say)
    variables = {
        "diagram": (("rule", "encoding"), sizes, {"long_name": "zlib-6 length of the agent-free space-time diagram [bytes]"}),
        "difficulty": (("strategy", "rule", "population", "gamma"), np.stack(hard), {"long_name": "D_pos, log2 of Equation 9 [bits]"}),
        "hbar": (("strategy", "rule", "population"), np.stack(hbar), {"long_name": "best-policy hardness [instructions]"}),
        "h": (("rule", "population"), h, {"long_name": "best-action hardness of the population, strategy Fresh [bytes]"}),
        "representative": (("rule",), eca.representative(settings.rules), {"long_name": "least rule of the equivalence class"}),
    }
    coordinates = {"rule": list(settings.rules), "encoding": list(ENCODINGS), "strategy": list(STRATEGIES), "gamma": list(GAMMAS)}
    return xr.Dataset(variables, coordinates, settings.attributes())
