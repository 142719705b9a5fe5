"""Do measures of difficulty predict how long learners take? Worlds with known knobs, and how many steps two learners need in them.

Sample complexity is the steps of experience until the mean of the last `WINDOW` returns of training reaches the middle between random
actions and the best policy: the best there is where that is known, otherwise the best that any learner has reached. Runs that never do
are censored at what they were given. Axes: S seeds, N steps of experience.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import numpy as np

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.registry import make
from jaxdiff.core.seat import OneSeat
from jaxdiff.core.spaces import Box
from jaxdiff.studies.knob_wrappers import Harder, TableAlchemy
from jaxdiff.studies.knobs import Knobs, Timeless
from jaxdiff.studies.tabular import Edges, Rows, q_learning

Learner = Literal["q_learning", "ppo"]
LEARNERS: tuple[Learner, ...] = ("q_learning", "ppo")
WINDOW = 20
LONG = 100  # episodes whose mean says what a learner has reached
CLEAR = 5.0  # standard errors of a window's mean by which a target must lie above random actions


@dataclass(frozen=True)
class Case:
    """A world.

    Attributes:
        name: unique.
        family: worlds that are alike.
        env, params: the world.
        steps: of an episode at most.
        best: the highest mean return of any policy, where it is known.
        edges: of real observations, between the intervals that a table tells apart.
    """

    name: str
    family: str
    env: Environment[Any, Any]
    params: Any
    steps: int
    best: float | None = None
    edges: Edges | None = None


def cases(classics: bool = True) -> tuple[list[Case], dict[str, list[str]]]:
    """The worlds, and knobs: names of worlds that differ in one thing alone, and should be ever harder.

    Args:
        classics: whether gymnax's are among them.

    Raises:
        InputError: gymnax is not installed.
    """
    made: dict[str, Case] = {}
    knobs: dict[str, list[str]] = {}
    for shape, size, sizes in (("chain", 6, (3, 6, 9, 12)), ("grid", 4, (3, 4, 6, 8))):
        plain = Knobs(shape, size)

        def one(env: Knobs, slip: float = 0.0, shape: str = shape) -> str:
            name = env.name + f", actions slip {slip:g}" * (slip > 0)
            made[name] = Case(name, shape, env, np.float32(slip), env.horizon, env.best_return(slip))
            return name

        knobs[f"{shape}: size"] = [one(replace(plain, size=n)) for n in sizes]
        knobs[f"{shape}: noise"] = [one(plain, slip) for slip in (0.0, 0.2, 0.4)]
        knobs[f"{shape}: delay"] = [one(replace(plain, delay=d)) for d in (0, 4, 8)]
        knobs[f"{shape}: irrelevant features"] = [one(replace(plain, irrelevant=k)) for k in (0, 2, 4)]
        knobs[f"{shape}: sparsity"] = [one(replace(plain, dense=dense)) for dense in (True, False)]
        knobs[f"{shape}: shortness"] = [one(replace(plain, horizon=h)) for h in (60, 30, 15)]
    for rule in (184, 110, 122, 164):
        env, params = make("SAECA-v0", width=21, steps=60)
        made[f"SAECA rule {rule}"] = Case(f"SAECA rule {rule}", "SAECA", env, dataclasses.replace(params, rule=np.uint8(rule)), 60)
    for agents in (1, 2, 3):
        env, params = make("Lambda-v0", agents=agents, cells=5, steps=60)
        made[f"Lambda, {agents} agents"] = Case(f"Lambda, {agents} agents", "Lambda", OneSeat(env), params, 60)
    knobs["Lambda: agents"] = [f"Lambda, {agents} agents" for agents in (1, 2, 3)]
    for preconditions in range(4):
        env = TableAlchemy(preconditions)
        made[env.name] = Case(env.name, "Alchemy", env, env.default_params, env.steps)
    knobs["Alchemy: preconditions"] = [TableAlchemy(n).name for n in range(4)]
    if classics:
        _classics(made, knobs)
    return list(made.values()), knobs


def _classics(made: dict[str, Case], knobs: dict[str, list[str]]) -> None:
    """CartPole of at most 200 steps and MountainCar, both gymnax's, with knobs around them."""
    from jaxdiff.core.adapters.optional import needed

    gymnax = needed("gymnax", "gymnax")
    from jaxdiff.core.adapters.gymnax import from_gymnax

    cart = ((0.0,), (-0.5, 0.5), (-0.1, -0.05, 0.0, 0.05, 0.1), (-1.0, -0.3, 0.0, 0.3, 1.0))
    car = (tuple(np.linspace(-1.1, 0.4, 9).tolist()), tuple(np.linspace(-0.05, 0.05, 7).tolist()))

    def one(title: str, edges: Edges, longest: int, hold: int = 1, irrelevant: int = 0, slip: float = 0.0) -> str:
        env, params = from_gymnax(*gymnax.make(title))
        wrapped = Harder(env, hold, irrelevant)
        params = dataclasses.replace(params, max_steps_in_episode=np.int32(longest))
        name = f"{wrapped.name}, {longest} steps" + f", actions slip {slip:g}" * (slip > 0)
        best = float(longest) if title.startswith("CartPole") and slip == 0 else None
        made[name] = Case(name, title.partition("-")[0], wrapped, (params, np.float32(slip)), longest, best, edges + ((0.0,),) * irrelevant)
        return name

    knobs["CartPole: noise"] = [one("CartPole-v1", cart, 200, slip=slip) for slip in (0.0, 0.3, 0.6)]
    knobs["CartPole: delay"] = [one("CartPole-v1", cart, 200, hold=hold) for hold in (1, 20, 200)]
    knobs["CartPole: irrelevant features"] = [one("CartPole-v1", cart, 200, irrelevant=k) for k in (0, 2, 4)]
    knobs["MountainCar: noise"] = [one("MountainCar-v0", car, 500, slip=slip) for slip in (0.0, 0.4)]
    knobs["MountainCar: shortness"] = [one("MountainCar-v0", car, longest) for longest in (1000, 500, 200)]


