"""A sweep's numbers are those of `automata.strategies`, and its grid refuses what cannot be swept."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxdiff.automata import rollouts, strategies, world
from jaxdiff.automata.compiled import compile_programs
from jaxdiff.core.errors import InputError
from jaxdiff.sweep import runner
from jaxdiff.sweep import store as stores
from jaxdiff.sweep.automata import Grid, Sweep
from tests.sweep.stores import GRID, contents

pytestmark = [pytest.mark.host, pytest.mark.slow]


@pytest.fixture(scope="module")
def dataset(undisturbed):
    return stores.load(undisturbed).load()


@pytest.mark.parametrize("seed", [0, 1])
def test_fresh_rewards_are_those_of_the_strategy(dataset, seed):
    programs = dataset.program.sel(seed=seed).values
    e = strategies.fresh(programs, world.paper_world(np.array(GRID.rules)), GRID.steps)
    assert (dataset.numerator.sel(strategy="fresh", seed=seed).values == e.numerator).all()
    assert dataset.attrs["scale"] == e.scale


def test_chained_without_walkers_is_the_strategy(tmp_path):
    grid = dataclasses.replace(GRID, strategies=("chained", "levin"), walkers=0, policies=20)
    runner.run(Sweep(grid), tmp_path / "a.zarr")
    dataset = stores.load(tmp_path / "a.zarr")
    assert dataset.walker_numerator.shape == (2, 2, 3, 0)
    programs = dataset.program.values
    for name, method in (("chained", strategies.chained), ("levin", strategies.levin)):
        e = method(programs, world.paper_world(np.array(GRID.rules)), GRID.steps)
        assert (dataset.numerator.sel(strategy=name).values == np.moveaxis(e.numerator, 1, 0)).all()


def test_programs_are_the_papers_population(dataset):
    length = (dataset.program.values >= 0).sum(-1)
    assert length.min() >= 1
    assert length.max() == GRID.longest
    assert (dataset.program.sel(seed=0).values != dataset.program.sel(seed=1).values).any()


def test_more_populations_leave_the_first_ones_as_they_are(dataset, tmp_path):
    grid = dataclasses.replace(GRID, strategies=("fresh",), populations=1)
    runner.run(Sweep(grid), tmp_path / "a.zarr")
    one = stores.load(tmp_path / "a.zarr")
    for name in ("numerator", "walker_numerator"):
        assert (one[name].values[0, 0] == dataset[name].sel(strategy="fresh", seed=0).values).all()


def test_one_compilation_for_all_rules(tmp_path):
    """A rule, a block of policies, a population more is no reason to compile again."""
    size = rollouts.fresh._cache_size  # ty: jitted functions count what they have compiled
    start = size()
    grid = Grid(rules=tuple(range(256)), strategies=("fresh",), policies=90, populations=2, steps=11, walkers=0, chunk=256 * 40)
    runner.run(Sweep(grid), tmp_path / "a.zarr")
    assert len(Sweep(grid).tasks()) == 2 + 2 * 3
    assert size() - start == 1
    runner.run(Sweep(dataclasses.replace(grid, rules=tuple(range(255, -1, -1)))), tmp_path / "b.zarr")
    assert size() - start == 1


@pytest.mark.parametrize("width", [21, 101])
def test_a_call_needs_no_more_memory_than_is_said(width):
    shape = rollouts.shape_for(width, 20)
    linear = compile_programs(np.zeros((1024, 20), np.int8))
    worlds = (np.zeros(1, np.uint32), np.zeros((1, width), np.uint8), np.zeros(1, np.int32))

    def used(lowered):
        m = lowered.compile().memory_analysis()
        return (m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes) / 1024

    assert used(rollouts.fresh.lower(linear, *worlds, shape)) <= strategies.bytes_a_reward(width)
    blocks = np.arange(1024 // rollouts.BLOCK, dtype=np.uint32)
    walked = used(rollouts.after_walk.lower(jax.random.key(0), blocks, linear, *worlds, shape, 100))
    assert walked <= strategies.bytes_a_reward(width, 100)


def test_sums_that_32_bits_do_not_hold_are_stored_in_64(tmp_path):
    grid = Grid(rules=(110,), strategies=("fresh",), policies=3, steps=300, width=61, walkers=0)
    runner.run(Sweep(grid), tmp_path / "a.zarr")
    dataset = stores.load(tmp_path / "a.zarr")
    assert dataset.numerator.dtype == np.int64
    e = strategies.fresh(dataset.program.values[0], world.paper_world(110, 61), 300)
    assert (dataset.numerator.values[0, 0, 0] == e.numerator).all()


def test_the_order_of_strategies_changes_no_numbers(dataset, tmp_path):
    grid = dataclasses.replace(GRID, strategies=GRID.strategies[::-1])
    runner.run(Sweep(grid), tmp_path / "a.zarr")
    other = stores.load(tmp_path / "a.zarr")
    for name in GRID.strategies:
        assert (other.numerator.sel(strategy=name).values == dataset.numerator.sel(strategy=name).values).all()
    assert contents(tmp_path / "a.zarr") != {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": ()}, "rules is ()"),
        ({"rules": (1, 1)}, "every rule once"),
        ({"rules": (256,)}, "rule is 256"),
        ({"strategies": ("fresh", "clever")}, "strategies is"),
        ({"strategies": ("fresh", "fresh")}, "every strategy once"),
        ({"policies": 0}, "policies is 0"),
        ({"policies": 10**12}, "rewards in all"),
        ({"populations": 0}, "populations is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"chunk": 0}, "chunk is 0"),
        ({"walkers": -1}, "walkers is -1"),
        ({"width": 2}, "width is 2"),
        ({"start": 21}, "start is 21"),
        ({"observation": "cc"}, "observation is 'cc'"),
        ({"longest": 31}, "longest is 31"),
        ({"seed": -1}, "seed is -1"),
        ({"walk_steps": -1}, "walk_steps is -1"),
        ({"width": 99, "steps": 2**40}, "width is 99"),
    ],
)
def test_bad_grids(change, said):
    with pytest.raises(InputError) as caught:
        Grid(**change)
    assert said in str(caught.value)
