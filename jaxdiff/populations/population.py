"""A population: policies as data with a leading policy axis, one function that acts, and how long each policy's description is.

`act(policy, obs, key) -> action` is a value-hashable object for one policy in one environment, so equal populations share a compilation.
Axes: P policies, D features of an observation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import InputError, require
from jaxdiff.core.spaces import Box, Discrete, MultiDiscrete, Space

Act = Callable[[Any, Any, jax.Array], Any]
MOST_FEATURES = 4096


@dataclass(frozen=True)
class Population:
    """Policies of one kind.

    Attributes:
        name: what they are, a few words.
        act: policy (leaves [...]), observation, key -> action; hashes by value.
        params: pytree with leaves [P, ...].
        bits: length of every policy's description, float64 [P]; None where it depends on what a policy sees, as for networks: then it is
            that of the coarsest quantisation that keeps the behaviour on visited states, see `description`.
    """

    name: str
    act: Act
    params: Any
    bits: np.ndarray | None = None

    def __post_init__(self) -> None:
        leaves = jax.tree.leaves(self.params)
        sizes = {np.shape(leaf)[:1] for leaf in leaves}
        good = len(leaves) > 0 and len(sizes) == 1 and sizes.isdisjoint({(), (0,)})
        require(good, "params", f"of leading axes {sorted(sizes)}", "a pytree of arrays with one leading axis of at least one policy")
        shape = (self.count,) if self.bits is None else np.shape(self.bits)
        require(shape == (self.count,), "bits", f"of shape {shape}", f"one a policy, [{self.count}]")

    @property
    def count(self) -> int:
        """P."""
        return int(np.shape(jax.tree.leaves(self.params)[0])[0])

    def take(self, which: Any) -> Population:
        """Some of the policies, by a slice or indices."""
        bits = None if self.bits is None else self.bits[which]
        return replace(self, params=jax.tree.map(lambda x: x[which], self.params), bits=bits)


def features(space: Space, obs: Any) -> jax.Array:
    """An observation as numbers: reals as they are, integers one-hot; float32 [D].

    Args:
        space: of observations.
        obs: an element of it.
    """
    if isinstance(space, Box):
        return jnp.asarray(obs).astype(jnp.float32).reshape(-1)
    flat = jnp.asarray(obs).astype(jnp.int32).reshape(-1)
    sizes = (space.n,) if isinstance(space, Discrete) else space.sizes
    return jnp.concatenate([(flat[i] == jnp.arange(n, dtype=jnp.int32)).astype(jnp.float32) for i, n in enumerate(sizes)])


def number_of_features(space: Space) -> int:
    """D of `features`.

    Raises:
        InputError: more than `MOST_FEATURES`, or a space of another kind.
    """
    if not isinstance(space, Box | Discrete | MultiDiscrete):
        raise InputError("observation_space", space, "Box, Discrete or MultiDiscrete")
    number = int(np.prod(space.shape)) if isinstance(space, Box) else sum((space.n,) if isinstance(space, Discrete) else space.sizes)
    require(1 <= number <= MOST_FEATURES, "observation_space", space, f"one with 1 to {MOST_FEATURES} features")
    return number
