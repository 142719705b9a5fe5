"""Novelty reaction on a corridor, whose answers are known: targets, identity, exactness, agents, resume, and the way to a table."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.core.environment import Environment
from jaxdiff.core.errors import InputError
from jaxdiff.core.novelties import Novelty, reward
from jaxdiff.core.spaces import Discrete, MultiDiscrete
from jaxdiff.difficulty import novelty
from jaxdiff.difficulty.action_metrics import Hamming
from jaxdiff.plots import reaction as plots
from jaxdiff.studies.reaction import agents, pair, policy, protocol, table, worlds
from jaxdiff.studies.reaction.domain import Domain, Levels, after, named, returns, stacked

STEPS = 4
SMALL = protocol.Settings(
    levels=4,
    random_agents=4,
    episodes=20,
    agent_levels=16,
    tries=40,
    chunk=2,
    training=policy.Training(updates=60, adapting=100, rate=1e-2, entropy=0.05),
)


@partial(jax.tree_util.register_dataclass, data_fields=["goal", "sign"], meta_fields=[])
@dataclass(frozen=True)
class Way:
    """Goal, and which way actions go; int32 [] each."""

    goal: Any
    sign: Any


@dataclass(frozen=True)
class Corridor(Environment[Any, Way]):
    """From 0, actions go left, nowhere or right; reward 1 at the goal, which is seen with one's place."""

    @property
    def name(self):
        return "Corridor"

    @property
    def default_params(self):
        return Way(np.int32(2), np.int32(1))

    def reset_env(self, key, params):
        return self._see(jnp.int32(0), params), jnp.int32(0)

    def step_env(self, key, state, action, params):
        place = jnp.clip(state + (action - 1) * jnp.asarray(params.sign), -3, 3).astype(jnp.int32)
        there = place == params.goal
        return self._see(place, params), place, there.astype(jnp.float32), there, jnp.bool_(False), {}

    def _see(self, place, params):
        return jnp.stack([place + 3, jnp.asarray(params.goal, jnp.int32) + 3])

    def observation_space(self, params):
        return MultiDiscrete((7, 7))

    def action_space(self, params):
        return Discrete(3)


TURNED = Novelty("turned", "dynamics", lambda env, params: (env, Way(params.goal, -params.sign)))
FREE = Novelty("free", "reward", reward(1, 1.0).change)
WALLED = Novelty("walled off", "topology", lambda env, params: (env, Way(np.int32(5), params.sign)))
MOVED = Novelty("moved", "start", lambda env, params: (env, Way(np.int32(1), params.sign)))
TWO = Novelty("two", "start", lambda env, params: (env, params) if params.goal > 0 else reward(1, 0)(env, params))
NEARER = Novelty("nearer", "start", lambda env, params: (env, Way(np.sign(params.goal).astype(np.int32), params.sign)))


@pytest.fixture(scope="module")
def domain():
    def make(count, seed):
        goals = np.random.default_rng(seed).choice([-2, -1, 1, 2], count).astype(np.int32)
        keys = jax.random.split(jax.random.key(seed), count)
        return Levels(Corridor(), stacked([Way(goal, np.int32(1)) for goal in goals]), keys, np.ones(count, np.float32))

    every = np.array(list(product(range(3), repeat=STEPS)), np.int32)

    def draw(key, shape):
        return jax.random.randint(key, (*shape, STEPS), 0, 3, jnp.int32)

    novelties = (TURNED, FREE, WALLED, MOVED, NEARER)
    return Domain(
        "corridor",
        "a corridor",
        make,
        novelties,
        worlds.NULL,
        Hamming(),
        STEPS,
        draw,
        lambda a: a[..., None].astype(np.float32),
        every=every,
    )


@pytest.fixture(scope="module")
def levels(domain):
    return domain.levels(4, 0)


def test_targets_are_what_a_share_reaches(domain):
    from dataclasses import replace

    graded = replace(domain, share=0.2, make=lambda count, seed: domain.make(count, seed))
    levels = graded.levels(6, 0)
    best = returns(levels, graded.everything(levels).actions).max(-1)
    assert ((best > levels.target[:, None]).mean(1) < 0.2).all()
    assert ((best >= levels.target[:, None]).mean(1) >= 0.2).all()
    assert (replace(graded, least=7.0).levels(6, 0).target == 7).all()


