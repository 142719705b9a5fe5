"""The trainer: bit-identical resumption, one compilation, refusals, devices, what it writes."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.agents import checkpoint, learner, logbook, update
from jaxdiff.agents.config import AlgorithmConfig, TrainConfig, WorldConfig, from_json, to_json
from jaxdiff.agents.networks.agent import NetworkConfig
from jaxdiff.core.errors import InputError
from jaxdiff.core.held import held

pytestmark = pytest.mark.usefixtures("quick_compilation")
SMALL = TrainConfig(
    world=WorldConfig.of("Alchemy-v0", trials=2, steps=3, typed_actions=True),
    network=NetworkConfig("gru", units=4, encoder_units=4),
    algorithm=AlgorithmConfig(minibatches=2, epochs=1),
    auxiliary=("corners",),
    environments=4,
    steps=6,
    seconds=None,
    environment_steps=6 * 24,
)


def same(a, b):
    leaves = list(zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))
    assert leaves
    for x, y in leaves:
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run from start to end."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, learner.train(SMALL, learner.Run(seed=3, folder=folder, report_seconds=0))


@pytest.mark.slow
def test_what_a_run_writes(whole):
    folder, trained = whole
    assert trained.finished
    assert trained.counters.updates == 6
    assert trained.counters.steps == 144
    lines = logbook.read(folder)
    assert lines == trained.lines
    assert [line["updates"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert all(len(line["trial_scores"]) == 2 and np.isfinite(line["loss"]) for line in lines)
    assert sum(lines[0]["trial_scores"]) == pytest.approx(lines[0]["score"], abs=1e-5)
    assert list((folder / "tensorboard").iterdir())
    config, parameters = checkpoint.load(folder)
    assert config == SMALL
    same(parameters, trained.parameters)


@pytest.mark.slow
def test_resumption_is_bit_identical(whole, tmp_path):
    _, wanted = whole
    part = learner.train(SMALL, learner.Run(seed=3, folder=tmp_path, report_seconds=0, stop_after=2))
    assert not part.finished
    found = learner.train(SMALL, learner.Run(seed=3, folder=tmp_path, report_seconds=0))
    same(found.state, wanted.state)
    skipped = ("seconds", "steps_per_second", "seconds_left")
    strip = lambda lines: [{k: v for k, v in line.items() if k not in skipped} for line in lines]  # noqa: E731
    assert strip(found.lines) == strip(wanted.lines)
    again = learner.train(SMALL, learner.Run(seed=3, folder=tmp_path))
    assert again.counters.updates == 6, "a finished run is not trained further"


KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
import jax
jax.config.update("jax_disable_most_optimizations", True)  # as `quick_compilation` does: other programs round otherwise
from tests.agents.test_learner import SMALL
from jaxdiff.agents import learner
run = learner.Run(seed=3, folder=Path(sys.argv[1]), report_seconds=0, checkpoint_seconds=0)
learner.train(SMALL, run, report=lambda line: time.sleep(0.5))
"""


@pytest.mark.slow
def test_resumption_after_sigkill(whole, tmp_path):
    _, wanted = whole
    root = str(Path(__file__).parents[2])
    child = subprocess.Popen([sys.executable, "-c", KILLED.format(root=root), str(tmp_path)], cwd=root)
    deadline = time.monotonic() + 300
    while len(logbook.read(tmp_path)) < 3 and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    before = checkpoint.latest(tmp_path)
    assert before is not None
    assert 0 < before.updates < 6
    same(learner.train(SMALL, learner.Run(seed=3, folder=tmp_path)).state, wanted.state)


@pytest.mark.long
@pytest.mark.slow
def test_one_trace_per_configuration(monkeypatch):
    """Equal configurations made twice share everything that is jitted by value."""
    traces = []
    real = update.collect
    monkeypatch.setattr(update, "collect", lambda *a: traces.append(1) or real(*a))
    jitted = jax.jit(update.update, static_argnums=0)
    state = jax.jit(update.start, static_argnums=0)(update.Program(SMALL), jax.random.key(0))
    for _ in range(3):
        state, _ = jitted(update.Program(from_json(to_json(SMALL))), state, jnp.float32(0.5))
    assert len(traces) == 1


def test_a_loss_that_is_no_number_stops_the_run(tmp_path, monkeypatch):
    state = jax.jit(update.start, static_argnums=0)(update.Program(SMALL), jax.random.key(3))

    def broken(*arguments):
        calls = []

        def call(state, progress):
            calls.append(1)
            numbers = {"loss": np.float32(np.nan if len(calls) == 3 else 1.0), "score": np.float32(0)}
            return dataclasses.replace(state, updates=state.updates + 1), numbers

        return state, call, 0

    monkeypatch.setattr(learner, "_compiled", broken)
    with pytest.raises(learner.DivergedError, match="the loss of update 3"):
        learner.train(SMALL, learner.Run(seed=3, folder=tmp_path))
    assert checkpoint.latest(tmp_path).updates == 2
    assert int(checkpoint.restore(tmp_path, state).updates) == 2


