"""Training: the host calls a jitted update, looks at its numbers, tells, logs and checkpoints every few seconds.

The budget is wall-clock seconds of training (compilation is not counted) or environment steps; schedules follow the share that is spent.
With a budget in steps a run is the same bit for bit, however often it was stopped and resumed.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxdiff.agents import checkpoint, update
from jaxdiff.agents.checkpoint import Counters
from jaxdiff.agents.config import TrainConfig
from jaxdiff.agents.logbook import Logbook
from jaxdiff.agents.state import TrainState
from jaxdiff.agents.teacher import Lesson
from jaxdiff.agents.update import BATCHED, Program
from jaxdiff.core import devices as core_devices
from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.held import HeldError, held

Report = Callable[[dict[str, Any]], None]
Evaluate = Callable[[TrainConfig, Any], dict[str, float]]
HELD_OUT = "held_out_"
Update = Callable[[TrainState, jax.Array], tuple[TrainState, dict[str, jax.Array]]]


class DivergedError(Exception):
    """A loss was not a number; the message names the update, and the last good state was saved."""


@dataclass(frozen=True)
class Run:
    """How a run is carried out; what is learned does not depend on it, but for the number of devices.

    Attributes:
        seed: of everything random.
        folder: for checkpoint, logbook and policy; nothing is written when None.
        devices: that share the environments; JAX's first when None.
        report_seconds, checkpoint_seconds: between lines of the logbook, and between checkpoints.
        tensorboard, wandb: see `Logbook.open`.
        evaluate: called now and then with the configuration and the network's parameters; what it says goes into the logbook, with
            `HELD_OUT` before the names. It has keys of its own, and its time is not counted.
        evaluate_updates, evaluate_seconds: after how many updates, or seconds of training; None: not by this.
        lesson: the teacher's whose digest the configuration names.
        stop_after: stop after so many updates in this process, as a kill would but in good order; None: at the end of the budget.
    """

    seed: int = 0
    folder: Path | None = None
    devices: Sequence[Any] | None = None
    report_seconds: float = 5.0
    checkpoint_seconds: float = 60.0
    tensorboard: bool = True
    wandb: str | None = None
    evaluate: Evaluate | None = None
    evaluate_updates: int | None = None
    evaluate_seconds: float | None = None
    lesson: Lesson | None = None
    stop_after: int | None = None


@dataclass(frozen=True)
class Trained:
    """What a run leaves: configuration, state, counters, its logbook's lines, seconds of compilation, whether its budget is spent."""

    config: TrainConfig
    state: TrainState
    counters: Counters
    lines: list[dict[str, Any]]
    compile_seconds: float
    finished: bool

    @property
    def parameters(self) -> Any:
        """Of the network."""
        return self.state.learned["network"]


def train(config: TrainConfig, run: Run | None = None, report: Report | None = None, say: Callable[[str], None] | None = None) -> Trained:
    """Train, or go on from the folder's checkpoint.

    Args:
        config: what is learned and for how long.
        run: how; see `Run`.
        report: called with every line of the logbook.
        say: called with a sentence where something is not as was asked for.

    Raises:
        InputError: a folder of another configuration or in use by another run, or environments that devices cannot share.
        DivergedError: a loss was not a number.
    """
    run = Run() if run is None else run
    require_integer("seed", run.seed, 0, 2**32 - 1)
    wanted, given = (config.teacher and config.teacher.log), (run.lesson and run.lesson.digest)
    if run.evaluate_updates is not None:
        require_integer("evaluate_updates", run.evaluate_updates, 1)
    require(run.evaluate_seconds is None or run.evaluate_seconds > 0, "evaluate_seconds", run.evaluate_seconds, "a positive number")
    require(wanted == given, "teacher", f"with digest {given}", f"the one that the configuration names: {wanted}")
    with ExitStack() as stack:
        before = None
        if run.folder is not None:
            run.folder.mkdir(parents=True, exist_ok=True)
            try:
                stack.enter_context(held(run.folder / "running", "a run of jaxdiff train"))
            except HeldError as error:
                raise InputError("out", f"{run.folder}, in use by another run", "a folder that no run uses now") from error
            checkpoint.check_config(run.folder, config)
            before = checkpoint.latest(run.folder)
            if before is not None:
                require(before.seed == run.seed, "seed", run.seed, f"{before.seed}, that of the run in {run.folder}")
        return _train(config, run, before, stack, report or (lambda line: None), say or (lambda text: None))


