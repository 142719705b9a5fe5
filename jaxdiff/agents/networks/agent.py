"""A whole network: encoder, core, heads, for a world and a configuration; `step` for acting, `unroll` for learning.

Memory is emptied where an episode starts, by the one flag `is_first`. Axes: T steps, B environments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flax.linen as nn
import jax

from jaxdiff.agents import table
from jaxdiff.agents.inputs import Inputs
from jaxdiff.agents.networks.encoders import FlatEncoder, check_world
from jaxdiff.agents.networks.gru import GRU
from jaxdiff.agents.networks.gtrxl import GTrXL
from jaxdiff.agents.networks.heads import FlatHeads, Output
from jaxdiff.agents.networks.lstm import LSTM
from jaxdiff.agents.networks.slots import Events, PairScorer, Slots
from jaxdiff.core.environment import Environment, select
from jaxdiff.core.errors import require, require_integer

CORES = ("slots", "gru", "lstm", "gtrxl")


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of a network.

    Attributes:
        core: one of `CORES`; slots are for Alchemy.
        units: of the core (of each slot).
        encoder_units: of the layer before the core.
        scorer_units: of the slots' scorer.
        layers, heads, head_units, mlp_units, memory: of the transformer.
        clock: whether flat cores are shown how far the episode is.
        mask: whether actions that do nothing on Alchemy's table are masked, by the observation's own used flags (slots always do).
    """

    core: str = "slots"
    units: int = 48
    encoder_units: int = 48
    scorer_units: int = 64
    layers: int = 2
    heads: int = 4
    head_units: int = 16
    mlp_units: int = 128
    memory: int = 64
    clock: bool = True
    mask: bool = True

    def __post_init__(self) -> None:
        require(self.core in CORES, "core", self.core, f"one of {', '.join(CORES)}")
        for name in ("units", "encoder_units", "scorer_units", "layers", "heads", "head_units", "mlp_units", "memory"):
            require_integer(name, getattr(self, name), 1)


class Network(nn.Module):
    """Encoder, core and heads with one set of parameters.

    Attributes:
        encoder, core, heads: modules.
        interface: how Alchemy's table is read for the mask of a flat network; None: no mask.
    """

    encoder: Any
    core: Any
    heads: Any
    interface: table.Interface | None = None

    @nn.nowrap
    def initial(self, batch: int) -> Any:
        """Memory at the start of B episodes."""
        return self.core.initial(batch)

    def step(self, memory: Any, inputs: Inputs) -> tuple[Any, Output]:
        """One step of B environments: inputs [B] -> memory, output [B]."""
        memory = select(inputs.is_first, self.initial(inputs.is_first.shape[0]), memory)
        memory, hidden = self.core.step(memory, self.encoder(inputs))
        return memory, self._heads(hidden, inputs)

    def unroll(self, memory: Any, inputs: Inputs) -> tuple[Any, Output]:
        """T steps of B environments: inputs [T, B] -> memory, output [T, B]."""
        memory, hidden = self.core.unroll(memory, self.encoder(inputs), inputs.is_first)
        return memory, self.heads.blocks(hidden, inputs) if isinstance(self.heads, PairScorer) else self._heads(hidden, inputs)

    def _heads(self, hidden: jax.Array, inputs: Inputs) -> Output:
        if isinstance(self.heads, PairScorer):
            return self.heads(hidden, inputs)
        if self.interface is None:
            return self.heads(hidden, None)
        return self.heads(hidden, self.interface.possible_actions(self.interface.read(inputs.observation)))


def build(config: NetworkConfig, env: Environment[Any, Any], params: Any) -> Network:
    """The network of a configuration for a world.

    Raises:
        InputError: a world whose observation or actions the encoder does not know.
    """
    from jaxdiff.alchemy.world import Alchemy

    if config.core == "slots":
        shown = table.interface(env)  # pyright: ignore[reportArgumentType]
        scorer = PairScorer(shown, config.scorer_units, env.trials)  # pyright: ignore[reportAttributeAccessIssue]
        return Network(Events(shown, config.encoder_units), Slots(config.units), scorer)
    space, actions = check_world(env, params)
    alchemy = isinstance(env, Alchemy)
    episode = int(env.trials * env.steps) if alchemy else int(getattr(env, "steps", 0) or 0)
    encoder = FlatEncoder(
        space, actions, config.encoder_units, episode if config.clock else 0, env.steps if alchemy and config.clock else 0
    )
    if config.core == "gtrxl":
        core: Any = GTrXL(config.units, config.layers, config.heads, config.head_units, config.mlp_units, config.memory)
    else:
        core = {"gru": GRU, "lstm": LSTM}[config.core](config.units)
    return Network(encoder, core, FlatHeads(sum(actions)), table.interface(env) if alchemy and config.mask else None)
