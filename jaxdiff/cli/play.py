"""`jaxdiff play`: a person plays symbolic Alchemy in the terminal, so that people can be measured as agents are."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError, require_integer

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from jaxdiff.alchemy.ideal_observer import Action, Planner
    from jaxdiff.alchemy.situations import Knowledge, Sight, Truth

HELP = (
    "STONE COLOUR: use a potion (1 red); STONE c: into the cauldron; end: next trial; belief: what can be known; advice: what the ideal "
    "observer would do; help; quit"
)


@dataclass(frozen=True)
class Play:
    """Play symbolic Alchemy: ten trials with one hidden chemistry, 3 stones and 12 potions each.

    The marker of a stone shows its value; potions change stones; only stones in the cauldron count. With --advice the ideal observer
    says after every action what it cost. The log has the form of agents' logs: jaxdiff evaluate reads it.

    Example:
        jaxdiff play alchemy --trials 2 --advice --out me
    """

    world: tyro.conf.Positional[Literal["alchemy"]] = "alchemy"
    """Which world."""
    trials: int = 10
    """Trials."""
    seed: int = 0
    """Seed of chemistry and items."""
    rotation: bool = False
    """Whether stones may look rotated."""
    advice: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Tell the regret after each action (needs the extra planner; a first trial takes seconds)."""
    out: Path | None = None
    """Folder for the log."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        from jaxdiff.studies import reference_agents as study

        require_integer("trials", self.trials, 1, 100)
        folder = console.output_folder(self.out)
        episodes = study.drawn(1, self.seed, self.rotation, self.trials)
        table = _Game(console.console(False), episodes.truths()[0], self.rotation, self.advice)
        table.screen.print(HELP, style="dim")
        try:
            for number in range(self.trials):
                table.trial(number, episodes.stones[0, number], episodes.potions[0, number])
        except (EOFError, _Quit):
            table.screen.print("stopped")
        table.screen.print(f"score {table.score}, best possible {table.optimum}" + (f", regret {table.regret:.2f}" if self.advice else ""))
        if folder is not None:
            table.screen.print(f"wrote {_write(folder, table.actions, episodes)}", soft_wrap=True)
        return 0


class _Quit(Exception):
    """The player has had enough."""


@dataclass
class _Game:
    """One episode in the terminal."""

    screen: Console
    truth: Truth
    rotation: bool
    advice: bool
    score: int = 0
    optimum: int = 0
    regret: float = 0.0
    actions: list[list[tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        from jaxdiff.alchemy.situations import nothing_known

        self.knowledge: Knowledge = nothing_known(self.rotation)
        self._planner: Planner | None = None

    @property
    def planner(self) -> Planner:
        """The ideal observer, made when first asked."""
        from jaxdiff.alchemy import ideal_observer

        if self._planner is None:
            self._planner = ideal_observer.Planner()
        return self._planner

    def trial(self, number: int, stones: np.ndarray, potions: np.ndarray) -> None:
        """Play one trial."""
        from jaxdiff.alchemy import items
        from jaxdiff.alchemy.regret import oracle_score
        from jaxdiff.alchemy.situations import see_stones, see_use

        latent, kinds = stones.copy(), potions.copy()
        sight = self.truth.sight(latent, kinds)
        self.knowledge = see_stones(self.knowledge, sight)
        self.optimum += oracle_score(self.truth, sight)
        self.actions.append([])
        if self._planner is not None or self.advice:
            self.planner.new_trial(sight)
        steps = 20
        while steps and (latent != items.ABSENT).any():
            self._show(number, steps, sight)
            action = self._ask(sight)
            if action is None:
                break
            stone, colour = action
            slot = -1 if colour < 0 else sight.slot(colour)
            worth = self._worth(sight, stone, colour) if self.advice else None
            if colour < 0:
                self.score += int(items.VALUES[latent[stone]])
                self.screen.print(f"  {int(items.VALUES[latent[stone]]):+d} points")
                latent[stone] = items.ABSENT
                sight = self.truth.sight(latent, kinds)
            else:
                latent[stone], kinds[slot] = self.truth.moved(int(latent[stone]), colour), -1
                after = self.truth.sight(latent, kinds)
                self.screen.print("  the stone has changed" if (after.corners != sight.corners).any() else "  nothing happens")
                self.knowledge, sight = see_use(self.knowledge, sight, after, stone, colour), after
            self.actions[-1].append((stone, slot))
            steps -= 1
            if worth is not None:
                best, had = worth
                self.regret += best - had
                self.screen.print(f"  regret {best - had:.2f} (best {best:.2f}, this {had:.2f})", style="dim")
        if self.advice and sight.shown.max() >= 0:
            self.regret += self.planner.value(self.knowledge, sight).reward

    def _worth(self, sight: Sight, stone: int, colour: int) -> tuple[float, float]:
        """Expected reward of the best action and of this one."""
        from jaxdiff.alchemy.ideal_observer import Action

        best = self.planner.value(self.knowledge, sight).reward
        if colour < 0:
            return best, self.planner.cash_value(self.knowledge, sight, stone).reward
        return best, self.planner.use_value(self.knowledge, sight, Action(stone, colour)).reward

    def _show(self, number: int, steps: int, sight: Sight) -> None:
        from jaxdiff.alchemy.chemistry import COLOURS, FEATURES, perceived_features
        from jaxdiff.alchemy.ideal_observer import SHOWN_VALUES

        self.screen.print(f"\ntrial {number + 1}, {steps} steps left, score {self.score}", style="bold")
        for s, shown in enumerate(sight.shown.tolist()):
            if shown >= 0:
                look = perceived_features()[self.truth.rotation, sight.corners[self.truth.rotation, s]]
                words = ", ".join(FEATURES[k][v + 1] for k, v in enumerate(look.tolist()))
                self.screen.print(f"  stone {s + 1}: {words}, worth {int(SHOWN_VALUES[shown]):+d}")
        counts = sight.counts().tolist()
        self.screen.print("  potions: " + (", ".join(f"{n} {COLOURS[c]}" for c, n in enumerate(counts) if n) or "none"))

    def _ask(self, sight: Sight) -> tuple[int, int] | None:
        """A stone's slot and a colour (-1: cauldron), or None for the next trial."""
        from jaxdiff.alchemy.chemistry import COLOURS

        while True:
            self.screen.print("> ", end="")
            sys.stdout.flush()
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            words = line.lower().split()
            if words[:1] in (["quit"], ["q"]):
                raise _Quit
            if words == ["end"]:
                return None
            if words in (["belief"], ["advice"]):
                self.screen.print(self._belief() if words == ["belief"] else self._advise(sight), style="dim")
                continue
            colours = [c for c, name in enumerate(COLOURS) if len(words) == 2 and name.startswith(words[1]) and (sight.colours == c).any()]
            if len(words) == 2 and words[0] in ("1", "2", "3") and sight.shown[int(words[0]) - 1] >= 0:
                if words[1] in ("c", "cauldron"):
                    return int(words[0]) - 1, -1
                if len(colours) == 1:
                    return int(words[0]) - 1, colours[0]
            self.screen.print(HELP, style="dim")

    def _belief(self) -> str:
        from jaxdiff.alchemy.chemistry import COLOURS, type_of_colour

        known = self.knowledge
        lines = [f"  {known.worlds} chemistries are possible ({known.entropy:.2f} nats)"]
        for c, name in enumerate(COLOURS):
            axes = {int(type_of_colour()[m, c]) >> 1 for r in known.rotations for m in range(48) if known.graph_sets[r, m] >= 0}
            lines.append(f"  {name}: acts along {' or '.join(('colour', 'size', 'roundness')[a] for a in sorted(axes))}")
        return "\n".join(lines)

    def _advise(self, sight: Sight) -> str:
        action = self.planner.act(self.knowledge, sight)
        value = self.planner.value(self.knowledge, sight)
        return f"  {describe(action)}; expected {value.reward:.2f} points with {value.potions:.1f} more potions"


def describe(action: Action) -> str:
    """An action in words."""
    from jaxdiff.alchemy.chemistry import COLOURS

    return "cash what is worth something" if action.colour < 0 else f"stone {action.stone + 1} into {COLOURS[action.colour]}"


def _write(folder: Path, actions: list[list[tuple[int, int]]], episodes: Any) -> Path:
    """The log, with the episode that it belongs to."""
    import numpy as np

    from jaxdiff.core.files import whole

    trials = episodes.stones.shape[1]
    arrays = np.full((2, 1, trials, 20), -1)
    arrays[1] = -2
    for t, trial in enumerate(actions):
        for a, (stone, slot) in enumerate(trial):
            arrays[:, 0, t, a] = stone, slot
    c = episodes.chemistry
    path = folder / "log.npz"
    if path.exists():
        raise InputError("out", str(path), "a folder without a log")
    with whole(path) as beside, beside.open("wb") as file:
        np.savez_compressed(
            file, stone=arrays[0], potion=arrays[1], graph_index=c.graph, potion_map_index=c.potion_map, stone_map_index=c.stone_map,
            rotation_index=c.rotation, stones_latent=episodes.stones, potions_latent=episodes.potions,
        )  # fmt: skip
    return path
