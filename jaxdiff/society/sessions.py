"""Many sessions at once: world, agents and learners in one scan, tables in its carry.

One step: learners read the row of the state they see, all agents choose, and only now, knowing what is done next (as SARSA wants it),
learners learn from the step before, whose row is written in place; then the world moves. A session's randomness comes from its own key by
counting, so its result does not depend on which others run beside it, nor on chunks. Axes: B sessions, m agents (seats), l of them seats
that may learn, A actions, N cells, W values of a session's learners in a state, V tables of a session, K steps of a window.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.society import agents, bags, tables, world
from jaxdiff.society.agents import FIXED
from jaxdiff.society.learners import ALGORITHMS, LEARNERS, Rates
from jaxdiff.society.tables import Layout, Tables
from jaxdiff.society.world import Lambda, Params, State

KINDS = FIXED + LEARNERS
Ties = Literal["random", "first"]
Others = Literal["told_apart", "alike"]


@dataclass(frozen=True)
class Design:
    """What sessions are compiled for; hashes by value.

    Attributes:
        env: the world; its number of agents is m, its `steps` are not used.
        seats: which kinds of agent each seat may have, one tuple a seat.
        bag: how rewards are shared out before agents learn from them.
        window: K, steps over which rewards are summed.
        steps: length of a session, which decides the size of hashed tables.
        rows: rows of a hashed table; chosen when None.
        ties: which of several best actions a learner takes: a "random" one, or the "first" (staying, where that is an action).
        others: whether a learner's state says which of the others is where ("told_apart": all learners of a session then see the same
            state), or only where they are ("alike": every learner has a state, and a table, of its own).
    """

    env: Lambda
    seats: tuple[tuple[str, ...], ...]
    bag: bags.Bag
    window: int
    steps: int
    rows: int | None = None
    ties: Ties = "random"
    others: Others = "told_apart"

    def __post_init__(self) -> None:
        require(len(self.seats) == self.env.agents, "agents", len(self.seats), f"{self.env.agents}, as the world has")
        for kind in (kind for seat in self.seats for kind in seat):
            require(kind in KINDS, "agent", kind, f"one of {', '.join(KINDS)}")
        require(self.ties in ("random", "first"), "ties", self.ties, "random or first")
        require(self.others in ("told_apart", "alike"), "others", self.others, "told_apart or alike")
        require_integer("window", self.window, 1)
        require_integer("steps", self.steps, self.window)
        require(self.steps % self.window == 0, "steps", self.steps, f"a multiple of the window, {self.window}")

    @property
    def learning(self) -> tuple[int, ...]:
        """Seats that may hold a learner."""
        return tuple(i for i, seat in enumerate(self.seats) if set(seat) & set(LEARNERS))

    def holding(self, kind: str) -> tuple[int, ...]:
        """Seats that may hold this kind."""
        return tuple(i for i, seat in enumerate(self.seats) if kind in seat)

    @property
    def values(self) -> int:
        """Values of one learner in a row: Q, and V where somebody may use QV."""
        return self.env.cells + bool(self.holding("qv"))

    @property
    def views(self) -> int:
        """How many states, and tables, a session has: V."""
        return len(self.learning) if self.learning and self.others == "alike" else 1

    @property
    def layout(self) -> Layout | None:
        """Of the tables; None where nobody learns."""
        if not self.learning:
            return None
        states = tables.states_of(self.env.cells, self.env.agents)
        return tables.layout_for(states, self.steps, len(self.learning) * self.values // self.views, self.rows)

    @property
    def fixed(self) -> np.ndarray | None:
        """Numbers of the kinds of all seats, int32 [m], where each has one only."""
        if any(len(set(seat)) != 1 for seat in self.seats):
            return None
        return np.array([KINDS.index(seat[0]) for seat in self.seats], np.int32)


class Inputs(NamedTuple):
    """What differs between sessions and does not change.

    Attributes:
        params: environments, leading axis B.
        kind: number in `KINDS` of who sits where, int32 [B, m].
        rates: float32 [B, m] each.
        elements: patterns of pattern agents, int8 [B, m, P].
        lengths: how many of them count, int32 [B, m].
        keys: of the steps, PRNG keys [B].
    """

    params: Params
    kind: jax.Array
    rates: Rates
    elements: jax.Array
    lengths: jax.Array
    keys: jax.Array


class Running(NamedTuple):
    """Where B sessions stand: the worlds, the tables, and the last step, from which learners have not learnt yet.

    Attributes:
        state: of the worlds.
        tables: of the learners, [B V] of them.
        number: numbers of the learners' states before the last step, uint32 [B, V].
        place: their rows in the tables, int32 [B, V].
        row: its values, float32 [B, W].
        action: what the agents did, int32 [B, m].
        reward: what they learn from, float32 [B, m].
    """

    state: State
    tables: Tables
    number: jax.Array
    place: jax.Array
    row: jax.Array
    action: jax.Array
    reward: jax.Array


@partial(jax.jit, static_argnums=0)
def begin(design: Design, keys: jax.Array, inputs: Inputs) -> Running:
    """Sessions at their start.

    Args:
        design: what to compile for.
        keys: PRNG keys [B]; consumed.
        inputs: see there.
    """
    batch, m = inputs.kind.shape
    _, state = jax.vmap(design.env.reset_env)(keys, inputs.params)
    first = _first_row(design, inputs.rates)
    zeros = jnp.zeros((batch, design.views), jnp.int32)
    nothing = jnp.zeros((batch, m), jnp.int32)
    held = tables.empty(design.layout or Layout(0, False, 0), _by_table(design, first))
    return Running(state, held, zeros.astype(jnp.uint32), zeros, first, nothing, nothing.astype(jnp.float32))


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=2)
def advance(design: Design, windows: int, running: Running, inputs: Inputs, first: jax.Array) -> tuple[Running, jax.Array]:
    """Some windows of steps.

    Args:
        design: what to compile for.
        windows: how many.
        running: where the sessions stand; its memory is taken over.
        inputs: see there.
        first: number of the first of these windows, int32 [].

    Returns:
        where they stand then, and the sums of rewards over each window: own rewards and rewards learnt from, float32 [windows, 2, B, m].
    """
    initial_row = _first_row(design, inputs.rates)

    def window(running: Running, number: jax.Array) -> tuple[Running, jax.Array]:
        # A window's random numbers at once: one call of the generator instead of one a step.
        shape = (design.window, design.env.agents + 1)
        words = jax.vmap(lambda key: jax.random.bits(jax.random.fold_in(key, number), shape, jnp.uint32), out_axes=1)(inputs.keys)
        zeros = jnp.zeros((2, *running.action.shape), jnp.float32)
        (running, sums), _ = jax.lax.scan(partial(_step, design, inputs, initial_row), (running, zeros), words)
        return running, sums

    return jax.lax.scan(window, running, first + jnp.arange(windows, dtype=jnp.int32))


def _step(
    design: Design, inputs: Inputs, initial_row: jax.Array, carry: tuple[Running, jax.Array], words: jax.Array
) -> tuple[tuple[Running, jax.Array], None]:
    last, sums = carry
    choose = jax.vmap(partial(_choose, design))
    layout = design.layout
    if layout is None:
        held, index, place, row = last.tables, last.number, last.place, last.row
        action = choose(last.state, row, inputs, words[:, :-1])
    else:
        index = _numbers(design, last.state)
        held, place, row = tables.find(last.tables, index.reshape(-1), layout, _by_table(design, initial_row))
        place, row = place.reshape(index.shape), row.reshape(last.row.shape)
        started = last.state.time[:, None] > 0
        same = jnp.repeat((index == last.number) & started, row.shape[1] // design.views, axis=1)
        row = jnp.where(same, last.row, row)  # the row at hand is newer than the table's
        action = choose(last.state, row, inputs, words[:, :-1])
        updated = jax.vmap(partial(_learn, design))(inputs, last.row, row, last.action, action, last.reward)
        updated = jnp.where(started, updated, last.row)
        held = tables.put(held, last.place.reshape(-1), _by_table(design, updated))
        row = jnp.where(same, updated, row)
    state, rewards = jax.vmap(partial(_move, design.env.rules))(inputs.params, last.state, action, words[:, -1])
    learnt = design.bag.share(rewards)
    return (Running(state, held, index, place, row, action, learnt), sums + jnp.stack([rewards, learnt])), None


def _numbers(design: Design, state: State) -> jax.Array:
    """Numbers of what the learners of each session see, uint32 [B, V]."""
    number = partial(tables.state_index, cells=design.env.cells)
    if design.others == "told_apart":
        return number(state.good, state.evil, state.agents)[:, None]
    seen = []
    for seat in design.learning:
        others = [state.agents[:, i] for i in range(design.env.agents) if i != seat]
        # Sorted by exchanging neighbours, so that nobody can be told from anybody.
        for end in range(len(others) - 1, 0, -1):
            for i in range(end):
                others[i], others[i + 1] = jnp.minimum(others[i], others[i + 1]), jnp.maximum(others[i], others[i + 1])
        seen.append(number(state.good, state.evil, jnp.stack([state.agents[:, seat], *others], axis=1)))
    return jnp.stack(seen, axis=1)


def _by_table(design: Design, rows: jax.Array) -> jax.Array:
    """Rows of sessions [B, W] as rows of tables [B V, W / V]; learners are side by side in a row."""
    return rows.reshape(rows.shape[0] * design.views, rows.shape[1] // design.views)


def _move(rules: world.Rules, params: Params, state: State, action: jax.Array, word: jax.Array) -> tuple[State, jax.Array]:
    element = params.pattern[state.time % params.pattern_n].astype(jnp.int32)
    return world.transition(params.table, element, state, action, (word >> np.uint32(31)).astype(jnp.int32), rules)


def _choose(design: Design, state: State, row: jax.Array, inputs: Inputs, words: jax.Array) -> jax.Array:
    """Actions of all agents of one session, int32 [m]."""
    numbers = (words >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)
    seen = agents.outlook(inputs.params, state, design.env.rules, foresee=bool(design.holding("oracle")))
    allowed: list[Any] = [None] * design.env.agents
    u = [numbers[seat] for seat in range(design.env.agents)]

    def seat_takes(seat: int, kinds: tuple[str, ...], actions: jax.Array, number: jax.Array) -> None:
        if set(design.seats[seat]) <= set(kinds):
            allowed[seat], u[seat] = actions, number
            return
        mine = jnp.any(inputs.kind[seat] == np.array([KINDS.index(k) for k in kinds], np.int32))
        allowed[seat] = actions if allowed[seat] is None else jnp.where(mine, actions, allowed[seat])
        u[seat] = jnp.where(mine, number, u[seat])

    for name, chosen in (("oracle", agents.oracle), ("follower", agents.follower), ("random", agents.random)):
        for seat in design.holding(name):
            seat_takes(seat, (name,), chosen(seen, state.agents[seat]), numbers[seat])
    for seat in design.holding("pattern"):
        actions = agents.pattern(seen, inputs.elements[seat], inputs.lengths[seat], state.time)
        seat_takes(seat, ("pattern",), actions, numbers[seat])
    if design.learning:
        best, rest = _greedy(design, row, inputs.rates, seen.exists, numbers)
        for i, seat in enumerate(design.learning):
            seat_takes(seat, LEARNERS, best[i], rest[i])
    return agents.pick(jnp.stack(allowed), jnp.stack(u))


def _greedy(design: Design, row: jax.Array, rates: Rates, exists: jax.Array, numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What learners choose from, bool [l, A], and by which number, [l]: one decides whether to explore, what is left of it the action."""
    seats = np.array(design.learning)
    epsilon, number = rates.epsilon[seats], numbers[seats]
    q = _values(design, row)[:, : design.env.cells]
    explore = number < epsilon
    best = jnp.max(jnp.where(exists, q, -jnp.inf), axis=-1, keepdims=True)
    greedy = (number - epsilon) / jnp.maximum(1 - epsilon, 1e-9) if design.ties == "random" else jnp.zeros_like(number)
    return exists & (explore[:, None] | (q == best)), jnp.where(explore, number / jnp.maximum(epsilon, 1e-9), greedy)


