"""Environment response functions: how many policies must be tried before a good one is found (paper, section 4.2).

Policies are drawn without replacement with probability proportional to a weight w. S is the set of policies at or above the target
(1 - gamma)(R_max - R_mean) + R_mean (Equation 8), W its weight. Give policy j an exponential clock of rate w_j: the order in which
clocks ring is the order of the draws, so the first success rings after a time t with density W exp(-W t), and by then each other
policy has been drawn independently with probability 1 - exp(-w_j t). Hence, without sampling,

- the mean number of failures before the first success is sum over j not in S of w_j / (w_j + W): the paper's "sum of falses";
- q(N) = Pr[at most N - 1 failures] is a one-dimensional integral of a Poisson-binomial tail, and Equation 9 is its median.

Weights take few distinct values (2^-K), so the Poisson-binomial is a product of few binomials. Everything exact is NumPy in float64 on
the host, whatever JAX's precision; the paper's own estimator is here too, as one compiled Monte Carlo call. The negative side (how
hard it is to be bad) is the positive one with negated rewards. Axes: n policies, G values of gamma, D distinct weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxdiff.core.errors import as_array, require, require_integer
from jaxdiff.difficulty import race

Side = Literal["positive", "negative"]
SIDES: tuple[Side, ...] = ("positive", "negative")
Statistic = Literal["median", "mean_falses", "mean_first_hit"]
STATISTICS: tuple[Statistic, ...] = ("median", "mean_falses", "mean_first_hit")
# A reward below the target by this fraction of the largest reward counts as reaching it: the target is computed in floating point.
TOLERANCE = 1e-12


def gammas_101() -> np.ndarray:
    """The paper's 101 tolerance levels 0, 0.01, ..., 1."""
    return np.arange(101) / 100


class Thresholds(NamedTuple):
    """The G success sets of one side.

    Attributes:
        weights: distinct weights [D].
        failures: policies of each weight that miss the target, [G, D].
        success: W, weight of those that reach it, [G].
        reached: items that reach it, in descending order of reward, int64 [G].
        target: rewards [G].
        mean: R_mean.
    """

    weights: np.ndarray
    failures: np.ndarray
    success: np.ndarray
    reached: np.ndarray
    target: np.ndarray
    mean: float


def thresholds(
    weights: Any, rewards: Any, gammas: Any, side: Side = "positive", multiplicity: Any = None, mean: float | None = None
) -> Thresholds:
    """Success sets for tolerance levels gamma (Equations 8 to 10).

    Args:
        weights: positive, [n].
        rewards: finite, [n].
        gammas: in 0..1, [G].
        side: "positive" or "negative".
        multiplicity: how many equal policies each item stands for, [n]; 1 when None.
        mean: R_mean of Equation 8; the mean over the policies when None. To be given where they have a distribution under which the
            mean is known.

    Raises:
        InputError: empty or unequal arrays, weights that are not positive, rewards that are not finite, gamma outside 0..1, a mean
            outside the rewards.
    """
    w, r, m = _checked(weights, rewards, multiplicity)
    g = np.atleast_1d(as_array("gamma", gammas, "0..1", np.float64))
    require(g.ndim == 1 and g.size > 0, "gamma", f"an array of shape {g.shape}", "a number or [G]")
    wrong = g[~((g >= 0) & (g <= 1))]
    require(wrong.size == 0, "gamma", wrong[0] if wrong.size else None, "0..1")
    require(side in SIDES, "side", side, f"one of {', '.join(SIDES)}")
    best = r.max() if side == "positive" else r.min()
    slack = TOLERANCE * float(np.abs(r).max())
    mean = float(np.average(r, weights=m)) if mean is None else float(mean)
    require(r.min() - slack <= mean <= r.max() + slack, "mean", mean, f"between the rewards, {r.min():g}..{r.max():g}")
    mean = min(max(mean, r.min()), r.max())
    target = best - g * (best - mean)
    reach = r if side == "positive" else -r
    order = np.argsort(-reach, kind="stable")
    signed = target if side == "positive" else -target
    reached = np.searchsorted(-reach[order], -(signed - slack), side="right")
    distinct, group = np.unique(w, return_inverse=True)
    group = group.reshape(-1)
    total = np.bincount(group, m, len(distinct))
    sizes, back = np.unique(reached, return_inverse=True)
    hits = np.stack([np.bincount(group[order[:s]], m[order[:s]], len(distinct)) for s in sizes])[back.reshape(-1)]
    return Thresholds(distinct, total - hits, hits @ distinct, reached, target, mean)


