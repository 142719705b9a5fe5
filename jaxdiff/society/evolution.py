"""The Darwin-Wallace distribution, generation by generation: agents live in environments, and poor ones are replaced (paper, section 2).

Generation 0 draws every agent from a base distribution: agents with random patterns, weighted by 2^-K so that simple ones predominate,
and some of the reference agents and learners. In each generation everybody plays a session in their environment; an agent dies with a
probability that falls with its reward and is replaced by a copy of an agent drawn from the present ones (or, with some probability, anew
from the base distribution); an environment is replaced with probability c. Beside each generation, fixed probe agents take a seat among
its agents: how their score falls is the social difficulty curve. Axes: E environments, m agents in each, G generations, R probes, P
pattern elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.society import bags, batches, graphs, scenarios
from jaxdiff.society.learners import Rates
from jaxdiff.society.sessions import KINDS, Design
from jaxdiff.society.world import Lambda, Params

Progress = Callable[[str, int, int], None]
_ELEMENTS = 120  # a multiple of 2, 3, 4, 5, 6, 8, 10 and 12, so that remainders are (nearly) uniform
PROBES = ("oracle", "follower", "random", "q_learning")


@dataclass(frozen=True)
class Base:
    """The base distribution of agents, p_A of generation 0.

    Attributes:
        weights: probability of each kind; "pattern" are the agents with random patterns.
        longest: P, most elements of a pattern.
        more_bits: a pattern of n elements over a actions is written with n (log2 a + more_bits) bits, K: which actions, and that it goes
            on. There are a^n of them, so by 2^-K a length has the probability 2^-(more_bits n) and simple agents predominate.
    """

    weights: tuple[tuple[str, float], ...] = (
        ("pattern", 0.7),
        ("random", 0.1),
        ("follower", 0.08),
        ("q_learning", 0.04),
        ("sarsa", 0.04),
        ("oracle", 0.04),
    )
    longest: int = 16
    more_bits: float = 1.0

    def __post_init__(self) -> None:
        names = [kind for kind, _ in self.weights]
        require(len(names) > 0 and len(set(names)) == len(names), "weights", self.weights, "every kind once, at least one")
        for kind, weight in self.weights:
            require(kind in KINDS, "agent", kind, f"one of {', '.join(KINDS)}")
            require(weight >= 0, "weights", weight, "numbers of at least 0")
        require(sum(w for _, w in self.weights) > 0, "weights", self.weights, "a positive sum")
        require_integer("longest", self.longest, 1, 4096)
        require(self.more_bits > 0, "more_bits", self.more_bits, "above 0")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds that can be drawn."""
        return tuple(kind for kind, weight in self.weights if weight > 0)


@dataclass(frozen=True)
class Settings:
    """An evolution.

    Attributes:
        environments: E.
        agents: m, evolving agents in an environment; a probe is one more.
        generations: G, generations after generation 0.
        steps: of the sessions of a generation.
        dying: the largest probability of dying, of an agent far below the others.
        sharpness: how steeply it falls with reward: d = dying / (1 + exp(sharpness x (reward - mean reward))).
        fresh: probability that a dead agent is replaced from the base distribution instead of by a copy of another, living or dead.
        replacement: c, probability that an environment is replaced after a generation.
        base: generation 0.
        probes: fixed agents that are measured against every generation.
        distribution: of the environments.
        rates: of the learners.
    """

    environments: int = 500
    agents: int = 3
    generations: int = 10
    steps: int = 1000
    dying: float = 0.8
    sharpness: float = 20.0
    fresh: float = 0.1
    replacement: float = 0.1
    base: Base = field(default_factory=Base)
    probes: tuple[str, ...] = PROBES
    distribution: graphs.Distribution = scenarios.PAPER_DISTRIBUTION
    rates: Rates = field(default_factory=Rates)

    def __post_init__(self) -> None:
        for name, low in (("environments", 2), ("agents", 1), ("generations", 0), ("steps", 1)):
            require_integer(name, getattr(self, name), low)
        for name in ("dying", "fresh", "replacement"):
            require(0 <= getattr(self, name) <= 1, name, getattr(self, name), "0..1")
        require(self.sharpness >= 0, "sharpness", self.sharpness, "at least 0")
        for probe in self.probes:
            require(probe in KINDS and probe != "pattern", "probe", probe, f"one of {', '.join(k for k in KINDS if k != 'pattern')}")


