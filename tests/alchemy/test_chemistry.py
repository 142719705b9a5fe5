import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.alchemy import chemistry, graphs
from jaxdiff.alchemy.chemistry import Chemistry
from jaxdiff.core.errors import InputError
from tests.alchemy.reference import load

CHEMISTRIES = st.builds(Chemistry, **{name: st.integers(0, size - 1) for name, size in chemistry.SIZES.items()})


@pytest.mark.host
def test_numbers_of_chemistries():
    assert np.prod(list(chemistry.SIZES.values())) == 167_424
    assert graphs.COUNT * chemistry.POTION_MAPS * chemistry.STONE_MAPS == 41_856
    distinct = [len(np.unique(t, axis=0)) for t in (chemistry.type_of_colour(), chemistry.perceived_features().reshape(4, -1))]
    assert distinct == [48, 4]


def test_the_vector_form_is_deepminds_ground_truth():
    d = load("trajectories_random")
    for e in range(len(d["seed"])):
        made = chemistry.from_maps(d["graph_edges"][e], d["dim_map"][e], d["dir_map"][e], d["stone_map"][e], int(d["rotation_index"][e]))
        assert made == chemistry.from_vector(d["ground_truth"][e])
        assert made.graph == d["graph_index"][e]
        np.testing.assert_array_equal(chemistry.rotation_matrices()[made.rotation], d["rotation_matrix"][e])
    every = Chemistry(*(np.array([getattr(chemistry.from_vector(v), n) for v in d["ground_truth"]]) for n in chemistry.SIZES))
    vectors = chemistry.to_vector(every)
    assert vectors.dtype == jnp.float32
    np.testing.assert_array_equal(vectors, d["ground_truth"])


@given(CHEMISTRIES)
def test_the_vector_form_loses_nothing(made):
    assert chemistry.from_vector(chemistry.to_vector(made)) == made


@pytest.mark.host
def test_published_chemistries():
    d = load("chemistries_published")
    for e in range(0, 1000, 10):
        made = chemistry.from_maps(d["graph_edges"][e], d["dim_map"][e], d["dir_map"][e], d["stone_map"][e])
        assert (made.graph, made.potion_map, made.stone_map) == (d["graph_index"][e], d["potion_map_index"][e], d["stone_map_index"][e])
    colours = np.take_along_axis(chemistry.colour_of_type()[d["potion_map_index"]], d["potions_latent"].reshape(1000, -1), axis=1)
    np.testing.assert_array_equal(colours, d["potions_perceived"].reshape(1000, -1))
    aligned = chemistry.aligned_corner()[d["stone_map_index"][:, None, None], d["stones_latent"]]
    np.testing.assert_array_equal(chemistry.perceived_features()[0][aligned], d["stones_perceived_coords"])


@pytest.mark.host
def test_rotations_leave_two_mixed_axes_with_exactly_one_zero():
    features = chemistry.perceived_features()
    assert np.abs(features).max() == 1
    for rotation, mixed in ((1, [0, 1]), (2, [0, 2]), (3, [1, 2])):
        assert ((features[rotation][:, mixed] == 0).sum(-1) == 1).all()
        np.testing.assert_array_equal(features[rotation] @ chemistry.rotation_matrices()[rotation].T, chemistry.corner_coordinates())


