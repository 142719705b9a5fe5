import numpy as np
import pytest

from jaxdiff.automata import eca
from jaxdiff.core.errors import InputError
from tests import oracles

RULES = np.arange(256)


@pytest.mark.parametrize("width", [3, 4, 21, 31, 32, 33, 64, 100])
def test_all_rules_equal_the_definition(width):
    cells = np.random.default_rng(width).integers(0, 2, width)
    out = np.asarray(eca.step(np.broadcast_to(cells, (256, width)), RULES))
    assert out.dtype == np.uint8
    assert out.tolist() == [oracles.eca_step(cells.tolist(), rule) for rule in range(256)]


def test_evolve_is_repeated_steps_and_starts_with_the_input():
    cells = np.random.default_rng(0).integers(0, 2, (2, 3, 37)).astype(np.uint8)
    rule = np.array([30, 110, 184])
    rows = np.asarray(eca.evolve(cells, rule, 5))
    assert rows.shape == (6, 2, 3, 37)
    np.testing.assert_array_equal(rows[0], cells)
    now = cells
    for row in rows[1:]:
        now = np.asarray(eca.step(now, rule))
        np.testing.assert_array_equal(row, now)
    np.testing.assert_array_equal(np.asarray(eca.advance(cells, rule, 5)), rows[-1])
    np.testing.assert_array_equal(np.asarray(eca.advance(cells, rule, 0)), cells)


def test_batches_broadcast():
    assert eca.step(np.zeros(5, int), np.arange(4)).shape == (4, 5)
    assert eca.step(np.zeros((4, 5), int), 110).shape == (4, 5)
    assert eca.step([0, 1, 0], 110).shape == (3,)


@pytest.mark.parametrize("width", [3, 32, 65])
def test_pack_and_unpack_are_inverse(width):
    cells = np.random.default_rng(1).integers(0, 2, (4, width)).astype(np.uint8)
    np.testing.assert_array_equal(np.asarray(eca.unpack(eca.pack(cells), width)), cells)


def test_equivalent_rules_do_the_same_seen_in_a_mirror_or_a_negative():
    cells = np.random.default_rng(2).integers(0, 2, 33).astype(np.uint8)
    same = eca.equivalent(RULES)
    assert same.shape == (256, 4)
    rows = np.broadcast_to(cells, (256, 33))
    wanted = np.asarray(eca.step(rows, RULES))
    np.testing.assert_array_equal(same[:, 0], RULES)
    np.testing.assert_array_equal(np.asarray(eca.step(rows[:, ::-1], same[:, 1]))[:, ::-1], wanted)
    np.testing.assert_array_equal(1 - np.asarray(eca.step(1 - rows, same[:, 2])), wanted)
    np.testing.assert_array_equal(1 - np.asarray(eca.step(1 - rows[:, ::-1], same[:, 3]))[:, ::-1], wanted)


def test_representatives_stand_for_88_classes():
    least = eca.representative(RULES)
    assert len(np.unique(least)) == 88
    assert (least <= RULES).all()
    np.testing.assert_array_equal(eca.representative(least), least)
    np.testing.assert_array_equal(eca.representative(eca.equivalent(RULES)), np.repeat(least[:, None], 4, 1))
    assert {int(r) for r in eca.equivalent(110)} == {110, 124, 137, 193}
    assert int(eca.representative(193)) == 110
    with pytest.raises(InputError, match="rule is 256"):
        eca.representative(256)


@pytest.mark.parametrize(
    ("cells", "rule", "steps", "words"),
    [
        ([0, 1, 0], 256, 1, "rule is 256"),
        ([0, 1, 0], -1, 1, "rule is -1"),
        ([0, 1, 0], 1.5, 1, "integers from 0 to 255"),
        ([0, 1], 110, 1, "width is 2"),
        ([0, 1, 2], 110, 1, "a configuration with a 2"),
        ([0, 1, 0], 110, -1, "steps is -1"),
        (np.zeros((2, 5), int), np.arange(3), 1, "broadcasts"),
    ],
)
def test_bad_input(cells, rule, steps, words):
    with pytest.raises(InputError, match=words):
        eca.advance(cells, rule, steps)
