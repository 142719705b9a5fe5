import jax
import numpy as np
import pytest

from jaxdiff.alchemy import graphs, items, oracle, played, set_tables, store
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.errors import InputError
from tests.alchemy import reference
from tests.alchemy.published import episodes


@pytest.fixture(scope="module")
def published():
    return episodes()


def by_search(corners, counts, graph):
    """Best reward and fewest potions, by trying everything."""
    best = (max(0, sum(max(items.VALUES[c], 0) for c in corners)), 0)
    for i, c in enumerate(corners):
        for kind in range(items.TYPES):
            after = int(graphs.transitions()[graph, c, kind])
            if counts[kind] and after != c:
                left = tuple(n - (k == kind) for k, n in enumerate(counts))
                reward, uses = by_search((*corners[:i], after, *corners[i + 1 :]), left, graph)
                best = max(best, (reward, uses - 1))
    return best


def test_scores_are_the_stored_optimum_in_all_trials(published):
    play = oracle.play(*published)
    assert (np.asarray(play.scores) == reference.load("published_agent_events")["oracle_optimal_trial_score"]).all()


def test_potions_are_as_few_as_the_published_oracle_used(published):
    actions = np.asarray(oracle.play(*published).actions)
    used = ((actions > 0) & ((actions - 1) % played.PER_STONE > 0)).sum(-1)
    assert (used == reference.load("published_agent_events")["search_oracle/potions_used"]).all()


@pytest.mark.host
def test_table_agrees_with_trying_everything():
    rng = np.random.default_rng(0)
    for _ in range(30):
        corners = tuple(sorted(rng.integers(0, 8, 3).tolist()))
        counts = tuple(np.bincount(rng.integers(0, 6, 5), minlength=6).tolist())
        graph = int(rng.integers(109))
        multiset = items.stones().number[corners]
        rename = items.stones().to_least[multiset, 0]
        row = items.potions().axes[items.rank(np.array(counts)), rename]
        entry = int(oracle.table()[row, items.stones().least[multiset], set_tables.set_tables().graph_axes[rename, graph]])
        reward, uses = by_search(corners, counts, graph)
        assert entry == oracle.SHIFT * reward + uses


def test_batches_may_have_any_leading_shape():
    chemistry, stones, potions = episodes(6)
    flat = oracle.play(chemistry, stones, potions)
    nested = oracle.play(jax.tree.map(lambda a: a.reshape(2, 3), chemistry), stones.reshape(2, 3, 10, 3), potions.reshape(2, 3, 10, 12))
    assert nested.actions.shape == (2, 3, 10, 20)
    assert (np.asarray(nested.scores).reshape(6, 10) == np.asarray(flat.scores)).all()


@pytest.mark.host
@pytest.mark.parametrize(
    ("stones", "potions", "argument"),
    [
        (np.zeros((1, 3), int), np.zeros((1, 13), int), "potions"),
        (np.zeros((1, 2), int), np.zeros((1, 12), int), "stones"),
        (np.full((1, 3), 8), np.zeros((1, 12), int), "stones"),
        (np.zeros((1, 3), int), np.full((1, 12), 6), "potions"),
        (np.zeros((1, 3)), np.zeros((1, 12), int), "stones"),
    ],
)
def test_bad_items_are_refused(stones, potions, argument):
    with pytest.raises(InputError, match=argument):
        oracle.play(Chemistry(0, 0, 0, 0), stones, potions)


@pytest.mark.host
class TestStore:
    def make(self, calls, value=7):
        def made():
            calls.append(1)
            return np.full((3, 5), value, np.int16)

        return made

    def kept(self, calls, version=1):
        return store.kept("t", version, (3, 5), "int16", self.make(calls))

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("JAXDIFF_CACHE", str(tmp_path))
        return tmp_path

    def test_a_table_is_made_once(self):
        calls = []
        first, second = self.kept(calls), self.kept(calls)
        assert (first == 7).all()
        assert (second == 7).all()
        assert len(calls) == 1

    def test_another_version_is_made_again(self):
        calls = []
        self.kept(calls), self.kept(calls, version=2)
        assert len(calls) == 2

    @pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
    def test_a_damaged_file_is_made_again(self, folder, damage):
        calls = []
        self.kept(calls)
        path = folder / "t.table"
        data = bytearray(path.read_bytes())
        data[-1] ^= 255
        path.write_bytes({"cut": bytes(data[:-8]), "flip": bytes(data), "empty": b""}[damage])
        assert (self.kept(calls) == 7).all()
        assert len(calls) == 2

    def test_without_a_folder_it_is_made_each_time(self, folder, monkeypatch):
        (folder / "file").write_text("")
        monkeypatch.setenv("JAXDIFF_CACHE", str(folder / "file" / "below"))
        calls = []
        assert (self.kept(calls) == 7).all()
        assert not self.kept(calls).flags.writeable
        assert len(calls) == 2
