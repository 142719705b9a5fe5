import numpy as np
import pytest

pytest.importorskip("numba", reason="exact planning needs the extra `planner`")

from jaxdiff.alchemy import ideal_observer, items, logs, planner
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.situations import Knowledge, Sight, Truth, nothing_known, see_stones, see_use
from jaxdiff.core.errors import InputError
from tests.alchemy.published import episodes
from tests.alchemy.reference import load

pytestmark = pytest.mark.host
CHEAP = (4, 6, 8, 16, 22, 34)  # published episodes whose first trials are quick to solve


@pytest.fixture(scope="module")
def exact():
    return ideal_observer.Planner(sizes=planner.SMALL)


def random_trial(rng, potions, rotation=0):
    """A truth and a first trial with so many potions."""
    truth = Truth(int(rng.integers(109)), int(rng.integers(48)), int(rng.integers(8)), rotation)
    kinds = np.full(items.POTIONS, -1)
    kinds[:potions] = rng.integers(0, 6, potions)
    sight = truth.sight(rng.integers(0, 8, 3), kinds)
    return truth, see_stones(nothing_known(rotation > 0), sight), sight


def unpruned(knowledge, sight, known=None):
    """Expectimax over everything, without bounds or symmetries, but equal situations only once: (reward x weight, -potions x weight)."""
    known = {} if known is None else known
    key = (knowledge.graph_sets.tobytes(), knowledge.stone_maps.tobytes(), sight.corners.tobytes(), sight.counts().tobytes())
    if key in known:
        return known[key]
    best = (int(np.maximum(ideal_observer.SHOWN_VALUES[sight.shown], 0).sum()) * knowledge.weight, 0)
    for stone in range(3):
        for colour in np.unique(sight.colours[sight.colours >= 0]).tolist():
            parts = [unpruned(*one, known) for one in ideal_observer.consequences(knowledge, sight, ideal_observer.Action(stone, colour))]
            best = max(best, (sum(r for r, _ in parts), sum(u for _, u in parts) - knowledge.weight))
    known[key] = best
    return best


class TestExactness:
    @pytest.mark.parametrize(("seed", "potions"), [(0, 3), (1, 3), (2, 4)])
    def test_pruned_equals_unpruned(self, exact, seed, potions):
        _, knowledge, sight = random_trial(np.random.default_rng(seed), potions)
        exact.new_trial(sight)
        reward, uses = unpruned(knowledge, sight)
        assert exact.total(knowledge, sight) == planner.SCALE * reward + uses

    def test_pruned_equals_unpruned_after_something_was_learnt(self, exact):
        rng = np.random.default_rng(7)
        truth, knowledge, sight = random_trial(rng, 7)
        latent = [int(c) ^ 7 ^ truth.stone_map for c in sight.corners[0]]
        for slot in range(3):
            colour, colours = int(sight.colours[slot]), sight.colours.copy()
            latent[0] = truth.moved(latent[0], colour)
            colours[slot] = -1
            fresh = truth.sight(np.array(latent), np.full(12, -1))
            after = Sight(fresh.corners, fresh.shown, colours)
            knowledge, sight = see_use(knowledge, sight, after, 0, colour), after
        exact.new_trial(sight)
        reward, uses = unpruned(knowledge, sight)
        assert exact.total(knowledge, sight) == planner.SCALE * reward + uses

    def test_pruned_equals_unpruned_while_the_rotation_is_open(self, exact):
        rng, found = np.random.default_rng(0), 0
        while found < 2:
            _, knowledge, sight = random_trial(rng, 3, int(rng.integers(1, 4)))
            if len(knowledge.rotations) > 1:
                found += 1
                exact.new_trial(sight)
                reward, uses = unpruned(knowledge, sight)
                assert exact.total(knowledge, sight) == planner.SCALE * reward + uses

    def test_its_own_policy_is_worth_what_it_says(self, exact):
        """In every world that is possible at the start; the weighted sum is the integer that the root claims."""
        _, knowledge, sight = random_trial(np.random.default_rng(3), 5)
        exact.new_trial(sight)

        def followed(knowledge, sight):
            action = exact.act(knowledge, sight)
            if action == ideal_observer.STOP:
                return exact.ending(knowledge, sight)
            return sum(followed(*after) for after in ideal_observer.consequences(knowledge, sight, action)) - knowledge.weight

        assert followed(knowledge, sight) == exact.total(knowledge, sight)

    def test_a_memory_that_is_too_small_grows(self):
        tiny = ideal_observer.Planner(sizes=planner.Sizes(1 << 12, 1 << 10, 1 << 8, 1 << 8))
        roomy = ideal_observer.Planner(sizes=planner.SMALL)
        _, knowledge, sight = random_trial(np.random.default_rng(5), 8)
        assert tiny.total(knowledge, sight) == roomy.total(knowledge, sight)

    def test_q_values_agree_with_value(self, exact):
        _, knowledge, sight = random_trial(np.random.default_rng(6), 5)
        exact.new_trial(sight)
        q, best = exact.q_values(knowledge, sight), exact.value(knowledge, sight)
        stop = exact.use_value(knowledge, sight, ideal_observer.STOP).reward
        assert max(np.nanmax(q), stop) == pytest.approx(best.reward, abs=1e-12)
        present = sight.counts() > 0
        assert (np.isnan(q[:, :6]) == ~present).all()
        # A stone of positive value may as well be cashed when nothing better is possible with it; a worthless one never pays.
        for stone, shown in enumerate(sight.shown):
            if shown < 2:
                assert q[stone, 6] < best.reward


