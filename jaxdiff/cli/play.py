"""`jaxdiff play`: a person plays symbolic Alchemy or the slingshot in the terminal, so that people can be measured as agents are."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import InputError, require, require_integer

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from jaxdiff.alchemy.ideal_observer import Action, Planner
    from jaxdiff.alchemy.situations import Knowledge, Sight, Truth
    from jaxdiff.studies.reference_agents import Episodes

HELP = (
    "STONE COLOUR: use a potion (1 red); STONE c: into the cauldron; end: next trial; belief: what can be known; advice: what the ideal "
    "observer would do; help; quit"
)
# The table: colours of stones and potions as terminals name them, a stone's sign by roundness, as many as it is large.
_STONES = ("magenta", "blue_violet", "blue")
_POTIONS = ("red", "green", "dark_orange", "yellow", "hot_pink", "turquoise2")
_SIGNS = ("▲", "■", "●")


@dataclass(frozen=True)
class Play:
    """Play symbolic Alchemy: ten trials with one hidden chemistry, 3 stones and 12 potions each; or a level of the slingshot world.

    Potions change stones, and only stones put into the cauldron count; how potions work stays the same for all trials. With --advice the
    ideal observer says after every action what it cost. The log has the form of agents' logs: jaxdiff evaluate alchemy --agent
    me/log.npz measures you as it measures them.

    In birds a shot is its angle in degrees, its pull in percent and the time of the tap in seconds, such as: 45 80 1. Pictures and an
    animation go to --out.

    Try:
        jaxdiff play alchemy --trials 2 --advice --out me
        jaxdiff play birds --seed 1 --out shots
    """

    world: tyro.conf.Positional[Literal["alchemy", "birds"]] = "alchemy"
    """Which world."""
    level: Path | None = None
    """Birds: a level in the public Science-Birds format, *.xml; a random one if not given."""
    trials: int = 10
    """Trials, 1..10."""
    seed: int = 0
    """Seed of chemistry and items, or of the random level."""
    rotation: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Stones may look rotated."""
    advice: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Tell the regret after each action (needs the extra planner; a first trial takes seconds)."""
    out: Path | None = None
    """Folder for the log, log.npz; of birds for level.png and episode.gif."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the result (score, optimum and regret; birds used, pigs left) as one line of JSON, last; other text goes to standard error."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        require_integer("seed", self.seed, 0, 2**32 - 1)
        if self.world == "birds":
            from jaxdiff.cli import play_birds

            console.refuse_unused(self, ("world", "level", "seed", "out", "json"), "in birds")
            return play_birds.run(self.level, self.seed, self.out, self.json)
        from jaxdiff.studies import reference_agents as study

        require(self.level is None, "level", str(self.level), "a level of birds only")
        require_integer("trials", self.trials, 1, 10)
        folder = console.output_folder(self.out)
        if folder is not None and (folder / "log.npz").exists():
            raise InputError("out", str(folder), "a folder without a log.npz")
        episodes = study.drawn(1, self.seed, self.rotation, self.trials)
        table = Game(console.console(self.json), episodes.truths()[0], self.rotation, self.advice)
        table.screen.print(HELP, style="dim")
        try:
            for number in range(self.trials):
                table.trial(number, episodes.stones[0, number], episodes.potions[0, number])
        except (EOFError, KeyboardInterrupt, _Quit):
            table.screen.print("stopped")
        lost = f", regret {table.regret:.2f}" if self.advice else ""
        table.screen.print(f"score {sum(table.scores)}, best possible {table.optimum}{lost}")
        if folder is not None:
            table.screen.print(f"wrote {_write(folder, table, episodes)}", soft_wrap=True)
        if self.json:
            regret = table.regret if self.advice else None
            console.print_json({"score": sum(table.scores), "scores": table.scores, "optimum": table.optimum, "regret": regret})
        return 0


class _Quit(Exception):
    """The player has had enough."""


