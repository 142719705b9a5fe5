"""`jaxdiff.compare`: several environments in the order of their difficulty, and which differences are more than chance.

The number compared is log2 of the policies that are tried until one is within gamma of the best of the population, counted from the
mean; its bootstrap values over policies say how sure a difference is. Pairs are corrected for their number (Holm 1979).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty import information, verification
from jaxdiff.difficulty import numbers as statistics
from jaxdiff.report.measurement import Measurement, interval, shown

LEVEL = 0.05


@dataclass(frozen=True)
class Pair:
    """Two environments.

    Attributes:
        harder, easier: their names.
        bits: by how much.
        p: probability that the order is chance, corrected for the number of pairs.
    """

    harder: str
    easier: str
    bits: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether it is less than 5 %."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Comparison:
    """Environments in the order of their difficulty.

    Attributes:
        order: names, the hardest first; those whose difficulty is undetermined are left out.
        difficulty: bits, with their intervals, in that order.
        discrimination: how steep their response curves are, see `numbers.WHAT`, in that order.
        pairs: all of them.
        undetermined: names, and why.
        gamma: tolerance.
    """

    order: tuple[str, ...]
    difficulty: tuple[statistics.Number, ...]
    discrimination: tuple[statistics.Number, ...]
    pairs: tuple[Pair, ...]
    undetermined: dict[str, str]
    gamma: float

    def table(self) -> str:
        """The order and the pairs, as text."""
        lines = [f"log2 of policies tried until one is within {self.gamma:g} of the best, hardest first"]
        lines += [f"  {shown(n.value):>7}  [{interval(n)}]  {name}" for name, n in zip(self.order, self.difficulty, strict=True)]
        lines += [f"discrimination: {statistics.WHAT['discrimination']}, steepest first"]
        steepest = sorted(zip(self.order, self.discrimination, strict=True), key=lambda pair: -pair[1].value)
        lines += [f"  {shown(n.value, 'discrimination'):>7}  [{interval(n, 'discrimination')}]  {name}" for name, n in steepest]
        lines += [f"  undetermined: {name}: {why}" for name, why in self.undetermined.items()]
        lines += [
            f"{p.harder} is harder than {p.easier} by {p.bits:.2f} bits"
            + (f" (p = {p.p:.2g})" if p.significant else f", which may be chance (p = {p.p:.2g})")
            for p in self.pairs
        ]
        return "\n".join(lines)


def compare(measurements: Sequence[Measurement], gamma: float = 0.25, resamples: int = 1000, seed: int = 0) -> Comparison:
    """Order measured environments.

    Args:
        measurements: at least two, of different names; best with the same population and equally many policies.
        gamma: tolerance, 0..1.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Raises:
        InputError: fewer than two, equal names, a gamma outside its range, or different numbers of policies.
    """
    check([m.name for m in measurements], gamma, resamples)
    sizes = {len(m.collected.returns) for m in measurements}
    require(
        len(sizes) == 1,
        "measurements",
        f"of {sorted(sizes)} policies",
        "equally many policies in each: the best of more policies is harder to match",
    )
    unknown = {m.name: m.numbers.undetermined for m in measurements if m.numbers.undetermined}
    values: dict[str, np.ndarray] = {}
    found: dict[str, statistics.Number] = {}
    for number, m in enumerate(measurements):
        if m.name in unknown:
            continue
        mean, slack = m.collected.returns.mean(1, dtype=np.float64), information.slack(m.collected.returns)
        values[m.name] = _resampled(mean, gamma, slack, resamples, seed + number)
        low, high = np.quantile(values[m.name], [0.025, 0.975])
        found[m.name] = statistics.Number(_tries(mean, gamma, slack), float(low), float(high))
    order = sorted(found, key=lambda name: -found[name].value)
    raw = [(a, b, *statistics.difference(values[a], values[b])) for a, b in itertools.combinations(order, 2)]
    corrected = _holm([p for *_, p in raw])
    pairs = tuple(Pair(a, b, found[a].value - found[b].value, p) for (a, b, _, _), p in zip(raw, corrected, strict=True))
    steep = {m.name: m.numbers.by_name["discrimination"] for m in measurements}
    ordered = tuple(order)
    return Comparison(ordered, tuple(found[n] for n in ordered), tuple(steep[n] for n in ordered), pairs, unknown, gamma)


def check(names: Sequence[str], gamma: float, resamples: int) -> None:
    """Refuse what cannot be compared, before anything is measured; arguments and errors as for `compare`."""
    said = " ".join(names) or "none"
    require(len(names) > 1 and len(set(names)) == len(names), "worlds", said, "at least two worlds, of different names")
    require(0 <= gamma <= 1, "gamma", gamma, "a number from 0 to 1")
    require_integer("resamples", resamples, 100)


def _tries(mean: np.ndarray, gamma: float, slack: float) -> float:
    level = mean.max() - gamma * (mean.max() - mean.mean())
    return float(verification.blind_tries((mean >= level - slack).sum(), len(mean)))


def _resampled(mean: np.ndarray, gamma: float, slack: float, resamples: int, seed: int) -> np.ndarray:
    return statistics.resampled(lambda rows: _tries(mean[rows], gamma, slack), len(mean), seed, resamples)


def _holm(p: list[float]) -> list[float]:
    """Probabilities corrected for their number."""
    out, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(np.argsort(p)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        out[i] = largest
    return out
