"""What can be swept: a job says which arrays it fills, cuts the work into tasks, and computes a task.

A task fills whole chunks of a store and depends on nothing but the job, so tasks may run in any order, on any host, on any number of
devices, today or after a crash. The runner knows jobs only by this protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jaxdiff.core.devices import Devices
from jaxdiff.sweep.store import Layout, Region

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Task:
    """A piece of work that is done or not.

    Attributes:
        name: for people.
        regions: what it fills, whole chunks, by variable.
        size: steps of policies it takes, for progress and plans; 0 for what takes next to nothing.
    """

    name: str
    regions: Mapping[str, Region]
    size: int


class Job(Protocol):
    """Work that a runner can do."""

    def layout(self) -> Layout:
        """The arrays, and what makes this job the same as another."""
        ...

    def tasks(self) -> list[Task]:
        """All the work, in the order in which it is best done."""
        ...

    def evaluate(self, task: Task, batch: int | None, devices: Devices, report: Report | None = None) -> dict[str, np.ndarray]:
        """The values of a task's regions, by variable.

        Args:
            task: one of `tasks`.
            batch: rewards that are computed in one call on all devices; what is best when None. No result depends on it.
            devices: of this process.
            report: called with (done, in all) within the task.
        """
        ...

    def largest_batch(self, task: Task, devices: Devices) -> int:
        """The batch that `evaluate` takes for None."""
        ...
