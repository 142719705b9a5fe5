"""The published evaluation episodes, see tests/data/alchemy/README.md."""

from functools import cache

import numpy as np

from jaxdiff.alchemy.chemistry import Chemistry
from tests.alchemy.reference import load

NAMES = ("graph_index", "potion_map_index", "stone_map_index", "rotation_index")


@cache
def episodes(count=1000):
    """Chemistries [count], latent stones [count, 10, 3], latent potions [count, 10, 12]."""
    d = load("chemistries_published")
    chemistry = Chemistry(*(d[name][:count].astype(np.int32) for name in NAMES))
    return chemistry, d["stones_latent"][:count], d["potions_latent"][:count]
