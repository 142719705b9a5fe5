"""The paper's protocol on a domain: distances between the solutions of random agents on sampled levels, and how other agents fare.

"We use 50 randomly initialized agents" of 100 episodes on 100 levels, and agents on more than 1,000 levels a novelty (Measuring
Difficulty of Novelty Reaction, sections on novelty reaction difficulty and experiments). Added: the shift that chance alone gives, exact
distances where all sequences can be listed, and intervals. Axes: N novelties, the null last; L levels of distances, M of agents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxdiff.core.errors import require_integer
from jaxdiff.difficulty import novelty
from jaxdiff.difficulty.novelty import ReactionDifficulty, Solutions
from jaxdiff.studies.reaction import agents
from jaxdiff.studies.reaction.domain import Attempts, Domain, after, stream
from jaxdiff.studies.reaction.policy import Training
from jaxdiff.sweep.pieces import Keep, Piece, forget

if TYPE_CHECKING:
    import xarray as xr

KIND = "novelty-reaction"
FIELDS = ("d", "size", "shift", "reverse", "undetermined")
EXACT_LEVELS = 20  # levels on which exact distances are computed too, where they can be
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """What is run; the defaults are the paper's.

    Attributes:
        levels: L.
        random_agents, episodes: random tries on a level are their product.
        agent_levels: M.
        tries: sequences of actions that replay and planner find solutions among, on each of their levels.
        training: of the policy.
        chunk: levels of distances that are computed and kept together.
        seed: of everything random.
    """

    levels: int = 100
    random_agents: int = 50
    episodes: int = 100
    agent_levels: int = 1000
    tries: int = 200
    training: Training = field(default_factory=Training)
    chunk: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("levels", "random_agents", "episodes", "agent_levels", "tries", "chunk"):
            require_integer(name, getattr(self, name), 1)
        require_integer("seed", self.seed, 0, 2**32 - 1)

    @property
    def budget(self) -> int:
        """Random tries on a level."""
        return self.random_agents * self.episodes


def run(domain: Domain, settings: Settings, progress: Progress = lambda what, done, of: None, keep: Keep = forget) -> xr.Dataset:
    """Measure a domain's novelties and set agents on them.

    Args:
        domain: the world and its novelties.
        settings: how much of it.
        progress: called with (what, done, in all).
        keep: gives pieces that were made before, or makes and keeps them.

    Returns:
        dataset with d, size, shift, reverse, undetermined, chance, random_after, d_exact [novelty, level]; random_before
        [level]; before [agent, agent_level], after [novelty, agent, agent_level]; learned [update].
    """
    import xarray as xr

    names = [n.name for n in (*domain.novelties, domain.null)]
    distances = _distances(domain, settings, progress, keep)
    about = {"domain": domain.name, "about": domain.about, **asdict(settings)}
    known: list[agents.Team] = []

    def team() -> agents.Team:
        if not known:
            progress(f"{domain.name}: training", 0, 1)
            known.append(agents.team(domain, settings.agent_levels, settings.seed, settings.training, settings.tries))
            progress(f"{domain.name}: training", 1, 1)
        return known[0]

    base = keep(f"{domain.name} before", about, lambda: {"passed": team().passed, "learned": team().learned})
    played = []
    for number, one in enumerate((*domain.novelties, domain.null)):
        progress(f"{domain.name}: agents", number, len(names))
        make = lambda one=one: {"passed": agents.play(domain, team(), one, settings.seed, settings.training)}  # noqa: E731
        played.append(keep(f"{domain.name} agents {one.name}", about, make)["passed"])
    progress(f"{domain.name}: agents", len(names), len(names))
    over = ("novelty", "level")
    return xr.Dataset(
        {
            **{name: (over, distances[name]) for name in (*FIELDS, "chance", "random_after")},
            **({"d_exact": (over, distances["d_exact"])} if domain.every is not None else {}),
            "random_before": ("level", distances["random_before"]),
            "before": (("agent", "agent_level"), base["passed"]),
            "after": (("novelty", "agent", "agent_level"), np.stack(played)),
            "learned": ("update", base["learned"]),
        },
        {"novelty": names, "agent": list(agents.AGENTS), "kind": ("novelty", [n.kind for n in (*domain.novelties, domain.null)])},
        {"domain": domain.name, "about": domain.about, "null": domain.null.name, "seed": settings.seed, "tries": settings.budget},
    )


def _distances(domain: Domain, settings: Settings, progress: Progress, keep: Keep) -> dict[str, np.ndarray]:
    """Everything about solutions, chunk by chunk of levels."""
    parts = []
    names = ("levels", "random_agents", "episodes", "chunk", "seed")
    about = {"domain": domain.name, "about": domain.about, **{name: getattr(settings, name) for name in names}}
    for start in range(0, settings.levels, settings.chunk):
        progress(f"{domain.name}: distances", start, settings.levels)
        name = f"{domain.name} distances from {start}"
        parts.append(keep(name, about, lambda start=start: _chunk(domain, settings, start)))
    progress(f"{domain.name}: distances", settings.levels, settings.levels)
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}


def _chunk(domain: Domain, settings: Settings, start: int) -> Piece:
    """Rows of some levels: [N, levels], or [levels]."""
    levels = domain.levels(settings.levels, settings.seed).some(slice(start, start + settings.chunk))
    key = jax.random.fold_in(stream(settings.seed, "tries"), start)
    changes = (*domain.novelties, domain.null)
    keys = jax.random.split(key, len(changes) + 2)
    before, again = (domain.attempt(levels, k, settings.budget) for k in keys[:2])
    found: dict[str, list[Any]] = {name: [] for name in (*FIELDS, "chance", "random_after", "d_exact")}
    exact = min(len(levels), max(0, EXACT_LEVELS - start)) if domain.every is not None else 0
    every = domain.everything(levels.some(slice(0, exact))) if exact else None
    for change, k in zip(changes, keys[2:], strict=True):
        changed = after(levels, change)
        tried = domain.attempt(changed, k, settings.budget)
        sides = [solutions(domain, each) for each in (before, again, tried)]
        rows = _rows(domain, sides[0], sides[2])
        for name in FIELDS:
            found[name].append([getattr(row, name) for row in rows])
        thinned = [one.thinned(other) for one, other in zip(*sides[1:], strict=True)]
        found["chance"].append([row.shift for row in _rows(domain, sides[0], thinned)])
        found["random_after"].append(tried.rate)
        found["d_exact"].append(np.full(len(levels), np.nan))
        if every is not None:
            other = solutions(domain, domain.everything(changed.some(slice(0, exact))))
            rows = _rows(domain, solutions(domain, every), other, "drop")
            found["d_exact"][-1][: len(rows)] = [np.nan if row.undetermined else row.d for row in rows]
    return {
        **{name: np.array(rows) for name, rows in found.items()},
        "random_before": before.rate,
    }


def _rows(domain: Domain, a: list[Solutions], b: list[Solutions], duplicates: Any = "keep") -> list[ReactionDifficulty]:
    """The distance on every level, from one to the other."""
    return [novelty.difficulty(one, other, domain.metric, duplicates=duplicates) for one, other in zip(a, b, strict=True)]


def solutions(domain: Domain, attempts: Attempts) -> list[Solutions]:
    """The tries that passed, on every level."""
    return [
        Solutions(domain.coordinates(actions[length > 0]), length[length > 0], len(length))
        for actions, length in zip(attempts.actions, attempts.length, strict=True)
    ]
