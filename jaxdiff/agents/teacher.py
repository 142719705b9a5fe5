"""A teacher's play of Alchemy, from a log: for kickstarting (a loss that pulls towards it and fades) and for imitation alone.

Of such a teacher only actions are known, so KL(teacher || pupil) is the cross entropy of its actions. The pupil is led through whole
episodes of the log as if it had acted so itself. What is imitated is the colour, not the slot: potions of a colour are alike.
Axes: E episodes of the log, R trials, S steps of a trial, T = R x S, B environments.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents import distributions, inputs, table
from jaxdiff.agents.inputs import Inputs
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.logs import CAULDRON, PADDING, Log
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import require


@partial(jax.tree_util.register_dataclass, data_fields=["chemistry", "stones", "potions", "choice"], meta_fields=[])
@dataclass(frozen=True)
class Lesson:
    """What a teacher did.

    Attributes:
        chemistry: fields int32 [E].
        stones, potions: latent corners int32 [E, R, 3] and types int32 [E, R, 12].
        choice: its actions in time order, as numbers of `table.CHOICES`, then nothing (0); int32 [E, R, S].
    """

    chemistry: Chemistry
    stones: Any
    potions: Any
    choice: Any

    @property
    def digest(self) -> str:
        """What tells this lesson from others, 16 hexadecimal digits."""
        code = hashlib.sha256()
        for leaf in jax.tree.leaves(self):
            code.update(np.ascontiguousarray(leaf, np.int32).tobytes())
        return code.hexdigest()[:16]


@partial(jax.tree_util.register_dataclass, data_fields=["inputs", "action"], meta_fields=[])
@dataclass(frozen=True)
class Shown:
    """Episodes of a lesson as a pupil meets them: inputs [T, B, ...], the teacher's actions int32 [T, B]."""

    inputs: Inputs
    action: Any


def lesson(env: Any, chemistry: Chemistry, stones: Any, potions: Any, log: Log) -> Lesson:
    """A lesson for a world, from a log of play that is possible on these episodes.

    Args:
        env: the pupil's world.
        chemistry: fields int [E].
        stones, potions: latent corners int [E, R, 3] and types int [E, R, 12].
        log: of the same episodes.

    Raises:
        InputError: a pupil of another world, no episodes, or trials that do not fit it.
    """
    require(isinstance(env, Alchemy), "teacher", f"given to a pupil of {getattr(env, 'name', env)}", "one for Alchemy-v0")
    require(not env.end_trial, "teacher", "given to a pupil that ends trials", "one for agents without that action")
    count, trials, actions = log.stone.shape
    require(count > 0, "teacher", "a log of no episode", "one with episodes")
    require(trials == env.trials, "teacher", f"a log of {trials} trials an episode", f"one of {env.trials}, as the pupil's world has")
    longest = int((log.potion != PADDING).sum(-1).max())
    require(longest <= env.steps, "teacher", f"a log with {longest} actions in a trial", f"at most {env.steps}, as the pupil has steps")
    env.check_items("stones", stones, (count,))
    env.check_items("potions", potions, (count,))
    colours = chem.colour_of_type()[np.asarray(chemistry.potion_map)]  # [E, 6]
    e, t = np.ogrid[:count, :trials]
    choice = np.zeros((count, trials, env.steps), np.int32)
    for a in range(min(actions, env.steps)):
        stone, potion = log.stone[..., a], log.potion[..., a]
        colour = colours[e, np.asarray(potions)[e, t, np.maximum(potion, 0)]]
        taken = 1 + table.TARGETS * stone + np.where(potion == CAULDRON, 0, 1 + colour)
        choice[..., a] = np.where(potion == PADDING, 0, taken)
    fields = Chemistry(*(np.asarray(getattr(chemistry, name), np.int32) for name in chem.SIZES))
    return Lesson(fields, np.asarray(stones, np.int32), np.asarray(potions, np.int32), choice)


def show(env: Alchemy, params: Any, taught: Lesson, key: jax.Array, count: int, reward_scale: float) -> Shown:
    """Lead B pupils through episodes of a lesson that are drawn with replacement.

    Args:
        env: their world.
        params: its numbers.
        taught: the lesson.
        key: consumed.
        count: B.
        reward_scale: what rewards are multiplied with.
    """
    key_which, key_start, key_world = jax.random.split(key, 3)
    which = jax.random.randint(key_which, (count,), 0, taught.stones.shape[0], jnp.int32)
    mine = jax.tree.map(lambda x: jnp.asarray(x)[which], taught)
    observation, state = jax.vmap(env._begin)(mine.chemistry, mine.stones, mine.potions, jax.random.split(key_start, count))
    never = jnp.zeros((count,), jnp.bool_)
    step_env = jax.vmap(env.step_env, in_axes=(None, 0, 0, None))

    def step(carry: tuple[Inputs, Any], now: tuple[jax.Array, jax.Array]) -> tuple[tuple[Inputs, Any], Shown]:
        (seen, state), (choice, key) = carry, now
        action = choice if env.typed_actions else jax.vmap(table.slot_action)(state.potions, choice)
        observation, after, reward, *_ = step_env(key, state, action, params)
        following = inputs.following(seen, observation, action, reward * jnp.float32(reward_scale), never)
        return (following, after), Shown(seen, action)

    choices = jnp.moveaxis(mine.choice.reshape(count, -1), 1, 0)
    return jax.lax.scan(step, (inputs.start(observation), state), (choices, jax.random.split(key_world, choices.shape[0])))[1]


def loss(logits: jax.Array, action: jax.Array, sizes: tuple[int, ...]) -> jax.Array:
    """KL(teacher || pupil) of a teacher that is sure of its actions: their mean negative log-probability, nats, float32 [].

    Args:
        logits: the pupil's, [T, B, A].
        action: the teacher's, int32 [T, B].
        sizes: choices of every part of an action.
    """
    return -distributions.log_probability(logits, action, sizes).mean()
