import jax
import numpy as np
import pytest

from jaxdiff.automata import apl, rollouts, strategies, world
from jaxdiff.core.errors import InputError
from tests import oracles

PROGRAMS = oracles.random_programs(np.random.default_rng(0), 24)
RULES = (184, 110, 122, 164)
STEPS = 30


def test_worlds_are_a_batch_axis():
    together = strategies.fresh(PROGRAMS, world.paper_world(RULES), STEPS)
    for i, rule in enumerate(RULES):
        alone = strategies.fresh(PROGRAMS, world.paper_world(rule), STEPS)
        np.testing.assert_array_equal(together.numerator[i], alone.numerator)
        np.testing.assert_array_equal(together.cells[i], alone.cells)
    np.testing.assert_array_equal(together.reward, together.numerator / 2**11 / STEPS)


def test_all_256_rules_are_one_compilation():
    before = rollouts.fresh._cache_size()
    for rules in (np.arange(256), np.arange(256)[::-1]):
        strategies.fresh(PROGRAMS, world.paper_world(rules), 5)
    assert rollouts.fresh._cache_size() == before + 1


def test_chunks_do_not_change_results(monkeypatch):
    whole = strategies.fresh(PROGRAMS, world.paper_world(RULES), STEPS)
    calls = []
    monkeypatch.setattr(strategies, "LANES", 4 * 7)
    monkeypatch.setattr(strategies, "LANES_CPU", 4 * 7)
    parts = strategies.fresh(PROGRAMS, world.paper_world(RULES), STEPS, progress=lambda done, of: calls.append((done, of)))
    np.testing.assert_array_equal(parts.numerator, whole.numerator)
    np.testing.assert_array_equal(parts.cells, whole.cells)
    assert calls == [(28, 96), (56, 96), (84, 96), (96, 96)]


def test_chained_carries_the_world_over_and_empties_memory():
    out = strategies.chained(PROGRAMS, world.paper_world(122), STEPS)
    cells, position = world.paper_world(122).cells, 10
    for program, got in zip(PROGRAMS, out.numerator, strict=True):
        total, cells, position = oracles.rollout(program, 122, cells, position, STEPS)
        assert int(got) == oracles.numerator(total, 21)
    assert out.cells.tolist() == cells
    assert int(out.position) == position


@pytest.mark.slow
def test_chained_in_pieces_with_walkers(monkeypatch):
    key = jax.random.key(3)
    whole = strategies.chained(PROGRAMS, world.paper_world(RULES), STEPS, walkers=3, key=jax.random.clone(key))
    monkeypatch.setattr(strategies, "ITEMS", 10)
    parts = strategies.chained(PROGRAMS, world.paper_world(RULES), STEPS, walkers=3, key=key)
    np.testing.assert_array_equal(parts.numerator, whole.numerator)
    np.testing.assert_array_equal(parts.walker_numerator, whole.walker_numerator)
    np.testing.assert_array_equal(parts.position, whole.position)
    assert whole.walker_numerator.shape == (4, 3)


def test_sequences_run_side_by_side():
    sequences = np.stack([PROGRAMS, PROGRAMS[::-1]])
    both = strategies.chained(sequences, world.paper_world(RULES), STEPS)
    assert both.numerator.shape == (4, 2, 24)
    for i, sequence in enumerate(sequences):
        np.testing.assert_array_equal(both.numerator[:, i], strategies.chained(sequence, world.paper_world(RULES), STEPS).numerator)


def test_levin_is_chained_by_ascending_length():
    order = np.argsort(apl.length(PROGRAMS), kind="stable")
    sorted_run = strategies.chained(PROGRAMS[order], world.paper_world(RULES), STEPS)
    levin = strategies.levin(PROGRAMS, world.paper_world(RULES), STEPS)
    np.testing.assert_array_equal(levin.numerator[:, order], sorted_run.numerator)


