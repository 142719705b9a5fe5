import numpy as np
import pytest

from jaxdiff.alchemy import graphs
from jaxdiff.core.errors import InputError
from tests.alchemy.reference import load


@pytest.mark.host
def test_the_derived_graphs_are_deepminds_in_their_order():
    reference = load("graphs")
    np.testing.assert_array_equal(graphs.edge_endpoints(), reference["edge_endpoints"])
    np.testing.assert_array_equal(graphs.edge_axis(), reference["edge_axis"])
    np.testing.assert_array_equal(graphs.edges(), reference["graph_edges"])
    np.testing.assert_array_equal(graphs.constraints(), reference["num_constraints"])
    off_diagonal = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(graphs.preconditions()[:, off_diagonal], reference["constraints"][:, off_diagonal])
    np.testing.assert_allclose(graphs.prior(), reference["prob"], rtol=1e-15)
    assert graphs.constraints()[graphs.COMPLETE] == 0
    assert graphs.edges().sum(-1).tolist() == reference["num_edges"].tolist()


@pytest.mark.host
def test_numbers_of_graphs():
    assert len(graphs.edges()) == graphs.COUNT
    assert np.bincount(graphs.constraints()).tolist() == [1, 12, 48, 48]
    assert all(graphs.connected(row) for row in graphs.edges())
    assert len(set(graphs.edge_bits().tolist())) == graphs.COUNT
    assert graphs.weights().sum() == graphs.URN


@pytest.mark.host
@pytest.mark.parametrize(("kind", "allowed"), [("none", {0}), ("random", {0, 1, 2, 3}), (1, {1}), (2, {2}), (3, {3})])
def test_the_urn_holds_each_graph_as_often_as_its_prior_says(kind, allowed):
    tickets = graphs.urn(kind)
    assert tickets.shape == (192,)
    assert set(graphs.constraints()[tickets].tolist()) == allowed
    for n in allowed:
        counts = np.bincount(tickets, minlength=graphs.COUNT)[graphs.constraints() == n]
        assert set(counts.tolist()) == {192 // (len(allowed) * counts.size)}


@pytest.mark.host
def test_transitions_follow_the_rule():
    """The table against the rule spelt out: the side the potion moves from, and every precondition met."""
    for g in range(0, graphs.COUNT, 9):
        for c in range(8):
            sides = [1 if c >> k & 1 else -1 for k in range(3)]
            for t in range(6):
                axis, direction = t // 2, 1 if t % 2 else -1
                required = graphs.preconditions()[g, axis]
                free = all(required[j] in (0, sides[j]) for j in range(3) if j != axis)
                expected = c ^ 1 << axis if sides[axis] == -direction and free else c
                assert graphs.transitions()[g, c, t] == expected


@pytest.mark.host
def test_reflections_and_permutations_are_groups_that_keep_the_prior():
    everything = np.arange(graphs.COUNT)
    for mirrored in graphs.reflections():
        np.testing.assert_array_equal(mirrored[mirrored], everything)
        np.testing.assert_array_equal(graphs.weights()[mirrored], graphs.weights())
    for renamed in graphs.axis_permutations():
        np.testing.assert_array_equal(np.sort(renamed), everything)
        np.testing.assert_array_equal(graphs.weights()[renamed], graphs.weights())
    # Moving in the mirrored graph is moving in the graph, seen in the mirror.
    mirror = 0b101
    for c in range(8):
        for t in range(6):
            seen = t ^ (mirror >> t // 2 & 1)
            moved = graphs.transitions()[graphs.reflections()[mirror], c ^ mirror, seen]
            np.testing.assert_array_equal(moved, graphs.transitions()[:, c, t] ^ mirror)


@pytest.mark.host
def test_tables_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        graphs.transitions()[0, 0, 0] = 1


@pytest.mark.host
def test_index_of():
    for g in (0, 50, 108):
        assert graphs.index_of(graphs.edges()[g]) == g
    alone = graphs.edges()[graphs.COMPLETE].copy()
    alone[graphs.edge_at()[7]] = 0
    ring = np.ones(12, int)
    ring[[0, 11]] = 0
    for row, words in ((alone, "connected"), (ring, "109 graphs"), ([1] * 11, "twelve"), ([2] * 12, "twelve"), ("abc", "twelve")):
        with pytest.raises(InputError, match=words):
            graphs.index_of(row)
    with pytest.raises(InputError, match="bottlenecks is 4"):
        graphs.urn(4)
