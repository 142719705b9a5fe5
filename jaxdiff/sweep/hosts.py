"""Hosts that share a sweep: processes that have found one another through `jax.distributed`.

They exchange nothing but the news that somebody has arrived; results meet in the store, which lies where all of them see it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import jax

from jaxdiff.core.errors import InputError, require, require_integer
from jaxdiff.core.held import HeldError, held, is_held

T = TypeVar("T")
TIMEOUT_SECONDS = 300
# How launchers (SLURM, Open MPI, MPICH) tell a process how many there are and which one it is.
_SILENT = ("PMI_SIZE",)  # MPICH does not say where process 0 is
_LAUNCHERS = (("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"))


@dataclass(frozen=True)
class Hosts:
    """Who shares the work, see `find`.

    Attributes:
        index: number of this process, 0-based.
        count: of processes.
        coordinator: address of process 0, `host:port`; None: as the launcher says.
        timeout: seconds to wait for the others.
    """

    index: int = 0
    count: int = 1
    coordinator: str | None = None
    timeout: int = TIMEOUT_SECONDS

    def share(self, tasks: Sequence[T]) -> list[T]:
        """The part of this process, every `count`-th."""
        return list(tasks[self.index :: self.count])

    @contextmanager
    def joined(self, store: Path) -> Iterator[None]:
        """Be connected with the other processes. Process 0 has the store ready before it enters here.

        JAX ends a process that waits in vain for others without a word of who is missing. So it is ended a little earlier, with a sentence
        on standard error that numbers the missing ones, and exit code 2.

        Args:
            store: what all will write to; each process shows beside it that it is there.
        """
        if self.count == 1:
            yield
            return
        with _present(store, self):
            watch = threading.Timer(self.timeout, _give_up, (store, self))
            watch.daemon = True
            watch.start()
            count, index = (None, None) if self.coordinator is None else (self.count, self.index)
            jax.distributed.initialize(self.coordinator, count, index, initialization_timeout=self.timeout + 60)
            watch.cancel()
            yield
            jax.distributed.shutdown()

    def absent(self, store: Path) -> list[int]:
        """Numbers of the processes that have not started or have died."""
        return [index for index in range(self.count) if index != self.index and not is_held(_sign(store, index))]


def find(coordinator: str | None = None, processes: int | None = None, process: int | None = None, timeout: int = TIMEOUT_SECONDS) -> Hosts:
    """This process among those that share the work: as told, else as the launcher says, else alone.

    With a coordinator alone, the numbers are the launcher's.

    Raises:
        InputError: arguments that do not belong together.
    """
    require_integer("join_timeout", timeout, 1)
    launched = _launched() if processes is None and process is None else None
    if coordinator is None and processes is None and process is None:
        if launched is None:
            return Hosts()
        name, count, index = launched
        require(name not in _SILENT, "coordinator", None, f"host:port of process 0, which {name} does not tell")
        return Hosts(index, count, None, timeout)
    together = "host:port of process 0 (port 1 to 65535), the same on every process, together with --processes and --process"
    host, _, port = (coordinator or "").rpartition(":")
    require(bool(host) and port.isascii() and port.isdecimal() and 0 < int(port) < 65536, "coordinator", coordinator, together)
    if launched is not None:
        _, processes, process = launched
    require_integer("processes", processes, 1)
    require_integer("process", process, 0, (processes or 1) - 1)
    return Hosts(process or 0, processes or 1, coordinator, timeout)


def _launched() -> tuple[str, int, int] | None:
    """Name of the variable that says so, number of processes and of this one, where a launcher has started several.

    Raises:
        InputError: the launcher's variables are no numbers, or do not belong together.
    """
    for name, number in _LAUNCHERS:
        text, which = os.environ.get(name, "1"), os.environ.get(number, "")
        require(text.isascii() and text.isdecimal(), name, text, "a number of processes, as a launcher sets it")
        if int(text) > 1:
            fits = which.isascii() and which.isdecimal() and int(which) < int(text)
            require(fits, number, which, f"a number from 0 to {int(text) - 1}, since {name} is {text}")
            return name, int(text), int(which)
    return None


def _sign(store: Path, index: int) -> Path:
    return store.with_name(f".{store.name}.process-{index}")


@contextmanager
def _present(store: Path, me: Hosts) -> Iterator[None]:
    """Hold this process's sign."""
    try:
        with held(_sign(store, me.index), f"process {os.getpid()}"):
            yield
    except HeldError as error:
        raise InputError("process", me.index, f"a number that no other of the {me.count} processes has") from error


def _give_up(store: Path, me: Hosts) -> None:
    absent = ", ".join(map(str, me.absent(store)))
    who = f"without process {absent}" if absent else "although all have started (is the coordinator's address right?)"
    sys.stderr.write(f"jaxdiff: waited {me.timeout} s for {me.count} processes, {who}; allowed: all of them in time\n")
    sys.stderr.flush()
    _sign(store, me.index).unlink(missing_ok=True)
    os._exit(2)
