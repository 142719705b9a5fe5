from dataclasses import replace

import jax
import numpy as np
import pytest

from jaxdiff.core.errors import InputError
from jaxdiff.studies import predictive_validity as study
from jaxdiff.studies.knobs import Knobs

CHAIN = study.Case("chain", "chain", Knobs(size=6, horizon=40), np.float32(0), 40, 1.0)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.host
@pytest.mark.parametrize("learner", study.LEARNERS)
def test_a_short_chain_is_learned(learner):
    got = study.Training(*study.learn(CHAIN, learner, jax.random.key(0), seeds=3, steps=8192), 3, 8192)
    assert set(np.unique(got.returns)) <= {0.0, 1.0}
    assert got.places[:, 0].max() <= 8192
    assert set(got.places[:, 1]) == {0, 1, 2}
    assert got.reached >= 0.95
    spent, censored = study.sample_complexity(got, 0.9)
    assert not censored.any()
    assert (spent > 0).all()
    first, last = (got.places[:, 0] <= 64), (got.places[:, 0] > 8192 - 64)
    assert last.sum() > 1.3 * first.sum(), "later episodes are shorter"


def test_bad_learners_and_worlds():
    with pytest.raises(InputError, match="learner is 'sarsa'"):
        study.learn(CHAIN, "sarsa", None, seeds=1, steps=4096)
    with pytest.raises(InputError, match="steps is 10"):
        study.learn(CHAIN, "ppo", None, seeds=1, steps=10)


@pytest.mark.host
def test_sample_complexity_and_its_censoring():
    # Two seeds, an episode ends every second step; the first begins to succeed at episode 31, the second never does.
    places = np.array([(2 * (i + 1), seed) for i in range(60) for seed in (0, 1)])
    returns = np.array([float(i >= 30 and seed == 0) for i in range(60) for seed in (0, 1)], np.float32)
    training = study.Training(returns, places, 2, 130)
    spent, censored = study.sample_complexity(training, 0.5)
    assert spent.tolist() == [80, 130]  # ten of the last twenty are 1 after 40 episodes
    assert censored.tolist() == [False, True]
    spent, censored = study.sample_complexity(training, float("inf"))
    assert censored.all()


@pytest.mark.host
def test_the_target_is_no_luck():
    rng = np.random.default_rng(0)
    random = rng.normal(0, 1, 500)
    places = np.stack([np.arange(1, 501), np.zeros(500, int)], 1)
    lucky = study.Training(rng.normal(0, 1, 500).astype(np.float32), places, 1, 500)
    assert study.target({"a": lucky}, random) == np.inf, "nobody learned anything"
    able = replace(lucky, returns=lucky.returns + np.float32(6))
    assert study.target({"a": lucky, "b": able}, random) == pytest.approx(3, abs=0.3)
    assert study.target({"a": lucky}, np.zeros(3), best=1.0) == 0.5


@pytest.mark.host
def test_worlds_and_knobs():
    worlds, knobs = study.cases(classics=False)
    names = [case.name for case in worlds]
    assert len(names) == len(set(names)) >= 30
    assert set().union(*knobs.values()) <= set(names)
    assert {case.family for case in worlds} == {"chain", "grid", "SAECA", "Lambda", "Alchemy"}
    by_name = {case.name: case for case in worlds}
    for knob, levels in knobs.items():
        best = [b for name in levels if (b := by_name[name].best) is not None]
        assert best == sorted(best, reverse=True), f"{knob}: nobody can do better where it is harder"
    noisy = next(case for case in worlds if case.params is not None and "slip" in case.name)
    assert study.without_clock(noisy) is None


@pytest.mark.host
def test_the_classics():
    pytest.importorskip("gymnax", reason="gymnax is not installed (1.0.1 refuses jax 0.12)")
    worlds, knobs = study.cases()
    classic = [case for case in worlds if case.family in ("CartPole", "MountainCar")]
    assert len(classic) >= 8
    assert len([knob for knob in knobs if knob.startswith(("CartPole", "MountainCar"))]) == 5
    for case in classic:
        assert len(case.edges) == case.env.observation_space(case.params).shape[0]
