"""Several devices, several processes: the same store, and a sentence about who is missing."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.sweep import hosts
from tests.sweep.stores import contents

pytestmark = pytest.mark.host
ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from jaxdiff.sweep import hosts, runner
from tests.sweep.stores import JOB
address, processes, process = sys.argv[2:]
found = hosts.find(address, int(processes), int(process), timeout=100) if address != "-" else None
done = runner.run(JOB, sys.argv[1], hosts=found)
print(len(done.computed))
"""


def start(path, devices=1, address="-", processes=1, process=0):
    environment = {**os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", PROGRAM, str(path), address, str(processes), str(process)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def computed(process):
    out, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return int(out.split()[-1])


@pytest.mark.long
@pytest.mark.slow
def test_two_devices_make_the_same_store(undisturbed, tmp_path):
    computed(start(tmp_path / "b.zarr", devices=2))
    assert contents(tmp_path / "b.zarr") == contents(undisturbed)


@pytest.mark.long
@pytest.mark.slow
def test_two_processes_make_the_same_store(undisturbed, tmp_path):
    address = f"localhost:{free_port()}"
    both = [start(tmp_path / "b.zarr", i + 1, address, 2, i) for i in range(2)]  # one of them with two devices
    shares = [computed(p) for p in both]
    assert min(shares) > 0
    assert contents(tmp_path / "b.zarr") == contents(undisturbed)
    assert [f.name for f in tmp_path.iterdir()] == ["b.zarr"]


def test_a_process_that_never_comes_is_named(tmp_path):
    command = [sys.executable, "-m", "jaxdiff", "sweep", "--out", str(tmp_path / "b.zarr"), "--policies", "10", "--rules", "1"]
    command += ["--coordinator", f"localhost:{free_port()}", "--processes", "3", "--process", "1", "--join-timeout", "2"]
    begin = time.monotonic()
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert child.returncode == 2
    assert "waited 2 s for 3 processes, without process 0, 2" in child.stderr
    assert child.stdout == ""
    assert time.monotonic() - begin < 60
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_is_recognised(monkeypatch):
    assert hosts.find() == hosts.Hosts()
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
    monkeypatch.setenv("SLURM_PROCID", "2")
    assert hosts.find(timeout=7) == hosts.Hosts(2, 4, None, 7)


def test_mpich_says_who_but_not_where(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "1")
    with pytest.raises(InputError, match="coordinator is None"):
        hosts.find()
    assert hosts.find("here:1234") == hosts.Hosts(1, 2, "here:1234")


@pytest.mark.parametrize(("size", "rank"), [("x", "0"), ("2", None), ("2", "2"), ("2", "-1")])
def test_a_launcher_that_makes_no_sense_is_named(monkeypatch, size, rank):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", size)
    if rank is not None:
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", rank)
    with pytest.raises(InputError, match="OMPI_COMM_WORLD_"):
        hosts.find()


def test_tasks_are_shared_without_overlap():
    shares = [hosts.Hosts(i, 3).share(range(8)) for i in range(3)]
    assert sorted(x for share in shares for x in share) == list(range(8))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"processes": 2, "process": 0}, "coordinator is None"),
        ({"coordinator": "here", "processes": 2, "process": 0}, "coordinator is 'here'"),
        ({"coordinator": "here:abc", "processes": 2, "process": 0}, "coordinator is 'here:abc'"),
        ({"coordinator": "here:0", "processes": 2, "process": 0}, "coordinator is 'here:0'"),
        ({"coordinator": "here:65536", "processes": 2, "process": 0}, "coordinator is 'here:65536'"),
        ({"coordinator": "here:1", "processes": 2, "process": 2}, "process is 2"),
        ({"coordinator": "here:1", "processes": 0, "process": 0}, "processes is 0"),
        ({"coordinator": "here:1", "processes": 2}, "process is None"),
        ({"timeout": 0}, "join_timeout is 0"),
    ],
)
def test_arguments_that_do_not_belong_together(arguments, said):
    with pytest.raises(InputError) as caught:
        hosts.find(**arguments)
    assert said in str(caught.value)
