"""Scenarios: who is in a session and who shares with whom; curves of reward over thousands of sessions, with bands (paper, 4 to 7).

Session i has the same environment in every scenario with the same seed, so scenarios can be compared in pairs, and its result depends
neither on the batch it runs in nor on how many others there are. Axes: S sessions, m agents, P windows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.society import bags, batches, graphs, sessions, tables, world
from jaxdiff.society.learners import LEARNERS, Rates
from jaxdiff.society.sessions import Design
from jaxdiff.society.world import Lambda, Params

Progress = batches.Progress
PAPER_DISTRIBUTION = graphs.Distribution()
SIX = ("oracle", "follower", "random", "q_learning", "sarsa", "qv")
THREE = ("q_learning", "sarsa", "qv")


@dataclass(frozen=True)
class Scenario:
    """A scenario; the name is for people.

    Attributes:
        name: what it is called.
        agents: kind of every agent, see `sessions.KINDS`.
        teams: seats of each team; everybody alone when None.
        mean: what the members of a team get from their bag.
        steps: length of a session.
    """

    name: str
    agents: tuple[str, ...]
    teams: tuple[tuple[int, ...], ...] | None = None
    mean: bags.Mean = "mean"
    steps: int = world.PAPER_STEPS

    def __post_init__(self) -> None:
        require(len(self.agents) >= 1, "agents", "an empty tuple", "at least one agent")
        for kind in self.agents:
            require(kind in sessions.KINDS, "agent", kind, f"one of {', '.join(sessions.KINDS)}")
        require_integer("steps", self.steps, 1)
        require(self.bag.agents == len(self.agents), "teams", self.teams, f"every agent from 0 to {len(self.agents) - 1} once")

    @property
    def bag(self) -> bags.Bag:
        """Who shares with whom."""
        return bags.alone(len(self.agents)) if self.teams is None else bags.Bag(self.teams, self.mean)


def isolated(kind: str, steps: int = world.PAPER_STEPS) -> Scenario:
    """One agent with Good and Evil (section 4)."""
    return Scenario(f"isolated {kind}", (kind,), steps=steps)


def competitive(agents: Sequence[str] = SIX, steps: int = world.PAPER_STEPS) -> Scenario:
    """Everybody for himself (section 5)."""
    return Scenario("competitive", tuple(agents), steps=steps)


def cooperative(agents: Sequence[str] = SIX, steps: int = world.PAPER_STEPS, mean: bags.Mean = "mean") -> Scenario:
    """All rewards in one bag (section 6)."""
    return Scenario("cooperative", tuple(agents), (tuple(range(len(agents))),), mean, steps)


def teams(members: Sequence[Sequence[str]], steps: int = world.PAPER_STEPS, mean: bags.Mean = "mean") -> Scenario:
    """A bag a team; teams compete (section 7).

    Args:
        members: kinds of each team's agents.
        steps: length of a session.
        mean: what a member gets from the bag.
    """
    seats, count = [], 0
    for team in members:
        seats.append(tuple(range(count, count + len(team))))
        count += len(team)
    return Scenario("teams", tuple(kind for team in members for kind in team), tuple(seats), mean, steps)


@dataclass(frozen=True)
class Curves:
    """What came of a scenario, on the host.

    Attributes:
        scenario: what was run.
        window: steps over which a point is averaged.
        own: what each agent ate, mean over each window, float32 [P, S, m].
        learnt: what each agent learnt from, the same shape; `own` where nobody shares.
        collisions: states that hashed tables had to give up, int32 [S].
        rows: rows of the tables, 0 where nobody learns; `hashed`: whether they are hashed.
        params: the environments, leading axis S.
    """

    scenario: Scenario
    window: int
    own: np.ndarray
    learnt: np.ndarray
    collisions: np.ndarray
    rows: int
    hashed: bool
    params: Params

    @property
    def steps(self) -> np.ndarray:
        """Steps taken at the end of each window, int [P]."""
        return self.window * np.arange(1, len(self.own) + 1)

    @property
    def score(self) -> np.ndarray:
        """The paper's score of every agent in every session: mean reward over the session, float64 [S, m]."""
        return self.own.mean(0, dtype=np.float64)

    def so_far(self, learnt: bool = False) -> np.ndarray:
        """Mean reward from the start to each point, float64 [P, S, m]: a session's score, had it ended there."""
        values = self.learnt if learnt else self.own
        return np.cumsum(values, 0, np.float64) / np.arange(1, len(values) + 1)[:, None, None]

    def teams(self, values: np.ndarray) -> np.ndarray:
        """Mean over the members of each team; values [..., m] -> [..., teams]."""
        return np.stack([values[..., list(team)].mean(-1) for team in self.scenario.bag.teams], axis=-1)

    def coarser(self, points: int) -> Curves:
        """The same with at most this many points, windows joined: as many to a point as divide their number, so that none is lost."""
        size = next(s for s in range(-(-len(self.own) // points), len(self.own) + 1) if len(self.own) % s == 0)

        def joined(x: np.ndarray) -> np.ndarray:
            return x.reshape(-1, size, *x.shape[1:]).mean(1, dtype=np.float64).astype(np.float32)

        own = joined(self.own)
        learnt = own if self.learnt is self.own else joined(self.learnt)
        return Curves(self.scenario, self.window * size, own, learnt, self.collisions, self.rows, self.hashed, self.params)


def band(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Mean over sessions and half the width of its normal confidence interval.

    Args:
        values: [..., S, m].
        level: of confidence.

    Returns:
        two arrays [..., m].
    """
    from scipy.stats import norm

    require(0 < level < 1, "level", level, "above 0 and below 1")
    count = values.shape[-2]
    half = float(norm.ppf(0.5 + level / 2)) * values.std(-2, ddof=1, dtype=np.float64) / np.sqrt(count) if count > 1 else None
    mean = values.mean(-2, dtype=np.float64)
    return mean, np.full(mean.shape, np.nan) if half is None else half


def run(
    scenario: Scenario,
    sessions_n: int = 1000,
    *,
    seed: int = 0,
    distribution: graphs.Distribution = PAPER_DISTRIBUTION,
    params: Params | None = None,
    rates: Rates | None = None,
    env: Lambda | None = None,
    window: int = 100,
    rows: int | None = None,
    ties: sessions.Ties = "random",
    others: sessions.Others = "told_apart",
    batch: int | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Curves:
    """Run many sessions of a scenario.

    Args:
        scenario: who is in it.
        sessions_n: S.
        seed: of everything random.
        distribution: of the environments, one a session.
        params: given environments instead, with a leading axis; session i gets number i modulo their number.
        rates: of the learners; leaves that broadcast to [S, m].
        env: a world with other rules; its agents, cells and steps are overridden.
        window: steps over which rewards are averaged; cut to the length of a session.
        rows: rows of hashed tables; chosen when None.
        ties, others: see `sessions.Design`.
        batch: B; as many as fit well in memory when None. Results do not depend on it.
        workers: batches at once; the number of cores when None on a CPU, otherwise 1.
        progress: called with (agent-steps done, in all) now and then.

    Raises:
        InputError: no sessions, steps that are no multiple of the window, rates outside their range or of another shape, bad environments,
            a hashed table that is too small.
    """
    require_integer("sessions_n", sessions_n, 1)
    require_integer("seed", seed, 0, 2**32 - 1)
    m = len(scenario.agents)
    shape = (sessions_n, distribution.range[1], distribution.range[1]) if params is None else np.shape(params.table)
    require(len(shape) == 3 and shape[0] > 0, "params", f"of shape {shape}", "a batch [S, N, A]")
    design = Design(
        dataclasses.replace(env or Lambda(), agents=m, cells=shape[1], steps=scenario.steps),
        # Single agents of all kinds share a compilation.
        (SIX,) if m == 1 and scenario.agents[0] in SIX else tuple((kind,) for kind in scenario.agents),
        scenario.bag,
        min(window, scenario.steps),
        scenario.steps,
        rows,
        ties,
        others,
    )
    layout = design.layout  # refuses tables that are too small before anything is drawn
    given = graphs.sample(batches.session_keys(seed, np.arange(sessions_n))["environment"], distribution) if params is None else params
    environments = _square(jax.tree.map(np.asarray, given))
    kind = np.broadcast_to(np.array([sessions.KINDS.index(k) for k in scenario.agents], np.int32), (sessions_n, m))
    out = batches.run(batches.Job(design, seed, environments, kind, rates or Rates()), batch, workers, progress)
    size, hashed = (layout.rows, layout.hashed) if layout is not None and set(scenario.agents) & set(LEARNERS) else (0, False)
    return Curves(scenario, design.window, out.own, out.learnt, out.collisions, size, hashed, environments)


def _square(environments: Params) -> Params:
    """With as many actions as cells, most of which may not exist: that is what learners' tables have room for."""
    cells, actions = environments.table.shape[1:]
    require(actions <= cells, "params", f"with {actions} actions and {cells} cells", "at most as many actions as cells")
    missing = ((0, 0), (0, 0), (0, cells - actions))
    return dataclasses.replace(environments, table=np.pad(environments.table, missing, constant_values=graphs.ABSENT))


def state_count(scenario: Scenario, cells: int = graphs.PAPER_CELLS) -> int:
    """States that a learner of this scenario may see."""
    return tables.states_of(cells, len(scenario.agents))
