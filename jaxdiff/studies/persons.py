"""Simulated persons: searchers with a budget of policies, taking the items of a bank.

A person of ability `theta_budget` tries 2^theta policies of an item's population, drawn without replacement with probability proportional
to w = 2^-K, anew in every item, and answers with the best reward found; reaching the item's target is success. Order of drawing is the
order of exponential clocks (see `difficulty.response`), so all that a person tries is what rings no later than the budget's clock.

A model fitted to the matrix of successes gives every person an `ability_fitted`, in standard deviations of these persons. It is another
scale than the budget's bits; both stand in the result under their own names. Axes: persons, I items, n policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import as_array, require
from jaxdiff.difficulty import response, two_parameter
from jaxdiff.studies import item_bank, search

if TYPE_CHECKING:
    import xarray as xr

KIND = "persons"
# Pairs of a person and an item that are simulated in one call, after which progress can be shown.
PAIRS = 1 << 14


def largest(dataset: xr.Dataset, form: search.ProgramForm = "simplified", keep_repeated: bool = False) -> float:
    """The ability, in bits, of a searcher who tries the whole of the smallest population; arguments as for `simulate`."""
    return float(np.log2(min(int(p.keep.sum()) for p in item_bank.populations(dataset, form, keep_repeated))))


def simulate(
    key: jax.Array,
    dataset: xr.Dataset,
    theta: Any,
    gamma: float = 0.1,
    form: search.ProgramForm = "simplified",
    keep_repeated: bool = False,
    rules: Sequence[int] | None = None,
    progress: item_bank.Progress | None = None,
) -> xr.Dataset:
    """Let persons take all items of a sweep.

    Args:
        key: PRNG key; consumed.
        dataset: rewards of populations in worlds, see `item_bank.check_sweep`.
        theta: abilities on the budget scale [bits], of at least 0, [persons]. A person tries round(2^theta) policies, at most all.
        gamma, form, keep_repeated: of the items, see `item_bank.items`.
        rules: which rules of the sweep; all when None.
        progress: called with (what, done, in all) now and then.

    Returns:
        dataset with the dimensions person, strategy, rule: `success`, `best_reward`; and per person `theta_budget` (log2 of the number
        tried, so exact), `budget`, `population` (the index of the seed whose policies they try: persons take turns).

    Raises:
        InputError: a dataset that is no sweep, an ability below 0 or not finite, a rule that is not there.
    """
    import xarray as xr

    item_bank.check_sweep(dataset)
    chosen = dataset if rules is None else dataset.sel(rule=_known(dataset, rules))
    wanted = as_array("theta", theta, "abilities of at least 0, [persons]", np.float64)
    require(wanted.ndim == 1 and wanted.size > 0, "theta", f"of shape {wanted.shape}", "at least one ability, [persons]")
    wrong = wanted[~((wanted >= 0) & (wanted <= 62))]
    require(wrong.size == 0, "theta", wrong[0] if wrong.size else None, "abilities from 0 to 62 bits")
    tried = item_bank.populations(chosen, form, keep_repeated)
    reward = item_bank.rewards(chosen)
    strategies, rules_count = reward.shape[0], reward.shape[2]
    population = np.arange(len(wanted)) % len(tried)
    budget = np.round(2.0**wanted).astype(np.int64)
    best = np.empty((len(wanted), strategies * rules_count))
    success = np.empty(best.shape, bool)
    length = max(int(p.keep.sum()) for p in tried)
    for seed, one in enumerate(tried):
        mine = np.flatnonzero(population == seed)
        budget[mine] = np.minimum(budget[mine], one.keep.sum())
        if mine.size:
            shelf = _shelf(one, reward[:, seed].reshape(strategies * rules_count, -1), gamma, length)
            report = None if progress is None else partial(_report, progress, len(wanted), int(np.sum(population < seed)))
            place = _take(jax.random.fold_in(key, seed), shelf, budget[mine], report)
            best[mine] = np.take_along_axis(shelf.reward, place.T, 1).T
            success[mine] = place < shelf.reached
    shape = (len(wanted), strategies, rules_count)
    variables = {
        "success": (("person", "strategy", "rule"), success.reshape(shape)),
        "best_reward": (("person", "strategy", "rule"), best.reshape(shape)),
        "theta_budget": (("person",), np.log2(budget)),
        "budget": (("person",), budget),
        "population": (("person",), population),
    }
    coordinates = {
        "person": np.arange(len(wanted)),
        "strategy": chosen["strategy"].values.astype(str),
        "rule": chosen["rule"].values,
    }
    out = xr.Dataset(variables, coordinates, {"gamma": gamma, "form": form, "keep_repeated": int(keep_repeated)})
    return _named(out)


def spread(count: int, most: float) -> np.ndarray:
    """`count` abilities at equal distances from 0 to `most` bits, float64."""
    return np.linspace(0.0, most, count)


def fit(persons: xr.Dataset) -> xr.Dataset:
    """The two-parameter model fitted to the matrix of successes, added to it.

    Args:
        persons: of `simulate`, or any dataset with `success` over person, strategy, rule.

    Returns:
        the same with `ability_fitted` and `ability_error` (of persons), `fitted_a` and `fitted_b` (of items), all in standard deviations
        of these persons, not in bits.

    Raises:
        InputError: fewer than two persons, or no item that some solve and others do not.
    """
    success = persons["success"]
    model = two_parameter.fit_two_parameter(success.values.reshape(len(success), -1))
    items = success.shape[1:]
    out = persons.assign(
        ability_fitted=("person", model.ability_fitted),
        ability_error=("person", model.ability_error),
        fitted_a=(("strategy", "rule"), model.a.reshape(items)),
        fitted_b=(("strategy", "rule"), model.b.reshape(items)),
    )
    return _named(out.assign_attrs(fit_converged=int(model.converged), fit_rounds=model.rounds))


def _named(dataset: xr.Dataset) -> xr.Dataset:
    for name, text in LONG_NAMES.items():
        if name in dataset:
            dataset[name].attrs["long_name"] = text
    return dataset


LONG_NAMES = {
    "success": "whether the best reward found reaches the item's target",
    "best_reward": "best mean reward per step among the policies tried",
    "theta_budget": "ability on the budget scale: log2 of the number of policies tried [bits]",
    "budget": "number of policies tried",
    "population": "index of the seed whose policies are tried",
    "ability_fitted": "fitted ability: posterior mean under the two-parameter model [standard deviations of these persons, not bits]",
    "ability_error": "its posterior standard deviation [standard deviations of these persons]",
    "fitted_a": "fitted discrimination [1/standard deviation of these persons, not 1/bit]",
    "fitted_b": "fitted difficulty [standard deviations of these persons, not bits]",
}


def _known(dataset: xr.Dataset, rules: Sequence[int]) -> list[int]:
    there = set(dataset["rule"].values.tolist())
    missing = [rule for rule in rules if rule not in there]
    require(not missing and len(rules) > 0, "rules", missing or rules, f"some of the {len(there)} rules of the sweep")
    return list(rules)


def _report(progress: item_bank.Progress, persons: int, before: int, done: int, of: int) -> None:
    progress("persons", before + done * (persons - before) // max(of, 1), persons)


class _Shelf:
    """The policies of every item in descending order of reward.

    Attributes:
        reward: float64 [I, n].
        log_weight: of the same policies, float32 [I, n]; minus infinity where a row is only filled up.
        reached: how many of the first reach the target, int64 [I].
    """

    def __init__(self, reward: np.ndarray, log_weight: np.ndarray, reached: np.ndarray) -> None:
        self.reward, self.log_weight, self.reached = reward, log_weight, reached


def _shelf(tried: item_bank.Population, reward: np.ndarray, gamma: float, length: int) -> _Shelf:
    weights = response.universal_weights(tried.complexity[tried.keep])
    kept = reward[:, tried.keep]
    order = np.argsort(-kept, axis=1, kind="stable")
    reached = np.array([response.thresholds(weights, row, gamma).reached[0] for row in kept])
    fill = ((0, 0), (0, length - kept.shape[1]))
    return _Shelf(
        np.pad(np.take_along_axis(kept, order, 1), fill, mode="edge"),
        np.pad(np.log(weights)[order].astype(np.float32), fill, constant_values=-np.inf),
        reached,
    )


def _take(key: jax.Array, shelf: _Shelf, budget: np.ndarray, progress: Any) -> np.ndarray:
    """Place of the best policy found, in descending order of reward, int32 [persons, I]."""
    items, total = len(shelf.reached), len(budget) * len(shelf.reached)
    log_weight = jnp.asarray(shelf.log_weight)
    size = min(PAIRS, total)
    out = []
    for first in range(0, total, size):
        pair = np.minimum(np.arange(first, first + size), total - 1)  # the last call is filled up, so that it compiles to the same kernel
        person, item = np.divmod(pair, items)
        out.append(np.asarray(_best(key, pair.astype(np.uint32), item.astype(np.int32), budget[person].astype(np.int32), log_weight)))
        if progress is not None:
            progress(min(first + size, total), total)
    return np.concatenate(out)[:total].reshape(len(budget), items)


@jax.jit
def _best(key: jax.Array, pair: jax.Array, item: jax.Array, budget: jax.Array, log_weight: jax.Array) -> jax.Array:
    """For each pair the least place, in descending order of reward, among the `budget` policies whose clocks ring first, int32 [pairs]."""
    place = jnp.arange(log_weight.shape[1], dtype=jnp.int32)

    def one(x: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        number, item, budget = x
        ringing = jax.random.exponential(jax.random.fold_in(key, number), place.shape, jnp.float32)
        clock = _ordered(jnp.log(ringing) - log_weight[item])

        def narrow(step: jax.Array, low: jax.Array) -> jax.Array:
            # The largest number that fewer than `budget` clocks are below is the clock of the last policy tried: found bit by bit.
            high = low | (jnp.uint32(1) << (jnp.uint32(31) - step.astype(jnp.uint32)))
            return jnp.where(jnp.sum((clock < high).astype(jnp.int32), dtype=jnp.int32) < budget, high, low)

        last = jax.lax.fori_loop(0, 32, narrow, jnp.uint32(0))
        return jnp.min(jnp.where(clock <= last, place, place.shape[0]))

    return jax.lax.map(one, (pair, item, budget), batch_size=16)


def _ordered(x: jax.Array) -> jax.Array:
    """uint32 in the order of the float32 numbers x."""
    bits = jax.lax.bitcast_convert_type(x, jnp.uint32)
    return jnp.where(bits >> jnp.uint32(31) == jnp.uint32(1), ~bits, bits | jnp.uint32(1 << 31))
