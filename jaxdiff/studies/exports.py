"""Results in the formats of other people's programs: matrices and long tables as CSV, lines of JSON for py-irt, item matrices for catsim.

Every file is whole or absent. Which scale a file is on is said in its column names: `_bits` is the budget scale.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxdiff.core.errors import require
from jaxdiff.core.files import whole
from jaxdiff.studies import adaptive, assembly, item_bank, search

if TYPE_CHECKING:
    import xarray as xr

Orientation = Literal["persons", "items"]


def response_matrix(persons: xr.Dataset, path: str | Path, rows: Orientation = "persons") -> Path:
    """Successes, 0 or 1, as CSV with the names of persons and items.

    Args:
        persons: of `persons.simulate`.
        path: file to write.
        rows: whether a row is a person (first column `person`) or an item (first column `item`).
    """
    require(rows in ("persons", "items"), "rows", rows, "persons or items")
    success = assembly.flat(persons[["success"]])["success"].transpose("person", "item")
    names, subjects = [str(name) for name in success["item"].values], _subjects(persons)
    value = success.values.astype(int)
    if rows == "persons":
        return _csv(path, ["person", *names], ([subject, *line] for subject, line in zip(subjects, value.tolist(), strict=True)))
    return _csv(path, ["item", *subjects], ([name, *line] for name, line in zip(names, value.T.tolist(), strict=True)))


def py_irt(persons: xr.Dataset, path: str | Path) -> Path:
    """Successes as py-irt reads them: a line of JSON a person, {"subject_id": "...", "responses": {"fresh-110": 1, ...}}."""
    success = assembly.flat(persons[["success"]])["success"].transpose("person", "item")
    names = [str(name) for name in success["item"].values]
    with whole(Path(path)) as beside, beside.open("w", encoding="utf-8") as file:
        for subject, line in zip(_subjects(persons), success.values.astype(int).tolist(), strict=True):
            file.write(json.dumps({"subject_id": subject, "responses": dict(zip(names, line, strict=True))}) + "\n")
    return Path(path)


def catsim_items(bank: xr.Dataset, path: str | Path) -> Path:
    """The items that can stand in a test as catsim's item matrix, a, b, c, d.

    The numbers are on catsim's scale, see `adaptive.scale_of`: theta = (bits - centre) / unit. As `.npy` the file is the bare matrix
    float64 [items, 4]; as `.csv` it has the items' names first, and a per bit and b in bits last, from which the map can be read off.
    """
    path = Path(path)
    require(path.suffix in (".csv", ".npy"), "path", str(path), "a file name that ends in .csv or .npy")
    items = assembly.flat(bank)
    items = items.isel(item=np.flatnonzero(assembly.usable(items)))
    a, b = items["item_a"].values, items["item_b"].values
    matrix = adaptive.scale_of(bank).items(a, b)
    if path.suffix == ".npy":
        with whole(path) as beside:
            np.save(beside, matrix)
        return path
    lines = zip(items["item"].values, matrix.tolist(), a.tolist(), b.tolist(), strict=True)
    return _csv(path, ["item", "a", "b", "c", "d", "a_per_bit", "b_bits"], ([str(n), *row, x, y] for n, row, x, y in lines))


def rewards(dataset: xr.Dataset, path: str | Path, form: search.ProgramForm = "simplified") -> Path:
    """All rewards of a sweep as a long CSV: strategy, seed, rule, policy, complexity, reward (mean per step).

    Args:
        dataset: of a sweep, see `item_bank.check_sweep`.
        path: file to write.
        form: which form of a program is compressed to estimate its complexity.
    """
    complexity = [p.complexity.tolist() for p in item_bank.populations(dataset, form)]
    return _csv(path, ["strategy", "seed", "rule", "policy", "complexity", "reward"], _long(dataset, complexity))


def _long(dataset: xr.Dataset, complexity: list[list[int]]) -> Iterator[list[Any]]:
    reward = item_bank.rewards(dataset)
    seeds = dataset["seed"].values.tolist() if "seed" in dataset.coords else list(range(reward.shape[1]))
    for i, strategy in enumerate(dataset["strategy"].values.astype(str).tolist()):
        for j, seed in enumerate(seeds):
            for k, rule in enumerate(dataset["rule"].values.tolist()):
                for policy, (size, value) in enumerate(zip(complexity[j], reward[i, j, k].tolist(), strict=True)):
                    yield [strategy, seed, rule, policy, size, value]


def _subjects(persons: xr.Dataset) -> list[str]:
    return [f"person-{number}" for number in persons["person"].values]


def _csv(path: str | Path, header: list[str], lines: Iterable[list[Any]]) -> Path:
    path = Path(path)
    with whole(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows(lines)
    return path
