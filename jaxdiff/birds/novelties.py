"""Novelties of the slingshot world: twelve of our own, and one of appearance only for the null.

The paper does not say what its twelve are; these are ours. All but the mirrored slingshot change numbers of the physics and nothing else,
and that one moves and turns the slingshot, so all worlds share one compilation. They take single worlds and batches alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import kinds
from jaxdiff.birds.world import Birds, Params
from jaxdiff.core.errors import require
from jaxdiff.core.novelties import Novelty

FAN_BAND = (-6.0, -3.0)


def scaled(name: str, field: str, factor: float) -> Novelty:
    """A number of the physics (see `physics.Physics`) times a factor.

    Raises:
        InputError: a factor that is not above 0.
    """
    require(bool(np.isfinite(factor)) and factor > 0, "factor", factor, "a finite number above 0")
    return _physics(name, lambda p: {field: getattr(p, field) * np.float32(factor)})


def gravity(factor: float) -> Novelty:
    """Gravity times a factor."""
    return scaled(f"gravity x {factor:g}", "gravity", factor)


def launch_force(factor: float = 0.75) -> Novelty:
    """The slingshot's speed times a factor."""
    return scaled(f"launch force x {factor:g}", "launch_speed", factor)


def pig_life(factor: float) -> Novelty:
    """The life of pigs times a factor."""
    return scaled(f"pig life x {factor:g}", "pig_life", factor)


def block_mass(factor: float = 3.0) -> Novelty:
    """The mass of blocks times a factor."""
    return scaled(f"block mass x {factor:g}", "block_density", factor)


def block_life(factor: float = 3.0) -> Novelty:
    """The life of blocks times a factor."""
    return scaled(f"block life x {factor:g}", "block_life", factor)


def friction(factor: float = 0.2) -> Novelty:
    """Friction times a factor."""
    return scaled(f"friction x {factor:g}", "friction", factor)


def wind(acceleration: float = -3.0) -> Novelty:
    """Wind with this acceleration to the right (to the left where below 0)."""
    require(bool(np.isfinite(acceleration)), "acceleration", acceleration, "a finite number")
    return _physics("wind", lambda p: {"wind": p.wind + np.float32(acceleration)})


def fan(acceleration: float = 12.0, band: tuple[float, float] = FAN_BAND) -> Novelty:
    """A fan that blows upwards within a vertical band between two places x."""
    require(bool(np.isfinite(acceleration)), "acceleration", acceleration, "a finite number")
    require(len(band) == 2 and band[0] < band[1], "band", band, "two places in order")

    def change(p: Any) -> dict[str, Any]:
        like = p.band * np.float32(0)  # keeps a batch's axes
        return {"fan": p.fan + np.float32(acceleration), "band": like + np.array(band, np.float32)}

    return _physics("fan", change)


def mirrored_slingshot() -> Novelty:
    """The slingshot stands as far to the other side of all things (but not beyond the world's end), and throws the other way."""

    def change(env: Birds, params: Params) -> tuple[Birds, Params]:
        level, numbers = params.level, params.physics
        xp = np if isinstance(level.x, np.ndarray) else jnp
        there = xp.asarray(level.kind) >= 0
        ends = xp.where(there, level.x, xp.inf).min(-1) + xp.where(there, level.x, -xp.inf).max(-1)
        x = xp.clip(ends - level.sling[..., 0], kinds.LEFT, kinds.RIGHT)
        sling = xp.stack([x, level.sling[..., 1]], axis=-1).astype(np.float32)
        return env, Params(replace(level, sling=sling), replace(numbers, facing=-numbers.facing))

    return Novelty("mirrored slingshot", "start", change)


def new_bird(mass: float = 2.5, radius: float = 0.4, boost: float = 1.0) -> Novelty:
    """All birds become one that there was not: heavier, larger, and the tap comes to nothing (with the numbers that it has by default)."""
    for argument, value in (("mass", mass), ("radius", radius), ("boost", boost)):
        require(bool(np.isfinite(value)) and value > 0, argument, value, "a finite number above 0")

    def change(p: Any) -> dict[str, Any]:
        return {
            name: getattr(p, name) * np.float32(0) + np.float32(value)
            for name, value in (("bird_mass", mass), ("bird_radius", radius), ("bird_boost", boost))
        }

    return _physics("new bird", change)


def appearance_only(turn: float = 0.33) -> Novelty:
    """Pictures have other colours; nothing else changes. The null: a measure must find no difference."""
    return _physics("appearance only", lambda p: {"appearance": p.appearance + np.float32(turn)}, "appearance")


def ours() -> tuple[Novelty, ...]:
    """The twelve, in a fixed order, without the null."""
    return (
        gravity(0.5),
        gravity(2.0),
        launch_force(),
        pig_life(0.5),
        pig_life(2.0),
        block_mass(),
        block_life(),
        friction(),
        wind(),
        fan(),
        mirrored_slingshot(),
        new_bird(),
    )


def _physics(name: str, change: Callable[[Any], dict[str, Any]], kind: str = "dynamics") -> Novelty:
    def apply(env: Birds, params: Params) -> tuple[Birds, Params]:
        return env, replace(params, physics=replace(params.physics, **change(params.physics)))

    return Novelty(name, kind, apply)
