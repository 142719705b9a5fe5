"""An agent that learns: a small network trained by policy gradient on the levels of a world, then frozen, or trained on after a change.

It sees the observation and the number of the step, remembers nothing and plays for passing the level: reward 1 when the target is
reached, and a tenth of the world's own. REINFORCE with a learned baseline; every update plays all levels once. The same networks for
every world: integers are shown one-hot, reals standardised by the starts of the first levels; real actions are Gaussian around a mean
within their bounds (a mean far outside would be deaf: whatever is drawn there is clipped to the same). Axes: L levels, T steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.adapters import flat
from jaxdiff.core.adapters.optional import needed
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space
from jaxdiff.studies.reaction.domain import Levels

OWN = 0.1  # how much of the world's own reward counts beside passing
LEAST_GAIN = 0.1
BLOCK = 10  # updates in one call of a compiled program: as many or as few as are wanted share it
LEAST_SPREAD = -3.0  # log of the smallest standard deviation of a real action, in halves of its range


@dataclass(frozen=True)
class Training:
    """How a policy is trained.

    Attributes:
        updates: on the world before; each plays all training levels once. A multiple of `BLOCK`.
        adapting: updates after the novelty, likewise.
        rate: Adam's step.
        width: of two hidden layers.
        entropy: weight of the entropy bonus; without one a policy that is sure of itself does not find out that the world has changed.
    """

    updates: int = 300
    adapting: int = 100
    rate: float = 1e-3
    width: int = 64
    entropy: float = 0.03


class Eyes(NamedTuple):
    """What real observations are standardised with, float32 [entries] each; never trained."""

    middle: jax.Array
    scale: jax.Array


class Network(NamedTuple):
    """Weights of policy and baseline, the optimiser's state, and how observations are shown."""

    policy: Any
    value: Any
    optimiser: Any
    eyes: Eyes


def start(levels: Levels, steps: int, key: jax.Array, training: Training) -> Network:
    """An untrained network for a world; the key is consumed."""
    inputs = _width_of(levels.env.observation_space(levels.one(0))) + steps
    space = levels.env.action_space(levels.one(0))
    outputs = 2 * math.prod(space.shape) if isinstance(space, Box) else flat.number_of_actions(space)
    assert outputs is not None
    keys = jax.random.split(key)
    policy, value = (_layers(k, (inputs, training.width, training.width, size)) for k, size in zip(keys, (outputs, 1), strict=True))
    return Network(policy, value, _adam(training).init((policy, value)), _eyes(levels))


def train(levels: Levels, network: Network, steps: int, key: jax.Array, updates: int, training: Training) -> tuple[Network, np.ndarray]:
    """Train on levels; the share of them that is passed in each update's play is returned too, float32 [updates].

    Args:
        levels: L, all of which are played once an update.
        network: to start from.
        steps: T.
        key: of all chance; consumed.
        updates: how many, a multiple of `BLOCK`.
        training: how.
    """
    require(updates > 0 and updates % BLOCK == 0, "updates", updates, f"a multiple of {BLOCK}")
    parts = []
    for k in jax.random.split(key, updates // BLOCK):
        network, passed = _train(levels.env, steps, training, levels.params, jax.random.clone(levels.keys), levels.target, network, k)
        parts.append(np.asarray(passed))
    return jax.tree.map(np.asarray, network), np.concatenate(parts)


def passes(levels: Levels, network: Network, steps: int) -> np.ndarray:
    """Whether each level is passed when the likeliest action is taken throughout, bool [L]."""
    return np.asarray(_passes(levels.env, steps, levels.params, jax.random.clone(levels.keys), levels.target, network.policy, network.eyes))


class _Play(NamedTuple):
    """One episode: what was seen and done, rewards as the agent counts them, and steps that count, [T, ...]."""

    seen: jax.Array
    action: jax.Array
    reward: jax.Array
    counts: jax.Array
    passed: jax.Array


def _episode(
    env: Environment[Any, Any], steps: int, weights: Any, eyes: Eyes, params: Any, level: jax.Array, target: Any, key: Any
) -> _Play:
    """Play a level; with the likeliest actions where there is no key."""
    space = env.action_space(params)
    begin, chance = jax.random.split(level)
    obs, state = env.reset_env(begin, params)

    def body(carry: Any, t: jax.Array) -> tuple[Any, Any]:
        obs, state, total, over, passed = carry
        # Made here: under vmap, JAX's checker takes keys that were split before a scan for used ones.
        step_key, act_key = jax.random.fold_in(chance, t), None if key is None else jax.random.fold_in(key, t)
        seen = jnp.concatenate([_encoded(env.observation_space(params), obs, eyes), jax.nn.one_hot(t, steps, dtype=jnp.float32)])
        action = _choose(space, _apply(weights, seen), act_key)
        obs, state, reward, terminated, truncated, _ = env.step_env(step_key, state, _element(space, action), params)
        counts = ~over & ~passed
        total = total + jnp.where(counts, reward, 0).astype(jnp.float32)
        now_passed = counts & (total >= target)
        counted = jnp.where(counts, now_passed + OWN * reward, 0).astype(jnp.float32)
        return (obs, state, total, over | terminated | truncated, passed | now_passed), (seen, action, counted, counts)

    no = jnp.bool_(False)
    last, (seen, action, counted, counts) = jax.lax.scan(body, (obs, state, jnp.float32(0), no, no), jnp.arange(steps, dtype=jnp.int32))
    return _Play(seen, action, counted, counts, last[-1])


@partial(jax.jit, static_argnums=(0, 1))
def _passes(env: Environment[Any, Any], steps: int, params: Any, keys: jax.Array, target: jax.Array, weights: Any, eyes: Eyes) -> jax.Array:
    return jax.vmap(lambda p, k, t: _episode(env, steps, weights, eyes, p, k, t, None).passed)(params, keys, target)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _train(
    env: Environment[Any, Any],
    steps: int,
    training: Training,
    params: Any,
    levels: jax.Array,
    target: jax.Array,
    network: Network,
    key: jax.Array,
) -> tuple[Network, jax.Array]:
    optax = needed("optax", "agents")
    space = env.action_space(jax.tree.map(lambda leaf: leaf[0], params))

    def loss(weights: Any, play: _Play) -> jax.Array:
        logits, value = _apply(weights[0], play.seen), _apply(weights[1], play.seen)[..., 0]
        to_go = jnp.flip(jnp.cumsum(jnp.flip(play.reward, 1), 1), 1)
        counts = play.counts.astype(jnp.float32)
        number = counts.sum()
        gain = jax.lax.stop_gradient(to_go - value)
        # Where nothing is gained anywhere, noise must not be blown up until it drowns the entropy bonus.
        spread = jnp.maximum(jnp.sqrt((counts * gain**2).sum() / number), LEAST_GAIN)
        log_p, entropy = _log_probability(space, logits, play.action)
        each = -gain / spread * log_p - training.entropy * entropy + 0.5 * (value - to_go) ** 2
        return (counts * each).sum() / number

    def update(network: Network, key: jax.Array) -> tuple[Network, jax.Array]:
        weights = (network.policy, network.value)
        each = jax.random.split(key, target.shape[0])
        # Levels begin alike in every update.
        play = jax.vmap(partial(_episode, env, steps, network.policy, network.eyes))(params, jax.random.clone(levels), target, each)
        changes, optimiser = _adam(training).update(jax.grad(loss)(weights, play), network.optimiser, weights)
        policy, value = optax.apply_updates(weights, changes)
        return Network(policy, value, optimiser, network.eyes), play.passed.mean(dtype=jnp.float32)

    return jax.lax.scan(update, network, jax.random.split(key, BLOCK))


def _adam(training: Training) -> Any:
    optax = needed("optax", "agents")
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(training.rate))


