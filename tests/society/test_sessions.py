"""Sessions against a plain loop in Python that plays one session step by step with the same random numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.society import agents, bags, batches, graphs, learners, scenarios, tables, world
from jaxdiff.society.learners import Rates

pytestmark = pytest.mark.slow

SMALL = graphs.Distribution(cells=4, longest_pattern=32)
RATES = Rates(alpha=0.3, gamma=0.5, beta=0.2, epsilon=0.3, initial=0.7)


def choose(allowed, u):
    """The k-th of the allowed actions."""
    there = np.flatnonzero(allowed)
    return int(there[min(int(np.float32(u) * np.float32(len(there))), len(there) - 1)])


def view(seat, seen, others):
    """What a learner takes for the state: who is where, or where it is itself and where others are."""
    good, evil, *places = seen
    return seen if others == "told_apart" else (good, evil, places[seat], *sorted(places[:seat] + places[seat + 1 :]))


def plain_session(scenario, params, seed, number, steps, others="told_apart"):
    """Rewards [steps, m] of one session: dictionaries for tables, NumPy for the world, the learners' `update` for learning."""
    m = len(scenario.agents)
    keys = batches.session_keys(seed, np.array([number]))
    env = world.Lambda(agents=m, cells=4)
    _, start = env.reset_env(keys["start"][0], params)
    words = np.asarray(jax.random.bits(jax.random.fold_in(keys["steps"][0], 0), (steps, m + 1), jnp.uint32))
    table, pattern = np.asarray(params.table), np.asarray(params.pattern)
    n_a, length = int(params.actions_n), int(params.pattern_n)
    lying, good, evil, places = np.zeros(4), int(start.good), int(start.evil), np.asarray(start.agents).tolist()
    q = [{} for _ in range(m)]
    states, out, before = [], [], None
    for t in range(steps):
        numbers = (words[t, :m] >> 8).astype(np.float32) * np.float32(2.0**-24)
        seen = (good, evil, *places)
        states.append(seen)
        targets = [[c if table[c, a] < 0 else int(table[c, a]) for a in range(n_a)] for c in range(4)]
        action = []
        for seat, kind in enumerate(scenario.agents):
            u, here = numbers[seat], targets[places[seat]]
            if kind in learners.LEARNERS:
                row = q[seat].setdefault(view(seat, seen, others), (np.full(n_a, 0.7, np.float32), np.float32(0.7)))[0]
                if u < np.float32(0.3):
                    allowed, u = np.ones(n_a, bool), u / np.float32(0.3)
                else:
                    allowed, u = row == row.max(), (u - np.float32(0.3)) / np.float32(1 - np.float32(0.3))
            elif kind == "random":
                allowed = np.ones(n_a, bool)
            elif kind == "follower":
                allowed = np.array([c == good for c in here])
                if not allowed.any():
                    allowed = np.array([c != evil for c in here])
                    allowed = allowed if allowed.any() else ~allowed
            else:
                _, g, e, _, _ = world.step_exact(table[:, :n_a], pattern[:length], t, lying, good, evil, places, [0] * m, 0)
                after = lying / 2
                after[int(g)], after[int(e)] = 1.0, -1.0
                value = np.array([after[c] for c in here])
                allowed = value == value.max()
            action.append(choose(allowed, u))
        if before is not None:
            learn(scenario, q, *before, seen, action, others)
        coin = int(words[t, m] >> 31)
        lying, good, evil, new, rewards = world.step_exact(table[:, :n_a], pattern[:length], t, lying, good, evil, places, action, coin)
        lying, good, evil, places = np.asarray(lying, np.float64), int(good), int(evil), np.asarray(new).tolist()
        learnt = np.asarray(scenario.bag.share(rewards[None]))[0]
        before = (seen, action, learnt)
        out.append(np.asarray(rewards))
    return np.stack(out), len(set(states))


def learn(scenario, q, last, action, learnt, now, action2, others):
    for seat, kind in enumerate(scenario.agents):
        if kind not in learners.LEARNERS:
            continue
        seen, following = view(seat, last, others), view(seat, now, others)
        rows = np.stack([q[seat][seen][0], q[seat][following][0]])
        v = np.array([q[seat][seen][1], q[seat][following][1]], np.float32)
        table = learners.QVTables(rows, v) if kind == "qv" else rows
        s2 = 0 if seen == following else 1
        table = learners.ALGORITHMS[kind].update(table, 0, action[seat], np.float32(learnt[seat]), s2, action2[seat], 0.3, 0.5, 0.2)
        new_q, new_v = table if kind == "qv" else (table, v)
        q[seat][seen] = (np.asarray(new_q)[0], np.float32(np.asarray(new_v)[0]))


