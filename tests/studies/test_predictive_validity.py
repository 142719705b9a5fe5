import jax
import numpy as np
import pytest

from jaxdiff.studies import predictive_validity as study
from jaxdiff.studies.knobs import Knobs


@pytest.mark.slow
@pytest.mark.host
@pytest.mark.parametrize("learner", study.LEARNERS)
def test_a_short_chain_is_learned(learner):
    case = study.Case("chain", Knobs(size=3, horizon=20), np.float32(0), 20)
    returns, lengths = study.learn(case, learner, jax.random.key(0), seeds=2, episodes=200)
    assert returns.shape == lengths.shape == (2, 200)
    assert set(np.unique(returns)) <= {0.0, 1.0}
    assert lengths[:, -40:].mean() < lengths[:, :20].mean()
    assert study.smoothed(returns)[:, -1].min() >= 0.9


@pytest.mark.host
def test_sample_complexity_and_its_censoring():
    returns = np.r_[np.zeros(30), np.ones(30)][None].repeat(2, 0)
    returns[1] = 0
    spent, censored = study.sample_complexity(returns, np.full((2, 60), 2), target=0.5)
    assert spent.tolist() == [80, 120]  # ten of the last twenty are 1 after 40 episodes
    assert censored.tolist() == [False, True]


@pytest.mark.host
def test_correlation_and_monotony():
    complexity = np.arange(10)[:, None] * np.ones((1, 3))
    assert study.correlation(np.arange(10.0), complexity)[0] == pytest.approx(1)
    assert study.correlation([*range(9), np.nan], complexity)[0] == pytest.approx(1), "undetermined is hardest"
    worlds = [study.Case(str(i), Knobs(), 0, 1, "k", i) for i in range(3)]
    assert study.monotone(worlds, {"0": 1.0, "1": 0.0, "2": np.nan}) == {"k": 0.5}


@pytest.mark.host
def test_there_are_enough_worlds_with_names_of_their_own():
    names = [case.name for case in study.cases()]
    assert len(names) == len(set(names)) >= 20
