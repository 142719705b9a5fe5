"""What an agent knows and sees in the middle of a trial, for planning on the host.

Knowledge is exact: for each rotation that is still possible one graph set (or none) for each of the 48 maps of potions, and a bit set of
stone maps. In the frame in which stones are seen after a rotation ("aligned"), these are independent, a priori and for ever, because
the prior over graphs is invariant under reflections; a stone that moves or stays tells about potions and graph, a value about the stone
map. A stone map is given here by its reflected axes, f = 7 ^ its index: latent corner = aligned corner ^ f.

Source: Wang et al., Alchemy (2021), appendix A.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from jaxdiff.alchemy import chemistry, graph_sets, graphs, items
from jaxdiff.alchemy.set_tables import set_tables

ROTATIONS = 4
END = -1  # the colour of "stop and cash what is worth something"
_ALL = 0xFF
_PLUS = np.array([bin(c).count("1") for c in range(8)])  # positive coordinates of a latent corner: what a value shows


@lru_cache
def corners_seen() -> np.ndarray:
    """Aligned corner under a supposed rotation of a stone at one under the true one, int64 [true, corner, supposed]; -1: none."""
    supposed = np.einsum("sij,rcj->rcsi", chemistry.rotation_matrices(), chemistry.perceived_features())
    corner = ((supposed > 0) << np.arange(3)).sum(-1)
    return np.where((np.abs(supposed) == 1).all(-1), corner, -1)


@dataclass(frozen=True)
class Knowledge:
    """What observations leave possible.

    Attributes:
        graph_sets: number of a graph set for each rotation and potion map, int16 [4, 48]; -1 is none.
        stone_maps: bit set of reflections f for each rotation, int64 [4]; 0 excludes the rotation.
        record: what the published observer remembers beside, int.
    """

    graph_sets: np.ndarray
    stone_maps: np.ndarray
    record: int = 0

    @property
    def rotations(self) -> list[int]:
        """Those still possible."""
        return [r for r in range(ROTATIONS) if self.stone_maps[r] and (self.graph_sets[r] >= 0).any()]

    @property
    def worlds(self) -> int:
        """How many (rotation, stone map, potion map, graph) are still possible."""
        return self._sum(set_tables().size)

    @property
    def weight(self) -> int:
        """Their total prior weight; 9,216 for each rotation and stone map in the beginning."""
        return self._sum(set_tables().weight)

    @property
    def entropy(self) -> float:
        """Of the posterior under the prior over graphs, in nats."""
        total, sets = self.weight, set_tables()
        logs = sets.graph_weight[:, :109] * np.log(np.maximum(sets.graph_weight[:, :109], 1))
        plog = sum(bin(self.stone_maps[r]).count("1") * logs[self.graph_sets[r][self.graph_sets[r] >= 0]].sum() for r in self.rotations)
        return float(np.log(total) - plog / total)

    def allows(self, truth: Truth) -> bool:
        """Whether a chemistry is among those still possible."""
        flip = 7 ^ truth.stone_map
        known = int(self.graph_sets[truth.rotation, truth.potion_map ^ flip])
        aligned = graphs.reflections()[flip, truth.graph]
        return bool(self.stone_maps[truth.rotation] >> flip & 1) and known >= 0 and bool(graph_sets.members()[known, aligned])

    def _sum(self, table: np.ndarray) -> int:
        return sum(
            bin(self.stone_maps[r]).count("1") * int(table[self.graph_sets[r][self.graph_sets[r] >= 0]].sum()) for r in range(ROTATIONS)
        )


def nothing_known(rotation: bool = False) -> Knowledge:
    """Before the first observation, in levels without and with rotation."""
    possible = np.array([_ALL, *((_ALL if rotation else 0,) * 3)], np.int64)
    return Knowledge(np.zeros((ROTATIONS, items.MAPS), np.int16), possible)


@dataclass(frozen=True)
class Sight:
    """What lies on the table.

    Attributes:
        corners: aligned corner of each stone under each rotation, int64 [4, 3]; -1 no corner, 8 used.
        shown: positive latent coordinates of each stone as its value shows them, int64 [3]; -1 used.
        colours: of the potions by slot, int64 [12]; -1 used.
    """

    corners: np.ndarray
    shown: np.ndarray
    colours: np.ndarray

    def counts(self) -> np.ndarray:
        """Potions of each colour, int64 [6]."""
        return np.bincount(self.colours[self.colours >= 0], minlength=items.TYPES)

    def without(self, stone: int) -> Sight:
        """After a stone was used."""
        corners, shown = self.corners.copy(), self.shown.copy()
        corners[:, stone], shown[stone] = items.ABSENT, -1
        return replace(self, corners=corners, shown=shown)

    def slot(self, colour: int) -> int:
        """First slot of a colour."""
        return int(np.flatnonzero(self.colours == colour)[0])


def see_stones(knowledge: Knowledge, sight: Sight) -> Knowledge:
    """What the stones of a new trial tell about rotation and stone map."""
    maps = knowledge.stone_maps.copy()
    for corners, shown in zip(sight.corners.T, sight.shown, strict=True):
        if shown < 0:
            continue
        for r in range(ROTATIONS):
            maps[r] &= _maps_showing(int(corners[r]), int(shown))
    return replace(knowledge, stone_maps=maps)


@lru_cache
def _maps_showing(corner: int, shown: int) -> int:
    """Bit set of the reflections under which an aligned corner shows a value."""
    return 0 if corner < 0 else sum(1 << f for f in range(8) if _PLUS[corner ^ f] == shown)


def see_use(knowledge: Knowledge, before: Sight, after: Sight, stone: int, colour: int) -> Knowledge:
    """What a potion's use tells."""
    sets, maps = np.full_like(knowledge.graph_sets, -1), np.zeros_like(knowledge.stone_maps)
    record = knowledge.record
    for r in knowledge.rotations:
        corner, then = int(before.corners[r, stone]), int(after.corners[r, stone])
        moved = corner ^ then
        possible = branches(knowledge.graph_sets[r], corner, colour)
        axis = {0: -1, 1: 0, 2: 1, 4: 2}.get(moved) if then >= 0 else None
        if axis is None:
            continue
        sets[r] = possible[1 + axis]
        maps[r] = knowledge.stone_maps[r]
        if moved:
            maps[r] &= _maps_showing(then, int(after.shown[stone])) & _maps_showing(corner, int(before.shown[stone]))
            record |= 1 << (48 + (colour >> 1))
        elif (possible[1:] >= 0).any():
            record |= 1 << (6 * corner + colour)
    return Knowledge(sets, maps, record)


