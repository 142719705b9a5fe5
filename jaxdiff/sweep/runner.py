"""Do a job, a task at a time, into a store: what is there is kept, what is missing or damaged is computed.

A task that is killed leaves nothing behind, and a task that is done is never computed again. While one task is computed, the one
before it is written. A device that runs out of memory is given half as much at a time, down to nothing worth running. Hosts share the
tasks evenly and write to the same store, which must lie where all of them see it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

from jaxdiff.core import devices as many
from jaxdiff.core.devices import Devices
from jaxdiff.core.errors import InputError, require_integer
from jaxdiff.sweep import store as stores
from jaxdiff.sweep.hosts import Hosts
from jaxdiff.sweep.job import Job, Task

Progress = Callable[[str, int, int], None]
# A batch of so few rewards that does not fit is not a matter of its size any more.
LEAST_BATCH = 256
# How often a host that has done its part looks for the others.
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Done:
    """What a run did.

    Attributes:
        tasks: of this host.
        computed: names of those that were computed now, in order.
        damaged: names of those whose chunks were there, but damaged, and were computed again.
        size: steps of policies that were computed.
        seconds: they took, with writing.
        halvings: how many times a batch was halved because the devices' memory was too small.
    """

    tasks: int
    computed: tuple[str, ...]
    damaged: tuple[str, ...]
    size: int
    seconds: float
    halvings: int


def run(
    job: Job,
    path: str | Path,
    *,
    batch: int | None = None,
    devices: Devices = None,
    hosts: Hosts | None = None,
    progress: Progress | None = None,
) -> Done:
    """Fill the store of a job.

    Args:
        job: what to do.
        path: the store, a folder; made if need be.
        batch: rewards that are computed in one call; what is best for the devices when None.
        devices: all devices of this process when None.
        hosts: who shares the work; this process alone when None.
        progress: called with (what, steps done, steps in all) now and then.

    Raises:
        InputError: the store belongs to another job or is in use, the disk is full, the devices' memory is too small for anything.
    """
    if batch is not None:
        require_integer("batch", batch, 1)
    hosts, path = hosts or Hosts(), Path(path)
    layout = job.layout()
    with stores.lock(path) if hosts.index == 0 else nullcontext():
        if hosts.index == 0:
            stores.open_for_writing(path, layout)
        with hosts.joined(path):
            store = stores.open_for_writing(path, layout, sweep_up=False)
            done = _fill(job, store, batch, jax.local_devices() if devices is None else devices, hosts, progress)
            _await(job, store, hosts)
    return done


def missing(job: Job, path: str | Path) -> list[Task]:
    """The tasks that are still to be done; all of them where there is no store yet.

    Raises:
        InputError: the store belongs to another job.
    """
    if not Path(path).exists():
        return job.tasks()
    store = stores.open_for_writing(path, job.layout(), sweep_up=False)
    return [task for task in job.tasks() if not store.whole(task.regions)]


def _fill(job: Job, store: stores.Store, batch: int | None, devices: Devices, hosts: Hosts, progress: Progress | None) -> Done:
    start = time.monotonic()
    mine = hosts.share(job.tasks())
    state = {task.name: store.whole(task.regions) for task in mine}
    todo = [task for task in mine if not state[task.name]]
    total = sum(task.size for task in todo)
    attempt = _Attempt(job, batch, devices)
    computed: list[str] = []
    finished = 0
    with ThreadPoolExecutor(1) as writer:
        writing: Future[None] | None = None
        for task in todo:

            def within(done: int, of: int, task: Task = task, before: int = finished) -> None:
                if progress is not None:
                    progress("sweep", before + task.size * done // max(of, 1), total)

            values = attempt(task, within)
            _written(writing, store, len(computed), len(mine) - len(todo), len(mine))
            writing = writer.submit(store.write, task.regions, values)
            computed.append(task.name)
            finished += task.size
            within(0, 1, task, finished)
        _written(writing, store, len(computed), len(mine) - len(todo), len(mine))
    damaged = tuple(name for name, whole in state.items() if whole is False)
    return Done(len(mine), tuple(computed), damaged, total, time.monotonic() - start, attempt.halvings)


def _await(job: Job, store: stores.Store, hosts: Hosts) -> None:
    """Until the other hosts have done their parts too."""
    every = job.tasks()
    mine = {task.name for task in hosts.share(every)}
    left = [task for task in every if task.name not in mine]
    while left := [task for task in left if not store.whole(task.regions)]:
        gone = hosts.absent(store.path)
        if gone and not all(store.whole(task.regions) for task in left):
            raise InputError(
                "process", f"{', '.join(map(str, gone))}, which has ended early", "the same command again; it goes on from there"
            )
        time.sleep(POLL_SECONDS)


def _written(writing: Future[None] | None, store: stores.Store, computed: int, found: int, tasks: int) -> None:
    """Wait until a task is written."""
    if writing is None:
        return
    try:
        writing.result()
    except OSError as error:
        there = found + max(computed - 1, 0)
        raise InputError(
            "out",
            str(store.path),
            f"a place that can be written to the end; {error.strerror or error} with {there} of {tasks} tasks done. "
            "The same command goes on from there",
        ) from error


class _Attempt:
    """Computes tasks, halving the batch whenever the devices' memory is too small; a smaller batch is kept for the tasks to come."""

    def __init__(self, job: Job, batch: int | None, devices: Devices) -> None:
        self._job, self._batch, self._devices = job, batch, devices
        self.halvings = 0

    def __call__(self, task: Task, report: Callable[[int, int], None]) -> dict[str, np.ndarray]:
        while True:
            try:
                return self._job.evaluate(task, self._batch, self._devices, report)
            except (jax.errors.JaxRuntimeError, MemoryError) as error:
                if not (isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)):
                    raise
                tried = self._batch or self._job.largest_batch(task, self._devices)
                if tried // 2 < LEAST_BATCH * many.count(self._devices):
                    raise InputError("batch", tried, f"a task that fits in the devices' memory; {task.name} does not") from error
                self._batch = tried // 2
                self.halvings += 1
