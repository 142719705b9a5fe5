"""Birds-v0: destroy all pigs of a level with a handful of birds thrown from a slingshot (after Science Birds).

One step is one shot: the bird flies in closed form to its first contact (`flight`), bounces, breaks and pushes in short steps until it
rests (`contact`), is taken away, and what lost its support falls (`settling`). There is no chance: keys are taken and not used. A level
passes when all pigs are gone. Levels are data: those with the same slots share a compilation. Axes: N slots, K birds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.birds import kinds, physics, shots
from jaxdiff.birds.level import EMPTY, Level, Slots, Thing, assembled, category
from jaxdiff.birds.physics import Physics
from jaxdiff.birds.settling import Pile
from jaxdiff.core.environment import Environment, Transition
from jaxdiff.core.errors import require
from jaxdiff.core.spaces import Box

ENTRIES = ("1 if it is there, else 0", "x of its centre", "y of its centre", "half width", "half height", "part of its life that is left")


@partial(jax.tree_util.register_dataclass, data_fields=["level", "physics"], meta_fields=[])
@dataclass(frozen=True)
class Params:
    """A level and the physics in it; a batch has a leading axis in every leaf of `level`, of `physics` or of both.

    Attributes:
        level: what stands where.
        physics: numbers of the physics.
    """

    level: Level
    physics: Physics


@partial(jax.tree_util.register_dataclass, data_fields=["x", "y", "life", "shot"], meta_fields=[])
@dataclass(frozen=True)
class State:
    """State of an episode.

    Attributes:
        x, y: centres float32 [N].
        life: float32 [N]; what has none left is gone; minus infinity is an empty slot or TNT gone off.
        shot: birds used, int32 [].
    """

    x: jax.Array
    y: jax.Array
    life: jax.Array
    shot: jax.Array


@dataclass(frozen=True)
class Birds(Environment[State, Params]):
    """A slingshot, birds, and pigs behind blocks: a level passes when all pigs are gone (after Science Birds).

    Attributes:
        blocks: slots for blocks.
        pigs: slots for pigs.
        platforms: slots for platforms.
        tnt: slots for TNT.
        birds: K, the most birds of a level, 1..5.
    """

    blocks: int = 12
    pigs: int = 3
    platforms: int = 2
    tnt: int = 1
    birds: int = 5

    def __post_init__(self) -> None:
        _ = self.slots  # refuses what is no number of slots

    @property
    def slots(self) -> Slots:
        """Numbers of slots."""
        return Slots(self.blocks, self.pigs, self.platforms, self.tnt, self.birds)

    @property
    def name(self) -> str:
        """Registered name."""
        return "Birds-v0"

    @property
    def default_params(self) -> Params:
        """A level by hand, with as much of it as the slots hold, under the physics without novelty."""
        return Params(_example(self.slots), physics.default())

    def action_space(self, params: Params) -> Box:
        """Angle, pull and time of the tap, see `shots`."""
        return Box(0.0, 1.0, (3,))

    def observation_space(self, params: Params) -> Box:
        """See `observation_entries`; raw coordinates, none of them beyond 1,000."""
        return Box(-1000.0, 1000.0, (len(ENTRIES) * self.slots.objects + 3 + len(kinds.BIRDS),))

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """What stands in every slot, then birds left, the slingshot and the bird that is next."""
        words = (
            f"{kinds.CATEGORIES[c].lower() if c != kinds.TNT else 'TNT'} {i}"
            for c, count in enumerate(self.slots.counts)
            for i in range(count)
        )
        things = tuple(f"{word}: {entry}" for word in words for entry in ENTRIES)
        after = ("birds left", "x of the slingshot", "y of the slingshot")
        return (*things, *after, *(f"1 if the next bird is a {bird}" for bird in kinds.BIRDS))

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """The level as it is. The key is not used."""
        require_slots(self, np.shape(params.level.kind)[-1], np.shape(params.level.birds)[-1])
        life = physics.bodies(params.level, params.physics).life
        x, y = (jnp.asarray(v).astype(jnp.float32) for v in (params.level.x, params.level.y))
        state = State(x, y, life, jnp.zeros((), jnp.int32))
        return self._observe(state, params), state

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One shot. The key is not used.

        Args:
            key: there is no chance.
            state: state before.
            action: float32 [3].
            params: level and physics.

        Returns:
            obs; state; reward float32 []: pigs that the shot destroyed, as a part of the level's pigs; terminated: all pigs are gone or all
            birds used; truncated: never; info: `passed` bool [], `pigs_left` int32 [].
        """
        bodies = physics.bodies(params.level, params.physics)
        before = self.pigs_left(state)
        kinds_of_birds = jnp.asarray(params.level.birds).astype(jnp.int32)
        kind = kinds_of_birds[jnp.minimum(state.shot, self.birds - 1)]
        shooting = (before > 0) & (state.shot < jnp.sum(kinds_of_birds >= 0, dtype=jnp.int32))
        pile = Pile(*(leaf[None] for leaf in (state.x, state.y, state.life)))
        sling = jnp.asarray(params.level.sling).astype(jnp.float32)
        action = jnp.asarray(action).astype(jnp.float32)
        tnt = self.slots.range(kinds.TNT)
        pile = shots.shoot(bodies, pile, action[None], kind[None], shooting[None], sling, params.physics, tnt)
        new = State(pile.x[0], pile.y[0], pile.life[0], state.shot + shooting.astype(jnp.int32))
        left = self.pigs_left(new)
        all_pigs = jnp.sum(bodies.life[self.slots.range(kinds.PIG)] > 0, dtype=jnp.int32)
        reward = (before - left).astype(jnp.float32) / jnp.maximum(all_pigs, 1).astype(jnp.float32)
        ended = (left == 0) | (new.shot >= jnp.sum(kinds_of_birds >= 0, dtype=jnp.int32))
        info = {"passed": left == 0, "pigs_left": left}
        return self._observe(new, params), new, reward, ended, jnp.zeros((), jnp.bool_), info

    def pigs_left(self, state: State) -> jax.Array:
        """Pigs that are alive, int32 []."""
        return jnp.sum(state.life[self.slots.range(kinds.PIG)] > 0, dtype=jnp.int32)

    def render(self, state: State, params: Params) -> np.ndarray:
        """The scene; see `birds.picture`. uint8 [height, width, 3]."""
        from jaxdiff.birds import picture

        return picture.render(self, state, params)

    def _observe(self, state: State, params: Params) -> jax.Array:
        bodies = physics.bodies(params.level, params.physics)
        there = state.life > 0
        whole = jnp.isinf(state.life) | ~there
        part = jnp.where(whole, there, state.life / jnp.where(whole, 1, bodies.life))
        columns = (there, state.x, state.y, bodies.half_width, bodies.half_height, part)
        things = jnp.stack([jnp.where(there, c, 0).astype(jnp.float32) for c in columns], axis=1)
        birds = jnp.asarray(params.level.birds).astype(jnp.int32)
        left = jnp.sum(birds >= 0, dtype=jnp.int32) - state.shot
        following = jnp.where(left > 0, birds[jnp.minimum(state.shot, self.birds - 1)], -1)
        coming = following == jnp.arange(len(kinds.BIRDS), dtype=jnp.int32)
        sling = jnp.asarray(params.level.sling).astype(jnp.float32)
        return jnp.concatenate([things.ravel(), left.astype(jnp.float32)[None], sling, coming.astype(jnp.float32)])