CASES = {
    "learners": scenarios.competitive(("q_learning", "sarsa", "qv"), 40),
    "mixed, in one bag": scenarios.cooperative(("oracle", "q_learning", "follower", "random"), 40),
}


@pytest.mark.parametrize(
    ("name", "rows", "others"),
    [
        ("learners", None, "told_apart"),
        pytest.param("learners", 128, "told_apart", marks=pytest.mark.slow),
        ("mixed, in one bag", None, "told_apart"),
        ("learners", None, "alike"),
        pytest.param("learners", 128, "alike", marks=pytest.mark.slow),
    ],
)
def test_sessions_are_the_plain_ones(name, rows, others):
    scenario = CASES[name]
    curves = scenarios.run(scenario, 3, seed=5, distribution=SMALL, rates=RATES, window=40, rows=rows, others=others)
    assert curves.hashed == (rows is not None)
    assert curves.collisions.sum() == 0
    for number in (0, 2):
        params = jax.tree.map(lambda x, n=number: jnp.asarray(x[n]), curves.params)
        rewards, _ = plain_session(scenario, params, 5, number, 40, others)
        np.testing.assert_allclose(curves.own[0, number], rewards.mean(0), atol=1e-6)


@pytest.mark.long
def test_results_do_not_depend_on_batch_chunks_or_company():
    scenario = CASES["learners"]
    whole = scenarios.run(scenario, 7, seed=1, distribution=SMALL, rates=RATES, window=10)
    parts = scenarios.run(scenario, 7, seed=1, distribution=SMALL, rates=RATES, window=10, batch=3, workers=1)
    np.testing.assert_array_equal(whole.own, parts.own)
    fewer = scenarios.run(scenario, 4, seed=1, distribution=SMALL, rates=RATES, window=10, batch=4)
    np.testing.assert_array_equal(whole.own[:, :4], fewer.own)


def test_progress_reaches_the_end():
    seen = []
    scenarios.run(CASES["learners"], 7, distribution=SMALL, window=10, batch=3, workers=1, progress=lambda *x: seen.append(x))
    assert seen[-1] == (7 * 3 * 40, 7 * 3 * 40)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_collisions_are_counted():
    """Eight rows for twelve states: every state that is given up is counted and forgotten."""
    layout = tables.Layout(8, True, 2)
    initial = jnp.zeros((2, 2), jnp.float32)
    held = tables.empty(layout, initial)
    find = jax.jit(tables.find, static_argnums=2)
    for state in range(12):
        held, place, row = find(held, jnp.full((2,), state, jnp.uint32), layout, initial)
        assert float(jnp.abs(row).max()) == 0
        held = tables.put(held, place, jnp.full((2, 2), state + 1.0, jnp.float32))
    assert held.collisions.tolist() == [4, 4]
    kept = np.asarray(held.tags).reshape(2, -1)
    assert (np.sort(kept, axis=1)[:, -1] == 12).all(), "the last state is there"
    held, place, row = find(held, jnp.full((2,), 11, jnp.uint32), layout, initial)
    assert row.tolist() == [[12.0, 12.0]] * 2


def test_layouts():
    assert tables.states_of(9, 1) == 648
    assert tables.states_of(9, 3) == 52_488
    assert tables.states_of(9, 4) == 472_392
    assert tables.states_of(9, 6) == 38_263_752
    assert not tables.layout_for(52_488, 100_000, 30).hashed
    assert tables.layout_for(38_263_752, 10_000, 30) == tables.Layout(32_768, True, 30)
    assert tables.collision_rate(32_768, 10_000) < 1e-3
    assert 1000 * tables.layout_for(52_488, 100_000, 30).bytes < 8 * 2**30
    assert 1000 * tables.layout_for(38_263_752, 10_000, 30).bytes < 8 * 2**30


def test_state_numbers_are_all_different():
    places = np.array([(g, e, a, b) for g in range(3) for e in range(3) for a in range(3) for b in range(3) if g != e], np.int32)
    numbers = jax.vmap(lambda p: tables.state_index(p[0], p[1], p[2:], 3))(places)
    assert sorted(np.asarray(numbers).tolist()) == list(range(tables.states_of(3, 2)))


@pytest.mark.parametrize("mean", bags.MEANS)
def test_bags(mean):
    bag = bags.together(2, mean)
    out = bag.share(jnp.array([[0.0, 0.5], [0.0, 0.0], [-1.0, 1.0]], jnp.float32))
    positive = {"mean": 0.25, "geometric": 2 * np.sqrt(0.5 * 0.75) - 1, "harmonic": 2 * (2 / (1 / 0.5 + 1 / 0.75)) - 1}[mean]
    np.testing.assert_allclose(out[0], [positive] * 2, atol=1e-6)
    np.testing.assert_allclose(out[1], [0, 0], atol=1e-6)
    np.testing.assert_allclose(out[2], [0 if mean == "mean" else -1] * 2, atol=1e-6)


