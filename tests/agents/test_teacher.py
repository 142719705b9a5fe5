"""A teacher's play: led through its episodes a pupil meets what the log says, the pull fades as it is told to, imitation learns."""

import dataclasses
import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.agents import checkpoint, learner, logbook, objectives, teacher, update
from jaxdiff.agents.config import TeacherConfig, TrainConfig, WorldConfig, from_json, to_json
from jaxdiff.agents.networks.agent import NetworkConfig
from jaxdiff.agents.rollout import Trajectory
from jaxdiff.alchemy import logs
from jaxdiff.alchemy.logs import Log
from jaxdiff.alchemy.world import Alchemy
from jaxdiff.core.errors import InputError
from jaxdiff.studies import kept_play, reference_agents, teachers
from tests.agents.test_learner import SMALL

pytestmark = pytest.mark.usefixtures("quick_compilation")
WORLD = WorldConfig.of("Alchemy-v0", trials=2, steps=3, typed_actions=True)
FLAT = dataclasses.replace(SMALL, auxiliary=(), network=NetworkConfig("gru", units=8, encoder_units=8))


@pytest.fixture(scope="module")
def published():
    """Four published episodes and what the ideal observer did in them."""
    episodes, events = reference_agents.published(reference_agents.data_folder(None), 4)
    return episodes, logs.published(events, "ideal_observer").of(episodes.numbers)


@pytest.fixture(scope="module")
def cashing():
    """Somebody who cashes the second stone, then the first, and waits: a lesson of two trials of three steps."""
    episodes = reference_agents.drawn(5, 0, False, trials=2)
    stone, potion = (np.broadcast_to(np.array(row), (5, 2, 2)) for row in ([1, 0], [-1, -1]))
    return teacher.lesson(WORLD.make()[0], episodes.chemistry, episodes.stones, episodes.potions, Log(stone, potion))


@pytest.mark.slow
@pytest.mark.parametrize("typed", [False, True])
def test_a_pupil_is_led_through_the_log(published, typed):
    episodes, log = published
    env = Alchemy(typed_actions=typed)
    taught = teacher.lesson(env, episodes.chemistry, episodes.stones, episodes.potions, log)
    shown = jax.jit(lambda key: teacher.show(env, env.default_params, taught, key, 8, 0.5))(jax.random.key(2))
    assert shown.action.shape == (200, 8)
    # A reward is shown with the observation after it: that of the episode's last step is not.
    rewards = np.asarray(shown.inputs.reward)[1:].sum(0) * 2
    wanted = set(log.scores.sum(1).tolist())
    assert len(wanted) == 4
    assert set(rewards.tolist()) <= wanted
    assert np.asarray(shown.inputs.is_first)[:, 0].tolist() == [True] + [False] * 199
    np.testing.assert_array_equal(np.asarray(shown.inputs.action)[1:], np.asarray(shown.action)[:-1])
    done = (np.asarray(shown.action) > 0).sum(0)
    assert set(done.tolist()) <= set((log.potion != logs.PADDING).sum((1, 2)).tolist())


def test_the_divergence_from_a_sure_teacher():
    logits = jnp.log(jnp.array([[[0.5, 0.25, 0.25]], [[0.2, 0.2, 0.6]]], jnp.float32))
    found = teacher.loss(logits, jnp.array([[1], [2]], jnp.int32), (3,))
    assert float(found) == pytest.approx(-(np.log(0.25) + np.log(0.6)) / 2, rel=1e-6)
    assert found.dtype == jnp.float32