def test_nothing_changes_nothing(domain, levels):
    same = after(levels, domain.null)
    a, b = (protocol.solutions(domain, domain.everything(each)) for each in (levels, same))
    for one, other in zip(a, b, strict=True):
        found = novelty.difficulty(one, other, domain.metric)
        assert found.d == 0
        assert not found.undetermined


def test_a_try_passes_at_the_step_that_reaches_the_target(domain, levels):
    tried = domain.attempt(levels, jax.random.key(1), 50)
    got = returns(levels, tried.actions) >= levels.target[:, None, None]
    for level in range(4):
        for number in range(50):
            steps = np.flatnonzero(got[level, number])
            assert tried.length[level, number] == (steps[0] + 1 if len(steps) else 0)


def test_one_part_of_the_levels_is_played_as_all_are(domain, levels):
    whole, part = domain.everything(levels), domain.everything(levels.some(slice(1, 3)))
    np.testing.assert_array_equal(whole.length[1:3], part.length)


@pytest.mark.long
@pytest.mark.slow
def test_exact_distances_end_where_they_end(monkeypatch):
    """In a world whose parameters cannot be empty; within a chunk, and before the last one."""
    monkeypatch.setattr(protocol, "EXACT_LEVELS", 3)
    automata = replace(worlds.domain("automata"), novelties=())
    settings = replace(SMALL, levels=6)
    exact = np.concatenate([protocol._chunk(automata, settings, start)["d_exact"] for start in (0, 2, 4)], axis=-1)
    assert np.isfinite(exact).tolist() == [[True, True, True, False, False, False]]


@pytest.fixture(scope="module")
def kept():
    """Pieces in memory, and how many were made."""
    pieces, made = {}, []

    def keep(name, about, make):
        if name not in pieces:
            pieces[name] = make()
            made.append(name)
        return pieces[name]

    return keep, made


@pytest.fixture(scope="module")
def dataset(domain, kept):
    return protocol.run(domain, SMALL, keep=kept[0])


@pytest.mark.slow
class TestProtocol:
    def test_shapes_and_ranges(self, dataset):
        assert dict(dataset.sizes) == {"novelty": 6, "level": 4, "agent": 4, "agent_level": 16, "update": 60}
        assert (np.abs(dataset.d) <= 1 + 1e-6).all()
        rates = dataset.after.values
        assert ((rates >= 0) & (rates <= 1) | np.isnan(rates)).all()

    def test_a_stopped_run_makes_nothing_twice(self, domain, kept, dataset):
        count = len(kept[1])
        again = protocol.run(domain, SMALL, keep=kept[0])
        assert len(kept[1]) == count == 2 + 1 + 6
        assert again.identical(dataset)

    def test_the_null_harms_nobody_who_does_not_learn(self, dataset):
        null = dataset.sel(novelty="nothing")
        for agent in ("replay", "frozen", "planner"):
            np.testing.assert_array_equal(null.after.sel(agent=agent), dataset.before.sel(agent=agent))
        np.testing.assert_allclose(null.d_exact.values, 0)

    def test_each_agent_fares_as_it_must(self, dataset):
        rate = dataset.after.mean("agent_level").sel
        assert float(dataset.before.sel(agent="frozen").mean()) == 1, "it has learned the corridor"
        # Turned around the frozen policy walks away from the goal; training on helps, and who knows the world passes.
        assert float(rate(novelty="turned", agent="frozen")) == 0
        assert float(rate(novelty="turned", agent="adapted")) > 0.2
        assert float(rate(novelty="turned", agent="planner")) == 1
        assert (dataset.after.sel(novelty="walled off") == 0).all()
        assert (dataset.sel(novelty="free").after == 1).all()
        assert (dataset.sel(novelty="free").random_after == 1).all()

    def test_distances_are_as_they_must_be(self, dataset):
        assert (dataset.sel(novelty="walled off").d == 1).all(), "nothing works any more"
        # Turned around, solutions are mirrored: as many, elsewhere.
        np.testing.assert_allclose(dataset["d_exact"].sel(novelty="turned") > 0, True)
        assert abs(float(dataset["size"].sel(novelty="turned").mean())) < 0.3
        assert float(dataset["size"].sel(novelty="nearer").mean()) < float(dataset["size"].sel(novelty="walled off").mean())

    def test_rows_and_verdict(self, dataset):
        rows = table.rows(dataset)
        assert [row.name for row in rows] == dataset.novelty.values.tolist()
        assert rows[2].summary.verdict == "hard"
        assert rows[2].random_drop.value == pytest.approx(float(dataset.random_before.mean()))
        judged = table.verdict(dataset, rows)
        assert set(judged.associations) == {(p, a) for p in table.PREDICTORS for a in agents.AGENTS}
        assert any(line.startswith("planner") for line in table.sentences(dataset, rows, judged))
        for figure in (plots.bars(rows, "x"), plots.losses(rows, "x"), plots.against_loss(rows, judged, "x", "nothing")):
            assert figure.axes


