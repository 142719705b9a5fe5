import numpy as np
import pytest

pytest.importorskip("numba", reason="exact planning needs the extra `planner`")

from jaxdiff.alchemy import ideal_observer, items, logs, planner
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.alchemy.consequences import SHOWN_VALUES, consequences
from jaxdiff.alchemy.explorer import Explorer
from jaxdiff.alchemy.situations import Knowledge, Sight, Truth, nothing_known, see_stones, see_use
from jaxdiff.core.errors import InputError
from tests.alchemy.published import episodes
from tests.alchemy.reference import load

pytestmark = [pytest.mark.host, pytest.mark.slow]
CHEAP = (4, 6, 22, 28, 32, 34)  # published episodes whose first trials are quick to solve
DOZEN = (0, 2, 4, 6, 8, 10, 12, 14, 18, 20, 26, 30)


@pytest.fixture(scope="module")
def exact():
    return ideal_observer.Planner(sizes=planner.SMALL)


def random_trial(rng, potions, rotation=0, types=6):
    """A truth and a first trial with so many potions, of so many types at most."""
    truth = Truth(int(rng.integers(109)), int(rng.integers(48)), int(rng.integers(8)), rotation)
    kinds = np.full(items.POTIONS, -1)
    kinds[:potions] = rng.permutation(6)[rng.integers(0, types, potions)]
    sight = truth.sight(rng.integers(0, 8, 3), kinds)
    return truth, see_stones(nothing_known(rotation > 0), sight), sight


def unpruned(knowledge, sight, known=None):
    """Expectimax over everything, without bounds or symmetries, but equal situations only once: (reward x weight, -potions x weight)."""
    known = {} if known is None else known
    key = (knowledge.graph_sets.tobytes(), knowledge.stone_maps.tobytes(), sight.corners.tobytes(), sight.counts().tobytes())
    if key in known:
        return known[key]
    best = (int(np.maximum(SHOWN_VALUES[sight.shown], 0).sum()) * knowledge.weight, 0)
    for stone in range(3):
        for colour in np.unique(sight.colours[sight.colours >= 0]).tolist():
            parts = [unpruned(*one, known) for one in consequences(knowledge, sight, ideal_observer.Action(stone, colour))]
            best = max(best, (sum(r for r, _ in parts), sum(u for _, u in parts) - knowledge.weight))
    known[key] = best
    return best


class TestExactness:
    @pytest.mark.long
    @pytest.mark.parametrize(
        ("seed", "potions", "types"),
        [(0, 3, 6), (2, 4, 3), (3, 5, 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(2, 4, 6), (4, 5, 3), (5, 6, 2)])],
    )
    def test_pruned_equals_unpruned(self, exact, seed, potions, types):
        _, knowledge, sight = random_trial(np.random.default_rng(seed), potions, types=types)
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

        assert followed(exact, knowledge, sight) == exact.total(knowledge, sight)

    def test_its_own_policy_is_worth_what_it_says_while_the_rotation_is_open(self, exact):
        rng, knowledge = np.random.default_rng(0), None
        while knowledge is None or len(knowledge.rotations) == 1:
            _, knowledge, sight = random_trial(rng, 4, int(rng.integers(1, 4)))
        exact.new_trial(sight)
        assert followed(exact, knowledge, sight) == exact.total(knowledge, sight)

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


def followed(agent, knowledge, sight):
    """What the agent's own policy is worth in all worlds that are possible, as one integer."""
    action = agent.act(knowledge, sight)
    if action == ideal_observer.STOP:
        return agent.ending(knowledge, sight)
    return sum(followed(agent, *after) for after in consequences(knowledge, sight, action)) - knowledge.weight


