"""DeepMind's recorded data, see tests/data/alchemy/README.md."""

from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "data" / "alchemy"


@cache
def load(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}