@pytest.mark.long
@pytest.mark.slow
def test_the_pull_falls_linearly_and_ends(cashing):
    config = dataclasses.replace(FLAT, teacher=TeacherConfig(cashing.digest, weight=2.0, until=0.5))
    program = update.Program(config)
    env, network = program.env, program.network
    shown = jax.jit(lambda key: teacher.show(env, env.default_params, cashing, key, 4, 0.1))(jax.random.key(0))
    memory = network.initial(4)
    first = jax.tree.map(lambda x: x[0], shown.inputs)
    learned = {"network": jax.jit(lambda key: network.init(key, memory, first, method="step"))(jax.random.key(1))}
    learned |= {"duals": {}, "auxiliary": {}}
    # As if the pupil had acted so itself, at random.
    nothing, reward = jnp.zeros((6, 4), jnp.float32), shown.inputs.reward
    logits = jnp.zeros((6, 4, 22), jnp.float32)
    rollout = Trajectory(shown.inputs, shown.action, logits, nothing, reward, reward, nothing > 0, {}, memory, nothing[0])
    goal = objectives.targets(config.algorithm, rollout, None)
    call = jax.jit(lambda progress: update._taught(program, learned, rollout, goal, jnp.float32(0.01), shown, progress))
    at = {p: jax.device_get(call(jnp.float32(p))) for p in (0.0, 0.25, 0.5, 1.0)}
    flat = {p: np.concatenate([x.ravel() for x in jax.tree.leaves(g)]) for p, (g, _) in at.items()}
    whole, half = flat[0.0] - flat[1.0], flat[0.25] - flat[1.0]
    assert np.abs(whole).max() > 0.01
    np.testing.assert_allclose(half, whole / 2, atol=1e-6)
    np.testing.assert_array_equal(flat[0.5], flat[1.0])
    numbers = {p: n for p, (_, n) in at.items()}
    assert np.isnan(numbers[0.5]["teacher"])
    assert numbers[0.0]["loss"] - numbers[1.0]["loss"] == pytest.approx(2 * numbers[0.0]["teacher"], rel=1e-4)


@pytest.fixture(scope="module")
def waiting():
    """Somebody who does nothing."""
    episodes = reference_agents.drawn(5, 0, False, trials=2)
    nothing = Log(np.full((5, 2, 1), -1), np.full((5, 2, 1), logs.PADDING))
    return teacher.lesson(WORLD.make()[0], episodes.chemistry, episodes.stones, episodes.potions, nothing)


@pytest.fixture(scope="module")
def imitation(waiting, tmp_path_factory):
    """A run of imitation with evaluation after every third update; and what the evaluation was called with."""
    rate = dataclasses.replace(SMALL.algorithm, learning_rate=0.05, last_learning_rate=0.02)
    config = dataclasses.replace(FLAT, algorithm=rate, teacher=TeacherConfig(waiting.digest, imitate=True), environment_steps=30 * 24)
    folder, calls = tmp_path_factory.mktemp("imitation"), []

    def evaluate(config, parameters):
        calls.append(parameters)
        return {"score": float(len(calls))}

    run = learner.Run(seed=1, folder=folder, report_seconds=0, lesson=waiting, evaluate=evaluate, evaluate_updates=3)
    return config, run, learner.train(config, run), calls


@pytest.mark.long
@pytest.mark.slow
def test_imitation_learns_without_reward(imitation):
    _, _, done, _ = imitation
    losses = [line["teacher"] for line in done.lines]
    assert losses[-1] < 0.1 < 0.8 < losses[0]
    assert "policy_loss" not in done.lines[0]