def without_clock(case: Case) -> tuple[Timeless, np.float32] | None:
    """A world whose table of transitions has the same returns, where there is a small one: chains and grids in which nothing slips.

    Irrelevant features are left out: sequences of actions get the same with and without them.
    """
    if not isinstance(case.env, Knobs) or float(case.params) > 0:
        return None
    fields = {f.name: getattr(case.env, f.name) for f in dataclasses.fields(case.env)}
    return Timeless(**{**fields, "irrelevant": 0}), np.float32(0)


def learn(case: Case, learner: Learner, key: jax.Array, *, seeds: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Train a learner, all seeds in one program.

    Args:
        case: the world.
        learner: "q_learning" (`studies.tabular`) or "ppo" (`studies.small_ppo`).
        key: PRNG key; consumed.
        seeds: S.
        steps: N, of each seed; of PPO as many whole rollouts as they hold.

    Returns:
        returns of the episodes of training, in order, float32 [episodes], and the step at which each ended, with its seed, int64
        [episodes, 2].

    Raises:
        InputError: an unknown learner, no seeds or steps, real actions, real observations without edges.
    """
    from jaxdiff.studies import small_ppo

    require(learner in LEARNERS, "learner", learner, f"one of {', '.join(LEARNERS)}")
    require_integer("seeds", seeds, 1)
    require_integer("steps", steps, small_ppo.BATCH)
    if isinstance(case.env.action_space(case.params), Box):
        raise InputError("world", case.name, "one with integer actions")
    if learner == "q_learning":
        rows = Rows(case.env.observation_space(case.params), case.edges)
        out = q_learning(case.env, rows, case.params, key, seeds, steps)
    else:
        out = small_ppo.learn(case.env, case.params, key, seeds, steps // small_ppo.BATCH)
    scores, ended = map(np.asarray, out)
    place = np.argwhere(ended)
    return scores[ended], place[:, ::-1] + np.array([1, 0])


@dataclass(frozen=True)
class Training:
    """What a learner got: `returns` float32 [episodes], `places` int64 [episodes, 2] (step, seed), as `learn` gives them, and S, N."""

    returns: np.ndarray
    places: np.ndarray
    seeds: int
    steps: int

    def smoothed(self, seed: int, window: int) -> tuple[np.ndarray, np.ndarray]:
        """Means of the last `window` returns of a seed, and the steps of experience until then, both [episodes - window + 1]."""
        mine = self.places[:, 1] == seed
        total = np.cumsum(np.r_[0.0, self.returns[mine].astype(np.float64)])
        return (total[window:] - total[:-window]) / window, self.places[mine, 0][window - 1 :]

    @property
    def reached(self) -> float:
        """The highest mean of `LONG` returns that any seed has had; NaN where none has so many."""
        best = [means.max() for seed in range(self.seeds) if (means := self.smoothed(seed, LONG)[0]).size]
        return max(best, default=float("nan"))


def target(trainings: Mapping[str, Training], random: np.ndarray, best: float | None = None) -> float:
    """The return that counts as learned; infinite where nobody got clearly above random actions.

    Args:
        trainings: of all learners.
        random: returns of random actions [any].
        best: the highest mean return of any policy, where it is known.
    """
    top = best if best is not None else np.nanmax([t.reached for t in trainings.values()] + [-np.inf])
    middle = (float(random.mean()) + float(top)) / 2
    clear = float(random.mean()) + CLEAR * float(random.std()) / WINDOW**0.5
    return middle if middle > clear or (best is not None and best > random.mean()) else float("inf")


def sample_complexity(training: Training, goal: float) -> tuple[np.ndarray, np.ndarray]:
    """Steps of experience until the smoothed return reaches a goal, and which runs never do (censored at all they were given).

    Returns:
        int64 [S], bool [S].
    """
    spent, censored = np.full(training.seeds, training.steps, np.int64), np.ones(training.seeds, bool)
    for seed in range(training.seeds):
        means, places = training.smoothed(seed, WINDOW)
        there = np.flatnonzero(means >= goal)
        if there.size:
            spent[seed], censored[seed] = places[there[0]], False
    return spent, censored
