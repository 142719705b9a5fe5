"""`jaxdiff measure novelty`: how hard is it to react to the change from one world to another?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import require, require_integer

if TYPE_CHECKING:
    from jaxdiff.difficulty.novelty import ReactionDifficulty
    from jaxdiff.difficulty.novelty_levels import Mean, Summary

SOLUTIONS = ".npz"


@dataclass(frozen=True)
class MeasureNovelty:
    """Measure how hard it is to react to a novelty: the distance between what solves a world before and after a change.

    A world is a registered name and settings of it, or of its parameters; a file of solutions (npz with actions [M, L, k], length [M] and,
    if known, tried) takes the place of a world. Random sequences of actions are tried on many starts; a start is passed by the return
    that a share of them reaches in the world before. A world without chance, such as Birds-v0, has one start only: intervals are then about
    the random tries alone. The shift that chance gives is measured and taken off.

    Try:
        jaxdiff measure novelty --before SAECA-v0,width=9,rule=110 --after SAECA-v0,width=9,rule=30 --steps 4
        jaxdiff measure novelty --before Alchemy-v0,trials=1,random_maps=False --after Alchemy-v0,trials=1,random_maps=False,bottlenecks=3
        jaxdiff measure novelty --before Birds-v0,level=mine.xml --after Birds-v0,level=mine.xml,physics.gravity=19.62 --steps 3
        jaxdiff measure novelty --before old.npz --after new.npz --largest 1
    """

    before: str
    """The world before, such as SAECA-v0,width=9,rule=110; or a file of solutions."""
    after: str
    """The world after; or a file of solutions."""
    steps: int = 4
    """Actions of a try."""
    levels: int = 20
    """Starts."""
    tries: int = 2000
    """Random tries on every start, in each world."""
    share: float | None = None
    """A start is passed by the return that this share of random tries reaches in the world before; a fifth if not given."""
    target: float | None = None
    """A return that passes every start, instead of that share; in Birds-v0 all pigs if neither is given."""
    largest: float | None = None
    """Largest Euclidean distance of two actions (files of solutions, which need it)."""
    reading: str = "partition_mean"
    """What Equations 2 and 3 divide by: partition_mean, pooled, literal_total or partition_then_total."""
    matching: str = "mean"
    """Which nearest distances count: mean, first, smallest or assignment."""
    seed: int = 0
    """Seed of everything random."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print results as one line of JSON, last; all other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        files = [side.endswith(SOLUTIONS) for side in (self.before, self.after)]
        require(files[0] == files[1], "after", self.after, "a world where before is one, and a file of solutions where before is one")
        return self._of_files() if files[0] else self._of_worlds()

    def _of_files(self) -> int:
        from jaxdiff.difficulty import novelty
        from jaxdiff.studies.reaction import pair

        used = ("before", "after", "largest", "reading", "matching", "json")
        console.refuse_unused(self, used, "for files of solutions")
        require(self.largest is not None, "largest", self.largest, "the largest distance of two actions, for files of solutions")
        a, b = (pair.read_solutions(Path(side)) for side in (self.before, self.after))
        found = novelty.difficulty(a, b, self.largest, self.reading, self.matching)  # pyright: ignore[reportArgumentType]
        screen = console.console(self.json)
        screen.print(by_length(found))
        said = "undetermined: neither side has a solution" if found.undetermined else _said(found)
        screen.print(said, soft_wrap=True)
        if self.json:
            console.print_json({"novelty": found})
        return 0

    def _of_worlds(self) -> int:
        import jax

        from jaxdiff.difficulty import novelty
        from jaxdiff.difficulty.novelty_levels import over_levels
        from jaxdiff.studies.reaction import pair, protocol
        from jaxdiff.studies.reaction.domain import after, stream

        require_integer("seed", self.seed, 0, 2**32 - 1)
        require(self.largest is None, "largest", self.largest, "nothing, for worlds: their actions say it")
        domain = pair.domain(pair.world(self.before), pair.world(self.after), self.steps, self.share, self.target)
        levels = domain.levels(self.levels, self.seed)
        keys = jax.random.split(stream(self.seed, "tries"), 3)
        sides = []
        with console.progress() as report:
            for number, (world, key) in enumerate(zip((levels, levels, after(levels, domain.novelties[0])), keys, strict=True)):
                report("try", number, len(keys))
                sides.append(domain.attempt(world, key, self.tries))
        pairs = [protocol.solutions(domain, side) for side in sides]
        thinned = [again.thinned(other) for again, other in zip(*pairs[1:], strict=True)]
        measured = [
            [novelty.difficulty(a, b, domain.metric, self.reading, self.matching) for a, b in zip(pairs[0], other, strict=True)]  # pyright: ignore[reportArgumentType]
            for other in (thinned, pairs[2])
        ]
        summary = over_levels(measured[1], measured[0], seed=self.seed)
        rates = float(sides[0].rate.mean()), float(sides[2].rate.mean())
        screen = console.console(self.json)
        screen.print(_summary(summary, rates, domain.about))
        if self.json:
            console.print_json({"novelty": summary, "pass_rate": rates, "about": domain.about})
        return 0


def by_length(found: ReactionDifficulty) -> object:
    """The distance of every length of solutions."""
    cells = [
        [str(p.length), str(p.before), str(p.after), str(p.size), console.number(p.shift, 3), console.number(p.d, 3)]
        for p in found.by_length
    ]
    return console.table("Solutions by number of actions", ["actions", "before", "after", "fewer", "sum of shifts", "D"], cells)


def interval(mean: Mean | None) -> str:
    """A mean and its interval."""
    return "-" if mean is None else f"{console.number(mean.value, 3)} [{console.number(mean.low, 3)}, {console.number(mean.high, 3)}]"


def _said(found: ReactionDifficulty) -> str:
    return f"D {found.d:.6g} = size {found.size:.6g} + shift {found.shift:.6g}; the other way round {found.reverse:.6g}"


def _summary(found: Summary, rates: tuple[float, float], about: str) -> object:
    parts: dict[str, Any] = {
        "D": found.d,
        "  of it size: fewer or more solutions": found.size,
        "  of it shift: solutions elsewhere": found.shift,
        "shift that chance alone gives": found.floor,
        "D less that": found.excess,
        "the other way round": found.reverse,
    }
    cells = [[name, interval(mean)] for name, mean in parts.items()]
    cells.append(["pass rate of random tries, before and after", f"{rates[0]:.3f}, {rates[1]:.3f}"])
    cells.append(["starts that count, and such that nobody passed", f"{found.levels}, {found.undetermined}"])
    cells.append(["reaction is", found.verdict])
    return console.table("How hard is it to react?", ["", "mean over starts [95 %]"], cells, about)