@pytest.mark.long
@pytest.mark.slow
def test_evaluation_is_told_and_changes_nothing(imitation, tmp_path):
    config, run, done, calls = imitation
    told = {line["updates"]: line["held_out_score"] for line in logbook.read(run.folder) if "held_out_score" in line}
    assert told == {3 * i: float(i) for i in range(1, 11)}
    assert len(calls) == 10
    # Stopped, resumed, and never evaluated: the same bits.
    bare = dataclasses.replace(run, folder=tmp_path, evaluate=None)
    learner.train(config, dataclasses.replace(bare, stop_after=7))
    other = learner.train(config, bare)
    for a, b in zip(jax.tree.leaves(other.state), jax.tree.leaves(done.state), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert checkpoint.read_config(tmp_path) == config


@pytest.mark.host
def test_evaluations_follow_from_counters():
    counters = [checkpoint.Counters(updates=i, seconds=7.0 * i) for i in range(10)]
    run = learner.Run(evaluate_seconds=20.0)
    assert [now.updates for before, now in itertools.pairwise(counters) if learner._due(run, before, now)] == [3, 6, 9]
    assert not learner._due(learner.Run(), counters[2], counters[3])


@pytest.mark.host
def test_configurations_of_earlier_versions_are_read(cashing):
    taught = dataclasses.replace(SMALL, teacher=TeacherConfig("abc", 0.5))
    assert from_json(to_json(taught)) == taught
    old = json.loads(to_json(SMALL))
    del old["auxiliary_weight"]
    assert from_json(json.dumps({**old, "version": 2})) == SMALL
    del old["teacher"]
    del old["world"]["seat"]
    old["version"] = 1
    assert from_json(json.dumps(old)) == SMALL
    with pytest.raises(InputError, match=r"without the field (teacher|seat)"):
        from_json(json.dumps({**old, "version": 2}))
    with pytest.raises(InputError, match="weight is 0"):
        TeacherConfig("abc", 0)
    with pytest.raises(InputError, match="auxiliary_weight is -1"):
        dataclasses.replace(SMALL, auxiliary_weight=-1)
    with pytest.raises(InputError, match=r"auxiliary_weight is 0\.5; allowed: 1 without"):
        dataclasses.replace(SMALL, auxiliary=(), auxiliary_weight=0.5)
    with pytest.raises(InputError, match=r"until is 1\.5"):
        TeacherConfig("abc", until=1.5)
    with pytest.raises(InputError, match="auxiliary is"):
        dataclasses.replace(SMALL, teacher=TeacherConfig("abc", imitate=True))
    with pytest.raises(InputError, match="teacher is 'given'; allowed: none on SAECA-v0"):
        TrainConfig(world=WorldConfig("SAECA-v0"), teacher=TeacherConfig("abc"))
    with pytest.raises(InputError, match="the one that the configuration names"):
        learner.train(SMALL, learner.Run(lesson=cashing))
    with pytest.raises(InputError, match="the one that the configuration names: abc"):
        learner.train(taught, learner.Run())


@pytest.mark.host
def test_logs_that_are_read_and_refused(published, tmp_path):
    episodes, log = published
    path = reference_agents.write_log(tmp_path / "log.npz", log, episodes, log.scores)
    wanted = teachers.lesson(WorldConfig(), str(path))
    assert wanted.choice.shape == (4, 10, 20)
    steps = np.zeros((4, 10, 20), int)
    done = log.potion != logs.PADDING
    steps[..., : log.stone.shape[2]] = np.where(done, 1 + 13 * log.stone + 1 + log.potion, 0)
    kept_play.save(tmp_path / "play.npz", episodes, steps)
    assert teachers.lesson(WorldConfig(), str(tmp_path / "play.npz")).digest == wanted.digest
    events = reference_agents.data_folder(None) / reference_agents.PUBLISHED[1]
    assert teachers.read(f"{events}:ideal_observer")[1].stone.shape == (1000, 10, 15)
    with pytest.raises(InputError, match="a log with 4 of the episodes that agents are tested on"):
        teachers.lesson(WorldConfig(), str(path), episodes)
    assert teachers.lesson(WorldConfig(), str(path), reference_agents.drawn(3, 5, False)).digest == wanted.digest
    np.savez(tmp_path / "bare.npz", stone=log.stone, potion=log.potion)
    np.savez(tmp_path / "wrong.npz", x=log.stone)
    with pytest.raises(InputError, match="without the episodes that it belongs to"):
        teachers.read(str(tmp_path / "bare.npz"))
    for name in ("wrong.npz", "nothing.npz"):
        with pytest.raises(InputError, match=r"teacher is .*allowed: a log of jaxdiff evaluate"):
            teachers.read(str(tmp_path / name))
    shuffled = dataclasses.replace(log, potion=np.where(log.potion >= 0, 0, log.potion))
    reference_agents.write_log(tmp_path / "impossible.npz", shuffled, episodes, log.scores)
    with pytest.raises(InputError, match="impossible action"):
        teachers.read(str(tmp_path / "impossible.npz"))
    with pytest.raises(InputError, match="a log of 10 trials an episode; allowed: one of 2"):
        teachers.lesson(WORLD, str(path))
    with pytest.raises(InputError, match="actions in a trial; allowed: at most 3"):
        teachers.lesson(WorldConfig.of("Alchemy-v0", steps=3), str(path))
    with pytest.raises(InputError, match="given to a pupil of SAECA-v0"):
        teachers.lesson(WorldConfig("SAECA-v0"), str(path))
