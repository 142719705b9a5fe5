"""Made-up results of the social experiments, of the right shapes: rows and figures are tested on them without running anything."""

import jax
import numpy as np

from jaxdiff.society import batches, graphs, scenarios
from jaxdiff.studies import society

ALONE = {"oracle": 0.8, "follower": 0.5, "random": 0.0, "q_learning": 0.4, "sarsa": 0.4, "qv": 0.35}


def made_up(sessions=40, points=20, seed=0):
    """Curves around chosen means, one environment a session."""
    settings = society.Settings(sessions=sessions, steps=10_000, long=100_000, tune_sessions=0, other_sessions=0)
    keys = batches.session_keys(0, np.arange(sessions))["environment"]
    params = jax.tree.map(np.asarray, graphs.sample(keys, graphs.Distribution()))
    rng, curves = np.random.default_rng(seed), {}
    for name, scenario in society.society_scenarios(settings).items():
        m = len(scenario.agents)
        mean = np.array([ALONE[kind] for kind in scenario.agents]) / (1 if m == 1 else 2 * m)
        own = (mean + rng.normal(0, 0.01, (points, sessions, m))).astype(np.float32)
        none = np.zeros(sessions, np.int32)
        curves[name] = scenarios.Curves(scenario, scenario.steps // points, own, own, none, 0, False, params)
    k = society.environment_complexity(curves["three_competitive"])
    main = society.Reading("made up", {})
    return society.Results(settings, main, curves, {"other": {name: curves[name] for name in society.OTHER}}, {}, k)
