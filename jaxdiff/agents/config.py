"""Configurations: frozen, typed, stored as JSON beside a checkpoint, and refused where they make no sense."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jaxdiff
from jaxdiff.agents import auxiliary
from jaxdiff.agents.networks.agent import NetworkConfig
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.seat import OneSeat

ALGORITHMS = ("ppo", "vmpo", "impala")
VERSION = 3
# What configurations of earlier versions lack, and what it was then: of the whole, and of the world.
_BEFORE: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {
    1: ({"teacher": None, "auxiliary_weight": 1.0}, {"seat": False}),
    2: ({"auxiliary_weight": 1.0}, {}),
}


@dataclass(frozen=True)
class WorldConfig:
    """A registered world and its options.

    Attributes:
        name: as `jaxdiff.make` knows it.
        options: pairs (option, value), sorted.
        seat: of a world of several agents, train the one in the first seat among others that act at random, see `core.seat.OneSeat`.
    """

    name: str = "Alchemy-v0"
    options: tuple[tuple[str, Any], ...] = ()
    seat: bool = False

    @staticmethod
    def of(name: str, *, seat: bool = False, **options: Any) -> WorldConfig:
        """From keyword arguments."""
        return WorldConfig(name, tuple(sorted(options.items())), seat)

    def make(self) -> tuple[Any, Any]:
        """The environment and its parameters.

        Raises:
            InputError: no such world or option.
        """
        env, params = jaxdiff.make(self.name, **{name: _tuples(value) for name, value in self.options})
        return (OneSeat(env) if self.seat else env), params


@dataclass(frozen=True)
class AlgorithmConfig:
    """How policies are improved. Learning rate and entropy change linearly with the share of the budget that is spent.

    Attributes:
        name: one of `ALGORITHMS`.
        epochs, minibatches: passes over a rollout, and in how many parts of whole environments each is cut.
        discount, trace: γ and λ.
        clip: ε of PPO.
        learning_rate, last_learning_rate: of Adam.
        entropy, last_entropy: weight of the policy's entropy.
        value: weight of the value's loss.
        gradient_norm: the largest norm of a gradient.
        reward_scale: rewards are multiplied by it.
        adam_epsilon: of Adam.
        epsilon_temperature, epsilon_alpha, temperature, alpha, target_period: of V-MPO; the period counts updates.
    """

    name: str = "ppo"
    epochs: int = 2
    minibatches: int = 4
    discount: float = 0.95
    trace: float = 0.9
    clip: float = 0.2
    learning_rate: float = 3e-3
    last_learning_rate: float = 1e-4
    entropy: float = 4e-3
    last_entropy: float = 4e-4
    value: float = 0.5
    gradient_norm: float = 0.5
    reward_scale: float = 0.1
    adam_epsilon: float = 1e-5
    epsilon_temperature: float = 0.5
    epsilon_alpha: float = 0.001
    temperature: float = 1.0
    alpha: float = 5.0
    target_period: int = 10

    def __post_init__(self) -> None:
        require(self.name in ALGORITHMS, "algorithm", self.name, f"one of {', '.join(ALGORITHMS)}")
        for name in ("epochs", "minibatches", "target_period"):
            require_integer(name, getattr(self, name), 1)
        for name in ("discount", "trace"):
            require(0 <= getattr(self, name) <= 1, name, getattr(self, name), "a number from 0 to 1")
        for name in (
            "clip",
            "learning_rate",
            "gradient_norm",
            "reward_scale",
            "epsilon_temperature",
            "epsilon_alpha",
            "temperature",
            "alpha",
        ):
            require(getattr(self, name) > 0, name, getattr(self, name), "a positive number")
        for name in ("last_learning_rate", "entropy", "last_entropy", "value"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "a number of at least 0")


@dataclass(frozen=True)
class TeacherConfig:
    """A teacher, see `agents.teacher`.

    Attributes:
        log: digest of the lesson.
        weight: of the loss that pulls towards the teacher, at the start.
        until: share of the budget after which that weight is 0; until then it falls linearly. Imitation keeps it.
        imitate: learn from the teacher's actions alone, without reward.
    """

    log: str
    weight: float = 1.0
    until: float = 0.5
    imitate: bool = False

    def __post_init__(self) -> None:
        require(isinstance(self.log, str) and len(self.log) > 0, "log", self.log, "the digest of a lesson")
        require(self.weight > 0, "weight", self.weight, "a positive number")
        require(0 < self.until <= 1, "until", self.until, "a share of the budget above 0 and at most 1")


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what is learned, but for the seed and the machine.

    Attributes:
        world: what is played.
        network: who plays.
        algorithm: how it learns.
        auxiliary: what is predicted besides, see `agents.auxiliary.NAMES`; Alchemy only.
        auxiliary_weight: of those losses, relative to the weights in `agents.auxiliary`; 1 without any.
        environments, steps: of a rollout; in Alchemy an episode has 200 steps.
        teacher: who pulls the policy towards its own, see `agents.teacher`; Alchemy only.
        seconds, environment_steps: the budget: wall-clock time of training without compilation, or steps; one of them is given.
    """

    world: WorldConfig = field(default_factory=WorldConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    algorithm: AlgorithmConfig = field(default_factory=AlgorithmConfig)
    auxiliary: tuple[str, ...] = ()
    auxiliary_weight: float = 1.0
    environments: int = 64
    steps: int = 200
    seconds: float | None = 120.0
    environment_steps: int | None = None
    teacher: TeacherConfig | None = None

    def __post_init__(self) -> None:
        auxiliary.check(self.auxiliary)
        require(not self.auxiliary or self.world.name == "Alchemy-v0", "auxiliary", self.auxiliary, f"none on {self.world.name}")
        require(self.auxiliary_weight > 0, "auxiliary_weight", self.auxiliary_weight, "a positive number")
        require(
            self.auxiliary_weight == 1 or bool(self.auxiliary), "auxiliary_weight", self.auxiliary_weight, "1 without an auxiliary loss"
        )
        require(self.teacher is None or self.world.name == "Alchemy-v0", "teacher", "given", f"none on {self.world.name}")
        alone = self.teacher is not None and self.teacher.imitate
        require(not alone or not self.auxiliary, "auxiliary", self.auxiliary, "none with imitation alone")
        require_integer("environments", self.environments, 1)
        require_integer("steps", self.steps, 1)
        parts = self.algorithm.minibatches
        require(self.environments % parts == 0, "environments", self.environments, f"a multiple of minibatches = {parts}")
        require(
            (self.seconds is None) != (self.environment_steps is None), "seconds", self.seconds, "a budget in seconds or in steps, not both"
        )
        require(self.seconds is None or self.seconds > 0, "seconds", self.seconds, "a positive number")
        if self.environment_steps is not None:
            require_integer("environment_steps", self.environment_steps, 1)

    @property
    def batch(self) -> int:
        """Environment steps of one update."""
        return self.environments * self.steps


def to_json(config: TrainConfig) -> str:
    """A configuration as text."""
    return json.dumps({"version": VERSION, **dataclasses.asdict(config)}, indent=1) + "\n"


def from_json(text: str) -> TrainConfig:
    """The configuration that `to_json` wrote.

    Raises:
        InputError: another version, a field missing or unknown, or values that are refused.
    """
    try:
        given = json.loads(text)
        version = given.pop("version")
    except (ValueError, KeyError, AttributeError) as error:
        raise InputError("config", text[:60], "a configuration as jaxdiff writes it") from error
    require(version == VERSION or version in _BEFORE, "version", version, f"{VERSION}, that of this jaxdiff, or an earlier one")
    lacking, of_world = _BEFORE.get(version, ({}, {}))
    given |= lacking
    if isinstance(given.get("world"), dict):
        given["world"] |= of_world
    parts = {"world": WorldConfig, "network": NetworkConfig, "algorithm": AlgorithmConfig}
    if given.get("teacher") is not None:
        parts["teacher"] = TeacherConfig
    given = {name: _build(parts[name], value, name) if name in parts else _tuples(value) for name, value in given.items()}
    return _build(TrainConfig, given, "config")


def _build(cls: Any, values: Mapping[str, Any], where: str) -> Any:
    names = {f.name for f in dataclasses.fields(cls)}
    require(isinstance(values, Mapping), where, values, f"the fields {', '.join(sorted(names))}")
    for name in [*values, *names]:
        require(name in names and name in values, where, f"{'with' if name in values else 'without'} the field {name}", f"{sorted(names)}")
    return cls(**{name: _tuples(value) for name, value in values.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def difference(here: TrainConfig, there: TrainConfig) -> list[str]:
    """Which fields of two configurations differ, each as "field: this, not that"."""
    out = []
    for f in dataclasses.fields(here):
        a, b = getattr(here, f.name), getattr(there, f.name)
        if a == b:
            continue
        if dataclasses.is_dataclass(a) and type(a) is type(b):
            out += [
                f"{f.name}.{g.name}: {getattr(a, g.name)!r}, not {getattr(b, g.name)!r}"
                for g in dataclasses.fields(a)
                if getattr(a, g.name) != getattr(b, g.name)
            ]
        else:
            out.append(f"{f.name}: {a!r}, not {b!r}")
    return out
