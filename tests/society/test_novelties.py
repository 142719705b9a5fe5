import numpy as np
import pytest

import jaxdiff
from jaxdiff.core.errors import InputError
from jaxdiff.society import graphs, novelties, world

RING = world.params([[0, 1], [1, 2], [2, 0]], [1, 1, 0])


@pytest.fixture(scope="module")
def env():
    return jaxdiff.make("Lambda-v0", cells=9, agents=1)[0]


@pytest.fixture(scope="module")
def many():
    import jax

    drawn = jax.tree.map(np.asarray, graphs.sample(jax.random.split(jax.random.key(0), 12), graphs.Distribution()))
    return [jax.tree.map(lambda x, i=i: x[i], drawn) for i in range(12)]


@pytest.mark.parametrize("make", [novelties.edge_added, novelties.edge_removed, novelties.relabelled])
def test_what_is_changed_is_of_the_class(env, many, make):
    changed = 0
    for seed, params in enumerate(many):
        try:
            same, after = make(seed)(env, params)
        except InputError:
            continue  # nothing to change in this one
        changed += 1
        world.check(after)
        assert same == env
        different = np.argwhere(np.asarray(after.table) != params.table)
        if make is novelties.relabelled:
            assert len(set(different[:, 1])) == 2, "two actions"
            assert sorted(map(tuple, after.table.T)) == sorted(map(tuple, params.table.T))
        else:
            assert len(different) == 1
            entry = after.table[tuple(different[0])]
            assert (entry == graphs.NO_EFFECT) == (make is novelties.edge_removed)
            assert entry != different[0][0]
        again = make(seed)(env, params)[1]
        assert (again.table == after.table).all(), "the seed decides"
    assert changed >= 8


def test_another_agent(env):
    more, params = novelties.another_agent()(env, RING)
    assert more.agents == 2
    assert params is RING


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (novelties.edge_added(), "no effect somewhere"),
        (novelties.edge_removed(), "can do without"),
    ],
)
def test_nothing_to_change_is_said(env, change, said):
    """A cycle with 'stay': no entry is without effect, and no edge can go."""
    with pytest.raises(InputError, match=said):
        change(env, RING)


def test_a_seed_is_a_number(env):
    with pytest.raises(InputError, match="seed"):
        novelties.relabelled(-1)
