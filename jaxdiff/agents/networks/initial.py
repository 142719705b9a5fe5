"""How weights start: uniform with the variance that keeps that of the inputs; a normal draw would take the compiler ten times as long."""

from __future__ import annotations

import flax.linen as nn
from jax.nn.initializers import Initializer

UNIFORM = nn.initializers.lecun_uniform()


def scaled(scale: float) -> Initializer:
    """The same with standard deviations `scale` times as large, for heads that shall say little at first."""
    return nn.initializers.variance_scaling(scale * scale, "fan_in", "uniform")