@pytest.mark.slow
def test_random_walk_with_no_steps_is_fresh():
    plain = strategies.fresh(PROGRAMS, world.paper_world(RULES), STEPS)
    walked = strategies.random_walk(jax.random.key(0), PROGRAMS, world.paper_world(RULES), STEPS, 0)
    np.testing.assert_array_equal(walked.numerator, plain.numerator)
    walked = strategies.random_walk(jax.random.key(0), PROGRAMS, world.paper_world(RULES), STEPS, 9, walkers=2)
    assert (walked.numerator != plain.numerator).any()
    assert walked.walker_numerator.shape == (4, 2)


def test_walkers_follow_their_actions():
    """The kernel's random walk against the oracle with the same actions, and uniform actions."""
    shape, params = rollouts.shape_for(21, STEPS), world.paper_world((110, 164))
    rule, cells, position, _ = world.batched(params)
    key = jax.random.key(5)
    trace = rollouts.trace_walks(jax.random.clone(key), rule, cells, position, 4, shape)
    out = rollouts.walks(key, rule, cells, position, 4, shape)
    for i, number in enumerate((110, 164)):
        for walker in range(4):
            actions = list(zip(np.asarray(trace.move)[:, i, walker].tolist(), np.asarray(trace.upshot)[:, i, walker].tolist(), strict=True))
            total, last, place = oracles.rollout([], number, cells[i], 10, STEPS, actions=actions)
            assert int(out.total[0][i, walker]) == oracles.numerator(total, 21)
            assert out.cells[i, walker].tolist() == last
            assert int(out.position[i, walker]) == place


def test_random_actions_are_uniform():
    actions = np.asarray(rollouts.random_actions(jax.random.key(0), 3000, (4,))).reshape(-1)
    count = np.bincount(actions, minlength=12)
    # 12,000 draws: each of 12 actions 1000 times, sd 30.3; five sd in any of twelve has probability below 1e-5.
    assert len(count) == 12
    assert np.abs(count - 1000).max() < 152


def test_walkers_are_interleaved_regularly():
    walker_at, program_at = strategies.interleave(1900, 100)
    assert walker_at.tolist() == list(range(10, 2000, 20))
    assert sorted([*walker_at, *program_at]) == list(range(2000))
    assert strategies.interleave(5, 0)[0].size == 0


def test_long_sums_need_two_limbs():
    """40 cells and 5,000 steps: the sum of numerators passes 2^32."""
    program = apl.parse("Uadd1 Uadd1 Uadd1")[None]
    params = world.Params(255, np.ones(40, np.uint8), 0)
    out = strategies.fresh(program, params, 5000)
    assert out.numerator.tolist() == [5000 * 2 * (2**20 - 1)]
    assert out.numerator[0] > 2**32


WORLD = world.paper_world(110)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: strategies.fresh(PROGRAMS, WORLD, 0), "steps is 0"),
        (lambda: strategies.fresh(np.zeros((0, 3), np.int8), WORLD, 5), "at least one program"),
        (lambda: strategies.fresh([[6]], WORLD, 5), "opcode is"),
        (lambda: strategies.fresh(PROGRAMS[0], WORLD, 5), r"allowed: \[P, L\]"),
        (lambda: strategies.fresh(PROGRAMS, WORLD, 5, walkers=2), "key is None"),
        (lambda: strategies.fresh(PROGRAMS, WORLD, 5, walkers=-1), "walkers is -1"),
        (lambda: strategies.fresh(PROGRAMS, world.Params(1, np.zeros(150, int), 0), 300), "63 bits"),
        (lambda: strategies.chained(PROGRAMS, WORLD, 0), "steps is 0"),
        (lambda: strategies.levin(PROGRAMS, WORLD, 5, walkers=2), "key is None"),
        (lambda: strategies.random_walk(jax.random.key(0), PROGRAMS, WORLD, 5, -1), "walk_steps is -1"),
        (lambda: strategies.random_walk(None, PROGRAMS, WORLD, 5, 1), "key is None"),
        (lambda: strategies.fresh(PROGRAMS, WORLD, 5, observation="xyz"), "observation is 'xyz'"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