def test_the_measure_may_call_an_easier_world_harder():
    """By length (Equation 2): where everything passes with its first action, lengths that nobody needs any more count as lost."""
    a = novelty.Solutions(np.zeros((3, 3, 1)), np.array([1, 2, 3]), 8)
    b = novelty.Solutions(np.zeros((8, 1, 1)), np.ones(8, int), 8)
    assert novelty.difficulty(a, b, 1.0).d == pytest.approx((-7 / 8 + 1 + 1) / 3)


def test_trees_need_all_sequences(domain, levels):
    everything = domain.everything(levels)
    assert plots.tree(everything, everything, 0, 3, "x").axes
    with pytest.raises(InputError, match="all 16 sequences"):
        plots.tree(everything, everything, 0, 2, "x")


def test_two_worlds_from_texts():
    before, changed = pair.world("SAECA-v0,width=9,rule=110"), pair.world("SAECA-v0, width=9, rule=30")
    assert int(before[1].rule) == 110
    domain = pair.domain(before, changed, 2)
    levels = domain.levels(2, 0)
    tried = domain.attempt(after(levels, domain.novelties[0]), jax.random.key(0), 10)
    assert tried.length.shape == (2, 10)
    assert domain.coordinates(tried.actions[0]).shape == (10, 2, 2)


def test_no_solution_has_coordinates_too():
    before = pair.world("SAECA-v0,width=9,rule=0")
    domain = pair.domain(before, before, 2, target=100.0)
    levels = domain.levels(1, 0)
    found = protocol.solutions(domain, domain.attempt(levels, jax.random.key(0), 10))[0]
    assert found.actions.shape == (0, 2, 2)
    assert novelty.difficulty(found, found, domain.metric).undetermined


def test_solutions_from_files(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, actions=np.zeros((2, 3, 1)), length=[1, 3], tried=5)
    assert pair.read_solutions(path).tried == 5
    np.savez(path, actions=np.zeros((2, 3, 1)))
    with pytest.raises(InputError, match="without length"):
        pair.read_solutions(path)
    path.write_text("no")
    with pytest.raises(InputError, match="npz file"):
        pair.read_solutions(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: worlds.domain("chess"), "one of birds, automata"),
        (lambda d: named(d, "flood"), "turned, free"),
        (lambda d: d.levels(0, 0), "levels is 0"),
        (lambda d: protocol.Settings(tries=0), "tries is 0"),
        (lambda d: policy.train(d.levels(2, 0), None, STEPS, jax.random.key(0), 7, policy.Training()), "a multiple of 10"),
        (lambda d: after(d.levels(8, 0), TWO), "one world"),
        (lambda d: pair.world("SAECA-v0,9"), "a name and settings"),
        (lambda d: pair.world("SAECA-v0,colour=9"), "width"),
        (lambda d: pair.world("SAECA-v0,rule=1.5"), "rule is 1.5"),
        (lambda d: pair.world("SAECA-v0,cells=1"), "of shape"),
        (lambda d: pair.world("Nothing-v0"), "SAECA-v0"),
        (lambda d: pair.domain(pair.world("SAECA-v0"), pair.world("Alchemy-v0"), 2), "the actions of the world before"),
        (lambda d: pair.domain(pair.world("SAECA-v0"), pair.world("SAECA-v0"), 2, share=1.5), "between 0 and 1"),
    ],
)
def test_bad_input(domain, call, message):
    with pytest.raises(InputError, match=message):
        call(domain)
