"""Running any number of sessions batch by batch: several at once on the cores of a CPU, each in jitted chunks of about a second.

Session i draws everything random from its own key, so what comes out depends neither on the batches nor on what runs beside them. Axes: S
sessions, m agents, P windows, B sessions of a batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import require, require_integer
from jaxdiff.society import sessions
from jaxdiff.society.learners import Rates
from jaxdiff.society.sessions import Design, Inputs
from jaxdiff.society.world import Params

Progress = Callable[[int, int], None]
# Memory for the tables of all batches that run at once, and agent-steps of a chunk.
_TABLE_BYTES = 3 * 2**30
_CHUNK_STEPS = 2_000_000


@dataclass(frozen=True)
class Job:
    """Sessions to run, on the host.

    Attributes:
        design: what they are compiled for.
        seed: of everything random.
        params: environments, leading axis; session i gets number i modulo their number.
        kind: number in `sessions.KINDS` of who sits where, int32 [S, m].
        rates: of the learners; leaves that broadcast to [S, m].
        elements: patterns of pattern agents, int8 [S, m, P]; None where there are none.
        lengths: elements that count, int32 [S, m].
    """

    design: Design
    seed: int
    params: Params
    kind: np.ndarray
    rates: Rates
    elements: np.ndarray | None = None
    lengths: np.ndarray | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    Attributes:
        own: what each agent ate, mean over each window, float32 [P, S, m].
        learnt: what each agent learnt from; `own` itself where nobody shares.
        collisions: states that hashed tables had to give up, int32 [S].
    """

    own: np.ndarray
    learnt: np.ndarray
    collisions: np.ndarray


def run(job: Job, batch: int | None = None, workers: int | None = None, progress: Progress | None = None) -> Outcome:
    """Run the sessions of a job.

    Args:
        job: what to run.
        batch: B; as many as suit caches and memory when None.
        workers: batches at once; the number of cores when None on a CPU, otherwise 1.
        progress: called with (agent-steps done, in all) after every chunk.

    Raises:
        InputError: rates of another shape, a batch or a number of workers below 1.
    """
    design, (count, m) = job.design, job.kind.shape
    layout = design.layout
    workers = workers_for(workers)
    batch = batch_for(count, layout.bytes * design.views if layout else 0, workers) if batch is None else batch
    require_integer("batch", batch, 1)
    own = np.empty((design.steps // design.window, count, m), np.float32)
    learnt = own if design.bag.trivial else np.empty_like(own)
    collisions = np.zeros(count, np.int32)
    rates = _broadcast(job.rates, count, m)
    total, lock, done = count * m * design.steps, Lock(), [0]

    def one(start: int) -> None:
        # The last batch is filled up with repetitions, so that it shares the compilation.
        mine, real = np.minimum(np.arange(start, start + batch), count - 1), min(batch, count - start)
        running, inputs = _begin(job, mine, jax.tree.map(lambda x: x[mine], rates))
        windows = len(own)
        chunk = chunk_for(windows, design.window * batch * m)
        for first in range(0, windows, chunk):
            running, sums = sessions.advance(design, chunk, running, inputs, jnp.int32(first))
            means = np.asarray(sums)[:, :, :real] / np.float32(design.window)
            own[first : first + chunk, start : start + real] = means[:, 0]
            if learnt is not own:
                learnt[first : first + chunk, start : start + real] = means[:, 1]
            with lock:
                done[0] += chunk * design.window * real * m
                if progress is not None:
                    progress(done[0], total)
        collisions[start : start + real] = np.asarray(running.tables.collisions).reshape(batch, -1).sum(1)[:real]

    starts = range(0, count, batch)
    with ThreadPoolExecutor(min(workers, len(starts))) as pool:
        list(pool.map(one, starts))
    return Outcome(own, learnt, collisions)


def _begin(job: Job, numbers: np.ndarray, rates: Rates) -> tuple[sessions.Running, Inputs]:
    """The sessions with these numbers at their start."""
    shape = (len(numbers), job.kind.shape[1])
    environment = numbers % len(job.params.table)
    keys = session_keys(job.seed, numbers)
    inputs = Inputs(
        Params(*(jnp.asarray(np.asarray(x)[environment]) for x in jax.tree.leaves(job.params))),
        jnp.asarray(job.kind[numbers]),
        jax.tree.map(jnp.asarray, rates),
        jnp.zeros((*shape, 1), jnp.int8) if job.elements is None else jnp.asarray(job.elements[numbers]),
        jnp.ones(shape, jnp.int32) if job.lengths is None else jnp.asarray(job.lengths[numbers]),
        keys["steps"],
    )
    return sessions.begin(job.design, keys["start"], inputs), inputs


def _broadcast(rates: Rates, count: int, m: int) -> Rates:
    shapes = [np.shape(x) for x in jax.tree.leaves(rates)]
    good = all(len(s) <= 2 and all(a in (1, b) for a, b in zip(s[::-1], (m, count), strict=False)) for s in shapes)
    require(good, "rates", f"of shapes {shapes}", f"numbers, or arrays that broadcast to {(count, m)}")
    return rates.broadcast(count, m)


def session_keys(seed: int, numbers: np.ndarray) -> dict[str, jax.Array]:
    """Keys [B] of the environment, the start and the steps of the sessions with these numbers."""
    return _session_keys(jax.random.key(seed), jnp.asarray(numbers, jnp.uint32))


@jax.jit
def _session_keys(key: jax.Array, numbers: jax.Array) -> dict[str, jax.Array]:
    split = jax.vmap(lambda number: jax.random.split(jax.random.fold_in(key, number), 3))(numbers)
    return {"environment": split[:, 0], "start": split[:, 1], "steps": split[:, 2]}


def workers_for(workers: int | None) -> int:
    """How many batches run at once."""
    if workers is None:
        return (os.cpu_count() or 1) if jax.default_backend() == "cpu" else 1
    require_integer("workers", workers, 1)
    return workers


def batch_for(count: int, table_bytes: int, workers: int) -> int:
    """Sessions of a batch: long vectors, but tables that fit in memory and work for everybody.

    The size is the same for every large number of sessions, so they share a compilation.
    """
    fits = max(1, _TABLE_BYTES // (max(table_bytes, 1) * workers))
    return min(fits, 128 if jax.default_backend() == "cpu" else 8192, -(-count // workers))


def chunk_for(windows: int, steps: int) -> int:
    """Windows of a chunk, each of `steps` agent-steps: about a second's work, and a divisor, so that there is one compilation."""
    wanted = max(1, _CHUNK_STEPS // steps)
    return max(d for d in range(1, windows + 1) if windows % d == 0 and d <= wanted)