def test_more_environments_than_memory(monkeypatch):
    said = []
    asked = []
    state = object()

    def compiled(program, run, count):
        asked.append(count)
        return state, (lambda s, p: None), count * 100

    monkeypatch.setattr(learner, "_compiled", compiled)
    monkeypatch.setattr(learner.core_devices, "free_memory", lambda device: 250)
    program = update.Program(dataclasses.replace(SMALL, environments=8))
    _, _, count, _ = learner._ready(program, learner.Run(), 8, said.append, fixed=False)
    assert (asked, count) == ([8, 4, 2], 2)
    assert said == ["8 environments do not fit into memory: going on with 4", "4 environments do not fit into memory: going on with 2"]
    monkeypatch.setattr(learner.core_devices, "free_memory", lambda device: 100)
    with pytest.raises(InputError, match="fewer: they do not fit into memory"):
        learner._ready(program, learner.Run(), 8, said.append, fixed=False)


@pytest.mark.slow
def test_refusals(whole, tmp_path):
    folder, _ = whole
    other = dataclasses.replace(SMALL, algorithm=dataclasses.replace(SMALL.algorithm, clip=0.3))
    with pytest.raises(InputError, match=r"algorithm.clip: 0.2, not 0.3"):
        learner.train(other, learner.Run(seed=3, folder=folder))
    with pytest.raises(InputError, match="seed is 4; allowed: 3"):
        learner.train(SMALL, learner.Run(seed=4, folder=folder))
    with held(tmp_path / "running", "me"), pytest.raises(InputError, match="in use by another run"):
        learner.train(SMALL, learner.Run(folder=tmp_path))
    (tmp_path / "config.json").write_text(to_json(SMALL).replace('"version": 3', '"version": 7'))
    with pytest.raises(InputError, match="version is 7; allowed: 3"):
        learner.train(SMALL, learner.Run(folder=tmp_path))
    with pytest.raises(InputError, match="environments is 4; allowed: a multiple of devices x minibatches = 6"):
        learner.train(SMALL, learner.Run(devices=[None] * 3))


@pytest.mark.host
def test_configurations():
    assert from_json(to_json(SMALL)) == SMALL
    given = json.loads(to_json(SMALL))
    del given["network"]["units"]
    with pytest.raises(InputError, match="without the field units"):
        from_json(json.dumps(given))
    with pytest.raises(InputError, match="algorithm is 'dqn'; allowed: one of ppo, vmpo, impala"):
        AlgorithmConfig(name="dqn")
    with pytest.raises(InputError, match="environments is 6; allowed: a multiple of minibatches = 4"):
        TrainConfig(environments=6)
    with pytest.raises(InputError, match="auxiliary"):
        TrainConfig(auxiliary=("colours",))


@pytest.mark.slow
def test_policies_of_another_shape_are_refused(whole, tmp_path):
    _, trained = whole
    target = checkpoint.export(tmp_path, SMALL, trained.parameters)
    text = (target / "config.json").read_text().replace('"units": 4', '"units": 5')
    (target / "config.json").write_text(text)
    with pytest.raises(InputError, match="shape"):
        checkpoint.load(tmp_path)
    with pytest.raises(InputError, match="as jaxdiff train writes it"):
        checkpoint.load(tmp_path / "nothing")


DEVICES = """
import sys, jax
jax.config.update("jax_num_cpu_devices", 2)
sys.path.insert(0, {root!r})
import jax
jax.config.update("jax_disable_most_optimizations", True)  # as `quick_compilation` does: other programs round otherwise
from tests.agents.test_learner import SMALL
from jaxdiff.agents import learner
import dataclasses, numpy as np
config = dataclasses.replace(SMALL, environment_steps=48)
done = learner.train(config, learner.Run(devices=jax.devices(), report_seconds=0))
for leaf in jax.tree.leaves(done.state.learned):
    a, b = (np.asarray(s.data) for s in leaf.addressable_shards)
    assert (a == b).all()
assert len(done.state.inputs.observation.addressable_shards[0].data) == 2
assert np.isfinite(done.lines[-1]["loss"]) and done.lines[-1]["episodes"] == 4
print("fine")
"""


@pytest.mark.long
@pytest.mark.slow
def test_two_devices_share_the_environments():
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", DEVICES.format(root=root)], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip().endswith("fine"), done.stderr[-2000:]