@dataclass
class Game:
    """One episode in the terminal.

    Attributes:
        screen: where it is shown.
        truth: the hidden chemistry.
        rotation: whether the player must reckon with rotations.
        advice: whether regret is told.
        scores: of the trials that were begun.
        optimum: best possible score of these.
        regret: against the ideal observer, as far as it is told.
        actions: stone and potion slots (-1: cauldron) by trial.
    """

    screen: Console
    truth: Truth
    rotation: bool
    advice: bool
    scores: list[int] = field(default_factory=list)
    optimum: int = 0
    regret: float = 0.0
    actions: list[list[tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        from jaxdiff.alchemy import ideal_observer
        from jaxdiff.alchemy.situations import nothing_known

        self.knowledge: Knowledge = nothing_known(self.rotation)
        self._planner: Planner | None = ideal_observer.Planner() if self.advice else None

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
        from jaxdiff.alchemy.played import STEPS
        from jaxdiff.alchemy.regret import oracle_score
        from jaxdiff.alchemy.situations import see_stones, see_use

        latent, kinds = stones.copy(), potions.copy()
        sight = self.truth.sight(latent, kinds)
        self.knowledge = see_stones(self.knowledge, sight)
        self.optimum += oracle_score(self.truth, sight)
        self.actions.append([])
        self.scores.append(0)
        if self._planner is not None:
            self._planner.new_trial(sight)
        for steps in range(STEPS, 0, -1):
            if not (latent != items.ABSENT).any():
                break
            self._show(number, steps, sight)
            action = self._ask(sight)
            if action is None:
                break
            stone, colour = action
            slot = -1 if colour < 0 else sight.slot(colour)
            worth = self._worth(sight, stone, colour) if self.advice else None
            if colour < 0:
                value = int(items.VALUES[latent[stone]])
                self.scores[-1] += value
                self.screen.print(f"  {value:+d} points")
                latent[stone] = items.ABSENT
                sight = self.truth.sight(latent, kinds)
            else:
                latent[stone], kinds[slot] = self.truth.moved(int(latent[stone]), colour), -1
                after = self.truth.sight(latent, kinds)
                self.screen.print("  the stone has changed" if (after.corners != sight.corners).any() else "  nothing happens")
                self.knowledge, sight = see_use(self.knowledge, sight, after, stone, colour), after
            self.actions[-1].append((stone, slot))
            if worth is not None:
                best, had = worth
                self.regret += best - had
                self.screen.print(f"  regret {best - had:.2f} (best {best:.2f}, this {had:.2f})", style="dim")
        if self.advice and sight.shown.max() >= 0:
            left = self.planner.value(self.knowledge, sight).reward
            self.regret += left
            if left > 0:
                self.screen.print(f"  regret {left:.2f}: left on the table", style="dim")

    def _worth(self, sight: Sight, stone: int, colour: int) -> tuple[float, float]:
        """Expected reward of the best action and of this one."""
        from jaxdiff.alchemy.ideal_observer import Action

        best = self.planner.value(self.knowledge, sight).reward
        if colour < 0:
            return best, self.planner.cash_value(self.knowledge, sight, stone).reward
        return best, self.planner.use_value(self.knowledge, sight, Action(stone, colour)).reward

    def _show(self, number: int, steps: int, sight: Sight) -> None:
        """The table, as far as the terminal has colours a picture of it."""
        self.screen.print(f"\ntrial {number + 1}, {steps} steps left, score {sum(self.scores)}", style="bold")
        for s, shown in enumerate(sight.shown.tolist()):
            if shown >= 0:
                self.screen.print(self._stone(s, sight))
        self.screen.print(_potions(sight))

    def _stone(self, s: int, sight: Sight) -> Text:
        from rich.text import Text

        from jaxdiff.alchemy.chemistry import FEATURES, perceived_features
        from jaxdiff.alchemy.consequences import SHOWN_VALUES

        look = (perceived_features()[self.truth.rotation, sight.corners[self.truth.rotation, s]] + 1).tolist()
        words = ", ".join(FEATURES[k][v] for k, v in enumerate(look))
        line = Text(f"  stone {s + 1}  ")
        line.append(f"{_SIGNS[look[2]] * (look[1] + 1):<3}", style=_STONES[look[0]])
        return line.append(f"  {words}, worth {int(SHOWN_VALUES[sight.shown[s]]):+d}")

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
                try:
                    self.screen.print(self._belief() if words == ["belief"] else self._advise(sight), style="dim")
                except InputError as error:
                    self.screen.print(f"  {error}", style="dim")  # no planner here: the game goes on
                continue
            if len(words) == 2 and words[0] in ("1", "2", "3") and sight.shown[int(words[0]) - 1] >= 0:
                if words[1] in ("c", "cauldron"):
                    return int(words[0]) - 1, -1
                colours = [c for c, name in enumerate(COLOURS) if name.startswith(words[1]) and (sight.colours == c).any()]
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


def _potions(sight: Sight) -> Text:
    from rich.text import Text

    from jaxdiff.alchemy.chemistry import COLOURS

    line, counts = Text("  potions  "), sight.counts().tolist()
    for c, count in enumerate(counts):
        if count:
            line.append("◆" * count, style=_POTIONS[c]).append(f" {count} {COLOURS[c]}  ")
    return line if any(counts) else line.append("none")


def describe(action: Action) -> str:
    """An action in words."""
    from jaxdiff.alchemy.chemistry import COLOURS

    return "cash what is worth something" if action.colour < 0 else f"stone {action.stone + 1} into {COLOURS[action.colour]}"


def _write(folder: Path, game: Game, episodes: Episodes) -> Path:
    """The log, with the episode that it belongs to, as far as it was begun."""
    import numpy as np

    from jaxdiff.alchemy.logs import PADDING, Log
    from jaxdiff.alchemy.played import STEPS
    from jaxdiff.studies.reference_agents import write_log

    trials = max(len(game.scores), 1)
    begun = dataclasses.replace(episodes, stones=episodes.stones[:, :trials], potions=episodes.potions[:, :trials])
    stone, potion = np.full((1, trials, STEPS), -1), np.full((1, trials, STEPS), PADDING)
    for t, trial in enumerate(game.actions):
        for a, (s, slot) in enumerate(trial):
            stone[0, t, a], potion[0, t, a] = s, slot
    scores = np.array([game.scores + [0] * (trials - len(game.scores))])
    return write_log(folder / "log.npz", Log(stone, potion), begun, scores)