def test_teams_share_among_themselves_only():
    scenario = scenarios.teams((("q_learning", "q_learning"), ("sarsa",)))
    assert scenario.teams == ((0, 1), (2,))
    np.testing.assert_allclose(scenario.bag.share(jnp.array([[1.0, 0.0, -1.0]])), [[0.5, 0.5, -1.0]])


def test_agents_by_hand():
    table = np.array([[0, 1, 2], [1, 2, -1], [2, 0, 1]])
    params = world.params(table, [1, 2])
    state = world.State(jnp.array([0, 0.25, -0.5], jnp.float32), jnp.int32(1), jnp.int32(0), jnp.array([0], jnp.int32), jnp.int32(0))
    seen = agents.outlook(params, state)
    np.testing.assert_allclose(seen.next_reward, [0, -1, 1])  # Good goes from 1 to 2, Evil from 0 to 1
    assert agents.oracle(seen, jnp.int32(0)).tolist() == [False, False, True]
    assert agents.follower(seen, jnp.int32(0)).tolist() == [False, True, False]
    away = agents.outlook(params, world.State(state.cell_reward, jnp.int32(0), jnp.int32(2), state.agents, state.time))
    assert agents.follower(away, jnp.int32(1)).tolist() == [True, False, True], "not towards Evil; no effect is a way to stay"
    for u, action in ((0.0, 0), (0.49, 0), (0.5, 2), (0.999999, 2)):
        assert int(agents.pick(jnp.array([True, False, True]), jnp.float32(u))) == action
    assert agents.pattern(seen, jnp.array([4, 1]), jnp.int32(2), jnp.int32(2)).tolist() == [False, True, False]


@pytest.mark.slow
def test_random_agents_are_balanced():
    """A random agent alone scores 0 within four standard errors; bench/society.py states it over 100,000 sessions."""
    curves = scenarios.run(scenarios.isolated("random", 200), 2000, window=200)
    mean, half = scenarios.band(curves.score)
    assert abs(mean[0]) < 2 * half[0]
    assert half[0] < 0.005


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: scenarios.Scenario("none", ()), "agents is"),
        (lambda: scenarios.competitive(("wizard",)), "agent is 'wizard'"),
        (lambda: scenarios.Scenario("x", ("random",) * 2, ((0,),)), "teams is"),
        (lambda: scenarios.Scenario("x", ("random",) * 2, ((0, 1), (1,))), "names agent 1 2 times"),
        (lambda: scenarios.Scenario("x", ("random",) * 2, ((0,), ())), "teams is"),
        (lambda: scenarios.Scenario("x", ("random",) * 3, ((0,), (2,))), "leaves agents out"),
        (lambda: scenarios.cooperative(mean="median"), "mean is 'median'"),
        (lambda: Rates(alpha=1.5), "alpha is 1.5"),
        (lambda: Rates(gamma=-0.1), "gamma is -0.1"),
        (lambda: Rates(alpha=float("nan")), "alpha is nan"),
        (lambda: Rates(gamma=np.array([0.5, 1.5])), "gamma is 1.5"),
        (lambda: Rates(initial=float("nan")), "initial is nan"),
        (lambda: scenarios.run(CASES["learners"], 2, rates=Rates(alpha=jnp.full(3, 1.5))), "alpha is 1.5"),
        (lambda: learners.q_learning.update(np.zeros((2, 2)), 0, 0, 1.0, 1, 0, -0.1, 0.5), "alpha is -0.1"),
        (lambda: learners.sarsa.update(np.zeros((2, 2)), 0, 0, 1.0, 1, 0, 0.1, 1.5), "gamma is 1.5"),
        (lambda: learners.qv.update((np.zeros((2, 2)), np.zeros(2)), 0, 0, 1.0, 1, 0, 0.1, 0.5, 2), "beta is 2"),
        (lambda: scenarios.run(CASES["learners"], 0), "sessions_n is 0"),
        (lambda: scenarios.run(CASES["learners"], 2, rows=16), r"rows is 16; .* % of them collide"),
        (lambda: scenarios.run(CASES["learners"], 2, rows=17), "rows is 17"),
        (lambda: scenarios.run(CASES["learners"], 2, window=17), "steps is 40"),
        (lambda: scenarios.run(CASES["learners"], 2, rates=Rates(alpha=np.ones(7))), "rates is"),
        (lambda: scenarios.run(CASES["learners"], 2, ties="last"), "ties is 'last'"),
        (lambda: scenarios.run(CASES["learners"], 2, others="strangers"), "others is 'strangers'"),
        (lambda: tables.layout_for(2**33, 10, 3), "states is"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
