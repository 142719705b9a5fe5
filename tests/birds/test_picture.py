"""Pictures of scenes, and the page about observations; films are in test_world, where whole episodes are compiled."""

import jax
import numpy as np
import pytest

import jaxdiff
from jaxdiff.birds import documentation, novelties


@pytest.fixture(scope="module")
def world():
    return jaxdiff.make("Birds-v0", blocks=6, pigs=3, platforms=1, tnt=1, birds=3)


@pytest.mark.slow
@pytest.mark.host
def test_a_scene(world):
    env, params = world
    _, state = env.reset(jax.random.key(0), params)
    image = env.render(state, params)
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[2] == 3
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    np.testing.assert_array_equal(image, env.render(state, params))
    for novelty in (novelties.appearance_only(), novelties.wind(), novelties.mirrored_slingshot(), novelties.fan(5.0, (-2.0, 0.0))):
        assert not np.array_equal(image, env.render(state, novelty(env, params)[1])), f"{novelty.name} can be seen"


@pytest.mark.host
def test_the_page_of_observations_is_up_to_date():
    assert documentation.PAGE.read_text() == documentation.page()
    assert "| 12 | new bird | dynamics |" in documentation.page()
