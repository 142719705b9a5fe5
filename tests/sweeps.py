"""Small sweeps as the sweep command stores them: rewards of populations in automata under two strategies."""

import jax
import numpy as np
import xarray as xr

from jaxdiff.automata import strategies, world
from jaxdiff.populations import programs

STRATEGIES = ("fresh", "chained")


def sweep(rules, policies=60, seeds=2, steps=20, walkers=3):
    key_programs, key_fresh, key_chained = jax.random.split(jax.random.key(7), 3)
    population = programs.sample(key_programs, policies, 12, populations=seeds)
    params = world.paper_world(np.asarray(rules))
    shape = (len(rules), seeds)
    fresh = strategies.fresh(population.reshape(-1, 12), params, steps, walkers=walkers * seeds, key=key_fresh)
    chained = strategies.chained(population, params, steps, walkers=walkers, key=key_chained)
    numerator = np.stack([fresh.numerator.reshape(*shape, policies), chained.numerator])
    walked = np.stack([fresh.walker_numerator.reshape(*shape, walkers), chained.walker_numerator])
    dims = ("strategy", "seed", "rule")
    variables = {
        "numerator": ((*dims, "policy"), numerator.swapaxes(1, 2)),
        "walker_numerator": ((*dims, "walker"), walked.swapaxes(1, 2)),
        "program": (("seed", "policy", "instruction"), population),
    }
    coordinates = {"strategy": list(STRATEGIES), "seed": np.arange(seeds), "rule": list(rules)}
    return xr.Dataset(variables, coordinates, {"scale": fresh.scale, "steps": steps, "width": 21, "observation": "clr"})