def _train(config: TrainConfig, run: Run, before: Counters | None, stack: ExitStack, report: Report, say: Callable[[str], None]) -> Trained:
    program = Program(config)
    count = config.environments if before is None else before.environments
    state, call, count, compiling = _ready(program, run, count, say, fixed=before is not None)
    counters = Counters(environments=count, seed=run.seed)
    if before is not None and run.folder is not None:
        state, counters = checkpoint.restore(run.folder, state), before
    book = stack.enter_context(
        Logbook.open(run.folder, counters.updates, tensorboard=run.tensorboard, wandb=run.wandb, config=dataclasses.asdict(config))
    )
    first, told, saved, gathered = counters.updates, time.perf_counter(), time.perf_counter(), []
    while (progress := spent(config, counters)) < 1 and (run.stop_after is None or counters.updates - first < run.stop_after):
        begin = time.perf_counter()
        after, numbers = call(state, jnp.float32(progress))
        numbers = jax.device_get(numbers)
        if not np.isfinite(numbers["loss"]):
            if run.folder is not None:
                checkpoint.save(run.folder, state, counters)
            where = f"; the state before it is in {run.folder}" if run.folder is not None else ""
            raise DivergedError(f"the loss of update {counters.updates + 1} (step {counters.steps}) is {numbers['loss']}{where}")
        now = time.perf_counter()
        state, earlier = after, counters
        counters = dataclasses.replace(
            counters,
            updates=counters.updates + 1,
            steps=counters.steps + counters.environments * config.steps,
            seconds=counters.seconds + now - begin,
        )
        gathered.append((now - begin, numbers))
        due = run.evaluate is not None and _due(run, earlier, counters)
        if due or now - told >= run.report_seconds or spent(config, counters) >= 1:
            line = _line(config, counters, gathered)
            if due and run.evaluate is not None:
                found = run.evaluate(config, jax.device_get(state.learned["network"]))
                line |= {HELD_OUT + name: value for name, value in found.items()}
            told = time.perf_counter()
            book.write(line)
            report(line)
            gathered = []
        if run.folder is not None and now - saved >= run.checkpoint_seconds:
            saved = now
            checkpoint.save(run.folder, state, counters)
    finished = spent(config, counters) >= 1
    if run.folder is not None:
        checkpoint.save(run.folder, state, counters)
        checkpoint.export(run.folder, config, jax.device_get(state.learned["network"]), dataclasses.asdict(counters))
    return Trained(config, state, counters, book.lines, compiling, finished)


def spent(config: TrainConfig, counters: Counters) -> float:
    """Share of the budget that is spent, at most 1."""
    if config.environment_steps is not None:
        return min(counters.steps / config.environment_steps, 1.0)
    return min(counters.seconds / (config.seconds or 1.0), 1.0)


