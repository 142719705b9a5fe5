"""A row of a reproduction: a number of a paper, the same number here, their difference, and whether it agrees."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

VERDICTS = {True: "inside", False: "OUTSIDE", None: "(informational)"}


@dataclass(frozen=True, kw_only=True)
class PaperRow:
    """What rows of all papers have; a study adds what its own need.

    Attributes:
        table: where the number stands in the paper.
        quantity: what it is.
        paper: what the paper says; NaN where it says nothing.
        here: what was found.
        inside: whether they agree; None where the row is informational.
    """

    table: str
    quantity: str
    paper: float
    here: float
    inside: bool | None

    @property
    def difference(self) -> float:
        """Here less paper."""
        return self.here - self.paper

    def as_dict(self) -> dict[str, Any]:
        """Fields and difference, for JSON; null where there is no number."""
        fields = {**asdict(self), "difference": self.difference}
        return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in fields.items()}