def _layers(key: jax.Array, sizes: tuple[int, ...]) -> list[tuple[jax.Array, jax.Array]]:
    keys = jax.random.split(key, len(sizes) - 1)
    # The last layer starts small, so that play starts near uniform.
    gain = [1.0] * (len(sizes) - 2) + [0.01]
    return [
        (g / math.sqrt(a) * jax.random.normal(k, (a, b), jnp.float32), jnp.zeros((b,), jnp.float32))
        for k, g, a, b in zip(keys, gain, sizes, sizes[1:], strict=False)
    ]


def _apply(layers: Any, x: jax.Array) -> jax.Array:
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ layers[-1][0] + layers[-1][1]


def _width_of(space: Space) -> int:
    if isinstance(space, Discrete):
        return space.n
    return sum(space.sizes) if isinstance(space, MultiDiscrete) else math.prod(space.shape)


def _eyes(levels: Levels) -> Eyes:
    """Means and deviations of the first observations of levels; entries that are all alike keep their unit."""
    if not isinstance(levels.env.observation_space(levels.one(0)), Box):
        return Eyes(jnp.zeros(0, jnp.float32), jnp.ones(0, jnp.float32))
    first = jax.vmap(lambda p, k: levels.env.reset_env(jax.random.split(k)[0], p)[0])(levels.params, jax.random.clone(levels.keys))
    flat_first = first.reshape(len(first), -1).astype(jnp.float32)
    spread = flat_first.std(0)
    return Eyes(flat_first.mean(0), jnp.where(spread > 1e-6, spread, 1).astype(jnp.float32))


def _encoded(space: Space, obs: jax.Array, eyes: Eyes) -> jax.Array:
    if isinstance(space, Box):
        # Far outside what was seen at the start says no more than outside.
        return jnp.clip((obs.reshape(-1).astype(jnp.float32) - eyes.middle) / eyes.scale, -5, 5)
    sizes = (space.n,) if isinstance(space, Discrete) else space.sizes
    return jnp.concatenate([jax.nn.one_hot(entry, n, dtype=jnp.float32) for entry, n in zip(obs.reshape(-1), sizes, strict=True)])


def _choose(space: Space, logits: jax.Array, key: jax.Array | None) -> jax.Array:
    """An action as the network means it: a number, or reals in units of half the range around the middle."""
    if not isinstance(space, Box):
        return (jnp.argmax(logits) if key is None else jax.random.categorical(key, logits)).astype(jnp.int32)
    mean, log_sd = _gaussian(logits)
    return mean if key is None else mean + jnp.exp(log_sd) * jax.random.normal(key, mean.shape, jnp.float32)


def _element(space: Space, action: jax.Array) -> jax.Array:
    if not isinstance(space, Box):
        return flat.action(space, action)
    middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    return (middle + half * jnp.clip(action, -1, 1)).reshape(space.shape).astype(space.dtype)


def _gaussian(logits: jax.Array) -> tuple[jax.Array, jax.Array]:
    mean, log_sd = jnp.split(logits, 2, -1)
    return jnp.tanh(mean), jnp.maximum(log_sd - 0.5, LEAST_SPREAD)


def _log_probability(space: Space, logits: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Log probability of actions, and the entropy of what they were drawn from, [L, T] each."""
    if not isinstance(space, Box):
        log_p = jax.nn.log_softmax(logits)
        return jnp.take_along_axis(log_p, action[..., None], -1)[..., 0], -(jnp.exp(log_p) * log_p).sum(-1)
    mean, log_sd = _gaussian(logits)
    return (-0.5 * ((action - mean) / jnp.exp(log_sd)) ** 2 - log_sd).sum(-1), log_sd.sum(-1)