def first_hit(
    weights: Any, rewards: Any, gammas: Any, side: Side = "positive", statistic: Statistic = "median", multiplicity: Any = None
) -> np.ndarray:
    """How many policies are drawn until one reaches the target, exactly.

    Args:
        weights, rewards, gammas, side, multiplicity: see `thresholds`.
        statistic: "median": N of Equations 9 and 10; "mean_falses": mean number of failures before the first success, what the
            paper's procedure estimates; "mean_first_hit": that plus one, the mean of the draw that succeeds.

    Returns:
        float64 [G].

    Raises:
        InputError: as for `thresholds`, or an unknown statistic.
    """
    return draws(thresholds(weights, rewards, gammas, side, multiplicity), statistic)


def draws(t: Thresholds, statistic: Statistic = "median") -> np.ndarray:
    """`first_hit` for given success sets, float64 [G]."""
    require(statistic in STATISTICS, "statistic", statistic, f"one of {', '.join(STATISTICS)}")
    if statistic == "median":
        _sizes, first, back = np.unique(t.reached, return_index=True, return_inverse=True)
        return race.medians(t.failures[first], t.weights, t.success[first])[back.reshape(-1)]
    falses = (t.failures * t.weights / (t.weights + t.success[:, None])).sum(1)
    return falses if statistic == "mean_falses" else falses + 1.0


def q(weights: Any, rewards: Any, gamma: float, side: Side = "positive", multiplicity: Any = None, sizes: Any = None) -> np.ndarray:
    """Probability that a sample of N policies reaches the target (Equation 8), for every N, exactly.

    Args:
        weights, rewards, side, multiplicity: see `thresholds`.
        gamma: one tolerance level.
        sizes: sample sizes N, [M]; 1..n when None (n: policies, multiplicity counted).

    Returns:
        float64 [M].

    Raises:
        InputError: as for `thresholds`, or sizes below 1.
    """
    t = thresholds(weights, rewards, gamma, side, multiplicity)
    drawn = (
        np.arange(1, (len(np.asarray(weights)) if multiplicity is None else int(np.sum(multiplicity))) + 1)
        if sizes is None
        else np.asarray(sizes)
    )
    require(drawn.ndim == 1 and bool((drawn >= 1).all()), "sizes", sizes, "integers of at least 1")
    count = len(drawn)
    failures = np.broadcast_to(t.failures, (count, len(t.weights)))
    return race.first_hit_cdf(failures, t.weights, np.broadcast_to(t.success, count), drawn - 1)


def difficulty(
    weights: Any, rewards: Any, gammas: Any, side: Side = "positive", statistic: Statistic = "median", multiplicity: Any = None
) -> np.ndarray:
    """D, log2 of `first_hit` (Equations 14 and 15), float64 [G]. Arguments and errors as there."""
    return log_size(first_hit(weights, rewards, gammas, side, statistic, multiplicity))


def log_size(first_hit: Any) -> np.ndarray:
    """log2 of a number of policies; a mean of less than one failure counts as one, so it is never negative."""
    return np.log2(np.maximum(np.asarray(first_hit, np.float64), 1.0))


@partial(jax.tree_util.register_dataclass, data_fields=["theta", "reward", "normalised", "gamma", "mean"], meta_fields=[])
@dataclass(frozen=True)
class Curve:
    """Environment response curve (Definition 4), ascending in ability; both sides, G points each.

    Attributes:
        theta: ability, -D_neg(gamma) and D_pos(gamma), [2G].
        reward: the reward that it reaches with probability 1/2, [2G].
        normalised: the same with R_min, R_mean, R_max at -1, 0, 1, [2G].
        gamma: tolerance level of the point, [2G].
        mean: R_mean, what ability 0 reaches at least.
    """

    theta: Any
    reward: Any
    normalised: Any
    gamma: Any
    mean: Any


