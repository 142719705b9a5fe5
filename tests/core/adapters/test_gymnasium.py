import warnings

import jax
import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.errors import InputError

pytest.importorskip("gymnasium", reason="the gymnasium extra is not installed")
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from jaxdiff.core.adapters.gymnasium import VectorWorld, World

pytestmark = pytest.mark.host
STEPS, COPIES = 3, 4


def made():
    return jaxdiff.make("SAECA-v0", width=9, steps=STEPS)


@pytest.mark.parametrize("name", ["SAECA-v0", "Alchemy-v0"])
def test_gymnasiums_own_checker_passes(name):
    options = {"width": 9, "steps": STEPS} if name == "SAECA-v0" else {"trials": 2, "steps": STEPS}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Not able to test alternative render modes.*")  # it wants gymnasium.make
        check_env(World(*jaxdiff.make(name, **options), render_mode="rgb_array"))


@pytest.mark.parametrize(("mode", "theirs"), [("same_step", AutoresetMode.SAME_STEP), ("next_step", AutoresetMode.NEXT_STEP)])
def test_auto_reset_is_what_is_declared(mode, theirs):
    envs = VectorWorld(*made(), num_envs=COPIES, mode=mode)
    assert envs.metadata["autoreset_mode"] == theirs
    first, infos = envs.reset(seed=3)
    assert first.shape == (COPIES, 3)
    assert infos == {}
    assert first in envs.observation_space
    actions = np.full((COPIES, 2), [0, 1], np.int32)
    seen = []
    for _ in range(STEPS + 1):
        observation, reward, terminated, truncated, infos = envs.step(actions)
        assert observation in envs.observation_space
        assert reward.dtype == np.float64
        seen.append((bool((terminated | truncated).all()), float(reward[0]), observation, infos))
    assert [s[0] for s in seen] == [False] * (STEPS - 1) + [True, False]
    if mode == "same_step":
        assert (seen[STEPS - 1][2] == first).all(), "the step that ends an episode shows the next one's first observation"
        assert seen[STEPS - 1][3]["_final_obs"].all()
        assert seen[STEPS - 1][3]["final_obs"][0].shape == (3,)
        assert seen[STEPS][1] > 0
    else:
        assert (seen[STEPS][2] == first).all(), "the step after it resets, whatever the action"
        assert seen[STEPS][1] == 0
        assert "final_obs" not in seen[STEPS - 1][3]


def test_disabled_resets_those_that_are_named():
    envs = VectorWorld(*made(), num_envs=COPIES, mode="disabled")
    first, _ = envs.reset(seed=0)
    for _ in range(STEPS):
        last = envs.step(np.ones((COPIES, 2), np.int32))[0]
    mask = np.array([True, False, False, True])
    after, _ = envs.reset(options={"reset_mask": mask})
    assert (after[mask] == first[mask]).all()
    assert (after[~mask] == last[~mask]).all()


def test_the_same_seed_gives_the_same_run():
    runs = []
    for _ in range(2):
        envs = VectorWorld(*made(), num_envs=COPIES)
        envs.reset(seed=11)
        envs.action_space.seed(5)
        runs.append([envs.step(envs.action_space.sample())[1] for _ in range(2 * STEPS)])
    np.testing.assert_array_equal(*runs)


def test_seeds_that_are_left_open_are_drawn():
    envs = VectorWorld(*made(), num_envs=2)
    keys = []
    for seed in ([None, None], [None, None], [0, 0], [0, 0], [0, None]):
        envs.reset(seed=seed)
        keys.append(tuple(jax.random.key_data(envs._key).tolist()))
    assert keys[2] == keys[3]
    assert len(set(keys)) == 4


@pytest.mark.parametrize(
    "actions", [[[3, 0]] * 2, [[-3, 0]] * 2, [[2.9, 0]] * 2, [[2.0, 0]] * 2, [[2**32, 0]] * 2, [[0, 0]], [0, 0], "left"]
)
def test_a_vector_refuses_actions_outside_its_space(actions):
    envs = VectorWorld(*made(), num_envs=2)
    envs.reset(seed=0)
    with pytest.raises(InputError, match="action is"):
        envs.step(actions)


@pytest.mark.parametrize("mask", [[True], [[True, False]], [1, 0], "all"])
def test_masks_of_another_form_are_refused(mask):
    envs = VectorWorld(*made(), num_envs=2, mode="disabled")
    with pytest.raises(InputError, match=r"reset_mask is .*bool \[2\]"):
        envs.reset(options={"reset_mask": mask})


def test_only_copies_that_do_not_reset_themselves_take_a_mask():
    envs = VectorWorld(*made(), num_envs=2)
    with pytest.raises(InputError, match=r"reset_mask is .* same_step"):
        envs.reset(options={"reset_mask": np.array([True, False])})


def test_bad_input():
    for seed in (-1, [0, -1], 1.5, ["a", 0]):
        with pytest.raises(InputError, match="seed is"):
            VectorWorld(*made(), num_envs=2).reset(seed=seed)
    with pytest.raises(InputError, match="num_envs is 0"):
        VectorWorld(*made(), num_envs=0)
    with pytest.raises(InputError, match="mode is 'later'"):
        VectorWorld(*made(), num_envs=1, mode="later")
    with pytest.raises(InputError, match="reset first"):
        VectorWorld(*made(), num_envs=1).step(np.zeros((1, 2), np.int32))
    with pytest.raises(InputError, match="seed is 3 numbers"):
        VectorWorld(*made(), num_envs=2).reset(seed=[1, 2, 3])
    env = World(*made())
    with pytest.raises(InputError, match="reset first"):
        env.step([0, 0])
    env.reset(seed=0)
    with pytest.raises(InputError, match="action is"):
        env.step([3, 0])
    with pytest.raises(InputError, match=r"action is .* integer type"):
        env.step([2.9, 0])
    with pytest.raises(InputError, match="action is"):
        env.step([2**32, 0])
    with pytest.raises(InputError, match="seed is -1"):
        env.reset(seed=-1)
    with pytest.raises(InputError, match="render is called before reset"):
        World(*made(), render_mode="rgb_array").render()
    assert World(*made()).render() is None
    with pytest.raises(InputError, match="render_mode is 'human'"):
        World(*made(), render_mode="human")
