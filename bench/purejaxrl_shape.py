"""The rival of `training.py`: recurrent PPO in the shape of purejaxrl's `ppo_rnn.py` (Lu et al. 2022), which is on no package registry.

Written anew from its published loop, not copied: one dense layer of 128, a GRU of 128 as a scanned flax cell, actor and critic of one
hidden layer each, rollouts as a scan, advantages as a reverse scan, epochs of minibatches over shuffled environments, optax's Adam with
clipping. Its world is stepped by this project's batch auto-reset, which is faster than a reset in every step, so that learners are
compared, not worlds.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.linen.initializers import constant, orthogonal

from jaxdiff.core.autoreset import reset_batch, step_batch

UNITS, GAMMA, TRACE, CLIP, ENTROPY, VALUE, RATE, NORM = 128, 0.99, 0.95, 0.2, 0.01, 0.5, 2.5e-4, 0.5


class ScannedRNN(nn.Module):
    """A GRU cell over time, emptied where `resets` says."""

    @partial(nn.scan, variable_broadcast="params", in_axes=0, out_axes=0, split_rngs={"params": False})
    @nn.compact
    def __call__(self, carry: jax.Array, x: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """One step."""
        ins, resets = x
        carry = jnp.where(resets[:, None], jnp.zeros_like(carry), carry)
        return nn.GRUCell(features=UNITS)(carry, ins)


class ActorCritic(nn.Module):
    """Embedding, memory, actor, critic."""

    actions: int

    @nn.compact
    def __call__(self, hidden: jax.Array, x: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Hidden [B, H], observations and resets [T, B, ...] -> hidden, logits, values."""
        obs, dones = x
        dense = partial(nn.Dense, bias_init=constant(0.0))
        embedding = nn.relu(dense(UNITS, kernel_init=orthogonal(np.sqrt(2)))(obs))
        hidden, embedding = ScannedRNN()(hidden, (embedding, dones))
        actor = nn.relu(dense(UNITS, kernel_init=orthogonal(2))(embedding))
        logits = dense(self.actions, kernel_init=orthogonal(0.01))(actor)
        critic = nn.relu(dense(UNITS, kernel_init=orthogonal(2))(embedding))
        return hidden, logits, dense(1, kernel_init=orthogonal(1.0))(critic)[..., 0]


class Transition(NamedTuple):
    """A step of B environments."""

    done: jax.Array
    action: jax.Array
    value: jax.Array
    reward: jax.Array
    log_prob: jax.Array
    obs: jax.Array


def _log_prob(logits: jax.Array, action: jax.Array) -> jax.Array:
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]


def make(env: Any, environments: int, steps: int, epochs: int, minibatches: int) -> tuple[Any, Any]:
    """A jitted update of its runner state, and the state at the start."""
    params = env.default_params
    network: Any = ActorCritic(env.actions)
    optimiser: Any = optax.chain(optax.clip_by_global_norm(NORM), optax.adam(RATE, eps=1e-5))
    key_net, key_env, key = jax.random.split(jax.random.key(0), 3)
    obs, state = reset_batch(env, jax.random.split(key_env, environments), params)
    hidden, done = jnp.zeros((environments, UNITS), jnp.float32), jnp.zeros((environments,), jnp.bool_)
    learned = network.init(key_net, hidden, (obs[None], done[None]))

    def env_step(runner: Any, _: None) -> tuple[Any, Transition]:
        learned, optimiser_state, state, last_obs, last_done, hidden, key = runner
        key, key_act, key_step = jax.random.split(key, 3)
        hidden, logits, value = network.apply(learned, hidden, (last_obs[None], last_done[None]))
        action = jax.random.categorical(key_act, logits[0]).astype(jnp.int32)
        obs, state, reward, terminated, truncated = step_batch(env, key_step, state, action, params)[:5]
        kept = Transition(last_done, action, value[0], reward, _log_prob(logits[0], action), last_obs)
        return (learned, optimiser_state, state, obs, terminated | truncated, hidden, key), kept

    def loss(learned: Any, hidden: jax.Array, batch: Transition, gae: jax.Array, targets: jax.Array) -> jax.Array:
        _, logits, value = network.apply(learned, hidden, (batch.obs, batch.done))
        log_prob = _log_prob(logits, batch.action)
        clipped = batch.value + (value - batch.value).clip(-CLIP, CLIP)
        value_loss = 0.5 * jnp.maximum(jnp.square(value - targets), jnp.square(clipped - targets)).mean()
        ratio, gae = jnp.exp(log_prob - batch.log_prob), (gae - gae.mean()) / (gae.std() + 1e-8)
        actor = -jnp.minimum(ratio * gae, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gae).mean()
        logs = jax.nn.log_softmax(logits)
        return actor + VALUE * value_loss + ENTROPY * (jnp.exp(logs) * logs).sum(-1).mean()

    def minibatch(carry: Any, batch: Any) -> tuple[Any, None]:
        learned, optimiser_state = carry
        hidden, *rest = batch
        gradients = jax.grad(loss)(learned, hidden[0], *rest)
        steps, optimiser_state = optimiser.update(gradients, optimiser_state)
        return (optax.apply_updates(learned, steps), optimiser_state), None

    def epoch(carry: Any, _: None) -> tuple[Any, None]:
        learned, optimiser_state, batch, key = carry
        key, key_order = jax.random.split(key)
        order = jax.random.permutation(key_order, environments)
        shuffled = jax.tree.map(lambda x: jnp.take(x, order, axis=1), batch)
        cut = jax.tree.map(lambda x: jnp.swapaxes(x.reshape(x.shape[0], minibatches, -1, *x.shape[2:]), 1, 0), shuffled)
        (learned, optimiser_state), _ = jax.lax.scan(minibatch, (learned, optimiser_state), cut)
        return (learned, optimiser_state, batch, key), None

    def update(runner: Any) -> Any:
        hidden = runner[-2]
        runner, kept = jax.lax.scan(env_step, runner, None, steps)
        learned, optimiser_state, state, last_obs, last_done, last_hidden, key = runner
        _, _, last_value = network.apply(learned, last_hidden, (last_obs[None], last_done[None]))

        def backwards(carry: Any, now: Transition) -> tuple[Any, jax.Array]:
            gae, next_value, next_done = carry
            error = now.reward + GAMMA * next_value * (1 - next_done) - now.value
            gae = error + GAMMA * TRACE * (1 - next_done) * gae
            return (gae, now.value, now.done), gae

        start = (jnp.zeros_like(last_value[0]), last_value[0], last_done)
        _, gae = jax.lax.scan(backwards, start, kept, reverse=True, unroll=16)
        batch = (hidden[None], kept, gae, gae + kept.value)
        (learned, optimiser_state, _, key), _ = jax.lax.scan(epoch, (learned, optimiser_state, batch, key), None, epochs)
        return (learned, optimiser_state, state, last_obs, last_done, last_hidden, key)

    return jax.jit(update), (learned, optimiser.init(learned), state, obs, done, hidden, key)
