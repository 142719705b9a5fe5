import dataclasses
import json

import jax
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.society import evolution
from jaxdiff.society.learners import Rates
from jaxdiff.studies import social_difficulty, society, society_rows

from .society_data import made_up

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results():
    return made_up()


def test_rows_say_what_the_curves_say(results):
    rows = society_rows.rows(results)
    json.dumps([row.as_dict() for row in rows], allow_nan=False)
    by = {(row.figure, row.quantity, row.reading): row for row in rows}
    follower = by["3", "follower", "made up"]
    assert follower.here == pytest.approx(0.5, abs=0.01)
    assert follower.low < follower.here < follower.high
    assert follower.inside is True
    assert follower.difference == pytest.approx(follower.here - 0.5)
    assert by["3", "q_learning / follower", "made up, score"].here == pytest.approx(0.8, abs=0.02)
    assert by["2 right", "q_learning", "made up, score"].inside is False, ".067 is not .2"
    assert by["2 right", "q_learning", "made up, last tenth"].inside is None
    assert by["2 right", "q_learning", "other, score"].inside is None, "other readings do not decide"
    assert {row.figure for row in rows} == {"2 left", "2 middle", "2 right", "3", "4 left", "4 middle", "4 right", "5", "6"}


def test_a_team_without_roles_is_its_own_null():
    rng = np.random.default_rng(0)
    own = rng.normal(0.1, 1.0, (100, 2000, 2)).astype(np.float32)
    best, other = society_rows.split_null(own)
    score = own.mean(0)
    assert best.mean() == pytest.approx(score.max(1).mean(), abs=0.005)
    assert other.mean() == pytest.approx(score.min(1).mean(), abs=0.005)
    roles = own + np.array([0.5, -0.5], np.float32)
    best, _ = society_rows.split_null(roles)
    assert roles.mean(0).max(1).mean() > best.mean() + 0.3


def test_changes_by_generation_are_paired():
    settings = evolution.Settings(environments=200, generations=4, probes=("oracle",))
    rng = np.random.default_rng(0)
    level = rng.normal(0, 1, 200)  # of the environments; it must cancel
    probe = np.array([0.5, 0.4, 0.38, 0.36, 0.34])[:, None, None] + level + rng.normal(0, 0.001, (5, 1, 200))
    history = evolution.History(settings, 0.8 + level[None], probe, np.zeros((5, 200, 3)), np.ones((5, 7)), np.ones(5), np.zeros(5))
    rows = society_rows.generations(history)
    assert [round(row.here, 2) for row in rows] == [-0.3, -0.1, -0.02]
    assert all(row.high - row.low < 0.001 for row in rows)
    assert all(row.inside is None for row in rows)
    short = dataclasses.replace(history, probe=probe[:1])
    assert len(society_rows.generations(short)) == 1, "without a later generation there is nothing to compare with"


def test_rank_correlation_and_its_interval():
    x = np.arange(200.0)
    rho, low, high = society_rows.spearman(x, x + np.random.default_rng(0).normal(0, 60, 200))
    assert low < rho < high
    assert 0.5 < rho < 0.9


def test_sessions_needed(results):
    curves = results.curves["isolated_follower"]
    deviation = curves.score.std(0, ddof=1)[0]
    (count,) = society.sessions_needed(curves)
    assert 1.959964 * deviation / np.sqrt(count) <= 0.01


def test_environment_complexity_grows_with_the_pattern(results):
    length = np.asarray(results.curves["teams"].params.pattern_n)
    assert np.corrcoef(results.complexity, length)[0, 1] > 0.7


def test_rates_go_to_the_seats_of_their_kind():
    reading = society.Reading("x", {"sarsa": Rates(alpha=0.9)})
    assert reading.of(("oracle", "sarsa", "q_learning")).alpha.tolist() == [0.05, 0.9, 0.05]


def test_pattern_programs_have_response_curves(results):
    related = social_difficulty.relate(results, environments=6, programs=30, longest=3, steps=50)
    assert related.values.shape == (4, 6)
    assert related.correlation.shape == (4, 5, 3)
    assert (related.values[0] > 0).all(), "some pattern earns something"
    assert (related.values[2] >= related.values[1]).all(), "a smaller tolerance is harder"


def test_pattern_programs_are_the_agents_that_are_evaluated(results):
    """Scores of the same programs are the same, and lengths are as asked for."""
    params = jax.tree.map(lambda x: x[:6], results.curves["teams"].params)
    rewards, lengths = social_difficulty.evaluate(params, programs=30, longest=3, steps=50)
    assert rewards.shape == (6, 30)
    assert set(lengths.tolist()) == {1, 2, 3}
    again, _ = social_difficulty.evaluate(params, programs=30, longest=3, steps=50)
    np.testing.assert_array_equal(rewards, again)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: society.Settings(sessions=2), "sessions is 2"),
        (lambda: society.Settings(steps=150), "steps is 150"),
        (lambda: social_difficulty.evaluate(None, programs=0), "programs is 0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
