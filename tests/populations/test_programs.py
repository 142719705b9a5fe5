import jax
import numpy as np
import pytest

from jaxdiff.automata import apl
from jaxdiff.core.errors import InputError
from jaxdiff.populations import programs


def test_lengths_and_instructions_are_uniform():
    p = programs.sample(jax.random.key(0), 20_000)
    assert p.dtype == np.int8
    assert p.shape == (20_000, 20)
    length = np.bincount(apl.length(p), minlength=21)[1:]
    # 1000 expected of each length, sd 30.8; five sd in any of twenty has probability 1e-5.
    assert np.abs(length - 1000).max() < 155
    used = np.bincount(p[p >= 0], minlength=6)
    assert np.abs(used / used.sum() - 1 / 6).max() < 0.005
    assert (np.diff((p >= 0).astype(int), axis=1) <= 0).all(), "padding only at the end"


def test_populations_and_seeds():
    sets = programs.sample(jax.random.key(1), 5, 7, 3)
    assert sets.shape == (3, 5, 7)
    np.testing.assert_array_equal(sets, programs.sample(jax.random.key(1), 5, 7, 3))
    assert not np.array_equal(sets, programs.sample(jax.random.key(2), 5, 7, 3))


@pytest.mark.parametrize(("arguments", "words"), [((0,), "policies is 0"), ((1, 0), "longest is 0"), ((1, 1, 0), "populations is 0")])
def test_bad_input(arguments, words):
    with pytest.raises(InputError, match=words):
        programs.sample(jax.random.key(0), *arguments)