class TestExplorer:
    """It minimises the expected number of worlds; checked where its horizon covers all potions."""

    def fewest(self, knowledge, sight):
        """(worlds x weight, potions x weight) of the best plan, by trying everything."""
        best = (knowledge.weight * knowledge.worlds, 0)
        for stone in range(3):
            for colour in np.unique(sight.colours[sight.colours >= 0]).tolist():
                parts = [self.fewest(*one) for one in consequences(knowledge, sight, ideal_observer.Action(stone, colour))]
                best = min(best, (sum(w for w, _ in parts), sum(u for _, u in parts) + knowledge.weight))
        return best

    @pytest.mark.parametrize("seed", [0, 1])
    def test_it_is_exact_within_its_horizon(self, seed):
        _, knowledge, sight = random_trial(np.random.default_rng(seed), 2)
        worlds, _ = self.fewest(knowledge, sight)
        explorer = Explorer(horizon=2)
        assert explorer.expected_worlds(knowledge, sight) == worlds / knowledge.weight
        assert self.led(explorer, knowledge, sight) == worlds

    def led(self, explorer, knowledge, sight):
        """Worlds x weight where its actions lead."""
        action = explorer.act(knowledge, sight)
        if action == ideal_observer.STOP:
            return knowledge.weight * knowledge.worlds
        return sum(self.led(explorer, *after) for after in consequences(knowledge, sight, action))

    def test_it_knows_more_than_the_observer_after_a_trial(self):
        chemistry, stones, potions = (
            Chemistry(*(np.asarray(f)[:2] for f in (c.graph, c.potion_map, c.stone_map, c.rotation))) if i == 0 else c[:2, :1]
            for i, c in enumerate(episodes())
        )
        play = ideal_observer.play(chemistry, stones, potions, mode="explorer")
        log, published = logs.of_actions(play.actions), load("published_agent_events")["ideal_observer/world_states_trial_end"]
        for e in range(2):
            truth = Truth(*(int(f[e]) for f in (chemistry.graph, chemistry.potion_map, chemistry.stone_map, chemistry.rotation)))
            (trial,) = logs.replay(truth, stones[e].astype(int), potions[e].astype(int), log, e)
            assert trial.knowledge_after.worlds <= published[e, 0]
            assert trial.score == play.scores[e, 0]

    def test_a_horizon_that_is_none_is_refused(self):
        with pytest.raises(InputError, match="horizon is 0"):
            Explorer(0)