def _learn(
    design: Design, inputs: Inputs, row: jax.Array, following: jax.Array, action: jax.Array, action2: jax.Array, reward: jax.Array
) -> jax.Array:
    """The row [W] of one session's last state after what followed."""
    seats, count = np.array(design.learning), design.env.cells
    old, new = _values(design, row), _values(design, following)
    r, a, a2 = reward[seats], action[seats], action2[seats]
    alpha, gamma, beta = (x[seats] for x in (inputs.rates.alpha, inputs.rates.gamma, inputs.rates.beta))
    kind = inputs.kind[seats] if design.fixed is None else design.fixed[seats]
    allowed = jnp.arange(count, dtype=jnp.int32) < inputs.params.actions_n
    target = jnp.zeros_like(r)
    for name in LEARNERS:
        if design.holding(name):
            aim = ALGORITHMS[name].target(r, gamma, new[:, :count], new[:, -1], a2, allowed)
            target = jnp.where(kind == KINDS.index(name), aim, target)
    q = old[:, :count]
    q = jnp.where(jnp.arange(count, dtype=jnp.int32) == a[:, None], q + alpha[:, None] * (target[:, None] - q), q)
    if not design.holding("qv"):
        return q.reshape(-1)
    v = jnp.where(kind == KINDS.index("qv"), old[:, -1] + beta * (target - old[:, -1]), old[:, -1])
    return jnp.concatenate([q, v[:, None]], axis=1).reshape(-1)


def _values(design: Design, row: jax.Array) -> jax.Array:
    """A row [W] as [l, values]."""
    return row.reshape(len(design.learning), design.values)


def _first_row(design: Design, rates: Rates) -> jax.Array:
    """What a state starts with, float32 [B, W]."""
    initial = rates.initial[:, np.array(design.learning, np.int32)]
    return jnp.broadcast_to(initial[:, :, None], (*initial.shape, design.values)).reshape(initial.shape[0], -1)
