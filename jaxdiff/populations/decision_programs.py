"""Small programs over discretised observations: "if this then that, else if ...", whose complexity is known exactly.

A program is a list of rules, a condition and an action each, and a last action for when no condition holds. Conditions are
comparisons of one entry of an observation with one of few values, or their negations. As in APL, programs that behave the same on all
discretised observations can be told apart from those that do not, so shortest ones are found exactly: those of n + 1 rules are
those of n with one rule put before them (`census`). Axes: P programs, L rules, C conditions, G cells of the grid of observations.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.errors import InputError, as_array, require, require_integer
from jaxdiff.core.spaces import Box, Discrete, Space
from jaxdiff.populations.population import Population

MOST_CELLS = 1 << 12
MOST_WORK = 1 << 31  # bytes of behaviours that a level of a census goes through


@dataclass(frozen=True)
class Language:
    """What conditions are made of.

    Attributes:
        action: the world's space of actions, of integers.
        entries: which entry of the flattened observation each comparison reads.
        values: what it is compared with.
        equal: whether it is "=" (of integers) or "<=" (of reals).
        grid: representatives of each entry's cells, a tuple of values an entry.
    """

    action: Space
    entries: tuple[int, ...]
    values: tuple[float, ...]
    equal: tuple[bool, ...]
    grid: tuple[tuple[float, ...], ...]

    @property
    def conditions(self) -> int:
        """C: all comparisons and their negations, which stand behind them."""
        return 2 * len(self.entries)

    @property
    def actions(self) -> int:
        """How many actions there are."""
        return flat.number_of_actions(self.action) or 0

    @property
    def cells(self) -> int:
        """G, observations that conditions can tell apart at most."""
        return math.prod(len(values) for values in self.grid)

    def holds(self, obs: Any) -> jax.Array:
        """Which conditions hold, bool [C]."""
        x = jnp.asarray(obs).astype(jnp.float32).reshape(-1)[np.array(self.entries, np.int32)]
        value = np.array(self.values, np.float32)
        comparison = jnp.where(np.array(self.equal), x == value, x <= value)
        return jnp.concatenate([comparison, ~comparison])

    def bits(self, rules: Any) -> np.ndarray:
        """Length of the description of programs of so many rules, float64 [...]: one bit says whether a rule follows."""
        action = math.log2(self.actions)
        return np.asarray(rules, np.float64) * (1 + math.log2(self.conditions) + action) + 1 + action

    def say(self, program: np.ndarray) -> str:
        """A program int [2 L + 1] in words."""
        count = len(self.entries)
        words = []
        for condition, action in zip(program[:-1:2], program[1::2], strict=True):
            if condition >= 0:
                k, negated = condition % count, condition >= count
                sign = {(True, False): "=", (True, True): "!=", (False, False): "<=", (False, True): ">"}[self.equal[k], bool(negated)]
                words.append(f"if x{self.entries[k]} {sign} {self.values[k]:g} then {action}")
        return "; else ".join([*words, str(program[-1])])


def language(observation: Space, action: Space, bins: int = 4, low: Any = None, high: Any = None) -> Language:
    """Comparisons for a world: "=" with every value of integers; of reals, "<=" with the bounds of equal bins between low and high.

    Args:
        observation, action: the world's spaces.
        bins: of a real entry, at least 2.
        low, high: range of every entry of a real observation; the space's when None.

    Raises:
        InputError: real actions, or a real observation without bounds.
    """
    if flat.number_of_actions(action) is None:
        raise InputError("action_space", action, "a space of integers: decision programs have no real actions")
    require_integer("bins", bins, 2)
    if not isinstance(observation, Box):
        sizes = (observation.n,) if isinstance(observation, Discrete) else observation.sizes
        pairs = [(entry, float(v)) for entry, n in enumerate(sizes) for v in range(n)]
        grid = tuple(tuple(float(v) for v in range(n)) for n in sizes)
        return Language(action, tuple(e for e, _ in pairs), tuple(v for _, v in pairs), (True,) * len(pairs), grid)
    count = int(np.prod(observation.shape))
    lows, highs = (
        np.broadcast_to(as_array(name, bound if given is None else given, "numbers", np.float64), (count,))
        for name, given, bound in (("low", low, observation.low), ("high", high, observation.high))
    )
    finite = bool(np.isfinite(lows).all() and np.isfinite(highs).all() and np.all(highs - lows < 1e30))
    require(finite, "observation_space", observation, "one with bounds, or give low and high of every entry")
    edges = [np.unique(np.linspace(a, b, bins + 1)[1:-1].astype(np.float32)) for a, b in zip(lows, highs, strict=True)]
    pairs = [(entry, float(v)) for entry, values in enumerate(edges) for v in values]
    # Representatives: every edge itself, which "<=" puts below it, and something above the last.
    grid = tuple((*(float(v) for v in values), float(values[-1]) + 1.0) for values in edges)
    return Language(action, tuple(e for e, _ in pairs), tuple(v for _, v in pairs), (False,) * len(pairs), grid)


@dataclass(frozen=True)
class Decision:
    """How a program int16 [2 L + 1] acts: condition, action, condition, action, ..., last action; -1 is no rule."""

    language: Language

    def __call__(self, program: jax.Array, obs: Any, key: jax.Array) -> jax.Array:
        """Action of one program; the key is not used."""
        del key
        conditions, actions = program[:-1:2], program[1::2]
        number = program[-1]
        if conditions.shape[0]:
            true = self.language.holds(obs)[jnp.maximum(conditions, 0)] & (conditions >= 0)
            number = jnp.where(true.any(), actions[jnp.argmax(true)], number)
        return flat.action(self.language.action, number.astype(jnp.int32))


def sample(key: jax.Array, words: Language, count: int, longest: int = 4) -> Population:
    """Programs with a uniform number 0..longest of rules, uniform conditions and actions.

    Args:
        key: PRNG key; consumed.
        words: the language.
        count: P, at least 1.
        longest: L.

    Raises:
        InputError: no policies, a negative number of rules, no comparisons where there are rules.
    """
    require_integer("policies", count, 1)
    require_integer("longest", longest, 0)
    require(longest == 0 or words.conditions > 0, "longest", longest, "0: there is nothing to compare in this language")
    k_length, k_condition, k_action, k_last = jax.random.split(key, 4)
    rules = jax.random.randint(k_length, (count,), 0, longest + 1, dtype=jnp.int32)
    there = jnp.arange(longest, dtype=jnp.int32) < rules[:, None]
    condition = jnp.where(there, jax.random.randint(k_condition, (count, longest), 0, max(words.conditions, 1), dtype=jnp.int32), -1)
    action = jnp.where(there, jax.random.randint(k_action, (count, longest), 0, words.actions, dtype=jnp.int32), -1)
    last = jax.random.randint(k_last, (count, 1), 0, words.actions, dtype=jnp.int32)
    program = jnp.concatenate([jnp.stack([condition, action], -1).reshape(count, 2 * longest), last], axis=1).astype(jnp.int16)
    return Population(f"decision programs of up to {longest} rules", Decision(words), program, words.bits(np.asarray(rules)))


@dataclass(frozen=True)
class Census:
    """All behaviours of programs of up to L rules.

    Attributes:
        population: a shortest program of each, with the bits of its description, in order of length.
        rules: how many rules the shortest program has, int64 [P].
        counts: how many programs of 0..L rules behave so, int64 [P, L + 1].
        tables: the action in every cell of the grid, int16 [P, G].
    """

    population: Population
    rules: np.ndarray
    counts: np.ndarray
    tables: np.ndarray


def census(words: Language, longest: int) -> Census:
    """Every behaviour of programs of up to so many rules, with a shortest program each.

    Args:
        words: the language.
        longest: L.

    Raises:
        InputError: more cells, or more programs, than can be gone through.
    """
    require_integer("longest", longest, 0)
    require(words.cells <= MOST_CELLS, "bins", f"a grid of {words.cells} cells", f"at most {MOST_CELLS} cells, with fewer bins or entries")
    programs_there = words.actions * (words.conditions * words.actions) ** longest
    require(programs_there < 2**62, "longest", longest, "so few rules that there are fewer than 2^62 programs")
    holds = cell_conditions(words)
    tables = np.repeat(np.arange(words.actions, dtype=np.int16)[:, None], words.cells, axis=1)
    programs = np.full((words.actions, 2 * longest + 1), -1, np.int16)
    programs[:, -1] = np.arange(words.actions)
    level = np.ones(words.actions, np.int64)
    rules, counts = np.zeros(words.actions, np.int64), level[:, None]
    for length in range(1, longest + 1):
        work = len(tables) * words.conditions * words.actions * words.cells * 2
        require(work <= MOST_WORK, "longest", longest, f"at most {length - 1} rules in a language of so many conditions and actions")
        # Every program of one rule more is a rule before a program; a rule that changes nothing leads back to what is there.
        pairs = itertools.product(range(words.conditions), range(words.actions))
        made, whence, weight = [tables], [np.full((len(tables), 3), -1)], [np.zeros(len(tables), np.int64)]
        for condition, action in pairs:
            made.append(np.where(holds[condition], np.int16(action), tables))
            whence.append(np.stack([np.arange(len(tables)), *(np.full(len(tables), v) for v in (condition, action))], 1))
            weight.append(level)
        tables, programs, rules, counts, level = _merged(made, whence, weight, programs, rules, counts, length)
    population = Population(f"all decision programs of up to {longest} rules", Decision(words), jnp.asarray(programs), words.bits(rules))
    return Census(population, rules, counts, tables)


def cell_conditions(words: Language) -> np.ndarray:
    """Which conditions hold in which cell, bool [C, G]; the last entry's cells vary fastest."""
    cells = np.array(list(itertools.product(*words.grid)), np.float32)
    x = cells[:, list(words.entries)].T
    values = np.array(words.values, np.float32)[:, None]
    comparison = np.where(np.array(words.equal)[:, None], x == values, x <= values)
    return np.concatenate([comparison, ~comparison])


