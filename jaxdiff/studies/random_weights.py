"""The random-weight study: untrained networks of six architectures in classic control worlds, and FrozenLake beside them.

After Oller, Glasmachers and Cuccu (2020): 10,000 networks of each architecture, 20 episodes each. Their worlds are gym's, these are
gymnax's of the same names; episodes start from the same 20 instances for all networks. Axes: A architectures, P networks, E episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.errors import require, require_integer
from jaxdiff.difficulty.numbers import Number, numbers
from jaxdiff.populations import networks
from jaxdiff.studies.returns import Progress, collect
from jaxdiff.sweep.pieces import Keep, forget

# World, steps of an episode at most, mean return that counts as solved (gymnasium's registration), None where it has none.
WORLDS: dict[str, tuple[int, float | None]] = {
    "CartPole-v1": (500, 475.0),
    "MountainCar-v0": (200, -110.0),
    "Acrobot-v1": (500, -100.0),
    "Pendulum-v1": (200, None),
    "FrozenLake-misc": (100, 0.7),
}
SHOWN = ("mean", "variance_within", "variance_between", "percentile_99.9", "best", "best_fresh", "share_solving", "pic", "poic")


@dataclass(frozen=True)
class Settings:
    """What is run.

    Attributes:
        networks: P, of each architecture.
        episodes: E.
        worlds: names in `WORLDS`.
        seed: of everything random.
        resamples: of the bootstrap.
    """

    networks: int = 10_000
    episodes: int = 20
    worlds: tuple[str, ...] = tuple(WORLDS)
    seed: int = 0
    resamples: int = 200

    def __post_init__(self) -> None:
        require_integer("networks", self.networks, 2)
        require_integer("episodes", self.episodes, 2)
        require_integer("seed", self.seed, 0, 2**32 - 1)
        wrong = [name for name in self.worlds if name not in WORLDS]
        require(not wrong and len(self.worlds) > 0, "worlds", " ".join(wrong) or "none", f"some of {', '.join(WORLDS)}")


@dataclass(frozen=True)
class Row:
    """One architecture in one world.

    Attributes:
        world, architecture: names.
        numbers: those of `SHOWN`, by name.
    """

    world: str
    architecture: str
    numbers: dict[str, Number]


@dataclass(frozen=True)
class Study:
    """Everything that was run.

    Attributes:
        settings: what was asked for.
        rows: one for each world and architecture.
        returns: world -> architecture -> [P, E].
    """

    settings: Settings
    rows: tuple[Row, ...]
    returns: dict[str, dict[str, np.ndarray]]


def run(settings: Settings, progress: Progress | None = None, keep: Keep = forget) -> Study:
    """Run the study.

    Args:
        settings: what to run.
        progress: called with (world, networks done, networks in all).
        keep: what remembers finished chunks.

    Raises:
        InputError: gymnax is not installed.
    """
    rows, everything = [], {}
    for name in settings.worlds:
        env, params = _made(name)
        steps, solved = WORLDS[name]
        key_draw, key_play = jax.random.split(jax.random.key(settings.seed))
        population = networks.published(key_draw, env.observation_space(params), env.action_space(params), settings.networks)

        def told(_: str, done: int, of: int, name: str = name) -> None:
            if progress is not None:
                progress(name, done, of)

        def kept(piece: str, about: Any, make: Any, name: str = name) -> Any:
            return keep(f"{name} {piece}", about, make)

        out = collect(env, params, population, key_play, episodes=settings.episodes, steps=steps, keep=kept, progress=told)
        everything[name] = {}
        for number, architecture in enumerate(out.names):
            mine = out.group == number
            r = out.returns[mine]
            found = numbers(r, out.lengths[mine], out.bits[mine], solved=solved, seed=settings.seed, resamples=settings.resamples)
            rows.append(Row(name, architecture, {k: found.by_name[k] for k in SHOWN}))
            everything[name][architecture] = r
    return Study(settings, tuple(rows), everything)


def _made(name: str) -> tuple[Any, Any]:
    gymnax = needed("gymnax", "gymnax")
    from jaxdiff.core.adapters.gymnax import from_gymnax

    return from_gymnax(*gymnax.make(name))
