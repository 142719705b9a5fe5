"""PPO with a small network for small worlds, many seeds at once: proximal policy optimisation (Schulman et al. 2017) on one screen.

Policy and value are networks of their own, two layers of `UNITS` tanh units; integer observations are shown one-hot, real ones
standardised by what has been seen. Losses are those of `agents.losses`. Axes: S seeds, L lanes (environments of a seed), T steps of a
rollout, U updates, D features, A outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from jaxdiff.agents import distributions
from jaxdiff.agents.losses import ppo, returns
from jaxdiff.core.autoreset import reset_batch, step_batch
from jaxdiff.core.environment import Environment
from jaxdiff.core.spaces import Box, Space
from jaxdiff.populations.population import features, number_of_features
from jaxdiff.studies.tabular import sizes_of

UNITS, LANES, ROLLOUT, EPOCHS, MINIBATCHES = 32, 8, 64, 4, 4
RATE, DISCOUNT, TRACE, CLIP, ENTROPY, VALUE, NORM = 2.5e-3, 0.99, 0.95, 0.2, 0.01, 0.5, 0.5
BATCH = LANES * ROLLOUT
FAR = 5.0  # standardised entries are clipped there


@dataclass(frozen=True)
class World:
    """What a rollout is compiled for: a world with integer actions, its spaces, and how many seeds play it."""

    env: Environment[Any, Any]
    observation: Space
    action: Space
    seeds: int

    @property
    def width(self) -> int:
        """D: the number of features, filled up with zeros to a power of two, so that many worlds share the compiled update."""
        return max(16, 1 << (number_of_features(self.observation) - 1).bit_length())

    def seen(self, obs: Any) -> jax.Array:
        """Features of a batch of observations [S x L, ...], float32 [S, L, D]."""
        x = jax.vmap(partial(features, self.observation))(obs)
        return jnp.pad(x, ((0, 0), (0, self.width - x.shape[1]))).reshape(self.seeds, LANES, -1)


class Acting(NamedTuple):
    """Where a rollout goes on: observations and states [S x L, ...], returns so far float32 [S, L], moments of features [S, 3, D]."""

    obs: Any
    state: Any
    gained: jax.Array
    moments: jax.Array


def learn(env: Environment[Any, Any], params: Any, key: jax.Array, seeds: int, updates: int) -> tuple[np.ndarray, np.ndarray]:
    """Learn.

    Args:
        env: the world; its actions are integers.
        params: of the world, without batch axes.
        key: PRNG key; consumed.
        seeds: S.
        updates: U, of `BATCH` steps of experience each.

    Returns:
        in the order of experience, the return of the episode that ended with each step (0 elsewhere), float32 [S, U x `BATCH`], and
        whether one did, bool [S, U x `BATCH`].
    """
    world = World(env, env.observation_space(params), env.action_space(params), seeds)
    sizes = sizes_of(world.action)
    key_net, key_reset, key_updates = jax.random.split(key, 3)
    network, memory = _start(key_net, seeds, number_of_features(world.observation), world.width, sum(sizes))
    acting = _reset(world, params, key_reset)
    told = []
    for key_one in jax.random.split(key_updates, updates):
        key_steps, key_order = jax.random.split(key_one)
        acting, batch, scores, ended = _rollout(world, params, network, acting, key_steps)
        network, memory = _improve(sizes, network, memory, batch, key_order)
        told.append((scores, ended))
    scores, ended = (np.concatenate([np.asarray(x) for x in kind], axis=1) for kind in zip(*told, strict=True))
    return scores, ended


@partial(jax.jit, static_argnums=0)
def _reset(world: World, params: Any, key: jax.Array) -> Acting:
    obs, state = reset_batch(world.env, jax.random.split(key, world.seeds * LANES), params)
    # As if one standard observation had been seen.
    moments = jnp.broadcast_to(jnp.array([1, 0, 1], jnp.float32)[:, None], (world.seeds, 3, world.width))
    return Acting(obs, state, jnp.zeros((world.seeds, LANES), jnp.float32), moments)


@partial(jax.jit, static_argnums=0)
def _rollout(world: World, params: Any, network: Any, acting: Acting, key: jax.Array) -> tuple[Acting, Any, jax.Array, jax.Array]:
    """Play T steps: where it goes on, the batch [S, `BATCH`, ...] to learn from, scores and ends of episodes [S, `BATCH`]."""
    seeds, sizes = world.seeds, sizes_of(world.action)

    def standard(x: jax.Array) -> jax.Array:
        """Features [S, L, D] by the moments (number, sum, sum of squares) of what was seen before this rollout."""
        if not isinstance(world.observation, Box):
            return x
        number, total, square = (acting.moments[:, i, None] for i in range(3))
        mean = total / number
        deviation = jnp.sqrt(jnp.maximum(square / number - jnp.square(mean), 1e-8))
        return jnp.clip((x - mean) / deviation, -FAR, FAR)

    def step(carry: Any, key: jax.Array) -> tuple[Any, Any]:
        obs, state, gained = carry
        key_action, key_env = jax.random.split(key)
        raw = world.seen(obs)
        x = standard(raw)
        logits, value = jax.vmap(_act)(network, x)
        taken = distributions.sample(key_action, logits, sizes)
        flat = taken.reshape(seeds * LANES, *world.action.shape).astype(world.action.dtype)
        obs, state, reward, terminated, truncated, info = step_batch(world.env, key_env, state, flat, params)
        reward, over, cut = (y.reshape(seeds, LANES) for y in (reward.astype(jnp.float32), terminated | truncated, truncated & ~terminated))
        gained = gained + reward
        last = jax.vmap(_value)(network, standard(world.seen(info["final_observation"])))
        out = {"x": x, "action": taken, "log": distributions.log_probability(logits, taken, sizes), "value": value, "over": over}
        # An episode that was cut goes on in value.
        out |= {"reward": reward + jnp.float32(DISCOUNT) * last * cut, "score": jnp.where(over, gained, 0), "raw": raw}
        return (obs, state, jnp.where(over, 0, gained)), out

    (obs, state, gained), out = jax.lax.scan(step, (acting.obs, acting.state, acting.gained), jax.random.split(key, ROLLOUT))
    value = jnp.concatenate([out["value"], jax.vmap(_value)(network, standard(world.seen(obs)))[None]])
    advantage = returns.advantages(out["reward"], jnp.where(out["over"], 0, jnp.float32(DISCOUNT)), value, TRACE)
    mean, variance = advantage.mean((0, 2), keepdims=True), advantage.var((0, 2), keepdims=True)
    out |= {"advantage": ppo.normalised(advantage, mean, variance), "target": advantage + out["value"]}
    flat = {k: jnp.moveaxis(v, 0, 1).reshape(seeds, BATCH, *v.shape[3:]) for k, v in out.items()}
    sums = jnp.stack([jnp.full((seeds, world.width), BATCH, jnp.float32), flat["raw"].sum(1), jnp.square(flat["raw"]).sum(1)], axis=1)
    batch = {k: flat[k] for k in ("x", "action", "log", "advantage", "target")}
    return Acting(obs, state, gained, acting.moments + sums), batch, flat["score"], flat["over"]


@partial(jax.jit, static_argnums=0)
def _improve(sizes: tuple[int, ...], network: Any, memory: Any, batch: Any, key: jax.Array) -> tuple[Any, Any]:
    """Passes over a batch in minibatches; every seed takes its steps in the same order, from its own batch."""

    def loss(network: Any, part: dict[str, jax.Array]) -> jax.Array:
        logits, value = _act(network, part["x"])
        policy = ppo.policy_loss(distributions.log_probability(logits, part["action"], sizes), part["log"], part["advantage"], CLIP)
        return policy + VALUE * ppo.value_loss(value, part["target"]) - ENTROPY * distributions.entropy(logits, sizes).mean()

    def improve(network: Any, memory: Any, part: dict[str, jax.Array]) -> tuple[Any, Any]:
        change, memory = _optimiser().update(jax.grad(loss)(network, part), memory, network)
        return optax.apply_updates(network, change), memory

    def minibatch(carry: Any, rows: jax.Array) -> tuple[Any, None]:
        network, memory = carry
        return jax.vmap(improve)(network, memory, {k: v[:, rows] for k, v in batch.items()}), None

    orders = jax.vmap(lambda k: jax.random.permutation(k, BATCH))(jax.random.split(key, EPOCHS)).reshape(-1, BATCH // MINIBATCHES)
    return jax.lax.scan(minibatch, (network, memory), orders)[0]


def _optimiser() -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(NORM), optax.adam(RATE, eps=1e-5))


def _start(key: jax.Array, seeds: int, used: int, width: int, outputs: int) -> tuple[Any, Any]:
    """Networks with weights from N(0, 1 / inputs), and the optimiser's memory; the policy's last layer is small, near uniform.

    Drawn on the host: compiling six kinds of draws takes longer than training.
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    network = {}
    for name, last in (("policy", outputs), ("value", 1)):
        shapes = ((width, UNITS), (UNITS, UNITS), (UNITS, last))
        scales = (used**-0.5, UNITS**-0.5, UNITS**-0.5 * (0.01 if name == "policy" else 1.0))
        network[name] = [
            (rng.normal(0, scale, (seeds, *shape)).astype(np.float32), np.zeros((seeds, *shape[1:]), np.float32))
            for shape, scale in zip(shapes, scales, strict=True)
        ]
    return network, jax.vmap(_optimiser().init)(network)


def _act(network: Any, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Logits float32 [..., A] and value float32 [...] of features [..., D]."""
    return _layers(network["policy"], x), _value(network, x)


def _value(network: Any, x: jax.Array) -> jax.Array:
    return _layers(network["value"], x)[..., 0]


def _layers(layers: Any, x: jax.Array) -> jax.Array:
    for number, (matrix, bias) in enumerate(layers):
        x = x @ matrix + bias
        x = jnp.tanh(x) if number < len(layers) - 1 else x
    return x
