"""One line of an answer: a number, its interval, how far populations differ, and what the paper says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from jaxdiff.difficulty.agreement import Correlation, Stability


@dataclass(frozen=True)
class Answer:
    """A number that answers part of a question.

    Attributes:
        quantity: what it is.
        value: the number.
        low, high: 95 % interval over rules; NaN where there is none.
        least, most: over populations, or over pairs of them.
        paper: what the paper says about it; empty where it says nothing.
    """

    quantity: str
    value: float
    low: float
    high: float
    least: float
    most: float
    paper: str = ""

    @classmethod
    def of(cls, quantity: str, correlation: Correlation, paper: str = "") -> Answer:
        """From a rank correlation."""
        c = correlation
        return cls(quantity, c.value, c.low, c.high, c.least, c.most, paper)

    @classmethod
    def stable(cls, quantity: str, stability: Stability) -> Answer:
        """From the agreement of populations."""
        return cls(quantity, stability.mean, float("nan"), float("nan"), stability.least, stability.most)

    def as_dict(self) -> dict[str, Any]:
        """Fields, for JSON."""
        return asdict(self)
