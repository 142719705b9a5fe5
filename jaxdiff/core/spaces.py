"""Spaces: what an observation or an action may be.

Small frozen dataclasses, so that they hash by value. `contains` works on host arrays and inside jit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require


@dataclass(frozen=True)
class Discrete:
    """The integers 0..n-1, int32 []."""

    n: int

    def __post_init__(self) -> None:
        require(self.n >= 1, "n", self.n, "an integer of at least 1")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one element."""
        return ()

    @property
    def dtype(self) -> np.dtype:
        """Dtype of one element."""
        return np.dtype(np.int32)

    def sample(self, key: jax.Array) -> jax.Array:
        """Uniform element. The key is consumed."""
        return jax.random.randint(key, (), 0, self.n, dtype=jnp.int32)

    def contains(self, x: Any) -> jax.Array:
        """Whether x is an element, bool []."""
        return jnp.all((jnp.asarray(x) >= 0) & (jnp.asarray(x) < self.n))


@dataclass(frozen=True)
class MultiDiscrete:
    """Vectors of integers, entry i in 0..sizes[i]-1; `dtype` [len(sizes)]."""

    sizes: tuple[int, ...]
    dtype_name: str = "int32"

    def __post_init__(self) -> None:
        require(len(self.sizes) >= 1 and min(self.sizes) >= 1, "sizes", self.sizes, "a non-empty tuple of integers of at least 1")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one element."""
        return (len(self.sizes),)

    @property
    def dtype(self) -> np.dtype:
        """Dtype of one element."""
        return np.dtype(self.dtype_name)

    def sample(self, key: jax.Array) -> jax.Array:
        """Uniform element. The key is consumed."""
        return jax.random.randint(key, self.shape, 0, np.array(self.sizes, np.int32), dtype=jnp.int32).astype(self.dtype)

    def contains(self, x: Any) -> jax.Array:
        """Whether x is an element, bool []."""
        x = jnp.asarray(x).astype(jnp.int32)
        return jnp.all((x >= 0) & (x < np.array(self.sizes, np.int32)))


@dataclass(frozen=True)
class Box:
    """Arrays of reals in [low, high]."""

    low: float
    high: float
    shape: tuple[int, ...]
    dtype_name: str = "float32"

    def __post_init__(self) -> None:
        require(self.low <= self.high, "low", self.low, f"a number not above high = {self.high}")

    @property
    def dtype(self) -> np.dtype:
        """Dtype of one element."""
        return np.dtype(self.dtype_name)

    def sample(self, key: jax.Array) -> jax.Array:
        """Uniform element. The key is consumed."""
        return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)

    def contains(self, x: Any) -> jax.Array:
        """Whether x is an element, bool []."""
        return jnp.all((jnp.asarray(x) >= self.low) & (jnp.asarray(x) <= self.high))


Space = Discrete | MultiDiscrete | Box
