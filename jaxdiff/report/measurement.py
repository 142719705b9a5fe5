"""`jaxdiff.measure`: a world and a population of policies in, a measurement out.

    measurement = jaxdiff.measure(env, params, "networks", jax.random.key(0), policies=10_000, episodes=20)
    print(measurement.table())
    measurement.report("page.html")

Axes: P policies, E episodes, G thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.devices import Devices
from jaxdiff.core.environment import Environment
from jaxdiff.core.episodes import BOUNDED, TRUNCATED
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import Box
from jaxdiff.difficulty import blind_curve, effective_horizon, response
from jaxdiff.difficulty.numbers import WHAT, Number, Numbers, numbers
from jaxdiff.populations import actions, decision_programs, networks
from jaxdiff.populations.population import Population
from jaxdiff.report import tables, worlds
from jaxdiff.studies import returns as collecting
from jaxdiff.sweep import pieces

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[str, int, int], None]
POPULATIONS = ("networks", "larger_networks", "programs", "constants", "random")
RANDOM = 64  # copies of the random policy that say what random actions get
KIND = "measurement"


@dataclass(frozen=True)
class Measurement:
    """What was measured.

    Attributes:
        name: of the world.
        collected: returns, lengths, endings, descriptions of all policies.
        numbers: of all policies together.
        by_population: of each population, by name.
        random: mean return of random actions, with its interval; NaN where there is no such policy.
        solved: the mean return that counts as solved, if known.
        curve: response curve of all policies, equally likely; None where difficulty is undetermined.
        band: least and largest ability at each of its points, 95 %, see `blind_curve.band`; None without a curve or a bootstrap.
        horizon: effective horizon, or a sentence that says why there is none.
        settings: what was asked for.
    """

    name: str
    collected: collecting.Returns
    numbers: Numbers
    by_population: dict[str, Numbers]
    random: Number
    solved: float | None
    curve: response.Curve | None
    band: np.ndarray | None
    horizon: effective_horizon.EffectiveHorizon | str
    settings: dict[str, Any]

    @property
    def truncated(self) -> float:
        """Share of episodes that the world cut off."""
        return float((self.collected.endings == TRUNCATED).mean())

    @property
    def bounded(self) -> float:
        """Share of episodes that were cut after the most steps that were allowed: their returns are those up to there."""
        return float((self.collected.endings == BOUNDED).mean())

    def rows(self) -> list[tuple[str, str, Number]]:
        """Name, what it is, and number, of everything that is defined for this world."""
        made = [("random_actions", "mean return of random actions", self.random)]
        made += [(name, WHAT[name], number) for name, number in self.numbers.by_name.items()]
        if isinstance(self.horizon, effective_horizon.EffectiveHorizon):
            value = self.horizon.value
            made.append(("effective_horizon", "effective horizon, exact [steps]", Number(value, value, value)))
        return [row for row in made if not np.isnan(row[2].value) or row[0].startswith("tries")]

    def sentences(self) -> list[str]:
        """What must be said beside the numbers."""
        c = self.collected
        said = []
        if self.numbers.undetermined:
            said.append(f"Difficulty is undetermined: {self.numbers.undetermined}.")
        said.append(f"{len(c.returns):,} policies ({'; '.join(c.names)}), {c.returns.shape[1]} episodes each, the same instances for all.")
        said.append(f"Episodes took {c.lengths.mean():.1f} steps on average, {c.lengths.min()} to {c.lengths.max()}.")
        if self.truncated:
            said.append(f"{self.truncated:.2%} of the episodes were truncated by the world.")
        if self.bounded:
            cut = f"{self.bounded:.2%} of the episodes had not ended after {self.settings['steps']} steps"
            said.append(f"{cut}: they are reported as truncated there.")
        if self.settings.get("solved_unused") is not None:
            said.append(f"What the environment calls solved, {self.settings['solved_unused']:g}, is of whole episodes, and is not used.")
        if isinstance(self.horizon, str):
            said.append(f"No effective horizon: {self.horizon}.")
        return said

    def table(self) -> str:
        """All numbers with their intervals, as text."""
        rows = [("number", "value", "95 % interval", "what it is")]
        rows += [(name, shown(n.value, name), interval(n, name), what) for name, what, n in self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in rows]
        return "\n".join([self.name, *self.sentences(), "", *lines])

    def to_xarray(self) -> xr.Dataset:
        """Everything as a labelled dataset; `jaxdiff.sweep.labelled.save` writes it."""
        import xarray as xr

        c = self.collected
        names = [name for name, _, _ in self.rows()]
        values = np.array([[n.value, n.low, n.high] for _, _, n in self.rows()])
        data: dict[str, Any] = {
            "returns": (("policy", "episode"), c.returns),
            "lengths": (("policy", "episode"), c.lengths),
            "ending": (("policy", "episode"), c.endings, {"meaning": "0 terminated, 1 truncated by the world, 2 cut after the most steps"}),
            "bits": ("policy", c.bits),
            "population": ("policy", np.array(c.names)[c.group]),
            "number": (("name", "bound"), values),
        }
        coordinates: dict[str, Any] = {"name": names, "bound": ["value", "low", "high"]}
        if self.by_population:
            none = Number(np.nan, np.nan, np.nan)  # of what is not a number of a population
            mine = [[found.by_name.get(x, none) for x in names] for found in self.by_population.values()]
            data["number_of_population"] = (("group", "name", "bound"), [[(n.value, n.low, n.high) for n in row] for row in mine])
            coordinates["group"] = list(self.by_population)
        if self.curve is not None:
            data |= {"response_theta": ("point", np.asarray(self.curve.theta)), "response_reward": ("point", np.asarray(self.curve.reward))}
        if self.band is not None:
            data["response_band"] = (("side", "point"), self.band)
            coordinates["side"] = ["low", "high"]
        about = {k: v for k, v in self.settings.items() if v is not None} | {"world": self.name, "undetermined": self.numbers.undetermined}
        return xr.Dataset(data, coordinates, about)

    def report(self, path: str | Path) -> Path:
        """Write one self-contained page; see `report.page`.

        Args:
            path: ends in .html; it is added where it is missing.
        """
        from jaxdiff.report import page

        return page.write(self, path)


def measure(
    env: Any,
    params: Any = None,
    population: str | Population | Sequence[Population] = "networks",
    key: Any = None,
    *,
    episodes: int = 20,
    policies: int = 1000,
    steps: int = 1000,
    solved: float | None = None,
    name: str | None = None,
    resamples: int = 500,
    delta: float = 0.05,
    folder: str | Path | None = None,
    chunk: int = collecting.CHUNK,
    progress: Progress | None = None,
    devices: Devices = None,
) -> Measurement:
    """Measure how hard an environment is for a population of policies.

    Args:
        env: an environment of this library, gymnax or gymnasium; one of `report.worlds.known`; or the name of one, see `report.worlds`.
        params: its parameters; its defaults when None.
        population: populations; or one of `POPULATIONS`, drawn for the world's spaces.
        key: PRNG key, or a seed; 0 when None. Consumed.
        episodes: E.
        policies: P, where a population is named (networks: shared out among the six published architectures).
        steps: an episode that has not ended by then is cut, and said so.
        solved: the mean return that counts as solved; what the environment says when None.
        name: what it is called; its own name when None.
        resamples: of the bootstrap; 0 for no intervals.
        delta: confidence of verification.
        folder: where finished chunks are kept, so that a stopped run goes on; nowhere when None.
        chunk: policies that are played at once.
        progress: called with (what, done, of).
        devices: that share the work; JAX's default device when None.

    Raises:
        InputError: an environment of no known protocol, a population that does not fit its spaces, a reward that is not finite, a count
            below 1.
    """
    for argument, value, least in (("episodes", episodes, 1), ("policies", policies, 1), ("steps", steps, 1), ("chunk", chunk, 1)):
        require_integer(argument, value, least)
    require_integer("resamples", resamples, 0)
    require(0 < delta < 0.5, "delta", delta, "a number above 0 and below 1/2")
    world = worlds.find(env) if isinstance(env, str) else worlds.known(env, params, name, solved)
    said = world.solved if solved is None else None
    solved = world.solved if solved is None else solved
    require(solved is None or bool(np.isfinite(solved)), "solved", solved, "a finite number")
    plain = key is None or (np.ndim(key) == 0 and isinstance(key, int | np.integer))
    key = jax.random.key(int(key or 0)) if plain else key
    drawn_from = np.asarray(jax.random.key_data(key)).tolist()
    key_play, key_draw, key_random = jax.random.split(key, 3)
    everyone = draw(population, world, policies, key_draw) if isinstance(population, str) else population
    keep = pieces.forget if folder is None else pieces.keeper(Path(folder))
    options: dict[str, Any] = {"episodes": episodes, "steps": steps, "chunk": chunk, "keep": keep, "progress": progress, "devices": devices}
    collected = collecting.collect(world.env, world.params, everyone, key_play, **options)
    cut = None
    if said is not None and (collected.endings == BOUNDED).any():
        # What the environment calls solved is a return of whole episodes.
        cut, solved = said, None
    random = _random(world, key_random, options, resamples)
    found = {"solved": solved, "seed": 0, "resamples": resamples, "delta": delta}
    total = numbers(collected.returns, collected.lengths, collected.bits, **found)
    mine = {g: collected.group == g for g in range(len(collected.names))}
    groups = {
        collected.names[g]: numbers(collected.returns[m], collected.lengths[m], collected.bits[m], **found)
        for g, m in mine.items()
        if len(mine) > 1
    }
    mean = collected.returns.mean(1, dtype=np.float64)
    curve = None if total.undetermined else response.curve(np.ones(len(mean)), mean)
    band = blind_curve.band(curve, mean, resamples) if curve is not None and resamples else None
    reached = min(steps, int(collected.lengths.max()))
    table = tables.tabulate(world.env, world.params, reached)
    horizon = table if isinstance(table, str) else effective_horizon.effective_horizon(table, longest=8)
    if not isinstance(horizon, str) and np.isnan(horizon.value):
        horizon = f"GORP does not solve it with sequences of up to {len(horizon.by_k)} actions"
    settings = {"episodes": episodes, "steps": steps, "policies": len(mean), "resamples": resamples, "delta": delta, "solved": solved}
    settings |= {"solved_unused": cut, "key": drawn_from}
    settings["population"] = population if isinstance(population, str) else "; ".join(collected.names)
    return Measurement(world.name if name is None else name, collected, total, groups, random, solved, curve, band, horizon, settings)


def draw(population: str, world: worlds.Known, policies: int, key: jax.Array) -> tuple[Population, ...]:
    """A named population for a world's spaces.

    Args:
        population: one of `POPULATIONS`.
        world: what it is for.
        policies: how many, in all.
        key: PRNG key; consumed.

    Raises:
        InputError: an unknown name, or spaces that the population cannot act in.
    """
    require(population in POPULATIONS, "population", population, f"one of {', '.join(POPULATIONS)}")
    observation, action = world.env.observation_space(world.params), world.env.action_space(world.params)
    if population == "constants":
        return (actions.constant_actions(action),)
    if population == "random":
        return (actions.random_actions(action, policies),)
    if population == "programs":
        low, high = _seen_range(world, key) if isinstance(observation, Box) and flat.number_of_actions(action) is not None else (None, None)
        words = decision_programs.language(observation, action, low=low, high=high)
        return (decision_programs.sample(jax.random.fold_in(key, np.uint32(1)), words, policies),)
    kinds = networks.PUBLISHED if population == "networks" else networks.LARGER
    counts = [policies // len(kinds) + (i < policies % len(kinds)) for i in range(len(kinds))]
    return tuple(
        networks.draw(jax.random.fold_in(key, np.uint32(i)), observation, action, count, kind)
        for i, (kind, count) in enumerate(zip(kinds, counts, strict=True))
        if count
    )


def _seen_range(world: worlds.Known, key: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest value of every entry of the observations that random actions lead to."""
    policy = actions.random_actions(world.env.action_space(world.params), 32)
    if isinstance(world.env, Environment):
        seen = collecting.visited(world.env, world.params, policy.act, policy.params, key, 64)
    else:
        from jaxdiff.core.adapters import hosted

        seen = hosted.play(world.env, policy.act, policy.params, key, episodes=1, steps=64, keep=64)[1]
    entries = np.asarray(seen, np.float64).reshape(32 * 64, -1)
    low, high = entries.min(0), entries.max(0)
    return low, np.where(high > low, high, low + 1.0)


def _random(world: worlds.Known, key: jax.Array, options: dict[str, Any], resamples: int) -> Number:
    """Mean return of random actions."""
    try:
        policy = actions.random_actions(world.env.action_space(world.params), RANDOM)
    except InputError:
        return Number(np.nan, np.nan, np.nan)
    keep: pieces.Keep = options["keep"]  # under a name of its own: the population may be of random actions, too
    mine = {**options, "progress": None, "keep": lambda name, about, make: keep(f"beside-{name}", about, make)}
    out = collecting.collect(world.env, world.params, policy, key, **mine)
    return numbers(out.returns, out.lengths, out.bits, resamples=resamples).by_name["mean"]


def shown(value: float, name: str = "") -> str:
    """A number, of that name, for people."""
    if np.isnan(value):
        return "undetermined"
    if np.isinf(value):
        return "a jump" if name == "discrimination" else "none"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return "0" if float(text.replace(",", "")) == 0 else text


def interval(number: Number, name: str = "") -> str:
    """An interval, of the number of that name, for people; nothing where there is none."""
    return "" if np.isnan(number.low) and np.isnan(number.high) else f"{shown(number.low, name)} .. {shown(number.high, name)}"