def curve(weights: Any, rewards: Any, gammas: Any = None, statistic: Statistic = "median", multiplicity: Any = None) -> Curve:
    """The response curve.

    Args:
        weights, rewards, multiplicity: see `thresholds`.
        gammas: tolerance levels [G]; the paper's 101 when None.
        statistic: see `first_hit`.
    """
    g = np.sort(gammas_101() if gammas is None else np.atleast_1d(np.asarray(gammas, np.float64)))
    positive, negative = (thresholds(weights, rewards, g, side, multiplicity) for side in SIDES)
    return curve_through(draws(positive, statistic), draws(negative, statistic), positive, negative, g)


def curve_through(
    hit_positive: np.ndarray, hit_negative: np.ndarray, positive: Thresholds, negative: Thresholds, gammas: np.ndarray
) -> Curve:
    """The response curve through known first hits [G] of the two sides, gammas ascending."""
    # Hardest to be bad (gamma = 0) is farthest left; hardest to be good is farthest right.
    return Curve(
        theta=np.concatenate([-log_size(hit_negative), log_size(hit_positive)[::-1]]),
        reward=np.concatenate([negative.target, positive.target[::-1]]),
        normalised=np.concatenate([gammas - 1, (1 - gammas)[::-1]]),
        gamma=np.concatenate([gammas, gammas[::-1]]),
        mean=positive.mean,
    )


def response(curve: Curve, theta: Any, normalised: bool = False) -> np.ndarray:
    """The response function R(theta): the highest reward on the curve that ability theta suffices for, float64 [...].

    For theta < 0 the lowest reward that a dexterity of -theta at being bad suffices for. R_mean (or 0) where it suffices for none.
    """
    theta = np.asarray(theta, np.float64)
    level = np.asarray(curve.normalised if normalised else curve.reward)
    centre = 0.0 if normalised else float(curve.mean)
    half = len(level) // 2
    out = np.full(theta.shape, np.nan)
    for good, rows in ((True, slice(half, None)), (False, slice(0, half))):
        ability, reach = np.abs(np.asarray(curve.theta)[rows]), level[rows]
        order = np.argsort(ability, kind="stable")
        best = (np.maximum if good else np.minimum).accumulate(reach[order])
        place = np.searchsorted(ability[order], np.abs(theta) + TOLERANCE, side="right") - 1
        mine = theta >= 0 if good else theta < 0
        out = np.where(mine, np.where(place >= 0, best[np.maximum(place, 0)], centre), out)
    return out


def universal_weights(complexity: Any) -> np.ndarray:
    """W = 2^-K, up to normalisation (Equation 11), float64 [n]; what is 1,000 bits above the simplest is no rarer than that."""
    k = as_array("complexity", complexity, "numbers [n]", np.float64)
    return np.exp2(-np.minimum(k - (k.min() if k.size else 0.0), 1000.0))


