import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import indicators, response
from jaxdiff.studies import complexity_distribution
from jaxdiff.studies import rule_difficulty as study

pytestmark = pytest.mark.slow

SETTINGS = study.Settings(rules=(184, 110, 164, 0), policies=76, populations=2, steps=20)


@pytest.fixture(scope="module")
def base():
    return study.baseline(SETTINGS)


@pytest.mark.parametrize("strategy", ["fresh", "chained"])
def test_it_is_the_complexity_distribution_without_the_rest(strategy):
    """38 programs beside 2 walkers are the same programs; the walkers stand between chained policies, so there only programs agree."""
    common = {"rules": (110, 164), "populations": 2, "steps": 20}
    whole = complexity_distribution.measure(complexity_distribution.Settings(policies=40, strategy=strategy, **common))
    settings = study.Settings(policies=38, **common)
    populations = study.draw(settings)
    np.testing.assert_array_equal(populations.programs, whole.program)
    np.testing.assert_array_equal(populations.complexity, whole.complexity)
    np.testing.assert_array_equal(populations.kept, ~whole.repeated)
    found = study.difficulty(populations, whole.reward.values)
    np.testing.assert_array_equal(found.first_hit, whole.first_hit.sel(side="positive", statistic="median", gamma=list(study.GAMMAS)))
    np.testing.assert_array_equal(found.bits, whole.difficulty.sel(side="positive", statistic="median", gamma=list(study.GAMMAS)))
    np.testing.assert_array_equal(found.hbar, whole.hbar)
    np.testing.assert_allclose(found.r_mean, whole.r_mean)
    if strategy == "fresh":
        np.testing.assert_array_equal(study.evaluate(settings, populations.programs).numerator, whole.numerator)


def test_medians_found_together_are_those_found_apart(base):
    reward = base.evaluation.reward
    for i, j in np.ndindex(4, 2):
        kept = base.populations.kept[j]
        weights = response.universal_weights(base.populations.complexity[j][kept])
        np.testing.assert_array_equal(base.difficulty.first_hit[i, j], response.first_hit(weights, reward[i, j][kept], study.GAMMAS))
        assert base.difficulty.hbar[i, j] == indicators.summarise(base.populations.complexity[j], reward[i, j]).hbar


def test_where_nothing_can_be_done_nothing_is_hard(base):
    assert (base.difficulty.bits[3] == 0).all()  # rule 0: all cells die at once


def test_chained_carries_over(base):
    e = study.evaluate(SETTINGS, base.populations.programs, strategy="chained")
    assert e.numerator.shape == base.evaluation.numerator.shape
    np.testing.assert_array_equal(e.numerator[..., 0], base.evaluation.numerator[..., 0])  # the first policy is fresh
    assert (e.numerator != base.evaluation.numerator).any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": ()}, "at least one rule"),
        ({"rules": (1, 1)}, "every rule once"),
        ({"rules": (256,)}, "rule is 256"),
        ({"policies": 1}, "policies is 1"),
        ({"policies": 10**8}, "at most 2,000,000"),
        ({"populations": 0}, "populations is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"width": 2}, "width is 2"),
        ({"longest": 21}, "longest is 21"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        study.Settings(**{**vars(SETTINGS), **change})
