import numpy as np
import pytest

from jaxdiff.alchemy import logs
from jaxdiff.core.errors import InputError
from jaxdiff.studies import kept_play
from jaxdiff.studies import reference_agents as study

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def given():
    return study.published(study.data_folder(None), 6)


def test_the_published_oracle_is_ours(given):
    episodes, events = given
    dataset = study.evaluate(episodes, logs.published(events, "search_oracle").of(episodes.numbers), models=False)
    assert (dataset.score == dataset.optimum).all()
    assert (dataset.acts.sum("kind") == events["search_oracle/num_actions"][:6]).all()
    assert (dataset.potions == events["search_oracle/potions_used"][:6]).all()
    assert dataset.kinds.values.max() <= 1


def test_numbers_are_those_of_the_log(given):
    episodes, events = given
    dataset = study.evaluate(episodes, logs.published(events, "ideal_observer").of(episodes.numbers), models=False)
    numbers = study.numbers(dataset)
    assert numbers["episode score"].mean == events["ideal_observer/trial_score"][:6].sum(1).mean()
    worlds = events["ideal_observer/world_states_trial_end"][:6]
    assert numbers["entropy after trial 1"].mean == pytest.approx(np.log(worlds[:, 0]).mean())
    kinds = [numbers[f"{kind}, trial 1"].mean for kind in study.ACTION_KINDS]
    assert sum(kinds) == pytest.approx(events["ideal_observer/num_actions"][:6, 0].mean())


@pytest.mark.host
def test_a_log_goes_through_a_file_with_its_episodes(given, tmp_path):
    episodes, events = given
    log = logs.published(events, "baseline").of(episodes.numbers)
    path = study.write_log(tmp_path / "log.npz", log, episodes, log.scores)
    again, its = study.read_log(str(path))
    assert (again.potion == log.potion).all()
    assert (again.scores == log.scores).all()
    assert (its.stones == episodes.stones).all()
    assert its.truths() == episodes.truths()


@pytest.mark.host
@pytest.mark.parametrize("broken", [b"", b"PK\x03\x04 not much", b"not an archive"])
def test_a_file_that_is_no_log_is_refused(broken, tmp_path):
    (tmp_path / "log.npz").write_bytes(broken)
    with pytest.raises(InputError, match="agent"):
        study.read_log(str(tmp_path / "log.npz"))


@pytest.mark.host
class TestKeptPlay:
    """A file serves the episodes that it holds, as far as it has them, and no others."""

    def actions(self, episodes):
        return np.arange(episodes.stones.shape[0] * 200).reshape(-1, 10, 20).astype(np.int32)

    def test_it_goes_on_where_it_was(self, given, tmp_path):
        episodes, path = given[0], tmp_path / "play.npz"
        assert len(kept_play.load(path, episodes)) == 0
        actions = self.actions(episodes)
        kept_play.save(path, episodes, actions[:4])
        assert (kept_play.load(path, episodes) == actions[:4]).all()
        fewer = study.published(study.data_folder(None), 2)[0]
        assert (kept_play.load(path, fewer) == actions[:2]).all()

    def test_other_episodes_and_broken_files_are_not_used(self, given, tmp_path):
        episodes, path = given[0], tmp_path / "play.npz"
        kept_play.save(path, episodes, self.actions(episodes))
        assert len(kept_play.load(path, study.drawn(6, 0, rotation=True))) == 0
        path.write_bytes(path.read_bytes()[:-40])
        assert len(kept_play.load(path, episodes)) == 0