class TestPublished:
    @pytest.mark.long
    @pytest.mark.parametrize("numbers", [CHEAP, pytest.param(DOZEN, marks=pytest.mark.slow)])
    def test_expected_trial_values_are_the_stored_ones(self, numbers):
        d = load("ideal_observer_values")
        values = ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), numbers, workers=1)
        stored = d["expected_trial_value"][np.searchsorted(d["episode"], numbers)]
        assert np.abs(values - stored).max() < 1e-4

    def test_world_counts_are_the_stored_ones(self):
        events, chemistries = load("published_agent_events"), load("chemistries_published")
        for agent in ("ideal_observer", "baseline"):
            log = logs.published(events, agent)
            for e in (1, 500):
                trials = list(logs.replay(*logs.episode_of(chemistries, e), log, e))
                assert [t.knowledge.worlds for t in trials] == events[f"{agent}/world_states_trial_start"][e].tolist()
                assert [t.knowledge_after.worlds for t in trials] == events[f"{agent}/world_states_trial_end"][e].tolist()
                assert [t.score for t in trials] == events[f"{agent}/trial_score"][e].tolist()
                assert np.allclose(
                    [t.knowledge_after.entropy for t in trials], events[f"{agent}/posterior_entropy_trial_end"][e], atol=1e-5
                )

    @pytest.mark.parametrize("mode", ideal_observer.PLANNING)
    def test_published_decisions_lose_nothing(self, mode):
        chemistries, log = load("chemistries_published"), logs.published(load("published_agent_events"), "ideal_observer")
        agent = ideal_observer.Planner(mode, planner.SMALL)
        for e in (4, 5):
            for trial in logs.replay(*logs.episode_of(chemistries, e), log, e):
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
            trials = list(logs.replay(truth, stones[e].astype(int), potions[e].astype(int), log, e))
            assert [t.score for t in trials] == play.scores[e].tolist()

    def test_rotated_episodes_never_lose_the_true_chemistry(self):
        rng = np.random.default_rng(1)
        for _ in range(60):
            truth = Truth(int(rng.integers(109)), int(rng.integers(48)), int(rng.integers(8)), int(rng.integers(4)))
            log = logs.Log(np.tile(rng.permutation(12) % 3, (1, 10, 1)), np.tile(np.arange(12), (1, 10, 1)))
            for trial in logs.replay(truth, rng.integers(0, 8, (10, 3)), rng.integers(0, 6, (10, 12)), log, rotation=True):
                assert trial.knowledge.allows(truth)
                assert trial.knowledge_after.allows(truth)

    def test_what_cannot_be_is_refused(self, exact):
        nowhere = Knowledge(np.full((4, 48), -1, np.int16), np.zeros(4, np.int64))
        _, _, sight = random_trial(np.random.default_rng(0), 4)
        with pytest.raises(InputError, match="excludes every chemistry"):
            exact.value(nowhere, sight)
        with pytest.raises(InputError, match="excludes every chemistry"):
            Explorer(1).act(nowhere, sight)
        with pytest.raises(InputError, match="mode"):
            ideal_observer.Planner("fast")
        with pytest.raises(InputError, match="agent"):
            ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), [0], agent="nobody")
        with pytest.raises(InputError, match="episodes"):
            ideal_observer.root_values_along(load("chemistries_published"), load("published_agent_events"), [1000])
        with pytest.raises(InputError, match="12 potions"):
            ideal_observer.play(Chemistry(0, 0, 0, 0), np.zeros((1, 3), int), np.zeros((1, 13), int))

    def test_more_than_twelve_potions_are_refused(self, exact):
        truth = Truth(0, 0, 0)
        sight = truth.sight(np.zeros(3, int), np.zeros(13, int))
        with pytest.raises(InputError, match="13 potions"):
            exact.value(see_stones(nothing_known(), sight), sight)

    def test_a_belief_that_excludes_the_truth_is_refused(self):
        chemistries, events = load("chemistries_published"), load("published_agent_events")
        truth, stones, potions = logs.episode_of(chemistries, 0)
        other = next(logs.replay(truth, stones, potions, logs.published(events, "ideal_observer"), 0)).knowledge_after
        stranger = Truth(truth.graph, truth.potion_map ^ 7, truth.stone_map)
        assert other.allows(truth)
        assert not other.allows(stranger)
        with pytest.raises(InputError, match="excludes the true chemistry"):
            next(logs.replay(stranger, stones, potions, logs.published(events, "ideal_observer"), 0, knowledge=other))

    def test_a_log_of_another_episode_is_refused(self):
        chemistries, events = load("chemistries_published"), dict(load("published_agent_events"))
        for name in ("stone", "potion", "trial_score"):
            events[f"ideal_observer/{name}"] = np.roll(events[f"ideal_observer/{name}"], 1, 0)
        with pytest.raises(InputError, match="episode 4, trial 0"):
            ideal_observer.root_values_along(chemistries, events, [4], workers=1)

    def test_tables_that_do_not_fit_are_refused(self):
        with pytest.raises(InputError, match=r"GiB.*SMALL"):
            ideal_observer.Planner(sizes=planner.Sizes(one=1 << 50))

    def test_an_action_on_a_used_stone_is_refused(self):
        truth, stones, potions = Truth(0, 0, 0), np.zeros((1, 3), int), np.zeros((1, 12), int)
        for stone, potion, word in (([0, 0], [-1, 3], "stone 0"), ([0, 1], [3, 3], "potion 3"), ([3], [0], "stones 0 to 2")):
            with pytest.raises(InputError, match=word):
                list(logs.replay(truth, stones, potions, logs.Log(np.array([[stone]]), np.array([[potion]]))))
