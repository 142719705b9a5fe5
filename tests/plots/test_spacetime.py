import numpy as np
import pytest

from jaxdiff.automata import apl, strategies, world
from jaxdiff.core.errors import InputError
from jaxdiff.plots import spacetime as s
from tests.plots.conftest import misplaced, pixels, titles


def eca(rule, cells):
    """One step of an elementary automaton on a ring."""
    n = len(cells)
    return np.array([rule >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n]) & 1 for i in range(n)])


def test_history_of_the_empty_policy_is_the_automaton():
    runs = s.history(110, [""], steps=20)
    cells = np.arange(21) % 2
    for row in runs.cells[0]:
        np.testing.assert_array_equal(row, cells)
        cells = eca(110, cells)
    np.testing.assert_array_equal(runs.position[0], np.full(21, 10))


def test_history_moves_and_writes():
    runs = s.history(204, ["Vadd1", "Uadd1", ""], steps=20)  # rule 204 keeps every cell; moves right; swaps its cell
    np.testing.assert_array_equal(runs.position, [(10 + np.arange(21)) % 21, np.full(21, 10), np.full(21, 10)])
    np.testing.assert_array_equal(runs.cells[0], np.tile(np.arange(21) % 2, (21, 1)))
    np.testing.assert_array_equal(runs.cells[1, :, 10], np.arange(21) % 2)


def test_rewards_are_those_of_the_strategy():
    texts = ["", "Vadd1 Uaddm", "back Uadd1"]
    programs = np.full((3, 2), -1, np.int8)
    for row, text in zip(programs, texts, strict=True):
        row[: len(apl.parse(text))] = apl.parse(text)
    runs = s.history(122, texts, steps=20)
    np.testing.assert_array_equal(runs.reward, strategies.fresh(programs, world.paper_world(122), 20).reward)
    walk = s.history(122, texts, steps=20, walk=True, seed=3)
    assert walk.cells.shape == (4, 21, 21)
    np.testing.assert_array_equal(walk.cells[:3], runs.cells)
    assert (np.abs(np.diff(walk.position[3])) % 19 <= 1).all(), "neighbouring cells of the ring"


def test_spacetime_shows_cells_and_agent():
    rng = np.random.default_rng(0)
    cells, position = rng.integers(0, 2, (9, 7)), rng.integers(0, 7, 9)
    figure = s.spacetime(cells, position, "a title")
    (ax,) = figure.axes
    np.testing.assert_array_equal(ax.images[0].get_array(), cells)
    here = cells[np.arange(9), position]
    sizes = []
    for value in (0, 1):
        (dots,) = [c for c in ax.collections if c.get_label() == f"agent on {value}"]
        rows = np.flatnonzero(here == value)
        np.testing.assert_array_equal(dots.get_offsets(), np.stack([position[rows], rows], 1))
        sizes.append(dots.get_widths()[0])
    assert sizes[0] > sizes[1], "told apart without colour"
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "time runs downward"
    assert titles(figure) == ["a title"]
    assert misplaced(figure) == []


def test_dark_is_one():
    image = pixels(s.spacetime(np.array([[0, 1], [0, 1], [0, 1]])), 60)
    height, width = image.shape[:2]
    assert image[height // 3, width // 3].mean() > 250
    assert image[height // 3, 3 * width // 4].mean() < 40


def test_figures_5_6_and_7():
    figure = s.figure_5((110, 164), steps=20)
    assert titles(figure) == ["rule 110", "rule 164"]
    assert not any(ax.collections for ax in figure.axes), "no agent"
    for draw, rule in ((s.figure_6, 110), (s.figure_7, 164)):
        figure = draw(steps=20)
        first, last = figure.axes[0], figure.axes[-1]
        assert first.get_title().startswith("empty\npolicy\nR = ")
        assert last.get_title().startswith("random\nwalk\nR = ")
        np.testing.assert_array_equal(first.images[0].get_array(), s.history(rule, [""], 20).cells[0])
        assert misplaced(figure) == []


def test_refusals():
    cells = np.zeros((4, 5), int)
    with pytest.raises(InputError, match="cells is 2"):
        s.spacetime(cells + 2)
    with pytest.raises(InputError, match=r"cells is .*shape"):
        s.spacetime(cells[0])
    with pytest.raises(InputError, match="position is"):
        s.spacetime(cells, [0, 1, 2])
    with pytest.raises(InputError, match=r"position is .?off the ring"):
        s.spacetime(cells, [0, 1, 2, 5])
    with pytest.raises(InputError, match=r"diagrams is .?a list of 0"):
        s.gallery([])
    with pytest.raises(InputError, match="different lengths"):
        s.gallery([s.Diagram(cells, None, ""), s.Diagram(cells[:2], None, "")])
    with pytest.raises(InputError, match="steps is 0"):
        s.history(110, [""], 0)
    with pytest.raises(InputError, match="programs is"):
        s.history(110, [])
    with pytest.raises(InputError, match="rule"):
        s.figure_5((256,))
    with pytest.raises(InputError, match="rules is"):
        s.figure_5(())
    with pytest.raises(InputError, match="instruction is 'Zadd1'"):
        s.figure_6(["Zadd1"])
