"""Networks whose weights are drawn at random and never trained.

As in Oller, Glasmachers and Cuccu (2020), "Analyzing Reinforcement Learning Benchmarks with Random Weight Guessing". Hidden units are
tanh, the output layer is linear. Of integers the action with the highest output is taken, of each entry of its own; a real action is
tanh of its output on the range of the space (as published), or the output itself where the space has no bounds.
Axes: P policies, D features of an observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space
from jaxdiff.populations.population import Population, features, number_of_features


@dataclass(frozen=True)
class Architecture:
    """Shape of a network.

    Attributes:
        hidden: units of the hidden layers.
        bias: whether every layer has a bias.
    """

    hidden: tuple[int, ...] = ()
    bias: bool = False

    def __post_init__(self) -> None:
        for units in self.hidden:
            require_integer("hidden", units, 1)

    @property
    def name(self) -> str:
        """A few words."""
        layers = "x".join(map(str, self.hidden)) if self.hidden else "no"
        return f"{layers} hidden, {'bias' if self.bias else 'no bias'}"


PUBLISHED = tuple(Architecture(hidden, bias) for hidden in ((), (4,), (4, 4)) for bias in (False, True))
LARGER = tuple(Architecture(hidden, True) for hidden in ((32,), (64, 64)))


@dataclass(frozen=True)
class Network:
    """How networks of an architecture act between two spaces; weights are a tuple of float32 [outputs, inputs (+ 1 for the bias)]."""

    architecture: Architecture
    observation: Space
    action: Space

    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shapes of the weight matrices."""
        sizes = (number_of_features(self.observation), *self.architecture.hidden, number_of_outputs(self.action))
        return tuple((after, before + self.architecture.bias) for before, after in pairwise(sizes))

    def __call__(self, weights: tuple[jax.Array, ...], obs: Any, key: jax.Array) -> jax.Array:
        """Action of one network; the key is not used."""
        del key
        x = features(self.observation, obs)
        for layer, matrix in enumerate(weights):
            # Sums of products, not a matrix product: on a CPU, batches of tiny matrices are several times faster so.
            x = (matrix[:, : x.shape[0]] * x).sum(-1) + (matrix[:, -1] if self.architecture.bias else jnp.float32(0))
            x = jnp.tanh(x) if layer < len(weights) - 1 else x
        return chosen(self.action, x)


def chosen(space: Space, outputs: jax.Array) -> jax.Array:
    """The action that outputs float32 [`number_of_outputs`] stand for."""
    if isinstance(space, Discrete):
        return jnp.argmax(outputs).astype(jnp.int32)
    if isinstance(space, MultiDiscrete):
        ends = np.cumsum(space.sizes)
        entries = [jnp.argmax(outputs[end - n : end]) for n, end in zip(space.sizes, ends, strict=True)]
        return jnp.stack(entries).astype(space.dtype)
    if not np.isfinite([space.low, space.high]).all():
        return outputs.reshape(space.shape).astype(space.dtype)
    middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    return (jnp.float32(middle) + jnp.float32(half) * jnp.tanh(outputs)).reshape(space.shape).astype(space.dtype)


def number_of_outputs(space: Space) -> int:
    """How many outputs an action takes.

    Raises:
        InputError: a space of another kind.
    """
    if isinstance(space, Discrete):
        return space.n
    if isinstance(space, MultiDiscrete):
        return sum(space.sizes)
    if not isinstance(space, Box):
        raise InputError("action_space", space, "Box, Discrete or MultiDiscrete")
    return int(np.prod(space.shape))


def draw(
    key: jax.Array, observation: Space, action: Space, count: int, architecture: Architecture = PUBLISHED[0], scale: float = 1.0
) -> Population:
    """Networks with weights from N(0, scale^2).

    Args:
        key: PRNG key; consumed.
        observation, action: the world's spaces.
        count: P, at least 1.
        architecture: shape of the networks.
        scale: standard deviation of weights and biases.

    Raises:
        InputError: no policies, a scale that is not positive, spaces that are not known.
    """
    require_integer("policies", count, 1)
    require(bool(np.isfinite(scale)) and scale > 0, "scale", scale, "a positive number")
    act = Network(architecture, observation, action)
    shapes = act.shapes()
    keys = jax.random.split(key, len(shapes))
    weights = tuple(jax.random.normal(k, (count, *shape), jnp.float32) * jnp.float32(scale) for k, shape in zip(keys, shapes, strict=True))
    return Population(architecture.name, act, weights)


def published(key: jax.Array, observation: Space, action: Space, count: int) -> tuple[Population, ...]:
    """Populations of the six published architectures, `count` networks each. Arguments and errors as for `draw`."""
    return tuple(
        draw(jax.random.fold_in(key, np.uint32(i)), observation, action, count, architecture) for i, architecture in enumerate(PUBLISHED)
    )