def first_hit_monte_carlo(
    key: jax.Array,
    weights: Any,
    rewards: Any,
    gammas: Any,
    repeats: int = 400,
    side: Side = "positive",
    multiplicity: Any = None,
) -> jax.Array:
    """The paper's estimator (section 5.4): mean number of failures before the first success, over `repeats` random orders.

    One compiled call for all gamma. A random order is the order of exponential clocks; all gamma share the orders, which leaves every
    single estimate as it was. Rewards enter as ranks, so success is decided exactly as on the host.

    Args:
        key: PRNG key; consumed.
        weights: positive, [n], or [R, n] for R worlds at once.
        rewards: finite, the same shape.
        gammas: in 0..1, [G].
        repeats: random orders.
        side: "positive" or "negative".
        multiplicity: how many equal policies each item stands for, integers, the shape of rewards [n]; 1 when None. The policies are
            written out, so this is for thousands, not for billions: those are for `first_hit`.

    Returns:
        float32 [G], or [R, G].

    Raises:
        InputError: as for `thresholds`, no repeats, or more policies than 32 bits can count in all repeats.
    """
    require_integer("repeats", repeats, 1)
    w, r = np.atleast_2d(np.asarray(weights, np.float64)), np.atleast_2d(np.asarray(rewards, np.float64))
    require(w.shape == r.shape, "weights", f"of shape {np.shape(weights)}", f"the shape of rewards, {np.shape(rewards)}")
    if multiplicity is not None:
        m = np.asarray(multiplicity)
        good = m.dtype.kind in "iu" and m.shape == r.shape[1:] and len(r) == 1 and bool((m >= 0).all())
        require(good, "multiplicity", f"of {m.dtype} {m.shape}", f"integers of at least 0, {r.shape[1:]}, for one world")
        w, r = np.repeat(w, m, axis=1), np.repeat(r, m, axis=1)
    require(repeats * r.shape[1] < 2**31, "repeats", repeats, f"less than 2^31 / {r.shape[1]} policies")
    reached = np.stack([thresholds(a, b, gammas, side).reached for a, b in zip(w, r, strict=True)])
    order = np.argsort(-r if side == "positive" else r, axis=1, kind="stable")
    # Policies in descending order of reward: item i reaches the target iff i < reached.
    log_weights = np.log(np.take_along_axis(w, order, 1)).astype(np.float32)
    out = _monte_carlo(key, jnp.asarray(log_weights), jnp.asarray(reached, jnp.int32), repeats)
    return out[0] if np.ndim(rewards) == 1 else out


@partial(jax.jit, static_argnums=3)
def _monte_carlo(key: jax.Array, log_weights: jax.Array, reached: jax.Array, repeats: int) -> jax.Array:
    """Mean falses [R, G] of policies in descending order of reward, log weights [R, n], the first reached [R, G] of which are good."""
    place = jnp.arange(log_weights.shape[1], dtype=jnp.int32)[:, None]

    def one_world(x: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        number, log_weights, reached = x
        good = place < reached
        world_key = jax.random.fold_in(key, number)

        def one_order(repeat: jax.Array, total: jax.Array) -> jax.Array:
            # The logarithm of an exponential clock, since no weight is too small for it. Counting the clocks that ring before the first
            # good one needs no sorting: G comparisons a policy in vector instructions are cheaper.
            ringing = jax.random.exponential(jax.random.fold_in(world_key, repeat), log_weights.shape, jnp.float32)
            clock = (jnp.log(ringing) - log_weights)[:, None]
            first = jax.lax.optimization_barrier(jnp.min(jnp.where(good, clock, jnp.inf), axis=0))
            return total + jnp.sum((clock < first).astype(jnp.int32), axis=0, dtype=jnp.int32)

        total = jax.lax.fori_loop(0, repeats, one_order, jnp.zeros(reached.shape, jnp.int32))
        return total.astype(jnp.float32) / repeats

    # A few worlds at a time: on a CPU their n x G comparisons then stay in its caches.
    worlds = 4 if jax.default_backend() == "cpu" else 256
    return jax.lax.map(one_world, (jnp.arange(log_weights.shape[0], dtype=jnp.uint32), log_weights, reached), batch_size=worlds)


def _checked(weights: Any, rewards: Any, multiplicity: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w, r = (as_array(name, x, "numbers [n]", np.float64) for name, x in (("weights", weights), ("rewards", rewards)))
    require(w.ndim == 1 and w.shape == r.shape, "weights", f"of shape {w.shape}", f"the shape of rewards, {r.shape}, one axis")
    require(w.size > 0, "rewards", "empty", "at least one policy")
    wrong = w[~((w > 0) & np.isfinite(w))]
    require(wrong.size == 0, "weights", wrong[0] if wrong.size else None, "positive finite numbers")
    wrong = r[~np.isfinite(r)]
    require(wrong.size == 0, "rewards", wrong[0] if wrong.size else None, "finite numbers")
    m = np.ones(w.shape) if multiplicity is None else np.asarray(multiplicity, np.float64)
    require(
        m.shape == w.shape and bool((m >= 0).all()) and m.sum() > 0,
        "multiplicity",
        f"of shape {m.shape}",
        "one number of at least 0 an item",
    )
    keep = m > 0
    return w[keep] / w[keep].max(), r[keep], m[keep]  # only ratios of weights matter