def test_below_is_uniform_and_in_range():
    edge = jnp.array([0, 2**32 - 1, 2**31, 2**16], jnp.uint32)
    for n in (4, 6, 48, 192):
        assert chemistry.below(edge, n).tolist() == [0, n - 1, n // 2, (2**16 * n) >> 32]


def test_sampling_follows_the_prior():
    """Chi-square tests of all four parts at 99.9 % confidence (one seed, fixed)."""
    draw = jax.jit(jax.vmap(chemistry.Source(rotation=None).sample))
    drawn = draw(jax.random.split(jax.random.key(0), 60_000))
    probabilities = {"graph": graphs.prior(), **{name: np.full(n, 1 / n) for name, n in chemistry.SIZES.items() if name != "graph"}}
    for name, probability in probabilities.items():
        counts = np.bincount(np.asarray(getattr(drawn, name)), minlength=probability.size)
        assert counts.size == probability.size
        assert scipy.stats.chisquare(counts, probability * 60_000).pvalue > 1e-3, name
    # Parts are independent of one another.
    table = np.zeros((48, 8))
    np.add.at(table, (np.asarray(drawn.potion_map), np.asarray(drawn.stone_map)), 1)
    assert scipy.stats.chi2_contingency(table).pvalue > 1e-3


def test_fixed_parts_stay_fixed():
    source = chemistry.Source(bottlenecks=2, rotation=3, potion_map=chemistry.IDENTITY_POTION_MAP, stone_map=5)
    drawn = jax.vmap(source.sample)(jax.random.split(jax.random.key(1), 200))
    assert set(graphs.constraints()[np.asarray(drawn.graph)].tolist()) == {2}
    assert {(int(p), int(s), int(r)) for p, s, r in zip(drawn.potion_map, drawn.stone_map, drawn.rotation, strict=True)} == {(7, 5, 3)}
    assert set(np.asarray(jax.vmap(chemistry.Source(graph=17).sample)(jax.random.split(jax.random.key(1), 9)).graph).tolist()) == {17}


@pytest.mark.parametrize("value", [None, True, object(), jax.ShapeDtypeStruct((2,), jnp.int32), (), (500,), jnp.float32(1.5)])
def test_transformations_may_put_anything_into_a_chemistry(value):
    assert jax.tree.map(lambda _: value, Chemistry(1, 2, 3, 0)).graph is value


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Chemistry(109, 0, 0, 0), "graph is 109"),
        (lambda: Chemistry(0, -1, 0, 0), "potion_map is -1"),
        (lambda: Chemistry(0, 0, [0, 8], 0), "stone_map is 8"),
        (lambda: Chemistry(0, 0, 0, 4), "rotation is 4"),
        (lambda: Chemistry(np.array([0.5]), 0, 0, 0), "integers from 0 to 108"),
        (lambda: chemistry.from_vector(np.zeros(27)), "28 zeros and ones"),
        (lambda: chemistry.from_vector(np.full(28, 0.5)), "28 zeros and ones"),
        (lambda: chemistry.from_vector(np.ones(28)), "one-hot"),
        (lambda: chemistry.from_maps([0] * 12, (0, 1, 2), (1, 1, 1), (1, 1, 1)), "connected"),
        (lambda: chemistry.from_maps([1] * 12, (0, 0, 2), (1, 1, 1), (1, 1, 1)), "permutation"),
        (lambda: chemistry.from_maps([1] * 12, (0, 1, 2), (1, 0, 1), (1, 1, 1)), "directions"),
        (lambda: chemistry.from_maps([1] * 12, (0, 1, 2), (1, 1, 1), (1, 1)), "stone_map"),
        (lambda: chemistry.Source(bottlenecks=True), "bottlenecks is True"),
        (lambda: chemistry.Source(graph=200), "graph is 200"),
        (lambda: chemistry.Source(graph=1.5), "graph is 1.5"),
        (lambda: chemistry.Source(graph=[1, 2]), "graph is"),
        (lambda: Chemistry(1.5, 0, 0, 0), "graph is 1.5"),
        (lambda: Chemistry("a", 0, 0, 0), "graph is 'a'"),
        (lambda: Chemistry(0, 0, ["a"], 0), "stone_map is"),
        (lambda: Chemistry(109, jnp.int32(0), jnp.int32(0), jnp.int32(0)), "graph is 109"),
        (lambda: chemistry.check(Chemistry(0, 0, 0, jnp.int32(4))), "rotation is 4"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()
