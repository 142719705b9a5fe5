"""What a sweep of automata will take: tasks, bytes, and the time that a small piece of it took just now on these devices."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np

from jaxdiff.automata import strategies
from jaxdiff.core import devices as many
from jaxdiff.core.devices import Devices
from jaxdiff.core.errors import require_integer
from jaxdiff.sweep import runner
from jaxdiff.sweep.automata import SEQUENTIAL, Grid, Sweep
from jaxdiff.sweep.job import Task

# What is timed: few steps of few policies in all the rules.
_STEPS, _ITEMS, _REPEATS = 100, 64, 3


@dataclass(frozen=True)
class Line:
    """One strategy's part of a plan.

    Attributes:
        strategy: its name.
        tasks, done: all of its tasks, and those whose results are in the store.
        policy_steps: steps of policies that are left to be simulated.
        batch: rewards in one call, on all devices.
        device_bytes: memory that a call needs on each device, at most.
        compile_seconds: to compile and run the piece that was timed, once.
        seconds: expected for what is left, without compilation.
    """

    strategy: str
    tasks: int
    done: int
    policy_steps: int
    batch: int
    device_bytes: int
    compile_seconds: float
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What a sweep will take.

    Attributes:
        lines: one a strategy.
        store_bytes: of the finished store.
        host_bytes: largest results that are held at once.
        devices: how many share the work, of this process.
    """

    lines: tuple[Line, ...]
    store_bytes: int
    host_bytes: int
    devices: int


def plan(grid: Grid, path: Path | None = None, batch: int | None = None, devices: Devices = None) -> Plan:
    """Plan a sweep.

    Args:
        grid: what to sweep.
        path: its store; what is there already is not counted again.
        batch: rewards in one call; what is best when None.
        devices: of this process; JAX's default device when None.

    Raises:
        InputError: the store belongs to another sweep.
    """
    if batch is not None:
        require_integer("batch", batch, 1)
    job = Sweep(grid)
    left = {task.name for task in (job.tasks() if path is None else runner.missing(job, path))}
    tasks = [task for task in job.tasks() if task.size]
    lines = tuple(
        _line(job, strategy, [t for t in tasks if _strategy(grid, t) == strategy], left, batch, devices) for strategy in grid.strategies
    )
    sizes = {name: np.dtype(v.dtype).itemsize * prod(v.shape) for name, v in job.layout().variables.items()}
    largest = max(8 * prod(s.stop - s.start for s in t.regions["numerator"]) for t in tasks)
    return Plan(lines, sum(sizes.values()), 2 * largest, many.count(devices))


def _strategy(grid: Grid, task: Task) -> str:
    return grid.strategies[task.regions["numerator"][0].start]


def _line(job: Sweep, strategy: str, tasks: list[Task], left: set[str], batch: int | None, devices: Devices) -> Line:
    g = job.grid
    todo = [task for task in tasks if task.name in left]
    steps = sum(task.size for task in todo)
    walk_steps = g.walk_steps if strategy == "random_walk" else 0
    used = batch or job.largest_batch(tasks[0], devices)
    first, again, size = _timed(g, strategy, used, devices) if todo else (0.0, 0.0, 1)
    return Line(
        strategy,
        len(tasks),
        len(tasks) - len(todo),
        steps,
        used,
        used // many.count(devices) * strategies.bytes_a_reward(g.width, walk_steps),
        first - again,
        again * steps / size,
    )


def _timed(grid: Grid, strategy: str, batch: int, devices: Devices) -> tuple[float, float, int]:
    """Seconds of a small piece the first time and the best of the later ones, and its steps of policies."""
    policies = min(grid.policies, _ITEMS if strategy in SEQUENTIAL else max(batch // len(grid.rules), 1))
    populations = grid.populations if strategy in SEQUENTIAL else 1
    small = replace(
        grid,
        strategies=(strategy,),
        policies=policies,
        populations=populations,
        walkers=0,
        steps=min(grid.steps, _STEPS),
        walk_steps=min(grid.walk_steps, _STEPS),
    )
    job = Sweep(small)
    task = job.tasks()[-1]
    seconds = []
    for _ in range(1 + _REPEATS):
        start = time.monotonic()
        job.evaluate(task, batch, devices)
        seconds.append(time.monotonic() - start)
    return seconds[0], min(seconds[1:]), task.size
