from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxdiff.automata import apl, census, shortest, strategies, world
from jaxdiff.core.errors import InputError
from tests import oracles

EIGHT = census.census(8)


def all_programs(longest):
    rows = [p for n in range(longest + 1) for p in product(range(6), repeat=n)]
    out = np.full((len(rows), longest), -1, np.int8)
    for row, program in zip(out, rows, strict=True):
        row[: len(program)] = program
    return out


@pytest.mark.parametrize("observed", [3, 2])
def test_equals_enumeration_up_to_five_instructions(observed):
    """Every behaviour, its shortest length and its number of programs of every length, by brute force over 9,331 programs."""
    programs = all_programs(5)
    forms = shortest.forms(programs, 20, observed)
    kinds, inverse = np.unique(forms, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    wanted = np.zeros((len(kinds), 6), int)
    np.add.at(wanted, (inverse, apl.length(programs)), 1)
    c = census.census(5, observed)
    assert len(c.length) == len(kinds)
    mine = {form.tobytes(): i for i, form in enumerate(shortest.forms(c.programs, 20, observed))}
    assert len(mine) == len(kinds), "representatives are pairwise different"
    for kind, counts in zip(kinds, wanted, strict=True):
        i = mine[kind.tobytes()]
        assert c.counts[i].tolist() == counts.tolist()
        assert c.length[i] == np.flatnonzero(counts)[0]


def test_known_numbers():
    assert np.bincount(EIGHT.length).tolist() == [1, 4, 12, 31, 77, 194, 508, 1409, 4103]
    assert len(EIGHT.length) == 6339
    assert EIGHT.counts.sum(0).tolist() == [6**n for n in range(9)]
    assert EIGHT.count.sum() == 2_015_539
    assert (EIGHT.count > 0).all()
    assert EIGHT.counts.dtype == np.int64
    assert np.bincount(census.census(11).length)[9:].tolist() == [12226, 36356, 106429]


def test_representatives_are_shortest_programs():
    np.testing.assert_array_equal(apl.length(EIGHT.programs), EIGHT.length)
    np.testing.assert_array_equal(apl.length(apl.shortest(EIGHT.programs)), EIGHT.length)
    np.testing.assert_array_equal((EIGHT.counts > 0).argmax(1), EIGHT.length, "no shorter program behaves so")


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=20, max_size=20))
def test_every_program_is_counted_where_it_belongs(programs):
    rows = np.full((len(programs), 8), -1, np.int8)
    for row, program in zip(rows, programs, strict=True):
        row[: len(program)] = program
    known = {form.tobytes(): i for i, form in enumerate(shortest.forms(EIGHT.programs, 20))}
    for form, program in zip(shortest.forms(rows, 20), programs, strict=True):
        i = known[form.tobytes()]
        assert EIGHT.counts[i, len(program)] > 0
        assert EIGHT.length[i] <= len(program)


def test_the_whole_space_is_what_sampling_converges_to():
    """Mean reward of all programs of 1..6 instructions, lengths and instructions uniform, against 20,000 random ones."""
    c = census.census(6)
    params = world.paper_world(110)
    exact = strategies.fresh(c.programs, params, 60)
    probability = c.by_uniform_length()
    assert probability.sum() == pytest.approx(1)
    mean = probability @ exact.reward
    rng = np.random.default_rng(0)
    sample = strategies.fresh(oracles.random_programs(rng, 20_000, 6), params, 60).reward
    # Five standard errors: a right program fails once in two million runs.
    assert abs(sample.mean() - mean) < 5 * sample.std() / np.sqrt(20_000)
    assert sample.max() <= exact.reward.max() + 1e-12


def test_coding_theorem():
    prior = EIGHT.by_coding_theorem()
    assert prior.sum() == pytest.approx(1)
    assert prior[0] == prior.max(), "doing nothing is what most short programs do"
    longer = census.census(9)
    known = {form.tobytes(): p for form, p in zip(shortest.forms(longer.programs, 20), longer.by_coding_theorem(), strict=True)}
    again = np.array([known[form.tobytes()] for form in shortest.forms(EIGHT.programs, 20)])
    assert np.corrcoef(np.log(prior), np.log(again))[0, 1] > 0.99, "the prior does not hang on where the census stops"


def test_hash_collisions_change_nothing(monkeypatch):
    """With a hash of 50 values nearly all rows collide; the masks are compared and another hash is taken."""
    real = census._hash
    monkeypatch.setattr(census, "_hash", lambda masks, state, seed: real(masks, state, seed) % np.uint64(50 if seed == 0 else 2**62))
    six = census.census(6)
    mine = {form.tobytes(): counts.tolist() for form, counts in zip(shortest.forms(six.programs, 20), six.counts, strict=True)}
    short = EIGHT.length <= 6
    for form, counts in zip(shortest.forms(EIGHT.programs[short], 20), EIGHT.counts[short, :7], strict=True):
        assert mine.pop(form.tobytes()) == counts.tolist()
    assert not mine


def test_progress_and_the_smallest():
    seen = []
    census.census(3, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    nothing = census.census(0)
    assert (nothing.length.tolist(), nothing.counts.tolist()) == ([0], [[1]])


@pytest.mark.parametrize(
    ("longest", "words"), [(25, r"longest is 25.*about 3e\+11 behaviours"), (-1, "longest is -1"), (2.5, "longest is 2.5")]
)
def test_bad_input(longest, words):
    with pytest.raises(InputError, match=words):
        census.census(longest)


def test_bad_observation():
    with pytest.raises(InputError, match="observed is 4"):
        census.census(3, 4)
