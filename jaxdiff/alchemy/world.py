"""Alchemy-v0: stones, potions and a cauldron under a hidden chemistry that is new in every episode (Wang et al. 2021, section 2).

The same game as DeepMind's symbolic Alchemy, bit for bit: an episode is ten trials of twenty steps; each trial brings three stones and
twelve potions; a potion moves a stone along an edge of the hidden graph, the cauldron turns a stone into reward. When a trial ends the
observation of that very step already shows the next trial's items. Everything is table look-up on packed words (`layout`).
What is not DeepMind's is an option that says so. DeepMind's seeds are not reproduced, its distribution is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxdiff.alchemy import chemistry as chem
from jaxdiff.alchemy import graphs, inputs, knowledge, layout, tracker
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.environment import Environment, Transition, select
from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.core.spaces import Box, Discrete

TRIALS, STEPS = 10, 20
CAULDRON = 0  # what a stone goes into: 0 the cauldron, then the potions


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["coefficients", "offset", "bonus", "per_potion", "graph", "potion_map", "stone_map", "rotation"],
    meta_fields=[],
)
@dataclass(frozen=True)
class Params:
    """Numbers of the game; leaves may be given batch axes and vmapped.

    Attributes:
        coefficients: reward weights of the latent coordinates, float32 [3].
        offset: added to every stone's value, float32 [].
        bonus: added to the value of the best stone, float32 []: by default it is worth 3 + 12 = 15.
        per_potion: shaping, a reward for every potion that is used (the paper's kickstarting stage), float32 []; 0 in the benchmark.
        graph, potion_map, stone_map, rotation: parts of the chemistry that are always the same, int32 []; -1: drawn in each episode.
            Numbers out of range are refused when parameters are made; those on a device by `reset`, which takes traced ones for the
            nearest in range.
    """

    coefficients: Any
    offset: Any
    bonus: Any
    per_potion: Any
    graph: Any
    potion_map: Any
    stone_map: Any
    rotation: Any

    def __post_init__(self) -> None:
        for name in chem.SIZES:
            if chem.on_host(getattr(self, name)):
                chem.check_part(name, getattr(self, name), -1)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["chemistry", "stones", "potions", "items", "trial", "step", "known", "tracked", "shown"],
    meta_fields=[],
)
@dataclass(frozen=True)
class State:
    """State of an episode.

    Attributes:
        chemistry: the hidden chemistry, int32 [] fields.
        stones: latent corners on the table, packed as in `layout`, uint32 [].
        potions: colours on the table, packed, three uint32 [] (words that stay apart are vectorised over a batch).
        items: what every trial brings: packed stones, then potions, uint32 [trials, 4].
        trial: number of the trial, `trials` when the episode is over, int32 [].
        step: steps taken in the trial, int32 [].
        known: what has been seen and tried, see `knowledge`, two uint32 []; the exact posterior follows from it.
        tracked: what the benchmark's own belief tracker carries, see `tracker`; None unless the observation shows it.
        shown: per group of chemistry entries, which of its contents this episode shows, int32 [5]; None unless one is drawn.
    """

    chemistry: Chemistry
    stones: jax.Array
    potions: layout.Words
    items: jax.Array
    trial: jax.Array
    step: jax.Array
    known: knowledge.Known
    tracked: Any
    shown: Any


@dataclass(frozen=True)
class Alchemy(Environment[State, Params]):
    """Symbolic Alchemy.

    Attributes:
        rotation: draw one of four rotations (otherwise there is none).
        end_trial: a further action 0 that ends the trial (the others move up by one).
        bottlenecks: "none", "random" (0 to 3 preconditions, each equally likely), or exactly 1, 2 or 3.
        random_maps: draw potion and stone map in `default_params` (otherwise they are the identity).
        trials, steps: trials of an episode, steps of a trial.
        stones, potions: how many a trial brings, at most 3 and 12; slots of observation and action stay 3 and 12.
        observe_used: show the used flags (27 entries instead of 39 without).
        see: what of the chemistry the observation shows behind the table, see `inputs`: "none", "unknown", "ground_truth", "belief"
            (the benchmark's), "marginals" (exact under the benchmark's prior, whatever `bottlenecks`, `random_maps` and `Params` say),
            "marginals_aligned"; or five of these, one per group; or pairs (content, weight) for a group whose content is drawn in each
            episode.
        clock: departure from the benchmark: show trial / trials and step / steps.
        counts: departure: six colour counts / 12 instead of the 24 potion entries.
        typed_actions: departure: 22 actions, stone slot x (cauldron, colour), taking the first potion of that colour.
        mask: departure: `info["action_mask"]`, which actions have an effect on the table.
        debug: refuse actions outside the space (outside jit; inside, an absent stone is a no-op as in the benchmark).
    """

    rotation: bool = False
    end_trial: bool = False
    bottlenecks: str | int = "random"
    random_maps: bool = True
    trials: int = TRIALS
    steps: int = STEPS
    stones: int = layout.STONES
    potions: int = layout.POTIONS
    observe_used: bool = True
    see: inputs.See = "none"
    clock: bool = False
    counts: bool = False
    typed_actions: bool = False
    mask: bool = False
    debug: bool = False

    def __post_init__(self) -> None:
        for name in ("rotation", "end_trial", "random_maps", "observe_used", "clock", "counts", "typed_actions", "mask", "debug"):
            require(isinstance(getattr(self, name), bool), name, getattr(self, name), "True or False")
        graphs.urn(self.bottlenecks)
        require_integer("trials", self.trials, 1)
        require_integer("steps", self.steps, 1)
        require_integer("stones", self.stones, 0, layout.STONES)
        require_integer("potions", self.potions, 0, layout.POTIONS)
        object.__setattr__(self, "see", inputs.normal_form(self.see))

    @property
    def name(self) -> str:
        """Registered name."""
        return "Alchemy-v0"

    @property
    def default_params(self) -> Params:
        """The benchmark's rewards: -3, -1, 1 and 15 (the last is 3 with a bonus of 12)."""
        drawn, number = np.int32(-1), np.float32
        return Params(
            coefficients=np.ones(3, np.float32),
            offset=number(0),
            bonus=number(12),
            per_potion=number(0),
            graph=drawn,
            potion_map=drawn if self.random_maps else np.int32(chem.IDENTITY_POTION_MAP),
            stone_map=drawn if self.random_maps else np.int32(chem.IDENTITY_STONE_MAP),
            rotation=drawn,
        )

    # Spaces.

    @property
    def actions(self) -> int:
        """Number of actions: 40 in the benchmark, 22 by types, and one more with `end_trial`."""
        return 1 + layout.STONES * self._targets + self.end_trial

    @property
    def _targets(self) -> int:
        return 1 + (graphs.POTION_TYPES if self.typed_actions else layout.POTIONS)

    def action_space(self, params: Params) -> Discrete:
        """[end of trial,] no-op, then for every stone slot: cauldron, potions (or colours)."""
        return Discrete(self.actions)

    def observation_space(self, params: Params) -> Box:
        """Reals from -1 to 2."""
        return Box(-1.0, 2.0, (len(self.observation_entries(params)),))

    def observation_entries(self, params: Params) -> tuple[str, ...]:
        """What every entry is; the same as a table in docs/alchemy_observation.md."""
        table = layout.entries()
        names = tuple(table[i] for i in self._columns)
        if self.counts:
            names += tuple(f"{colour} potions left, / 12" for colour in chem.COLOURS)
        if self.clock:
            names += ("trial / trials", "step in the trial / steps")
        return names + inputs.entries(self.see)

    @property
    def _columns(self) -> tuple[int, ...]:
        """Which of the 39 entries are shown."""
        edge = layout.STONES * layout.STONE_FIELDS
        used = {layout.STONE_FIELDS * s + 4 for s in range(layout.STONES)} | set(range(edge + 1, layout.ENTRIES, 2))
        end = edge if self.counts else layout.ENTRIES
        return tuple(i for i in range(end) if self.observe_used or i not in used)

    # Starting an episode.

    def reset_env(self, key: jax.Array, params: Params) -> tuple[jax.Array, State]:
        """A fresh chemistry and fresh items for all trials; the key is consumed.

        Raises:
            InputError: a fixed part of the chemistry that is not integer or, unless traced, out of range.
        """
        for name in chem.SIZES:
            chem.check_part(name, getattr(params, name), -1)
        keys = jax.random.split(key, 3)
        drawn = chem.Source(self.bottlenecks, None if self.rotation else 0).sample(keys[0])
        # Tables are read without bounds checks, so traced numbers are kept inside them.
        fixed = [jnp.minimum(jnp.asarray(getattr(params, name), jnp.int32), size - 1) for name, size in chem.SIZES.items()]
        drawn = Chemistry(*(jnp.where(f < 0, d, f) for f, d in zip(fixed, jax.tree.leaves(drawn), strict=True)))
        return self._start(drawn, self._draw_items(keys[1]), inputs.draw(self.see, keys[2]))

    def reset_with(self, chemistry: Chemistry, stones: Any, potions: Any, key: jax.Array | None = None) -> tuple[jax.Array, State]:
        """Begin a given episode.

        Args:
            chemistry: the hidden chemistry, one with scalar fields; `jax.vmap` this method over a batch.
            stones: latent corner of every stone, int [trials, stones]; 8: none there.
            potions: latent type of every potion, int [trials, potions]; 6: none there.
            key: only needed where `see` draws what is shown; consumed.

        Raises:
            InputError: no chemistry or one out of range, shapes do not fit this environment, corners beyond 8, types beyond 6, or a key is
                missing.
        """
        chem.check(chemistry)
        shapes = {np.shape(getattr(chemistry, name)) for name in chem.SIZES}
        require(shapes == {()}, "chemistry", f"with fields of shapes {sorted(shapes)}", "one with scalar fields (jax.vmap over a batch)")
        self.check_items("stones", stones)
        self.check_items("potions", potions)
        require(key is not None or not inputs.is_drawn(self.see), "key", None, "a key, since `see` draws what an episode shows")
        return _begin(self, chem.as_int32(chemistry), jnp.asarray(stones, jnp.int32), jnp.asarray(potions, jnp.int32), key)

    def _begin(self, c: Chemistry, stones: jax.Array, potions: jax.Array, key: jax.Array | None) -> tuple[jax.Array, State]:
        """The same without checks."""
        colours = jnp.asarray(np.pad(chem.colour_of_type(), ((0, 0), (0, 1)), constant_values=layout.NO_POTION))[c.potion_map]
        potions = colours[_pad(potions, layout.POTIONS, layout.NO_POTION)]
        stones = _pad(stones, layout.STONES, layout.NO_STONE)
        items = jnp.concatenate([layout.pack_stones(stones)[:, None], layout.pack_potions(potions)], axis=1)
        return self._start(c, items, None if key is None else inputs.draw(self.see, key))

    def check_items(self, argument: str, value: Any, batch: tuple[int, ...] = ()) -> None:
        """Refuse items that no episode of this environment brings; of traced ones only shape and type are looked at.

        Args:
            argument: "stones" or "potions".
            value: int [*batch, trials, stones or potions].
            batch: sizes of leading axes.

        Raises:
            InputError: another shape, not integers, or numbers out of range.
        """
        brought, none = {"stones": (self.stones, layout.NO_STONE), "potions": (self.potions, layout.NO_POTION)}[argument]
        shape = (*batch, self.trials, brought)
        allowed = f"integers from 0 to {none - 1} (or {none}: none) of shape {list(shape)}"
        array = value if isinstance(value, Tracer) else as_array(argument, value, allowed)
        require(array.shape == shape, argument, f"of shape {array.shape}", allowed)
        require(np.issubdtype(array.dtype, np.integer), argument, f"of type {array.dtype}", allowed)
        if isinstance(array, np.ndarray):
            wrong = array[(array < 0) | (array > none)]
            require(wrong.size == 0, argument, f"an array with a {wrong.flat[0] if wrong.size else None}", allowed)

    def _draw_items(self, key: jax.Array) -> jax.Array:
        """Stones uniform on the corners, potions uniform on the colours, all independent: uint32 [trials, 4].

        Four colours come from one random word, by multiplying what is left of it by six: probabilities are right within 2^-21.
        """
        # Drawn in one axis: a small second one costs four times as much on a CPU.
        bits = jax.random.bits(key, (self.trials * (1 + layout.POTION_WORDS),), jnp.uint32).reshape(self.trials, -1)
        brought = (1 << 4 * self.stones) - 1  # bits of the slots that hold a stone
        stones = bits[:, 0] & jnp.uint32(0x777 & brought) | jnp.uint32(layout.NO_STONES & ~brought)
        left, words = bits[:, 1:], jnp.zeros((self.trials, layout.POTION_WORDS), jnp.uint32)
        for place in range(4):
            low, high = (left & jnp.uint32(0xFFFF)) * 6, (left >> 16) * 6
            total = high + (low >> 16)
            colour, left = total >> 16, total << 16 | low & jnp.uint32(0xFFFF)
            slots = np.arange(place, layout.POTIONS, 4)
            byte = jnp.where(slots < self.potions, colour | jnp.uint32(layout.FRESH), jnp.uint32(layout.USED))
            words |= byte << 8 * place
        return jnp.concatenate([stones[:, None], words], axis=1)

    def _start(self, chemistry: Chemistry, items: jax.Array, shown: Any) -> tuple[jax.Array, State]:
        stones = items[0, 0]
        known = knowledge.see(knowledge.nothing(), stones, chemistry.stone_map)
        state = State(
            chemistry=chemistry,
            stones=stones,
            potions=(items[0, 1], items[0, 2], items[0, 3]),
            items=items,
            trial=jnp.zeros((), jnp.int32),
            step=jnp.zeros((), jnp.int32),
            known=known,
            tracked=tracker.start(chemistry, known) if inputs.shows(self.see, "belief") else None,
            shown=shown,
        )
        return self._observe(state), state

    # Playing it.

    def step_env(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> Transition[State]:
        """One step; the world itself is deterministic, the key is not used.

        Args:
            key: not used.
            state: state before.
            action: int [].
            params: the game's numbers.

        Returns:
            obs float32 [entries]; state; reward float32 []; terminated: the last trial is over; truncated: never; info with
            `trial` (int32, -1 when the episode is over), `new_trial` (bool: the items shown are a new trial's) and, if asked for,
            `action_mask` bool [actions]. A step after the end changes nothing, gives 0 and is terminated again.
        """
        if self.debug and not isinstance(action, Tracer):
            require_integer("action", action, 0, self.actions - 1)
        after, reward, ends = self.act(state, jnp.asarray(action).astype(jnp.int32), params)
        after, new_trial = _once(self.next_trial(after, ends))
        over = after.trial >= self.trials
        info = {"trial": jnp.where(over, -1, after.trial), "new_trial": new_trial}
        if self.mask:
            info["action_mask"] = self._possible(after)
        return self._observe(after), after, reward, over, jnp.zeros((), jnp.bool_), info

    def act(self, state: State, action: jax.Array, params: Params) -> tuple[State, jax.Array, jax.Array]:
        """The first half of a step: the table after an action, its reward, and whether the trial ends with it.

        Args:
            state: state before.
            action: int32 [].
            params: the game's numbers.
        """
        running = state.trial < self.trials
        ends = state.step + 1 >= self.steps
        if self.end_trial:
            ends |= action == 0
        pair = (action - 1 - self.end_trial).astype(jnp.uint32)  # no-op and end become a slot that does not exist
        slot, target = pair // np.uint32(self._targets), (pair % np.uint32(self._targets)).astype(jnp.int32)
        shift = 4 * jnp.minimum(slot, jnp.uint32(layout.STONES))
        corner = (state.stones >> shift & jnp.uint32(15)).astype(jnp.int32)
        there = running & (slot < layout.STONES) & (corner < layout.NO_STONE)
        cashed = there & (target == CAULDRON)
        potion = layout.first_slot(state.potions, target - 1) if self.typed_actions else target - 1
        byte = 8 * (potion & 3).astype(jnp.uint32)
        which, (low, middle, high) = potion >> 2, state.potions
        word = jnp.where(which == 0, low, jnp.where(which == 1, middle, high))
        colour = (word >> byte & jnp.uint32(15)).astype(jnp.int32)
        used = there & (target != CAULDRON) & (potion < layout.POTIONS) & (colour < layout.NO_POTION)

        c = state.chemistry
        kind = graphs.look(chem.type_of_colour(), c.potion_map * 6 + jnp.minimum(colour, 5))
        moved = graphs.look(graphs.transitions(), c.graph * 48 + jnp.minimum(corner, 7) * 6 + kind)
        new = jnp.where(used, moved, jnp.where(cashed, layout.NO_STONE, corner))
        corner, new, colour, used, cashed, value = _once((corner, new, colour, used, cashed, self.values(params)[jnp.minimum(corner, 7)]))
        changed = jnp.where(used | cashed, (corner ^ new).astype(jnp.uint32) << shift, 0)
        spent = jnp.where(used, jnp.uint32(layout.USED ^ layout.FRESH) ^ colour.astype(jnp.uint32), 0) << byte
        after = State(
            chemistry=c,
            stones=state.stones ^ changed,
            potions=tuple(word ^ jnp.where(which == i, spent, 0) for i, word in enumerate(state.potions)),  # pyright: ignore[reportArgumentType]
            items=state.items,
            trial=state.trial,
            step=state.step + running.astype(jnp.int32),
            known=knowledge.try_potion(state.known, corner, new, colour, used, c.stone_map),
            tracked=None if state.tracked is None else tracker.potion(state.tracked, c, corner, new, colour, used),
            shown=state.shown,
        )
        zero = jnp.zeros((), jnp.float32)
        reward = jnp.where(cashed, value, zero) + jnp.where(used, jnp.asarray(params.per_potion, jnp.float32), zero)
        return after, reward, running & ends

    def values(self, params: Params) -> jax.Array:
        """What a stone at each latent corner is worth, float32 [8]."""
        sides = jnp.asarray(chem.corner_coordinates(), jnp.float32)
        linear = (sides * jnp.asarray(params.coefficients, jnp.float32)).sum(-1, dtype=jnp.float32)
        best = jnp.asarray(np.arange(graphs.CORNERS) == graphs.CORNERS - 1, jnp.float32)
        return linear + jnp.asarray(params.offset, jnp.float32) + best * jnp.asarray(params.bonus, jnp.float32)

    def next_trial(self, state: State, ends: jax.Array) -> tuple[State, jax.Array]:
        """The second half: count the trial if it ends and bring the next one's items; after the last one the table stays as it is.

        Returns:
            state, and whether a new trial begins, bool [].
        """
        trial = state.trial + ends.astype(jnp.int32)
        fresh = ends & (trial < self.trials)
        items = state.items[jnp.minimum(trial, self.trials - 1)]
        stones = jnp.where(fresh, items[0], state.stones)
        known = select(fresh, knowledge.see(state.known, stones, state.chemistry.stone_map), state.known)
        tracked = state.tracked
        if tracked is not None:
            tracked = jnp.where(fresh, tracker.new_trial(tracked, state.chemistry, known), tracked)
        after = State(
            chemistry=state.chemistry,
            stones=stones,
            potions=select(fresh, (items[1], items[2], items[3]), state.potions),
            items=state.items,
            trial=trial,
            step=jnp.where(ends, 0, state.step),
            known=known,
            tracked=tracked,
            shown=state.shown,
        )
        return after, fresh

    def _possible(self, state: State) -> jax.Array:
        """Actions that do something to the table; the no-op and the end of a trial always count, bool [actions]."""
        stone = layout.unpack_stones(state.stones) < layout.NO_STONE
        potion = layout.colour_counts(state.potions) > 0 if self.typed_actions else layout.unpack_potions(state.potions) < layout.NO_POTION
        into = jnp.concatenate([jnp.ones((1,), jnp.bool_), potion])
        always = jnp.ones((1 + self.end_trial,), jnp.bool_)
        return jnp.concatenate([always, (stone[:, None] & into).reshape(-1)])

    def _observe(self, state: State) -> jax.Array:
        c = state.chemistry
        obs = layout.display(state.stones, state.potions, c.rotation * 8 + c.stone_map)
        parts = [obs if len(self._columns) == layout.ENTRIES else obs[np.array(self._columns, np.int32)]]
        if self.counts:
            parts.append(layout.colour_counts(state.potions).astype(jnp.float32) / np.float32(layout.POTIONS))
        if self.clock:
            count = jnp.stack([state.trial, state.step]).astype(jnp.float32)
            parts.append(count / np.array([self.trials, self.steps], np.float32))
        if self.see != "none":
            parts.append(inputs.show(self.see, c, state.known, state.tracked, state.shown, self.rotation))
        return jnp.concatenate(parts) if len(parts) > 1 else parts[0]

    def render(self, state: State, params: Params) -> np.ndarray:
        """The table top: stones and their worth, potions, cauldron, the cube with what is known of it; uint8 [height, width, 3]."""
        from jaxdiff.alchemy import picture

        return picture.table_top(self, state, params)


@partial(jax.jit, static_argnums=0)
def _begin(env: Alchemy, c: Chemistry, stones: jax.Array, potions: jax.Array, key: jax.Array | None) -> tuple[jax.Array, State]:
    """Compiled once per environment: begun one by one, episodes would cost a hundred small calls each."""
    return env._begin(c, stones, potions, key)


def _once(tree: Any) -> Any:
    """The same values, computed once: XLA's CPU compiler would compute the step anew for every array that needs them."""
    return jax.lax.optimization_barrier(tree) if jax.default_backend() == "cpu" else tree


def _pad(items: Any, slots: int, none: int) -> jax.Array:
    array = jnp.asarray(items, jnp.int32)
    return jnp.pad(array, ((0, 0), (0, slots - array.shape[1])), constant_values=none)