def _merged(
    made: list[np.ndarray],
    whence: list[np.ndarray],
    weight: list[np.ndarray],
    programs: np.ndarray,
    rules: np.ndarray,
    counts: np.ndarray,
    length: int,
) -> tuple[np.ndarray, ...]:
    """Behaviours after one more rule: those that were there keep their place and their program."""
    known = len(programs)
    all_tables = np.ascontiguousarray(np.concatenate(made))
    text = all_tables.view(np.dtype((np.void, all_tables.dtype.itemsize * all_tables.shape[1]))).reshape(-1)
    _, first, inverse = np.unique(text, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # those that were there come first, in their order
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = first[order]
    level = np.zeros(len(first), np.int64)
    np.add.at(level, rank[inverse.reshape(-1)], np.concatenate(weight))
    source = np.concatenate(whence)[first[known:]]
    new = programs[source[:, 0]].copy()
    # The rule is put before those of the program that it came from: places are filled from the last one on.
    place = new.shape[1] - 1 - 2 * length
    new[:, place], new[:, place + 1] = source[:, 1], source[:, 2]
    counts = np.concatenate([np.pad(counts, ((0, len(new)), (0, 0))), level[:, None]], axis=1)
    rules = np.concatenate([rules, np.full(len(new), length)])
    return all_tables[first], np.concatenate([programs, new]), rules, counts, level


@partial(jax.jit, static_argnums=0)
def tables(words: Language, programs: Any) -> jax.Array:
    """Actions of programs int16 [P, 2 L + 1] in every cell of the grid, int32 [P, G, ...]."""
    cells = np.array(list(itertools.product(*words.grid)), np.float32)
    unused = jax.random.key(0)
    return jax.vmap(lambda p: jax.vmap(lambda o: Decision(words)(p, o, unused))(cells))(programs)
