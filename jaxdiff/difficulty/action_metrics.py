"""How far two actions are apart, with the largest distance there can be declared: what Equation 1 of the novelty paper divides by.

A metric compares arrays whose *first* axis holds an action's k coordinates, [k, ...] and [k, ...] -> [...], so that rows are vectorised.
Metrics are frozen dataclasses that hash by value: two equal ones share a compilation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import as_array, require


class Metric(Protocol):
    """A distance between actions."""

    @property
    def maximum(self) -> float:
        """The largest distance between two actions, above 0."""
        ...

    def distance(self, a: Any, b: Any) -> Any:
        """Distances of actions [k, ...] and [k, ...], which broadcast, float [...]."""
        ...


@dataclass(frozen=True)
class Euclidean:
    """Euclidean distance of coordinates that are divided by a scale.

    Attributes:
        maximum: the largest distance, above 0.
        scale: what each coordinate is divided by, k numbers above 0; 1 when None.
    """

    maximum: float
    scale: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        require(_is_positive(self.maximum), "maximum", self.maximum, "a finite number above 0")
        if self.scale is not None:
            object.__setattr__(self, "scale", _positive_tuple("scale", self.scale))

    @classmethod
    def over(cls, low: Any, high: Any) -> Euclidean:
        """Every coordinate scaled to its range, so that the largest distance is the root of k.

        Args:
            low, high: ends of the ranges, k numbers each, low below high.
        """
        ends = [as_array(name, value, "k numbers", np.float64).reshape(-1) for name, value in (("low", low), ("high", high))]
        require(ends[0].shape == ends[1].shape, "high", f"of length {ends[1].size}", f"as long as low, {ends[0].size}")
        require(bool((ends[0] < ends[1]).all()), "low", low, "below high in every coordinate")
        return cls(math.sqrt(ends[0].size), tuple((ends[1] - ends[0]).tolist()))

    def distance(self, a: Any, b: Any) -> Any:
        """See `Metric`."""
        return jnp.sqrt(sum((((x - y) / s) ** 2 for x, y, s in _coordinates(a, b, self.scale)), jnp.float32(0)))


@dataclass(frozen=True)
class Hamming:
    """The share of coordinates that differ: 0 or 1 where an action is one number."""

    @property
    def maximum(self) -> float:
        """1."""
        return 1.0

    def distance(self, a: Any, b: Any) -> Any:
        """See `Metric`."""
        return sum(((x != y).astype(jnp.float32) for x, y, _ in _coordinates(a, b, None)), jnp.float32(0)) / a.shape[0]


@dataclass(frozen=True)
class Mixed:
    """Gower's distance, for actions that are part choice and part number: the mean over coordinates of what each is apart, from 0 to 1.

    Attributes:
        ranges: for each of k coordinates its range (above 0), by which differences are divided; None: a choice, which is equal or not.
    """

    ranges: tuple[float | None, ...]

    def __post_init__(self) -> None:
        require(len(self.ranges) > 0, "ranges", self.ranges, "one entry a coordinate")
        numbers = [r for r in self.ranges if r is not None]
        require(all(_is_positive(r) for r in numbers), "ranges", self.ranges, "numbers above 0, or None for a choice")

    @property
    def maximum(self) -> float:
        """1."""
        return 1.0

    def distance(self, a: Any, b: Any) -> Any:
        """See `Metric`."""
        parts = (
            (x != y).astype(jnp.float32) if r is None else jnp.abs(x - y) / np.float32(r) for x, y, r in _coordinates(a, b, self.ranges)
        )
        return sum(parts, jnp.float32(0)) / a.shape[0]


def largest(metric: Metric, low: Any, high: Any) -> float:
    """The largest distance between actions of a box: that of its opposite corners, since coordinates only add to it.

    Args:
        metric: the metric.
        low, high: ends of every coordinate, k numbers each.

    Raises:
        InputError: it is more than the metric declares.
    """
    ends = [as_array(name, value, "k numbers", np.float32).reshape(-1) for name, value in (("low", low), ("high", high))]
    value = float(metric.distance(*ends))
    require(
        value <= metric.maximum * (1 + TOLERANCE), "metric", f"{metric} with a distance of {value:.6g}", "one that declares its maximum"
    )
    return value


TOLERANCE = 1e-6  # relative: what float32 may exceed a maximum by


def as_metric(value: float | Metric) -> Metric:
    """A number is the largest Euclidean distance."""
    if hasattr(value, "distance"):
        return value  # pyright: ignore[reportReturnType]
    require(_is_positive(value), "max_action_distance", value, "a finite number above 0, or a metric of jaxdiff.difficulty.action_metrics")
    return Euclidean(float(value))  # pyright: ignore[reportArgumentType]


def _coordinates(a: Any, b: Any, of_each: tuple[Any, ...] | None) -> Any:
    size = a.shape[0]
    require(b.shape[0] == size, "actions", f"with {size} and {b.shape[0]} coordinates", "equally many on both sides")
    require(of_each is None or len(of_each) == size, "metric", f"for {len(of_each or ())} coordinates", f"one for {size}")
    return zip(a, b, of_each or (1.0,) * size, strict=True)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool) and 0 < float(value) < math.inf


def _positive_tuple(name: str, values: Any) -> tuple[float, ...]:
    require(isinstance(values, tuple | list) and all(_is_positive(v) for v in values), name, values, "numbers above 0")
    return tuple(float(v) for v in values)
