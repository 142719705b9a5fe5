"""Any two worlds as a domain of one novelty: a level is a start, tries are random sequences of actions."""

from __future__ import annotations

import ast
import math
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import levels, physics
from jaxdiff.birds.world import Birds
from jaxdiff.core.adapters import flat
from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.novelties import Novelty
from jaxdiff.core.registry import make
from jaxdiff.core.spaces import Box, Space
from jaxdiff.difficulty.action_metrics import Euclidean, Hamming
from jaxdiff.difficulty.novelty import Solutions
from jaxdiff.populations import plans
from jaxdiff.studies.reaction.domain import Domain, Levels, stacked, stream
from jaxdiff.studies.reaction.worlds import ALL_PIGS, NULL

World = tuple[Environment[Any, Any], Any]
SHARE = 0.2
MOST_LISTED = 1 << 15  # sequences that are all tried for a target, if there are no more


def domain(before: World, after: World, steps: int, share: float | None = None, target: float | None = None) -> Domain:
    """The change from one world to another.

    Args:
        before, after: worlds and their parameters, with the same actions.
        steps: actions of a try.
        share: a level is passed by the return that this share of random tries reaches in the world before, a fifth if not given.
        target: a return that passes every level, instead. In Birds-v0 all pigs if neither is given.

    Raises:
        InputError: other actions after than before, no steps, a share outside 0..1, a target that is no number, both of them.
    """
    require_integer("steps", steps, 1)
    require(share is None or target is None, "target", target, "nothing beside a share")
    require(share is None or 0 < share < 1, "share", share, "between 0 and 1")
    require(target is None or math.isfinite(target), "target", target, "a finite number")
    if share is None and target is None:
        share, target = (None, ALL_PIGS) if isinstance(before[0], Birds) else (SHARE, None)
    space = before[0].action_space(before[1])
    there = after[0].action_space(after[1])
    require(space == there, "after", f"a world with actions {there}", f"the actions of the world before, {space}")

    def starts(count: int, seed: int) -> Levels:
        keys = jax.random.split(stream(seed, "levels"), count)
        goal = np.full(count, np.nan if target is None else target, np.float32)
        return Levels(before[0], stacked([before[1]] * count), keys, goal)

    change = Novelty(after[0].name, "dynamics", lambda env, params: after)
    low_high = (
        (np.full(space.shape, space.low).reshape(-1), np.full(space.shape, space.high).reshape(-1)) if isinstance(space, Box) else None
    )
    metric = Hamming() if low_high is None else Euclidean.over(*low_high)
    passed = f"a return of {target:g}" if target is not None else f"what a share of {share:g} of random tries reaches"
    about = f"{before[0].name} -> {after[0].name}, {steps} steps; a level is a start, passed by {passed}"
    number = flat.number_of_actions(space)
    every = None
    if number is not None and number**steps <= MOST_LISTED:
        every = np.asarray(flat.action(space, jnp.asarray(plans.every(space, steps))))
    return Domain(
        "pair", about, starts, (change,), NULL, metric, steps, partial(_draw, space, steps), partial(_vectors, space), share, every=every
    )  # fmt: skip


def _draw(space: Space, steps: int, key: jax.Array, shape: tuple[int, int]) -> jax.Array:
    keys = jax.random.split(key, (*shape, steps))
    return jax.vmap(jax.vmap(jax.vmap(space.sample)))(keys)


def _vectors(space: Space, actions: np.ndarray) -> np.ndarray:
    return np.asarray(actions, np.float32).reshape(*actions.shape[: actions.ndim - len(space.shape)], math.prod(space.shape))


def world(text: str) -> World:
    """A world from a text such as "SAECA-v0,width=9,rule=110": a registered name, then fields of the world or of its parameters.

    Of Birds-v0 a level may be a file in the public format: "Birds-v0,level=mine.xml,physics.gravity=19.62".

    Raises:
        InputError: unknown names, or values that do not fit.
    """
    name, *settings = (part.strip() for part in text.split(","))
    pairs = []
    for setting in settings:
        field, equals, value = setting.partition("=")
        require(bool(equals and field), "world", text, "a name and settings: SAECA-v0,width=9,rule=110")
        try:
            pairs.append((field.strip(), ast.literal_eval(value.strip())))
        except (ValueError, SyntaxError):
            pairs.append((field.strip(), value.strip()))
    plain, _ = make(name)
    of_world = {f.name for f in fields(plain)}  # pyright: ignore[reportArgumentType]
    env, params = make(name, **{field: value for field, value in pairs if field in of_world})
    for field, value in pairs:
        if field == "level" and isinstance(env, Birds):
            params = replace(params, level=levels.padded(levels.read(str(value)), env.slots))
        elif field not in of_world:
            params = _set(params, field, value, f"{', '.join(sorted(of_world))}; {', '.join(_names(params))}")
    if isinstance(env, Birds):
        physics.require_possible(params.physics)
    return env, params


def _names(params: Any, prefix: str = "") -> list[str]:
    """Names of all parameters, dotted."""
    out = []
    for field in fields(params):
        value = getattr(params, field.name)
        out += _names(value, f"{prefix}{field.name}.") if is_dataclass(value) else [prefix + field.name]
    return out


def _set(params: Any, name: str, value: Any, allowed: str) -> Any:
    first, _, rest = name.partition(".")
    if not is_dataclass(params) or first not in {f.name for f in fields(params)}:
        raise InputError("world", f"with a setting {name}", f"one of {allowed}")
    old = getattr(params, first)
    if rest:
        return replace(params, **{first: _set(old, rest, value, allowed)})  # pyright: ignore[reportArgumentType]
    if is_dataclass(old):
        raise InputError("world", f"with {name}={value!r}", f"one of its parts: {', '.join(_names(old, name + '.'))}")
    old = np.asarray(old)
    allowed = f"{'a finite number' if old.dtype.kind == 'f' else old.dtype} of shape {list(old.shape)}"
    try:
        new = np.asarray(value, old.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(name, value, allowed) from error
    # Reals are rounded to what the world computes with; integers must be what was written.
    kept = bool(np.isfinite(new).all()) if old.dtype.kind == "f" else np.array_equal(new, np.asarray(value))
    require(new.shape == old.shape and kept, name, value, allowed)
    return replace(params, **{first: new[()]})  # pyright: ignore[reportArgumentType]


def read_solutions(path: Path) -> Solutions:
    """Solutions from an npz file: `actions` [M, L, k], `length` [M] and, if known, `tried` [].

    Raises:
        InputError: no such file, or not of that form.
    """
    allowed = "an npz file with actions [solutions, longest, coordinates], length [solutions] and perhaps tried, an integer"
    try:
        with np.load(path) as file:
            there = {name: file[name] for name in file.files}
    except FileNotFoundError as error:
        raise InputError("solutions", f"{path}, which is not there", allowed) from error
    except (OSError, ValueError, TypeError, EOFError, AttributeError, BadZipFile) as error:
        raise InputError("solutions", f"{path}, which cannot be read", allowed) from error
    missing = {"actions", "length"} - there.keys()
    require(not missing, "solutions", f"{path}, without {', '.join(sorted(missing))}", allowed)
    tried = there.get("tried")
    require(tried is None or (tried.shape == () and tried.dtype.kind in "iu"), "solutions", f"{path}, with tried {tried}", allowed)
    require(there["actions"].dtype.kind in "iuf", "solutions", f"{path}, with actions of type {there['actions'].dtype}", allowed)
    return Solutions(there["actions"], there["length"], None if tried is None else int(tried))
