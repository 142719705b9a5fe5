import numpy as np
import pytest
from scipy import special

from jaxdiff.core.errors import InputError
from jaxdiff.difficulty import irt, two_parameter

pytestmark = [pytest.mark.slow, pytest.mark.host]


def answers(seed, persons, a, b):
    rng = np.random.default_rng(seed)
    ability = rng.standard_normal(persons)
    chance = special.expit(a * (ability[:, None] - b))
    return ability, (rng.random(chance.shape) < chance).astype(float)


A, B = np.array([0.7, 1.0, 1.5, 2.2, 1.2, 0.9]), np.array([-1.5, -0.5, 0.0, 0.5, 1.0, 2.0])


def test_known_parameters_are_recovered():
    """Twenty sets of answers of 1,500 persons: the mean of the estimates within 4 of its own standard errors (a false alarm in 1,300)."""
    fits = [two_parameter.fit_two_parameter(answers(seed, 1500, A, B)[1]) for seed in range(20)]
    assert all(fit.converged for fit in fits)
    # Estimates of a ratio are a little biased in finite samples: a fiftieth is allowed for that.
    for name, truth in (("a", A), ("b", B)):
        value = np.array([getattr(fit, name) for fit in fits])
        error = value.std(0, ddof=1) / np.sqrt(len(fits))
        assert (np.abs(value.mean(0) - truth) <= 4 * error + 0.02 * np.abs(truth)).all(), (name, value.mean(0))


def test_abilities_and_their_errors_are_calibrated():
    """Posterior means miss by what the posterior says: the mean squared standard score of 4,000 persons is 1 within 4 standard errors."""
    ability, right = answers(3, 4000, A, B)
    fit = two_parameter.fit_two_parameter(right)
    score = (fit.ability_fitted - ability) / fit.ability_error
    square = score**2
    assert abs(square.mean() - 1) <= 4 * square.std() / np.sqrt(len(square)) + 0.02
    assert abs(fit.ability_fitted.mean()) < 0.05


def test_the_likelihood_never_falls():
    fit = two_parameter.fit_two_parameter(answers(0, 300, A, B)[1])
    assert (np.diff(fit.log_likelihood) >= -1e-6).all()
    assert fit.rounds == len(fit.log_likelihood)


def test_answers_may_be_missing():
    _, right = answers(5, 3000, A, B)
    missing = np.where(np.random.default_rng(0).random(right.shape) < 0.3, np.nan, right)
    whole, part = two_parameter.fit_two_parameter(right), two_parameter.fit_two_parameter(missing)
    np.testing.assert_allclose(part.a, whole.a, atol=0.35)
    np.testing.assert_allclose(part.b, whole.b, atol=0.35)


def test_what_cannot_be_told_is_nan():
    _, right = answers(1, 400, A, B)
    step = (np.arange(400) % 2)[:, None].astype(float)  # two copies of a coin answer alike, as a step would
    fit = two_parameter.fit_two_parameter(np.hstack([right, np.ones((400, 1)), np.zeros((400, 1)), step, step]))
    assert not fit.determined[6:8].any()
    assert np.isnan(fit.a[6:8]).all()
    assert np.isfinite(fit.ability_fitted).all()
    assert np.isfinite(fit.b[fit.determined]).all()


def test_posterior_ability_is_bayes_rule():
    grid = np.linspace(0, 8, 81)
    success = np.array([[1, 0, 1], [0, 0, 1]])
    a, b = np.array([1.0, 2.0, 0.5]), np.array([2.0, 5.0, 7.0])
    mean, spread = irt.posterior_ability(success, a, b, grid)
    assert mean.shape == spread.shape == (2, 3)
    for person in range(2):
        for given in range(1, 4):
            like = np.prod(
                [irt.logistic(grid, a[i], b[i]) if success[person, i] else 1 - irt.logistic(grid, a[i], b[i]) for i in range(given)], 0
            )
            like /= like.sum()
            assert mean[person, given - 1] == pytest.approx(like @ grid)
            assert spread[person, given - 1] == pytest.approx(np.sqrt(like @ grid**2 - (like @ grid) ** 2))


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        ([[0, 1]], "at least two persons"),
        ([0, 1], "at least two persons"),
        ([[0, 2], [1, 1]], "other values"),
        ([[1, 0], [1, 0]], "without variation"),
        ("text", "responses is"),
    ],
)
def test_bad_input(responses, words):
    with pytest.raises(InputError, match=words):
        two_parameter.fit_two_parameter(responses)
