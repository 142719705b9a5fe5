import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.errors import InputError

pytest.importorskip("pettingzoo", reason="the pettingzoo extra is not installed")
from pettingzoo.test import parallel_api_test, parallel_seed_test

from jaxdiff.core.adapters.pettingzoo import ParallelWorld


@pytest.fixture(scope="module")
def world():
    return jaxdiff.make("Lambda-v0", agents=2, cells=4, steps=5, longest_pattern=16)


def test_pettingzoo_accepts_it(world):
    parallel_api_test(ParallelWorld(*world), num_cycles=20)


def test_pettingzoo_finds_it_deterministic(world):
    parallel_seed_test(lambda: ParallelWorld(*world), num_cycles=20)


def test_a_session_ends_for_all_at_once(world):
    made = ParallelWorld(*world)
    first, _ = made.reset(seed=3)
    again, _ = made.reset(seed=3)
    np.testing.assert_array_equal(first["agent_0"], again["agent_0"])
    assert made.render().dtype == np.uint8
    for k in range(5):
        obs, reward, terminated, truncated, _ = made.step(dict.fromkeys(made.agents, 0))
        assert set(obs) == set(reward) == {"agent_0", "agent_1"}
        assert not any(terminated.values())
        assert all(truncated.values()) == (k == 4)
    assert made.agents == []
    with pytest.raises(InputError, match="reset first"):
        made.step({"agent_0": 0, "agent_1": 0})


def test_bad_input(world):
    with pytest.raises(InputError, match="axis of agents"):
        ParallelWorld(*jaxdiff.make("SAECA-v0", width=5))
    with pytest.raises(InputError, match="seed is -1"):
        ParallelWorld(*world, seed=-1)
    made = ParallelWorld(*world)
    with pytest.raises(InputError, match="render is called before reset"):
        made.render()
    made.reset()
    with pytest.raises(InputError, match="one for agent_1"):
        made.step({"agent_0": 0})
    with pytest.raises(InputError, match="actions is 9"):
        made.step({"agent_0": 9, "agent_1": 0})
