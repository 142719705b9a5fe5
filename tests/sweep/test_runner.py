"""The runner, with a real sweep: what is there is kept, what is missing or damaged is computed, and the bytes are the same."""

import dataclasses
import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.sweep import runner
from jaxdiff.sweep import store as stores
from jaxdiff.sweep.automata import Sweep
from tests.sweep.stores import GRID, JOB, chunks, contents

pytestmark = pytest.mark.host


@pytest.fixture
def store(undisturbed, tmp_path):
    return shutil.copytree(undisturbed, tmp_path / "b.zarr")


def test_a_whole_store_is_left_alone(undisturbed, store):
    done = runner.run(JOB, store)
    assert done.computed == ()
    assert done.size == 0
    assert contents(store) == contents(undisturbed)
    assert runner.missing(JOB, store) == []


def test_only_what_is_missing_or_damaged_is_computed(undisturbed, store):
    files = chunks(store)
    gone, cut, flipped = files[3], files[7], files[-1]
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-1])
    data = bytearray(flipped.read_bytes())
    data[2] ^= 1
    flipped.write_bytes(data)
    expected = {task.name for task in runner.missing(JOB, store)}
    assert 2 <= len(expected) <= 3
    seen = []
    done = runner.run(JOB, store, progress=lambda what, now, of: seen.append((what, now, of)))
    assert set(done.computed) == expected
    assert len(done.damaged) == 2
    assert contents(store) == contents(undisturbed)
    assert seen[-1] == ("sweep", done.size, done.size)
    assert [now for _, now, _ in seen] == sorted(now for _, now, _ in seen)


def test_no_result_depends_on_the_batch(undisturbed, tmp_path):
    done = runner.run(JOB, tmp_path / "b.zarr", batch=64 * 3)
    assert done.halvings == 0
    assert contents(tmp_path / "b.zarr") == contents(undisturbed)


class Narrow:
    """A job on a device that holds so many rewards at once and no more."""

    def __init__(self, job, room):
        self._job, self._room, self.tried = job, room, []

    def __getattr__(self, name):
        return getattr(self._job, name)

    def evaluate(self, task, batch, devices, report=None):
        self.tried.append(batch or self._job.largest_batch(task, devices))
        if self.tried[-1] > self._room and task.size:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 1234 bytes.")
        return self._job.evaluate(task, batch, devices, report)


def test_a_batch_that_does_not_fit_is_halved_and_stays_so(undisturbed, tmp_path):
    narrow = Narrow(JOB, 1000)
    done = runner.run(narrow, tmp_path / "b.zarr")
    assert done.halvings > 5
    assert narrow.tried[-1] == max(t for t in narrow.tried if t <= 1000)
    assert contents(tmp_path / "b.zarr") == contents(undisturbed)


def test_nothing_fits(tmp_path):
    with pytest.raises(InputError, match="a task that fits in the devices' memory"):
        runner.run(Narrow(JOB, 10), tmp_path / "b.zarr")


def test_other_errors_of_the_device_are_not_taken_for_lack_of_memory(tmp_path):
    class Broken(Narrow):
        def evaluate(self, task, batch, devices, report=None):
            raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    with pytest.raises(jax.errors.JaxRuntimeError, match="broken"):
        runner.run(Broken(JOB, 0), tmp_path / "b.zarr")


def test_a_full_disk_stops_with_the_store_readable_and_the_rest_is_done_later(undisturbed, tmp_path, monkeypatch):
    write, written = stores.Store.write, []

    def full(self, regions, values):
        if len(written) == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(regions)
        write(self, regions, values)

    with monkeypatch.context() as patched:
        patched.setattr(stores.Store, "write", full)
        with pytest.raises(InputError, match=r"No space left on device with 4 of \d+ tasks done\. The same command goes on from there"):
            runner.run(JOB, tmp_path / "b.zarr")
    assert stores.load(tmp_path / "b.zarr").numerator.shape == (4, 2, 3, 130)
    done = runner.run(JOB, tmp_path / "b.zarr")
    assert len(done.computed) == len(JOB.tasks()) - 4
    assert contents(tmp_path / "b.zarr") == contents(undisturbed)


def test_a_task_is_whole_chunks_and_all_chunks_are_in_one_task():
    layout = JOB.layout()
    for name, variable in layout.variables.items():
        covered = np.zeros(variable.shape, int)
        for task in JOB.tasks():
            if name in task.regions:  # every variable has some
                covered[task.regions[name]] += 1
                for s, size, chunk in zip(task.regions[name], variable.shape, variable.chunks, strict=True):
                    start, stop, _ = s.indices(size)
                    assert start % chunk == 0
                    assert stop % chunk == 0 or stop == size
        assert (covered == 1).all()


PROGRAM = """
import resource, sys
from jaxdiff.sweep import runner
from tests.sweep.stores import JOB
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
runner.run(JOB, sys.argv[1])
"""


def process(path, limit=0):
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(limit)], cwd=root, stderr=subprocess.PIPE, text=True)


@pytest.mark.long
@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_and_ends_the_same(undisturbed, tmp_path):
    path = tmp_path / "b.zarr"
    kills = 0
    for moment in range(3):  # bench/kill_resume.py does it twenty times
        child = process(path)
        deadline = time.monotonic() + 120
        there = len(chunks(path)) if path.exists() else 0
        while child.poll() is None and time.monotonic() < deadline and (len(chunks(path)) if path.exists() else 0) <= there + moment:
            time.sleep(0.002)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        child.communicate()
    before = len(runner.missing(JOB, path))
    assert kills > 0
    assert 0 < before < len(JOB.tasks())
    done = runner.run(JOB, path)
    assert len(done.computed) == before
    assert contents(path) == contents(undisturbed)


@pytest.mark.slow
def test_files_that_cannot_grow_any_more(undisturbed, tmp_path):
    """A real refusal of the operating system: files are limited to less than the largest chunk."""
    path = tmp_path / "b.zarr"
    largest = max(f.stat().st_size for f in chunks(undisturbed))
    child = process(path, max(largest - 1, 4096) if largest > 4096 else largest - 1)
    said = child.communicate(timeout=240)[1]
    assert child.returncode != 0
    assert "a place that can be written to the end" in said
    assert runner.run(JOB, path).damaged == ()
    assert contents(path) == contents(undisturbed)


@pytest.mark.long
@pytest.mark.slow
def test_memory_that_is_really_too_small(tmp_path):
    """An allocation that the operating system refuses: the batch is halved, the results stay the same."""
    program = """
import resource, sys
from dataclasses import replace
from pathlib import Path
from jaxdiff.sweep import runner
from jaxdiff.sweep.automata import Grid, Sweep
grid = Grid(rules=(110,), strategies=("random_walk",), policies=65_536, steps=2, walk_steps=500, walkers=0)
folder = Path(sys.argv[1])
runner.run(Sweep(replace(grid, policies=1000)), folder / "small.zarr")  # what a process needs anyway
runner.run(Sweep(grid), folder / "whole.zarr", batch=8192)
now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 500_000_000,) * 2)
done = runner.run(Sweep(grid), folder / "narrow.zarr", batch=65_536)
assert done.halvings > 0, done
"""
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, check=True, timeout=300)
    assert contents(tmp_path / "narrow.zarr") == contents(tmp_path / "whole.zarr")


def test_another_grid_is_refused(store):
    with pytest.raises(InputError, match="the one there has policies 130, not 131"):
        runner.run(Sweep(dataclasses.replace(GRID, policies=131)), store)