def require_slots(env: Birds, objects: int, birds: int) -> None:
    """Refuse a level of other numbers of slots."""
    wanted = (env.slots.objects, env.birds)
    require(
        (objects, birds) == wanted, "level", f"with {objects} slots and {birds} birds", f"{wanted[0]} and {wanted[1]}, see levels.padded"
    )


def _example(shape: Slots) -> Level:
    """A hut with a pig in it and one on it, a pig on a platform, TNT beside; what does not fit into the slots is left out."""
    ground = kinds.GROUND
    things = [
        Thing("RectMedium", "wood", 1.0, ground + 0.84, 90.0),
        Thing("RectMedium", "wood", 2.6, ground + 0.84, 90.0),
        Thing("RectBig", "wood", 1.8, ground + 1.79),
        Thing("SquareSmall", "ice", 1.1, ground + 2.115),
        Thing("SquareHole", "stone", 5.6, ground + 0.42),
        Thing("BasicSmall", "", 1.8, ground + 0.25),
        Thing("BasicSmall", "", 1.8, ground + 2.15),
        Thing("BasicMedium", "", 5.6, ground + 1.23),
        Thing("Platform", "", 4.2, ground + 2.5, scale_x=2.0, scale_y=0.5),
        Thing("TNT", "", 3.6, ground + 0.33),
    ]
    kept: list[Thing] = []
    for number, count in enumerate(shape.counts):
        mine = [thing for thing in things if category(thing) == number][:count]
        kept += mine + [EMPTY] * (count - len(mine))
    return assembled(kept, [0, 2, 3, 1, 4][: shape.birds], (-8.0, -1.5))