def _due(run: Run, before: Counters, now: Counters) -> bool:
    """Whether the policy is evaluated after this update; it follows from the counters, so that a resumed run does the same."""
    by_updates = run.evaluate_updates is not None and now.updates % run.evaluate_updates == 0
    period = run.evaluate_seconds
    return by_updates or (period is not None and now.seconds // period > before.seconds // period)


def _line(config: TrainConfig, counters: Counters, gathered: list[tuple[float, dict[str, Any]]]) -> dict[str, Any]:
    """Means over the updates since the last line; of scores over those in which an episode ended."""
    seconds = sum(s for s, _ in gathered)
    share = spent(config, counters)
    out: dict[str, Any] = {
        "updates": counters.updates,
        "steps": counters.steps,
        "seconds": round(counters.seconds, 3),
        "spent": share,
        "steps_per_second": len(gathered) * counters.environments * config.steps / max(seconds, 1e-9),
        "seconds_left": counters.seconds * (1 - share) / max(share, 1e-9),
    }
    for name in gathered[0][1]:
        values = np.array([numbers[name] for _, numbers in gathered], np.float64)
        good = values[np.isfinite(values).reshape(len(values), -1).all(1)]
        mean = good.mean(0) if len(good) else np.full(values.shape[1:], np.nan)
        out[name] = mean.tolist()
    return out


# Making an update ready.


def sharing(config: TrainConfig, devices: Sequence[Any], *, fewer: bool = True) -> list[Any] | None:
    """The devices that share a configuration's environments, None for one alone.

    Args:
        config: what is learned.
        devices: those that there are.
        fewer: whether as many are taken as divide the environments; else all.
    """
    count = len(devices)
    while fewer and config.environments % (count * config.algorithm.minibatches):
        count -= 1
    return list(devices[:count]) if count > 1 else None


def _ready(program: Program, run: Run, count: int, say: Callable[[str], None], *, fixed: bool) -> tuple[TrainState, Update, int, float]:
    """State, compiled update, environments and seconds of compilation; halves the environments until they fit into memory."""
    shares = 1 if run.devices is None else len(run.devices)
    parts = shares * program.config.algorithm.minibatches
    while True:
        require(count % parts == 0, "environments", count, f"a multiple of devices x minibatches = {parts}")
        begin = time.perf_counter()
        try:
            state, call, needed = _compiled(program, run, count)
            free = core_devices.free_memory((run.devices or jax.local_devices())[0])
            fits = needed <= free
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            state, call, fits = None, None, False
        if fits and state is not None and call is not None:
            return state, call, count, time.perf_counter() - begin
        require(not fixed and count // 2 >= parts and count // 2 % parts == 0, "environments", count, "fewer: they do not fit into memory")
        count //= 2
        say(f"{2 * count} environments do not fit into memory: going on with {count}")


_start = jax.jit(update.start, static_argnums=(0, 2))


@lru_cache(maxsize=8)
def _jitted(program: Program, devices: tuple[Any, ...] | None) -> Any:
    """The jitted update of a configuration on some devices; made once, so that equal runs share their compilation."""
    if devices is None:
        return jax.jit(partial(update.update, program))
    mapped = jax.shard_map(
        lambda state, progress, lesson: update.update(program, state, progress, lesson, core_devices.AXIS),
        mesh=Mesh(np.asarray(devices), (core_devices.AXIS,)),
        in_specs=(_cuts(), PartitionSpec(), PartitionSpec()),
        out_specs=(_cuts(), PartitionSpec()),
        check_vma=False,
    )
    return jax.jit(mapped)


_COMPILED: dict[Any, Any] = {}


def _cuts() -> TrainState:
    """Along which axis every field of the state is cut."""
    cut, whole = PartitionSpec(core_devices.AXIS), PartitionSpec()
    return TrainState(**{f.name: cut if f.name in BATCHED else whole for f in fields(TrainState)})


def _compiled(program: Program, run: Run, count: int) -> tuple[TrainState, Update, int]:
    """State and compiled update, and the bytes an update needs on a device."""
    state, lesson = _start(program, jax.random.key(run.seed), count), run.lesson
    devices = None if run.devices is None or len(run.devices) == 1 else tuple(run.devices)
    if devices is not None:
        mesh, cuts = Mesh(np.asarray(devices), (core_devices.AXIS,)), _cuts()
        placed = {f.name: jax.device_put(getattr(state, f.name), NamedSharding(mesh, getattr(cuts, f.name))) for f in fields(TrainState)}
        state = TrainState(**placed)
        lesson = jax.device_put(lesson, NamedSharding(mesh, PartitionSpec()))
    else:
        device = None if run.devices is None else run.devices[0]
        state, lesson = (jax.device_put(x, device) for x in (state, lesson))
    key = (program, devices or (run.devices and run.devices[0]), count)
    if key not in _COMPILED:
        _COMPILED[key] = _jitted(program, devices).lower(state, jnp.zeros((), jnp.float32), lesson).compile()
    compiled = _COMPILED[key]
    memory = compiled.memory_analysis()
    needed = 0 if memory is None else memory.temp_size_in_bytes + memory.argument_size_in_bytes + memory.output_size_in_bytes
    return state, lambda state, progress: compiled(state, progress, lesson), needed
