"""Heads: what a network says at a step, and the plain policy and value heads behind a flat core."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxdiff.agents.networks.dense import Dense
from jaxdiff.agents.networks.initial import scaled

MASKED = -1e9  # the logit of an action that is masked: its probability is 0, and nothing overflows


@partial(jax.tree_util.register_dataclass, data_fields=["logits", "value", "hidden"], meta_fields=[])
@dataclass(frozen=True)
class Output:
    """What a network says, arrays with leading axes [...].

    Attributes:
        logits: of the actions, float32 [..., A]; for actions of several parts the parts' logits one after another.
        value: expected discounted sum of scaled rewards, float32 [...].
        hidden: what auxiliary heads are given, float32 [..., H] or [..., 6, H].
    """

    logits: Any
    value: Any
    hidden: Any


class FlatHeads(nn.Module):
    """Policy and value behind a flat core.

    Attributes:
        logits: how many.
    """

    logits: int

    @nn.compact
    def __call__(self, hidden: jax.Array, possible: jax.Array | None) -> Output:
        """Hidden [..., H] -> output; `possible`, bool [..., A], marks actions that are not masked."""
        logits = Dense(self.logits, scaled(0.01), name="policy")(hidden)
        value = Dense(1, scaled(1.0), name="value")(hidden)[..., 0]
        if possible is not None:
            logits = jnp.where(possible, logits, MASKED)
        return Output(logits, value, hidden)
