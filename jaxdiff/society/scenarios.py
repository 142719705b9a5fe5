"""Scenarios: who is in a session and who shares with whom; thousands of sessions, and curves of reward with confidence bands (paper, 4 to 7).

`run` goes through the sessions batch by batch, several batches at once on the cores of a CPU, each in jitted chunks of steps with progress between
them. Session i has the same environment and the same start in every scenario with the same seed and number of agents, whatever the batch. Axes:
S sessions, m agents, P windows, B sessions of a batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.society import bags, graphs, sessions, tables, world
from jaxdiff.society.learners import Rates
from jaxdiff.society.sessions import Design, Inputs
from jaxdiff.society.world import Lambda, Params

Progress = Callable[[int, int], None]
PAPER_DISTRIBUTION = graphs.Distribution()
SIX = ("oracle", "follower", "random", "q_learning", "sarsa", "qv")
THREE = ("q_learning", "sarsa", "qv")
# Tables of the batches that run at once, and agent-steps of a jitted chunk (about a second).
_TABLE_BYTES = 3 * 2**30
_CHUNK_STEPS = 2_000_000


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
        """The same with at most this many points, windows joined."""
        size = -(-len(self.own) // points)
        keep = len(self.own) // size * size

        def joined(x: np.ndarray) -> np.ndarray:
            return x[:keep].reshape(-1, size, *x.shape[1:]).mean(1, dtype=np.float64).astype(np.float32)

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
    if params is not None:
        params = jax.tree.map(np.asarray, params)
        require(np.ndim(params.table) == 3 and len(params.table) > 0, "params", f"of shape {np.shape(params.table)}", "a batch [S, N, A]")
    cells = distribution.range[1] if params is None else params.table.shape[1]
    base = env or Lambda()
    env = Lambda(m, cells, scenario.steps, 1, base.order, base.sharing, base.avoid_agents, base.decay)
    design = Design(env, tuple((kind,) for kind in scenario.agents), scenario.bag, min(window, scenario.steps), scenario.steps, rows)
    return _Runner(design, scenario, sessions_n, seed, distribution, params, rates or Rates(), workers, batch, progress).run()


@dataclass(frozen=True)
class _Runner:
    design: Design
    scenario: Scenario
    sessions_n: int
    seed: int
    distribution: graphs.Distribution
    params: Params | None
    rates: Rates
    workers: int | None
    batch: int | None
    progress: Progress | None

    def run(self) -> Curves:
        layout, m = self.design.layout, len(self.scenario.agents)
        try:
            rates = self.rates.broadcast(self.sessions_n, m)
        except ValueError:
            shapes = [np.shape(x) for x in jax.tree.leaves(self.rates)]
            require(False, "rates", f"of shapes {shapes}", f"shapes that broadcast to {(self.sessions_n, m)}")
            raise
        workers = workers_for(self.workers)
        batch = self.batch or batch_for(self.sessions_n, layout.bytes if layout else 0, workers)
        require_integer("batch", batch, 1)
        own = np.empty((self.design.steps // self.design.window, self.sessions_n, m), np.float32)
        learnt = own if all(len(t) == 1 for t in self.scenario.bag.teams) else np.empty_like(own)
        collisions = np.zeros(self.sessions_n, np.int32)
        environments: dict[int, Params] = {}
        total, lock, done = self.sessions_n * m * self.design.steps, Lock(), [0]

        def report(steps: int) -> None:
            with lock:
                done[0] = min(total, done[0] + steps)
                if self.progress is not None:
                    self.progress(done[0], total)

        def one(start: int) -> None:
            # The last batch is filled up with repetitions, so that it shares the compilation.
            mine = np.minimum(np.arange(start, start + batch), self.sessions_n - 1)
            real = min(batch, self.sessions_n - start)
            here = slice(start, start + real)
            params, sums, lost = self._batch(mine, jax.tree.map(lambda x: x[mine], rates), lambda steps: report(steps * real * m))
            environments[start] = jax.tree.map(lambda x: np.asarray(x)[:real], params)
            own[:, here] = sums[:, 0, :real] / self.design.window
            if learnt is not own:
                learnt[:, here] = sums[:, 1, :real] / self.design.window
            collisions[here] = lost[:real]

        starts = range(0, self.sessions_n, batch)
        with ThreadPoolExecutor(min(workers, len(starts))) as pool:
            list(pool.map(one, starts))
        params = jax.tree.map(lambda *x: np.concatenate(x), *(environments[s] for s in starts))
        rows, hashed = (layout.rows, layout.hashed) if layout else (0, False)
        return Curves(self.scenario, self.design.window, own, learnt, collisions, rows, hashed, params)

    def _batch(self, numbers: np.ndarray, rates: Rates, report: Callable[[int], None]) -> tuple[Params, np.ndarray, np.ndarray]:
        """Sessions with these numbers from beginning to end: environments, sums [P, 2, B, m], collisions [B]."""
        m = len(self.scenario.agents)
        keys = session_keys(self.seed, numbers)
        params = self.params
        params = graphs.sample(keys["environment"], self.distribution) if params is None else _numbered(params, numbers)
        params = jax.tree.map(jnp.asarray, params)
        kind = np.broadcast_to(np.array([sessions.KINDS.index(k) for k in self.scenario.agents], np.int32), (len(numbers), m))
        inputs = Inputs(
            params,
            jnp.asarray(kind),
            jax.tree.map(jnp.asarray, rates),
            jnp.zeros((len(numbers), m, 1), jnp.int8),
            jnp.ones((len(numbers), m), jnp.int32),
            keys["steps"],
        )
        running = sessions.begin(self.design, keys["start"], inputs)
        windows = self.design.steps // self.design.window
        chunk = chunk_for(windows, self.design.window * len(numbers) * m)
        sums = []
        for first in range(0, windows, chunk):
            running, some = sessions.advance(self.design, chunk, running, inputs, jnp.int32(first))
            sums.append(np.asarray(some))
            report(chunk * self.design.window)
        return params, np.concatenate(sums), np.asarray(running.tables.collisions)


def session_keys(seed: int, numbers: np.ndarray) -> dict[str, jax.Array]:
    """Keys [B] of the environment, the start and the steps of sessions with these numbers."""
    return _session_keys(jax.random.key(seed), jnp.asarray(numbers, jnp.uint32))


@jax.jit
def _session_keys(key: jax.Array, numbers: jax.Array) -> dict[str, jax.Array]:
    split = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number), 3))(numbers)
    return {"environment": split[:, 0], "start": split[:, 1], "steps": split[:, 2]}


def _numbered(params: Params, numbers: np.ndarray) -> Params:
    count = len(params.table)
    return jax.tree.map(lambda x: x[numbers % count], params)


def workers_for(workers: int | None) -> int:
    """How many batches run at once."""
    if workers is not None:
        require_integer("workers", workers, 1)
        return workers
    return (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1


def batch_for(count: int, table_bytes: int, workers: int) -> int:
    """Sessions in a batch: enough to make operations long, few enough for the caches and for memory, the same number in every batch."""
    most = max(1, _TABLE_BYTES // (max(table_bytes, 1) * workers))
    wanted = min(most, 256 if jax.default_backend() == "cpu" else 8192)
    batches = -(-count // wanted)
    batches = -(-batches // workers) * workers if count >= workers else batches
    return -(-count // batches)


def chunk_for(windows: int, steps: int) -> int:
    """Windows in a chunk: about a second's work, and a divisor of their number, so that there is one compilation."""
    wanted = max(1, _CHUNK_STEPS // steps)
    return max(d for d in range(1, windows + 1) if windows % d == 0 and d <= wanted)


def state_count(scenario: Scenario, cells: int = graphs.PAPER_CELLS) -> int:
    """States that a learner of this scenario may see."""
    return tables.states_of(cells, len(scenario.agents))