class TestPublished:
    def test_expected_trial_values_are_the_stored_ones(self):
        d = load("ideal_observer_values")
        values = ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), CHEAP, workers=1)
        stored = d["expected_trial_value"][np.searchsorted(d["episode"], CHEAP)]
        assert np.abs(values - stored).max() < 1e-4

    def test_world_counts_are_the_stored_ones(self):
        events, chemistries = load("published_agent_events"), load("chemistries_published")
        for agent in ("ideal_observer", "baseline"):
            log = logs.published(events, agent)
            for e in (1, 500):
                trials = list(logs.replay(*logs.episode_of(chemistries, e), log.stone[e], log.potion[e]))
                assert [t.knowledge.worlds for t in trials] == events[f"{agent}/world_states_trial_start"][e].tolist()
                assert [t.knowledge_after.worlds for t in trials] == events[f"{agent}/world_states_trial_end"][e].tolist()
                assert [t.score for t in trials] == events[f"{agent}/trial_score"][e].tolist()
                assert np.allclose(
                    [t.knowledge_after.entropy for t in trials], events[f"{agent}/posterior_entropy_trial_end"][e], atol=1e-5
                )

    @pytest.mark.parametrize("mode", ideal_observer.MODES)
    def test_published_decisions_lose_nothing(self, mode):
        chemistries, log = load("chemistries_published"), logs.published(load("published_agent_events"), "ideal_observer")
        agent = ideal_observer.Planner(mode, planner.SMALL)
        for e in (4, 5):
            for trial in logs.replay(*logs.episode_of(chemistries, e), log.stone[e], log.potion[e]):
                agent.new_trial(trial.sight)
                uses = [d for d in trial.decisions if d.potion != logs.CAULDRON]
                taken = [(d.knowledge, d.sight, ideal_observer.Action(d.stone, d.colour)) for d in uses]
                # The uses come first; then everything positive is cashed.
                end = next(
                    ((d.knowledge, d.sight) for d in trial.decisions if d.potion == logs.CAULDRON),
                    (trial.knowledge_after, trial.sight_after),
                )
                for knowledge, sight, action in [*taken, (*end, ideal_observer.STOP)]:
                    lost = agent.value(knowledge, sight).reward - agent.use_value(knowledge, sight, action).reward
                    assert abs(lost) < 1e-9


class TestPlay:
    def test_scores_are_what_the_world_gives_and_what_the_log_says(self):
        chemistry, stones, potions = (
            Chemistry(*(np.asarray(f)[[4, 5]] for f in (c.graph, c.potion_map, c.stone_map, c.rotation))) if i == 0 else c[[4, 5]]
            for i, c in enumerate(episodes())
        )
        play = ideal_observer.play(chemistry, stones, potions)
        log = logs.of_actions(play.actions)
        for e in range(2):
            truth = Truth(*(int(f[e]) for f in (chemistry.graph, chemistry.potion_map, chemistry.stone_map, chemistry.rotation)))
            trials = list(logs.replay(truth, stones[e].astype(int), potions[e].astype(int), log.stone[e], log.potion[e]))
            assert [t.score for t in trials] == play.scores[e].tolist()

    def test_rotated_episodes_never_lose_the_true_chemistry(self):
        rng = np.random.default_rng(1)
        for _ in range(60):
            truth = Truth(int(rng.integers(109)), int(rng.integers(48)), int(rng.integers(8)), int(rng.integers(4)))
            stone = np.tile(rng.permutation(12) % 3, (10, 1))
            potion = np.tile(np.arange(12), (10, 1))
            flip = 7 ^ truth.stone_map
            for trial in logs.replay(truth, rng.integers(0, 8, (10, 3)), rng.integers(0, 6, (10, 12)), stone, potion, rotation=True):
                known = trial.knowledge_after
                assert known.stone_maps[truth.rotation] >> flip & 1
                seen = truth.potion_map ^ flip
                graph = _aligned_graph(truth)
                assert _members()[known.graph_sets[truth.rotation, seen], graph]

    def test_what_cannot_be_is_refused(self, exact):
        nowhere = Knowledge(np.full((4, 48), -1, np.int16), np.zeros(4, np.int64))
        _, _, sight = random_trial(np.random.default_rng(0), 4)
        with pytest.raises(InputError, match="excludes every chemistry"):
            exact.value(nowhere, sight)
        with pytest.raises(InputError, match="mode"):
            ideal_observer.Planner("fast")
        with pytest.raises(InputError, match="agent"):
            ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), [0], agent="nobody")
        with pytest.raises(InputError, match="episodes"):
            ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), [1000])
        with pytest.raises(InputError, match="12 potions"):
            ideal_observer.play(Chemistry(0, 0, 0, 0), np.zeros((1, 3), int), np.zeros((1, 13), int))

    def test_an_action_on_a_used_stone_is_refused(self):
        truth, stones, potions = Truth(0, 0, 0), np.zeros((1, 3), int), np.zeros((1, 12), int)
        for stone, potion, word in (([0, 0], [-1, 3], "stone 0"), ([0, 1], [3, 3], "potion 3"), ([3], [0], "stones 0 to 2")):
            with pytest.raises(InputError, match=word):
                list(logs.replay(truth, stones, potions, np.array([stone]), np.array([potion])))


def _members():
    from jaxdiff.alchemy import graph_sets

    return graph_sets.members()


def _aligned_graph(truth):
    from jaxdiff.alchemy import graphs

    return graphs.reflections()[7 ^ truth.stone_map, truth.graph]