class Agents(NamedTuple):
    """Agents of all environments.

    Attributes:
        kind: number in `sessions.KINDS`, int32 [E, m].
        elements: their patterns, int8 [E, m, P]; agents of other kinds have one too, and do not use it.
        length: elements that count, int32 [E, m].
    """

    kind: np.ndarray
    elements: np.ndarray
    length: np.ndarray


@dataclass(frozen=True)
class History:
    """What happened.

    Attributes:
        settings: of the evolution.
        alone: score of each probe with no other agent, float32 [R, E]; the environments of generation 0.
        probe: score of each probe among the agents of each generation, float32 [G + 1, R, E].
        reward: mean reward of the evolving agents, float32 [G + 1, E, m].
        share: share of each kind among them, float64 [G + 1, kinds].
        length: mean length of the patterns of pattern agents, float64 [G + 1].
        collisions: states that hashed tables had to give up in a session, mean over the sessions of each generation, float64 [G + 1].
    """

    settings: Settings
    alone: np.ndarray
    probe: np.ndarray
    reward: np.ndarray
    share: np.ndarray
    length: np.ndarray
    collisions: np.ndarray

    def curve(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Mean score of every probe, alone and then by generation, and half the width of its interval, float64 [G + 2, R]."""
        return scenarios.band(np.moveaxis(np.concatenate([self.alone[None], self.probe]), 1, 2), level)

    def leaps(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Mean change of every probe's score from one point of `curve` to the next, and half its interval, float64 [G + 1, R].

        Differences are taken between the same numbers of environments (paired while an environment is not replaced).
        """
        points = np.concatenate([self.alone[None], self.probe])
        return scenarios.band(np.moveaxis(np.diff(points, axis=0), 1, 2), level)


def draw(rng: np.random.Generator, base: Base, shape: tuple[int, ...]) -> Agents:
    """Agents from the base distribution; elements are taken modulo the number of actions of wherever the agent gets to."""
    names, weights = zip(*base.weights, strict=True)
    probability = np.asarray(weights, np.float64) / sum(weights)
    kind = np.array([KINDS.index(n) for n in names], np.int32)[rng.choice(len(names), shape, p=probability)]
    lengths = np.arange(1, base.longest + 1)
    weight = np.exp2(-base.more_bits * lengths)
    length = rng.choice(lengths, shape, p=weight / weight.sum()).astype(np.int32)
    return Agents(kind, rng.integers(0, _ELEMENTS, (*shape, base.longest)).astype(np.int8), length)


def evolve(settings: Settings, seed: int = 0, *, workers: int | None = None, progress: Progress | None = None) -> History:
    """Run an evolution.

    Args:
        settings: what to do.
        seed: of everything random.
        workers: batches at once, see `batches.run`.
        progress: called with (what, generations done, in all).
    """
    rng = np.random.default_rng(seed)
    run = _Run(settings, int(rng.integers(2**32)), workers)
    params = run.environments(int(rng.integers(2**32)))
    people = draw(rng, settings.base, (settings.environments, settings.agents))
    alone, _ = run.probes(params, None)
    probe, reward, share, length, collisions = [], [], [], [], []
    for generation in range(settings.generations + 1):
        if progress is not None:
            progress("generations", generation, settings.generations + 1)
        scores, lost = run.probes(params, people)
        rewards, lost_too = run.live(params, people, int(rng.integers(2**32)))
        probe.append(scores)
        reward.append(rewards)
        collisions.append(np.concatenate([lost, lost_too]).mean())
        share.append(np.bincount(people.kind.reshape(-1), minlength=len(KINDS)) / people.kind.size)
        patterns = people.kind == KINDS.index("pattern")
        length.append(people.length[patterns].mean() if patterns.any() else np.nan)
        people = select(rng, settings, people, reward[-1])
        replaced = rng.random(settings.environments) < settings.replacement
        fresh = run.environments(int(rng.integers(2**32)))
        params = jax.tree.map(lambda new, old, gone=replaced: np.where(gone[(...,) + (None,) * (old.ndim - 1)], new, old), fresh, params)
    if progress is not None:
        progress("generations", settings.generations + 1, settings.generations + 1)
    return History(settings, alone, np.stack(probe), np.stack(reward), np.stack(share), np.array(length), np.array(collisions))


def select(rng: np.random.Generator, settings: Settings, people: Agents, reward: np.ndarray) -> Agents:
    """The next generation in every environment: who dies is replaced by a copy of anybody of this one, or anew.

    Args:
        rng: source of randomness.
        settings: probabilities.
        people: this generation.
        reward: what they got, [E, m].
    """
    shape = people.kind.shape
    death = settings.dying / (1 + np.exp(settings.sharpness * (reward.astype(np.float64) - reward.mean(dtype=np.float64))))
    dead = rng.random(shape) < death
    anew = dead & (rng.random(shape) < settings.fresh)
    parent = rng.integers(0, people.kind.size, shape)
    born = draw(rng, settings.base, shape)

    def one(old: np.ndarray, new: np.ndarray) -> np.ndarray:
        copied = old.reshape(-1, *old.shape[2:])[parent]
        rest = (...,) + (None,) * (old.ndim - 2)
        return np.where(anew[rest], new, np.where(dead[rest], copied, old))

    return Agents(*(one(old, new) for old, new in zip(people, born, strict=True)))


@dataclass(frozen=True)
class _Run:
    settings: Settings
    probe_seed: int  # the same for all generations: their probes start alike and draw alike
    workers: int | None

    def environments(self, seed: int) -> Params:
        keys = batches.session_keys(seed, np.arange(self.settings.environments))["environment"]
        return jax.tree.map(np.asarray, graphs.sample(keys, self.settings.distribution))

    def live(self, params: Params, people: Agents, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean rewards of a session of everybody, float32 [E, m], and collisions [E]."""
        out = batches.run(self._job(params, (), people, seed), workers=self.workers)
        return out.own[0], out.collisions

    def probes(self, params: Params, people: Agents | None) -> tuple[np.ndarray, np.ndarray]:
        """Mean rewards of the probes, each in a seat added to those of `people`, float32 [R, E], and collisions [R E]."""
        names, count = self.settings.probes, self.settings.environments
        kind = np.repeat([KINDS.index(name) for name in names], count)[:, None].astype(np.int32)
        nobody = np.zeros((len(kind), 1, self.settings.base.longest), np.int8)
        with_probe = Agents(kind, nobody, np.ones(kind.shape, np.int32))
        if people is not None:
            everywhere = (np.concatenate([x] * len(names)) for x in people)
            with_probe = Agents(*(np.concatenate(pair, axis=1) for pair in zip(with_probe, everywhere, strict=True)))
        job = self._job(params, (tuple(dict.fromkeys(names)),), with_probe, self.probe_seed)
        out = batches.run(job, workers=self.workers)
        return out.own[0, :, 0].reshape(len(names), count), out.collisions

    def _job(self, params: Params, first: tuple[tuple[str, ...], ...], people: Agents, seed: int) -> batches.Job:
        m = people.kind.shape[1]
        env = Lambda(agents=m, cells=self.settings.distribution.range[1], steps=self.settings.steps)
        seats = first + (self.settings.base.kinds,) * (m - len(first))
        design = Design(env, seats, bags.alone(m), self.settings.steps, self.settings.steps)
        return batches.Job(design, seed, params, people.kind, self.settings.rates, people.elements, people.length)
