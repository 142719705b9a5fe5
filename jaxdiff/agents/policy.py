"""A trained policy that plays given episodes of Alchemy, without learning: sampled or greedy actions, and how sure it was.

Axes: E episodes, R trials, S steps of a trial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.agents import checkpoint, distributions, inputs, table
from jaxdiff.agents.config import TrainConfig
from jaxdiff.agents.update import Program
from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import require

BATCH = 1024  # episodes at once


@dataclass(frozen=True)
class Play:
    """What a policy did.

    Attributes:
        actions: the benchmark's slot actions, int32 [E, R, S].
        scores: sum of the rewards of each trial, float32 [E, R].
        entropy: of the policy at every step, nats, float32 [E, R, S].
        value: what it expected, scaled and discounted as in training, float32 [E, R, S].
    """

    actions: np.ndarray
    scores: np.ndarray
    entropy: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Policy:
    """Configuration and parameters of a trained network."""

    config: TrainConfig
    parameters: Any

    @staticmethod
    def load(folder: str | Path) -> Policy:
        """From a run's folder, or from its `policy`.

        Raises:
            InputError: no policy there, or one that does not fit its configuration.
        """
        return Policy(*checkpoint.load(Path(folder)))

    def play(self, chemistry: Chemistry, stones: Any, potions: Any, *, seed: int = 0, greedy: bool = False) -> Play:
        """Play episodes.

        Args:
            chemistry: fields int [E].
            stones, potions: latent corners int [E, R, 3] and types int [E, R, 12].
            seed: of the actions that are drawn.
            greedy: take the most likely actions.

        Raises:
            InputError: a policy for another world, episodes of another length, or numbers out of range.
        """
        env, _ = self.config.world.make()
        require(isinstance(env, Alchemy), "agent", self.config.world.name, "a policy for Alchemy-v0")
        require(not env.end_trial, "agent", "a policy that ends trials", "one without that action")
        count = len(np.asarray(stones))
        env.check_items("stones", stones, (count,))
        env.check_items("potions", potions, (count,))
        chem.check(chemistry)
        fields = Chemistry(*(np.broadcast_to(np.asarray(getattr(chemistry, name)), (count,)).astype(np.int32) for name in chem.SIZES))
        given = (fields, np.asarray(stones, np.int32), np.asarray(potions, np.int32))
        parts = []
        for number, low in enumerate(range(0, count, BATCH)):
            part = jax.tree.map(lambda x, low=low: x[low : low + BATCH], given)
            key = jax.random.fold_in(jax.random.key(seed), number)
            parts.append(jax.device_get(_play(Program(self.config), greedy, self.parameters, *part, key)))
        shape = (count, env.trials, env.steps)
        actions, rewards, entropy, value = (np.concatenate([part[i] for part in parts], axis=1).T.reshape(shape) for i in range(4))
        return Play(actions, rewards.sum(-1), entropy, value)


@partial(jax.jit, static_argnums=(0, 1))
def _play(
    program: Program, greedy: bool, parameters: Any, chemistry: Chemistry, stones: jax.Array, potions: jax.Array, key: jax.Array
) -> tuple[jax.Array, ...]:
    """Slot actions int32, rewards, entropy and value float32, [R x S, E] each."""
    env, network, sizes = program.env, program.network, program.sizes
    params, scale = env.default_params, jnp.float32(program.config.algorithm.reward_scale)
    key_start, key_steps = jax.random.split(key)
    count = stones.shape[0]
    observation, state = jax.vmap(env._begin)(chemistry, stones, potions, jax.random.split(key_start, count))
    step_env = jax.vmap(env.step_env, in_axes=(None, 0, 0, None))
    never = jnp.zeros((count,), jnp.bool_)

    def step(carry: tuple[Any, ...], key: jax.Array) -> tuple[tuple[Any, ...], tuple[jax.Array, ...]]:
        memory, now, state = carry
        memory, out = network.apply(parameters, memory, now, method="step")
        action = distributions.greedy(out.logits, sizes) if greedy else distributions.sample(key, out.logits, sizes)
        slot = jax.vmap(table.slot_action)(state.potions, action) if env.typed_actions else action
        observation, after, reward, *_ = step_env(key, state, action, params)  # the world draws nothing: the key is not used twice
        kept = (slot, reward, distributions.entropy(out.logits, sizes), out.value)
        return (memory, inputs.following(now, observation, action, reward * scale, never), after), kept

    begin = (network.initial(count), inputs.start(observation), state)
    return jax.lax.scan(step, begin, jax.random.split(key_steps, env.trials * env.steps))[1]