def branches(sets: np.ndarray, corner: int, colour: int) -> np.ndarray:
    """Graph sets after "it did not move" and "it moved along axis 0, 1, 2", int16 [4, 48]."""
    table = set_tables()
    kind = items.target(np.arange(items.MAPS), colour)
    axis, side = kind >> 1, kind & 1
    possible, moves = sets >= 0, (corner >> axis & 1) != side
    edge = table.edge[corner, axis]
    after = np.full((4, items.MAPS), -1, np.int16)
    after[0] = np.where(possible, np.where(moves, table.absent[sets, edge], sets), -1)
    where = np.flatnonzero(possible & moves)
    after[1 + axis[where], where] = table.present[sets[where], edge[where]]
    return after


@dataclass(frozen=True)
class Truth:
    """The chemistry of an episode: what really happens. Indices as in `chemistry`."""

    graph: int
    potion_map: int
    stone_map: int
    rotation: int = 0

    @property
    def latent_types(self) -> np.ndarray:
        """Latent type of each colour, int64 [6]."""
        return items.target(np.int64(self.potion_map), np.arange(items.TYPES))

    def sight(self, stones: np.ndarray, potions: np.ndarray) -> Sight:
        """A trial's items as they are seen: latent corners int [3] (8: used), latent types int [12] (-1: used)."""
        stones = np.asarray(stones, np.int64)
        used = stones == items.ABSENT
        aligned = np.where(used, 0, stones) ^ (7 ^ self.stone_map)
        corners = np.where(used, items.ABSENT, corners_seen()[self.rotation, aligned].T)
        colour = np.append(np.argsort(self.latent_types), -1)
        return Sight(corners, np.where(used, -1, _PLUS[np.where(used, 0, stones)]), colour[np.asarray(potions)])

    def moved(self, corner: int, colour: int) -> int:
        """Latent corner of a stone after a potion of a colour."""
        kind, sets = int(self.latent_types[colour]), set_tables()
        axis, side = kind >> 1, kind & 1
        moves = (corner >> axis & 1) != side and sets.graph_edges[self.graph, sets.edge[corner, axis]]
        return corner ^ (1 << axis) if moves else corner
