"""`jaxdiff export`: a sweep's results in the forms that other programs read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from jaxdiff.cli import console
from jaxdiff.core.errors import require, require_integer

if TYPE_CHECKING:
    import xarray as xr

Form = Literal["items", "rewards", "responses", "responses-by-item", "py-irt", "catsim"]
# Forms that need simulated persons.
RESPONSES = ("responses", "responses-by-item", "py-irt")


@dataclass(frozen=True)
class Export:
    """Write a sweep's results as CSV, or as files of item response software.

    Forms:
        items              the item bank, a row an item (CSV)
        rewards            every reward: strategy, seed, rule, policy, complexity, reward (CSV)
        responses          successes of simulated searchers, a row a person, a column an item (CSV)
        responses-by-item  the same, a row an item
        py-irt             the same as JSON lines
        catsim             item matrix a, b, c, d (CSV or .npy), on catsim's scale of ability

    A person is a searcher with a budget: it tries 2^theta policies, theta evenly spread from 0 to --most bits, and succeeds in an item
    where the best of them reaches its target.

    Try:
        jaxdiff export bank.zarr py-irt --out responses.jsonl --persons 500
    """

    store: tyro.conf.Positional[Path]
    """Store of a sweep."""
    form: tyro.conf.Positional[Form]
    """What to write."""
    out: Path
    """File to write."""
    persons: int = 300
    """Simulated persons."""
    most: float | None = None
    """Largest ability, in bits; that of a searcher who tries the whole population, if not given (none can try more)."""
    seed: int = 0
    """Seed of the persons."""
    json: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print what was written as one line of JSON."""

    def run(self) -> int:
        """Do it; returns the exit code."""
        require_integer("persons", self.persons, 1)
        require(self.most is None or 0 <= self.most <= 62, "most", self.most, "0 to 62 bits")
        require_integer("seed", self.seed, 0, 2**32 - 1)
        from jaxdiff.studies import bank_table, exports, item_bank
        from jaxdiff.sweep import store

        if self.form == "items":
            written = bank_table.write(item_bank.load(self.store), self.out)
        elif self.form == "catsim":
            written = exports.catsim_items(item_bank.load(self.store), self.out)
        elif self.form == "rewards":
            written = exports.rewards(store.load_whole(self.store), self.out)
        else:
            people = self._people(store.load_whole(self.store), float(item_bank.load(self.store).attrs["gamma"]))
            if self.form == "py-irt":
                written = exports.py_irt(people, self.out)
            else:
                written = exports.response_matrix(people, self.out, "persons" if self.form == "responses" else "items")
        console.console(self.json).print(f"wrote {written}", soft_wrap=True)
        if self.json:
            console.print_json({"form": self.form, "file": str(written)})
        return 0

    def _people(self, dataset: xr.Dataset, gamma: float) -> xr.Dataset:
        import jax

        from jaxdiff.studies import persons

        with console.progress() as report:
            most = persons.largest(dataset)
            require(
                self.most is None or self.most <= most, "most", self.most, f"at most {most:.2f} bits: no searcher can try more policies"
            )
            theta = persons.spread(self.persons, most if self.most is None else self.most)
            return persons.simulate(jax.random.key(self.seed), dataset, theta, gamma, progress=report)
