"""Random levels that can be solved: a few small structures in a row, kept when random play has found a solution.

Structures are a hut with a pig inside, a tower with a pig on it, a pig on a platform, and a pig behind a wall; materials, sizes, gaps,
birds and TNT are drawn. What is drawn stands: everything rests on what is below it. A level is kept when, under the physics without
novelty, between one and a given part of so many random action sequences pass it. Axes: L levels, K birds.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from jaxdiff.birds import kinds, physics
from jaxdiff.birds.level import Level, Slots, Thing, assembled, category, padded, slots, stack
from jaxdiff.birds.play import play
from jaxdiff.birds.world import Birds, Params
from jaxdiff.core.errors import InputError, require, require_integer

TRIES = 512
MOST_CANDIDATES = 50  # for one level


@dataclass(frozen=True)
class Generated:
    """Levels with the proof that they can be solved.

    Attributes:
        level: a batch [L].
        solution: actions that pass it, float32 [L, K, 3].
        share: part of the random sequences that passed, float32 [L].
    """

    level: Level
    solution: np.ndarray
    share: np.ndarray


def generate(seed: int, count: int, shape: Slots | None = None, *, tries: int = TRIES, easiest: float = 0.6) -> Level:
    """Random levels that can be solved, as a batch; see `generated`."""
    return generated(seed, count, shape, tries=tries, easiest=easiest).level


def generated(seed: int, count: int, shape: Slots | None = None, *, tries: int = TRIES, easiest: float = 0.6) -> Generated:
    """Random levels with a solution each.

    Args:
        seed: the same seed gives the same levels, and the first ones of a longer list.
        count: L.
        shape: slots; those of `Birds()` when None.
        tries: random action sequences that a level is tried with.
        easiest: the largest part of them that may pass.

    Raises:
        InputError: no levels, or slots too few for any structure.
    """
    require_integer("seed", seed, 0)
    require_integer("count", count, 1)
    require_integer("tries", tries, 1)
    require(0 < easiest <= 1, "easiest", easiest, "above 0 and at most 1")
    shape = Slots() if shape is None else shape
    env = Birds(*shape.counts, shape.birds)

    def one(number: int) -> tuple[Level, np.ndarray, float]:
        rng = np.random.default_rng([seed, number])
        for _ in range(MOST_CANDIDATES):
            level = candidate(rng, shape)
            actions = rng.uniform(size=(tries, env.birds, 3)).astype(np.float32)
            passed = np.asarray(play(env, Params(level, physics.default()), actions).passed)
            if 0 < passed.mean() <= easiest:
                return level, actions[int(np.argmax(passed))], float(passed.mean())
        raise InputError("shape", shape, f"slots for levels that {tries} random sequences can solve")

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        kept = list(pool.map(one, range(count)))
    return Generated(stack([k[0] for k in kept], shape), np.stack([k[1] for k in kept]), np.array([k[2] for k in kept], np.float32))


def candidate(rng: np.random.Generator, shape: Slots) -> Level:
    """A random level, which stands but may be too hard or too easy.

    Raises:
        InputError: slots too few for any structure.
    """
    for _ in range(100):
        rows: list[Thing] = []
        right = float(rng.uniform(-2, 2))
        for _ in range(int(rng.integers(1, 4))):
            structure, width = _STRUCTURES[rng.integers(len(_STRUCTURES))](rng)
            centre = right + width / 2
            rows += [t._replace(x=centre + t.x, y=kinds.GROUND + t.y) for t in structure]
            right += width + float(rng.uniform(0.3, 1.6))
        if rng.random() < 0.35:
            rows.append(Thing("TNT", "", right + 0.33, kinds.GROUND + 0.33))
        birds = rng.choice(len(kinds.BIRDS), int(rng.integers(min(2, shape.birds), shape.birds + 1)), p=(0.4, 0.1, 0.25, 0.15, 0.1))
        level = assembled(sorted(rows, key=category), birds.tolist(), (-8.0, float(rng.uniform(-2, -0.5))))
        need = slots(level)
        if all(n <= s for n, s in zip(need.counts, shape.counts, strict=True)):
            return padded(level, shape)
    raise InputError("shape", shape, "slots for at least a structure: some 3 blocks and a pig")


def _material(rng: np.random.Generator) -> str:
    return str(rng.choice(kinds.MATERIALS, p=(0.45, 0.2, 0.35)))


def _pig(rng: np.random.Generator, x: float, floor: float, largest: int = 3) -> Thing:
    name = ("BasicSmall", "BasicMedium", "BasicBig")[min(int(rng.choice(3, p=(0.6, 0.3, 0.1))), largest - 1)]
    return Thing(name, "", x, floor + float(kinds.SIZE[kinds.NAMES.index(name), 1]) / 2)


def _hut(rng: np.random.Generator) -> tuple[list[Thing], float]:
    """Two upright beams, a roof, a pig inside; now and then something on the roof."""
    wall, roof = _material(rng), _material(rng)
    beam, height = (("RectMedium", 1.68), ("RectSmall", 0.85))[int(rng.integers(2))]
    rows = [Thing(beam, wall, x, height / 2, 90.0) for x in (-0.8, 0.8)]
    rows += [Thing("RectBig", roof, 0.0, height + 0.11), _pig(rng, 0.0, 0.0, 3 if height > 1 else 2)]
    chance = rng.random()
    if chance < 0.3:
        rows.append(_pig(rng, 0.0, height + 0.22))
    elif chance < 0.6:
        rows.append(Thing("SquareSmall", _material(rng), float(rng.uniform(-0.6, 0.6)), height + 0.22 + 0.215))
    return rows, 2.1


def _tower(rng: np.random.Generator) -> tuple[list[Thing], float]:
    """Squares on one another with a pig on top."""
    material, count = _material(rng), int(rng.integers(1, 4))
    rows = [Thing("SquareHole", material, 0.0, 0.42 + 0.84 * i) for i in range(count)]
    return [*rows, _pig(rng, 0.0, 0.84 * count, 2)], 1.0


def _ledge(rng: np.random.Generator) -> tuple[list[Thing], float]:
    """A platform in the air with a pig on it, at times behind an upright block."""
    height, wide = float(rng.uniform(0.8, 4)), float(rng.uniform(2.5, 4))
    rows = [Thing("Platform", "", 0.0, height, 0.0, wide, 0.5), _pig(rng, 0.3, height + 0.155, 2)]
    if rng.random() < 0.5:
        rows.append(Thing("RectSmall", _material(rng), -0.45, height + 0.155 + 0.425, 90.0))
    return rows, 0.62 * wide


def _wall(rng: np.random.Generator) -> tuple[list[Thing], float]:
    """A pig on the ground behind fat blocks."""
    material, count = _material(rng), int(rng.integers(1, 4))
    rows = [Thing("RectFat", material, -0.6, 0.215 + 0.43 * i) for i in range(count)]
    return [*rows, _pig(rng, 0.5, 0.0)], 2.1


_STRUCTURES = (_hut, _tower, _ledge, _wall)
