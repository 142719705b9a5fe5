"""Reference agents without understanding: the random heuristic, DeepMind's code for it, and uniform actions.

Source: Wang et al. 2021, appendix, Algorithm 3. They remember nothing, so trials are independent: all trials of all episodes are one
batch, a step of which is a few look-ups.

Axes: E episodes, R trials, T = 20 steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.alchemy import graphs, items, played

if TYPE_CHECKING:
    from jax.typing import ArrayLike

    from jaxdiff.alchemy.chemistry import Chemistry

NOTHING = -2  # a container that is none; the cauldron is -1


class Table(NamedTuple):
    """One trial's table: latent corners int32 [3] (8: used), latent types int32 [12], which potions are there bool [12]."""

    corners: jax.Array
    types: jax.Array
    there: jax.Array


Rule = Callable[[jax.Array, Table], tuple[jax.Array, jax.Array]]  # random words uint32 [2], table -> stone, container


def _values(corners: jax.Array) -> jax.Array:
    return jnp.asarray(items.VALUES, jnp.int32)[corners]


def _draw(word: jax.Array, among: jax.Array) -> jax.Array:
    """One of the places where `among` holds, each equally likely within 2^-16, from a random word; 0 where there is none."""
    count = among.sum(dtype=jnp.uint32)
    number = ((word >> 16) * count >> 16).astype(jnp.int32)
    return jnp.argmax(jnp.cumsum(among, dtype=jnp.int32) > number).astype(jnp.int32)


def algorithm_3(words: jax.Array, table: Table, threshold: int = 1) -> tuple[jax.Array, jax.Array]:
    """Algorithm 3 to the letter.

    A random stone, drawn anew at each step, is cashed above the threshold, or when positive and no potion is left. Otherwise it gets a
    random potion. Where there is none either, nothing happens.
    """
    there = table.corners != items.ABSENT
    stone = _draw(words[0], there)
    value, empty = _values(table.corners)[stone], ~table.there.any()
    cash = (value > threshold) | ((value > 0) & empty)
    container = jnp.where(cash, -1, jnp.where(empty, NOTHING, _draw(words[1], table.there)))
    return stone, jnp.where(there.any(), container, NOTHING)


def action_bot(words: jax.Array, table: Table) -> tuple[jax.Array, jax.Array]:
    """DeepMind's RandomActionBot: random potions for random stones below +15; when either is used up, all positive stones are cashed."""
    value = _values(table.corners)
    poor = (table.corners != items.ABSENT) & (value < 2)
    go_on = poor.any() & table.there.any()
    cash = value > 0
    use = _draw(words[0], poor), _draw(words[1], table.there)
    end = jnp.argmax(cash).astype(jnp.int32), jnp.where(cash.any(), -1, NOTHING)
    return jnp.where(go_on, use[0], end[0]), jnp.where(go_on, use[1], end[1])


def uniform_actions(words: jax.Array, table: Table) -> tuple[jax.Array, jax.Array]:
    """Each of the world's 40 actions with the same probability, possible or not."""
    del table
    action = ((words[0] >> 16) * jnp.uint32(1 + items.STONES * played.PER_STONE) >> 16).astype(jnp.int32)
    stone, container = jnp.divmod(action - 1, played.PER_STONE)
    return jnp.where(action > 0, stone, 0), jnp.where(action > 0, container - 1, NOTHING)


def _step(rule: Rule, effects: jax.Array, table: Table, words: jax.Array) -> tuple[Table, tuple[jax.Array, jax.Array]]:
    """One step of one trial; effects: corner after a potion, int32 [8, 6]. What is used already has no effect."""
    stone, container = rule(words, table)
    corner = table.corners[stone]
    there = corner != items.ABSENT
    slot = jnp.maximum(container, 0)
    cash = there & (container == -1)
    use = there & (container >= 0) & table.there[slot]
    after = jnp.where(use, effects[corner % items.CORNERS, table.types[slot]], jnp.where(cash, items.ABSENT, corner))
    moved = Table(table.corners.at[stone].set(after), table.types, table.there.at[slot].set(table.there[slot] & ~use))
    action = jnp.where(container == NOTHING, 0, played.action(stone, container))
    return moved, (action.astype(jnp.int32), jnp.where(cash, _values(corner), 0))


@partial(jax.jit, static_argnums=0)
def _play(rule: Rule, key: jax.Array, graph: jax.Array, stones: jax.Array, potions: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Trials graph int32 [N], stones [N, 3], potions [N, 12] -> actions int32 [N, T], scores int32 [N]. The key is consumed."""
    words = jax.random.bits(key, (played.STEPS, len(graph), 2), jnp.uint32)
    effects = jnp.asarray(graphs.transitions(), jnp.int32)[graph]
    start = Table(stones, potions, jnp.ones(potions.shape, bool))

    def step(table: Table, words: jax.Array) -> tuple[Table, tuple[jax.Array, jax.Array]]:
        return jax.vmap(partial(_step, rule))(effects, table, words)

    _, (actions, rewards) = jax.lax.scan(step, start, words)
    return actions.T, rewards.sum(0, dtype=jnp.int32)


@dataclass(frozen=True)
class Heuristic:
    """An agent that draws its actions.

    Attributes:
        name: of the agent.
        rule: stone and container (potion slot, -1 cauldron, -2 nothing) from two random words and the table.
    """

    name: str
    rule: Rule

    def play(self, chemistry: Chemistry, stones: ArrayLike, potions: ArrayLike, *, key: jax.Array | None = None) -> played.Play:
        """Play trials.

        Args:
            chemistry: fields int [E].
            stones: latent corners, int [E, R, 3].
            potions: latent types, int [E, R, 12].
            key: consumed; `jax.random.key(0)` when None.

        Returns:
            actions int32 [E, R, 20] and scores int32 [E, R].

        Raises:
            InputError: wrong shapes, numbers out of range, or a number of potions or stones other than 12 and 3.
        """
        given = played.checked(chemistry, stones, potions)
        trials = given.stones.shape[:-1]
        graph = np.broadcast_to(given.graph[..., None], trials)
        arrays = (graph.reshape(-1), given.stones.reshape(-1, items.STONES), given.potions.reshape(-1, items.POTIONS))
        key = jax.random.key(0) if key is None else key
        actions, scores = _play(self.rule, key, *(jnp.asarray(a, jnp.int32) for a in arrays))
        return played.Play(actions.reshape(*trials, played.STEPS), scores.reshape(trials))


random_heuristic = Heuristic("random_heuristic", algorithm_3)
random_action_bot = Heuristic("random_action_bot", action_bot)
uniform = Heuristic("uniform", uniform_actions)
