"""How rewards become what agents learn from: everybody's own, or a bag shared by the members of a team (paper, section 3).

The paper puts the mean of the bag into every member's hand and asks what geometric or harmonic means would do. Those want positive
numbers, so rewards are mapped from [-1, 1] to [0, 1] and back; nothing found stays 0 for all three, and the weakest member counts the
more the farther one goes from the arithmetic mean. Axes: B sessions, m agents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require

Mean = Literal["mean", "geometric", "harmonic"]
MEANS = ("mean", "geometric", "harmonic")


@dataclass(frozen=True)
class Bag:
    """Who shares with whom.

    Attributes:
        teams: seats of each team; every seat in exactly one.
        mean: what a member gets: the team's arithmetic, geometric or harmonic mean.
    """

    teams: tuple[tuple[int, ...], ...]
    mean: Mean = "mean"

    def __post_init__(self) -> None:
        require(self.mean in MEANS, "mean", self.mean, f"one of {', '.join(MEANS)}")
        named = sorted(seat for team in self.teams for seat in team)
        require(len(named) > 0 and all(self.teams), "teams", self.teams, "at least one team, none of them empty")
        for seat in named:
            require(
                named.count(seat) == 1, "teams", f"{self.teams}, which names agent {seat} {named.count(seat)} times", "every agent once"
            )
        require(named == list(range(len(named))), "teams", f"{self.teams}, which leaves agents out", f"every agent from 0 to {named[-1]}")

    @property
    def agents(self) -> int:
        """How many agents, m."""
        return sum(len(team) for team in self.teams)

    @property
    def trivial(self) -> bool:
        """Whether nobody shares."""
        return all(len(team) == 1 for team in self.teams)

    def share(self, rewards: jax.Array) -> jax.Array:
        """What every agent learns from, float32 [B, m]."""
        if self.trivial:
            return rewards
        shared = [jnp.zeros(())] * self.agents
        for team in self.teams:
            value = self._mean([rewards[:, seat] for seat in team])
            for seat in team:
                shared[seat] = value
        return jnp.stack(shared, axis=1)

    def _mean(self, rewards: list[jax.Array]) -> jax.Array:
        # Added one by one: the order of a sum must not depend on how many sessions there are.
        count = np.float32(len(rewards))
        if self.mean == "mean":
            return sum(rewards[1:], rewards[0]) / count
        positive = [(1 + r) * np.float32(0.5) for r in rewards]
        if self.mean == "geometric":
            product = positive[0]
            for r in positive[1:]:
                product = product * r
            return 2 * product ** (1 / count) - 1
        parts = [1 / r for r in positive]  # a member with -1 makes the mean -1
        return 2 * count / sum(parts[1:], parts[0]) - 1


def alone(agents: int) -> Bag:
    """Everybody for himself."""
    return Bag(tuple((seat,) for seat in range(agents)))


def together(agents: int, mean: Mean = "mean") -> Bag:
    """One bag for all."""
    return Bag((tuple(range(agents)),), mean)
