"""The state of training: one pytree, everything that a resumed run needs, keys as their data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["learned", "acting", "optimiser", "memory", "inputs", "world", "returns", "key", "updates"],
    meta_fields=[],
)
@dataclass(frozen=True)
class TrainState:
    """State of training with B environments.

    Attributes:
        learned: parameters: `network`, `auxiliary`, and for V-MPO `duals`.
        acting: parameters of the network that acts, where it is another (V-MPO's target); else None.
        optimiser: its state.
        memory: of the network, [B, ...].
        inputs: of the next step, [B, ...].
        world: the environments' states under auto-reset, [B, ...].
        returns: sum of rewards of the running episodes, float32 [B].
        key: data of a PRNG key, uint32 [2].
        updates: how many there were, int32 [].
    """

    learned: Any
    acting: Any
    optimiser: Any
    memory: Any
    inputs: Any
    world: Any
    returns: Any
    key: Any
    updates: Any
