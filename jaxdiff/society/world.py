"""Lambda-v0: a labelled graph on which agents follow Good's wake of rewards and shun Evil's (paper, section 3).

Order of a step: everybody chooses on the positions at its start; agents move at once; Good and Evil read the next element of their shared
pattern and move unless their target holds an agent; all rewards are halved; Good writes +1 and Evil -1 into their cells, overwriting; a
cell with m agents pays its reward / m to each and becomes 0. Whatever the paper leaves open is a field of `Lambda`. Environments are
data: graphs of any size up to the padded one share a compilation. Axes: m agents, N cells, A actions, L pattern elements, B environments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.core.spaces import MultiDiscrete
from jaxdiff.society import graphs
from jaxdiff.society.graphs import ABSENT, NO_EFFECT, PAPER_CELLS

PAPER_STEPS = 10_000
MOST_AGENTS = 64
Order = Literal["write_first", "eat_first"]
Sharing = Literal["divide", "full"]


@partial(jax.tree_util.register_dataclass, data_fields=["table", "cells_n", "actions_n", "pattern", "pattern_n"], meta_fields=[])
@dataclass(frozen=True)
class Params:
    """One environment, or a batch of them with a leading axis. NumPy leaves are checked, JAX arrays are taken as they are.

    Attributes:
        table: target of every action in every cell, int8 [N, A]; -1 has no effect, -2 does not exist.
        cells_n: number of cells that exist, int32 [].
        actions_n: number of actions that exist, int32 [].
        pattern: actions of Good and Evil, int8 [L], padded with -1.
        pattern_n: its length, int32 [].
    """

    table: Any
    cells_n: Any
    actions_n: Any
    pattern: Any
    pattern_n: Any

    def __post_init__(self) -> None:
        leaves = (self.table, self.cells_n, self.actions_n, self.pattern, self.pattern_n)
        if all(isinstance(x, np.ndarray | np.integer | int) for x in leaves):
            check(self)


def params(table: Any, pattern: Any) -> Params:
    """One environment from its plain arrays.

    Args:
        table: targets, int [n_c, n_a]; -1 has no effect.
        pattern: actions of Good and Evil, int [at least 1].

    Raises:
        InputError: a target outside the graph, a graph that is not strongly connected, fewer than two cells, a pattern with an action that
            does not exist.
    """
    table = as_array("table", table, "integers [cells, actions]", np.int64)
    pattern = as_array("pattern", pattern, "a list of actions", np.int64)
    require(table.ndim == 2 and table.size > 0, "table", f"an array of shape {table.shape}", "integers [cells, actions]")
    require(pattern.ndim == 1 and pattern.size > 0, "pattern", f"an array of shape {pattern.shape}", "at least one action")
    cells, actions = table.shape
    require_integer("cells", cells, 2, graphs.MOST_CELLS)
    _check_entries(table[None], np.array([cells]), np.array([actions]))
    _check_pattern(pattern[None], np.array([pattern.size]), np.array([actions]))
    return Params(table.astype(np.int8), np.int32(cells), np.int32(actions), pattern.astype(np.int8), np.int32(pattern.size))


def check(environments: Params) -> None:
    """Refuse environments that are not of the class.

    Raises:
        InputError: as for `params`; also shapes that do not fit together.
    """
    table, pattern = np.asarray(environments.table), np.asarray(environments.pattern)
    require(table.ndim in (2, 3), "table", f"an array of shape {table.shape}", "[N, A], or [B, N, A]")
    batch = table.shape[:-2]
    counts = [np.asarray(x) for x in (environments.cells_n, environments.actions_n, environments.pattern_n)]
    good = pattern.ndim == len(batch) + 1 and pattern.shape[:-1] == batch and all(c.shape == batch for c in counts)
    require(good, "params", f"of shapes {table.shape}, {pattern.shape}, {[c.shape for c in counts]}", "one batch axis for all, or none")
    table, pattern = table.reshape(-1, *table.shape[-2:]), pattern.reshape(-1, pattern.shape[-1])
    cells, actions, length = (np.reshape(c, -1) for c in counts)
    for name, value, low, high in (
        ("cells", cells, 2, table.shape[1]),
        ("actions", actions, 1, table.shape[2]),
        ("pattern length", length, 1, pattern.shape[1]),
    ):
        wrong = value[(value < low) | (value > high)]
        require(wrong.size == 0, name, int(wrong[0]) if wrong.size else None, f"an integer from {low} to {high}")
    _check_entries(table, cells, actions)
    _check_pattern(pattern, length, actions)


def _check_entries(table: np.ndarray, cells: np.ndarray, actions: np.ndarray) -> None:
    exists = (np.arange(table.shape[1]) < cells[:, None])[:, :, None] & (np.arange(table.shape[2]) < actions[:, None])[:, None, :]
    wrong = table[exists & ((table < NO_EFFECT) | (table >= cells[:, None, None]))]
    require(wrong.size == 0, "table", int(wrong[0]) if wrong.size else None, "targets that are cells of the graph, or -1 for no effect")
    connected = graphs.strongly_connected(np.where(exists, table, ABSENT), cells)
    place = int(np.argmin(connected)) if len(connected) > 1 else 0
    require(
        bool(connected.all()),
        "table",
        f"not strongly connected (environment {place})",
        "a graph where every cell is reachable from every other",
    )


def _check_pattern(pattern: np.ndarray, length: np.ndarray, actions: np.ndarray) -> None:
    inside = np.arange(pattern.shape[1]) < length[:, None]
    wrong = pattern[inside & ((pattern < 0) | (pattern >= actions[:, None]))]
    require(wrong.size == 0, "pattern", int(wrong[0]) if wrong.size else None, "actions that exist")


@partial(jax.tree_util.register_dataclass, data_fields=["cell_reward", "good", "evil", "agents", "time"], meta_fields=[])
@dataclass(frozen=True)
class State:
    """State of a session.

    Attributes:
        cell_reward: reward lying in every cell, float32 [N].
        good: Good's cell, int32 [].
        evil: Evil's cell, int32 [].
        agents: the agents' cells, int32 [m].
        time: steps taken, int32 []; the pattern's next element is this modulo its length.
    """

    cell_reward: jax.Array
    good: jax.Array
    evil: jax.Array
    agents: jax.Array
    time: jax.Array


@dataclass(frozen=True)
class Rules:
    """What a step does where the paper leaves it open; see the fields of `Lambda` of the same names."""

    order: Order = "write_first"
    sharing: Sharing = "divide"
    avoid_agents: bool = True
    decay: float = 0.5


PAPER_RULES = Rules()


class Moved(NamedTuple):
    """Where everybody is after a move, and what the cells hold before anybody eats."""

    good: jax.Array
    evil: jax.Array
    cell_reward: jax.Array


def good_and_evil(
    table: jax.Array, element: jax.Array, good: jax.Array, evil: jax.Array, agents: jax.Array, coin: jax.Array, rules: Rules = PAPER_RULES
) -> tuple[jax.Array, jax.Array]:
    """Cells of Good and Evil after one step of their pattern.

    Args:
        table: targets [N, A].
        element: the pattern's element, int [].
        good, evil: their cells, int32 [].
        agents: the agents' cells at the start of the step, int32 [m].
        coin: 0: Good gets a cell that both aim for; int [].
        rules: whether they avoid agents.
    """
    aims = []
    for cell in (good, evil):
        target = table[cell, element].astype(good.dtype)
        barred = target < 0
        if rules.avoid_agents:
            barred = barred | jnp.any(agents == target)
        aims.append(jnp.where(barred, cell, target))  # an agent in their own cell changes nothing: there they stay
    conflict = aims[0] == aims[1]
    # Who already stands in the cell keeps it.
    good_gets = (aims[0] == good) | ((aims[1] != evil) & (coin == 0))
    return jnp.where(conflict & ~good_gets, good, aims[0]), jnp.where(conflict & good_gets, evil, aims[1])


def write(cell_reward: jax.Array, good: jax.Array, evil: jax.Array, rules: Rules = PAPER_RULES) -> jax.Array:
    """Rewards after fading, with Good's and Evil's new ones in their cells, [N]."""
    cells = jnp.arange(cell_reward.shape[-1], dtype=good.dtype)
    one = jnp.ones((), cell_reward.dtype)
    faded = cell_reward * jnp.asarray(rules.decay, cell_reward.dtype)
    return jnp.where(cells == good, one, jnp.where(cells == evil, -one, faded))


def eat(cell_reward: jax.Array, agents: jax.Array, rules: Rules = PAPER_RULES) -> tuple[jax.Array, jax.Array]:
    """Rewards left in the cells [N], and what every agent gets [m]."""
    cells = jnp.arange(cell_reward.shape[-1], dtype=agents.dtype)
    got = cell_reward[agents]
    if rules.sharing == "divide":
        here = jnp.sum(agents[:, None] == agents, axis=-1, dtype=jnp.int32)
        got = got / here.astype(got.dtype)
    eaten = jnp.any(cells[:, None] == agents, axis=-1)
    return jnp.where(eaten, jnp.zeros((), cell_reward.dtype), cell_reward), got


def transition(
    table: jax.Array, element: jax.Array, state: State, actions: jax.Array, coin: jax.Array, rules: Rules = PAPER_RULES
) -> tuple[State, jax.Array]:
    """One step with every random input given: the state after it and the rewards [m].

    Args:
        table: targets [N, A].
        element: the pattern's element for this step, int [].
        state: state before.
        actions: of the agents, int [m].
        coin: 0: Good gets a cell that both aim for; int [].
        rules: what the paper leaves open.
    """
    target = table[state.agents, actions].astype(state.agents.dtype)
    agents = jnp.where(target < 0, state.agents, target)
    good, evil = good_and_evil(table, element, state.good, state.evil, state.agents, coin, rules)
    if rules.order == "write_first":
        left, rewards = eat(write(state.cell_reward, good, evil, rules), agents, rules)
    else:
        left, rewards = eat(state.cell_reward, agents, rules)
        left = write(left, good, evil, rules)
    return State(left, good, evil, agents, state.time + 1), rewards


def step_exact(
    table: Any, pattern: Any, phase: Any, cell_reward: Any, good: Any, evil: Any, agents: Any, actions: Any, coin: Any
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
    """One step of the paper's world with every random input given. Rewards have the dtype of `cell_reward` if that is a float.

    Args:
        table: targets, int [n_c, n_a]; -1 has no effect.
        pattern: actions of Good and Evil, int [L].
        phase: steps taken so far; taken modulo L.
        cell_reward: [n_c].
        good, evil: their cells.
        agents: the agents' cells, int [m].
        actions: int [m].
        coin: 0: Good gets a cell that both aim for.

    Returns:
        cell_reward [n_c], good [], evil [], agents [m], rewards [m].
    """
    given = (table, pattern, phase, cell_reward, good, evil, agents, actions, coin)
    xp: Any = jnp if any(isinstance(x, Tracer) for x in given) else np
    table, pattern, lying = xp.asarray(table), xp.asarray(pattern), xp.asarray(cell_reward)
    lying = lying if jnp.issubdtype(lying.dtype, jnp.floating) else lying.astype(np.float32)
    element = pattern[xp.asarray(phase) % pattern.shape[0]].astype(np.int32)
    integers = (xp.asarray(x).astype(np.int32) for x in (good, evil, agents, actions, coin))
    # Graphs of any size up to a multiple of 16 share a compilation.
    cells, width = table.shape
    table = xp.pad(table.astype(np.int32), ((0, -cells % 16), (0, -width % 16)), constant_values=ABSENT)
    lying = xp.pad(lying, (0, -cells % 16))
    after, rewards = _transition_of(table, element, lying, *integers)
    return after.cell_reward[:cells], after.good, after.evil, after.agents, rewards


@jax.jit
def _transition_of(
    table: jax.Array,
    element: jax.Array,
    lying: jax.Array,
    good: jax.Array,
    evil: jax.Array,
    agents: jax.Array,
    actions: jax.Array,
    coin: jax.Array,
) -> tuple[State, jax.Array]:
    state = State(lying, good, evil, agents, jnp.zeros((), jnp.int32))
    return transition(table, element, state, actions, coin, PAPER_RULES)


@dataclass(frozen=True)
class Lambda(Environment[State, Params]):
    """Agents on a labelled graph with Good and Evil (class Lambda).

    The multi-agent protocol is the single-agent one with a leading agent axis: observations [m, ...], actions and rewards [m]. A session
    ends for all agents at once, so `terminated` and `truncated` have no such axis.

    Attributes:
        agents: m.
        cells: N, the most cells of an environment.
        steps: length of a session; its end is a truncation.
        longest_pattern: L.
        order: "write_first": Good and Evil write before agents eat; "eat_first": after.
        sharing: "divide": a reward is divided among the agents in the cell; "full": each gets all of it.
        avoid_agents: whether Good and Evil do not step into a cell that holds an agent.
        decay: what an uneaten reward is multiplied by in each step.
    """

    agents: int = 1
    cells: int = PAPER_CELLS
    steps: int = PAPER_STEPS
    longest_pattern: int = 1024
    order: Order = "write_first"
    sharing: Sharing = "divide"
    avoid_agents: bool = True
    decay: float = 0.5

    def __post_init__(self) -> None:
        require_integer("agents", self.agents, 1, MOST_AGENTS)
        require_integer("cells", self.cells, 2, graphs.MOST_CELLS)
        require_integer("steps", self.steps, 1, 2**31 - 2)
        require_integer("longest_pattern", self.longest_pattern, 1, 2**15)
        require(self.order in ("write_first", "eat_first"), "order", self.order, "write_first or eat_first")
        require(self.sharing in ("divide", "full"), "sharing", self.sharing, "divide or full")
        require(isinstance(self.decay, int | float) and 0 <= self.decay <= 1, "decay", self.decay, "a number from 0 to 1")

    @property
    def name(self) -> str:
        """Registered name."""
        return "Lambda-v0"

    @property
    def rules(self) -> Rules:
        """The switches of a step."""
        return Rules(self.order, self.sharing, self.avoid_agents, self.decay)

    @property
    def default_params(self) -> Params:
        """An environment of this size from the paper's distribution, the same every time."""
        distribution = graphs.Distribution(cells=self.cells, longest_pattern=self.longest_pattern)
        return jax.jit(graphs.sample_one, static_argnums=1)(jax.random.key(0), distribution)

    def observation_space(self, params: Params) -> MultiDiscrete:
        """Of one agent: cells, see `observation_entries`."""
        return MultiDiscrete((self.cells,) * (self.agents + 2), "int32")

    def action_space(self, params: Params) -> MultiDiscrete:
        """Of all agents. An action that the environment does not have is taken as one without effect."""
        return MultiDiscrete((int(np.shape(params.table)[-1]),) * self.agents, "int32")

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """What one agent sees, in order: the contents of all cells, as the place of everything there is."""
        others = tuple(f"cell of the agent {k} seats after it" for k in range(1, self.agents))
        return ("cell of Good", "cell of Evil", "its own cell", *others)

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """Everybody in a random cell, Good and Evil in different ones; no rewards yet. The key is consumed."""
        require(np.shape(params.table)[-2] == self.cells, "cells", np.shape(params.table)[-2], f"{self.cells}, as the environment has")
        cells = jnp.asarray(params.cells_n).astype(jnp.int32)
        # One call of the generator for everybody; Evil's number counts the cells after Good's.
        u = jax.random.uniform(key, (self.agents + 2,), jnp.float32)
        choices = jnp.full((self.agents + 2,), cells).at[1].add(-1)
        drawn = jnp.minimum((u * choices.astype(jnp.float32)).astype(jnp.int32), choices - 1)
        good, agents = drawn[0], drawn[2:]
        evil = (good + 1 + drawn[1]) % cells
        state = State(jnp.zeros((self.cells,), jnp.float32), good, evil, agents, jnp.zeros((), jnp.int32))
        return self._observe(state), state

    def start(self, params: Params, good: int, evil: int, agents: Any) -> tuple[jax.Array, State]:
        """A session whose start is given, outside jit.

        Args:
            params: the environment.
            good, evil: their cells.
            agents: the agents' cells, [m].

        Raises:
            InputError: a cell that does not exist, Good and Evil in one cell, another number of agents.
        """
        cells = int(params.cells_n)
        places = as_array("agents", agents, "a list of cells", np.int32)
        require(places.shape == (self.agents,), "agents", f"of shape {places.shape}", f"{self.agents} cells")
        for name, cell in (("good", good), ("evil", evil), *(("agents", int(c)) for c in places)):
            require_integer(name, cell, 0, cells - 1)
        require(good != evil, "evil", evil, "another cell than Good's")
        zero = jnp.zeros((), jnp.int32)
        state = State(jnp.zeros((self.cells,), jnp.float32), zero + good, zero + evil, jnp.asarray(places), zero)
        return self._observe(state), state

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One step.

        Args:
            key: decides who gets a cell that both Good and Evil aim for; consumed.
            state: state before.
            action: int [m].
            params: the environment.

        Returns:
            obs int32 [m, 2 + m]; state; rewards float32 [m] in [-1, 1]; terminated (never); truncated (after `steps`); info, empty.
        """
        coin = jax.random.bernoulli(key).astype(jnp.int32)
        element = jnp.asarray(params.pattern)[state.time % params.pattern_n].astype(jnp.int32)
        new, rewards = transition(jnp.asarray(params.table), element, state, action, coin, self.rules)
        return self._observe(new), new, rewards, jnp.zeros((), jnp.bool_), new.time >= self.steps, {}

    def render(self, state: State, params: Params, pixels: int = 36) -> np.ndarray:
        """The graph on a circle; see `society.picture.draw`. uint8 [height, width, 3]."""
        from jaxdiff.society import picture

        return picture.draw(state, params, pixels)

    def _observe(self, state: State) -> jax.Array:
        seats = jnp.arange(self.agents, dtype=jnp.int32)
        others = state.agents[(seats[:, None] + seats) % self.agents]
        both = jnp.broadcast_to(jnp.stack([state.good, state.evil]), (self.agents, 2))
        return jnp.concatenate([both, others], axis=1)
