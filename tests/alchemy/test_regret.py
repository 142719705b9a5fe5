import numpy as np
import pytest

pytest.importorskip("numba", reason="exact planning needs the extra `planner`")

from jaxdiff.alchemy import ideal_observer, logs, planner, regret, teacher
from jaxdiff.core.errors import InputError
from tests.alchemy.reference import load

pytestmark = [pytest.mark.host, pytest.mark.slow]
QUICK = 4  # a published episode whose first trial is quick to solve


@pytest.fixture(scope="module")
def agent():
    return ideal_observer.Planner(sizes=planner.SMALL)


def walk(name, episode=QUICK):
    log = logs.published(load("published_agent_events"), name)
    truth, stones, potions = logs.episode_of(load("chemistries_published"), episode)
    return truth, list(logs.replay(truth, stones, potions, log, episode))


def test_the_ideal_observer_loses_nothing_and_luck_is_the_rest(agent):
    truth, trials = walk("ideal_observer")
    accounts = [regret.of_trial(agent, truth, trial) for trial in trials]
    assert all(account.regret == pytest.approx(0, abs=1e-9) for account in accounts)
    assert [a.oracle for a in accounts] == load("published_agent_events")["oracle_optimal_trial_score"][QUICK].tolist()


def test_an_agent_that_wastes_potions_is_told_so(agent):
    truth, trials = walk("baseline")
    accounts = [regret.of_trial(agent, truth, trial) for trial in trials]
    assert sum(a.regret for a in accounts) > 100
    for trial, account in zip(trials, accounts, strict=True):
        assert account.regret == pytest.approx(sum(loss.regret for loss in account.losses))
        if trial.knowledge.worlds <= 2:  # everything is known but what cannot matter: no luck is left
            assert account.luck == pytest.approx(0, abs=1e-9)
            assert account.expected == account.oracle
    assert {regret.KINDS[loss.kind] for a in accounts for loss in a.losses} >= {"potion wasted", "stone spoiled"}


def test_lessons_are_consistent_and_written_once(tmp_path, agent):
    import zarr

    truth, trials = walk("ideal_observer")
    late = slice(7, 10)  # little is unknown there, so that all values are quick
    rows = [row for trial in trials[late] for row in teacher._trial(agent, truth, 0, trial)]
    taught = teacher.Lessons(*(np.stack(column) for column in zip(*rows, strict=True)))
    assert np.nanmax(taught.q, (1, 2)) == pytest.approx(taught.value)
    assert taught.optimal.any((1, 2)).all()
    assert (taught.stop <= taught.value + 1e-6).all()
    path = teacher.write(taught, tmp_path / "lessons.zarr")
    group = zarr.open_group(str(path), mode="r")
    assert group["q"].shape == (len(rows), 3, 7)
    assert (np.asarray(group["optimal"]) == taught.optimal).all()
    with pytest.raises(InputError, match="taken"):
        teacher.write(taught, path)


def test_observations_are_the_world_s():
    from jaxdiff.alchemy.chemistry import Chemistry
    from jaxdiff.alchemy.world import Alchemy

    truth, trials = walk("ideal_observer")
    d = load("chemistries_published")
    chemistry = Chemistry(truth.graph, truth.potion_map, truth.stone_map, truth.rotation)
    obs, _ = Alchemy().reset_with(chemistry, d["stones_latent"][QUICK], d["potions_latent"][QUICK])
    assert np.allclose(teacher.observation(trials[0].sight, 0), obs, atol=1e-6)
