"""Exact vectors of the reference data, with ==."""

from pathlib import Path

import numpy as np
import pytest

from jaxdiff.automata import compiled, ring, rollouts, strategies, world

DATA = np.load(Path(__file__).parents[1] / "data" / "saeca_vectors.npz")


WIDTHS = sorted(set(DATA["width"].tolist()))
FULLY = (3, 21, 32, 101)  # one word and four, odd and even; the others are compiled for two numbers of steps only


@pytest.mark.parametrize("width", [pytest.param(w, marks=[] if w in FULLY else [pytest.mark.slow]) for w in WIDTHS])
def test_rollouts(width):
    """Sums, final cells and position of the rollouts of this width; every program meets every world, the diagonal counts."""
    seen = 0
    for steps in sorted(set(DATA["steps"].tolist())) if width in FULLY else (7, 300):
        mine = np.flatnonzero((DATA["width"] == width) & (DATA["steps"] == steps))
        if not mine.size:
            continue
        params = world.Params(DATA["rules"][mine], DATA["cells0"][mine, :width].astype(np.uint8), DATA["start"][mine])
        out = strategies.fresh(DATA["programs"][mine], params, steps)
        diagonal = np.arange(len(mine))
        assert out.scale == 2 ** (width // 2 + 1)
        assert out.numerator.dtype == np.int64
        assert out.numerator[diagonal, diagonal].tolist() == [int(v) for v in DATA["total_numerator"][mine]]
        np.testing.assert_array_equal(out.cells[diagonal, diagonal], DATA["final_cells"][mine, :width])
        np.testing.assert_array_equal(out.position[diagonal, diagonal], DATA["final_position"][mine])
        seen += len(mine)
    assert seen > 0


def test_traces():
    """Step by step in the paper's world."""
    params = world.paper_world(DATA["trace_rules"])
    linear = compiled.compile_programs(DATA["trace_programs"])
    rule, cells, position, _ = world.batched(params)
    steps = DATA["trace_move"].shape[1]
    out = rollouts.trace(linear, rule, cells, position, rollouts.shape_for(21, steps))
    diagonal = np.arange(len(rule))

    def mine(x):
        return np.moveaxis(np.asarray(x)[:, diagonal, diagonal], 0, 1)

    np.testing.assert_array_equal(mine(out.move), DATA["trace_move"])
    np.testing.assert_array_equal(mine(out.upshot), DATA["trace_upshot"])
    np.testing.assert_array_equal(mine(out.cells), DATA["trace_cells"])
    np.testing.assert_array_equal(mine(out.position), DATA["trace_position"])
    np.testing.assert_array_equal(mine(ring.to_int64(out.reward)), DATA["trace_reward_numerator"])


def test_chained():
    """Cells and position carry over, memory does not."""
    for i, rule in enumerate(DATA["chained_rules"].tolist()):
        out = strategies.chained(DATA["chained_programs"][i], world.paper_world(rule), 100)
        np.testing.assert_array_equal(out.numerator, DATA["chained_total_numerator"][i])
        np.testing.assert_array_equal(out.cells, DATA["chained_final_cells"][i])
        assert out.position == DATA["chained_final_position"][i]
