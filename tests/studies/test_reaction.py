"""Novelty reaction on a small world of the class Lambda: targets, identity, exactness, agents, resume, and the way to a table."""

import jax
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.core.novelties import Novelty, reward
from jaxdiff.difficulty import novelty
from jaxdiff.plots import reaction as plots
from jaxdiff.studies.reaction import agents, pair, policy, protocol, table, worlds
from jaxdiff.studies.reaction.domain import after, named, returns

SMALL = protocol.Settings(
    levels=4, random_agents=4, episodes=20, agent_levels=16, tries=20, chunk=2, training=policy.Training(updates=30, adapting=10)
)


@pytest.fixture(scope="module")
def domain():
    return worlds.society(steps=3)


@pytest.fixture(scope="module")
def levels(domain):
    return domain.levels(4, 0)


def test_targets_are_what_a_share_reaches(domain, levels):
    everything = domain.everything(levels)
    assert everything.actions.shape[1:] == domain.every.shape
    best = returns(levels, everything.actions).max(-1)
    assert ((best > levels.target[:, None]).mean(1) < 0.2).all()
    by_share = levels.target > domain.least
    assert by_share.any()
    assert (everything.rate[by_share] >= 0.2).all(), "at least the share; more where returns tie"


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
def few(domain):
    """The same world with five novelties: each that makes another world is compiled anew."""
    from dataclasses import replace

    easier = Novelty("target for free", "reward", reward(1, 1.0).change)
    return replace(domain, novelties=(*domain.novelties[:4], easier))


@pytest.fixture(scope="module")
def dataset(few, kept):
    return protocol.run(few, SMALL, keep=kept[0])


@pytest.mark.slow
class TestProtocol:
    def test_shapes_and_ranges(self, few, dataset):
        assert dict(dataset.sizes) == {"novelty": 6, "level": 4, "agent": 4, "agent_level": 16, "update": 30}
        assert (np.abs(dataset.d) <= 1 + 1e-6).all()
        rates = dataset.after.values
        assert ((rates >= 0) & (rates <= 1) | np.isnan(rates)).all()

    def test_a_stopped_run_makes_nothing_twice(self, few, kept, dataset):
        count = len(kept[1])
        again = protocol.run(few, SMALL, keep=kept[0])
        assert len(kept[1]) == count == 2 + 1 + 6
        assert again.identical(dataset)

    def test_the_null_harms_nobody_who_does_not_learn(self, dataset):
        null = dataset.sel(novelty="nothing")
        for agent in ("replay", "frozen", "planner"):
            np.testing.assert_array_equal(null.after.sel(agent=agent), dataset.before.sel(agent=agent))
        np.testing.assert_allclose(null.d_exact.values[~np.isnan(null.d_exact)], 0)

    def test_reward_for_free_is_easy_for_all_but_the_measure(self, dataset):
        free = dataset.sel(novelty="target for free")
        assert (free.random_after == 1).all()
        assert (free.after.sel(agent=["frozen", "adapted", "planner"]) == 1).all()
        # The measure itself may call it hard: every try passes with its first action now, and lengths that nobody needs any more count as
        # lost solutions (Equation 2 by length).
        assert float(free.d.max()) > 0

    def test_rows_and_verdict(self, dataset):
        rows = table.rows(dataset)
        assert [row.name for row in rows] == dataset.novelty.values.tolist()
        assert all(row.random_drop.value <= 0 for row in rows[4:5])
        judged = table.verdict(dataset, rows)
        assert set(judged.associations) == {(p, a) for p in table.PREDICTORS for a in agents.AGENTS}
        assert any(line.startswith("planner") for line in table.sentences(dataset, rows, judged))
        for figure in (plots.bars(rows, "x"), plots.losses(rows, "x"), plots.against_loss(rows, judged, "x", "nothing")):
            assert figure.axes


@pytest.mark.slow
def test_the_policy_learns_and_the_planner_passes_all(domain):
    training = policy.Training(updates=150)
    team = agents.team(domain, 64, 0, training, 20)
    chance = domain.everything(team.levels).rate.mean()
    assert team.passed[agents.AGENTS.index("planner")].all()
    assert team.passed[agents.AGENTS.index("frozen")].mean() > chance + 0.3
    assert team.learned[-10:].mean() > team.learned[:10].mean() + 0.2


def test_trees_need_all_sequences(domain, levels):
    everything = domain.everything(levels)
    actions = round(len(domain.every) ** (1 / 3))
    assert plots.tree(everything, everything, 0, actions, "x").axes
    with pytest.raises(InputError, match="all 8 sequences"):
        plots.tree(everything, everything, 0, 2, "x")


def test_two_worlds_from_texts():
    before, changed = pair.world("SAECA-v0,width=9,rule=110"), pair.world("SAECA-v0, width=9, rule=30")
    assert int(before[1].rule) == 110
    domain = pair.domain(before, changed, 2)
    levels = domain.levels(2, 0)
    tried = domain.attempt(after(levels, domain.novelties[0]), jax.random.key(0), 10)
    assert tried.length.shape == (2, 10)
    assert domain.coordinates(tried.actions[0]).shape == (10, 2, 2)


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
        (lambda d: worlds.domain("chess"), "one of automata"),
        (lambda d: named(d, "flood"), "edge added a"),
        (lambda d: d.levels(0, 0), "levels is 0"),
        (lambda d: protocol.Settings(tries=0), "tries is 0"),
        (lambda d: pair.world("SAECA-v0,9"), "a name and settings"),
        (lambda d: pair.world("SAECA-v0,colour=9"), "width"),
        (lambda d: pair.world("SAECA-v0,rule=1.5"), "rule is 1.5"),
        (lambda d: pair.world("SAECA-v0,rule=[1, 2]"), "int32"),
        (lambda d: pair.world("Nothing-v0"), "SAECA-v0"),
        (lambda d: pair.domain(pair.world("SAECA-v0"), pair.world("Alchemy-v0"), 2), "the actions of the world before"),
        (lambda d: pair.domain(pair.world("SAECA-v0"), pair.world("SAECA-v0"), 2, share=1.5), "between 0 and 1"),
    ],
)
def test_bad_input(domain, call, message):
    with pytest.raises(InputError, match=message):
        call(domain)
